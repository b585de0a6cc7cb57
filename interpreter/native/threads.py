"""Waves on several threads, if blocks may run at the same time (side_by_side.py).

Each thread takes the next wave that has not begun, and executes it in memory of its own; it needs no Python for that.  A thread that needs Python leaves its
wave as it is; when all threads have ended, the launch goes on with these waves, one after another.  Threads that update the same memory may hold each other
up, and gain nothing: if a wave takes so many times longer as there are threads, the launch goes on with one.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ..launch import Launch
from .schedule import layout as s
from .schedule.compiled import scheduler
from .wave import NativeWave

TRIED = 4  # waves of each thread from which on it is known whether several are faster than one
LEAST = 0.002  # CPU seconds that a launch has left at least, for the threads to be worth it
WAVES = 4  # of each thread, at least: the last ones to end are short
SHARED_LANES = 256  # of a wave that threads may share, at least


def may_share(launch: Launch) -> bool:
    """May a launch of such a kernel run on several threads, where it has them?"""
    o = launch.options
    return o.max_steps is None and o.poison is None and launch.cluster_size == 1


class Team:
    """The threads of one launch."""

    def __init__(self, launch: Launch, members: Sequence[NativeWave], alone: float | None) -> None:
        self.launch = launch
        self.alone = alone  # CPU seconds that a wave takes on one thread; none where threads do not hold each other up
        self.members = members
        self.lock = threading.Lock()
        self.shared = np.zeros(2, np.int64)  # the next block of those whose tables are there; has anything come in the way?
        self.steps = 0  # executed, but for waves that were left
        self.waves = self.seconds = 0.0  # of the threads so far

    def run(self) -> list[NativeWave]:
        """Executes the waves that have not begun; gives the members that need Python for theirs, by their blocks."""
        launch, count = self.launch, len(self.members)
        per_wave = self.members[0].per_wave
        with ThreadPoolExecutor(count - 1) as pool:
            for member in self.members:
                member.run_beside(True)
                member.state.team = self.shared.ctypes.data
            while launch.next_block < launch.blocks and self.gains and not self.stopped:
                self.waves += self._round(pool) / per_wave
        for member in self.members:
            member.run_beside(False)
            member.state.team = 0
        self.steps += sum(m.take_steps() for m in self.members if not m.code)
        return sorted((m for m in self.members if m.code), key=lambda m: m.first_block)

    @property
    def gains(self) -> bool:
        """Have the threads been faster than one, as far as that is known?"""
        count = len(self.members)
        return self.alone is None or self.waves < TRIED * count or self.seconds < self.waves * count * self.alone

    @property
    def stopped(self) -> bool:
        """Do the threads begin no more waves?"""
        return bool(self.shared[1])

    def _round(self, pool: ThreadPoolExecutor) -> int:
        """Executes the blocks of the next tables; gives how many have begun."""
        launch, (own, *others) = self.launch, self.members
        own.fill(launch.next_block)
        self.shared[0] = first = own.state.next_block
        for member in others:
            member.fill_as(own)
        running = [pool.submit(self._work, member) for member in others]
        try:
            self._work(own)
            for one in running:
                one.result()
        except BaseException:  # an interrupt: the others end when they look next
            self.shared[1] = 1
            raise
        begun = min(int(self.shared[0]), own.state.blocks) - first
        launch.next_block += begun
        launch.used.native_blocks += begun
        return begun

    def _work(self, member: NativeWave) -> None:
        """One thread: waves, as long as there are any and nothing is in the way."""
        run, begun = scheduler(), time.thread_time()
        while (code := run(*member.place)) == s.PAUSE and not self.stopped and not self.launch.is_late:
            with self.lock:
                self.steps += member.take_steps()
        if code != s.DONE:
            member.code, self.shared[1] = code, 1
        with self.lock:
            self.seconds += time.thread_time() - begun
