"""The memory in which compiled code runs one wave after another: what the scheduler knows, registers, tables, shared memory and stacks."""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Callable, Sequence
from functools import partial
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry
from ..launch import CHECK_EVERY, Launch
from ..memory.arena import NAMED, Arena
from ..memory.objects import Gap
from ..memory.spaces import shared_stride
from ..plan.spinning import SPIN_LIMIT
from ..poison import Poison
from ..vector.special import special
from ..vector.waiting.deadlock import PROVEN
from .emit import combining
from .emit.watch import WRITABLE
from .program import NativeProgram
from .registers import NativeRegisters, aligned
from .schedule import layout as s

Array = NDArray[Any]
CHECK_INTERVAL = 4096  # ends of segments between two looks at the limits
LISTS, MOST_LISTS = 24, 2048  # lists of all vectors that there is room for: at first, and at most
# Places of the wave's words, for what each launch reads and writes: see NativeWave.word.
NEXT_BLOCK, BLOCKS, MORE, UNDER_WAY, STEPS, COUNTED, TICK, BUDGET = s.WaveRecord.places(
    "next_block", "blocks", "more", "under_way", "steps", "counted", "tick", "region_budget"
)
ZEROED = s.WaveRecord.places("status", "under_way", "steps", "region_at", "region_steps", "beside")
PARAMETER_BLOCK, PARAMETERS, STOPS, CLOCK, EPOCH = s.WaveRecord.places("parameter_block", "parameters", "stops", "clock_at", "epoch")
HOST, TABLE, ENTRIES, NAMED_TABLE, NAMED_ENTRIES = s.WaveRecord.places("host", "table", "entries", "named", "named_entries")
CHUNK = 1 << 14  # blocks whose special registers are computed at once


class NativeWave:
    """A wave of up to so many blocks; a launch uses it for one wave after another, and so does the next launch."""

    def __init__(self, launch: Launch, program: NativeProgram, per_wave: int) -> None:
        self.program, self.per_wave = program, per_wave
        self.shape = launch.threads, launch.shared_bytes  # of its blocks
        self.registers = NativeRegisters(program.frame, per_wave, launch.threads)
        width, each = program.frame.width, self.registers.each
        n = per_wave * each
        self.words = program.words(s.WaveRecord.SIZE)  # its rows, as they are at first
        sizes = {"rows": len(self.words), **s.sizes(len(program.cut.rows), per_wave, each), "lists": LISTS * n}
        self.state = state = s.WaveRecord.with_arrays(partial(np.zeros, dtype=np.int64), self.registers.memory, sizes)
        state.room, state.row_count, state.apart = state.lists + LISTS * n, len(program.cut.rows), program.apart
        lanes = np.arange(each * width).reshape(each, width) < launch.threads
        state.lanes_of.part(each)[:] = lanes @ (1 << np.arange(width, dtype=np.int64))
        self.stride = shared_stride(launch.shared_bytes)
        self.stack = program.frame.stack
        self.block_of, vector = np.divmod(np.arange(n, dtype=np.int64), each)
        self.thread_of = vector * width
        self.pointers = np.zeros(max(len(program.module.specials), 1), np.int64)
        self.sites = array("q", bytes(24 * max(len(program.module.sites), 1)))
        memory = self.registers.memory.ctypes.data
        state.shared_stride, state.shared_size, state.local_size = self.stride, launch.shared_bytes, self.stack
        state.uniforms, state.frames = memory, memory + program.frame.uniforms
        state.sites, state.block_of, state.thread_of = self.sites.buffer_info()[0], self.block_of.ctypes.data, self.thread_of.ctypes.data
        state.specials = self.pointers.ctypes.data
        state.frame, state.each, state.block_lanes, state.per_wave = program.frame.size // 4, each, launch.threads, per_wave
        state.cleared = bool(program.plan.zeros) or program.frame.carries
        self.arena: Arena | None = None  # whose allocations are known
        self.combined = np.zeros(0, np.int64)  # updates, where other threads run beside this one
        self.filled: object = None  # what the tables of special registers were made for, beside
        self.chunk = self.count = 0  # the first block, and how many
        self.tables: dict[str, Array] = {}
        self.stretches = np.array(_between(program.frame.shared_gaps, launch.shared_bytes), np.int64)
        state.shared_table, state.shared_entries = self.stretches.ctypes.data, len(self.stretches)
        self._renew_word()
        self.renew()

    def _renew_word(self) -> None:
        """The words as numbers, and where compiled code finds them and the registers."""
        at = index(self.state.rows)
        self.word = memoryview(self.state.words)
        self.rows = self.word[at : at + len(self.words)]
        self.place = self.state.words.ctypes.data, self.registers.memory.ctypes.data

    def begin(self, launch: Launch, make_wave: Callable[..., Any]) -> None:
        """The waves are those of a launch; numpy's are made by a function."""
        self.launch, self.make_wave = launch, make_wave
        self.numpy: Any = None  # numpy's view of it, from when it is first needed
        self.reusable = True  # by the next launch: nobody else has its memory
        self.picture: tuple[int, int] | None = None  # of the registers, while lanes only spin
        self.same = 0  # rounds in which it has not changed
        self.events = -1  # of lanes that get on, when it was looked at last
        self.code = 0  # why it was left by a thread
        word = self.word
        word[PARAMETER_BLOCK] = launch.parameter_block if self.program.module.has_parameter_address else 0
        self.look_again()
        self.poison: Poison | None = None  # of the wave that runs, if it begins with any
        word[STOPS] = launch.options.poison is not None and bool(launch.shared_bytes or self.stack or self.program.plan.zeros)
        word[PARAMETERS], word[CLOCK] = launch.places
        word[EPOCH] = launch.epoch
        for place in ZEROED:
            word[place] = 0
        self.rows[:] = self.words.data  # a region that failed in an earlier launch is tried again

    # ------------------------------------------------------------ memory

    def use(self, shared: Array, local: Array) -> None:
        """Works with this shared memory and these stacks."""
        self.shared, self.local = shared, local
        self.state.shared, self.state.local = shared.ctypes.data, local.ctypes.data

    def renew(self) -> None:
        """Works with shared memory and stacks that no wave has."""
        self.use(aligned(self.per_wave * self.stride + 16), aligned(self.per_wave * self.shape[0] * self.stack))

    def extents(self, arena: Arena) -> array[int]:
        """Where each allocation begins and ends, and what compiled code may do with it: 1 is WRITABLE."""
        return array("q", arena.extents)

    def look_at_allocations(self) -> None:
        """The allocations as they are now; what accesses remember of others is forgotten."""
        arena, word = self.launch.arena, self.word
        if arena is not self.arena:
            self.arena, word[HOST] = arena, arena.host_address - arena.base
            # Where each access remembers an allocation to begin, its room, and the rights that it asks of it.
            self.fresh_sites = array("q", [x for rights in self.program.module.sites or (0,) for x in (arena.base, 0, rights)])
        self.version = arena.version
        self.table = self.extents(arena)
        word[TABLE], size = self.table.buffer_info()
        word[ENTRIES] = size // 3
        self.named = array("q")
        for a in arena.named:
            self.named.extend((a.start, a.size, next(n for n, name in enumerate(NAMED.values()) if a.what.startswith(name))))
        word[NAMED_TABLE], size = self.named.buffer_info()
        word[NAMED_ENTRIES] = size // 3
        self.sites[:] = self.fresh_sites

    def look_again(self) -> None:
        """The same, if they have changed."""
        if self.arena is not self.launch.arena or self.version != self.arena.version:
            self.look_at_allocations()

    def fill(self, first: int, most: int = CHUNK, least: int = 1) -> None:
        """The blocks from one on run next, so many at most: there are special registers of these, and of so many at least."""
        launch, shape, names = self.launch, self.launch.special_shape, self.program.own_specials
        if shape != self.filled or not self.chunk <= first <= self.chunk + self.count - least:
            self.filled, self.chunk, names = shape, first, [*self.program.module.specials]
            self.count = min(max(CHUNK // self.per_wave, 1) * self.per_wave, launch.blocks - first)
        self.word[NEXT_BLOCK] = first - self.chunk
        self.word[BLOCKS] = min(first - self.chunk + most, self.count)
        if names:
            self.tables |= {name: self._table(name, self.chunk, self.count) for name in names}
            self.pointers[: len(self.tables)] = [self.tables[name].ctypes.data for name in self.program.module.specials]

    def fill_as(self, other: NativeWave) -> None:
        """The same blocks as those of another wave of the program, with its special registers."""
        self.chunk, self.count, self.filled, self.tables = other.chunk, other.count, other.filled, dict(other.tables)
        self.word[NEXT_BLOCK], self.word[BLOCKS] = other.word[NEXT_BLOCK], other.word[BLOCKS]
        self.pointers[:] = other.pointers

    @np.errstate(all="ignore")
    def _table(self, name: str, first: int, count: int) -> Array:
        _, extent, dtype = self.program.module.specials[name]
        v = special(_Blocks(self.launch, first, count), name).astype(dtype)
        if extent == "one":
            return v.reshape(1)
        if extent == "block":
            return np.ascontiguousarray(np.broadcast_to(v, (count, 1)).ravel())
        out = np.zeros(self.registers.each * self.program.frame.width, dtype)
        out[: self.launch.threads] = v.ravel()
        return out

    @property
    def entries(self) -> int:
        """How many entries of lists there is room for."""
        return index(self.state.room) - index(self.state.lists)

    def make_room(self) -> bool:
        """Makes room for more lists of lanes; False where there is as much as there may be."""
        size = self.entries
        if size >= MOST_LISTS * self.per_wave * self.registers.each:
            return False
        self.state.words = np.concatenate([self.state.words, np.zeros(size, np.int64)])
        self.state.room += size
        self._renew_word()
        return True

    # ------------------------------------------------------------ progress

    def run_beside(self, others: bool) -> None:
        """Do other threads run blocks of the launch at the same time?"""
        if others and not self.combined.size:
            self.combined = np.zeros(combining.WORDS, np.int64)
        self.state.beside = self.combined.ctypes.data if others else 0

    @property
    def first_block(self) -> int:
        """Of the wave that runs."""
        return self.chunk + self.state.first_block

    def take_steps(self) -> int:
        """The steps since they were taken last."""
        steps, self.word[STEPS] = self.word[STEPS], 0
        return steps

    def grant(self) -> None:
        """How many segments may be executed before the limits are looked at, and how many of those by one warp in a region.  Where the number of steps is
        limited, both engines find out at the same step.
        """
        steps, most, word = self.launch.steps, self.launch.options.max_steps, self.word
        word[COUNTED], word[TICK], word[BUDGET] = steps, CHECK_INTERVAL, SPIN_LIMIT
        if most is not None:
            word[TICK] = min(CHECK_INTERVAL, max((most // CHECK_EVERY + 1) * CHECK_EVERY - 1 - steps, 0))
            word[BUDGET] = min(SPIN_LIMIT, max(most - steps, 0))

    def gets_on(self) -> bool:
        """Has a lane got on since it was asked last?"""
        before, self.events = self.events, self.state.events
        return self.events != before

    def is_still(self) -> bool:
        """Lanes have only spun for a while: have their registers not changed for some rounds?  Then numpy looks closer."""
        before, self.picture = self.picture, (self.state.events, zlib.crc32(self.registers.memory.data))
        self.same = self.same + 1 if self.picture == before else 0
        if not self.same:
            self.state.quiet = 0  # looks again after a while
        return self.same >= PROVEN


def _between(gaps: Sequence[Gap], size: int) -> list[tuple[int, int, int]]:
    """The stretches of memory from 0 on that gaps leave, as rows of the table of allocations."""
    starts, ends = [0, *(g.end for g in gaps)], [*(g.start for g in gaps), size]
    return [(start, end, WRITABLE) for start, end in zip(starts, ends, strict=True)]


class _Blocks:
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
