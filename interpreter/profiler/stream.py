"""The accesses of a launch to global memory, followed through L1, and what misses, through L2.

Many are followed together: they are kept until the launch ends or until there are enough for a chapter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import caches
from .caches import STREAM, Held, Uses, find
from .loops.chapter import Chapter
from .loops.compiled import load
from .places import HITS, Counts
from .sectors import SECTOR_WORDS, Bits, touched
from .tally import AccessTally
from .touch import Touch

Index = NDArray[np.int64]
Caches = NDArray[np.uint16] | Index

MANY = 1 << 21  # uses of a chapter that numpy follows
CHAPTER = 1 << 20  # uses of one that compiled loops follow, so that the caches of the host hold it
TIMES_HELD = 8  # but as many times the lines that are held from the chapter before, which have to be brought in
ACCESS = 16  # uses that need as much memory as what is kept of an access itself
NUMBERS = 1 << 16  # of caches: an L1 that was emptied goes on under another number


class Way(Enum):
    """What an access does to L1 and to L2."""

    LOAD = caches.LOAD, caches.LOAD
    STREAM = caches.STREAM, caches.LOAD  # allocates no line in L1
    PASS = caches.DROP, caches.LOAD  # a load past L1
    STORE = caches.STORE, caches.STORE
    PATCH = caches.PATCH, caches.STORE  # allocates no line in L1
    PAST = caches.DROP, caches.STORE  # a store past L1
    ATOMIC = caches.DROP, caches.UPDATE


@dataclass(frozen=True, slots=True)
class Account:
    """Where an access counts what the caches found."""

    tally: AccessTally
    allocations: Sequence[Counts | None]
    which: Index | None  # the allocation of each entry of its touch, where there are several
    unit: int = 1  # sectors of a transaction

    def add(self, sectors: int, hits: int, l2_hits: int, each: Bits) -> None:
        """Adds the sectors of one access, and those of them found in L1 and in L2; `each`: sectors found in L1 by entry."""
        a = self.tally
        a.hits += hits // self.unit
        a.l2 += sectors - hits
        a.l2_hits += l2_hits
        if hits:
            by = [hits] if self.which is None else sums(np.bitwise_count(each), self.which)
            for counts, n in zip(self.allocations, by, strict=False):
                if counts is not None:
                    counts[HITS] += n // self.unit


def sums(values: NDArray[np.uint8], which: Index) -> list[int]:
    """The sum of the values of each number."""
    found: list[int] = np.bincount(which, weights=values).astype(np.int64).tolist()
    return found


class Kept(NamedTuple):
    """One access that waits for its chapter's end."""

    way: Way
    account: Account
    cache: Caches  # of each warp
    touch: Touch
    start: int  # the line that the touch is relative to
    covered: Bits | None  # the words that a store of bytes or halfwords writes in full


class UseStream:
    """The accesses of one launch, chapter by chapter; what the caches hold goes on from one chapter to the next."""

    def __init__(self, multiprocessors: int, l1_lines: int, l2_lines: int, engine: str = "numpy") -> None:
        self._caches, self._l1_lines, self._l2_lines, self._engine = multiprocessors, l1_lines, l2_lines, engine
        self._chapter: Chapter | None = None  # where compiled loops follow it
        self._accounts: list[Account | None] = []  # of its accesses
        self._kept: list[Kept] = []  # where numpy does
        self._uses, self._most = 0, MANY
        self._emptied = np.zeros(multiprocessors, np.int64)  # how often each L1 was emptied in this chapter
        self._l1: Held | None = None
        self._l2: Held | None = None
        self.written = 0  # sectors that became dirty in L2

    def add(self, way: Way, account: Account, cache: Caches, touch: Touch, start: int, covered: Bits | None = None) -> None:
        """One access, made by warps on the multiprocessors `cache`."""
        if not self._l2_lines:
            return  # before 2.0 there are no caches
        if self._emptied.any():
            cache = cache + self._caches * self._emptied[cache]
        self._keep(Kept(way, account, cache, touch, start, covered))

    def _keep(self, access: Kept) -> None:
        uses = access.touch.line.size + ACCESS
        loops = load(uses, self._engine)
        if loops is None:
            self._kept.append(access)
        else:
            if self._chapter is None:
                self._chapter = Chapter(loops, self._l1_lines, self._l2_lines)
                self._begin(self._chapter, self._l1, self._l2)
                for k in self._kept:
                    self._enter(self._chapter, k)
                self._kept.clear()
            self._enter(self._chapter, access)
        self._uses += uses
        if self._uses > self._most:
            self.settle()

    def _begin(self, chapter: Chapter, l1: Held | None, l2: Held | None) -> None:
        """The chapter begins with what caches hold."""
        self._accounts = [None] * chapter.begin(l1, l2)
        self._most = max(CHAPTER, TIMES_HELD * chapter.uses)

    def _enter(self, chapter: Chapter, k: Kept) -> None:
        chapter.add(k.cache, k.touch, k.start, k.covered, k.way.value)
        self._accounts.append(k.account)

    def empty(self, multiprocessors: Index) -> None:
        """The L1s of these multiprocessors are emptied."""
        self._emptied[multiprocessors] += 1
        if (int(self._emptied.max()) + 1) * self._caches > NUMBERS:
            self.settle()

    def settle(self, *, last: bool = False) -> None:
        """Ends a chapter: counts what its accesses found; the `last` one keeps nothing."""
        self._uses = 0
        if self._chapter is None:
            self._settle(last=last)
            return
        if self._chapter.uses:
            self._follow(self._chapter, last=last)
        if last:
            self._chapter.room.give_back()

    def _follow(self, chapter: Chapter, *, last: bool) -> None:
        """The chapter's accesses go through the caches one use after another."""
        found, begin = chapter.follow(keep=not last), 0
        self.written += found.written
        for account, (end, sectors, hits, l2_hits) in zip(self._accounts, found.counts, strict=True):
            if account is not None:
                account.add(sectors, hits, l2_hits, found.hits[begin:end])
            begin = end
        if not last:
            self._begin(chapter, None if found.l1 is None else self._go_on(found.l1), found.l2)
        self._emptied[:] = 0

    def _go_on(self, h: Held) -> Held:
        """What the L1s hold that were not emptied."""
        where, times = h.cache % self._caches, h.cache // self._caches
        now = times == self._emptied[where]
        return Held(where[now], h.line[now], h.valid[now], h.written[now])

    def _settle(self, *, last: bool) -> None:
        """The same with numpy."""
        kept, self._kept = self._kept, []
        sizes = np.array([k.touch.line.size for k in kept], np.int64)
        if not sizes.any():
            return
        line = np.concatenate([k.touch.line + k.start if k.start else k.touch.line for k in kept])
        words = np.concatenate([k.touch.words for k in kept])
        cache = np.concatenate([k.cache.take(k.touch.warp) for k in kept]).astype(np.uint16)
        first, second = (np.repeat(np.array([k.way.value[level] for k in kept], np.uint8), sizes) for level in (0, 1))
        covered = None
        if any(k.covered is not None for k in kept):
            covered = np.concatenate([k.touch.words if k.covered is None else k.covered for k in kept])
        hits = self._in_l1(Uses(cache, line, words, first, covered), last=last)
        sectors = touched(words)
        missed = sectors ^ hits
        rows = missed.nonzero()[0]
        asked = np.where(first.take(rows) <= STREAM, missed.take(rows) * SECTOR_WORDS, words.take(rows))  # L1 asks for whole sectors
        l2_hits = np.zeros(line.size, np.uint32)
        l2_hits[rows] = self._in_l2(Uses(np.zeros(rows.size, np.uint16), line.take(rows), asked, second.take(rows)), last=last)
        begins = np.cumsum(sizes) - sizes
        some = sizes.nonzero()[0]
        counts = (np.add.reduceat(np.bitwise_count(x), begins[some], dtype=np.int64).tolist() for x in (sectors, hits, l2_hits))
        for at, *found in zip(some.tolist(), *counts, strict=True):
            kept[at].account.add(*found, hits[begins[at] : begins[at] + sizes[at]])

    def _in_l1(self, u: Uses, *, last: bool) -> Bits:
        if last and not (u.kind <= STREAM).any():
            return np.zeros(u.line.size, np.uint32)
        found = find(_after(self._l1, u), self._l1_lines, clash=True, keep=not last)
        if found.held is not None:
            self._l1 = self._go_on(found.held)
        self._emptied[:] = 0
        return found.hits[-u.line.size :]

    def _in_l2(self, u: Uses, *, last: bool) -> Bits:
        if not u.line.size:
            return u.words
        before = 0 if self._l2 is None else int(np.bitwise_count(self._l2.written).sum())
        found = find(_after(self._l2, u), self._l2_lines, clash=False, keep=not last)
        self.written += found.written - before
        if found.held is not None:
            self._l2 = found.held
        return found.hits[-u.line.size :]


def _after(held: Held | None, u: Uses) -> Uses:
    """Uses of caches that hold something already: empty ones that first come to hold it."""
    if held is None or not held.line.size:
        return u
    before = held.uses()
    covered = np.concatenate([before.words if before.covered is None else before.covered, u.words if u.covered is None else u.covered])
    cache, line, words, kind = (np.concatenate([one, other]) for one, other in zip(before[:4], u[:4], strict=True))
    return Uses(cache, line, words, kind, covered)
