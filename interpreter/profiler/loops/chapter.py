"""A chapter of a launch's accesses, which the compiled loops follow through all L1s, and, as far as these miss, through L2."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..caches import Held
from ..sectors import Bits
from ..touch import Touch
from . import words as s
from .compiled import Loops

Index = NDArray[np.int64]
TIMES = 1 << 63 - s.USED_AT  # that a word of the table has room for
REGION_BITS = 20  # of the number of a line within a region of memory
FAR = 1 << 6  # regions between lines


class ChapterFound(NamedTuple):
    """What the accesses of a chapter found."""

    counts: list[list[int]]  # of each: where its uses end; its sectors, those found in L1 and in L2
    hits: Bits  # the sectors that each use found in L1
    written: int  # sectors that became dirty in L2
    l1: Held | None  # what they hold in the end, if asked for
    l2: Held | None


class ChapterRoom:
    """The arrays of chapters, which grow where need be: the first use of new memory is slow, so that they serve one chapter and launch after another."""

    KEPT = 1 << 21  # elements of the largest array that a later launch gets
    _spare: ClassVar[list[ChapterRoom]] = []

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.time = 1  # of the next use; what the table has of earlier ones means nothing

    @classmethod
    def get(cls) -> ChapterRoom:
        """That of an earlier launch, or a new one."""
        return cls._spare.pop() if cls._spare else cls()

    def give_back(self) -> None:
        """A later launch may have it."""
        if all(a.size <= self.KEPT for a in self.arrays.values()):
            self._spare.append(self)

    def of(self, name: str, kind: type[np.generic], size: int) -> Any:
        """An array with room for so many elements, and with what it has in its first ones; new elements are 0."""
        found = self.arrays.get(name)
        if found is None or found.size < size:
            grown = np.zeros(max(size, 2 * (0 if found is None else found.size)), kind)
            if found is not None:
                grown[: found.size] = found
            self.arrays[name] = found = grown
        return found


class Chapter:
    """Accesses to caches, L1s and an L2 of so many lines; there may be no L1."""

    def __init__(self, loops: Loops, l1_lines: int, l2_lines: int) -> None:
        self._loops, self._lines, self.room = loops, (l1_lines, l2_lines), ChapterRoom.get()
        self.uses = self.accesses = self._runs = 0
        self._partly = False  # do some stores write words in part?

    def begin(self, l1: Held | None, l2: Held | None) -> int:
        """The caches hold something when the chapter begins; gives how many accesses bring it in."""
        self.uses = self.accesses = self._runs = 0
        self._partly = False
        for held, kinds in (l1, (s.RESTORE, s.NOTHING)), (l2, (s.NOTHING, s.RESTORE)):
            if held is not None:
                n = held.line.size
                self.add(held.cache, Touch(np.zeros(0, np.int64), np.arange(n), held.line, held.valid), 0, held.written, kinds)
        return self.accesses

    def add(self, cache: NDArray[Any], t: Touch, start: int, covered: Bits | None, kinds: tuple[int, int]) -> None:
        """An access, `start` lines further on than its touch; `cache`: the number of the L1 of each warp.

        `covered`: the words that a store of bytes or halfwords writes in full.  `kinds`: of its uses of L1 and of L2.
        """
        before, n, room = self.uses, t.line.size, self.room
        at, self.uses, self.accesses = self.accesses * s.ACCESS, before + n, self.accesses + 1
        words = room.of("words", np.uint32, self.uses)
        self._runs = self._loops.enter(
            t.warp, t.line, t.words, n, start, cache.astype(np.int64), *kinds, room.of("accesses", np.int64, at + s.ACCESS), at, before,
            room.of("lines", np.int64, self.uses), words, room.of("runs", np.int64, self._runs + s.RUN * cache.size), self._runs,
        )  # fmt: skip
        if covered is not None or self._partly:
            full = room.of("covered", np.uint32, self.uses)
            if not self._partly:
                full[:before] = words[:before]
            full[before : self.uses] = t.words if covered is None else covered
            self._partly = True

    def follow(self, *, keep: bool) -> ChapterFound:
        """What the accesses find, in the order of time; `keep`: and what the caches hold in the end."""
        room, n = self.room, self.uses
        line, regions = _near(room.of("lines", np.int64, n)[:n])
        low, high = _ends(line, s.PAGE_BITS)
        pages, bases = np.full(high - low + 1, -1), np.empty(min(n, high - low + 1), np.int64)
        places = room.of("places", np.uint32, n)
        size = self._loops.find_places(line, n, pages, low, bases, places) << s.PAGE_BITS
        covered = room.of("covered", np.uint32, n) if self._partly else None
        hits = room.of("hits", np.uint32, n)[:n]
        hits[:] = 0
        accesses = room.of("accesses", np.int64, self.accesses * s.ACCESS)[: self.accesses * s.ACCESS].reshape(-1, s.ACCESS)
        table, log = room.of("table", np.int64, size), room.of("log", np.uint32, n + s.AHEAD + 1)
        if room.time + 2 * n >= TIMES:
            table[:], room.time = 0, 1
        state = np.zeros(s.STATE, np.int64)
        held: list[Held | None] = [None, None]
        for level, lines in enumerate(self._lines):
            runs = _one_run_each(accesses) if level else room.of("runs", np.int64, 0)[: self._runs].reshape(-1, s.RUN)
            runs = runs[accesses[runs[:, s.WHICH] // s.ACCESS, s.FIRST + level] != s.NOTHING]
            if not lines:
                continue
            state[s.TIME], state[s.WRITTEN] = room.time, 0
            kept = np.empty((n if keep else 0, s.LINE_HELD), np.int64)
            left = self._loops.follow(
                level, lines, accesses, runs, runs[:, s.NUMBER].argsort(kind="stable"), len(runs), places, room.arrays["words"], covered, self._partly,
                hits, table, log, state, bases, keep, kept,
            )  # fmt: skip
            room.time = int(state[s.TIME])
            if keep:
                cache, resident, valid, marks = kept[:left].T
                held[level] = Held(cache.copy(), _far(resident.copy(), regions), valid.astype(np.uint32), marks.astype(np.uint32))
        counts: list[list[int]] = accesses[:, [s.END, s.SECTORS, s.HITS, s.L2_HITS]].tolist()
        return ChapterFound(counts, hits, int(state[s.WRITTEN]), *held)


def _ends(line: Index, bits: int) -> tuple[int, int]:
    """The first and the last part of memory that lines lie in, in parts of 1 << `bits` lines."""
    return int(line.min()) >> bits, int(line.max()) >> bits


def _near(line: Index) -> tuple[Index, Index | None]:
    """Lines that lie far apart, such as those of texels and of memory of the host, moved together; the regions in which they lay, None: they do not."""
    first, last = _ends(line, REGION_BITS)
    if last - first < FAR:
        return line, None
    region = (line >> REGION_BITS) - first
    there = np.zeros(last - first + 1, np.bool_)
    there[region] = True
    number = np.cumsum(there) - 1
    return number[region] << REGION_BITS | line & (1 << REGION_BITS) - 1, there.nonzero()[0] + first


def _far(line: Index, regions: Index | None) -> Index:
    """The lines where they lay."""
    return line if regions is None else regions[line >> REGION_BITS] << REGION_BITS | line & (1 << REGION_BITS) - 1


def _one_run_each(accesses: Index) -> Index:
    """All uses of each access as those of one cache."""
    out = np.zeros((len(accesses), s.RUN), np.int64)
    out[:, s.WHICH], out[:, s.STOP] = np.arange(len(accesses)) * s.ACCESS, accesses[:, s.END]
    out[1:, s.BEGIN] = accesses[:-1, s.END]
    return out
