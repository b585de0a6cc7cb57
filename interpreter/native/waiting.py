"""Groups that wait or are ready when compiled code leaves a wave to numpy, as numpy has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..plan import plan as P
from ..vector.convergence import go
from ..vector.group import Group
from ..vector.steps.ends import result_of
from ..vector.steps.operands import get_of
from ..vector.waiting.barriers import BarrierWait, NumberedBarrier
from .schedule import words as s

if TYPE_CHECKING:
    from .fallback import Fallback

Array = NDArray[Any]


class SuspendedGroups:
    """The nodes of the scheduler.  Numpy needs no joins: lanes that have come to one are a group that is ready there."""

    def __init__(self, fallback: Fallback, wave: Any) -> None:
        self.fallback = fallback
        self.S = fallback.S
        self.wave = wave
        self.vectors = wave.count * fallback.registers.each
        self.alive = self.S[self.S[s.ALIVE] :][: self.vectors]
        nodes = self.S[self.S[s.NODES_AT] :][: int(self.S[s.HIGH]) * s.NODE].reshape(-1, s.NODE)
        self.nodes = {int(self.S[s.NODES_AT]) + n * s.NODE: node for n, node in enumerate(nodes) if node[s.STATE] != s.IS_UNUSED}

    def hand_over(self) -> None:
        """Gives the wave its groups, all but the one that runs."""
        S, wave = self.S, self.wave
        arrived = [(int(join[s.NODE_PC]), self._arrived(at, join)) for at, join in self.nodes.items() if join[s.STATE] == s.IS_JOIN]
        wave.exited[...] = ~self.fallback.registers.lanes(self.alive, wave.count)
        wave.exited_count = int(np.count_nonzero(wave.exited))
        states = {n: self._state(n) for n in range(s.BARRIERS) if S[s.PENDING + n]}
        wave.barriers.numbered.update(states)
        for pc, entries in arrived:
            if pc != s.END and len(entries):
                wave.ready.append(self._group(entries, pc))
        for node in self._listed(s.READY_AT, s.READY):
            wave.ready.append(self._group_of(node))
        for node in self._listed(s.SPINNING_AT, s.SPINNING):
            wave.waiting.spinning.append(self._group_of(node))
        for node in self._listed(s.BLOCKED_AT, s.BLOCKED):
            self._block(node, states)
        segment_of = [row.segment for row in self.fallback.program.rows]
        for at in np.flatnonzero(S[S[s.UNMET] :][: S[s.ROW_COUNT] + 1]).tolist():
            wave.waiting.joins_not_waited_for.add((self.fallback.program.function.name, segment_of[at - 1] if at else P.EXIT))
        for pc, entries in arrived:
            if pc == s.END and len(entries):
                go(self._group(entries, pc))

    def _listed(self, at: int, count: int) -> list[Array]:
        return [self.nodes[n] for n in self.S[self.S[at] :][: self.S[count]].tolist()]

    def _entries(self, node: Array) -> Array:
        return self.S[node[s.NODE_LIST] :][: node[s.NODE_COUNT]]

    def _arrived(self, at: int, join: Array) -> Array:
        """The lanes that wait at a join."""
        masks = np.zeros(self.vectors, np.int64)
        entries = self._entries(join)
        masks[entries >> 32] = entries & 0xFFFFFFFF
        masks &= self.alive
        below = [node for node in self.nodes.values() if node[s.NODE_PARENT] == at]
        lists = [self._entries(node) for node in below] + ([self._entries(self.S[s.RUNNING :])] if self.S[s.PARENT] == at else [])
        for entries in lists:
            masks[entries >> 32 & 0x3FFFFFFF] &= ~(entries & 0xFFFFFFFF)
        vectors = np.flatnonzero(masks)
        return vectors << 32 | masks[vectors]

    def _group_of(self, node: Array) -> Group:
        g = self._group(self._entries(node), int(node[s.NODE_PC]))
        g.turns = int(node[s.NODE_TURN])
        return g

    def _group(self, entries: Array, pc: int) -> Group:
        """Lanes at a place."""
        rows = self.fallback.program.rows
        g, _ = self.fallback.group(entries, rows[pc], pc != s.END)
        if pc == s.END:
            g.pc = P.EXIT
        return g

    def _state(self, number: int) -> NumberedBarrier:
        """Who has arrived at a barrier."""
        S, wave, registers = self.S, self.wave, self.fallback.registers
        state = NumberedBarrier(number, wave.exited.shape)
        per_wave = int(S[s.PER_WAVE])
        place = number * per_wave * registers.each
        state.arrived = registers.lanes(S[S[s.ARRIVED] + place :][: self.vectors], wave.count)
        state.wanted = S[S[s.WANTED] + number * per_wave :][: wave.count].copy()
        how = int(S[S[s.REDUCES] + number])
        if how:
            state.op = {s.BY_POPC: "popc", s.BY_AND: "and", s.BY_OR: "or"}[how]
            state.values = registers.lanes(S[S[s.HOLDS] + place :][: self.vectors], wave.count)
        return state

    def _block(self, node: Array, states: dict[int, NumberedBarrier]) -> None:
        """A group that waits; those of its blocks that have passed their barrier are ready."""
        wave, entries, pc = self.wave, self._entries(node), int(node[s.NODE_PC])
        row = self.fallback.program.rows[(int(node[s.NODE_ROW]) - int(self.S[s.ROWS])) // s.ROW]
        end = self.fallback.program.plan.segments[row.segment].end
        if isinstance(end, P.Sync):
            g, _ = self.fallback.group(entries, row)
            if wave.waiting.wait_for_lanes(g, None if end.mask is None else get_of(end.mask)(g.R), end.past, end.key) is not None:
                wave.ready.append(self._group(entries, pc))
            return
        assert isinstance(end, P.Barrier)
        passed = entries[entries >= s.PASSED] & ~s.PASSED
        if len(passed):
            wave.ready.append(self._group(passed, pc))
        left = entries[entries < s.PASSED]
        if len(left):
            g = self._group(left, pc)
            state = states[int(node[s.NODE_NUMBER])]
            g.blocked = BarrierWait(state, end.past, wave.count, None if end.reduction is None else result_of(end.reduction))
            state.waiting.append(g)
            wave.waiting.blocked.append(g)
