"""What compiled code leaves to numpy: single rows of its program, and waves that it cannot go on with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.ports import NotYet

from ..faults import ExecutionError
from ..launch import CHECK_EVERY
from ..memory.spaces import SharedSpace
from ..plan.uses import slots_of
from ..poison import Poison
from ..vector.explain import explain
from ..vector.group import Activation, Group
from .cut import Row
from .lane_lists import ListedLanes
from .schedule.scheduler import forget_waiting
from .taking_over import NumpyWave
from .uniformity import VARYING, kind_in
from .wave import NativeWave

Array = NDArray[Any]


class Fallback:
    """The numpy engine's view of the wave that compiled code runs."""

    def __init__(self, native: NativeWave) -> None:
        self.native, self.launch, self.program, self.state, self.registers = (
            native,
            native.launch,
            native.program,
            native.state,
            native.registers,
        )

    @property
    def wave(self) -> Any:
        """The wave that runs; its shared memory and its stacks are those of compiled code."""
        native, first, count = self.native, self.native.first_block, self.state.wave_blocks
        if native.numpy is None or native.numpy.first != first:
            self.check_leaks()
            wave = native.numpy = native.make_wave(first, count, self._shared)
            wave.ready.clear()
            wave.poison = wave.local.poison = self.native.poison or self._poison()
            if native.stack:
                wave.local.words, wave.local.top = self._stacks, native.stack
        return native.numpy

    @property
    def _shared(self) -> Array:
        """The shared memory of the wave that runs."""
        return self.native.shared[: self.state.wave_blocks * self.native.stride + 16]

    @property
    def _stacks(self) -> Array:
        """The stacks of its lanes, as numpy has them."""
        lanes = self.state.wave_blocks * self.launch.threads
        return self.native.local[: lanes * self.native.stack].view(np.uint32).reshape(-1, lanes)

    def _poison(self) -> Poison | None:
        """That of the wave that runs, before anything holds it."""
        seed = self.launch.options.poison
        return None if seed is None else Poison(seed, self.launch.number, self.native.first_block)

    def check_leaks(self) -> None:
        """What a wave must not leave behind when it has ended."""
        wave, self.native.numpy = self.native.numpy, None
        if wave is not None:
            wave.check_leaks()

    @property
    def row(self) -> Row:
        """The row that the group stands before."""
        return self.program.cut.rows[self.state.running.pc]

    # ------------------------------------------------------------ single rows

    @np.errstate(all="ignore")
    def poison(self) -> None:
        """Memory of a wave that begins, and registers that are read before they are written, hold poison."""
        native, launch, row, count = self.native, self.launch, self.program.cut.rows[0], self.state.wave_blocks
        poison = native.poison = self._poison()
        assert poison is not None
        SharedSpace(count, launch.shared_bytes, memory=self._shared).poison_with(poison, launch.kernel.reserved_shared)
        if native.stack:
            poison.fill(self._stacks)
        zeros = self.program.plan.zeros
        if zeros:
            registers, lanes = self.program.function.entry_registers(poison, (count, launch.threads)), self.registers.all_of(count)
            for slot in zeros:
                self.registers.put(slot, kind_in(row.kinds, slot), registers[slot], lanes)

    @np.errstate(all="ignore")
    def run_row(self, entries: Array) -> bool:
        """Runs a row's operations for the lanes of a list; False if lanes have to wait for others, there or in a function that it calls."""
        callout = self.program.callout(self.state.running.pc)
        row, registers, wave = callout.row, self.registers, self.wave
        if callout.arrives_at_cluster:
            self.tell_exited()
            self.tell_clusters()
            self.state.cluster_apart = 1
        lanes = registers.listed(entries, wave.count)
        g = self._group(lanes, row, callout.live if wave.observers or callout.calls else callout.reads)
        if callout.pointer is not None and not all(map(self.program.returns, np.unique(callout.pointer(g.R)).tolist())):
            return False
        for opcode in callout.opcodes:
            self.launch.used.leave(opcode)
        code = g.act.function.segments[row.segment]
        step: Any = None
        try:
            for step in code.steps[row.first : row.last]:
                step(g.R)
            step = None
            if callout.calls and code.terminate(g) is None and not self._has_returned(g):
                return False
        except NotYet:
            return False  # its segment begins with it
        except ExecutionError as e:
            explain(e, g, code, step)
            raise
        for slot, kind in callout.results:
            if g.R[slot] is not None:
                registers.put(slot, kind, g.R[slot], lanes)
        if g.cc is not None:
            registers.put(self.program.frame.carry, VARYING, g.cc, lanes)
        self.state.running.turns += g.turns  # what paused counts as turns
        self.state.running.pc += 1
        return True

    def _has_returned(self, g: Group) -> bool:
        """Numpy executes the function that a group has called; False if lanes only spin there."""
        wave, native, launch = self.wave, self.native, self.launch
        wave.segments_run = (launch.steps + 1) % CHECK_EVERY  # the one that ends in the call is counted when it is left
        launch.steps += 1 - wave.segments_run
        while wave.ready and wave.ready[-1] is not g:
            wave.advance(wave.ready.pop())
        launch.steps += wave.segments_run % CHECK_EVERY - 1
        wave.segments_run = 0
        native.grant()
        if native.stack and len(wave.local.words) * 4 > native.stack:  # the stack has grown
            native.use(native.shared, wave.local.words.reshape(-1).view(np.uint8))
            native.reusable = False
        if not wave.ready:
            return False
        wave.ready.pop()
        return True

    def tell_exited(self) -> None:
        """Numpy's view knows which lanes have ended."""
        wave, state = self.wave, self.state
        wave.exited[...] = ~self.registers.lanes(state.alive.part(wave.count * self.registers.each), wave.count)
        wave.exited_count = int(np.count_nonzero(wave.exited))

    def tell_clusters(self) -> None:
        """Numpy's view knows whether all lanes have arrived at the barriers of their clusters."""
        state, barriers = self.state, self.wave.barriers
        if state.cluster_arrived and not state.cluster_apart:
            barriers.cluster_seen[...] = barriers.cluster_phase[:, None]
            barriers.cluster_phase += 1

    @property
    def ended_by(self) -> str:
        """The instruction that ends the segment at which the group stands."""
        site = self.program.plan.segments[self.row.segment].site
        return site.instruction.opcode if site else "ret"

    def where(self) -> str:
        """What the wave executes."""
        site = self.program.plan.segments[self.row.segment].first_site
        return self.launch.place_of(site) if site else f"the end of {self.program.plan.name}"

    def group(self, entries: Array, row: Row, registers: bool = True) -> Group:
        """The lanes of a list as a group in front of a row, perhaps with its registers."""
        return self._group(self.registers.listed(entries, self.wave.count), row, slots_of(row.live if registers else 0))

    def _group(self, lanes: ListedLanes, row: Row, slots: Sequence[int]) -> Group:
        wave, frame = self.wave, self.program.frame
        function = self.program.observed if wave.observers else self.program.function
        g = Group(wave, lanes.geometry, Activation(function, frame.start, None), function.fresh_registers(), row.segment)
        for slot in slots:
            value = self.registers.get(slot, kind_in(row.kinds, slot), lanes)
            if slot == frame.carry:
                g.cc = value
            else:
                g.R[slot] = value
        return g

    # ------------------------------------------------------------ waves

    @np.errstate(all="ignore")
    def take_over(self, given: NumpyWave) -> None:
        """A wave that numpy began is the one that is under way, in its own memory."""
        state, native, launch, wave = self.state, self.native, self.launch, given.wave
        native.fill(wave.first, least=wave.count)
        native.reusable = False
        if native.stack:
            wave.local.grow(native.stack)  # the frames of calls are inlined
        native.use(wave.shared.bytes, wave.local.words)
        state.first_block, state.wave_blocks, state.under_way = wave.first - native.chunk, wave.count, 1
        state.local_stride = wave.count * launch.threads
        state.running.count = 0
        forget_waiting(state)
        state.cluster_arrived = given.is_past_clusters
        given.give(state, self.registers)
        native.numpy = wave
        launch.steps += wave.segments_run % CHECK_EVERY
        wave.segments_run = 0
        state.counted = launch.steps
