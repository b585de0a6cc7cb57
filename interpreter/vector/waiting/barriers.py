"""Barriers of a CTA and of a cluster: which lanes have arrived, which wait, which may go on.

Each of the 16 barriers of each block remembers which of its threads have arrived.  Without a thread count it is passed when every thread
that has not ended is there; with one, when so many threads (by whole warps) are.  Lockstep warps arrive as wholes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...lanes import Selection
from ...values import Array
from ..divergence import divide
from ..group import Group
from ..ports import WavePort
from .uniting import gathered

Reduction = tuple[Array, str, Callable[[list[Any], Any], None] | None]


class BarrierWait:
    """Why a group waits at a barrier, and for which of the wave's blocks that is over."""

    __slots__ = ("done", "pc", "put", "result", "state")

    def __init__(self, state: NumberedBarrier, pc: int, blocks: int, put: Callable[[list[Any], Any], None] | None) -> None:
        self.state = state
        self.pc = pc
        self.done = np.zeros(blocks, bool)
        self.result: Array | None = None
        self.put = put

    def why(self, g: Group) -> tuple[str, str]:
        """See Wait."""
        state, block = self.state, int(g.geometry.blocks[0])
        absent = np.flatnonzero(~(state.arrived[block] | g.wave.exited[block]))
        want = int(state.wanted[block])
        count = f"{want} threads" if want else "all threads of the block"
        there = int(state.arrived[block].sum())
        who = f"thread {int(absent[0])} and {absent.size - 1} more wait elsewhere" if absent.size else "the other threads have ended"
        return f"{count} at barrier {state.number}", f"{there} have arrived; {who}"


class ClusterBarrierWait:
    """Why a group waits at the barrier of its cluster."""

    def why(self, g: Group) -> tuple[str, str]:
        """See Wait."""
        return "all threads of its cluster", "others wait elsewhere or have not started"


class NumberedBarrier:
    """One barrier number in all blocks of a wave."""

    __slots__ = ("arrived", "number", "op", "values", "waiting", "wanted")

    def __init__(self, number: int, shape: tuple[int, int]) -> None:
        self.number = number
        self.arrived = np.zeros(shape, bool)
        self.wanted: Array = np.zeros(shape[0], np.int64)  # threads; 0: all
        self.values: Array | None = None
        self.op = ""
        self.waiting: list[Group] = []


class Barriers:
    """All barriers of a wave."""

    def __init__(self, shape: tuple[int, int]) -> None:
        self.numbered: dict[int, NumberedBarrier] = {}
        self.cluster_arrived = np.zeros(shape, bool)
        self.cluster_phase: Array = np.zeros(shape[0], np.int64)
        self.cluster_seen: Array = np.zeros(shape, np.int64)  # the phase that each thread's arrival belongs to
        self.cluster_waiting: list[Group] = []

    # ------------------------------------------------------------ bar.*

    def arrive(self, g: Group, number: Array, count: int | None, waits: bool, pc: int, reduction: Reduction | None) -> int | None:
        """Lanes arrive; gives the next place if no lane has to wait."""
        wave = g.wave
        if number.size > 1:
            numbers = np.unique(number)
            if numbers.size > 1:
                parts = divide(g, [(Selection.of(number == n, g.geometry.shape), g.pc) for n in numbers])
                for part in parts:
                    part.fetch_all(part.act.function.live_in[g.pc])
                wave.ready.extend(parts)
                return None
        which = int(number.ravel()[0])
        if (
            g.geometry.n + wave.exited_count == wave.exited.size
            and g.alive is None
            and count is None
            and reduction is None
            and self._idle(which)
        ):
            for o in wave.observers:
                o.met(wave.current, g, which)
            return pc
        for o in wave.observers:
            o.arrival(wave.current, g, which, count, waits)
        state = self.numbered.get(which)
        if state is None:
            state = self.numbered[which] = NumberedBarrier(which, wave.exited.shape)
        block, thread = np.broadcast_arrays(g.geometry.block, g.geometry.thread)
        state.arrived[block, thread] = True
        if wave.launch.lowering.lockstep and reduction is None:  # a warp arrives as a whole, whichever of its lanes brings it there
            layout = g.geometry.warps
            state.arrived[layout.block, np.minimum(layout.warp * 32 + np.arange(32), wave.launch.threads - 1)] = True
        state.wanted[g.geometry.blocks] = count or 0
        put = None
        if reduction is not None:
            value, state.op, put = reduction
            if state.values is None:
                state.values = np.zeros(wave.exited.shape, bool)
            state.values[block, thread] = np.broadcast_to(value, g.geometry.shape)
        elif state.values is not None:  # of an earlier round
            state.values[block, thread] = False
        if waits:
            g.pc = pc
            g.blocked = BarrierWait(state, pc, wave.count, put)
            state.waiting.append(g)
            wave.waiting.wait(g, "barrier")
        self._check(wave, state)
        return None if waits else pc

    def _idle(self, which: int) -> bool:
        state = self.numbered.get(which)
        return state is None or not state.arrived.any()

    def _check(self, wave: WavePort, state: NumberedBarrier) -> None:
        """Lets the blocks pass whose barrier is complete."""
        touched = state.arrived.any(axis=1)
        there = state.arrived | wave.exited
        complete = np.where(state.wanted == 0, there.all(axis=1), self._by_warps(state.arrived, there) >= state.wanted) & touched
        if not complete.any():
            return
        result = None
        if state.values is not None:
            counted = (state.values & state.arrived).sum(axis=1)
            result = {"popc": counted, "or": counted > 0, "and": counted == state.arrived.sum(axis=1)}[state.op]
        wave.waiting.events += 1
        for o in wave.observers:
            o.completion(wave, state.number, np.flatnonzero(complete))
        state.arrived[complete] = False
        for g in state.waiting:
            wait = g.blocked
            assert isinstance(wait, BarrierWait)
            own = complete & _blocks_of(g)
            if own.any():
                wait.done |= own
                if result is not None:
                    wait.result = result.copy() if wait.result is None else np.where(own, result, wait.result)
        self._pass(wave, [g for g in state.waiting if _is_over(g) and not self._is_held(g, state)])

    def _is_held(self, g: Group, state: NumberedBarrier) -> bool:
        """Is another part of its warps, which has come to the same place, still waiting for other blocks?"""
        return any(
            other.pc == g.pc and not _is_over(other) and bool(np.isin(_warps_of(other), _warps_of(g)).any()) for other in state.waiting
        )

    @staticmethod
    def _by_warps(arrived: Array, there: Array) -> Array:
        """Threads that count as arrived: 32 for every warp all of whose living threads are there and one of which has arrived."""
        k, t = arrived.shape
        pad = -t % 32
        a = np.pad(arrived, ((0, 0), (0, pad))).reshape(k, -1, 32)
        b = np.pad(there, ((0, 0), (0, pad)), constant_values=True).reshape(k, -1, 32)
        counted: Array = (a.any(axis=2) & b.all(axis=2)).sum(axis=1) * 32
        return counted

    def _pass(self, wave: WavePort, groups: list[Group]) -> None:
        """Groups go on, those at one place as one."""
        for g in groups:
            wait = g.blocked
            assert isinstance(wait, BarrierWait)
            wait.state.waiting.remove(g)
            wave.waiting.blocked.remove(g)
            g.blocked = None
            if wait.put is not None and wait.result is not None:
                wait.put(g.R, wait.result[g.geometry.block])
        if wave.schedule is None:
            wave.ready.extend(gathered(groups))
        else:  # warps that were dealt to different groups stay there
            for sharing in _sharing_warps(groups):
                wave.ready.extend(gathered(sharing))

    def recheck(self, wave: WavePort) -> None:
        """Lanes have ended: barriers may be complete without them."""
        for _, state in sorted(self.numbered.items()):
            if state.waiting:
                self._check(wave, state)
        self._check_clusters(wave)

    def split_passed(self, wave: WavePort) -> bool:
        """Groups of which some blocks have passed part, so that those can go on."""
        passing: dict[int, list[Group]] = {}
        for g in list(wave.waiting.blocked):
            wait = g.blocked
            if not isinstance(wait, BarrierWait) or not wait.done[g.geometry.blocks].any():
                continue
            own = passing.setdefault(id(wait.state), [])
            if _is_over(g):
                own.append(g)
                continue
            passed = np.broadcast_to(wait.done[g.geometry.block], (g.geometry.block.shape[0], g.geometry.block.shape[1]))
            shape = g.geometry.shape
            yes, no = Selection.of(passed, shape), Selection.of(~passed, shape)
            a, b = divide(g, [(yes, g.pc), (no, g.pc)])
            a.dirty = b.dirty = g.dirty
            wait.state.waiting.remove(g)
            wave.waiting.blocked.remove(g)
            b.blocked = BarrierWait(wait.state, wait.pc, wave.count, wait.put)
            a.blocked = wait
            wait.state.waiting += (a, b)
            wave.waiting.blocked += (a, b)
            own.append(a)
        for groups in passing.values():
            self._pass(wave, groups)
        return bool(passing)

    # ------------------------------------------------------------ barrier.cluster

    def cluster_arrive(self, g: Group) -> None:
        """Lanes arrive at their cluster's barrier without waiting."""
        for o in g.wave.observers:
            o.cluster(g.wave.current, g, True)
        block, thread = np.broadcast_arrays(g.geometry.block, g.geometry.thread)
        if g.active is not None:
            active = np.broadcast_to(g.active, block.shape)
            block, thread = block[active], thread[active]
        self.cluster_arrived[block, thread] = True
        self.cluster_seen[block, thread] = self.cluster_phase[block]
        self._check_clusters(g.wave)

    def cluster_wait(self, g: Group, pc: int) -> int | None:
        """Lanes wait until their cluster's barrier, at which they arrived, is complete."""
        for o in g.wave.observers:
            o.cluster(g.wave.current, g, False)
        if self._over(g):
            return pc
        g.pc = pc
        g.blocked = ClusterBarrierWait()
        self.cluster_waiting.append(g)
        g.wave.waiting.wait(g, "cluster")
        return None

    def _over(self, g: Group) -> bool:
        block, thread = np.broadcast_arrays(g.geometry.block, g.geometry.thread)
        return bool((self.cluster_phase[block] > self.cluster_seen[block, thread]).all())

    def _check_clusters(self, wave: WavePort) -> None:
        size = wave.launch.cluster_size
        if not self.cluster_arrived.any():
            return
        there = (self.cluster_arrived | wave.exited).all(axis=1)
        whole = there.reshape(-1, size).all(axis=1) & self.cluster_arrived.reshape(there.size // size, -1).any(axis=1)
        passed = np.repeat(whole, size)
        if not passed.any():
            return
        self.cluster_arrived[passed] = False
        self.cluster_phase[passed] += 1
        for g in list(self.cluster_waiting):
            if self._over(g):
                self.cluster_waiting.remove(g)
                wave.waiting.blocked.remove(g)
                g.blocked = None
                wave.ready.append(g)


def _blocks_of(g: Group) -> Array:
    out = np.zeros(g.wave.count, bool)
    out[g.geometry.blocks] = True
    return out


def _is_over(g: Group) -> bool:
    """Has every block of a group passed the barrier at which it waits?"""
    wait = g.blocked
    return isinstance(wait, BarrierWait) and bool(wait.done[g.geometry.blocks].all())


def _warps_of(g: Group) -> Array:
    layout = g.geometry.warps
    out: Array = (layout.block * g.geometry.warps_per_block + layout.warp).ravel()
    return out


def _sharing_warps(groups: list[Group]) -> list[list[Group]]:
    """Groups in sets such that no two sets have lanes of the same warp."""
    sets: list[tuple[Array, list[Group]]] = []
    for g in groups:
        warps = _warps_of(g)
        apart = []
        own = [g]
        for others, members in sets:
            if np.isin(warps, others).any():
                warps, own = np.union1d(warps, others), members + own
            else:
                apart.append((others, members))
        sets = [*apart, (warps, own)]
    return [members for _, members in sets]
