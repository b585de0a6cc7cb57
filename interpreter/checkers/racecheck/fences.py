"""Fences, and what release and acquire patterns hand on through memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...observe import Access
from ...plan.plan import Site
from .clocks import AT, Clock, Releases, merge
from .context import RaceContext
from .memory_order import CLUSTER, CTA, GPU, Kind
from .release_patterns import ReleasePatterns
from .shadow_memory import NUMBER, Array, Shadow
from .thread_ids import NumberedLanes


class Fences:
    """Those of one launch."""

    def __init__(self, context: RaceContext) -> None:
        self.context = context
        self.proxy: dict[
            str, tuple[Array, Array]
        ] = {}  # by space, when each thread last executed a proxy fence, and its block's barrier then
        self._times: dict[
            int, tuple[Array, Array]
        ] = {}  # by scope, when each thread last released by a fence, and its block's barrier then
        self._sequence: dict[tuple[int, int], Releases] = {}  # what was before each fence.sc so far, by how far they reach
        self._fence_views: dict[tuple[int, int], Any] = {}
        self._pending: dict[int, dict[tuple[int, int], ReleasePatterns]] = {}  # thread -> what a fence would acquire

    def fence(self, kind: Kind, lanes: NumberedLanes, site: Site) -> None:
        """Threads execute a fence."""
        thread = lanes.thread
        if kind.proxy_fence:
            for space in kind.fenced:
                times, barriers = self.proxy.setdefault(space, self._never())
                times[thread], barriers[thread] = self.context.now, self.context.order.barrier[lanes.block]
            self.context.tick()
            return
        if kind.sequential:
            self._follow(kind.scope, lanes)
        if kind.releases:
            times, barriers = self._times.setdefault(kind.scope, self._never())
            times[thread], barriers[thread] = self.context.now, self.context.order.barrier[lanes.block]
            if self.context.order.views:
                self._keep_views(kind.scope, thread)
        if kind.acquires and self._pending:
            for t in thread.tolist() if thread.size < len(self._pending) else [t for t in self._pending if (thread == t).any()]:
                found = self._pending.get(t)
                if found:
                    for patterns in found.values():
                        self._take(t, patterns, kind.scope, site)
                    if kind.scope >= GPU:
                        del self._pending[t]
        if kind.sequential:
            self._lead(kind.scope, lanes)
        self.context.tick()

    def _keep_views(self, scope: int, thread: Array) -> None:
        """What threads know that synchronise otherwise than by barriers; those of a warp mostly know the same."""
        order, kept = self.context.order, dict[tuple[int, ...], Clock]()
        for t in thread.tolist():
            own, warp, block = order.key_of(t)
            alone = own in order.views or order.partial
            if alone or warp in order.views or block in order.views:
                key = (own,) if alone else (warp,)
                if key not in kept:
                    kept[key] = order.known_by(t)
                self._fence_views[scope, t] = kept[key]

    def _never(self) -> tuple[Array, Array]:
        return np.zeros(self.context.count, np.int64), np.zeros(self.context.count, np.int64)

    def _reached(self, scope: int, block: int) -> list[tuple[int, int]]:
        """Where a fence.sc of a block meets others: in its block, its cluster, its device, as far as its scope goes."""
        return [(CTA, block), (CLUSTER, block // self.context.launch.cluster_size), (GPU, 0)][: scope + 1]

    def _follow(self, scope: int, lanes: NumberedLanes) -> None:
        """What was before any earlier fence.sc, of which each is in the other's scope, is before these threads."""
        if not self._sequence:
            return
        for block in np.unique(lanes.block).tolist():
            clocks: list[Clock] = [{s: self.context.now << AT} for key in self._reached(scope, block) if (s := self._sequence.get(key))]
            if clocks:
                self.context.met_by_chance = True
                self.context.order.acquire(lanes.thread[lanes.block == block], clocks)

    def _lead(self, scope: int, lanes: NumberedLanes) -> None:
        """What is before these threads is before each later fence.sc."""
        for block in np.unique(lanes.block).tolist():
            clock = self.context.order.clock(lanes.thread[lanes.block == block], self.context.now)
            for key in self._reached(scope, block):
                self._sequence.setdefault(key, Releases()).append(self.context.now << AT | 1, clock)

    def _take(self, thread: int, patterns: ReleasePatterns, scope: int, site: Site) -> None:
        block = thread // self.context.launch.threads
        acquired = patterns.for_(block, scope, self.context.launch.cluster_size)
        if acquired:
            self.context.met_by_chance = True
            self.context.order.acquire_one(thread, [acquired])
        if scope < GPU or patterns.site_line:
            self.context.reporter.narrow(block, scope, site, patterns.site_line)

    def covered(self, thread: Array, least: int) -> Clock:
        """What the last fences of these threads cover, of those with this scope at least."""
        out: Clock = {}
        for t in thread.tolist():
            for scope, clock in self._released_by(t):
                if scope >= least:
                    merge(out, clock)
        return out

    def relaxed(self, thread: Array, place: tuple[int, int], clock: Clock) -> None:
        """Threads have seen relaxedly the end of an mbarrier's phase: a fence acquires what the phase has released."""
        for t in thread.tolist():
            self._pending.setdefault(t, {})[place] = ReleasePatterns().more(
                t // self.context.launch.threads, CTA, clock, self.context.now, 0, 0
            )

    def _released_by(self, t: int) -> list[tuple[int, Clock]]:
        out = []
        for scope, (times, barriers) in self._times.items():
            at = int(times[t])
            if at:
                clock = dict(self._fence_views.get((scope, t), {}))
                thread, warp, block = self.context.order.key_of(t)
                clock[thread] = at
                for key, time in ((block, int(barriers[t])), (warp, int(self.context.order.warp[warp & NUMBER]))):
                    if self.context.order.floor < time <= at:
                        clock[key] = max(time, clock.get(key, -1))
                out.append((scope, clock))
        return out

    def passes(self, a: Access, kind: Kind, shadow: Shadow, offset: Array, u: NumberedLanes) -> None:
        """Strong accesses pass on what release patterns have published."""
        if kind.mbarrier:
            return
        reads = a.kind in ("ld", "atom", "red")
        writes = a.kind != "ld"
        takes = a.kind in ("ld", "atom")
        releases = writes and (kind.releases or bool(self._times))
        if not releases and not shadow.patterns:
            return
        if not releases:
            known = list(shadow.patterns)
            some = np.flatnonzero(np.isin(offset, known))
        else:
            some = np.arange(offset.size)
        for j in some.tolist():
            place, thread = int(offset[j]), int(u.thread[j])
            patterns = shadow.patterns.get(place)
            if patterns is not None and patterns.size != a.type.bytes:
                patterns = None
            if patterns is not None and takes:
                if kind.acquires:
                    self._take(thread, patterns, kind.scope, a.site)
                self._pending.setdefault(thread, {})[id(shadow), place] = patterns
            if not writes:
                continue
            fresh = patterns if reads else None  # a read-modify-write passes on what it finds
            for scope, clock in self._released_by(thread) if self._times else ():
                fresh = (fresh or ReleasePatterns()).more(
                    int(u.block[j]), scope, clock, self.context.now, a.site.instruction.span.line, a.type.bytes
                )
            if kind.releases:
                clock = self.context.order.clock(u.thread[j : j + 1], self.context.now)
                fresh = (fresh or ReleasePatterns()).more(
                    int(u.block[j]), kind.scope, clock, self.context.now, a.site.instruction.span.line, a.type.bytes
                )
            if fresh is None:
                shadow.patterns.pop(place, None)
            else:
                shadow.patterns[place] = fresh
