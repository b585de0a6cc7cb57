"""The rows of a program: what the scheduler does with a segment's passes and its end, and the table in which it reads that."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Function

from ..plan import plan as P
from .frame import Frame
from .regions import Region
from .schedule import layout as s
from .uniformity import UNIFORM, VARYING, Kinds


@dataclass(slots=True, eq=False)
class Row:
    """One row of the program."""

    kind: int
    segment: int
    first: int = 0  # of the segment's operations that it runs
    last: int = 0  # behind them
    live: int = 0  # slots, as a mask, in front of it
    kinds: Kinds = field(default_factory=dict)  # of the registers in front of it
    number: int = 0
    region: Region | None = None


def end_kind(end: P.End, kinds: Kinds, frame: Frame, is_entry: bool, is_external: Callable[[Function], bool]) -> int:
    """What the scheduler does at the end of a segment; `is_external`: has a function no body?"""
    match end:
        case P.Jump():
            return s.JUMP
        case P.Branch(guard=guard):
            return s.BRANCH_UNIFORM if kinds.get(guard.slot, UNIFORM) == UNIFORM else s.BRANCH
        case P.Table(guard=None):
            return s.BRANCH_MANY
        case P.Call(ways=[_, *_]):
            return s.BRANCH_MANY
        case P.Leave(what="ret" | "exit", guard=None) if is_entry:
            return s.EXIT
        case P.Leave(what="ret" | "exit", guard=guard) if is_entry:
            assert guard is not None
            return s.LEAVE if kinds.get(guard.slot, UNIFORM) == UNIFORM else s.EXIT_SOME
        case P.Barrier(number=number, count=count):
            plain = all(named_by(frame, x, kinds) is not None for x in (number, count) if x is not None)
            return s.BARRIER if plain and _reduces_plainly(end) else s.LEAVE
        case P.Sync(mask=mask):
            return s.WARP_SYNC if mask is None or named_by(frame, mask, kinds) is not None else s.LEAVE
        case P.Call(callee=callee, guard=None) if callee is not None and is_external(callee):
            return s.CALLOUT  # numpy does what the end does, and all lanes go on
    return s.LEAVE


def _reduces_plainly(end: P.Barrier) -> bool:
    """Is what a barrier reduces, if anything, a register, and its result another?"""
    r = end.reduction
    return r is None or (type(r.target) is int and type(_predicate(r)[0]) is int)


def _predicate(reduction: P.Reduction) -> tuple[Any, bool]:
    """The register that a barrier reduces, and whether it is negated."""
    value = reduction.value
    return (value.slot, True) if isinstance(value, P.Not) else (value, False)


def named_by(frame: Frame, source: P.Source, kinds: Kinds) -> int | None:
    """How the scheduler finds an operand of 32 bits; None: not at all."""
    slot = source.slot if isinstance(source, P.SlotAs) else source
    if isinstance(slot, P.ScalarConstant) or slot in frame.constants:
        return s.NAMED_BY_TEXT
    if type(slot) is not int or frame.dtypes[slot].itemsize != 4:
        return None
    return s.NAMED_BY_ONE if kinds.get(slot, UNIFORM) == UNIFORM else s.NAMED_BY_LANES


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
    """The rows as the scheduler reads them; `first` are those of the segments."""

    def __init__(self, plan: P.PlanFunction, frame: Frame, rows: Sequence[Row], first: Sequence[int]) -> None:
        self.plan, self.frame, self.rows, self.first = plan, frame, rows, first
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
            out.code = addresses[f"pass{row.number}"]
        if row.kind == s.EXIT:
            out.whole = isinstance(end, P.Leave) and end.what == "exit"
        if row.kind in (s.RUN, s.CALLOUT, s.LEAVE, s.EXIT):
            return
        if row.region is not None:
            out.code, out.fall = addresses[f"region{row.number}"], self._place(row.region.exit)
            out.inside, out.inside_count = self._places(row.region.order), len(row.region.order)
            return
        guard = getattr(end, "guard", None)
        if isinstance(end, P.Sync | P.Barrier):
            if guard is not None:
                out.guarded, out.guard = self._flags(guard.slot, row)
                out.inverted = guard.negated
        elif guard is not None:
            lane = row.kind != s.BRANCH_UNIFORM
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
                    slot, out.negated = _predicate(end.reduction)
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
            case P.Call(ways=[_, *_]):  # lanes that call something else are left to numpy, and with them their group
                ways = [*[self._place(to) for _, to in end.ways], s.NOWHERE]
                out.ways, out.way_count, out.join = self._list(ways), len(ways), self._place(end.after)
                out.predicate = (self.frame.uniforms + self.frame.way(0)) // 4
            case P.Call():
                out.to = self._place(end.after)
        exits: P.Exits = getattr(end, "exits", {})
        leaving = [(self._place(to), self._place(x.join), len(x.inside), self._places(x.inside)) for to, x in exits.items()]
        out.exits, out.exit_count = self._list([self._list(way) for way in leaving]), len(leaving)
        turns: P.Turns = getattr(end, "turns", {})
        out.heads, out.head_count = self._list([x for to, limit in turns.items() for x in (self._place(to), limit)]), len(turns)

    def _flags(self, slot: int, row: Row) -> tuple[int, int]:
        """How the scheduler finds a predicate, and where."""
        if row.kinds.get(slot, UNIFORM) == VARYING:
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
