"""The memory in which compiled code runs one wave after another: what the scheduler knows, registers, tables, shared memory and stacks."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from functools import partial
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry
from ..launch import CHECK_EVERY, NAMED, Launch
from ..memory.arena import Allocation, Arena
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
# What each launch begins with, as places of the wave's words.
ZEROED = np.array(s.WaveRecord.places("status", "under_way", "steps", "region_at", "region_steps", "beside"))
GIVEN = np.array(s.WaveRecord.places("parameter_block", "host", "parameters", "stops", "clock_at", "epoch"))
CHUNK = 1 << 14  # blocks whose special registers are computed at once


class NativeWave:
    """A wave of up to so many blocks; a launch uses it for one wave after another, and so does the next launch."""

    def __init__(self, launch: Launch, program: NativeProgram, per_wave: int) -> None:
        self.program, self.per_wave = program, per_wave
        self.shape = launch.threads, launch.shared_bytes
        self.registers = NativeRegisters(program.frame, per_wave, launch.threads)
        width, each = program.frame.width, self.registers.each
        n = per_wave * each
        self.words = program.words(s.WaveRecord.SIZE)
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
        self.sites = np.zeros(3 * max(len(program.module.sites), 1), np.int64)
        self.sites[2 : 3 * len(program.module.sites) : 3] = program.module.sites
        memory = self.registers.memory.ctypes.data
        state.shared_stride, state.shared_size, state.local_size = self.stride, launch.shared_bytes, self.stack
        state.uniforms, state.frames = memory, memory + program.frame.uniforms
        state.sites, state.block_of, state.thread_of = self.sites.ctypes.data, self.block_of.ctypes.data, self.thread_of.ctypes.data
        state.specials = self.pointers.ctypes.data
        state.frame, state.each, state.block_lanes, state.per_wave = program.frame.size // 4, each, launch.threads, per_wave
        state.cleared = bool(program.plan.zeros) or program.frame.carries
        self.arena: Arena | None = None  # whose allocations are known
        self.combined = np.zeros(0, np.int64)  # updates, where other threads run beside this one
        self.filled: object = None  # what the tables of special registers were made for
        self.tables: dict[str, Array] = {}
        self.renew()

    def serves(self, launch: Launch, least: int, most: int) -> bool:
        """Has it room for the waves of a launch, which have so many blocks?"""
        return least <= self.per_wave <= most and self.shape == (launch.threads, launch.shared_bytes)

    def begin(self, launch: Launch, make_wave: Callable[..., Any]) -> None:
        """The waves are those of a launch; numpy's are made by a function."""
        state, self.launch, self.make_wave = self.state, launch, make_wave
        self.numpy: Any = None  # numpy's view of it, from when it is first needed
        self.reusable = True  # by the next launch: nobody else has its memory
        self.picture: tuple[int, int] | None = None  # of the registers, while lanes only spin
        self.same = 0  # rounds in which it has not changed
        self.events = -1  # of lanes that get on, when it was looked at last
        self.code = 0  # why it was left by a thread
        self.chunk = 0  # the first block whose tables are there
        block = launch.parameter_block if self.program.module.has_parameter_address else 0
        self.look_again()
        self.poison: Poison | None = None  # of the wave that runs, if it begins with any
        stops = launch.options.poison is not None and bool(launch.shared_bytes or self.stack or self.program.plan.zeros)
        self.state.words[ZEROED] = 0
        self.state.words[GIVEN] = (
            block, launch.arena.host_address - launch.arena.base, launch.parameters.ctypes.data, stops,
            launch.clock.ctypes.data, launch.epoch,
        )  # fmt: skip
        state.rows.part(len(self.words))[:] = self.words  # a region that failed in an earlier launch is tried again
        self.grant()

    # ------------------------------------------------------------ memory

    def use(self, shared: Array, local: Array) -> None:
        """Works with this shared memory and these stacks."""
        self.shared, self.local = shared, local
        self.state.shared, self.state.local = shared.ctypes.data, local.ctypes.data

    def renew(self) -> None:
        """Works with shared memory and stacks that no wave has."""
        self.use(aligned(self.per_wave * self.stride + 16), aligned(self.per_wave * self.shape[0] * self.stack))

    def rights(self, a: Allocation) -> int:
        """What compiled code may do with an allocation."""
        return WRITABLE * a.writable

    def look_at_allocations(self) -> None:
        """The allocations as they are now; what accesses remember of others is forgotten."""
        self.arena = arena = self.launch.arena
        self.version = arena.version
        self.allocations = np.array([(a.start, a.end, self.rights(a)) for a in arena.living()], np.int64).reshape(-1, 3)
        self.state.table, self.state.entries = self.allocations.ctypes.data, len(self.allocations)
        named = [(a.start, a.size, n) for a in arena.living() for n, kind in enumerate(NAMED.values()) if a.what.startswith(kind)]
        self.named = np.array(named, np.int64).reshape(-1, 3)
        self.state.named, self.state.named_entries = self.named.ctypes.data, len(self.named)
        self.stretches = np.array(_between(self.program.frame.shared_gaps, self.launch.shared_bytes), np.int64)
        self.state.shared_table, self.state.shared_entries = self.stretches.ctypes.data, len(self.stretches)
        self.sites[::3], self.sites[1::3] = arena.base, 0  # where each remembers an allocation to begin, and its room

    def look_again(self) -> None:
        """The same, if they have changed."""
        if self.arena is not self.launch.arena or self.version != self.arena.version:
            self.look_at_allocations()

    def fill(self, first: int, most: int | None = None) -> None:
        """The special registers of the blocks from one on, which run next."""
        self.chunk = first
        count = min(most or max(CHUNK // self.per_wave, 1) * self.per_wave, self.launch.blocks - first)
        self.state.next_block, self.state.blocks = 0, count
        made = self.launch.special_shape, first, count
        names = self.program.module.specials if made != self.filled else self.program.module.own_specials
        if not names:
            return
        self.filled = made
        self.tables |= {name: self._table(name, first, count) for name in names}
        self.pointers[: len(self.tables)] = [self.tables[name].ctypes.data for name in self.program.module.specials]

    def fill_as(self, other: NativeWave) -> None:
        """The same blocks as those of another wave of the program, with its special registers."""
        self.chunk, self.filled, self.tables = other.chunk, other.filled, dict(other.tables)
        self.state.next_block, self.state.blocks = 0, other.state.blocks
        self.pointers[:] = other.pointers

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
        steps, self.state.steps = self.state.steps, 0
        return steps

    def grant(self) -> None:
        """How many segments may be executed before the limits are looked at, and how many of those by one warp in a region.  Where the number of steps is
        limited, both engines find out at the same step.
        """
        steps, most = self.launch.steps, self.launch.options.max_steps
        left = SPIN_LIMIT if most is None else max((most // CHECK_EVERY + 1) * CHECK_EVERY - 1 - steps, 0)
        self.state.counted = steps
        self.state.tick = min(CHECK_INTERVAL, left)
        self.state.region_budget = SPIN_LIMIT if most is None else min(SPIN_LIMIT, max(most - steps, 0))

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
