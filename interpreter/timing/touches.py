"""When each sector of device memory was touched first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..profiler.sectors import ALL_WORDS
from ..profiler.texels import ARRAYS
from ..profiler.touch import KEY_BITS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..launch import Launch
    from ..memory.arena import Arena

Index = NDArray[np.int64]
LINE, SECTOR, LINE_SECTORS = 128, 32, 4
NEVER = (1 << 31) - 1
SPAN = 1 << KEY_BITS + 2  # bytes that lines tell apart: addresses of the host may have one bit more


class FirstTouches:
    """When each sector of some memory was touched first: 4 bytes a sector."""

    def __init__(self, origin: int, lines: int) -> None:
        self.origin, self.lines = origin, max(0, lines)
        self.clock = np.zeros((self.lines, LINE_SECTORS), np.int32)  # less NEVER, so that 0 is later than every time
        self.low, self.high = self.lines, 0  # of what was touched

    def add(self, line: Index, words: NDArray[np.uint32], clock: int) -> bool:
        """Lines of which some words are touched; False if they lie elsewhere."""
        place = line - self.origin
        low, high = (int(place.min()), int(place.max()) + 1) if place.size else (0, 0)
        if low < 0 or high > self.lines or not high:
            return not place.size
        self.low, self.high = min(self.low, low), max(self.high, high)
        if (words == ALL_WORDS).all():
            self.clock[place] = np.minimum(self.clock[place], clock - NEVER)
        else:
            entry, which = sectors_of(words)
            flat, at = self.clock.reshape(-1), place[entry] * LINE_SECTORS + which
            flat[at] = np.minimum(flat[at], clock - NEVER)
        return True

    def before(self, sector: Index, clock: Index) -> NDArray[np.bool_]:
        """Was each sector touched before a clock?"""
        place = sector - self.origin * LINE_SECTORS
        there = (place >= 0) & (place < self.clock.size)
        if not there.any():
            return there
        return there & (self.clock.reshape(-1)[np.where(there, place, 0)] < clock - NEVER)

    @property
    def count(self) -> int:
        """Sectors that were touched."""
        return int(np.count_nonzero(self.clock[self.low : self.high]))


class GrowingTouches(FirstTouches):
    """The same of memory whose end is not known before."""

    def add(self, line: Index, words: NDArray[np.uint32], clock: int) -> bool:
        end = int(line.max(initial=0)) + 1 - self.origin
        if end > self.lines:
            self.lines = 2 * end
            self.clock = np.concatenate([self.clock, np.zeros((self.lines - len(self.clock), LINE_SECTORS), np.int32)])
            self.low = min(self.low, len(self.clock))
        return super().add(line, words, clock)


def touches_of(launch: Launch) -> tuple[FirstTouches, GrowingTouches]:
    """Of a launch: those of memory with addresses, and of arrays."""
    origin = int(launch.arena.base) // LINE
    end = max((a.end for a in launch.arena.living()), default=0)
    return FirstTouches(origin, -(-end // LINE) - origin), GrowingTouches(ARRAYS // LINE, 0)


class FarTouches:
    """The sectors that are moved from and to memory of the host and of other devices, by allocation: (loaded, stored) of each by its start."""

    def __init__(self, arenas: Sequence[Arena]) -> None:
        self._arenas = arenas
        self.sectors: dict[int, tuple[int, int]] = {}

    def add(self, line: Index, words: NDArray[np.uint32], stores: bool) -> None:
        """Lines of one access, all of one allocation."""
        places = ((a, a.base + (int(line[0]) * LINE - a.base) % SPAN) for a in self._arenas)
        found = next((a.find(address) for a, address in places if a.spans(address)), None)
        if found is not None:
            loaded, stored = self.sectors.get(found.start, (0, 0))
            moved = sectors_of(words)[0].size
            self.sectors[found.start] = (loaded, stored + moved) if stores else (loaded + moved, stored)


def sectors_of(words: NDArray[np.uint32]) -> tuple[Index, Index]:
    """(entry, sector in its line) of the words of lines."""
    entry, which = np.stack([(words >> 8 * n & 0xFF) != 0 for n in range(LINE_SECTORS)], axis=1).nonzero()
    return entry, which
