"""The rows of a program: what the scheduler does with a segment's passes and its end, and the table in which it reads that."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Function

from ..plan import plan as P
from .frame import Frame
from .regions import Region
from .schedule import words as s
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

    def words(self, addresses: Mapping[str, int], at: int) -> NDArray[np.int64]:
        """The table where it begins at a word; `addresses` are those of the passes."""
        table = np.zeros((len(self.rows), s.ROW), np.int64)
        behind: list[int] = []  # lists behind the table
        base = at + table.size
        for row, words in zip(self.rows, table, strict=True):
            end = self.plan.segments[row.segment].end
            words[s.KIND] = row.kind
            words[s.FIRST] = s.NOWHERE
            if row.kind == s.RUN:
                words[s.A] = addresses[f"pass{row.number}"]
                continue
            if row.kind == s.EXIT:
                words[s.A] = isinstance(end, P.Leave) and end.what == "exit"
            if row.kind in (s.CALLOUT, s.LEAVE, s.EXIT):
                continue
            if row.region is not None:
                words[s.A], words[s.B], words[s.INSIDE] = addresses[f"region{row.number}"], self._row(row.region.exit), base + len(behind)
                behind += [len(row.region.order), *map(self._row, row.region.order)]
                continue
            guard = getattr(end, "guard", None)
            if isinstance(end, P.Sync | P.Barrier):
                if guard is not None:
                    words[s.GUARDED], words[s.GUARD] = self._flags(guard.slot, row)
                    words[s.INVERTED] = guard.negated
            elif guard is not None:
                lane = row.kind != s.BRANCH_UNIFORM
                words[s.PREDICATE] = self.frame.mask(guard.slot) if lane else 2 * guard.slot
                words[s.NEGATED] = guard.negated
            match end:
                case P.Jump():
                    words[s.A] = self._row(end.to)
                case P.Branch():
                    words[s.A], words[s.B], words[s.JOIN] = self._row(end.taken), self._row(end.fall), self._row(end.join)
                    if end.first is not None:
                        words[s.FIRST] = self._row(end.first)
                case P.Table():
                    words[s.A], words[s.JOIN] = base + len(behind), self._row(end.join)
                    words[s.PREDICATE] = (self.frame.uniforms + self.frame.way(0)) // 4
                    behind += [len(end.ways), *map(self._row, end.ways)]
                case P.Leave():
                    words[s.B] = self._row(end.fall)
                case P.Barrier():
                    words[s.A], words[s.WAITS] = self._row(end.past), end.waits
                    if end.reduction is not None:
                        words[s.REDUCED] = {"popc": s.BY_POPC, "and": s.BY_AND, "or": s.BY_OR}[end.reduction.operation]
                        assert type(end.reduction.target) is int
                        slot, words[s.NEGATED] = _predicate(end.reduction)
                        words[s.VALUED], words[s.VALUE] = self._flags(slot, row)
                        words[s.RESULT] = self.frame.mask(end.reduction.target)
                    how, value, place = _word(self.frame, end.number, row.kinds)
                    words[s.NUMBERED], words[s.NUMBER] = how, value if how == s.NAMED_BY_TEXT else place
                    if end.count is not None:
                        words[s.NAMED], words[s.B], words[s.PREDICATE] = _word(self.frame, end.count, row.kinds)
                case P.Sync():
                    words[s.A], words[s.PARTS] = self._row(end.past), end.parts
                    named = (s.NAMED_BY_TEXT, 0xFFFFFFFF, 0) if end.mask is None else _word(self.frame, end.mask, row.kinds)
                    words[s.NAMED], words[s.B], words[s.PREDICATE] = named
                    words[s.KEY] = self._key(end)
                case P.Call():
                    words[s.A] = self._row(end.after)
            exits: P.Exits = getattr(end, "exits", {})
            if exits:
                words[s.EXITS] = base + len(behind)
                behind.append(len(exits))
                for to, way in exits.items():
                    inside = [self._row(pc) for pc in way.inside]
                    behind += [self._row(to), self._row(way.join), len(inside), *inside]
            turns: P.Turns = getattr(end, "turns", {})
            if turns:
                words[s.TURNS] = base + len(behind)
                behind.append(len(turns))
                for to, limit in turns.items():
                    behind += [self._row(to), limit]
        return np.concatenate([table.ravel(), np.array(behind, np.int64)])

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

    def _row(self, pc: int) -> int:
        return s.END if pc == P.EXIT else self.first[pc]
