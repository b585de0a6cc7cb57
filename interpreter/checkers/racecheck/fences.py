"""Fences, and what release and acquire patterns hand on through memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...observe import Access
from ...plan.plan import Site
from .cells import NUMBER, Array, Shadow
from .clocks import Clock, merge
from .heads import Heads
from .kinds import CLUSTER, CTA, GPU, Kind
from .numbers import NumberedLanes
from .scene import Scene


class Fences:
    """Those of one launch."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.proxy: dict[
            str, tuple[Array, Array]
        ] = {}  # by space, when each thread last executed a proxy fence, and its block's barrier then
        self._times: dict[
            int, tuple[Array, Array]
        ] = {}  # by scope, when each thread last released by a fence, and its block's barrier then
        self._sequence: dict[tuple[int, int], Clock] = {}  # what was before the fence.sc so far, by how far they reach
        self._fence_views: dict[tuple[int, int], Any] = {}
        self._pending: dict[int, dict[tuple[int, int], Heads]] = {}  # thread -> what a fence would acquire

    def fence(self, kind: Kind, lanes: NumberedLanes, site: Site) -> None:
        """Threads execute a fence."""
        thread = lanes.thread
        if kind.proxy_fence:
            for space in kind.fenced:
                times, barriers = self.proxy.setdefault(space, self._never())
                times[thread], barriers[thread] = self.scene.now, self.scene.order.barrier[lanes.block]
            self.scene.tick()
            return
        if kind.sequential:
            self._follow(kind.scope, lanes)
        if kind.releases:
            times, barriers = self._times.setdefault(kind.scope, self._never())
            times[thread], barriers[thread] = self.scene.now, self.scene.order.barrier[lanes.block]
            if self.scene.order.views:
                self._keep_views(kind.scope, thread)
        if kind.acquires and self._pending:
            for t in thread.tolist() if thread.size < len(self._pending) else [t for t in self._pending if (thread == t).any()]:
                found = self._pending.get(t)
                if found:
                    for heads in found.values():
                        self._take(t, heads, kind.scope, site)
                    if kind.scope >= GPU:
                        del self._pending[t]
        if kind.sequential:
            self._lead(kind.scope, lanes)
        self.scene.tick()

    def _keep_views(self, scope: int, thread: Array) -> None:
        """What threads know that synchronise otherwise than by barriers; those of a warp mostly know the same."""
        order, kept = self.scene.order, dict[tuple[int, ...], Clock]()
        for t in thread.tolist():
            own, warp, block = order.key_of(t)
            alone = own in order.views or order.partial
            if alone or warp in order.views or block in order.views:
                key = (own,) if alone else (warp,)
                if key not in kept:
                    kept[key] = order.known_by(t)
                self._fence_views[scope, t] = kept[key]

    def _never(self) -> tuple[Array, Array]:
        return np.zeros(self.scene.count, np.int64), np.zeros(self.scene.count, np.int64)

    def _reached(self, scope: int, block: int) -> list[tuple[int, int]]:
        """Where a fence.sc of a block meets others: in its block, its cluster, its device, as far as its scope goes."""
        return [(CTA, block), (CLUSTER, block // self.scene.launch.cluster_size), (GPU, 0)][: scope + 1]

    def _follow(self, scope: int, lanes: NumberedLanes) -> None:
        """What was before any earlier fence.sc, of which each is in the other's scope, is before these threads."""
        if not self._sequence:
            return
        for block in np.unique(lanes.block).tolist():
            clocks = [dict(c) for key in self._reached(scope, block) if (c := self._sequence.get(key))]
            if clocks:
                self.scene.met_by_chance = True
                self.scene.order.acquire(lanes.thread[lanes.block == block], clocks)

    def _lead(self, scope: int, lanes: NumberedLanes) -> None:
        """What is before these threads is before each later fence.sc."""
        for block in np.unique(lanes.block).tolist():
            clock = self.scene.order.clock(lanes.thread[lanes.block == block], self.scene.now)
            for key in self._reached(scope, block):
                merge(self._sequence.setdefault(key, {}), clock)

    def _take(self, thread: int, heads: Heads, scope: int, site: Site) -> None:
        block = thread // self.scene.launch.threads
        clocks = list(heads.for_(block, scope, self.scene.launch.cluster_size))
        if clocks:
            self.scene.met_by_chance = True
            self.scene.order.acquire_one(thread, clocks)
        if scope < GPU or heads.site_line:
            self.scene.reporter.narrow(block, scope, site, heads.site_line)

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
            self._pending.setdefault(t, {})[place] = Heads(narrow={(t // self.scene.launch.threads, CTA): (clock,)})

    def _released_by(self, t: int) -> list[tuple[int, dict[int, int]]]:
        out = []
        for scope, (times, barriers) in self._times.items():
            at = int(times[t])
            if at:
                clock = dict(self._fence_views.get((scope, t), {}))
                thread, warp, block = self.scene.order.key_of(t)
                clock[thread] = at
                for key, time in ((block, int(barriers[t])), (warp, int(self.scene.order.warp[warp & NUMBER]))):
                    if self.scene.order.floor < time <= at:
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
        if not releases and not shadow.heads:
            return
        if not releases:
            known = list(shadow.heads)
            some = np.flatnonzero(np.isin(offset, known))
        else:
            some = np.arange(offset.size)
        for j in some.tolist():
            place, thread = int(offset[j]), int(u.thread[j])
            heads = shadow.heads.get(place)
            if heads is not None and heads.size != a.type.bytes:
                heads = None
            if heads is not None and takes:
                if kind.acquires:
                    self._take(thread, heads, kind.scope, a.site)
                self._pending.setdefault(thread, {})[id(shadow), place] = heads
            if not writes:
                continue
            fresh = heads if reads else None  # a read-modify-write passes on what it finds
            for scope, clock in self._released_by(thread) if self._times else ():
                fresh = (fresh or Heads()).more(int(u.block[j]), scope, clock, a.site.instruction.span.line, a.type.bytes)
            if kind.releases:
                clock = self.scene.order.clock(u.thread[j : j + 1], self.scene.now)
                fresh = (fresh or Heads()).more(int(u.block[j]), kind.scope, clock, a.site.instruction.span.line, a.type.bytes)
            if fresh is None:
                shadow.heads.pop(place, None)
            else:
                shadow.heads[place] = fresh
