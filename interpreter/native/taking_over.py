"""A wave that numpy began, as compiled code has it: its groups and joins become the scheduler's nodes, their registers lie in frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..plan import plan as P
from ..plan.uses import slots_of
from ..vector.group import Group, Join
from ..vector.waiting.barriers import BarrierWait
from ..vector.waiting.sync import LanesWait
from .program import NativeProgram
from .registers import NativeRegisters
from .schedule import layout as s
from .schedule.nodes import block, new, push
from .uniformity import VARYING, kind_in

Array = NDArray[Any]
MOST = s.NODES // 4  # nodes, beyond which numpy goes on
LISTS_LEFT = 4  # of the room for lists: what the scheduler finds free


class NumpyWave:
    """The groups of a wave, all of which stand before segments."""

    def __init__(self, program: NativeProgram, wave: Any) -> None:
        self.program = program
        self.wave = wave
        waiting = wave.waiting
        self.blocked: dict[int, int] = {id(g): self._end_behind(g) for g in waiting.blocked}  # the segments whose ends they wait at
        self.groups: list[Group] = [*wave.ready, *waiting.blocked, *waiting.spinning]
        self.joins = {id(join): join for g in self.groups for join in _joins(g)}

    def obstacle(self, entries: int) -> str:
        """Why compiled code can't go on with it, with room for so many entries of lists; "" if it can."""
        if any(g.act.caller is not None for g in self.groups) or any(j.is_call for j in self.joins.values()):
            return "calls"
        if len(self.groups) + len(self.joins) > MOST or (len(self.groups) + len(self.joins)) * self.wave.exited.size // 32 > entries:
            return "many groups"
        over = self._clusters_passed()
        if (
            over.any() != over.all()
            or self.wave.barriers.cluster_arrived.any()
            or any(n < 0 for n in self.blocked.values())
            or any(b.values is not None and b.arrived.any() for b in self.wave.barriers.numbered.values())
        ):
            return "waiting"
        return "lanes wait" if any(isinstance(g.blocked, LanesWait) for g in self.wave.waiting.blocked) else ""

    @property
    def is_past_clusters(self) -> bool:
        """Have all living lanes arrived at the barriers of their clusters, and may pass?"""
        return bool(self._clusters_passed().all())

    def _clusters_passed(self) -> Array:
        """For each living lane: is the barrier of its cluster complete, at which it arrived last?"""
        barriers = self.wave.barriers
        passed: Array = (barriers.cluster_phase[:, None] > barriers.cluster_seen)[~self.wave.exited]
        return passed

    def _end_behind(self, g: Group) -> int:
        """The segment at whose end a group waits; -1 if that can't be told."""
        kind = P.Barrier if isinstance(g.blocked, BarrierWait) else P.Sync if isinstance(g.blocked, LanesWait) else ()
        found = [n for n, x in enumerate(self.program.plan.segments) if isinstance(x.end, kind) and x.end.past == g.pc]
        return found[0] if len(found) == 1 else -1

    def give(self, state: s.WaveRecord, registers: NativeRegisters) -> None:
        """Writes it as the wave that is under way, of which no group runs."""
        Nodes(self, state, registers).write()
        wave = self.wave
        wave.ready.clear()
        wave.waiting.blocked.clear()
        wave.waiting.spinning.clear()
        wave.barriers.numbered.clear()
        for g in self.groups:
            g.end()
        for join in self.joins.values():
            join.group.end()


class Nodes:
    """The scheduler's words of a wave."""

    def __init__(self, given: NumpyWave, state: s.WaveRecord, registers: NativeRegisters) -> None:
        self.given, self.state, self.registers = given, state, registers
        self.program, self.wave = given.program, given.wave
        self.living = ~self.wave.exited
        self.of_join: dict[int, s.GroupNode] = {}
        self.belonging = {
            key: self._lanes_at(join) for key, join in given.joins.items()
        }  # to each join: who has come there, and who may come
        below = [(self._lanes(g), g) for g in given.groups] + [(self._lanes_at(join), join.group) for join in given.joins.values()]
        for lanes, g in below:
            for join in _joins(g):
                self.belonging[id(join)] |= lanes

    def write(self) -> None:
        """All nodes, lists, barriers and registers."""
        state, wave, waiting = self.state, self.wave, self.wave.waiting
        masks = self.registers.masks(self.living)
        state.alive.part(len(masks))[:] = masks
        state.living = int(self.living.sum())
        state.free = state.lists
        for g in wave.ready:
            push(state, self._group(g, s.IS_READY))
        for g in waiting.spinning:
            state.spinning[state.spinning_count] = self._group(g, s.IS_SPINNING)
            state.spinning_count += 1
        for g in waiting.blocked:
            node = self._waiting(g)
            block(state, node, node.state)
        for number, barrier in wave.barriers.numbered.items():
            if barrier.arrived.any():
                self._barrier(number, barrier.arrived, barrier.wanted)
        for name, pc in waiting.joins_not_waited_for:
            if name == self.program.function.name:
                state.any_unmet = 1
                state.unmet[self._place(pc) + 1] = 1

    def _place(self, pc: int) -> int:
        return s.END if pc == P.EXIT else self.program.cut.first[pc]

    # ------------------------------------------------------------ nodes

    def _node(self, kind: int, pc: int, lanes: Array, turns: int, parent: Join | None) -> s.GroupNode:
        state, masks = self.state, self.registers.masks(lanes)
        vectors = np.flatnonzero(masks)
        entries = state.free
        entries.part(len(vectors))[:] = vectors << 32 | masks[vectors]
        state.free += len(vectors)
        none = s.GroupNode(state, 0)
        node = new(state, kind, self._place(pc), entries, len(vectors), int(lanes.sum()), none)
        node.turns = turns
        if parent is not None:
            node.parent = self._join(parent)
            node.parent.children += 1
        return node

    def _join(self, join: Join) -> s.GroupNode:
        """The node of a join."""
        found = self.of_join.get(id(join))
        if found is not None:
            return found
        node = self._node(s.IS_JOIN, join.pc, self.belonging[id(join)], join.group.turns, join.group.parent)
        node.yields = join.node_waits
        self.of_join[id(join)] = node
        if join.arrived:
            self._registers(join.group, join.pc, self._lanes_at(join), join.pending)
        return node

    def _group(self, g: Group, kind: int) -> s.GroupNode:
        lanes = self._lanes(g)
        self._registers(g, g.pc, lanes, {})
        return self._node(kind, g.pc, lanes, g.turns, g.parent)

    def _waiting(self, g: Group) -> s.GroupNode:
        state, wait = self.state, g.blocked
        segment = self.given.blocked[id(g)]
        row = next(r for r in reversed(self.program.cut.rows) if r.segment == segment)
        node = self._group(g, s.IS_AT_BARRIER if isinstance(wait, BarrierWait) else s.IS_AT_SYNC)
        node.row = state.rows[row.number]
        if isinstance(wait, BarrierWait):
            entries = node.entries.part(node.count)
            passed = wait.done[(entries >> 32) // self.registers.each]
            entries[passed] |= s.PASSED
            node.number, node.left = wait.state.number, int((~passed).sum())
        return node

    def _barrier(self, number: int, arrived: Array, wanted: Array) -> None:
        state, masks = self.state, self.registers.masks(arrived)
        (state.arrived + number * state.per_wave * self.registers.each).part(len(masks))[:] = masks
        (state.wanted + number * state.per_wave).part(len(wanted))[:] = wanted
        state.pending[number] = 1

    # ------------------------------------------------------------ lanes and registers

    def _lanes(self, g: Group) -> Array:
        """The living lanes of a group among those of the wave."""
        out: Array = np.zeros_like(self.living)
        out[g.geometry.block, g.geometry.thread] = True if g.alive is None else g.alive
        out &= self.living
        return out

    def _lanes_at(self, join: Join) -> Array:
        """The living lanes that have come to a join."""
        here = np.zeros(join.group.geometry.shape, bool)
        for selection in join.arrivals:
            selection.put(here, np.ones((1, 1), bool))
        if join.arrived == join.group.geometry.n:
            here[...] = True
        out: Array = np.zeros_like(self.living)
        out[join.group.geometry.block, join.group.geometry.thread] = here
        out &= self.living
        return out

    def _registers(self, g: Group, pc: int, lanes: Array, newer: dict[int, Array]) -> None:
        """What lanes of a group hold that is alive at a place; `newer` is what some have that the group has not."""
        if pc == P.EXIT or not lanes.any():
            return
        row, carry = self.program.cut.rows[self.program.cut.first[pc]], self.program.frame.carry
        for slot in slots_of(row.live):
            value = g.carry() if slot == carry else newer[slot] if slot in newer else g.fetch_or_none(slot)
            if value is not None:
                kind = VARYING if slot == carry else kind_in(row.kinds, slot)
                self.registers.put_lanes(slot, kind, value, g.geometry, lanes)


def _joins(g: Group) -> Iterable[Join]:
    """Where a group's lanes meet others, from the nearest place on."""
    join = g.parent
    while join is not None:
        yield join
        join = join.group.parent
