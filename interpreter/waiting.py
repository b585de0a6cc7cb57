"""Groups that cannot go on: at barriers, for lanes of their warp, or turning in a loop until somebody else has done something.

When no group of a wave can run, the room looks for one that may after all: one that has passed a barrier with a part of its blocks, groups
that wait for each other's lanes, lanes that wait at a join for siblings who never come, and at last the spinning ones.  If those provably
get nowhere, or nobody is left to spin, that is a deadlock, and the room can say who waits for whom.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from .faults import Deadlock, Waiting
from .geometry import Geometry, Selection
from .group import Group, union
from .stillness import Stillness
from .values import Array, plain

if TYPE_CHECKING:
    from .engine import Wave


class LanesWait:
    """Why a group waits: for the other lanes of its warps that a membermask names (all lanes where it is None)."""

    __slots__ = ("mask", "pc")

    def __init__(self, mask: Array | None, pc: int) -> None:
        self.mask = mask
        self.pc = pc


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
        """Groups that wait for lanes at one place become one; those whose missing lanes all wait likewise, or have ended, go on."""
        lanes = [g for g in self.waiting if isinstance(g.blocked, LanesWait)]
        if not lanes:
            return False
        here = np.zeros_like(self.wave.exited)
        for g in lanes:
            block, thread = np.broadcast_arrays(g.geometry.block, g.geometry.thread)
            here[block, thread] = True
        can = []
        for g in lanes:
            assert isinstance(g.blocked, LanesWait)
            layout = g.geometry.warps
            thread = layout.warp * 32 + np.arange(32)
            inside = np.minimum(thread, self.wave.launch.threads - 1)
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
            self.wave.ready.append(groups[0] if len(groups) == 1 else self.unite(groups))
        return True

    def unite(self, groups: Sequence[Group]) -> Group:
        """Several groups at one place as one; it stands below the nearest node that is above all of them."""
        first = groups[0]
        chains = [self._ancestors(g) for g in groups]
        common = next((a for a in chains[0] if a is None or all(any(a is b for b in c) for c in chains[1:])), None)
        lanes = [np.broadcast_to(g.geometry.lane, g.geometry.shape).ravel() for g in groups]
        order = np.argsort(np.concatenate(lanes), kind="stable")
        everyone = np.concatenate(lanes)[order]
        threads = self.wave.launch.threads
        geometry = Geometry((everyone // threads)[None, :], (everyone % threads)[None, :], threads)
        out = Group(self.wave, geometry, first.act, first.act.function.fresh_registers(), first.pc)
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
                    self.wave.settle(p)
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
        if not nodes or self.wave.launch.lockstep:
            return False
        spinning = bool(self.resting)
        for p in nodes.values():
            if p.join is None or not p.absorbed:
                continue
            if spinning:
                self.eager.add((p.act.function.name, p.join))
            self.wave.go(self._released(p))
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
        assert g.blocked.mask is not None
        layout = g.geometry.warps
        w, lane = (int(x) for x in np.argwhere(g.blocked.mask)[0])
        return "the lanes that its membermask names", f"lane {lane} of warp {int(layout.warp[w, 0])} has not come"
