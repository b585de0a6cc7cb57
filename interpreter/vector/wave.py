"""Runs one wave: a set of blocks of a launch whose lanes advance together as groups.

The scheduler keeps the groups that can run, takes the newest first, and lets a group run until its lanes diverge, wait or end; when none can run,
sync.py finds one that may after all.
"""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

from warplab.assembler.ir import Function
from warplab.isa.ports import NotYet

from ..faults import ExecutionError, Fault
from ..lanes import Geometry, Selection
from ..launch import CHECK_EVERY, Launch
from ..memory.access import WaveMemory
from ..memory.spaces import LocalSpace, SharedSpace
from ..memory.store_buffer import LateMemory, LateStores
from ..memory.tensor import TensorSpace
from ..observe import Observer
from ..plan.plan import EXIT
from ..poison import Poison
from ..seeds import guided_lines
from ..values import Array
from .access.pending import Pending
from .convergence import arrive, ret
from .divergence import divide
from .explain import explain
from .function import Step, VectorFunction
from .group import Activation, Group
from .observed import ObservedLateMemory, ObservedMemory
from .steps.build import code
from .waiting.barriers import Barriers
from .waiting.deadlock import Postponed
from .waiting.sync import WaitingGroups

PREEMPTED = 0.1  # how often a group stops between two segments where the schedule is not the default one
GUIDED, ELSEWHERE = 0.7, 0.05  # how often where a seed names lines: before one of them, and before others
TORN = 0.4  # how many of those that stop do not go on as a whole
ASK_FIRST = 16  # segments after which another engine is asked to go on
ASK_EVERY = 0.005  # seconds between two such questions, at least
MOST_TORN = 8  # groups, from which on none is torn


class Wave:
    """Some blocks of a launch and all that belongs to them.  It owns what it consists of; nothing of that refers back to it but its groups."""

    def __init__(self, launch: Launch, observers: Sequence[Observer], first: int, count: int, shared: Array | None = None) -> None:
        """`shared`: memory of blocks that another engine has begun, and has poisoned."""
        self.launch: Launch = launch
        self.observers = observers
        self.first = first
        self.count = count
        threads = launch.threads
        self.geometry = Geometry.whole(count, threads)
        self.shared = SharedSpace(
            count, launch.shared_bytes, launch.kernel.shared_gaps, launch.kernel.shared_objects(launch.dynamic_shared), shared, launch.slips
        )
        guarded = launch.kernel.program.gap > 0
        self.local = LocalSpace(count * threads, launch.stack_limit * (2 if guarded else 1))
        self.local.guarded = guarded
        self.tensor = TensorSpace(self.shared, launch.cluster_size)
        self.poison: Poison | None = None
        if launch.options.poison is not None and shared is None:
            self.poison = self.local.poison = Poison(launch.options.poison, launch.number, first)
            self.shared.poison_with(self.poison, launch.kernel.reserved_shared)
        self.current: Any = None  # the site that runs, for observers
        self.copying: Any = None  # the asynchronous copy that runs, for observers
        self.shadow: Any = None  # what an observer keeps beside its memories
        options = launch.options
        self.schedule = None if options.schedule is None else Random(f"{options.schedule}/{launch.number}/{first}")
        self.guided = guided_lines(options.schedule)
        self.passed: Group | None = None  # the group that was stopped at a guided line: others go first
        self.pending: Pending | None = None
        self.late: LateStores | None = None
        memories = launch.arena, launch.other_arenas, self.shared, self.local, launch.cluster_size, launch.multicasts
        if self.schedule is None:
            self.access = (ObservedMemory if observers else WaveMemory)(*memories)
        else:
            self.pending = Pending(self.schedule, count * threads)
            self.late = LateStores(self.schedule, count, threads, launch.cluster_size, self.guided)
            self.access = (ObservedLateMemory if observers else LateMemory)(*memories)
            self.access.late = self.late
        self.exited = np.zeros((count, threads), bool)
        self.exited_count = 0
        self.barriers = Barriers(self.exited.shape)
        self.ready: deque[Group] = deque()
        self.waiting = WaitingGroups()
        self.segments_run = 0
        self.successor: Callable[[Wave], bool] | None = None  # another engine, which may go on in the place of this wave
        self.asking: int = sys.maxsize  # the segment at which it is asked next
        self.asked, self.asked_at = 0, 0.0  # the segment at which it was asked last, and when
        function = self.code_of(launch.kernel.function)
        act = Activation(function, launch.kernel.stack_start, None)
        if function.frame_size:
            self.local.grow(act.top)
        for geometry in self._starting():
            registers = function.entry_registers(self.poison, geometry.shape)
            self.ready.append(Group(self, geometry, act, registers, 0))
        self._special: dict[str, Array] = {}
        for o in observers:
            o.wave(self)

    def _starting(self) -> list[Geometry]:
        """Which lanes start together: all, or, where the schedule is to be another one, warps dealt into several groups."""
        if self.schedule is None:
            return [self.geometry]
        per_block = self.geometry.warps_per_block
        dealt = np.array([self.schedule.randrange(4) for _ in range(self.count * per_block)]).reshape(self.count, per_block)
        hand = dealt[self.geometry.block, self.geometry.thread >> 5]
        parts = [Selection.of(hand == n, self.geometry.shape) for n in range(4)]
        return [self.geometry.select(p) for p in parts if p.count]

    # ------------------------------------------------------------ running

    def run(self) -> bool:
        """Runs until all lanes have ended (True) or only spinning lanes are left (False)."""
        waiting, ready = self.waiting, self.ready
        while True:
            while ready:
                if self.schedule is not None:
                    ready.rotate(self.schedule.randrange(len(ready)))
                    if ready[-1] is self.passed:
                        ready.rotate(1)
                    if self.late is not None:
                        self.late.leak()
                if self.segments_run >= self.asking and self._is_handed_over():
                    return True
                self.advance(ready.pop())
            if not waiting:
                self.finish_late()
                self.check_leaks()
                return True
            if waiting.free_one(self):
                continue
            if self.finish_late():
                waiting.wake()
                continue
            if waiting.spinning and not waiting.is_still(self):
                waiting.wake()
                if self.launch.has_more_waves:
                    return False
                continue
            raise waiting.deadlock(self)

    def hand_over_to(self, successor: Callable[[Wave], bool]) -> None:
        """Another engine goes on as soon as it likes to."""
        self.successor = successor
        self.asking, self.asked_at = ASK_FIRST, time.thread_time()

    def _is_handed_over(self) -> bool:
        """Asks the other engine, which is asked every few milliseconds."""
        assert self.successor is not None
        if self.successor(self):
            return True
        now, every = time.thread_time(), self.segments_run - self.asked
        if now - self.asked_at < ASK_EVERY:
            every *= 2
        elif now - self.asked_at > 4 * ASK_EVERY:
            every = max(every // 2, 1)
        self.asked, self.asked_at, self.asking = self.segments_run, now, self.segments_run + every
        return False

    def finish_late(self) -> bool:
        """Nobody can go on: what comes late comes now.  False where nothing was under way."""
        stores = self.late is not None and self.late.finish()
        if stores:
            self.launch.gets_on()
        copies = self.pending is not None and self.pending.finish()
        return stores or copies

    def check_leaks(self) -> None:
        """Blocks that have ended hold no tensor memory."""
        found = self.tensor.leak()
        if found is not None:
            block, fault = found
            self.launch.name_fault(self.first, self.count, fault, block * self.launch.threads)
            raise fault

    def _postpone(self, g: Group, lanes: Array, what: str) -> None:
        """Some of g's lanes, (warps, 32), try the instruction that they stand before again when others have done something."""
        waiting = np.broadcast_to(g.geometry.warps.gather(np.broadcast_to(lanes, (g.geometry.warps.count, 32))), g.geometry.shape)
        if waiting.all():
            g.blocked = Postponed(what)
            if self.waiting.rest(g, g.pc) is not None:
                self.ready.append(g)
            return
        self.ready.extend(divide(g, [(Selection.of(part, g.geometry.shape), g.pc) for part in (waiting, ~waiting)]))

    def advance(self, g: Group) -> None:
        """Runs a group until its lanes diverge, wait, come to others or end."""
        segments = g.act.function.segments
        stop = g.stop()
        R = g.R
        pc = g.pc
        g.blocked = None
        launch, schedule = self.launch, self.schedule
        step: Step | None = None
        try:
            while True:
                segment = segments[pc]
                if g.selection is not None:
                    for s in segment.reads:
                        if R[s] is None:
                            g.fetch(s)
                for step in segment.steps:
                    step(R)
                step = None
                g.dirty |= segment.writes
                self.segments_run += 1
                pause = self.segments_run % CHECK_EVERY == 0
                if pause:
                    launch.check_limits(CHECK_EVERY, lambda: _place(launch, g))
                following = segment.terminate(g)
                if following is None:
                    return
                if following == stop:
                    arrive(g, following)
                    return
                if following == EXIT:
                    following = ret(g)
                    if following is None:
                        return
                    if following == stop:
                        arrive(g, following)
                        return
                g.pc = pc = following
                if schedule is not None and schedule.random() < self._preempted(g):
                    self.passed = g if self.guided else None
                    self.ready.extend(self._torn(g, schedule))
                    return
                if self.segments_run >= self.asking:
                    self.ready.append(g)
                    return
        except NotYet as e:
            self._postpone(g, e.lanes, e.what)
        except ExecutionError as e:
            explain(e, g, segments[pc], step)
            raise
        except MemoryError:
            raise g.blame(Fault("host-memory", "the host's memory is exhausted"), None) from None

    def _preempted(self, g: Group) -> float:
        """How often a group stops before what it executes next."""
        if not self.guided:
            return PREEMPTED
        site = g.act.function.plan.segments[g.pc].first_site
        return GUIDED if site is not None and site.instruction.span.line in self.guided else ELSEWHERE

    def _torn(self, g: Group, schedule: Random) -> list[Group]:
        """A group that was stopped, as it goes on: whole, or some of its warps or lanes apart from the others."""
        met = g.act.function.segments[g.pc].exchange is not None  # its lanes have come together for what they execute next
        if met or g.alive is not None or g.geometry.n < 2 or schedule.random() >= TORN or self.waiting.stillness.begins(self.launch):
            return [g]
        if len(self.ready) + len(self.waiting.blocked) + len(self.waiting.spinning) >= MOST_TORN:
            return [g]
        lanes = np.broadcast_to(g.geometry.lane, g.geometry.shape)
        whole_warps = self.launch.lowering.lockstep or schedule.random() < 0.5
        number = g.geometry.warp_of(lanes) if whole_warps else lanes
        drawn = np.frombuffer(schedule.randbytes(int(number.max()) + 1), np.uint8)[number] & 1 != 0
        if drawn.all() or not drawn.any():
            return [g]
        return divide(g, [(Selection.of(part, g.geometry.shape), g.pc) for part in (drawn, ~drawn)])

    # ------------------------------------------------------------ blocks

    def block_table(self, name: str) -> Array:
        """A per-block value of the wave, as (blocks, 1)."""
        found = self._special.get(name)
        if found is None:
            found = self._special[name] = self.launch.block_special(self.first, self.count, name)
        return found

    def code_of(self, f: Function) -> VectorFunction:
        """A function as it runs here."""
        launch, observers = self.launch, self.observers
        found = next((own for o in observers if (own := o.code(launch.kernel, f, launch.lowering)) is not None), None)
        found = found or code(launch.kernel, f, launch.lowering, observed=bool(observers))
        for o in observers:
            found = o.around(found)
        return found


def _place(launch: Launch, g: Group) -> str:
    """What a group executes."""
    site = g.act.function.plan.segments[g.pc].first_site
    return launch.place_of(site) if site else f"the end of {g.act.function.name}"
