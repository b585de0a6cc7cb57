"""Runs one wave: a set of blocks of a launch whose lanes advance together as groups.

The scheduler keeps the groups that can run, takes the newest first, and lets a group run until its lanes part, wait or end; waiting.py
finds somebody to run when nobody can.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from ..faults import ExecutionError, Fault
from ..memory.access import Access
from ..memory.spaces import LocalSpace, SharedSpace
from ..observe import ObservedAccess
from .barriers import Barriers
from .divergence import NO_EXITS, Exits, Fork, depart, is_below
from .group import EXIT, Activation, Group
from .lanes import Geometry, Selection
from .returning import ret
from .sync import WaitingRoom
from .values import Array

if TYPE_CHECKING:
    from ..launch import Launch
    from ..plan.plan import Step

CHECK_EVERY = 256  # segments between two looks at the limits
COMPACT_BELOW = 0.75  # of its lanes are left in a loop: a group closes its ranks
PREEMPTED = 0.1  # how often a group stops between two segments where the schedule is not the default one


class Wave:
    """Some blocks of a launch and all that belongs to them."""

    def __init__(self, launch: Launch, first: int, count: int) -> None:
        self.launch: Launch = launch
        self.first = first
        self.count = count
        threads = launch.threads
        self.geometry = Geometry.whole(count, threads)
        self.shared = SharedSpace(count, launch.shared_bytes)
        self.local = LocalSpace(count * threads, launch.stack_limit)
        self.current: Any = None  # the site that runs, for observers
        self.access = (ObservedAccess if launch.observers else Access)(launch.arena, launch.other_arenas, self.shared, self.local)
        self.exited = np.zeros((count, threads), bool)
        self.exited_count = 0
        self.barriers = Barriers(self)
        self.ready: deque[Group] = deque()
        self.room = WaitingRoom(self)
        self.segments_run = 0
        plan = launch.entry
        act = Activation(plan, 16, None)
        if plan.frame_size:
            self.local.grow(act.top)
        self.dice = None if launch.options.schedule is None else Random(f"{launch.options.schedule}/{launch.number}/{first}")
        for geometry in self._starting():
            self.ready.append(Group(self, geometry, act, plan.entry_registers(), 0))
        self._special: dict[str, Array] = {}
        for o in launch.observers:
            o.wave(self)

    def _starting(self) -> list[Geometry]:
        """Who starts together: all lanes, or, where the schedule is to be another one, warps dealt into several groups."""
        if self.dice is None:
            return [self.geometry]
        per_block = self.geometry.warps_per_block
        dealt = np.array([self.dice.randrange(4) for _ in range(self.count * per_block)]).reshape(self.count, per_block)
        hand = dealt[self.geometry.block, self.geometry.thread >> 5]
        parts = [Selection.of(hand == n, self.geometry.shape) for n in range(4)]
        return [self.geometry.select(p) for p in parts if p.count]

    # ------------------------------------------------------------ running

    def run(self) -> bool:
        """Runs until all lanes have ended (True) or only spinning lanes are left (False)."""
        room, ready = self.room, self.ready
        while True:
            while ready:
                if self.dice is not None:
                    ready.rotate(self.dice.randrange(len(ready)))
                self._advance(ready.pop())
            if not room:
                del self.room, self.barriers  # what refers back would keep the wave and its memory for the garbage collector
                return True
            if room.free_somebody():
                continue
            if room.resting and not room.stillness.proven():
                room.wake()
                if self.launch.has_more_waves(self):
                    return False
                continue
            raise room.deadlock()

    def _advance(self, g: Group) -> None:
        segments = g.act.function.segments
        stop = g.stop()
        R = g.R
        pc = g.pc
        launch, dice = self.launch, self.dice
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
                if self.segments_run % CHECK_EVERY == 0:
                    launch.check_limits(self, g, CHECK_EVERY)
                assert segment.terminate is not None
                following = segment.terminate(g)
                if following is None:
                    return
                if following == stop:
                    self.arrive(g, following)
                    return
                if following == EXIT:
                    following = ret(self, g)
                    if following is None:
                        return
                    if following == stop:
                        self.arrive(g, following)
                        return
                g.pc = pc = following
                if dice is not None and dice.random() < PREEMPTED:
                    self.ready.append(g)
                    return
        except ExecutionError as e:
            launch.explain(e, g, segments[pc], step)
            raise
        except MemoryError:
            raise g.blame(Fault("host-memory", "the host's memory is exhausted"), None) from None

    # ------------------------------------------------------------ parting and meeting

    def diverge(self, g: Group, condition: Array, taken: int, fall: int, fork: Fork) -> None:
        """A conditional branch on which the lanes of g disagree."""
        shape = g.geometry.shape
        for o in self.launch.observers:
            o.branch(self.current, g, condition, (taken, fall))
        if fork.lazy and (taken == g.pc or fall == g.pc) and self.launch.may_ride and self._let_leave(g, condition, taken, fall, fork.join):
            return
        self.room.events += 1
        other = ~condition if g.alive is None else g.alive & ~condition
        ways = [(Selection.of(other, shape), fall), (Selection.of(condition, shape), taken)]
        if fork.first is not None:
            ways.sort(key=lambda way: way[1] != fork.first)
        else:  # on a GPU each warp runs the side that has fewer lanes first
            ways.sort(key=lambda way: way[0].count)
        self.part_ways(g, ways, fork.join, fork.exits)

    def _let_leave(self, g: Group, condition: Array, taken: int, fall: int, join: int) -> bool:
        """In a loop of pure instructions the lanes that leave hand their results in and ride along; True if that was done."""
        p = g.parent
        out = fall if taken == g.pc else taken
        if out != join or p is None or p.node_return or p.join != join or join == EXIT or (g.act.function.name, join) in self.room.eager:
            return False
        shape = g.geometry.shape
        staying = condition if taken == g.pc else ~condition
        if staying.shape != shape:
            return False
        if g.alive is None:
            leaving = ~staying
            g.alive = staying
        else:
            leaving = g.alive & ~staying
            g.alive = g.alive & staying
        gone = Selection.of(leaving, shape)
        g.alive_count -= gone.count
        own = g.selection
        assert own is not None
        p.absorb(own.then(gone), g, g.dirty & g.act.function.live_in[join], gone)
        g.spins = 0
        if g.alive_count == 0:
            self.settle(p)
        elif g.alive_count < COMPACT_BELOW * g.geometry.n:
            self.ready.append(self.compact(g))
        else:
            self.ready.append(g)
        return True

    def compact(self, g: Group, pc: int | None = None) -> Group:
        """The lanes of g that have not left, as a group of their own."""
        assert g.alive is not None
        smaller = g.part(Selection.of(g.alive, g.geometry.shape), g.pc if pc is None else pc)
        smaller.spins = g.spins
        g.end()
        return smaller

    def leave_loop(self, g: Group, pc: int) -> int | None:
        """The last lanes of a loop leave it; those that rode along have left before."""
        if pc == g.stop():
            return pc
        self.go(self.compact(g, pc))
        return None

    def part_ways(self, g: Group, ways: list[tuple[Selection, int]], join: int, exits: Exits = NO_EXITS) -> None:
        """Sends the lanes of g to several places; they meet at the join, those that leave loops where their exit says."""
        parent = g.parent
        beside = parent is not None and not parent.node_return and parent.join == join
        below = bool(exits) and any(pc in exits and is_below(g, exits[pc]) for _, pc in ways)
        staying = sum(pc not in exits for _, pc in ways)
        if (g.act.function.name, join) in self.room.eager or (below and staying < 2):
            for part in self.divide(g, ways):
                self.go(depart(self, part, exits[part.pc]) if below and part.pc in exits else part)
            return
        children = g.split(ways, join)
        departing = [c for c in children if c.pc in exits] if staying > 1 else []
        for c in departing:
            self.go(depart(self, c, exits[c.pc]))
        self.ready.extend([c for c in reversed(children) if c not in departing] if departing else reversed(children))
        if not children:
            node = parent if beside else g
            assert node is not None
            self.settle(node)

    def divide(self, g: Group, ways: list[tuple[Selection, int]]) -> list[Group]:
        """Parts g for good: each part takes its own place below g's parent."""
        parts = [g.part(s, pc) for s, pc in ways]
        g.end()
        return parts

    def go(self, g: Group) -> None:
        """A group that is at its pc, wherever that is."""
        if g.pc == g.stop():
            self.arrive(g, g.pc)
        elif g.pc == EXIT:
            following = ret(self, g)
            if following is not None:
                g.pc = following
                if following == g.stop():
                    self.arrive(g, following)
                else:
                    self.ready.append(g)
        else:
            self.ready.append(g)

    def leave_some(self, g: Group, gone: Selection, stay: Selection, pc: int) -> None:
        """Some lanes end here, the others go on at pc."""
        a, b = self.divide(g, [(gone, EXIT), (stay, pc)])
        self._end(a.geometry)
        a.end()
        p = a.parent
        while p is not None:
            p.expected -= a.geometry.n
            p = p.parent
        self.go(b)

    def arrive(self, g: Group, pc: int) -> None:
        """A whole group has reached the place where it meets its siblings."""
        self.room.events += 1
        p = g.parent
        assert p is not None and g.selection is not None
        slots = g.dirty & g.act.function.live_in[pc]
        if g.alive is not None:
            part = Selection.of(g.alive, g.geometry.shape)
            p.absorb(g.selection.then(part), g, slots, part)
        elif g.geometry.n == p.geometry.n and p.absorbed == 0:
            while slots:
                low = slots & -slots
                s = low.bit_length() - 1
                p.R[s] = g.R[s]
                p.dirty |= low
                slots ^= low
            p.absorbed = g.geometry.n
        else:
            p.absorb(g.selection, g, slots)
        g.end()
        self.settle(p)

    def settle(self, p: Group) -> None:
        """Lets a node go on if nobody below it is left."""
        if p.complete:
            again = p.resume()
            if again is not p:
                p.end()
            if again is not None and not (p.tired and self.room.rest(again, again.pc) is None):
                self.go(again)
            p.tired = False

    def exit(self, g: Group) -> None:
        """All lanes of a group end."""
        self._end(g.geometry)
        n = g.alive_count if g.alive is not None else g.geometry.n
        g.end()
        self._gone(g.parent, n)

    def _gone(self, p: Group | None, n: int) -> None:
        """n lanes below p will not arrive any more."""
        chain: list[Group] = []
        while p is not None:
            chain.append(p)
            p = p.parent
        self.withdraw(chain, n)

    def withdraw(self, nodes: Sequence[Group], n: int) -> bool:
        """n lanes will not arrive at nodes, of which each stands below the next; False if nobody is left to wait there."""
        for node in nodes:
            node.expected -= n
        for node in nodes:
            if not node.complete:
                return True
            if node.absorbed:
                self.settle(node)
                return True
            node.end()
        return False

    def _end(self, geometry: Geometry) -> None:
        self.room.events += 1
        self.exited_count += geometry.n
        if self.exited_count == self.exited.size:
            self.exited[...] = True
        else:
            self.exited[geometry.block, geometry.thread] = True
        if self.room.waiting:
            self.barriers.recheck()

    # ------------------------------------------------------------ blocks

    def block_table(self, name: str) -> Array:
        """A per-block value of the wave, as (blocks, 1)."""
        found = self._special.get(name)
        if found is None:
            found = self._special[name] = self.launch.block_special(self, name)
        return found
