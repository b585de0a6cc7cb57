"""Groups that wait or are ready when compiled code leaves a wave to numpy, as numpy has them."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..faults import ExecutionError
from ..plan import plan as P
from ..vector.convergence import go
from ..vector.explain import explain
from ..vector.group import Group
from ..vector.steps.ends import result_of
from ..vector.steps.operands import get_of
from ..vector.waiting.barriers import BarrierWait, NumberedBarrier
from .fallback import Fallback
from .schedule import layout as s

Array = NDArray[Any]


@np.errstate(all="ignore")
def handed_over(fallback: Fallback) -> Any:
    """The wave, with groups in the place of the scheduler's nodes: numpy goes on with it."""
    running, wave, row = fallback.state.running, fallback.wave, fallback.row
    waiting = wave.waiting
    inside = waiting.spinning, waiting.blocked  # lanes of the group that runs, in a function that numpy has called
    waiting.spinning, waiting.blocked = [], []
    SuspendedGroups(fallback, wave).hand_over()
    waiting.spinning += inside[0]
    waiting.blocked += inside[1]
    fallback.tell_clusters()
    if running.count and not any(inside):
        g = fallback.group(running.entries.part(running.count), row)
        g.turns = running.turns
        if row.kind in (s.RUN, s.CALLOUT, s.REGION):
            wave.ready.append(g)
        else:
            _end_segment(g)
    fallback.native.numpy = None
    return wave


def _end_segment(g: Group) -> None:
    """What a segment does at its end, for a group that has run its operations."""
    segment = g.act.function.segments[g.pc]
    try:
        following = segment.terminate(g)
    except ExecutionError as e:
        explain(e, g, segment, None)
        raise
    if following is not None:
        g.pc = following
        go(g)


class SuspendedGroups:
    """The nodes of the scheduler.  Numpy needs no joins: lanes that have come to one are a group that is ready there."""

    def __init__(self, fallback: Fallback, wave: Any) -> None:
        self.fallback = fallback
        self.state = fallback.state
        self.wave = wave
        self.vectors = wave.count * fallback.registers.each
        self.alive = self.state.alive.part(self.vectors)
        self.nodes = [node for n in range(self.state.high) if (node := self.state.nodes[n]).state != s.IS_UNUSED]

    def hand_over(self) -> None:
        """Gives the wave its groups, all but the one that runs."""
        state, wave = self.state, self.wave
        arrived = [(join.pc, self._arrived(join)) for join in self.nodes if join.state == s.IS_JOIN]
        self.fallback.tell_exited()
        barriers = {n: self._barrier(n) for n in range(s.BARRIERS) if state.pending[n]}
        wave.barriers.numbered.update(barriers)
        for pc, entries in arrived:
            if pc != s.END and len(entries):
                wave.ready.append(self._group(entries, pc))
        wave.ready += map(self._group_of, state.ready[: state.ready_count])
        wave.waiting.spinning += map(self._group_of, state.spinning[: state.spinning_count])
        for node in state.blocked[: state.blocked_count]:
            self._block(node, barriers)
        segment_of = [row.segment for row in self.fallback.program.cut.rows]
        for at in np.flatnonzero(state.unmet.part(state.row_count + 1)).tolist():
            wave.waiting.joins_not_waited_for.add((self.fallback.program.function.name, segment_of[at - 1] if at else P.EXIT))
        for pc, entries in arrived:
            if pc == s.END and len(entries):
                go(self._group(entries, pc))

    def _arrived(self, join: s.GroupNode) -> Array:
        """The lanes that wait at a join."""
        masks = np.zeros(self.vectors, np.int64)
        entries = join.entries.part(join.count)
        masks[entries >> 32] = entries & 0xFFFFFFFF
        masks &= self.alive
        for node in (*self.nodes, self.state.running):
            if node.parent == join:
                entries = node.entries.part(node.count)
                masks[entries >> 32 & 0x3FFFFFFF] &= ~(entries & 0xFFFFFFFF)
        vectors = np.flatnonzero(masks)
        return vectors << 32 | masks[vectors]

    def _group_of(self, node: s.GroupNode) -> Group:
        g = self._group(node.entries.part(node.count), node.pc)
        g.turns = node.turns
        return g

    def _group(self, entries: Array, pc: int) -> Group:
        """Lanes at a place."""
        rows = self.fallback.program.cut.rows
        g = self.fallback.group(entries, rows[pc], pc != s.END)
        if pc == s.END:
            g.pc = P.EXIT
        return g

    def _barrier(self, number: int) -> NumberedBarrier:
        """Who has arrived at a barrier."""
        state, wave, registers = self.state, self.wave, self.fallback.registers
        out = NumberedBarrier(number, wave.exited.shape)
        first = number * state.per_wave * registers.each
        out.arrived = registers.lanes((state.arrived + first).part(self.vectors), wave.count)
        out.wanted = (state.wanted + number * state.per_wave).part(wave.count).copy()
        how = state.reduces[number]
        if how:
            out.op = {s.BY_POPC: "popc", s.BY_AND: "and", s.BY_OR: "or"}[how]
            out.values = registers.lanes((state.holds + first).part(self.vectors), wave.count)
        return out

    def _block(self, node: s.GroupNode, barriers: dict[int, NumberedBarrier]) -> None:
        """A group that waits; those of its blocks that have passed their barrier are ready."""
        wave, entries, pc = self.wave, node.entries.part(node.count), node.pc
        row = self.fallback.program.cut.rows[(node.row.at - index(self.state.rows)) // s.RowRecord.SIZE]
        end = self.fallback.program.plan.segments[row.segment].end
        if isinstance(end, P.Sync):
            g = self.fallback.group(entries, row)
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
            barrier = barriers[node.number]
            g.blocked = BarrierWait(barrier, end.past, wave.count, None if end.reduction is None else result_of(end.reduction))
            barrier.waiting.append(g)
            wave.waiting.blocked.append(g)
