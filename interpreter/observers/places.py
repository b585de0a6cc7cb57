"""Which allocation global accesses fall into, and the name that a kernel's parameters give it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..values import Array
from .profile import AllocationProfile
from .tables import count_bits, sectors_of
from .touch import Touch

if TYPE_CHECKING:
    from ..launch import Launch
    from ..memory.arena import Allocation

LINE = 128


class Places:
    """Sectors by allocation."""

    def __init__(self, launch: Launch) -> None:
        self.arena = launch.arena
        self.counts: dict[int, list[int]] = {}  # start -> loads, stores, atomics, hits
        self.found: dict[int, Allocation] = {}
        self.names: dict[int, str] = {}
        for v, at in launch.kernel.parameters:
            if v.size == 8:
                a = self.arena.find(int.from_bytes(launch.parameters[at : at + 8].tobytes(), "little"))
                if a is not None:
                    self.names.setdefault(a.start, v.name)

    def are_parameters(self, address: Array) -> bool:
        """Do addresses mean kernel parameters, which lie in constant memory?"""
        a = self.arena.find(int(address.flat[0]))
        return a is not None and a.what == "kernel parameters"

    def count(self, kind: str, t: Touch, hits: int) -> None:
        """Adds one access of a group; hits of an access to several allocations are spread by their sectors."""
        if not t.line.size:
            return
        low, high = self.arena.find(int(t.line.min()) * LINE), self.arena.find(int(t.line.max()) * LINE)
        total = int(t.sectors.sum())
        if low is not None and low is high:
            self._add(low, kind, total, hits)
            return
        each = count_bits(sectors_of(t.words))
        lines, which = np.unique(t.line, return_inverse=True)
        sums = np.bincount(which.reshape(-1), weights=each)
        at = 0
        while at < lines.size:
            a = self.arena.find(int(lines[at]) * LINE)
            end = at + 1 if a is None else int(np.searchsorted(lines, -(-a.end // LINE)))
            if a is not None:
                n = int(sums[at:end].sum())
                self._add(a, kind, n, hits * n // max(1, total))
            at = max(end, at + 1)

    def _add(self, a: Allocation, kind: str, sectors: int, hits: int) -> None:
        row = self.counts.get(a.start)
        if row is None:
            row = self.counts[a.start] = [0, 0, 0, 0]
            self.found[a.start] = a
        row[0 if kind == "ld" else 1 if kind == "st" else 2] += sectors
        row[3] += hits

    def frozen(self) -> tuple[AllocationProfile, ...]:
        """The counts as values, by address."""
        return tuple(
            AllocationProfile(self.names.get(start, f"{self.found[start].what} at {start:#x}"), start, self.found[start].size, *row)
            for start, row in sorted(self.counts.items())
        )
