"""Which allocation global accesses fall into, and the name that a kernel's parameters give it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..vector.values import Shifted, Value
from .footprint import Footprint
from .profile import AllocationProfile
from .sectors import LINE

if TYPE_CHECKING:
    from ..launch import Launch
    from ..memory.arena import Allocation


NEAR = 20  # bits of an address: a stretch is a megabyte
FEW = 8  # allocations of a stretch that are remembered
COLUMNS, HITS = {"ld": 0, "st": 1, "red": 2, "atom": 2}, 3  # of an allocation's counts


class Places:
    """Sectors by allocation."""

    def __init__(self, launch: Launch) -> None:
        self.arena = launch.arena
        self.counts: dict[int, list[int]] = {}  # start -> loads, stores, atomics, hits
        self.found: dict[int, Allocation] = {}
        self.names: dict[int, str] = {}
        self._recent: dict[int, list[tuple[int, int, list[int]]]] = {}  # by stretch of memory: what held accesses that began there
        for v, at in launch.kernel.parameters:
            if v.size == 8:
                a = self.arena.find(int.from_bytes(launch.parameters[at : at + 8].tobytes(), "little"))
                if a is not None:
                    self.names.setdefault(a.start, v.name)

    def are_parameters(self, address: Value) -> bool:
        """Do addresses mean kernel parameters, which lie in constant memory?"""
        a = self.arena.find(int(address.base[0, 0]) + address.delta if isinstance(address, Shifted) else int(address.flat[0]))
        return a is not None and a.what == "kernel parameters"

    def of(self, f: Footprint, start: int) -> list[int] | None:
        """The counts of the allocation that an access falls into; None if there are several."""
        if not f.count:
            return None
        low, high = f.ends
        low, high = (low + start) * LINE, (high + start) * LINE
        near = self._recent.setdefault(low >> NEAR, [])
        for begin, end, row in near:
            if begin <= low and high < end:
                return row
        a = self.arena.find(low)
        if a is None or a is not self.arena.find(high):
            return None
        if len(near) < FEW:
            near.append((a.start, a.end, self._row(a)))
        return self._row(a)

    def count(self, row: list[int] | None, kind: str, f: Footprint, start: int, hits: int) -> None:
        """Adds one access of a group to what `of` found; hits of an access to several allocations are spread by their sectors."""
        if row is not None:
            row[COLUMNS[kind]] += f.total
            row[HITS] += hits
            return
        begins = self.arena.begins
        which = begins.searchsorted((f.each_sector << 5) + start * LINE, side="right") - 1
        number, sectors = np.unique(which[which >= 0], return_counts=True)
        for at, n in zip(begins[number].tolist(), sectors.tolist(), strict=True):
            row = self.counts.get(at)
            if row is None and (a := self.arena.find(at)) is not None:
                row = self._row(a)
            if row is not None:
                row[COLUMNS[kind]] += n
                row[HITS] += hits * n // f.total

    def _row(self, a: Allocation) -> list[int]:
        row = self.counts.get(a.start)
        if row is None:
            row = self.counts[a.start] = [0, 0, 0, 0]
            self.found[a.start] = a
        return row

    def frozen(self) -> tuple[AllocationProfile, ...]:
        """The counts as values, by address."""
        return tuple(
            AllocationProfile(self.names.get(start, f"{self.found[start].what} at {start:#x}"), start, self.found[start].size, *row)
            for start, row in sorted(self.counts.items())
        )
