"""What a trace consists of: the blocks that were kept, their warps, the lines that they touch, the phases of their mbarriers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry
from ..ptxas.machine_code import MachineCode

Index = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TracedBlocks:
    """What one multiprocessor executes.  Entries into blocks of code: warp, block, clock.  Accesses: columns of equal length."""

    code: MachineCode
    each: int  # warps of a block
    resident: int  # blocks on a multiprocessor
    active: int  # multiprocessors that have blocks
    l1_lines: int
    work: Index  # instructions that each block executes, all blocks
    longest: Index  # and the warp of each that executes most
    sampled: list[int]  # the blocks that were kept
    steps: int  # instructions of PTX that they execute, as far as they were kept
    whole: float  # how much of what they execute that is
    entries: Index  # (3, n)
    access: dict[str, Index]
    sector: Index  # of the accesses to global memory, one list after the other
    late: NDArray[np.bool_]  # another block touched it before
    fresh: int  # sectors that the launch touches
    asked: int  # lanes that load from and store to global memory, all blocks
    kept_asked: int  # those of the blocks that were kept
    updates: int  # lanes of atomic operations on global memory, all blocks
    kept_updates: int
    far: dict[int, tuple[int, int]]  # sectors loaded from and stored to memory that is not the device's, by the start of each allocation


@dataclass(slots=True, eq=False)
class TracedWarps:
    """The warps of a geometry: those whose blocks are kept, and what all have executed since the wave began."""

    geometry: Geometry  # which must live as long as its identity is a key
    kept: Index  # kept warps, by number among all kept
    rows: Index  # where they stand in the geometry
    flags: NDArray[np.bool_]  # of all warps of the geometry, those that are kept
    warps: Index  # all, by number in the launch
    count: int = 0


@dataclass(frozen=True, slots=True)
class TouchedLines:
    """What kept warps touch with one access."""

    site: int
    warps: Index
    rows: Index  # where they stand in their geometry
    of: int  # warps of the geometry
    lines: Index  # of each warp
    sectors: Index
    sector: Index  # which, warp by warp


class MbarrierPhases:
    """The phases of mbarriers, which are numbered as they come."""

    def __init__(self) -> None:
        self.parities: dict[tuple[int, int], tuple[int, int]] = {}  # of each mbarrier: the phase's parity, and how many there were
        self.numbers: dict[tuple[int, int, int], int] = {}

    def number(self, place: tuple[int, int], parity: int, what: str) -> int:
        """The phase of an mbarrier that is current, or that has ended for those who wait."""
        before, count = self.parities.get(place, (0, 0))
        if what == "init":
            parity, count = 0, count + 1
        elif before != parity:
            count += 1
        self.parities[place] = parity, count
        return self.numbers.setdefault((*place, count - (what == "wait")), len(self.numbers))
