"""Groups that cannot go on: at barriers, for lanes of their warp, or turning in a loop until somebody else has done something.

When no group of a wave can run, the room looks for one that may after all: one that has passed a barrier with a part of its blocks, groups
that wait for each other's lanes, lanes that wait at a join for siblings who never come, and at last the spinning ones.  If those provably
get nowhere, or nobody is left to spin, that is a deadlock, and the room can say who waits for whom.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..faults import Deadlock, Waiting
from .deadlock import Stillness
from .exchange import Key, together
from .group import Group, union
from .lanes import Selection
from .uniting import gathered
from .values import Array, plain

if TYPE_CHECKING:
    from .wave import Wave


class LanesWait:
    """Why a group waits: for lanes of its warps (warps, 32) that have to come to an equal instruction."""

    __slots__ = ("key", "missing")

    def __init__(self, missing: Array, key: Key | None) -> None:
        self.missing = missing
        self.key = key  # None: one whose lanes must all be at one place, such as mma


class WaitingRoom:
    """The groups of a wave that wait or spin."""

    def __init__(self, wave: Wave) -> None:
        self.wave = wave
        self.waiting: list[Group] = []  # at barriers and for lanes
        self.resting: list[Group] = []  # spinning ones
        self.eager: set[tuple[str, int]] = set()  # joins where waiting has proved to be in vain
        self.events = 0  # partings, meetings, ends: whatever shows that somebody gets on
        self.stillness = Stillness(wave)

    def __bool__(self) -> bool:
        return bool(self.waiting or self.resting)

    def rest(self, g: Group, pc: int) -> int | None:
        """A group that spins lets others run first."""
        g.spins = 0
        g.pc = pc
        wave = self.wave
        alone = not wave.ready and not self.waiting and not self.resting and g.parent is None and not wave.launch.has_more_waves(wave)
        self.resting.append(g)
        if not alone:
            return None
        if self.stillness.proven():
            raise self.deadlock()
        self.resting.clear()
        return pc

    def wake(self) -> None:
        """Those that rest go on."""
        rested, self.resting = self.resting, []
        for g in reversed(rested):
            self.wave.go(g)

    def wait_for_lanes(self, g: Group, mask: Array | None, pc: int, key: Key | None) -> int | None:
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
        g.blocked = LanesWait(missing, key)
        self.wait(g, "lanes")
        return None

    def wait(self, g: Group, why: str) -> None:
        """A blocked group joins those that wait."""
        self.waiting.append(g)
        for o in self.wave.launch.observers:
            o.wait(self.wave.current, g, why)

    def _gone_lanes(self, block: Array, warp: Array) -> Array:
        """(warps, 32): lanes that have ended or never were."""
        thread = warp * 32 + np.arange(32)
        inside = thread < self.wave.launch.threads
        return ~inside | self.wave.exited[block, np.minimum(thread, self.wave.launch.threads - 1)]

    def free_somebody(self) -> bool:
        """Nobody can run: finds somebody who may after all."""
        if self.wave.barriers.split_passed():
            return True
        if self._unite_waiting():
            return True
        return self._release()

    def _unite_waiting(self) -> bool:
        """Lanes that wait at equal instructions, and for nobody else, go on: at one place as one group, elsewhere having exchanged."""
        equal: dict[Key | None, list[Group]] = {}
        for g in self.waiting:
            if isinstance(g.blocked, LanesWait):
                equal.setdefault(g.blocked.key, []).append(g)
        moved = False
        for key, groups in equal.items():
            here = np.zeros_like(self.wave.exited)
            for g in groups:
                here[np.broadcast_to(g.geometry.block, g.geometry.shape), np.broadcast_to(g.geometry.thread, g.geometry.shape)] = True
            met = gathered(self.wave, [free for g in groups if (free := self._without_missing(g, here)) is not None])
            segments = [g.act.function.segments[g.pc] for g in met]
            exchanges = [s.exchange for s in segments if s.exchange is not None]
            if key is not None and len(met) > 1 and len(exchanges) == len(met):
                for g, s in zip(met, segments, strict=True):
                    g.fetch_for(s)
                together(met, exchanges)
            self.wave.ready.extend(met)
            moved = moved or bool(met)
        return moved

    def _without_missing(self, g: Group, here: Array) -> Group | None:
        """The warps of a waiting group all of whose missing lanes are here too, or gone; the others wait on."""
        wait = g.blocked
        assert isinstance(wait, LanesWait)
        layout = g.geometry.warps
        thread = np.minimum(layout.warp * 32 + np.arange(32), self.wave.launch.threads - 1)
        there = here[layout.block, thread] | self._gone_lanes(layout.block, layout.warp)
        stuck = np.any(wait.missing & ~there, axis=1, keepdims=True)
        if stuck.all():
            return None
        self.waiting.remove(g)
        g.blocked = None
        if not stuck.any():
            return g
        lanes = np.broadcast_to(layout.gather(np.broadcast_to(stuck, (layout.count, 32))), g.geometry.shape)
        rest, free = self.wave.divide(g, [(Selection.of(lanes, g.geometry.shape), g.pc), (Selection.of(~lanes, g.geometry.shape), g.pc)])
        rest.blocked = LanesWait(wait.missing[stuck[:, 0]], wait.key)
        self.waiting.append(rest)
        return free

    def _release(self) -> bool:
        """Lanes that wait at a join for siblings who can't come go on alone; of lockstep warps only whole ones."""
        nodes: dict[int, Group] = {}
        below: dict[int, list[Array]] = {}  # lanes under a node that have not come to its join
        lockstep = self.wave.launch.manner.lockstep
        for g in (*self.waiting, *self.resting):
            here = [g.geometry.lane]
            p = g.parent
            while p is not None:
                if lockstep:
                    below.setdefault(id(p), []).extend(here)
                if p.absorbed and p.join is not None:
                    nodes[id(p)] = p
                    here.append(_lanes_at_join(p))
                p = p.parent
        spinning = bool(self.resting)
        moved = False
        for p in nodes.values():
            if p.join is None or not p.absorbed:
                continue
            selection = union(p.handed_in, p.geometry.shape)
            if lockstep:
                whole = self._whole_warps(p, selection, below[id(p)])
                if not whole.count:
                    continue
                selection = whole
            elif spinning:
                self.eager.add((p.act.function.name, p.join))
            self.wave.go(self._released(p, selection))
            moved = True
        return moved

    def _whole_warps(self, p: Group, there: Selection, absent: list[Array]) -> Selection:
        """Of the lanes at a join those of warps that have no lane elsewhere below it."""
        lane = np.broadcast_to(p.geometry.lane, p.geometry.shape)
        missing = np.unique(np.concatenate([self._warp_of(x).ravel() for x in absent]))
        at_join = np.zeros(p.geometry.shape, bool)
        there.put(at_join, np.ones((1, 1), bool))
        return Selection.of(at_join & ~np.isin(self._warp_of(lane), missing), p.geometry.shape)

    def _warp_of(self, lane: Array) -> Array:
        block, thread = np.divmod(lane, self.wave.launch.threads)
        out: Array = block * self.wave.geometry.warps_per_block + (thread >> 5)
        return out

    @staticmethod
    def _released(p: Group, selection: Selection) -> Group:
        assert p.join is not None
        for s, whole in p.pending.items():
            p.R[s], p.pending[s] = whole, p.R[s]
        dirty = p.dirty
        for s in p.pending:
            p.dirty |= 1 << s
        g = p.part(selection, p.join)
        for s, whole in p.pending.items():
            p.R[s], p.pending[s] = whole, p.R[s]
        p.dirty = dirty
        p.expected -= selection.count
        p.absorbed -= selection.count
        if p.absorbed:
            at_join = np.zeros(p.geometry.shape, bool)
            union(p.handed_in, p.geometry.shape).put(at_join, np.ones((1, 1), bool))
            selection.put(at_join, np.zeros((1, 1), bool))
            p.handed_in = [Selection.of(at_join, p.geometry.shape)]
        else:
            p.pending, p.handed_in = {}, []
        return g

    # ------------------------------------------------------------ saying what happened

    def deadlock(self) -> Deadlock:
        """Who waits where, for whom."""
        out = []
        for g in (*self.waiting, *self.resting):
            segment = g.act.function.segments
            if g.blocked is None:  # it turns: named by the first instruction of its loop
                site = segment[g.pc].sites[0] if segment[g.pc].sites else segment[g.pc].end
            else:
                site = next((s.end for s in reversed(segment[: g.pc]) if s.end is not None), None)
            wants, missing = self._why(g)
            line = site.instruction.span.line if site else 0
            who, text, source = (
                self.wave.launch.name_lane(self.wave, g, None),
                self.wave.launch.text_of(site),
                self.wave.launch.source_of(site),
            )
            out.append(Waiting(g.geometry.n, who, text, line, source, wants, missing))
        return Deadlock(self.wave.launch.name, out)

    def _why(self, g: Group) -> tuple[str, str]:
        if g.blocked is None:
            return "a change of memory", "it turns in a loop, and nobody else is left to run"
        if not isinstance(g.blocked, LanesWait):
            return self.wave.barriers.why(g)
        layout = g.geometry.warps
        w, lane = (int(x) for x in np.argwhere(g.blocked.missing)[0])
        return "the lanes that its membermask names", f"lane {lane} of warp {int(layout.warp[w, 0])} has not come"


def _lanes_at_join(p: Group) -> Array:
    lane = np.broadcast_to(p.geometry.lane, p.geometry.shape)
    return np.concatenate([plain(s.take(lane)).ravel() for s in p.handed_in])
