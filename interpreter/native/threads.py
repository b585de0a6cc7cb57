"""Waves on several threads, where blocks have nothing to synchronise by, and no instruction shows in which order they run.

Then the blocks of a program without data races do not see each other (PTX ISA 8), and its results are those of one thread.  Each thread takes the next wave
that has not begun, and executes it in memory of its own.  A thread that needs Python leaves its wave as it is; when all threads have ended, the launch goes on
with these waves, one after another.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

import numpy as np

from warplab.isa.ops.atomic import CHANGES

from ..launch import Launch
from ..plan.plan import Call, ClusterWait, Op, PlanFunction, Special
from ..plan.uses import leaves, slots_of, written
from ..vector.special import CLOCKS
from .emit.tracing import Tracing
from .registers import NativeRegisters
from .schedule import layout as s
from .schedule.compiled import scheduler
from .schedule.layout import WaveRecord

LEAST = 0.002  # CPU seconds that a launch has left at least, for the threads to be worth it
_BEYOND_THE_BLOCK = frozenset({"gpu", "gl", "sys", "volatile", "mmio"})  # words of instructions that synchronise with other blocks
_ACQUIRES = frozenset({"acquire", "acq_rel"})


def side_by_side(plan: PlanFunction, tracing: Tracing, live: Callable[[int], list[int]]) -> bool:
    """May blocks of a kernel run at the same time?  `live` gives, for a segment, the slots that are live before each operation and behind them, as masks."""
    for n, segment in enumerate(plan.segments):
        if isinstance(segment.end, Call | ClusterWait) or not all(_is_for_its_block(op, tracing) for op in segment.ops):
            return False
        updates = [i for i, op in enumerate(segment.ops) if _updates_global(op, tracing)]
        behind = live(n) if updates else []
        if any(set(written(segment.ops[i])) & set(slots_of(behind[i + 1])) for i in updates):
            return False  # what an update finds shows the order of blocks
    return True


def _is_for_its_block(op: Op, tracing: Tracing) -> bool:
    """Is an operation compiled, and does it neither look at a clock, nor synchronise with other blocks, nor update memory in a way that shows their order?"""
    words = frozenset(op.site.instruction.modifiers)
    if not tracing.compiles(op) or any(isinstance(x, Special) and x.name in CLOCKS for source in op.sources for x in leaves(source)):
        return False
    if not _updates_global(op, tracing):
        return _is_shared(op) or not words & _BEYOND_THE_BLOCK
    change, _ = CHANGES.get((str(op.meaning.settled.get("op")), str(op.meaning.settled.get("type"))), (None, None))
    return isinstance(change, np.ufunc) and not words & _ACQUIRES  # sums, extremes and logic of integers: the same in any order


def _updates_global(op: Op, tracing: Tracing) -> bool:
    return tracing.updates(op) and not _is_shared(op)


def _is_shared(op: Op) -> bool:
    return str(op.meaning.settled.get("ss")).startswith("shared")


def may_share(launch: Launch) -> bool:
    """May a launch of such a kernel run on several threads?"""
    o = launch.options
    return o.threads > 1 and o.max_steps is None and o.poison is None and launch.cluster_size == 1


class Member(Protocol):
    """What one thread works with: see NativeLaunch."""

    state: WaveRecord
    registers: NativeRegisters
    per_wave: int
    code: int  # why its wave was left; 0: it has ended

    @property
    def first_block(self) -> int:
        """Of its wave."""

    def fill(self, first: int) -> None:
        """The special registers of the blocks from one on."""

    def keep_steps(self) -> None:
        """Those that it has counted; the launch counts them later."""


class Team:
    """The threads of one launch."""

    def __init__(self, launch: Launch, members: Sequence[Member]) -> None:
        self.launch = launch
        self.members = members
        self.lock = threading.Lock()
        self.stopped = False

    def run(self) -> list[Member]:
        """Executes the waves that have not begun; gives the members that need Python for theirs, by their blocks."""
        launch, (own, *others) = self.launch, self.members
        with ThreadPoolExecutor(len(others)) as pool:
            self._run_beside(True)
            while launch.next_block < launch.blocks and not self.stopped:
                first = launch.next_block
                for member in self.members:
                    member.fill(first)
                chunk = range(first, first + own.state.blocks)
                running = [pool.submit(self._work, member, chunk) for member in others]
                try:
                    self._work(own, chunk)
                    for one in running:
                        one.result()
                except BaseException:  # an interrupt: the others end when they look next
                    self.stopped = True
                    raise
                launch.used.native_blocks += launch.next_block - first
        self._run_beside(False)
        return sorted((m for m in self.members if m.code), key=lambda m: m.first_block)

    def _run_beside(self, others: bool) -> None:
        for member in self.members:
            member.state.beside = others

    def _work(self, member: Member, chunk: range) -> None:
        """One thread: waves of a chunk, as long as there are any and nothing is in the way."""
        launch, run, state = self.launch, scheduler(), member.state
        at, registers = state.words.ctypes.data, member.registers.memory.ctypes.data
        while not self.stopped:
            with self.lock:
                first = launch.next_block
                end = launch.next_block = min(first + member.per_wave, chunk.stop)
            if first == end:
                return
            state.next_block, state.blocks = first - chunk.start, end - chunk.start
            while (code := run(at, registers)) == s.PAUSE and not self.stopped and not launch.is_late:
                member.keep_steps()
            if code != s.DONE:
                member.code, self.stopped = code, True
