"""Threads and copies by number, as records name them."""

from __future__ import annotations

import numpy as np

from .records.shadow_memory import LEVEL_AT, NEVER, THREAD, Array


class NumberedLanes:
    """The lanes of one access, one after the other: thread, warp and block in the launch."""

    __slots__ = ("_words", "block", "thread", "warp")

    def __init__(self, thread: Array, warp: Array, block: Array) -> None:
        self.thread, self.warp, self.block = thread, warp, block
        self._words: dict[int, Array] = {}

    def words(self, level: int) -> Array:
        """Each lane's thread or block as the lower half of a stamp."""
        found = self._words.get(level)
        if found is None:
            found = self._words[level] = ((self.thread if level == THREAD else self.block) | level << LEVEL_AT).astype(np.uint64)
        return found

    def take(self, index: Array) -> NumberedLanes:
        """Some of them."""
        return NumberedLanes(self.thread[index], self.warp[index], self.block[index])


class Copies:
    """Asynchronous copies: who issued each, when, and since when that thread has waited for it."""

    def __init__(self) -> None:
        self.thread = np.zeros(0, np.int64)
        self.done = np.zeros(0, np.int64)
        self.tag = np.zeros(0, np.int64)  # of the mbarrier's phase that it belongs to
        self.count = 0

    def end(self, now: int) -> None:
        """A launch is over, and so are its copies."""
        np.minimum(self.done[: self.count], now, out=self.done[: self.count])

    def add(self, thread: Array) -> int:
        """Room for one copy of each of these threads; the number of the first."""
        first, self.count = self.count, self.count + thread.size
        if self.count > self.thread.size:
            room = max(2 * self.thread.size, self.count, 1024)
            for name in ("thread", "done", "tag"):
                bigger = np.full(room, NEVER if name == "done" else -1, np.int64)
                old = getattr(self, name)
                bigger[: old.size] = old
                setattr(self, name, bigger)
        self.thread[first : self.count] = thread
        return first
