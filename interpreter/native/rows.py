"""The rows of a program: what the scheduler does with a segment's passes and its end, and the table in which it reads that."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan import plan as P
from .cut import Cut, Row, named_by, reduced_predicate
from .frame import Frame
from .schedule import layout as s
from .uniformity import VARYING, Kinds, kind_in


def _word(frame: Frame, source: P.Source, kinds: Kinds) -> tuple[int, int, int]:
    """How the scheduler finds such an operand, its value if it is a number, and the place of its register."""
    slot: Any = source.slot if isinstance(source, P.SlotAs) else source
    match how := named_by(frame, source, kinds):
        case s.NAMED_BY_TEXT:
            value = slot.value if isinstance(slot, P.ScalarConstant) else frame.constants[slot]
            return how, int(np.ravel(value)[0]) & 0xFFFFFFFF, 0
        case s.NAMED_BY_ONE:
            return how, 0, 2 * slot
    assert how is not None
    return how, 0, frame.mask(slot)


class RowTable:
    """The rows of a function as the scheduler reads them."""

    def __init__(self, cut: Cut, frame: Frame) -> None:
        self.cut, self.plan, self.frame, self.rows, self.first = cut, cut.plan, frame, cut.rows, cut.first
        self.keys: dict[P.SyncKey, int] = {}

    def write(self, addresses: Mapping[str, int], at: int) -> NDArray[np.int64]:
        """The table where it begins at a word, and lists behind it; `addresses` are those of the passes."""
        self.words = np.zeros(len(self.rows) * s.RowRecord.SIZE, np.int64)
        self.end = at + self.words.size
        self.behind: list[int] = []
        for row in self.rows:
            self._row(row, s.RowRecord(self, row.number * s.RowRecord.SIZE), self.plan.segments[row.segment].end, addresses)
        return np.concatenate([self.words, np.array(self.behind, np.int64)])

    def _list(self, numbers: Sequence[int]) -> Any:
        """The place of a list behind the table."""
        at = self.end + len(self.behind)
        self.behind += numbers
        return at

    def _row(self, row: Row, out: s.RowRecord, end: P.End, addresses: Mapping[str, int]) -> None:
        out.kind = row.kind
        out.first = s.NOWHERE
        if row.kind == s.RUN:
            out.code = addresses[row.name]
        if row.kind == s.EXIT:
            out.whole = isinstance(end, P.Leave) and end.what == "exit"
        if row.kind in (s.RUN, s.CALLOUT, s.LEAVE, s.EXIT, s.CLUSTER_ARRIVE):
            return
        if row.region is not None:
            out.code, out.fall = addresses[row.name], self._place(row.region.exit)
            out.inside, out.inside_count = self._places(row.region.order), len(row.region.order)
            return
        if row.side is not None:
            to = self.cut.following(row)
            out.code, out.fall, out.most = addresses[row.name], row.behind or self._place(to), 2
            inside = [row.side, *([to] if row.ahead else [])]
            out.inside, out.inside_count = self._places(inside), len(inside)
            return
        if row.behind:
            out.code, out.fall = addresses[row.name], row.behind
            return
        guard = getattr(end, "guard", None)
        if isinstance(end, P.Sync | P.Barrier):
            if guard is not None:
                out.guarded, out.guard = self._flags(guard.slot, row)
                out.inverted = guard.negated
        elif guard is not None and not isinstance(end, P.Call):
            lane = row.kind not in (s.BRANCH_UNIFORM, s.EXIT_UNIFORM)
            out.predicate = self.frame.mask(guard.slot) if lane else 2 * guard.slot
            out.negated = guard.negated
        match end:
            case P.Jump():
                out.to = self._place(end.to)
            case P.Branch():
                out.to, out.fall, out.join = self._place(end.taken), self._place(end.fall), self._place(end.join)
                if end.first is not None:
                    out.first = self._place(end.first)
            case P.Table():
                out.ways, out.way_count, out.join = self._places(end.ways), len(end.ways), self._place(end.join)
                out.predicate = (self.frame.uniforms + self.frame.way(0)) // 4
            case P.Leave():
                out.fall = self._place(end.fall)
            case P.Barrier():
                out.to, out.waits = self._place(end.past), end.waits
                if end.reduction is not None:
                    out.reduced = {"popc": s.BY_POPC, "and": s.BY_AND, "or": s.BY_OR}[end.reduction.operation]
                    assert type(end.reduction.target) is int
                    slot, out.negated = reduced_predicate(end.reduction)
                    out.valued, out.value = self._flags(slot, row)
                    out.result = self.frame.mask(end.reduction.target)
                out.numbered, value, place = _word(self.frame, end.number, row.kinds)
                out.number = value if out.numbered == s.NAMED_BY_TEXT else place
                if end.count is not None:
                    out.named, out.constant, out.operand = _word(self.frame, end.count, row.kinds)
            case P.Sync():
                out.to, out.parts, out.key = self._place(end.past), end.parts, self._key(end)
                named = (s.NAMED_BY_TEXT, 0xFFFFFFFF, 0) if end.mask is None else _word(self.frame, end.mask, row.kinds)
                out.named, out.constant, out.operand = named
            case P.Call(ways=[_, *_]) if (
                row.kind == s.BRANCH_MANY
            ):  # lanes that call something else are left to numpy, and with them their group
                ways = [*[self._place(to) for _, to in end.ways], s.NOWHERE]
                out.ways, out.way_count, out.join = self._list(ways), len(ways), self._place(end.after)
                out.predicate = (self.frame.uniforms + self.frame.way(0)) // 4
            case P.ClusterWait():
                out.to = self._place(end.past)
            case P.Call():
                out.to = self._place(end.after)
        exits: P.Exits = getattr(end, "exits", {})
        leaving = [(self._place(to), self._place(x.join), len(x.inside), self._places(x.inside)) for to, x in exits.items()]
        out.exits, out.exit_count = self._list([self._list(way) for way in leaving]), len(leaving)
        turns: P.Turns = getattr(end, "turns", {})
        out.heads, out.head_count = self._list([x for to, limit in turns.items() for x in (self._place(to), limit)]), len(turns)

    def _flags(self, slot: int, row: Row) -> tuple[int, int]:
        """How the scheduler finds a predicate, and where."""
        if kind_in(row.kinds, slot) == VARYING:
            return s.NAMED_BY_LANES, self.frame.mask(slot)
        return s.NAMED_BY_ONE, 2 * slot

    def _key(self, end: P.Sync) -> int:
        """Equal numbers where lanes that wait for each other may wait at different places; greater than 0 where they exchange values then."""
        if end.key is None:
            return 0
        number = self.keys.setdefault(end.key, len(self.keys) + 1)
        ops = self.plan.segments[end.past].ops if end.past != P.EXIT else ()
        return number if ops and ops[0].how == "warps" else -number

    def _places(self, pcs: Collection[int]) -> Any:
        return self._list([self._place(pc) for pc in pcs])

    def _place(self, pc: int) -> int:
        return s.END if pc == P.EXIT else self.first[pc]
