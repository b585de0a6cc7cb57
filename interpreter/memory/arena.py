"""Device memory: one reserved stretch of address space with typed views, and the allocations in it.

Addresses of an Arena start at `base`; where that is 0, the first pages are never given out, so that null is not an address.  Freed memory
rests in quarantine before it serves again, which is how use after free is found.
"""

from __future__ import annotations

import mmap
from array import array
from bisect import bisect_left, bisect_right, insort
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .address_space import address_space
from .objects import Named

Array = NDArray[Any]

GRANULE = 256  # cudaMalloc's alignment
GUARD = 256  # the least gap between two allocations
QUARANTINE = 256 << 20  # freed bytes that rest before they are used again
MOST_RESTING = 4096  # allocations that rest: finding one among them stays cheap
NAMED = {"const": "constant", "param": "kernel parameters"}  # how allocations are called that lie in a space of their own
FIRST = 1 << 16  # addresses below are null and its neighbourhood
MOST_SLIPS = 16  # accesses outside of allocations that are remembered between two launches
SLACK = 1 << 20  # reserved beyond what may be allocated, for gaps
_NAMES = tuple(NAMED.values())


class OutOfMemory(Exception):
    """No room for an allocation."""


@dataclass(slots=True, eq=False)
class Allocation:
    """A stretch of memory that someone asked for."""

    start: int
    size: int
    what: str = "allocation"
    writable: bool = True
    freed: bool = False
    reused: bool = False  # has it served another allocation before?
    object: Named | None = None  # what it holds, where that has a name

    @property
    def end(self) -> int:
        return self.start + self.size


class Arena:
    """Bytes with addresses, and the allocations among them."""

    def __init__(self, size: int, base: int = 0, memory: mmap.mmap | None = None) -> None:
        self.base = base
        self.size = size
        self.limit = size  # what the user may allocate in all, below the reserved size
        self._map = address_space(size + FIRST + SLACK) if memory is None else memory
        self.bytes: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)
        self.reserved = self.bytes.size
        self.host_address = int(self.bytes.ctypes.data)
        self._views: dict[str, Array] = {}
        self._begin()

    def _begin(self) -> None:
        """Nothing is allocated."""
        self._hold()
        self._top = 0 if self.base else FIRST
        self._resting: deque[Allocation] = deque()
        self._resting_bytes = 0
        self._free: list[tuple[int, int]] = []  # (room, start), sorted by room
        self.used = 0

    def _hold(self, *allocations: Allocation) -> None:
        """There are these allocations."""
        self._starts = [a.start for a in allocations]  # of all, living or resting, in order
        self._begins: Array | None = None
        self._by_start = {a.start: a for a in allocations}
        self._living = list(allocations)  # in order, too
        self.extents = array("q", [x for a in allocations for x in (a.start, a.end, a.writable)])  # of those that live
        self.named: list[Allocation] = []  # those of them that lie in a space of NAMED
        self.version = 0  # grows with each allocation and each end of one

    def view(self, dtype: np.dtype[Any]) -> Array:
        """All of the memory as elements of a dtype."""
        found = self._views.get(dtype.char)
        if found is None:
            found = self._views[dtype.char] = self.bytes[: self.reserved & ~15].view(dtype)
        return found

    def allocate(self, size: int, what: str = "allocation", align: int = GRANULE, writable: bool = True) -> Allocation:
        """New memory, zero when it was never used before."""
        align = max(align, GRANULE)
        room = -(-(size + GUARD) // GRANULE) * GRANULE
        if self.used + size > self.limit:
            raise OutOfMemory
        before = self._top
        start = self._find(room, align)
        a = Allocation(self.base + start, size, what, writable, reused=start < before)
        insort(self._starts, a.start)
        self._begins = None
        self.version += 1
        self._by_start[a.start] = a
        at = bisect_left(self._living, a.start, key=_start)
        self._living.insert(at, a)
        self.extents[3 * at : 3 * at] = array("q", (a.start, a.end, writable))
        if a.what.startswith(_NAMES):
            self.named.append(a)
        self.used += size
        return a

    def _find(self, room: int, align: int) -> int:
        for j in range(bisect_right(self._free, (room, -1)), len(self._free)):
            have, first = self._free[j]
            start = -(-first // align) * align
            if start + room <= first + have:
                del self._free[j]
                self._spare(first, start)
                self._spare(start + room, first + have)
                return start
        start = -(-self._top // align) * align
        if start + room > self.reserved:
            if self._resting:
                while self._resting:
                    self._recycle()
                return self._find(room, align)
            raise OutOfMemory
        self._spare(self._top, start)
        self._top = start + room
        return start

    def _spare(self, start: int, end: int) -> None:
        """A stretch before or behind an allocation serves others if it is large enough."""
        if end - start >= 2 * GRANULE:
            insort(self._free, (end - start, start))

    def free(self, a: Allocation) -> None:
        """Ends an allocation; its addresses are remembered as freed while they rest."""
        assert not a.freed, a
        a.freed = True
        self.version += 1
        self.used -= a.size
        at = bisect_left(self._living, a.start, key=_start)
        del self._living[at], self.extents[3 * at : 3 * at + 3]
        if a in self.named:
            self.named.remove(a)
        self._resting.append(a)
        self._resting_bytes += a.size
        while self._resting_bytes > QUARANTINE or len(self._resting) > MOST_RESTING:
            self._recycle()

    def _recycle(self) -> None:
        a = self._resting.popleft()
        self._resting_bytes -= a.size
        self._begins = None
        del self._by_start[a.start]
        del self._starts[bisect_right(self._starts, a.start) - 1]
        insort(self._free, (-(-(a.size + GUARD) // GRANULE) * GRANULE, a.start - self.base))

    @property
    def begins(self) -> Array:
        """Where allocations, living or resting, begin, in order."""
        if self._begins is None:
            self._begins = np.array(self._starts, np.int64)
        return self._begins

    def spans(self, address: int) -> bool:
        """Is an address one of this memory's, allocated or not?"""
        return self.base <= address < self.base + self.reserved

    def find(self, address: int) -> Allocation | None:
        """The allocation, living or resting, that holds an address."""
        i = bisect_right(self._starts, address) - 1
        if i < 0:
            return None
        a = self._by_start[self._starts[i]]
        return a if address < a.start + max(a.size, 1) else None

    def holds(self, low: int, end: int, write: bool) -> bool:
        """Does one living allocation hold [low, end)?"""
        i = bisect_right(self._starts, low) - 1
        if i < 0:
            return False
        a = self._by_start[self._starts[i]]
        return end <= a.start + a.size and not a.freed and (a.writable or not write)

    def holds_each(self, low: Array, size: int, write: bool) -> Array:
        """Does a living allocation hold [low, low + size)?  For each of many addresses; only allocations before one of them are looked at."""
        before = np.searchsorted(self.begins.astype(np.uint64), low, side="right")  # so many allocations begin at or below an address
        good = np.zeros(len(self._starts) + 1, np.uint64)  # ends of what is legal in each, for the first byte of an access
        for i in np.flatnonzero(np.bincount(before)[1:]).tolist():
            start = self._starts[i]
            if self.holds(start, start + size, write):
                good[i + 1] = self._by_start[start].end - size + 1
        out: Array = low < good[before]
        return out

    def nearest(self, address: int, size: int = 0) -> str:
        """Where an address lies among the allocations, in words.  `size`: bytes of the accessed element."""
        i = bisect_right(self._starts, address) - 1
        before = self._by_start[self._starts[i]] if i >= 0 else None
        after = self._by_start[self._starts[i + 1]] if i + 1 < len(self._starts) else None
        best = before
        if before and after and address >= before.end and address - before.end > after.start - address:
            best = after
        if best and best.object:
            return best.object.seen_as(size).at(address - best.start, "freed " if best.freed else "", best.start)
        if before and address < before.end:
            state = "freed " if before.freed else ""
            return f"{address - before.start} bytes into the {state}{before.size}-byte {before.what} at {before.start:#x}"
        if before and (after is None or address - before.end <= after.start - address):
            return f"{address - before.end} bytes after the {before.size}-byte {before.what} at {before.start:#x}"
        if after:
            return f"{after.start - address} bytes before the {after.size}-byte {after.what} at {after.start:#x}"
        return "nothing is allocated"

    def living(self) -> list[Allocation]:
        """Every allocation that was not freed, by address."""
        return self._living.copy()


def _start(a: Allocation) -> int:
    return a.start
