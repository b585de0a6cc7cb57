"""Runs one wave: a set of blocks of a launch whose lanes advance together as groups.

The scheduler keeps the groups that can run, takes the newest first, and lets a group run until its lanes part, wait or end.  When nobody
can run it looks for who may: barriers that part of a group has passed, lanes that wait for their warp, lanes that wait at a join for
others who never come, and finally the spinning ones.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .barriers import Barriers
from .faults import Deadlock, ExecutionError, Fault, Waiting
from .geometry import Geometry, Selection
from .group import EXIT, Activation, Group, union
from .memory.access import Access, LocalSpace, SharedSpace
from .observe import ObservedAccess
from .values import Array, Value, plain

if TYPE_CHECKING:
    from .launch import Launch
    from .plan import Step

CHECK_EVERY = 256  # segments between two looks at the limits


class LanesWait:
    """Why a group waits: for the other lanes of its warps that a membermask names (all lanes where it is None)."""

    __slots__ = ("mask", "pc")

    def __init__(self, mask: Array | None, pc: int) -> None:
        self.mask = mask
        self.pc = pc


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
        self.waiting: list[Group] = []  # at barriers and for lanes
        self.resting: list[Group] = []  # spinning ones
        self.eager: set[tuple[str, int]] = set()  # joins where waiting has proved to be in vain
        self.segments_run = 0
        plan = launch.entry
        act = Activation(plan, 16, None)
        if plan.frame_size:
            self.local.grow(act.top)
        root = Group(self, self.geometry, act, plan.fresh_registers(), 0)
        self.ready.append(root)
        self._special: dict[str, Array] = {}
        for o in launch.observers:
            o.wave(self)

    # ------------------------------------------------------------ running

    def run(self) -> bool:
        """Runs until all lanes have ended (True) or only spinning lanes are left (False)."""
        while True:
            while self.ready:
                self._advance(self.ready.pop())
            if not self.waiting and not self.resting:
                return True
            if self._free_somebody():
                continue
            if self.resting:
                if self.launch.has_more_waves(self):
                    self.ready.extend(self.resting)
                    self.resting.clear()
                    return False
                self.ready.extend(reversed(self.resting))
                self.resting.clear()
                continue
            if self.launch.has_more_waves(self):
                return False
            raise self._deadlock()

    def _advance(self, g: Group) -> None:
        segments = g.act.function.segments
        stop = g.stop()
        R = g.R
        pc = g.pc
        launch = self.launch
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
                    following = self.ret(g)
                    if following is None:
                        return
                    if following == stop:
                        self.arrive(g, following)
                        return
                g.pc = pc = following
        except ExecutionError as e:
            launch.explain(e, g, segments[pc], step)
            raise
        except MemoryError:
            raise g.blame(Fault("host-memory", "the host's memory is exhausted"), None) from None

    # ------------------------------------------------------------ parting and meeting

    def diverge(self, g: Group, condition: Array, taken: int, fall: int, join: int, lazy: bool) -> None:
        """A conditional branch on which the lanes of g disagree."""
        shape = g.geometry.shape
        if lazy and (taken == g.pc or fall == g.pc) and not self.launch.observers and self._let_leave(g, condition, taken, fall, join):
            return
        for o in self.launch.observers:
            o.branch(self.current, g, condition, (taken, fall))
        other = ~condition if g.alive is None else g.alive & ~condition
        self.part_ways(g, [(Selection.of(condition, shape), taken), (Selection.of(other, shape), fall)], join)

    def _let_leave(self, g: Group, condition: Array, taken: int, fall: int, join: int) -> bool:
        """In a loop of pure instructions the lanes that leave hand their results in and ride along; True if that was done."""
        p = g.parent
        out = fall if taken == g.pc else taken
        if out != join or p is None or p.node_return or p.join != join or join == EXIT or (g.act.function.name, join) in self.eager:
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
            self._settle(p)
        elif g.alive_count < 0.75 * g.geometry.n:
            self.ready.append(self.compact(g))
        else:
            self.ready.append(g)
        return True

    def compact(self, g: Group, pc: int | None = None) -> Group:
        """The lanes of g that have not left, as a group of their own."""
        assert g.alive is not None
        smaller = g.part(Selection.of(g.alive, g.geometry.shape), g.pc if pc is None else pc)
        smaller.spins = g.spins
        return smaller

    def leave_loop(self, g: Group, pc: int) -> int | None:
        """The last lanes of a loop leave it; those that rode along have left before."""
        if pc == g.stop():
            return pc
        self._go(self.compact(g, pc))
        return None

    def part_ways(self, g: Group, ways: list[tuple[Selection, int]], join: int) -> None:
        """Sends the lanes of g to several places; they meet at the join."""
        parent = g.parent
        beside = parent is not None and not parent.node_return and parent.join == join
        eager = (g.act.function.name, join) in self.eager
        if eager:
            for part in self.divide(g, ways):
                self._go(part)
            return
        children = g.split(ways, join)
        self.ready.extend(reversed(children))
        if not children:
            node = parent if beside else g
            assert node is not None
            self._settle(node)

    def divide(self, g: Group, ways: list[tuple[Selection, int]]) -> list[Group]:
        """Parts g for good: each part takes its own place below g's parent."""
        return [g.part(s, pc) for s, pc in ways]

    def _go(self, g: Group) -> None:
        """A group that is at its pc, wherever that is."""
        if g.pc == g.stop():
            self.arrive(g, g.pc)
        elif g.pc == EXIT:
            following = self.ret(g)
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
        p = a.parent
        while p is not None:
            p.expected -= a.geometry.n
            p = p.parent
        self._go(b)

    def arrive(self, g: Group, pc: int) -> None:
        """A whole group has reached the place where it meets its siblings."""
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
        self._settle(p)

    def _settle(self, p: Group) -> None:
        """Lets a node go on if nobody below it is left."""
        if p.complete:
            again = p.resume()
            if again is not None:
                self._go(again)

    def exit(self, g: Group) -> None:
        """All lanes of a group end."""
        self._end(g.geometry)
        n = g.alive_count if g.alive is not None else g.geometry.n
        self._gone(g.parent, n)

    def _gone(self, p: Group | None, n: int) -> None:
        """n lanes below p will not arrive any more."""
        chain: list[Group] = []
        while p is not None:
            p.expected -= n
            chain.append(p)
            p = p.parent
        for node in chain:
            if not node.complete:
                return
            if node.absorbed:
                self._settle(node)
                return

    def _end(self, geometry: Geometry) -> None:
        self.exited_count += geometry.n
        if self.exited_count == self.exited.size:
            self.exited[...] = True
        else:
            self.exited[geometry.block, geometry.thread] = True
        if self.waiting:
            self.barriers.recheck()

    # ------------------------------------------------------------ calls

    def ret(self, g: Group) -> int | None:
        """Lanes return from a function; from the entry they end."""
        if g.stop() == EXIT:
            return EXIT
        act = g.act
        if act.caller is None:
            self.exit(g)
            return None
        p = g.parent
        assert p is not None and p.node_return and g.selection is not None
        for source, target, size in act.copies:
            self.local.copy(g.geometry, source, target, size)
        if g.geometry.n == p.geometry.n and p.absorbed == 0:
            for callee, caller in act.returns:
                p.R[caller] = g.R[callee]
                p.dirty |= 1 << caller
            p.absorbed = g.geometry.n
        else:
            for callee, caller in act.returns:
                value = g.R[callee]
                assert value is not None
                p.hand_in(caller, g.selection, value)
            p.handed_in.append(g.selection)
            p.absorbed += g.geometry.n
        self._settle(p)
        return None

    # ------------------------------------------------------------ waiting

    def rest(self, g: Group, pc: int) -> int | None:
        """A group that spins lets others run first."""
        g.spins = 0
        g.pc = pc
        if self.ready:
            self.ready.appendleft(g)
            return None
        if not self.waiting and not self.resting and g.parent is None and not self.launch.has_more_waves(self):
            return pc
        self.resting.append(g)
        return None

    def wait_for_lanes(self, g: Group, mask: Array | None, pc: int) -> int | None:
        """A group that may miss lanes that the membermask names goes on only with them."""
        layout = g.geometry.warps
        members = layout.members
        wanted = np.ones((1, 1), np.uint32) * np.uint32(0xFFFFFFFF) if mask is None else mask.astype(np.uint32)
        named = (
            (layout.spread(np.broadcast_to(wanted, g.geometry.shape)) if wanted.size > 1 else wanted) >> np.arange(32, dtype=np.uint32)
        ) & 1
        needed = np.zeros((layout.count, 32), bool)
        if wanted.size == 1:
            needed |= named.astype(bool)
        else:  # each lane may name its own set: what any of them names
            spread = np.where(members, layout.spread(np.broadcast_to(wanted, g.geometry.shape)), 0).astype(np.uint32)
            whole = np.bitwise_or.reduce(spread, axis=1)
            needed |= ((whole[:, None] >> np.arange(32, dtype=np.uint32)) & 1).astype(bool)
        missing = needed & ~members & ~self._gone_lanes(layout.block, layout.warp)
        if not missing.any():
            return pc
        g.pc = pc
        g.blocked = LanesWait(missing, pc)
        self.wait(g, "lanes")
        return None

    def wait(self, g: Group, why: str) -> None:
        """A blocked group joins those that wait."""
        self.waiting.append(g)
        for o in self.launch.observers:
            o.wait(self.current, g, why)

    def _gone_lanes(self, block: Array, warp: Array) -> Array:
        """(warps, 32): lanes that have ended or never were."""
        thread = warp * 32 + np.arange(32)
        inside = thread < self.launch.threads
        return ~inside | self.exited[block, np.minimum(thread, self.launch.threads - 1)]

    def _free_somebody(self) -> bool:
        """Nobody can run: finds somebody who may after all."""
        if self.barriers.split_passed():
            return True
        if self._unite_waiting():
            return True
        return self._release()

    def _unite_waiting(self) -> bool:
        """Groups that wait for lanes at one place become one; those whose missing lanes all wait likewise, or have ended, go on."""
        lanes = [g for g in self.waiting if isinstance(g.blocked, LanesWait)]
        if not lanes:
            return False
        here = np.zeros_like(self.exited)
        for g in lanes:
            block, thread = np.broadcast_arrays(g.geometry.block, g.geometry.thread)
            here[block, thread] = True
        can = []
        for g in lanes:
            assert isinstance(g.blocked, LanesWait)
            layout = g.geometry.warps
            thread = layout.warp * 32 + np.arange(32)
            inside = np.minimum(thread, self.launch.threads - 1)
            there = here[layout.block, inside] | self._gone_lanes(layout.block, layout.warp)
            if not (g.blocked.mask & ~there).any():
                can.append(g)
        if not can:
            return False
        by_place: dict[tuple[int, int, int], list[Group]] = {}
        for g in can:
            self.waiting.remove(g)
            g.blocked = None
            by_place.setdefault((id(g.act.function), g.act.base, g.pc), []).append(g)
        for groups in by_place.values():
            self.ready.append(groups[0] if len(groups) == 1 else self.unite(groups))
        return True

    def unite(self, groups: Sequence[Group]) -> Group:
        """Several groups at one place as one; it stands below the nearest node that is above all of them."""
        first = groups[0]
        chains = [self._ancestors(g) for g in groups]
        common = next((a for a in chains[0] if a is None or all(any(a is b for b in c) for c in chains[1:])), None)
        lanes = [np.broadcast_to(g.geometry.lane, g.geometry.shape).ravel() for g in groups]
        order = np.argsort(np.concatenate(lanes), kind="stable")
        everyone = np.concatenate(lanes)[order]
        threads = self.launch.threads
        geometry = Geometry((everyone // threads)[None, :], (everyone % threads)[None, :], threads)
        out = Group(self, geometry, first.act, first.act.function.fresh_registers(), first.pc)
        out.parent = common
        live = first.act.function.live_in[first.pc]
        out.dirty = live
        while live:
            low = live & -live
            live ^= low
            s = low.bit_length() - 1
            values = [plain(v) for g in groups if (v := g._fetch_or_none(s)) is not None]
            if len(values) != len(groups):
                continue
            if all(v.size == 1 for v in values) and all(v[0, 0] == values[0][0, 0] for v in values[1:]):
                out.R[s] = values[0]
                continue
            whole = np.concatenate([np.broadcast_to(v, g.geometry.shape).ravel() for v, g in zip(values, groups, strict=True)])
            out.R[s] = whole[order][None, :]
        if common is not None:
            place = np.broadcast_to(common.geometry.lane, common.geometry.shape).ravel()
            out.selection = Selection.of_lanes(common.geometry.shape, np.searchsorted(place, everyone).astype(np.intp))
        for g in groups:
            p = g.parent
            while p is not None and p is not common:
                p.expected -= g.geometry.n
                up = p.parent
                if p.complete and p.absorbed:
                    self._settle(p)
                    break
                p = up
        return out

    @staticmethod
    def _ancestors(g: Group) -> list[Group | None]:
        out: list[Group | None] = []
        p = g.parent
        while p is not None:
            out.append(p)
            p = p.parent
        out.append(None)
        return out

    def _release(self) -> bool:
        """Lanes that wait at a join for siblings who can't come go on alone."""
        nodes: dict[int, Group] = {}
        for g in (*self.waiting, *self.resting):
            p = g.parent
            while p is not None:
                if p.absorbed and p.join is not None:
                    nodes[id(p)] = p
                p = p.parent
        if not nodes or self.launch.lockstep:
            return False
        spinning = bool(self.resting)
        for p in nodes.values():
            if p.join is None or not p.absorbed:
                continue
            if spinning:
                self.eager.add((p.act.function.name, p.join))
            self._go(self._released(p))
        return True

    @staticmethod
    def _released(p: Group) -> Group:
        assert p.join is not None
        selection = union(p.handed_in, p.geometry.shape)
        for s, whole in p.pending.items():
            p.R[s], p.pending[s] = whole, p.R[s]
        dirty = p.dirty
        for s in p.pending:
            p.dirty |= 1 << s
        g = p.part(selection, p.join)
        for s, old in p.pending.items():
            p.R[s] = old
        p.dirty = dirty
        p.pending, p.handed_in = {}, []
        p.expected -= p.absorbed
        p.absorbed = 0
        return g

    # ------------------------------------------------------------ saying what happened

    def _deadlock(self) -> Deadlock:
        out = []
        for g in self.waiting:
            segment = g.act.function.segments
            site = next((s.end for s in reversed(segment[: g.pc]) if s.end is not None), None)
            wants, missing = self.barriers.why(g) if not isinstance(g.blocked, LanesWait) else self._why_lanes(g)
            line = site.instruction.span.line if site else 0
            who, text, source = self.launch.name_lane(self, g, None), self.launch.text_of(site), self.launch.source_of(site)
            out.append(Waiting(g.geometry.n, who, text, line, source, wants, missing))
        return Deadlock(self.launch.name, out)

    def _why_lanes(self, g: Group) -> tuple[str, str]:
        assert isinstance(g.blocked, LanesWait) and g.blocked.mask is not None
        layout = g.geometry.warps
        w, lane = (int(x) for x in np.argwhere(g.blocked.mask)[0])
        return "the lanes that its membermask names", f"lane {lane} of warp {int(layout.warp[w, 0])} has not come"

    def cluster_block(self, g: Group, block: Array, rank: Array, mask: Array) -> Array:
        """The wave's block that a shared::cluster address means."""
        size = self.launch.cluster_size
        bad = mask & (rank > size)
        if bad.any():
            raise g.blame(Fault("out-of-bounds", "shared::cluster address of a CTA that the cluster does not have", "shared"), bad)
        return np.where(rank > 0, self.launch.cluster_member(self, block, rank - 1), block)

    # ------------------------------------------------------------ special registers

    def block_table(self, name: str) -> Array:
        """A per-block value of the wave, as (blocks, 1)."""
        found = self._special.get(name)
        if found is None:
            found = self._special[name] = self.launch.block_special(self, name)
        return found


__all__ = ["Any", "Value", "Wave"]
