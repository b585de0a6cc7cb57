"""Stores that become visible late and out of order, where a seed says in which order a launch runs.

A store of `st` may be held in a buffer beside memory instead of being done; from then on it is done at some time, in any order, but
never later than the memory consistency model of PTX allows (PTX ISA 8).  Memory itself is one for all: what has been done is seen by all.
So loads never see anything that a machine with in-order memory behind store buffers would not show; what comes of late loads is not shown.

What is held becomes visible

    to its own thread    before that thread accesses the same bytes in any way: program order and coherence
    behind a fence       stores that a thread holds are not ordered by an acquire-release fence themselves, but before its later stores:
                         before one of those is done, the older ones are done (scope gpu or sys), or marked for their block or cluster
    where it is marked   a marked store is done before a thread of that block, or cluster, accesses its bytes, and before a wider fence of such
                         a thread lets something out: what that thread may have seen comes before what it tells (causality is transitive)
    behind fence.sc      at once: what the thread holds is done, or marked with the fence's scope, so that no later load comes before it
    at barriers          as by a fence.sc for the block or cluster; bar.warp.sync counts as a barrier of the block
    with atomics         atomic operations are done in memory, behind what is held for the same bytes and behind what a fence puts before them
    between proxies      fence.proxy, asynchronous copies and tensor cores find all of it done
    at last              when nobody else can go on, when another wave runs, and at the end of the wave

`.relaxed`, `.volatile` and weak stores are held alike; `st.release` is a fence and a store.  Only stores to global and shared memory of the
device are held.  A launch without a seed has no buffer, and pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.ports import Shortcut
from warplab.isa.types import ScalarType

from ..order import CLUSTER, CTA, GPU, MemoryOrder
from ..values import LocalPlace, Value, plain
from .access import WaveMemory
from .spaces import AccessingLanes, MemorySpace

Array = NDArray[Any]
HELD = 0.6  # how many of the first stores are held
HELD_ELSEWHERE = 0.4  # how many of those at lines that a guided seed does not name
MANY = 16  # stores behind which half as many are
MOST_HELD = 4  # stores that are held at once
LEAKS = 0.2  # how often, when another group runs or a store comes, one of them is done
PRIVATE = frozenset({"const", "local", "param", "param::entry", "param::func"})
PLACE_BITS = 44  # of a key that begins with a lane or a block
NOT_MARKED, FOR_BLOCK, FOR_CLUSTER = range(3)


class HeldStore:
    """A store that some lanes have issued, and that is not done for those that are `left`."""

    __slots__ = ("end", "fences", "is_marked", "lane", "left", "low", "mark", "memory", "place", "size", "values")

    def __init__(self, memory: MemorySpace, lane: Array, place: Array, size: int, values: Sequence[Array], fences: Array) -> None:
        self.memory = memory
        self.lane = lane  # numbers in the wave
        self.place = place  # the first byte
        self.size = size
        self.low, self.end = int(place.min()), int(place.max()) + size
        self.values = values
        self.fences = fences  # of scope cta, cluster, gpu or wider that each lane had executed: (3, lanes)
        self.left = np.ones(lane.shape, np.bool_)
        self.mark = np.full(lane.shape, NOT_MARKED)
        self.is_marked = False  # for any lane

    def do(self, now: Array) -> None:
        """Memory holds what some lanes have stored."""
        some = np.flatnonzero(now & self.left)
        self.left[some] = False
        dtype = self.values[0].dtype
        view, index = self.memory.view(dtype), self.place[some] // dtype.itemsize
        for n, v in enumerate(self.values):
            view[index + n] = v[some]


class LateStores:
    """The stores of one wave that are held, oldest first."""

    def __init__(self, schedule: Random, blocks: int, threads: int, cluster_size: int, guided: frozenset[int] = frozenset()) -> None:
        self.schedule = schedule
        self.threads = threads
        self.cluster_size = cluster_size
        self.guided = guided
        self.held: list[HeldStore] = []
        self.order: MemoryOrder | None = None  # of the st that is executed
        self.line = 0  # of that st
        self.watch: Callable[[HeldStore, NDArray[np.bool_]], None] | None = None  # hears of stores before they are done
        self._stores = 0
        self._fences: Array = np.zeros((3, blocks * threads), np.int64)

    # ------------------------------------------------------------ what lanes do

    def access(self, memory: MemorySpace, lane: Array, place: Array, size: int) -> None:
        """Lanes are about to access bytes: what they must find there is done."""
        low, end = int(place.min()), int(place.max()) + size
        near = [held for held in self.held if held.memory is memory and held.low < end and low < held.end]
        for held in near:
            seen = self._overlaps(held, held.lane, lane, place, size)
            for wide, mark in ((self._block, FOR_BLOCK), (self._cluster, FOR_CLUSTER)) if held.is_marked else ():
                marked = held.left & (held.mark >= mark)
                if marked.any():
                    seen |= marked & self._overlaps(held, wide(held.lane), wide(lane), place, size)
            self._do(held, seen)
        if near:
            self._forget()

    def write(self, lane: Array) -> None:
        """Lanes are about to change memory: what their fences put before that is done, or marked."""
        self._before(lane, self._fences[:, lane], len(self.held))
        self._forget()

    def takes(self) -> bool:
        """Is a store to be held?"""
        if self.order is None:
            return False
        self._stores += 1
        self.leak()
        if self.guided:
            return self.schedule.random() < (HELD if self.line in self.guided else HELD_ELSEWHERE)
        return self.schedule.random() < HELD * MANY / (MANY + self._stores)

    def hold(self, memory: MemorySpace, lane: Array, place: Array, size: int, values: Sequence[Array]) -> Array:
        """Takes what some of the lanes store; gives those whose store is to be done now."""
        s = self.schedule
        now = np.zeros(lane.shape, np.bool_)
        if s.random() < 0.5:
            now = np.frombuffer(s.randbytes(lane.size), np.uint8) & 1 != 0
        some = np.flatnonzero(~now)
        if some.size:
            self.held.append(HeldStore(memory, lane[some], place[some], size, [v[some] for v in values], self._fences[:, lane[some]]))
            if len(self.held) > MOST_HELD:
                self._do(self.held[0], self.held[0].left)
                self._forget()
        return now

    def fence(self, lane: Array, order: MemoryOrder) -> None:
        """Lanes execute a fence, arrive at a barrier, or release."""
        scope = min(order.scope, GPU)
        self._fences[: scope + 1, lane] += 1
        if not self.held:
            return
        if order.proxy:
            scope = GPU
        for reach, mark in ((self._block, FOR_BLOCK), (self._cluster, FOR_CLUSTER)):
            near = np.unique(reach(lane))
            for held in [h for h in self.held if h.is_marked]:
                self._let_out(held, held.left & (held.mark == mark) & np.isin(reach(held.lane), near), scope)
        if order.sequential or order.proxy:
            for held in list(self.held):
                self._let_out(held, held.left & np.isin(held.lane, lane), scope)
        self._forget()

    def leak(self) -> None:
        """Perhaps something is done at last."""
        if self.held and self.schedule.random() < LEAKS:
            held = self.schedule.choice(self.held)
            some = np.frombuffer(self.schedule.randbytes(held.lane.size), np.uint8) & 1 != 0
            self._do(held, some if self.schedule.random() < 0.5 else held.left)
            self._forget()

    def finish(self) -> bool:
        """Nobody can go on: all is done now.  False where nothing was held."""
        found = bool(self.held)
        for held in self.held:
            self._make(held, held.left)
        self.held = []
        return found

    # ------------------------------------------------------------ in order

    def _let_out(self, held: HeldStore, some: Array, scope: int) -> None:
        """Some lanes' stores become visible to a scope."""
        if not some.any():
            return
        if scope >= GPU:
            self._do(held, some)
        else:
            held.is_marked = True
            held.mark[some] = np.maximum(held.mark[some], FOR_BLOCK if scope == CTA else FOR_CLUSTER)

    def _do(self, held: HeldStore, some: Array) -> None:
        """What some lanes have stored is done, behind all that their fences put before it."""
        some = some & held.left
        if some.any() and held in self.held:
            self._before(held.lane[some], held.fences[:, some], self.held.index(held))
            self._make(held, some)

    def _make(self, held: HeldStore, now: Array) -> None:
        if self.watch is not None:
            self.watch(held, now)
        held.do(now)

    def _before(self, lane: Array, fences: Array, until: int) -> None:
        """Of the first stores, those of lanes that have executed fewer fences then: what the fences between order."""
        if not until:
            return
        now = np.full(self._fences.shape, -1, np.int64)
        now[:, lane] = fences
        for held in self.held[:until]:
            between = now[:, held.lane] > held.fences
            if not between.any():
                continue
            done = held.left & between[GPU]
            for scope in (CTA, CLUSTER):
                self._let_out(held, held.left & between[scope] & ~done, scope)
            if done.any():
                self._make(held, done)

    def _overlaps(self, held: HeldStore, own: Array, who: Array, place: Array, size: int) -> Array:
        """Which lanes' stores touch bytes that one of the same lanes, blocks or clusters accesses."""
        keys = np.unique((who.astype(np.int64) << PLACE_BITS) + place)
        first = (own.astype(np.int64) << PLACE_BITS) + held.place
        at = np.searchsorted(keys, first - (size - 1))
        found: Array = held.left & (at < keys.size) & (keys[np.minimum(at, keys.size - 1)] < first + held.size)
        return found

    def _forget(self) -> None:
        self.held = [held for held in self.held if held.left.any()]

    def _block(self, lane: Array) -> Array:
        return lane // self.threads

    def _cluster(self, lane: Array) -> Array:
        return lane // (self.threads * self.cluster_size)


class LateMemory(WaveMemory):
    """The memories of a wave behind a buffer of late stores."""

    late: LateStores

    def load(self, g: AccessingLanes, space: str, address: Value | LocalPlace, type: ScalarType, count: int) -> tuple[Array, ...]:
        if self.late.held and not isinstance(address, LocalPlace) and space not in PRIVATE:
            for memory, lane, place, _ in self._bufferable(g, space, address, type.bytes * count, False):
                self.late.access(memory, lane, place, type.bytes * count)
        return super().load(g, space, address, type, count)

    def store(self, g: AccessingLanes, space: str, address: Value | LocalPlace, type: ScalarType, values: Sequence[Array]) -> None:
        late = self.late
        if isinstance(address, LocalPlace) or space in PRIVATE:
            return super().store(g, space, address, type, values)
        takes = late.takes()
        if not takes and not late.held:
            return super().store(g, space, address, type, values)
        size = type.dtype.itemsize * len(values)
        now = np.ones(g.geometry.shape, np.bool_) if g.active is None else np.broadcast_to(g.active, g.geometry.shape).copy()
        for memory, lane, place, where in self._bufferable(g, space, address, size, True):
            late.access(memory, lane, place, size)
            if takes:
                flat = [np.broadcast_to(v, g.geometry.shape).ravel()[where] for v in values]
                at_once = late.hold(memory, lane, place, size, flat)
                now.ravel()[where] = at_once
                lane = lane[at_once]
            late.write(lane)
        if not now.any():
            return None
        before, g.active = g.active, None if now.all() else now
        try:
            return super().store(g, space, address, type, values)
        finally:
            g.active = before

    def update(
        self, g: AccessingLanes, space: str, address: Value, type: ScalarType, change: Callable[..., Array], operands: Sequence[Array],
        shortcut: Shortcut | None, returns: bool,
    ) -> Array:  # fmt: skip
        if self.late.held:
            size = type.dtype.itemsize * type.elements
            for memory, lane, place, _ in self._bufferable(g, space, address, size, True):
                self.late.access(memory, lane, place, size)
                self.late.write(lane)
        return super().update(g, space, address, type, change, operands, shortcut, returns)

    def _bufferable(
        self, g: AccessingLanes, space: str, address: Value, size: int, write: bool
    ) -> Iterator[tuple[MemorySpace, Array, Array, Any]]:
        """The active lanes' accesses to memories whose stores may be held: the lanes' numbers, the bytes, the lanes' positions in the group."""
        lanes = np.broadcast_to(g.geometry.lane, g.geometry.shape).ravel()
        for part, memory, place in self.places(g, space, plain(address), size, write):
            if place.size and (memory is self.device or memory is self.shared):
                where = slice(None) if part.lanes is None else part.lanes
                yield memory, lanes[where], place, where
