"""Which allocation global accesses fall into, and the name that a kernel's parameters give it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..values import Shifted, Value
from .footprint import LINE, Footprint
from .profile import AllocationProfile

if TYPE_CHECKING:
    from ..launch import Launch
    from ..memory.arena import Allocation


NEAR = 13  # bits of a line's number: a stretch is a megabyte
COLUMNS = {"ld": 0, "st": 1, "red": 2, "atom": 2}


class Places:
    """Sectors by allocation."""

    def __init__(self, launch: Launch) -> None:
        self.arena = launch.arena
        self.counts: dict[int, list[int]] = {}  # start -> loads, stores, atomics, hits
        self.found: dict[int, Allocation] = {}
        self.names: dict[int, str] = {}
        self._recent: dict[int, tuple[int, int, list[int]]] = {}  # by stretch of memory: what held an access that began there
        for v, at in launch.kernel.parameters:
            if v.size == 8:
                a = self.arena.find(int.from_bytes(launch.parameters[at : at + 8].tobytes(), "little"))
                if a is not None:
                    self.names.setdefault(a.start, v.name)

    def are_parameters(self, address: Value) -> bool:
        """Do addresses mean kernel parameters, which lie in constant memory?"""
        a = self.arena.find(int(address.base[0, 0]) + address.delta if isinstance(address, Shifted) else int(address.flat[0]))
        return a is not None and a.what == "kernel parameters"

    def count(self, kind: str, f: Footprint, start: int, hits: int) -> None:
        """Adds one access of a group; hits of an access to several allocations are spread by their sectors."""
        if not f.total:
            return
        low, high = f.ends
        low, high = low + start, high + start
        near = self._recent.get(low >> NEAR)
        if near is None or low * LINE < near[0] or high * LINE >= near[1]:
            a = self.arena.find(low * LINE)
            if a is None or a is not self.arena.find(high * LINE):
                self._spread(kind, f, start, hits)
                return
            near = self._recent[low >> NEAR] = (a.start, a.end, self._row(a))
        row = near[2]
        row[COLUMNS[kind]] += f.total
        row[3] += hits

    def _spread(self, kind: str, f: Footprint, start: int, hits: int) -> None:
        """As count, of several allocations."""
        line = f.outline.line + start
        order = np.argsort(line)
        line, each = line[order], f.each[order]
        at = 0
        while at < line.size:
            a = self.arena.find(int(line[at]) * LINE)
            end = at + 1 if a is None else max(at + 1, int(np.searchsorted(line, -(-a.end // LINE))))
            if a is not None:
                n = int(each[at:end].sum())
                row = self._row(a)
                row[COLUMNS[kind]] += n
                row[3] += hits * n // max(1, f.total)
            at = end

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
