"""Neighbouring accesses to shared memory that the assembler joins into a wider one.

Unguarded loads of a block with no store to shared memory and no barrier between them become one where their addresses differ by constants
and are aligned for all that the text says: three or four words, or two doublewords, of sixteen bytes, or two words of eight.  Stores become
one where they follow each other and fill it, halfwords too.  This is what ptxas does for every device that it still knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from warplab.assembler.flow import flow
from warplab.assembler.ir import Address, Function, Instruction
from warplab.isa.types import TYPES

from ..program import LoadedKernel
from .offsets import Offsets, OffsetSum

WIDEST = 16  # bytes of one access
MOST = 4  # elements of one
OPAQUE = frozenset({"volatile", "relaxed", "acquire", "release", "mmio", "shared::cluster", "async", "bulk"})
PARTING = frozenset({"bar", "barrier", "call", "cp", "fence", "ldmatrix", "mbarrier", "membar", "nanosleep", "stmatrix", "wgmma", "wmma"})
SHARED = frozenset({"shared", "shared::cta"})
SPACES = frozenset({"const", "global", "local", "param", "param::entry", "param::func"})


@dataclass(frozen=True, slots=True)
class Joined:
    """What an access becomes: so many bytes from so far on; none, where another one has its place."""

    delta: int
    width: int


NOTHING = Joined(0, 0)
LOADED, STORED = (4, 8), (2, 4, 8)  # bytes of an element that may be joined
_known: WeakKeyDictionary[LoadedKernel, dict[int, dict[int, Joined]]] = WeakKeyDictionary()


@dataclass(frozen=True, slots=True)
class _Access:
    instruction: Instruction
    at: OffsetSum
    element: int
    width: int

    @property
    def group(self) -> tuple[tuple[int, ...], int]:
        return self.at.unknown, self.element

    def window(self, width: int) -> int:
        return self.at.constant // width

    def parts(self) -> range:
        return range(self.at.constant, self.at.constant + self.width, self.element)


def joined_accesses(kernel: LoadedKernel, function: Function) -> dict[int, Joined]:
    """Of the instructions whose accesses are joined, by id."""
    known = _known.setdefault(kernel, {})
    found = known.get(id(function))
    if found is None:
        found = known[id(function)] = {} if id(function) in kernel.program.unoptimised else _joined(kernel, function)
    return found


def _joined(kernel: LoadedKernel, function: Function) -> dict[int, Joined]:
    graph = flow(function)
    blocks = [graph.blocks[b].instructions for b in graph.reachable]
    if sum(i.opcode in ("ld", "st") and not SHARED.isdisjoint(i.modifiers) for block in blocks for i in block) < 2:
        return {}
    return _Walk(Offsets(kernel, [i for block in blocks for i in block])).go(blocks)


class _Walk:
    """Goes through a function's blocks, one after the other."""

    def __init__(self, offsets: Offsets) -> None:
        self.offsets = offsets
        self.out: dict[int, Joined] = {}
        self.loads: list[_Access] = []
        self.stores: list[_Access] = []

    def go(self, blocks: Sequence[Sequence[Instruction]]) -> dict[int, Joined]:
        for block in blocks:
            self.offsets.begin()
            for i in block:
                self._step(i)
                self.offsets.step(i)
            self._end_loads()
            self._end_stores()
        return self.out

    def _step(self, i: Instruction) -> None:
        space = i.opcode in ("ld", "st", "atom", "red") and SPACES.isdisjoint(i.modifiers)  # generic addresses may mean shared memory
        if i.opcode not in PARTING and not space:
            return
        access = self._access(i)
        if i.opcode != "ld":
            self._end_loads()
        elif access is not None:
            self.loads.append(access)
        if i.opcode == "st" and access is not None:
            if self.stores and not _are_neighbours(self.stores[-1], access):
                self._end_stores()
            self.stores.append(access)
        else:
            self._end_stores()

    def _access(self, i: Instruction) -> _Access | None:
        """An access that may be joined with others."""
        words = set(i.modifiers)
        if i.opcode not in ("ld", "st") or i.guard is not None or not words & SHARED or words & OPAQUE:
            return None
        at = i.operands[i.opcode == "ld"]
        element = TYPES[i.modifiers[-1]].bytes
        place = self.offsets.of(at.base, at.offset) if isinstance(at, Address) and not isinstance(at.base, Function) else None
        if place is None or element not in (LOADED if i.opcode == "ld" else STORED):
            return None
        return _Access(i, place, element, element * next((n for v, n in (("v2", 2), ("v4", 4)) if v in words), 1))

    def _end_loads(self) -> None:
        groups: dict[tuple[tuple[int, ...], int], list[_Access]] = {}
        for a in self.loads:
            groups.setdefault(a.group, []).append(a)
        for same in groups.values():
            rest = self._join(same, spared=1)
            seen: set[tuple[int, int]] = set()
            for a in rest:
                if (a.at.constant, a.width) in seen:  # the value is still in a register
                    self.out[id(a.instruction)] = NOTHING
                seen.add((a.at.constant, a.width))
        self.loads = []

    def _end_stores(self) -> None:
        if len(self.stores) > 1:
            self._join(self.stores)
        self.stores = []

    def _join(self, accesses: Sequence[_Access], spared: int = 0) -> Sequence[_Access]:
        """Joins those that lie in the same aligned bytes and use them all, of four elements but so many; the others are left."""
        element, zeros = accesses[0].element, self.offsets.zeros(accesses[0].at)
        for many in (MOST, MOST // 2):
            width = many * element
            if width <= WIDEST and 1 << zeros >= width:
                accesses = self._join_windows(accesses, width, many - (spared if many == MOST else 0))
        return accesses

    def _join_windows(self, accesses: Sequence[_Access], width: int, least: int) -> Sequence[_Access]:
        windows: dict[int, list[_Access]] = {}
        for a in accesses:
            windows.setdefault(a.window(width), []).append(a)
        rest = []
        for n, same in windows.items():
            first = same[0]
            if len(same) < 2 or len({x for a in same for x in a.parts()}) < least or any(a.width >= width for a in same):
                rest += same
                continue
            self.out[id(first.instruction)] = Joined(n * width - first.at.constant, width)
            self.out.update(dict.fromkeys([id(a.instruction) for a in same[1:]], NOTHING))
        return rest


def _are_neighbours(one: _Access, other: _Access) -> bool:
    width = min(WIDEST, MOST * one.element)
    return one.group == other.group and one.window(width) == other.window(width)
