"""What the parts of racecheck share: the time, the launch, its lanes by number, and the shadows of its memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...launch import Launch
from ...memory.arena import Allocation, Arena
from ...observe import ObservedWave
from ...plan.plan import Site
from ...program import LoadedKernel
from ..findings import Findings
from .order.happens_before import KnownAtIssue, Order
from .order.memory_order import Kind, is_uneven, kind_of, only_barriers
from .records.shadow_memory import COPY, HALF, LEVEL_AT, LOW, MIXED, NUMBER, READS, Array, Shadow, limit
from .report import Reporter
from .thread_ids import Copies, NumberedLanes

REMEMBERED = 64  # geometries whose lanes are kept


class RaceContext:
    """One run; the time counts synchronisations."""

    order: Order
    launch: Launch
    count: int  # threads of the launch
    uneven: bool  # see memory_order.py

    def __init__(self, findings: Findings) -> None:
        self.now = 1
        self.met_by_chance = False  # did a release and an acquire order threads, which in another run might come in another order?
        self.reporter = Reporter(findings)
        self._kinds: dict[Site, Kind] = {}
        self._numbers: dict[Site, int] = {}
        self._copies = Copies()
        self._uneven: dict[int, tuple[LoadedKernel, bool]] = {}
        self._global: dict[int, tuple[Allocation, Shadow]] = {}
        self._shared: dict[int, Shadow] = {}
        self._lanes: dict[int, tuple[Any, NumberedLanes]] = {}
        self._floors: dict[int, tuple[Any, int, Any]] = {}  # of the lanes of a group: those, and since which barrier

    @property
    def only_barriers(self) -> bool:
        """Do only barriers of whole blocks order the threads of the launch?"""
        return self.order.only_barriers

    def tick(self) -> None:
        """Time goes on: what comes now is after what was."""
        self.now += 1

    # ------------------------------------------------------------ launches

    def begin(self, launch: Launch, floor: int, earlier: tuple[tuple[int, int], ...]) -> None:
        """A launch starts; what ran up to a time, and in these times after it, is ordered before."""
        self.launch = launch
        self.order = Order(launch, floor, self.now, self._copies)
        self.order.earlier = earlier
        self.tick()
        self.count = launch.blocks * launch.threads
        self.order.only_barriers = floor >= self.order.start and only_barriers(launch)
        if id(launch.kernel) not in self._uneven:
            self._uneven[id(launch.kernel)] = launch.kernel, is_uneven(launch)
        self.uneven = self._uneven[id(launch.kernel)][1]
        self._floors.clear()
        self.reporter.begin(launch, self.order)
        for key, (allocation, shadow) in list(self._global.items()):
            if allocation.freed:
                del self._global[key]
            elif shadow.has_releases:
                shadow.forget_releases()

    def wave(self, wave: ObservedWave) -> None:
        """Some blocks start."""
        self._shared[id(wave)] = Shadow("shared", wave.shared.bytes.size - 16)

    def end(self) -> None:
        """The launch is over."""
        self._shared.clear()
        self._lanes.clear()
        self._copies.end(self.now)
        self.tick()

    def copied(self, arena: Arena, address: int, size: int, writes: bool, unordered: Sequence[tuple[int, int]]) -> None:
        """The host, or a copy of a stream, accesses memory beside some launches, by their times."""
        found = arena.find(address) if unordered else None
        have = None if found is None else self._global.get(id(found))
        if have is None:
            return
        shadow, copies = have[1], self.order.copies
        units = slice((address - shadow.origin) // shadow.unit, -(-(address + size - shadow.origin) // shadow.unit))
        for what, cells in shadow.cells.items():
            if not writes and what in READS:
                continue
            stamp = cells.stamp[units]
            time, low = (stamp >> HALF).astype(np.int64), (stamp & LOW).astype(np.int64)
            by_copy = low >> LEVEL_AT == COPY
            time[by_copy] = copies.done[low[by_copy] & NUMBER]
            bad = np.flatnonzero(np.logical_or.reduce([(time >= first) & (time <= last) for first, last in unordered]))
            for number in np.unique(cells.site[units][bad] & np.uint16(MIXED - 1)).tolist():
                self.reporter.copied(number, shadow, what, writes, (units.start + int(bad[0])) * shadow.unit, arena)

    # ------------------------------------------------------------ shadows

    def of_wave(self, wave: ObservedWave) -> Shadow:
        """The shadow of a wave's shared memory."""
        return self._shared[id(wave)]

    def of_allocation(self, found: Allocation) -> Shadow:
        """The shadow of an allocation."""
        have = self._global.get(id(found))
        if have is None:
            have = self._global[id(found)] = found, Shadow("global", found.size, found.start)
        return have[1]

    def floor(self, shadow: Shadow, u: NumberedLanes, before: KnownAtIssue | None = None) -> Any:
        """Records up to this stamp are ordered before the lanes, or their copies: a number, or one for each."""
        if shadow.name != "shared" or self.launch.cluster_size > 1:
            return limit(self.order.floor)
        if before is not None:
            return limit(before.moment.barrier)
        found = self._floors.get(id(u))
        if found is not None and found[0] is u and found[1] == self.order.barriers:
            return found[2]
        times = self.order.barrier[u.block]
        low, high = int(times.min()), int(times.max())
        floor = limit(low) if low == high else limit(times)
        if len(self._floors) > REMEMBERED:
            self._floors.clear()
        self._floors[id(u)] = u, self.order.barriers, floor
        return floor

    # ------------------------------------------------------------ lanes and instructions

    def lanes_of(self, g: Any) -> NumberedLanes:
        """All lanes of a group, flat."""
        found = self._lanes.get(id(g.geometry))
        if found is not None and found[0] is g.geometry:
            return found[1]
        shape = g.geometry.shape
        block = (np.broadcast_to(g.geometry.block, shape).ravel() + g.wave.first).astype(np.int64)
        thread = np.broadcast_to(g.geometry.thread, shape).ravel()
        lanes = NumberedLanes(block * self.launch.threads + thread, block * self.order.per_block + (thread >> 5), block)
        if len(self._lanes) > REMEMBERED:
            self._lanes.clear()
        self._lanes[id(g.geometry)] = (g.geometry, lanes)
        return lanes

    def active(self, g: Any, mask: Array | None) -> NumberedLanes:
        """Those of a group in a mask."""
        lanes = self.lanes_of(g)
        if mask is None:
            return lanes
        return lanes.take(np.flatnonzero(np.broadcast_to(mask, g.geometry.shape)))

    def kind(self, site: Site) -> Kind:
        """What an instruction is."""
        found = self._kinds.get(site)
        if found is None:
            found = self._kinds[site] = kind_of(site)
        return found

    def number(self, site: Site) -> int:
        """The number of an instruction in records."""
        found = self._numbers.get(site)
        if found is None:
            found = self._numbers[site] = self.reporter.add(site, self.kind(site))
        return found
