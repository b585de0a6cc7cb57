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
from .schedule import words as s
from .uniformity import UNIFORM, VARYING

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
        if any(n < 0 for n in self.blocked.values()) or any(
            b.values is not None and b.arrived.any() for b in self.wave.barriers.numbered.values()
        ):
            return "waiting"
        return "lanes wait" if any(isinstance(g.blocked, LanesWait) for g in self.wave.waiting.blocked) else ""

    def _end_behind(self, g: Group) -> int:
        """The segment at whose end a group waits; -1 if that can't be told."""
        kind = P.Barrier if isinstance(g.blocked, BarrierWait) else P.Sync if isinstance(g.blocked, LanesWait) else ()
        found = [n for n, x in enumerate(self.program.plan.segments) if isinstance(x.end, kind) and x.end.past == g.pc]
        return found[0] if len(found) == 1 else -1

    def give(self, S: Array, registers: NativeRegisters) -> None:
        """Writes it as the wave that is under way, of which no group runs."""
        Nodes(self, S, registers).write()
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

    def __init__(self, given: NumpyWave, S: Array, registers: NativeRegisters) -> None:
        self.given, self.S, self.registers = given, S, registers
        self.program, self.wave = given.program, given.wave
        self.living = ~self.wave.exited
        self.of_join: dict[int, int] = {}
        self.belonging = {
            key: self._lanes_at(join) for key, join in given.joins.items()
        }  # to each join: who has come there, and who may come
        below = [(self._lanes(g), g) for g in given.groups] + [(self._lanes_at(join), join.group) for join in given.joins.values()]
        for lanes, g in below:
            for join in _joins(g):
                self.belonging[id(join)] |= lanes

    def write(self) -> None:
        """All nodes, lists, barriers and registers."""
        S, wave, waiting = self.S, self.wave, self.wave.waiting
        masks = self.registers.masks(self.living)
        S[S[s.ALIVE] : S[s.ALIVE] + len(masks)] = masks
        S[s.LIVING] = int(self.living.sum())
        S[s.FREE] = S[s.LISTS]
        for g in wave.ready:
            self._list(self._group(g, s.IS_READY), s.READY_AT, s.READY)
        for g in waiting.spinning:
            self._list(self._group(g, s.IS_SPINNING), s.SPINNING_AT, s.SPINNING)
        for g in waiting.blocked:
            self._list(self._waiting(g), s.BLOCKED_AT, s.BLOCKED)
        for number, barrier in wave.barriers.numbered.items():
            if barrier.arrived.any():
                self._barrier(number, barrier.arrived, barrier.wanted)
        for name, pc in waiting.joins_not_waited_for:
            if name == self.program.function.name:
                S[s.ANY_UNMET] = 1
                S[S[s.UNMET] + self._place(pc) + 1] = 1

    def _place(self, pc: int) -> int:
        return s.END if pc == P.EXIT else self.program.first[pc]

    def _list(self, node: int, at: int, count: int) -> None:
        self.S[self.S[at] + self.S[count]] = node
        self.S[count] += 1

    # ------------------------------------------------------------ nodes

    def _node(self, state: int, pc: int, lanes: Array, turns: int, parent: Join | None) -> int:
        S = self.S
        node = int(S[s.NODES_AT] + S[s.HIGH] * s.NODE)
        S[s.HIGH] += 1
        S[s.USED] += 1
        masks = self.registers.masks(lanes)
        vectors = np.flatnonzero(masks)
        at = int(S[s.FREE])
        S[at : at + len(vectors)] = vectors << 32 | masks[vectors]
        S[s.FREE] += len(vectors)
        words = S[node : node + s.NODE]
        words[:] = 0
        words[[s.STATE, s.NODE_PC, s.NODE_LIST, s.NODE_COUNT]] = state, self._place(pc), at, len(vectors)
        words[[s.NODE_LANES, s.NODE_TURN]] = int(lanes.sum()), turns
        if parent is not None:
            words[s.NODE_PARENT] = above = self._join(parent)
            S[above + s.CHILDREN] += 1
        return node

    def _join(self, join: Join) -> int:
        """The node of a join."""
        found = self.of_join.get(id(join))
        if found is not None:
            return found
        node = self._node(s.IS_JOIN, join.pc, self.belonging[id(join)], join.group.turns, join.group.parent)
        self.S[node + s.YIELDS] = join.node_waits
        self.of_join[id(join)] = node
        if join.arrived:
            self._registers(join.group, join.pc, self._lanes_at(join), join.pending)
        return node

    def _group(self, g: Group, state: int) -> int:
        lanes = self._lanes(g)
        self._registers(g, g.pc, lanes, {})
        return self._node(state, g.pc, lanes, g.turns, g.parent)

    def _waiting(self, g: Group) -> int:
        S, wait = self.S, g.blocked
        segment = self.given.blocked[id(g)]
        row = next(r for r in reversed(self.program.rows) if r.segment == segment)
        barrier = isinstance(wait, BarrierWait)
        node = self._group(g, s.IS_AT_BARRIER if barrier else s.IS_AT_SYNC)
        S[node + s.NODE_ROW] = S[s.ROWS] + row.number * s.ROW
        if isinstance(wait, BarrierWait):
            entries = S[S[node + s.NODE_LIST] :][: S[node + s.NODE_COUNT]]
            passed = wait.done[(entries >> 32) // self.registers.each]
            entries[passed] |= s.PASSED
            S[node + s.NODE_NUMBER], S[node + s.LEFT] = wait.state.number, int((~passed).sum())
        return node

    def _barrier(self, number: int, arrived: Array, wanted: Array) -> None:
        S, per_wave = self.S, int(self.S[s.PER_WAVE])
        masks = self.registers.masks(arrived)
        at = int(S[s.ARRIVED]) + number * per_wave * self.registers.each
        S[at : at + len(masks)] = masks
        at = int(S[s.WANTED]) + number * per_wave
        S[at : at + len(wanted)] = wanted
        S[s.PENDING + number] = 1

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
        row, carry = self.program.rows[self.program.first[pc]], self.program.frame.carry
        for slot in slots_of(row.live):
            value = g.carry() if slot == carry else newer[slot] if slot in newer else g.fetch_or_none(slot)
            if value is not None:
                kind = VARYING if slot == carry else row.kinds.get(slot, UNIFORM)
                self.registers.put_lanes(slot, kind, value, g.geometry, lanes)


def _joins(g: Group) -> Iterable[Join]:
    """Where a group's lanes meet others, from the nearest place on."""
    join = g.parent
    while join is not None:
        yield join
        join = join.group.parent
