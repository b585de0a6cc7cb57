"""The memory of the caches that compiled loops follow: the L1 of each multiprocessor, and the L2 behind them."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..sectors import Bits
from ..touch import Touch
from . import words as s
from .compiled import Loops

Index = NDArray[np.int64]
PLACES, MOST = 4, 3  # of the table for each line, and how many of these are taken before it is built anew
LOG = 4  # entries of the log for each line
GENERATIONS = 1 << 24  # of memory, before it is given back


class CacheLevels:
    """Caches of so many lines, empty at first; an L1 may have none."""

    # Memory of earlier launches, and its next generation: the first use of new memory is slow.
    _spare: ClassVar[dict[tuple[int, int, int], tuple[Index, Index, int] | None]] = {}

    def __init__(self, loops: Loops, multiprocessors: int, l1_lines: int, l2_lines: int) -> None:
        self._caches, self._key = multiprocessors, (multiprocessors, l1_lines, l2_lines)
        spare = self._spare.pop(self._key, None)
        self._l1, self._l2, self._generation = spare or (memory_of(multiprocessors, l1_lines), memory_of(1, l2_lines), 1)
        self._found = np.zeros(s.FOUND, np.int64)
        size = self._l1.size // multiprocessors if l1_lines else 0
        self._follow = loops.follow.bound(self._l1, self._l2, self._found, size, multiprocessors)
        loops.empty(self._l2, 0, self._generation)

    @property
    def written(self) -> int:
        """Sectors that became dirty in L2."""
        return int(self._found[s.WRITTEN])

    def follow(self, cache: NDArray[Any], t: Touch, start: int, covered: Bits | None, kinds: tuple[int, int]) -> tuple[int, int, int, Bits]:
        """One access: its sectors, those of them found in L1 and in L2, and those found in L1 by entry.

        `cache`: of each warp, the number of its L1; plus that of all multiprocessors for each time that it was emptied.
        """
        hits = np.empty(t.line.size, np.uint32)
        self._follow(
            cache.astype(np.int64) + self._caches * self._generation, t.warp, t.line, t.words, covered, covered is not None, hits, start, hits.size,
            *kinds,
        )  # fmt: skip
        sectors, l1_hits, l2_hits = self._found[: s.WRITTEN].tolist()
        return sectors, l1_hits, l2_hits, hits

    def close(self, emptied: int) -> None:
        """The launch is over, in which no L1 was emptied more often."""
        generation = self._generation + emptied + 1
        if generation < GENERATIONS:
            self._spare[self._key] = self._l1, self._l2, generation


def memory_of(caches: int, lines: int) -> Index:
    """Caches of so many lines."""
    blocks = (PLACES * lines >> s.BLOCK_BITS) + 1
    table, log, room = s.PLACE * blocks << s.BLOCK_BITS, LOG * lines, s.PLACE * lines
    size = s.HEAD + table + log + room + s.AHEAD
    memory = np.zeros(caches * size, np.int64)  # of which the system gives only what is used
    heads = memory.reshape(caches, size)
    begin = np.arange(caches) * size + s.HEAD
    heads[:, s.LINES], heads[:, s.MOST], heads[:, s.BLOCKS] = lines, MOST * lines, blocks
    heads[:, s.TABLE], heads[:, s.TABLE_END] = begin, begin + table
    heads[:, s.LOG], heads[:, s.LOG_END], heads[:, s.ROOM] = begin + table, begin + table + log, begin + table + log
    return memory
