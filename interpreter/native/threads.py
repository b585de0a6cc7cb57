"""Waves on several threads, if blocks may run at the same time (side_by_side.py).

Each thread takes the next wave that has not begun, and executes it in memory of its own.  A thread that needs Python leaves its wave as it is; when all threads
have ended, the launch goes on with these waves, one after another.  Threads that update the same memory may hold each other up, and gain nothing: if a wave
takes so many times longer as there are threads, the launch goes on with one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from ..launch import Launch
from .schedule import layout as s
from .schedule.compiled import scheduler
from .wave import NativeWave

TRIED = 4  # waves of each thread, after which it is known whether several are faster than one
LEAST = 0.002  # CPU seconds that a launch has left at least, for the threads to be worth it


def may_share(launch: Launch) -> bool:
    """May a launch of such a kernel run on several threads?"""
    o = launch.options
    return o.threads > 1 and o.max_steps is None and o.poison is None and launch.cluster_size == 1


class Team:
    """The threads of one launch."""

    def __init__(self, launch: Launch, members: Sequence[NativeWave], alone: float) -> None:
        self.launch = launch
        self.alone = alone  # CPU seconds that a wave takes on one thread; infinite where threads do not hold each other up
        self.members = members
        self.lock = threading.Lock()
        self.stopped = False
        self.steps = 0  # executed, but for waves that were left
        self.waves, self.seconds = 0, 0.0  # of those that are looked at

    def run(self) -> list[NativeWave]:
        """Executes the waves that have not begun; gives the members that need Python for theirs, by their blocks."""
        launch, (own, *others) = self.launch, self.members
        with ThreadPoolExecutor(len(others)) as pool:
            for member in self.members:
                member.run_beside(True)
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
        for member in self.members:
            member.run_beside(False)
        self.steps += sum(m.take_steps() for m in self.members if not m.code)
        return sorted((m for m in self.members if m.code), key=lambda m: m.first_block)

    @property
    def gains(self) -> bool:
        """Have the threads been faster than one, as far as that is known?"""
        count = len(self.members)
        return self.waves < TRIED * count or self.seconds < self.waves * count * self.alone

    def _work(self, member: NativeWave, chunk: range) -> None:
        """One thread: waves of a chunk, as long as there are any and nothing is in the way."""
        launch, run, state = self.launch, scheduler(), member.state
        at, registers = state.words.ctypes.data, member.registers.memory.ctypes.data
        begun, tried = 0.0, -1  # the first wave pays for new memory
        while not self.stopped:
            with self.lock:
                first = launch.next_block
                end = launch.next_block = min(first + member.per_wave, chunk.stop)
            if first == end:
                return
            state.next_block, state.blocks = first - chunk.start, end - chunk.start
            while (code := run(at, registers)) == s.PAUSE and not self.stopped and not launch.is_late:
                with self.lock:
                    self.steps += member.take_steps()
            if code != s.DONE:
                member.code, self.stopped = code, True
            tried += 1
            begun = begun if tried else time.thread_time()
            if tried == TRIED:
                with self.lock:
                    self.waves, self.seconds = self.waves + tried, self.seconds + time.thread_time() - begun
                self.stopped |= not self.gains
