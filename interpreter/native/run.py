"""Runs a launch with compiled code: memory for the scheduler, and the ways to numpy and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..faults import ExecutionError
from ..lanes import Geometry, Selection
from ..launch import Launch
from ..memory.spaces import shared_stride
from ..values import plain
from ..vector.convergence import go
from ..vector.explain import explain
from ..vector.group import Activation, Group
from ..vector.special import special
from . import scheduler as s
from .frame import STACK
from .program import Program, Row
from .scheduling import scheduler
from .slots import written
from .variance import LANE, ONE

Array = NDArray[Any]
import os
LOG = open(os.environ["NLOG"],"a") if "NLOG" in os.environ else None
PATIENCE = 4096  # ends of segments between two looks at the limits
LISTS = 24  # lists of all vectors that there is room for
CHUNK = 1 << 14  # blocks whose special registers are computed at once


class NativeLaunch:
    """The memory of a launch as compiled code sees it: it holds one wave at a time."""

    def __init__(self, launch: Launch, program: Program, make_wave: Callable[..., Any]) -> None:
        self.launch = launch
        self.program = program
        self.frame = program.frame
        self.make_wave = make_wave
        self.width = program.width
        self.threads = launch.threads
        self.each = -(-self.threads // 32) * 32 // self.width  # vectors of a block
        self.per_wave = min(launch.blocks_per_wave, launch.blocks)
        self._wave: Any = None  # as numpy sees it, where numpy has been asked
        self.chunk = 0  # the first block whose tables are there
        self._lay_out()
        self._fill(0)

    # ------------------------------------------------------------ memory

    def _lay_out(self) -> None:
        launch, frame, n = self.launch, self.frame, self.per_wave * self.each
        words = self.program.words(s.WORDS)
        places = np.cumsum([s.WORDS, len(words), s.NODE * s.NODES, n, n, self.each, LISTS * n]).tolist()
        self.S = S = np.zeros(places[-1], np.int64)
        S[s.ROWS], S[s.STACK], S[s.ALIVE], S[s.GONE], S[s.MASKS], S[s.LISTS], S[s.ROOM] = places
        S[places[0] : places[1]] = words
        lanes = np.arange(self.each * self.width).reshape(self.each, self.width) < self.threads
        S[places[4] : places[5]] = lanes @ (1 << np.arange(self.width, dtype=np.int64))
        self.memory = aligned(frame.uniforms + n * frame.size)
        self.stride = shared_stride(launch.shared_bytes)
        self.shared = aligned(self.per_wave * self.stride + 16)
        self.stack = STACK + self.program.plan.frame_size if self.program.plan.frame_size else 0
        self.local = aligned(self.per_wave * self.threads * self.stack)
        S[s.LOCAL], S[s.LOCAL_SIZE] = self.local.ctypes.data, self.stack
        self.sites = np.zeros(2 * max(frame.sites, 1), np.int64)
        block_of, thread_of = np.divmod(np.arange(n, dtype=np.int64), self.each)
        self.block_of, self.thread_of = block_of, thread_of * self.width
        self.pointers = np.zeros(max(len(frame.specials), 1), np.int64)
        S[s.HOST] = launch.arena.host_address - launch.arena.base
        self._look_at_allocations()
        S[s.SHARED], S[s.SHARED_STRIDE], S[s.SHARED_SIZE] = self.shared.ctypes.data, self.stride, launch.shared_bytes
        S[s.PARAMETERS] = launch.parameters.ctypes.data
        S[s.UNIFORMS], S[s.FRAMES] = self.memory.ctypes.data, self.memory.ctypes.data + frame.uniforms
        S[s.SITES], S[s.BLOCK_OF], S[s.THREAD_OF] = self.sites.ctypes.data, self.block_of.ctypes.data, self.thread_of.ctypes.data
        S[s.SPECIALS] = self.pointers.ctypes.data
        S[s.FRAME], S[s.EACH], S[s.BLOCK_LANES], S[s.PER_WAVE] = frame.size // 4, self.each, self.threads, self.per_wave
        S[s.TICK] = PATIENCE
        S[s.CLEARED] = bool(self.program.plan.zeros) or frame.carries
        S[s.STOPS] = launch.options.poison is not None

    def _look_at_allocations(self) -> None:
        """The allocations as they are now; what accesses remember of others is forgotten."""
        arena, S = self.launch.arena, self.S
        self.version = arena.version
        self.allocations = np.array([(a.start, a.end, a.writable) for a in arena.living()], np.int64).reshape(-1, 3)
        S[s.TABLE], S[s.ENTRIES] = self.allocations.ctypes.data, len(self.allocations)
        self.sites[:] = 0

    def _fill(self, first: int) -> None:
        """The special registers of the blocks from one on."""
        S, launch = self.S, self.launch
        self.chunk = first
        count = min(max(CHUNK // self.per_wave, 1) * self.per_wave, launch.blocks - first)
        S[s.NEXT_BLOCK], S[s.BLOCKS] = 0, count
        self.tables = [self._table(name, first, count) for name in self.frame.specials]
        self.pointers[: len(self.tables)] = [t.ctypes.data for t in self.tables]

    def _table(self, name: str, first: int, count: int) -> Array:
        _, extent, dtype = self.frame.specials[name]
        v = special(_Lanes(self.launch, first, count), name).astype(dtype)
        if extent == "one":
            return v.reshape(1)
        if extent == "block":
            return np.ascontiguousarray(np.broadcast_to(v, (count, 1)).ravel())
        out = np.zeros(self.each * self.width, dtype)
        out[: self.threads] = v.ravel()
        return out

    # ------------------------------------------------------------ running

    def next_wave(self) -> Any:
        """Runs the waves that have not begun; gives one that numpy has to go on with, None when all have ended."""
        S, launch = self.S, self.launch
        run, words, halves = scheduler(), self.S.ctypes.data, self.memory.ctypes.data
        S[s.NEXT_BLOCK] = launch.next_block - self.chunk
        while True:
            code = run(words, halves)
            launch.next_block = self.chunk + int(S[s.NEXT_BLOCK])
            if code == s.DONE and launch.next_block < launch.blocks:
                self._fill(launch.next_block)
            elif code == s.DONE:
                self._count_steps()
                return None
            elif code == s.BEGUN:
                self._poison()
            elif code == s.ASKED:
                if LOG: self._log()
                self._with_numpy(S[s.LIST], S[s.COUNT])
            elif code == s.FAULT:
                if LOG: LOG.write(f"FAULT {self._where()}\n"); LOG.flush()
                self._failed()
            elif code == s.PAUSE:
                self._count_steps()
            elif code == s.TURNED and S[s.DEPTH] == 0 and not launch.has_more_waves:
                S[s.TURN] = 0
            else:
                if LOG: LOG.write(f"OVER {code} {self._where()}\n"); LOG.flush()
                return self._hand_over()
            S[s.NEXT_BLOCK] = launch.next_block - self.chunk  # clusters may have been taken

    def _log(self):
        row=self.row; op=self.program.plan.segments[row.segment].ops[row.first]
        LOG.write("ASK "+op.how+" "+op.meaning.form.canonical+" "+str(op.meaning.access)+"\n"); LOG.flush()

    def _count_steps(self) -> None:
        steps = int(self.S[s.STEPS])
        self.S[s.STEPS] = 0
        self.launch.check_limits(steps, self._where)

    def _poison(self) -> None:
        """Registers that are read before they are written hold rubbish."""
        plan, wave = self.program.plan, self.wave
        registers = wave.code_of(plan.function).entry_registers(wave.rubbish, wave.geometry.shape)
        row = self.program.rows[0]
        for slot in plan.zeros:
            self._put(slot, row.kinds.get(slot, ONE), registers[slot], None)

    @property
    def wave(self) -> Any:
        """The wave as numpy sees it; its shared memory is that of compiled code."""
        launch = self.launch
        first, count = self.chunk + int(self.S[s.FIRST_BLOCK]), int(self.S[s.WAVE_BLOCKS])
        if self._wave is None or self._wave.first != first:
            if self._wave is not None:
                self._wave.check_leaks()
            self._wave = self.make_wave(self.launch, (), first, count, self.shared[: count * self.stride + 16])
            self._wave.ready.clear()
            if self.stack:
                words = self.local[: count * self.threads * self.stack].view(np.uint32).reshape(-1, count * self.threads)
                if launch.options.poison is not None:
                    words[...] = self._wave.local.words[: len(words)]
                self._wave.local.words = words
        return self._wave

    def _where(self) -> str:
        segment = self.program.plan.segments[self.program.rows[self.S[s.PC]].segment]
        site = segment.first_site
        return f"line {site.instruction.span.line}" if site else f"the end of {self.program.plan.name}"

    @property
    def _vectors(self) -> int:
        return int(self.S[s.WAVE_BLOCKS]) * self.each

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
        self._fetch(g, row, selection)
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
        if g.cc is not None:
            self._put(self.frame.carry, LANE, g.cc, selection)
        if self.version != self.launch.arena.version:
            self._look_at_allocations()
        self.S[s.PC] += 1

    # ------------------------------------------------------------ registers

    def _group(self, entries: Array, row: Row) -> tuple[Group, Selection | None]:
        """The lanes of a list as a group, with registers to be filled; None: all lanes of the wave."""
        wave = self.wave
        act = Activation(wave.code_of(self.program.plan.function), STACK, None)
        selection = self._selection(entries)
        geometry = wave.geometry if selection is None else wave.geometry.select(selection)
        return Group(wave, geometry, act, act.function.fresh_registers(), row.segment), selection

    def _selection(self, entries: Array) -> Selection | None:
        masks = np.zeros(self._vectors, np.uint32)
        masks[entries >> 32] = entries & 0xFFFFFFFF
        lanes = np.unpackbits(masks.view(np.uint8), bitorder="little").reshape(self.wave.count, -1)[:, : self.threads].view(np.bool_)
        if lanes.all():
            return None
        if (whole := lanes.all(axis=1)).any() and (lanes.any(axis=1) == whole).all():
            return Selection.of(whole[:, None], self.wave.geometry.shape)
        if (lanes == lanes[:1]).all():
            return Selection.of(lanes[:1], self.wave.geometry.shape)
        return Selection.of(lanes, self.wave.geometry.shape)

    def _fetch(self, g: Group, row: Row, selection: Selection | None) -> None:
        """The registers that are live before a row."""
        for slot in _slots(row.live):
            value = self._get(slot, row.kinds.get(slot, ONE), selection)
            if slot == self.frame.carry:
                g.cc = value
            else:
                g.R[slot] = value

    def _lanes_of(self, slot: int) -> Array:
        """A register of all lanes, (blocks, threads rounded up), as it lies in the frames."""
        dtype, w = self.frame.dtypes[slot], self.width
        at = self.frame.uniforms + self.frame.offsets[slot]
        frames = self.memory[at:]
        kept = np.dtype(np.uint32) if dtype.kind == "b" else dtype
        lanes = 1 if dtype.kind == "b" else w
        return np.ndarray(
            (self.wave.count, self.each, lanes), kept, frames.data, 0, (self.each * self.frame.size, self.frame.size, kept.itemsize)
        )

    def _get(self, slot: int, kind: int, selection: Selection | None) -> Array:
        """A register's value, as numpy takes it."""
        dtype = self.frame.dtypes[slot]
        if kind == ONE:
            raw = self.memory[8 * slot : 8 * slot + 8]
            return (
                (raw[:1] & 1).view(np.bool_).reshape(1, 1).copy()
                if dtype.kind == "b"
                else raw[: dtype.itemsize].copy().view(dtype).reshape(1, 1)
            )
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
            target[...] = np.packbits(whole.reshape(self.wave.count, -1), axis=1, bitorder="little").view(np.uint32).reshape(target.shape)
        else:
            target[...] = whole.reshape(target.shape)

    # ------------------------------------------------------------ to numpy for good

    def _hand_over(self) -> Any:
        """The wave, with groups of its own in the place of the scheduler's."""
        S, wave = self.S, self.wave
        self._count_steps()
        S[s.UNDER_WAY] = 0
        self.shared, self.local = aligned(self.shared.size), aligned(self.local.size)  # the wave keeps the others
        S[s.SHARED], S[s.LOCAL] = self.shared.ctypes.data, self.local.ctypes.data
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
        taken = np.zeros(self._vectors, np.int64)
        ready = []
        for entries, pc in reversed(groups):  # lanes at a join are those of no group above it
            vectors = entries >> 32
            masks = entries & 0xFFFFFFFF & ~taken[vectors] & S[S[s.ALIVE] : S[s.ALIVE] + self._vectors][vectors]
            taken[vectors] |= masks
            left = (vectors << 32 | masks)[masks != 0]
            if len(left) and pc >= 0:
                row = self.program.rows[pc]
                g, selection = self._group(left, row)
                self._fetch(g, row, selection)
                ready.append(g)
        wave.ready.extend(reversed(ready))
        if at_end and ready:
            self._end_segment(wave.ready.pop())
        self._wave = None
        return wave

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
        masks = S[S[s.ALIVE] : S[s.ALIVE] + self._vectors].astype(np.uint32)
        return np.unpackbits(masks.view(np.uint8), bitorder="little").reshape(self.wave.count, -1)[:, : self.threads].view(np.bool_)


class _Lanes:
    """Blocks of a launch, as special registers see a group of lanes."""

    def __init__(self, launch: Launch, first: int, count: int) -> None:
        self.geometry = Geometry.whole(count, launch.threads)
        self.wave: Any = self  # of which a group asks its tables
        self.launch = launch
        self.first, self.count = first, count
        self.segments_run = 0

    def block_table(self, name: str) -> Array:
        """See Wave."""
        return self.launch.block_special(self.first, self.count, name)


def aligned(size: int) -> Array:
    """Zeros at an address that vectors want."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]


def _slots(mask: int) -> list[int]:
    return [n for n in range(mask.bit_length()) if mask >> n & 1]
