"""Waves of independent blocks on several threads: each thread takes the next wave that has not begun, and executes it in memory of its own.

A thread that needs Python leaves its wave as it is; when all threads have ended, the launch goes on with these waves, one after another.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from ...launch import Launch
from ..registers import NativeRegisters
from ..schedule import layout as s
from ..schedule.compiled import scheduler
from ..schedule.layout import WaveRecord


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
        return sorted((m for m in self.members if m.code), key=lambda m: m.first_block)

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
