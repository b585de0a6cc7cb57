"""The accesses of a stretch, as its operations make them: which addresses they go to, and which of them may meet."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warplab.isa.types import ScalarType

from ....plan import plan as P
from ...frame import Frame
from ...trace.code import Untraceable
from ...trace.symbol import SymbolicArray
from ...uniformity import UNIFORM, VARYING, Kinds
from ..accesses import Offset, parts_of
from ..emitter import Emitter
from ..memory import Helpers
from ..values import Guard
from .moving import Moving

MARK = "access "  # a line that stands for one


@dataclass(frozen=True, slots=True)
class BranchSide:
    """The side of a branch that a stretch ends with."""

    ops: Sequence[P.Op]
    guard: P.Guard  # of the branch
    taken: bool  # do the lanes execute it whose guard holds, or the others?
    live: Sequence[int]  # slots that may be read behind it
    behind: Sequence[P.Op] = ()  # what all lanes execute where they reconverge, as a part of the stretch


@dataclass(frozen=True, slots=True)
class Move:
    """An access of a stretch."""

    space: str
    base: str  # of the memory
    addresses: int  # the number of those that it goes to; -1: one for all lanes
    plus: Offset  # what is added to them, of 64 bits
    bits: int
    elements: int
    narrow: str = ""  # the same of as many bits as an address has
    site: str = ""
    name: str = ""  # of what it loads
    values: tuple[str, ...] = ()  # which it stores, with their types

    @property
    def writes(self) -> bool:
        """Is it a store?"""
        return bool(self.values)

    @property
    def size(self) -> int:
        """Bytes of each lane."""
        return self.bits // 8 * self.elements


@dataclass(frozen=True, slots=True)
class Addresses:
    """Addresses of each lane, without what is added to all, and the lanes that access them."""

    name: str
    bits: int
    size: int
    lanes: str
    of_side: bool  # of a branch, whose lanes they are

    @property
    def type(self) -> str:
        """LLVM's."""
        return f"i{self.bits}"


class MovesEmitter(Emitter):
    """Notes the accesses of operations, in the place of which lines stand."""

    def __init__(self, frame: Frame, kinds: Kinds, helpers: Helpers, name: str) -> None:
        super().__init__(frame, kinds, helpers, name)
        self.moving = Moving(helpers)
        self.moves: list[Move] = []
        self.addresses: list[Addresses] = []
        self.taking = ""  # the lanes that execute the side of a branch, if there is one

    def load_lanes(self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, n: int, guard: Guard) -> tuple[Any, ...]:
        """See EmittedAccesses."""
        move = self._move(space, a, plus, 8 * t.bytes, n, guard)
        name = self.code.fresh(f"{MARK}{len(self.moves)}")
        self.moves.append(replace(move, name=name))
        return parts_of(self.code, name, t, n)

    def _put_bits(
        self, space: str, a: SymbolicArray, plus: Offset, t: ScalarType, values: Sequence[SymbolicArray], guard: Guard
    ) -> list[str]:
        move = self._move(space, a, plus, 8 * t.bytes, len(values), guard)
        given = tuple(f"{v.type} {v.value}" for v in values)
        self.code.lines.append(f"  {MARK}{len(self.moves)}, {', '.join(given)}")
        self.moves.append(replace(move, values=given))
        return []

    def _move(self, space: str, a: SymbolicArray, plus: Offset, bits: int, n: int, guard: Guard) -> Move:
        size = bits // 8 * n
        place = self.place(space, a, size, guard)
        one = Addresses(place.address.value, 8 * place.address.itemsize, size, self.lanes(guard).split()[1], self.taking_part is not None)
        if one not in self.addresses:
            self.addresses.append(one)
        narrow = str(plus)
        if isinstance(plus, int):
            plus = (plus + (1 << one.bits - 1) & (1 << one.bits) - 1) - (1 << one.bits - 1)
            narrow = str(plus)
        elif one.bits == 32:
            plus = self.once.emit(f"sext i32 {plus} to i64")
        return Move(space, place.base, self.addresses.index(one), plus, bits, n, narrow, self._site(self.once) if space == "global" else "")

    def _load_one(self, a: SymbolicArray, t: ScalarType, n: int) -> tuple[Any, ...]:
        found = super()._load_one(a, t, n)
        wide: Any = a.view(f"u{a.itemsize}").astype("u8")
        at = self.once.emit(f"extractelement {wide.type} {wide.value}, i32 0")
        self.moves.append(Move("global", "ptr %host.b", -1, at, 8 * t.bytes, n))
        return found

    # ------------------------------------------------------------ the side of a branch

    def take_side(self, side: BranchSide, needed: dict[int, set[int]]) -> None:
        """Emits the side of a branch, for the lanes that execute it."""
        guard: Any = self.at(VARYING, self.value(side.guard.slot)[1])
        takes = guard if side.guard.negated != side.taken else ~guard
        had = dict(self.values)
        self.taking_part = takes
        self.taking = self.lanes(None).split()[1]
        for op in side.ops:
            self.operation(op)
        self.taking_part = None
        for slot in side.live:
            found = self.values.get(slot)
            if found is None or found is had.get(slot) or found is self.loaded.get(slot):
                continue
            if UNIFORM in needed.get(slot, ()):
                raise Untraceable("one value for all that only some lanes set")
            self.values.pop(slot)
            if slot in had:
                self.values[slot] = had[slot]
            self.keeping = frozenset([slot])
            self._set(slot, *found, (VARYING, takes))
        self.merge = re.compile(rf"  (%\S+) = select <{self.width} x i1> {re.escape(takes.value)}, (<[^>]+>) .*, \2 (.+)")

    @property
    def meets(self) -> bool:
        """Does the stretch access memory for lanes on both sides of a branch?"""
        return bool(self.taking) and not all(a.of_side for a in self.addresses)

    # ------------------------------------------------------------ accesses that may meet

    def pairs(self) -> Iterator[tuple[int, int, bool]]:
        """The accesses of which one may store what the other one accesses, in their order; are their addresses the same?"""
        for j, later in enumerate(self.moves):
            for i, move in enumerate(self.moves[:j]):
                if move.space == later.space and (move.writes or (later.writes and move.addresses >= 0)):
                    yield i, j, self._same(move, later)

    def _same(self, move: Move, later: Move) -> bool:
        """Does each lane of two accesses go to one place, and do all lanes take part in one of them?"""
        if move.addresses < 0 or later.addresses < 0 or (move.plus, move.bits, move.elements) != (later.plus, later.bits, later.elements):
            return False
        one, other = self.addresses[move.addresses], self.addresses[later.addresses]
        return one is other or (one.name == other.name and "%bits" in (one.lanes, other.lanes))

    def ordered(self) -> set[int]:
        """The addresses of which it matters whether any two lanes have the same one."""
        return {self.moves[n].addresses for i, j, same in self.pairs() if same for n in (i, j)}
