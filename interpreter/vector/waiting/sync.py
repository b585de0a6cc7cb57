"""Groups that cannot go on: at barriers, for lanes of their warp, or turning in a loop until others have done something.

When no group of a wave can run, one is looked for that may after all: one that has passed a barrier with a part of its blocks, groups that wait
for each other's lanes, lanes that wait at a join for siblings who never come, and at last the spinning ones.  If those provably
get nowhere, or none is left to spin, that is a deadlock.
"""

from __future__ import annotations

import numpy as np

from ...faults import Deadlock
from ...lanes import Selection, union
from ...plan.plan import SyncKey
from ...plan.spinning import SPINNING
from ...values import Array, plain
from ..convergence import go, joins_above
from ..divergence import divide
from ..group import Group, Join
from ..ports import WavePort
from .deadlock import Stillness, deadlock
from .exchange import together
from .uniting import gathered


class LanesWait:
    """Why a group waits: for lanes of its warps (warps, 32) that have to come to an equal instruction."""

    __slots__ = ("key", "missing")

    def __init__(self, missing: Array, key: SyncKey | None) -> None:
        self.missing = missing
        self.key = key  # None: one whose lanes must all be at one place, such as mma

    def why(self, g: Group) -> tuple[str, str]:
        """See Wait."""
        w, lane = (int(x) for x in np.argwhere(self.missing)[0])
        return "the lanes that its membermask names", f"lane {lane} of warp {int(g.geometry.warps.warp[w, 0])} has not arrived"


class WaitingGroups:
    """The groups of a wave that wait or spin."""

    def __init__(self) -> None:
        self.blocked: list[Group] = []  # at barriers and for lanes
        self.spinning: list[Group] = []
        self.joins_not_waited_for: set[tuple[str, int]] = set()  # where waiting has proved to be in vain: function and place
        self.events = 0  # lanes that end, barriers that are complete: whatever shows that lanes get on
        self.stillness = Stillness()

    def __bool__(self) -> bool:
        return bool(self.blocked or self.spinning)

    def rest(self, g: Group, pc: int) -> int | None:
        """A group that spins lets others run first."""
        wave = g.wave
        g.turns = SPINNING if self.stillness.begins(wave.launch) else 0
        g.pc = pc
        alone = not wave.ready and not self and g.parent is None and not wave.launch.has_more_waves
        self.spinning.append(g)
        if not alone:
            return None
        if not wave.finish_late() and self.is_still(wave):
            return None
        self.spinning.clear()
        return pc

    def wake(self) -> None:
        """Those that rest go on."""
        rested, self.spinning = self.spinning, []
        for g in reversed(rested):
            go(g)

    def is_still(self, wave: WavePort) -> bool:
        """Have all that wait or spin come to a standstill?"""
        return self.stillness.proven(wave, self.events, (*self.blocked, *self.spinning))

    def deadlock(self, wave: WavePort) -> Deadlock:
        """Which lanes wait where, for which."""
        return deadlock(wave, (*self.blocked, *self.spinning))

    def missing(self, g: Group, mask: Array | None, who: Array | None = None) -> Array:
        """(warps, 32): the lanes that the membermasks of a group name (of its lanes `who`, if given), and that are elsewhere."""
        layout = g.geometry.warps
        named = np.uint32(0xFFFFFFFF) if mask is None else mask.astype(np.uint32)
        spread = layout.spread(np.broadcast_to(named, g.geometry.shape))
        asks = layout.members if who is None else layout.members & layout.spread(np.broadcast_to(who, g.geometry.shape))
        whole = np.bitwise_or.reduce(np.where(asks, spread, 0).astype(np.uint32), axis=1)  # each lane may name its own set
        needed = ((whole[:, None] >> np.arange(32, dtype=np.uint32)) & 1).astype(bool)
        out: Array = needed & ~layout.members & ~_gone_lanes(g.wave, layout.block, layout.warp)
        return out

    def wait_for_lanes(self, g: Group, mask: Array | None, pc: int, key: SyncKey | None) -> int | None:
        """A group that may miss lanes that the membermask names goes on only with them."""
        missing = self.missing(g, mask)
        if not missing.any():
            return pc
        g.pc = pc
        g.blocked = LanesWait(missing, key)
        self.wait(g, "lanes")
        return None

    def wait(self, g: Group, why: str) -> None:
        """A blocked group joins those that wait."""
        self.blocked.append(g)
        for o in g.wave.observers:
            o.wait(g.wave.current, g, why)

    def free_one(self, wave: WavePort) -> bool:
        """No group can run: finds one that may after all."""
        return wave.barriers.split_passed(wave) or self._unite_blocked(wave) or self._release(wave)

    def _unite_blocked(self, wave: WavePort) -> bool:
        """Lanes that wait at equal instructions, and for no others, go on: at one place as one group, elsewhere having exchanged."""
        equal: dict[SyncKey | None, list[Group]] = {}
        for g in self.blocked:
            if isinstance(g.blocked, LanesWait):
                equal.setdefault(g.blocked.key, []).append(g)
        moved = False
        for key, groups in equal.items():
            here = np.zeros_like(wave.exited)
            for g in groups:
                here[np.broadcast_to(g.geometry.block, g.geometry.shape), np.broadcast_to(g.geometry.thread, g.geometry.shape)] = True
            met = gathered([free for g in groups if (free := self._without_missing(g, here)) is not None])
            segments = [g.act.function.segments[g.pc] for g in met]
            exchanges = [s.exchange for s in segments if s.exchange is not None]
            if key is not None and len(met) > 1 and len(exchanges) == len(met):
                for g, s in zip(met, segments, strict=True):
                    g.fetch_for(s)
                together(met, exchanges)
            wave.ready.extend(met)
            moved = moved or bool(met)
        return moved

    def _without_missing(self, g: Group, here: Array) -> Group | None:
        """The warps of a waiting group all of whose missing lanes are here too, or gone; the others wait on."""
        wait = g.blocked
        assert isinstance(wait, LanesWait)
        layout = g.geometry.warps
        thread = np.minimum(layout.warp * 32 + np.arange(32), g.wave.launch.threads - 1)
        there = here[layout.block, thread] | _gone_lanes(g.wave, layout.block, layout.warp)
        stuck = np.any(wait.missing & ~there, axis=1, keepdims=True)
        if stuck.all():
            return None
        self.blocked.remove(g)
        g.blocked = None
        if not stuck.any():
            return g
        lanes = np.broadcast_to(layout.gather(np.broadcast_to(stuck, (layout.count, 32))), g.geometry.shape)
        rest, free = divide(g, [(Selection.of(lanes, g.geometry.shape), g.pc), (Selection.of(~lanes, g.geometry.shape), g.pc)])
        rest.blocked = LanesWait(wait.missing[stuck[:, 0]], wait.key)
        self.blocked.append(rest)
        return free

    def _release(self, wave: WavePort) -> bool:
        """Lanes that wait at a join for siblings that cannot arrive go on alone; of lockstep warps only whole ones."""
        joins: dict[int, Join] = {}
        below: dict[int, list[Array]] = {}  # lanes under a join that have not come to it
        lockstep = wave.launch.lowering.lockstep
        for g in (*self.blocked, *self.spinning):
            here = [g.geometry.lane]
            for join in joins_above(g):
                if lockstep:
                    below.setdefault(id(join), []).extend(here)
                if join.arrived:
                    joins[id(join)] = join
                    here.append(_lanes_at(join))
        spinning = bool(self.spinning)
        moved = False
        for join in joins.values():
            if not join.arrived:
                continue
            selection = union(join.arrivals, join.group.geometry.shape)
            if lockstep:
                whole = _whole_warps(join.group, selection, below[id(join)])
                if not whole.count:
                    continue
                selection = whole
            elif spinning:
                self.joins_not_waited_for.add((join.group.act.function.name, join.pc))
            go(join.release(selection))
            moved = True
        return moved


def _gone_lanes(wave: WavePort, block: Array, warp: Array) -> Array:
    """(warps, 32): lanes that have ended or never were."""
    thread = warp * 32 + np.arange(32)
    inside = thread < wave.launch.threads
    gone: Array = ~inside | wave.exited[block, np.minimum(thread, wave.launch.threads - 1)]
    return gone


def _whole_warps(group: Group, there: Selection, absent: list[Array]) -> Selection:
    """Of the lanes at a join those of warps that have no lane elsewhere below it."""
    geometry = group.geometry
    missing = np.unique(np.concatenate([geometry.warp_of(x).ravel() for x in absent]))
    at_join = np.zeros(geometry.shape, bool)
    there.put(at_join, np.ones((1, 1), bool))
    lane = np.broadcast_to(geometry.lane, geometry.shape)
    return Selection.of(at_join & ~np.isin(geometry.warp_of(lane), missing), geometry.shape)


def _lanes_at(join: Join) -> Array:
    lane = np.broadcast_to(join.group.geometry.lane, join.group.geometry.shape)
    return np.concatenate([plain(s.take(lane)).ravel() for s in join.arrivals])
