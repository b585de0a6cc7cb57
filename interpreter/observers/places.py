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


NEAR = 10  # bits of a line's number


class Places:
    """Sectors by allocation."""

    def __init__(self, launch: Launch) -> None:
        self.arena = launch.arena
        self.counts: dict[int, list[int]] = {}  # start -> loads, stores, atomics, hits
        self.found: dict[int, Allocation] = {}
        self.names: dict[int, str] = {}
        self._recent: dict[int, Allocation] = {}  # that held all lines of an access that began near, by stretch of memory
        for v, at in launch.kernel.parameters:
            if v.size == 8:
                a = self.arena.find(int.from_bytes(launch.parameters[at : at + 8].tobytes(), "little"))
                if a is not None:
                    self.names.setdefault(a.start, v.name)

    def are_parameters(self, address: Value) -> bool:
        """Do addresses mean kernel parameters, which lie in constant memory?"""
        at = int(address.base[0, 0]) + address.delta if isinstance(address, Shifted) else int(address.flat[0])
        a = self._recent.get(at // LINE >> NEAR)
        if a is not None and not a.freed and a.start <= at < a.end:
            return False  # they are not counted here
        a = self.arena.find(at)
        return a is not None and a.what == "kernel parameters"

    def count(self, kind: str, f: Footprint, start: int, hits: int) -> None:
        """Adds one access of a group; hits of an access to several allocations are spread by their sectors."""
        if not f.outline.line.size:
            return
        low, high = f.outline.line.item(0) + start, f.outline.line.item(-1) + start
        a = self._recent.get(low >> NEAR)
        if a is None or a.freed or low * LINE < a.start or high * LINE >= a.end:
            a = self.arena.find(low * LINE)
            if a is not None and a is self.arena.find(high * LINE):
                if len(self._recent) >= 64:
                    self._recent.clear()
                self._recent[low >> NEAR] = a
            else:
                self._spread(kind, f, start, hits)
                return
        self._add(a, kind, f.total, hits)

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
                self._add(a, kind, n, hits * n // max(1, f.total))
            at = end

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
