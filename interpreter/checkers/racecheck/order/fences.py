"""Fences, and what release and acquire patterns hand on through memory."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....observe import Access
from ....plan.plan import Site
from ..context import RaceContext
from ..records.shadow_memory import Array, Shadow
from ..thread_ids import NumberedLanes
from .memory_order import GPU, Kind
from .release_tables import NOTHING, CausalPast

MANY = 4096  # reads that a fence may acquire from, before those of one thread and sequence become one


class Fences:
    """Those of one launch."""

    def __init__(self, context: RaceContext) -> None:
        self.context = context
        self.proxy: dict[
            str, tuple[Array, Array]
        ] = {}  # by space, when each thread last executed a proxy fence, and its block's barrier then
        self._released: dict[int, CausalPast] = {}  # by scope, the moment of each thread's last fence that releases; at time 0: none
        self._sequential = NOTHING  # the last release of the sequence that all fence.sc so far make
        self._read = np.zeros((2, 0), np.int64)  # threads, and the releases whose writes they have read: what a fence acquires
        self._more_read: list[Array] = []
        self._limit = MANY

    def fence(self, kind: Kind, lanes: NumberedLanes, site: Site) -> None:
        """Threads execute a fence."""
        thread, order, now = lanes.thread, self.context.order, self.context.now
        if kind.proxy_fence:
            for space in kind.fenced:
                times, barriers = self.proxy.setdefault(
                    space, (np.zeros(self.context.count, np.int64), np.zeros(self.context.count, np.int64))
                )
                times[thread], barriers[thread] = now, order.barrier[lanes.block]
            self.context.tick()
            return
        if kind.sequential:  # what was before any earlier fence.sc, of which each is in the other's scope, is before these threads
            self.context.met_by_chance |= order.sequences.acquire(thread, self._sequential, kind.scope)
        if kind.releases:
            kept = self._released.get(kind.scope)
            if kept is None:
                kept = self._released[kind.scope] = self._none()
            released = order.moment(thread, now)
            kept.at[thread], kept.barrier[thread], kept.warp[thread], kept.acquired[:, thread] = (
                now,
                released.barrier,
                released.warp,
                released.acquired,
            )
        if kind.acquires:
            for who, release in self._pending(thread, kind.scope >= GPU):
                self._take(who, release, kind.scope, site)
        if kind.sequential:
            self._sequential = order.sequences.release(order.moment(thread, now), self._sequential, kind.scope)
        self.context.tick()

    def _none(self) -> CausalPast:
        count = self.context.count
        at, barrier, warp = np.zeros((3, count), np.int64)
        return CausalPast(np.arange(count), at, barrier, warp, np.full((3, count), NOTHING))

    def covered(self, thread: Array, least: int) -> Iterator[CausalPast]:
        """What the last fences of these threads cover, of those with this scope at least."""
        for scope, moments in self._released.items():
            some = thread[moments.at[thread] > 0]
            if scope >= least and some.size:
                yield moments.take(some)

    # ------------------------------------------------------------ reads that a fence may acquire from

    def relaxed(self, thread: Array, release: Array | int) -> None:
        """Threads have read relaxedly what was released: a fence acquires it."""
        release = np.broadcast_to(release, thread.shape)
        there = release >= 0
        if there.any():
            self._more_read.append(np.stack((thread[there], release[there])))
            if sum(more.shape[1] for more in self._more_read) > self._limit:
                self._merge_reads()
                self._limit = max(MANY, self._read.shape[1])

    def _merge_reads(self) -> None:
        """Of one thread and sequence the last is kept."""
        thread, release = np.concatenate((self._read, *self._more_read), axis=1)
        self._more_read.clear()
        sequence = self.context.order.sequences.releases["sequence"][release]
        order = np.lexsort((release, sequence, thread))
        thread, release, sequence = thread[order], release[order], sequence[order]
        last = np.append((thread[1:] != thread[:-1]) | (sequence[1:] != sequence[:-1]), True) if thread.size else np.zeros(0, bool)
        self._read = np.stack((thread[last], release[last]))

    def _pending(self, thread: Array, done: bool) -> Iterator[tuple[Array, Array]]:
        """What these threads have read, one sequence of each at a time; `done`: no later fence acquires more of it."""
        if not self._more_read and not self._read.size:
            return
        self._merge_reads()
        here = np.isin(self._read[0], thread)
        who, release = self._read[:, here]
        if done:
            self._read = self._read[:, ~here]
        while who.size:
            first = np.append(True, who[1:] != who[:-1])
            yield who[first], release[first]
            who, release = who[~first], release[~first]

    def _take(self, thread: Array, release: Array, scope: int, site: Site) -> None:
        """Threads acquire at a scope what is released up to there."""
        sequences, threads = self.context.order.sequences, self.context.launch.threads
        self.context.met_by_chance |= sequences.acquire(thread, release, scope)
        lines = sequences.narrow_line(release)
        for k in np.flatnonzero((release >= 0) & ((lines > 0) | (scope < GPU))).tolist():
            self.context.reporter.narrow(int(thread[k]) // threads, scope, site, int(lines[k]))

    # ------------------------------------------------------------ strong accesses

    def passes(self, a: Access, kind: Kind, shadow: Shadow, offset: Array, u: NumberedLanes) -> None:
        """Strong accesses pass on what release patterns have published: lane by lane, those of one place one after the other."""
        writes, takes = a.kind != "ld", a.kind in ("ld", "atom")
        releases = writes and (kind.releases or bool(self._released))
        if kind.mbarrier or not (releases or shadow.has_releases):
            return
        size, sequences = a.type.bytes, self.context.order.sequences
        place = shadow.release_at(offset, size)
        found = shadow.released[place] - 1
        found[(found >= 0) & (sequences.releases["size"][np.maximum(found, 0)] != size)] = NOTHING
        if not writes:
            self._read_from(kind, u.thread, found, a.site)
            return
        order = np.argsort(place, kind="stable")
        place, found, lanes = place[order], found[order], u.take(order)
        begins = np.append(True, place[1:] != place[:-1])
        if a.kind == "st":  # a store begins a sequence of its own
            found[:], begins[:] = NOTHING, True
        parts = [(scope, moments.at[lanes.thread] > 0) for scope, moments in self._released.items()]
        each = np.full(lanes.thread.size, int(kind.releases)) + sum(has for _, has in parts)
        behind = np.cumsum(each)
        of_place = np.repeat(
            (behind - each)[begins], np.diff(np.flatnonzero(begins), append=place.size)
        )  # rows before the place's first one
        base = sequences.releases.count
        before = np.where(behind - each > of_place, base + behind - each - 1, found)  # what each lane finds
        after = np.where(behind > of_place, base + behind - 1, found)
        known = np.maximum(found, 0)
        sequence = np.where(found >= 0, sequences.releases["sequence"][known], base + of_place)
        line = a.site.instruction.span.line
        narrow = np.where(found >= 0, sequences.releases["narrow"][known], 0)
        if (kind.releases and kind.scope < GPU) or any(scope < GPU and has.any() for scope, has in parts):
            narrow[:] = line
        row = base + behind - each
        sequences.reserve(int(behind[-1]))
        for scope, has in parts:
            sequences.fill(row[has], self._released[scope].take(lanes.thread[has]), sequence[has], scope, size, narrow[has])
            row += has
        if kind.releases:
            now = self.context.now
            sequences.fill(row, self.context.order.moment(lanes.thread, now), sequence, kind.scope, size, narrow)
        if takes:
            self._read_from(kind, lanes.thread, before, a.site)
            if kind.releases:
                sequences.releases["of_thread"][row] = sequences.newest[lanes.thread]
        shadow.released[place] = after + 1
        shadow.has_releases |= bool((after >= 0).any())

    def _read_from(self, kind: Kind, thread: Array, release: Array, site: Site) -> None:
        if kind.acquires:
            self._take(thread, release, kind.scope, site)
        if not kind.acquires or kind.scope < GPU:
            self.relaxed(thread, release)
