"""Which allocation global accesses fall into, and its name: that of the array in it, else of the parameter that points to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..values import Shifted, Value
from .sectors import LINE
from .sites import AllocationProfile

if TYPE_CHECKING:
    from ..launch import Launch
    from ..memory.arena import Allocation

COLUMNS, HITS = {"ld": 0, "st": 1, "red": 2, "atom": 2}, 3  # of an allocation's counts
Counts = list[int]  # of one allocation: sectors loaded, stored, updated, found in L1


class AllocationTable:
    """The counts of each allocation."""

    def __init__(self, launch: Launch) -> None:
        self._arena = launch.arena
        self._counts: dict[int, Counts] = {}
        self._found: dict[int, Allocation] = {}
        self._names: dict[int, str] = {}
        for v, at in launch.kernel.parameters:
            if v.size == 8:
                a = self._arena.find(int.from_bytes(launch.parameters[at : at + 8].tobytes(), "little"))
                if a is not None:
                    self._names.setdefault(a.start, v.name if a.object is None else a.object.name)

    def are_parameters(self, address: Value) -> bool:
        """Do addresses mean kernel parameters, which lie in constant memory?"""
        a = self._arena.find(int(address.base[0, 0]) + address.delta if isinstance(address, Shifted) else int(address.flat[0]))
        return a is not None and a.what == "kernel parameters"

    def of(self, low: int, high: int) -> Counts | None:
        """The counts of the allocation that holds both lines; None if there is no such one."""
        a = self._arena.find(low * LINE)
        if a is None or (low != high and high * LINE >= a.end):
            return None
        return self._counts_of(a)

    def each(self, line: NDArray[np.int64]) -> tuple[list[Counts | None], NDArray[np.int64]]:
        """The counts of all allocations that lines lie in, and for each line which of them."""
        _, first, which = np.unique(self._arena.begins.searchsorted(line * LINE, side="right"), return_index=True, return_inverse=True)
        found = [self._arena.find(x) for x in (line[first] * LINE).tolist()]
        return [None if a is None else self._counts_of(a) for a in found], which.reshape(-1)

    def _counts_of(self, a: Allocation) -> Counts:
        counts = self._counts.get(a.start)
        if counts is None:
            counts = self._counts[a.start] = [0, 0, 0, 0]
            self._found[a.start] = a
        return counts

    def frozen(self) -> tuple[AllocationProfile, ...]:
        """The counts as values, by address."""
        return tuple(
            AllocationProfile(self._names.get(start, f"{self._found[start].what} at {start:#x}"), start, self._found[start].size, *counts)
            for start, counts in sorted(self._counts.items())
        )
