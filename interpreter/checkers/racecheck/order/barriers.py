"""What barriers order: those of blocks, of warps and of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ....observe import ObservedLanes, ObservedWave
from ....plan.plan import Site
from ....values import plain
from ..context import RaceContext
from ..records.shadow_memory import Array
from ..thread_ids import NumberedLanes
from .fences import Fences
from .memory_order import CLUSTER, CTA
from .release_tables import NOTHING, CausalPast


class ClusterPhases:
    """Phases of the barriers of clusters: what arrivals have released, and who waits for more of them."""

    def __init__(self) -> None:
        self.released: dict[tuple[int, int], int] = {}  # by cluster and phase, the last release
        self.waiting: dict[tuple[int, int], list[Array]] = {}

    def last(self, cluster: int, phase: int) -> int:
        """The last release so far."""
        return self.released.get((cluster, phase), NOTHING)

    def arrive(self, cluster: int, phase: int, last: int) -> list[Array]:
        """Some arrive, and their last release is this one; those who wait already, and come after it, too."""
        if (cluster, phase) not in self.released:  # all have arrived in the phase before, and so have waited for the one before that
            self.waiting.pop((cluster, phase - 1), None)
            self.released.pop((cluster, phase - 2), None)
        self.released[cluster, phase] = last
        return self.waiting.get((cluster, phase), [])

    def wait(self, cluster: int, phase: int, thread: Array) -> int:
        """Threads wait for a phase; what they acquire at once."""
        if (cluster, phase + 1) not in self.released:
            self.waiting.setdefault((cluster, phase), []).append(thread)
        return self.last(cluster, phase)


class Rendezvous:
    """All barriers of one launch."""

    def __init__(self, context: RaceContext, fences: Fences) -> None:
        self.context = context
        self._fences = fences
        self._meeting: dict[tuple[int, int], list[Any]] = {}
        self._counted: dict[int, bool] = {}  # barriers by number: is their number of threads given?
        self._warps_meeting: dict[tuple[int, int], int] = {}
        self._cluster_arrivals: Array | None = None
        self._cluster_phases = ClusterPhases()

    def met(self, group: ObservedLanes) -> None:
        """See Observer."""
        self.context.order.block_barrier(np.arange(group.wave.first, group.wave.first + group.wave.count), self.context.now)
        self.context.tick()

    def arrival(self, group: ObservedLanes, number: int, count: int | None, waits: bool) -> None:
        """See Observer."""
        lanes = self.context.active(group, group.alive)
        released = None if waits else self.context.order.moment(lanes.thread, self.context.now)
        self._meeting.setdefault((id(group.wave), number), []).append((lanes, waits, released))
        self._counted[number] = count is not None
        self.context.tick()

    def completion(self, wave: ObservedWave, number: int, blocks: Array) -> None:
        """See Observer."""
        here = np.zeros(wave.count, bool)
        here[blocks] = True
        came = np.zeros(wave.count, np.int64)
        leaves = np.zeros(wave.count, bool)
        arrived: list[Any] = []
        left: list[Any] = []
        for lanes, waits, released in self._meeting.pop((id(wave), number), ()):
            inside = here[lanes.block - wave.first]
            for part, out in ((np.flatnonzero(inside), arrived), (np.flatnonzero(~inside), left)):
                if part.size:
                    out.append((lanes.take(part), waits, None if released is None else released.take(part)))
        for lanes, waits, _ in arrived:
            came += np.bincount(lanes.block - wave.first, minlength=wave.count)
            leaves[lanes.block - wave.first] |= not waits
        if left:
            self._meeting[id(wave), number] = left
        if not self._counted[number]:
            came += wave.exited.sum(axis=1)
        whole = here & ~leaves & (came >= self.context.launch.threads)
        if whole.any():
            self.context.order.block_barrier(np.flatnonzero(whole) + wave.first, self.context.now)
        self._meet_in_part(wave, here & ~whole, arrived)
        self.context.tick()

    def _meet_in_part(self, wave: ObservedWave, here: Array, arrived: Sequence[Any]) -> None:
        """Of these blocks some threads have arrived: those that wait come after all of them."""
        order, moments, waiting = self.context.order, [], []
        for lanes, waits, released in arrived:
            some = np.flatnonzero(here[lanes.block - wave.first])
            if some.size:
                moments.append(order.moment(lanes.thread[some], self.context.now) if released is None else released.take(some))
            if some.size and waits:
                waiting.append(lanes.take(some))
        if waiting:
            together, threads = CausalPast.of(moments), self.context.launch.threads
            order.sequences.meet(
                together,
                together.thread // threads,
                np.concatenate([w.thread for w in waiting]),
                np.concatenate([w.block for w in waiting]),
            )

    def members(self, group: ObservedLanes, membermask: Array) -> None:
        """See Observer."""
        g = group.geometry
        lanes = self.context.lanes_of(group)
        masks = np.broadcast_to(plain(membermask), g.shape).ravel().astype(np.uint32)
        layout = g.warps
        alive = None if group.alive is None else np.broadcast_to(group.alive, g.shape)
        active = alive if group.active is None else np.broadcast_to(group.active, g.shape) & (True if alive is None else alive)
        thread = np.minimum(layout.warp * 32 + np.arange(32), self.context.launch.threads - 1)
        exists = (layout.warp * 32 + np.arange(32) < self.context.launch.threads) & ~group.wave.exited[layout.block, thread]
        present = layout.members if active is None else layout.members & layout.spread(active)
        bits = _bits(present)
        living = _bits(exists)
        numbers = ((layout.block + group.wave.first) * self.context.order.per_block + layout.warp).ravel()
        if not present.all():
            for w, here in zip(numbers.tolist(), bits.tolist(), strict=True):  # those that came before, and wait
                if here:
                    of = int(masks[np.flatnonzero(lanes.warp == w)[0]])
                    before = self._warps_meeting.pop((w, of), 0)
                    if (before | here) & of & self._living_at(numbers, living, w) != of & self._living_at(numbers, living, w):
                        self._warps_meeting[w, of] = before | here
                    elif before:
                        bits[np.flatnonzero(numbers == w)[0]] |= before
        place = np.searchsorted(numbers, lanes.warp)
        wanted = masks & living[place]
        there = (wanted & ~bits[place]) == 0
        if active is not None:
            there &= active.ravel()
        whole = there & (wanted == living[place])
        if whole.any():
            self.context.order.warp_barrier(np.unique(lanes.warp[whole]), self.context.now)
        rest = np.flatnonzero(there & ~whole)
        if rest.size:
            full, wider = lanes.take(rest), wanted[rest]
            first = full.thread - (full.thread % self.context.launch.threads & 31)
            every, index = [], []
            for bit in range(32):  # also those that came before
                some = np.flatnonzero(wider >> np.uint32(bit) & np.uint32(1))
                every.append(first[some] + bit)
                index.append(some)
            thread_, at = np.unique(np.concatenate(every), return_index=True)
            origin = np.concatenate(index)[at]
            self.context.order.lanes_met(NumberedLanes(thread_, full.warp[origin], full.block[origin]), wider[origin], self.context.now)
        self.context.tick()

    @staticmethod
    def _living_at(numbers: Array, living: Array, warp: int) -> int:
        return int(living[np.flatnonzero(numbers == warp)[0]])

    def cluster(self, site: Site, group: ObservedLanes, arrives: bool) -> None:
        """See Observer."""
        lanes = self.context.active(group, group.active)
        if self._cluster_arrivals is None:
            self._cluster_arrivals = np.zeros(self.context.count, np.int64)
        phase = self._cluster_arrivals
        order, relaxed = self.context.order, "relaxed" in site.instruction.modifiers
        least = CTA if self.context.launch.cluster_size == 1 else CLUSTER
        if arrives:
            phase[lanes.thread] += 1
        which = lanes.block // self.context.launch.cluster_size
        for cluster in np.unique(which).tolist():
            here = lanes.thread[which == cluster]
            for n in np.unique(phase[here]).tolist():
                who = here[phase[here] == n]
                if not arrives:
                    order.sequences.acquire(who, self._cluster_phases.wait(cluster, n, who))
                    continue
                last = self._cluster_phases.last(cluster, n)
                for released in self._fences.covered(who, least) if relaxed else (order.moment(who, self.context.now),):
                    last = order.sequences.release(released, last)
                for waiting in self._cluster_phases.arrive(cluster, n, last):
                    order.sequences.acquire(waiting, last)
        self.context.tick()


def _bits(flags: Array) -> Array:
    made: Array = np.packbits(flags.reshape(-1, 32), axis=1, bitorder="little").view(np.uint32).ravel()
    return made
