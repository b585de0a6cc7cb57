"""Runs a launch with compiled code: the memory that it works in, and what it asks for while it runs."""

from __future__ import annotations

import time
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry
from ..launch import CHECK_EVERY, Launch
from ..memory.spaces import shared_stride
from ..plan.spinning import PATIENT
from ..vector.special import special
from ..vector.waiting.deadlock import PROVEN
from .fallback import Fallback
from .program import NativeProgram
from .registers import NativeRegisters, aligned
from .schedule import layout as s
from .schedule.compiled import scheduler
from .taking_over import LISTS_LEFT, NumpyWave
from .threads import LEAST, Team, may_share

Array = NDArray[Any]
PATIENCE = 4096  # ends of segments between two looks at the limits
LISTS, MOST_LISTS = 24, 2048  # lists of all vectors that there is room for: at first, and at most
CHUNK = 1 << 14  # blocks whose special registers are computed at once
OF_A_WAVE = (
    "_memory", "state", "registers", "block_of", "thread_of", "pointers", "sites", "shared", "local", "chunk", "tables", "version", "allocations", "fallback",
    "picture", "same",
)  # fmt: skip


class LaunchMemory:
    """Memory for one wave of so many blocks; launches of a kernel use it one after another."""

    def __init__(self, launch: Launch, program: NativeProgram, per_wave: int) -> None:
        self.per_wave = per_wave
        self.shape = launch.threads, launch.shared_bytes
        self.registers = NativeRegisters(program.frame, per_wave, launch.threads)
        width, each = program.width, self.registers.each
        n = per_wave * each
        self.words = program.words(s.WaveRecord.SIZE)
        sizes = {"rows": len(self.words), **s.sizes(len(program.rows), per_wave, each), "lists": LISTS * n}
        self.state = state = s.WaveRecord.with_arrays(partial(np.zeros, dtype=np.int64), self.registers.memory, sizes)
        state.room, state.row_count, state.apart = state.lists + LISTS * n, len(program.rows), program.apart
        state.rows.part(len(self.words))[:] = self.words
        lanes = np.arange(each * width).reshape(each, width) < launch.threads
        state.lanes_of.part(each)[:] = lanes @ (1 << np.arange(width, dtype=np.int64))
        self.stride = shared_stride(launch.shared_bytes)
        self.stack = program.frame.stack
        self.block_of, vector = np.divmod(np.arange(n, dtype=np.int64), each)
        self.thread_of = vector * width
        self.pointers = np.zeros(max(len(program.frame.specials), 1), np.int64)
        self.sites = np.zeros(2 * max(program.frame.sites, 1), np.int64)
        self.shared = aligned(per_wave * self.stride + 16)
        self.local = aligned(per_wave * launch.threads * self.stack)
        memory = self.registers.memory.ctypes.data
        state.shared_stride, state.shared_size, state.local_size = self.stride, launch.shared_bytes, self.stack
        state.uniforms, state.frames = memory, memory + program.frame.uniforms
        state.sites, state.block_of, state.thread_of = self.sites.ctypes.data, self.block_of.ctypes.data, self.thread_of.ctypes.data
        state.specials = self.pointers.ctypes.data
        state.frame, state.each, state.block_lanes, state.per_wave = program.frame.size // 4, each, launch.threads, per_wave
        state.cleared = bool(program.plan.zeros) or program.frame.carries

    def serves(self, launch: Launch) -> bool:
        """Has it room for the waves of a launch, and for no larger ones?"""
        fits = launch.blocks_per_wave <= self.per_wave <= launch.most_blocks_per_wave
        return fits and self.shape == (launch.threads, launch.shared_bytes)


class NativeLaunch:
    """A launch as compiled code sees it; it runs one wave at a time."""

    def __init__(self, launch: Launch, program: NativeProgram, make_wave: Callable[..., Any]) -> None:
        self.launch = launch
        self.program = program
        self.make_wave = make_wave
        kept = program.memories.pop() if program.memories else None
        if kept is None or not kept.serves(launch):
            program.memories.clear()
            room = 1 << (launch.blocks - 1).bit_length()  # for launches of a few blocks more, too
            kept = LaunchMemory(launch, program, min(launch.most_blocks_per_wave, room))
        self.per_wave = kept.per_wave
        self.wants_apart = False  # lanes have to go on apart, for which the program was not compiled
        self.suspended: deque[dict[str, Any]] = deque()  # waves in which lanes only spin, while others run
        self.still_waves = 0  # of those that ran last one after another, in which nothing has changed
        self.left: deque[dict[str, Any]] = deque()  # waves that threads have left behind
        self.code = 0  # why the wave that runs was left
        self.steps = 0  # that are not counted yet
        self._begin(kept)
        self.shares = program.side_by_side and launch.blocks > 2 * self.per_wave and may_share(launch)
        self.fill(0, self.per_wave if self.shares else CHUNK)

    def _begin(self, memory: LaunchMemory) -> None:
        """Waves run in this memory."""
        launch, state = self.launch, memory.state
        self._memory: LaunchMemory | None = memory
        self.state, self.registers, self.stride, self.stack = state, memory.registers, memory.stride, memory.stack
        self.block_of, self.thread_of, self.pointers, self.sites = memory.block_of, memory.thread_of, memory.pointers, memory.sites
        self.picture: tuple[int, int] | None = None  # of the registers, while lanes only spin
        self.same = 0  # rounds in which it has not changed
        self.chunk = 0  # the first block whose tables are there
        self._use(memory.shared, memory.local)
        self._look_at_allocations()
        state.status = state.under_way = state.steps = 0
        state.host, state.parameters = launch.arena.host_address - launch.arena.base, launch.parameters.ctypes.data
        state.stops = launch.options.poison is not None
        state.counted, state.clock_at = launch.steps, launch.clock.ctypes.data
        state.region_at = state.region_steps = 0
        rows = memory.words  # a region that failed in an earlier launch is tried again
        state.rows.part(len(rows))[:] = rows
        self._grant()
        self.fallback = Fallback(self)

    def close(self) -> None:
        """Its memory serves the next launch."""
        if self._memory is not None:
            self.program.memories.append(self._memory)

    # ------------------------------------------------------------ memory

    def _use(self, shared: Array, local: Array) -> None:
        """Works with this shared memory and these stacks."""
        self.shared, self.local = shared, local
        self.state.shared, self.state.local = shared.ctypes.data, local.ctypes.data

    def _fresh_memory(self) -> None:
        """Shared memory and stacks that no wave has."""
        self._memory = None  # a wave goes on in what it held
        self._use(aligned(self.per_wave * self.stride + 16), aligned(self.per_wave * self.launch.threads * self.stack))

    def _look_at_allocations(self) -> None:
        """The allocations as they are now; what accesses remember of others is forgotten."""
        arena = self.launch.arena
        self.version = arena.version
        self.allocations = np.array([(a.start, a.end, a.writable) for a in arena.living()], np.int64).reshape(-1, 3)
        self.state.table, self.state.entries = self.allocations.ctypes.data, len(self.allocations)
        self.sites[::2], self.sites[1::2] = arena.base, 0  # where each remembers an allocation to begin, and its room

    def fill(self, first: int, most: int = CHUNK) -> None:
        """The special registers of the blocks from one on."""
        self.chunk = first
        count = min(max(most // self.per_wave, 1) * self.per_wave, self.launch.blocks - first)
        self.state.next_block, self.state.blocks = 0, count
        self.tables = [self._table(name, first, count) for name in self.program.frame.specials]
        self.pointers[: len(self.tables)] = [t.ctypes.data for t in self.tables]

    def _table(self, name: str, first: int, count: int) -> Array:
        _, extent, dtype = self.program.frame.specials[name]
        v = special(_Blocks(self.launch, first, count), name).astype(dtype)
        if extent == "one":
            return v.reshape(1)
        if extent == "block":
            return np.ascontiguousarray(np.broadcast_to(v, (count, 1)).ravel())
        out = np.zeros(self.registers.each * self.program.width, dtype)
        out[: self.launch.threads] = v.ravel()
        return out

    # ------------------------------------------------------------ running

    @property
    def under_way(self) -> bool:
        """Has a wave begun that has not ended?"""
        return bool(self.state.under_way) or bool(self.left)

    def take_over(self, waves: Sequence[Any]) -> bool:
        """Goes on with waves that numpy began, with the last of them first; False if it can't."""
        if self.under_way:
            return False
        given = [NumpyWave(self.program, wave) for wave in waves]
        obstacles = {x.obstacle(self._entries // LISTS_LEFT) for x in given} - {""}
        if obstacles - {"lanes wait"} or (obstacles and not self.program.apart):
            self.wants_apart = obstacles == {"lanes wait"}
            return False
        for wave in given:
            if self.state.under_way:
                self._suspend()
                self._begin(LaunchMemory(self.launch, self.program, self.per_wave))
            self._adopt_wave(wave)
        return True

    def _adopt_wave(self, given: NumpyWave) -> None:
        wave = given.wave
        self.fill(wave.first)
        self._memory = None  # it goes on in numpy's
        if self.stack:
            wave.local.grow(self.stack)  # the frames of calls are inlined
        self._use(wave.shared.bytes, wave.local.words)
        self.fallback.take_over(given, 0)
        self.launch.steps += wave.segments_run % CHECK_EVERY
        wave.segments_run = 0
        self.state.counted = self.launch.steps

    @property
    def _entries(self) -> int:
        """How many entries of lists there is room for."""
        return index(self.state.room) - index(self.state.lists)

    def next_wave(self) -> Any:
        """Runs the waves that have not begun; gives one that numpy has to go on with, None when all have ended."""
        launch, run = self.launch, scheduler()
        if self.state.under_way:
            launch.used.native_blocks += self.state.wave_blocks
        while True:
            state, first = self.state, launch.next_block
            state.next_block = first - self.chunk  # running blocks may have taken some over
            state.more = self._has_more(state.blocks)
            begun = time.thread_time()
            code, self.code = self.code or run(state.words.ctypes.data, self.registers.memory.ctypes.data), 0
            launch.next_block = self.chunk + state.next_block
            launch.used.native_blocks += launch.next_block - first
            if code == s.DONE:
                self._count_steps()
                self.fallback.check_leaks()
                if self.left:
                    self._adopt()
                elif launch.next_block < launch.blocks:
                    if not self.shares or not self._share(time.thread_time() - begun):
                        self.fill(launch.next_block)
                elif self.suspended:
                    self._resume()
                else:
                    return None
            elif code == s.ASKED:
                self._ask(state.running.entries.part(state.running.count))
            elif code == s.FAULT:  # an access that is not plainly legal: of the vectors from there on nothing has been done
                state.status = 0
                self._ask(state.running.entries.part(state.running.count)[state.failed :])
            elif code == s.BEGUN:
                self.fallback.poison()
            elif code == s.PAUSE:
                self._count_steps(begun=1)
            elif (
                (code == s.FULL and self._make_room())
                or (code == s.CALM and not self._is_still())
                or (code == s.SPINS and self._let_others_run())
            ):
                continue
            else:
                self.wants_apart |= code == s.PARTED
                return self._hand_over()

    def _has_more(self, blocks: int) -> bool:
        """May waves run beside those of the chunk?"""
        return self.launch.suspended_waves > 0 or bool(self.suspended) or self.chunk + blocks < self.launch.blocks

    def _hand_over(self) -> Any:
        """The wave that runs, for numpy; so that it runs no other before this one, it gets all that are suspended, too."""
        self._count_steps()
        self.launch.used.left_to_numpy[self.fallback.ended_by] += 1
        wave = self.fallback.hand_over()
        self.launch.used.native_blocks -= wave.count
        self.state.under_way = 0
        self._fresh_memory()
        return wave

    def suspended_wave(self) -> Any:
        """One of the waves in which lanes only spin, for numpy; None if there is none."""
        if not self.suspended:
            return None
        self._resume()
        return self._hand_over()

    # ------------------------------------------------------------ threads

    def _share(self, seconds: float) -> bool:
        """Executes what is left on several threads, if that is worth it; a wave takes so many seconds."""
        launch, self.shares = self.launch, False
        waves = -(-(launch.blocks - launch.next_block) // self.per_wave)
        if self.suspended or waves < 2 or seconds * waves < LEAST:
            return False
        members = [self, *(NativeLaunch(launch, self.program, self.make_wave) for _ in range(min(launch.options.threads, waves) - 1))]
        launch.used.threads = len(members)
        left = Team(launch, members).run()
        for member in members[1:]:
            if not member.code:
                member.close()
        for member in members:
            if not member.code:
                member.keep_steps()
            launch.steps += member.steps
        self.left.extend({name: vars(m)[name] for name in (*OF_A_WAVE, "code")} for m in left)
        self.code = 0
        if left:
            self._adopt()
        return True

    def _adopt(self) -> None:
        """Goes on with a wave that a thread has left."""
        vars(self).update(self.left.popleft())
        self.fallback.native = self

    def keep_steps(self) -> None:
        """Those that a thread has counted; the launch counts them later."""
        self.steps += self.state.steps
        self.state.steps = 0

    # ------------------------------------------------------------ waves in which lanes only spin

    def _let_others_run(self) -> bool:
        """Suspends the wave, as numpy does; False where numpy has to do it, since waves of its own are suspended or nothing changes any more."""
        launch, options = self.launch, self.launch.options
        self._count_steps()
        self.still_waves = self.still_waves + 1 if self.state.quiet >= s.QUIET_ROUNDS and self._is_still() else 0
        if launch.suspended_waves or self.still_waves > PROVEN * (len(self.suspended) + 1):
            return False
        self._suspend()
        if len(self.suspended) >= options.max_waves and launch.next_block < launch.blocks:
            options.max_waves += 16
        if launch.next_block < launch.blocks:
            self._begin(LaunchMemory(launch, self.program, self.per_wave))
            self.fill(launch.next_block)
        else:
            self._resume()
        return True

    def _suspend(self) -> None:
        self.suspended.append({name: vars(self)[name] for name in OF_A_WAVE})

    def _resume(self) -> None:
        """The wave that was suspended first runs."""
        vars(self).update(self.suspended.popleft())
        if self.version != self.launch.arena.version:
            self._look_at_allocations()
        self.state.counted = self.launch.steps

    def _make_room(self) -> bool:
        """Makes room for more lists of lanes; False where there is as much as there may be."""
        state = self.state
        size = self._entries
        if size >= MOST_LISTS * self.per_wave * self.registers.each:
            return False
        state.words = np.concatenate([state.words, np.zeros(size, np.int64)])
        state.room += size
        return True

    def _is_still(self) -> bool:
        """Lanes have only spun for a while: have their registers not changed for some rounds?  Then numpy looks closer."""
        before, self.picture = self.picture, (self.state.events, zlib.crc32(self.registers.memory.data))
        self.same = self.same + 1 if self.picture == before else 0
        if not self.same:
            self.state.quiet = 0  # looks again after a while
        return self.same >= PROVEN

    def _ask(self, entries: Array) -> None:
        self._count_steps()
        self.fallback.run_row(entries)
        if self.version != self.launch.arena.version:
            self._look_at_allocations()

    def _count_steps(self, begun: int = 0) -> None:
        """Looks at the limits; `begun`: segments that have run and are counted at their end."""
        steps = self.state.steps
        self.state.steps = 0
        self.launch.check_limits(steps + begun, self._where)
        self.launch.steps -= begun
        self.state.counted = self.launch.steps
        self._grant()

    def _grant(self) -> None:
        """How many segments may be executed before the limits are looked at, and how many of those by one warp in a region.  Where the number of steps is
        limited, both engines find out at the same step.
        """
        most = self.launch.options.max_steps
        left = PATIENT if most is None else max((most // CHECK_EVERY + 1) * CHECK_EVERY - 1 - self.launch.steps, 0)
        self.state.tick = min(PATIENCE, left)
        self.state.region_budget = PATIENT if most is None else min(PATIENT, max(most - self.launch.steps, 0))

    def _where(self) -> str:
        """What the wave executes."""
        site = self.program.plan.segments[self.fallback.row.segment].first_site
        return self.launch.place_of(site) if site else f"the end of {self.program.plan.name}"

    @property
    def first_block(self) -> int:
        """Of the wave that runs."""
        return self.chunk + self.state.first_block


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
