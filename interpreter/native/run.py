"""Runs a wave with compiled code: memory for the scheduler, and the ways to numpy and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Selection
from ..faults import ExecutionError
from ..values import plain
from ..vector.convergence import go
from ..vector.explain import explain
from ..vector.group import Activation, Group
from . import scheduler as s
from .program import Program, Row
from .scheduling import scheduler
from .slots import written
from .variance import LANE, ONE

Array = NDArray[Any]
PATIENCE = 4096  # ends of segments between two looks at the limits
LISTS = 24  # lists of all vectors that there is room for


class NativeWave:
    """The memory of a wave as compiled code sees it."""

    def __init__(self, wave: Any, program: Program) -> None:
        self.wave = wave
        self.program = program
        self.frame = program.frame
        w = self.width = program.width
        self.threads = wave.launch.threads
        self.each = -(-self.threads // 32) * 32 // w  # vectors of a block
        self.vectors = wave.count * self.each
        self._lay_out()
        self._start()

    # ------------------------------------------------------------ memory

    def _lay_out(self) -> None:
        wave, frame, n = self.wave, self.frame, self.vectors
        launch = wave.launch
        rows = s.WORDS
        words = self.program.words(rows)
        stack = rows + len(words)
        alive = stack + s.NODE * s.NODES
        gone = alive + n
        lists = gone + n
        self.S = S = np.zeros(lists + LISTS * n, np.int64)
        S[rows:stack] = words
        bytes_ = frame.uniforms + n * frame.size + 128
        raw = np.zeros(bytes_, np.uint8)
        start = -raw.ctypes.data % 64
        self.memory = raw[start : start + bytes_ - 64]
        self.sites = np.zeros(2 * max(frame.sites, 1), np.int64)
        blocks, vectors = np.divmod(np.arange(n), self.each)
        self.block_of, self.thread_of = blocks.astype(np.int64), (vectors * self.width).astype(np.int64)
        self.tables = [self._table(name) for name in frame.specials]
        self.pointers = np.array([t.ctypes.data for t in self.tables] or [0], np.int64)
        arena = launch.arena
        self.allocations = np.array([(a.start, a.end, a.writable) for a in arena.living()], np.int64).reshape(-1, 3)
        S[s.HOST] = arena.host_address - arena.base
        S[s.TABLE], S[s.ENTRIES] = self.allocations.ctypes.data, len(self.allocations)
        S[s.SHARED], S[s.SHARED_STRIDE], S[s.SHARED_SIZE] = wave.shared.bytes.ctypes.data, wave.shared.stride, wave.shared.size
        S[s.PARAMETERS] = launch.parameters.ctypes.data
        S[s.UNIFORMS] = self.memory.ctypes.data
        S[s.FRAMES] = self.memory.ctypes.data + frame.uniforms
        S[s.SITES], S[s.BLOCK_OF], S[s.THREAD_OF] = self.sites.ctypes.data, self.block_of.ctypes.data, self.thread_of.ctypes.data
        S[s.SPECIALS] = self.pointers.ctypes.data
        S[s.ROWS], S[s.STACK], S[s.ALIVE], S[s.GONE], S[s.LISTS], S[s.ROOM] = rows, stack, alive, gone, lists, len(S)
        S[s.FRAME] = frame.size // 2

    def _table(self, name: str) -> Array:
        """The values of a special register."""
        wave = self.wave
        _, extent, dtype = self.frame.specials[name]
        g = Group(wave, wave.geometry, Activation(wave.code_of(wave.launch.kernel.function), 16, None), [None], 0)
        v = g.special(name).astype(dtype)
        if extent == "one":
            return v.reshape(1)
        if extent == "block":
            return np.ascontiguousarray(np.broadcast_to(v, (wave.count, 1)).ravel())
        out = np.zeros(self.each * self.width, dtype)
        out[: self.threads] = v.ravel()
        return out

    def _start(self) -> None:
        """All lanes, at the first row."""
        S = self.S
        lanes = np.arange(self.each * self.width).reshape(self.each, self.width) < self.threads
        masks = (lanes @ (1 << np.arange(self.width, dtype=np.int64))).astype(np.int64)
        whole = np.tile(masks, self.wave.count)
        S[S[s.ALIVE] : S[s.ALIVE] + self.vectors] = whole
        entries = (np.arange(self.vectors, dtype=np.int64) << 32 | whole)[whole != 0]
        at = S[s.LIST] = S[s.LISTS]
        S[at : at + len(entries)] = entries
        S[s.COUNT], S[s.LANES], S[s.LIVING] = len(entries), self.wave.count * self.threads, self.wave.count * self.threads
        S[s.PC], S[s.STOP], S[s.TICK] = 0, s.NOWHERE, PATIENCE
        plan = self.program.plan
        registers = self.wave.code_of(plan.function).entry_registers(self.wave.rubbish, self.wave.geometry.shape)
        row = self.program.rows[0]
        for slot in plan.zeros:
            self._put(slot, row.kinds.get(slot, ONE), registers[slot], None)

    # ------------------------------------------------------------ running

    def run(self) -> bool:
        """Runs until all lanes have ended (True), or until numpy has to go on from where they stand (False)."""
        S, launch = self.S, self.wave.launch
        run = scheduler()
        words, halves = S.ctypes.data, self.memory.ctypes.data
        while True:
            code = run(words, halves)
            if code == s.ASKED:
                self._with_numpy(S[s.LIST], S[s.COUNT])
            elif code == s.FAULT:
                self._failed()
            elif code == s.PAUSE:
                self.wave.segments_run += int(S[s.STEPS])
                launch.check_limits(int(S[s.STEPS]), self._where)
                S[s.STEPS] = 0
            elif code == s.TURNED and S[s.DEPTH] == 0 and not launch.has_more_waves:
                S[s.TURN] = 0
            elif code == s.DONE:
                self.wave.segments_run += int(S[s.STEPS])
                launch.check_limits(int(S[s.STEPS]), self._where)
                self.wave.exited[...] = True
                self.wave.exited_count = self.wave.exited.size
                return True
            else:
                self._hand_over()
                return False

    def _where(self) -> str:
        segment = self.program.plan.segments[self.program.rows[self.S[s.PC]].segment]
        site = segment.first_site
        return f"line {site.instruction.span.line}" if site else f"the end of {self.program.plan.name}"

    @property
    def row(self) -> Row:
        """The row that the group stands before."""
        return self.program.rows[int(self.S[s.PC])]

    def _failed(self) -> None:
        """An access of a pass is not plainly legal: numpy runs the pass for the vectors that have not."""
        S = self.S
        S[s.STATUS] = 0
        k = S[s.FAILED]
        self._with_numpy(S[s.LIST] + k, S[s.COUNT] - k)

    def _with_numpy(self, at: int, count: int) -> None:
        """Runs a row's operations for the lanes of a list."""
        row = self.row
        segment = self.program.plan.segments[row.segment]
        ops = segment.ops[row.first : row.last]
        g, selection = self._group(self.S[at : at + count], row)
        R = g.R
        for slot in _slots(row.live):
            R[slot] = self._get(slot, row.kinds.get(slot, ONE), selection)
        code = self.wave.code_of(self.program.plan.function).segments[row.segment]
        single: Any = None
        try:
            for single in code.steps[row.first : row.last]:
                single(R)
        except ExecutionError as e:
            explain(e, g, code, single)
            raise
        kinds = self.program.needed(row)
        for slot in dict.fromkeys(x for op in ops for x in written(op)):
            for kind in kinds.get(slot, ()):
                if R[slot] is not None:
                    self._put(slot, kind, R[slot], selection)
        self.S[s.PC] += 1

    # ------------------------------------------------------------ registers

    def _group(self, entries: Array, row: Row) -> tuple[Group, Selection | None]:
        """The lanes of a list as a group, with registers to be filled; None: all lanes of the wave."""
        wave = self.wave
        act = Activation(wave.code_of(self.program.plan.function), 16, None)
        selection = self._selection(entries)
        geometry = wave.geometry if selection is None else wave.geometry.select(selection)
        return Group(wave, geometry, act, act.function.fresh_registers(), row.segment), selection

    def _selection(self, entries: Array) -> Selection | None:
        masks = np.zeros(self.vectors, np.uint16)
        masks[entries >> 32] = entries & 0xFFFF
        lanes = np.unpackbits(masks.view(np.uint8), bitorder="little").reshape(self.wave.count, -1)[:, : self.threads].view(np.bool_)
        if lanes.all():
            return None
        if (whole := lanes.all(axis=1)).any() and (lanes.any(axis=1) == whole).all():
            return Selection.of(whole[:, None], self.wave.geometry.shape)
        if (lanes == lanes[:1]).all():
            return Selection.of(lanes[:1], self.wave.geometry.shape)
        return Selection.of(lanes, self.wave.geometry.shape)

    def _lanes_of(self, slot: int) -> Array:
        """A register of all lanes, (blocks, threads rounded up), as it lies in the frames."""
        dtype, w = self.frame.dtypes[slot], self.width
        at = self.frame.uniforms + self.frame.offsets[slot]
        frames = self.memory[at:]
        kept = np.dtype(np.uint16) if dtype.kind == "b" else dtype
        lanes = 1 if dtype.kind == "b" else w
        return np.ndarray((self.wave.count, self.each, lanes), kept, frames.data, 0, (self.each * self.frame.size, self.frame.size, kept.itemsize))

    def _get(self, slot: int, kind: int, selection: Selection | None) -> Array:
        """A register's value, as numpy takes it."""
        dtype = self.frame.dtypes[slot]
        if kind == ONE:
            raw = self.memory[8 * slot : 8 * slot + 8]
            return (raw[:1] & 1).view(np.bool_).reshape(1, 1).copy() if dtype.kind == "b" else raw[: dtype.itemsize].copy().view(dtype).reshape(1, 1)
        v = np.ascontiguousarray(self._lanes_of(slot))
        if dtype.kind == "b":
            v = np.unpackbits(v.view(np.uint8), bitorder="little").view(np.bool_)
        v = np.ascontiguousarray(v.reshape(self.wave.count, -1)[:, : self.threads])
        return v if selection is None else selection.take_array(v)

    def _put(self, slot: int, kind: int, value: Any, selection: Selection | None) -> None:
        """What numpy has found for some lanes."""
        dtype, v = self.frame.dtypes[slot], plain(value)
        v = v if v.dtype == dtype else v.view(dtype)
        if kind == ONE:
            self.memory[8 * slot : 8 * slot + dtype.itemsize] = v.ravel()[:1].view(np.uint8)
            return
        whole = np.zeros((self.wave.count, self.each * self.width), dtype)
        part = whole[:, : self.threads]
        if selection is None:
            part[...] = v
        else:
            part[...] = self._get(slot, LANE, None)
            own = np.ascontiguousarray(part)
            selection.put(own, v)
            part[...] = own
        target = self._lanes_of(slot)
        if dtype.kind == "b":
            target[...] = np.packbits(whole.reshape(self.wave.count, -1), axis=1, bitorder="little").view(np.uint16).reshape(target.shape)
        else:
            target[...] = whole.reshape(target.shape)

    # ------------------------------------------------------------ to numpy for good

    def _hand_over(self) -> None:
        """Numpy's groups and joins in the place of the scheduler's."""
        S, wave = self.S, self.wave
        wave.segments_run += int(S[s.STEPS])
        living = self._living()
        wave.exited[...] = ~living
        wave.exited_count = int(np.count_nonzero(wave.exited))
        wave.ready.clear()
        groups: list[tuple[Array, int]] = []
        for n in range(int(S[s.DEPTH])):
            node = S[s.STACK] + n * s.NODE
            at, count = int(S[node + s.NODE_LIST]), int(S[node + s.NODE_COUNT])
            groups.append((S[at : at + count].copy(), int(S[node + s.NODE_PC])))
        at, count = int(S[s.LIST]), int(S[s.COUNT])
        groups.append((S[at : at + count].copy(), int(S[s.PC])))
        at_end = self.row.kind not in (s.RUN, s.CALLOUT)
        taken = np.zeros(self.vectors, np.int64)
        ready = []
        for entries, pc in reversed(groups):  # lanes at a join are those of no group above it
            vectors = entries >> 32
            masks = entries & 0xFFFF & ~taken[vectors] & S[S[s.ALIVE] : S[s.ALIVE] + self.vectors][vectors]
            taken[vectors] |= masks
            left = (vectors << 32 | masks)[masks != 0]
            if len(left) and pc >= 0:
                row = self.program.rows[pc]
                g, selection = self._group(left, row)
                for slot in _slots(row.live):
                    g.R[slot] = self._get(slot, row.kinds.get(slot, ONE), selection)
                ready.append(g)
        wave.ready.extend(reversed(ready))
        if at_end and ready:
            self._end_segment(wave.ready.pop())

    def _end_segment(self, g: Group) -> None:
        """What a segment does at its end, whose operations have run."""
        segment = g.act.function.segments[g.pc]
        try:
            following = segment.terminate(g)
        except ExecutionError as e:
            explain(e, g, segment, None)
            raise
        if following is not None:
            g.pc = following
            go(g)

    def _living(self) -> Array:
        S = self.S
        masks = S[S[s.ALIVE] : S[s.ALIVE] + self.vectors].astype(np.uint16)
        return np.unpackbits(masks.view(np.uint8), bitorder="little").reshape(self.wave.count, -1)[:, : self.threads].view(np.bool_)


def _slots(mask: int) -> list[int]:
    return [n for n in range(mask.bit_length()) if mask >> n & 1]


