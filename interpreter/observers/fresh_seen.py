"""What became of a launch's accesses in the chapters before: what L2 holds, and those who came last, which tell what L1 does."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .l2 import Lines, SharedCache
from .sectors import SECTOR_WORDS, Demand, firsts, line_words, united
from .uses import SECTOR_BITS, Waiting

if TYPE_CHECKING:
    from .fresh_tables import Stretch

Index = NDArray[np.int64]
Emptied = list[tuple[int, Index]]
BROUGHT, DIRTY = 1, 2
AGES, KINDS = 16, 4
MIX = np.uint32(0x9E3779B1)
FILLS = 4  # times that the last accesses fill a cache: what it held before is gone, or was used again


@dataclass(frozen=True, slots=True)
class Held:
    """What an L2 holds that had no room for all: of a part of all lines, sectors in order, which were brought or are dirty, and since when."""

    thin: int  # bits: one line of 2**thin is looked at
    sectors: Index
    kind: Index  # BROUGHT, DIRTY or both
    age: Index  # the higher, the later its line was used last, below AGES

    @staticmethod
    def of(seen: Seen, thin: int) -> Held:
        """When there was room for all so far."""
        every = merged(seen.read, seen.dirty)
        every = every.compress(is_chosen((every >> SECTOR_BITS).astype(np.uint32), thin))
        kind = BROUGHT * np.isin(every, seen.read) + DIRTY * np.isin(every, seen.dirty)
        return Held(thin, every, kind, np.zeros(every.size, np.int64))


def is_chosen(line: NDArray[np.uint32], thin: int) -> NDArray[np.bool_]:
    """Are these lines looked at?"""
    if not thin:
        return np.ones(line.shape, np.bool_)
    found: NDArray[np.bool_] = line * MIX >> np.uint32(32 - thin) == 0
    return found


@dataclass(slots=True)
class Seen:
    """Sectors of L2 by number, ascending, and the last accesses, which are told nothing any more."""

    read: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    dirty: Index = field(default_factory=lambda: np.zeros(0, np.int64))
    parted: Index = field(default_factory=lambda: np.zeros(0, np.int64))  # of which only some words were stored
    words: NDArray[np.uint8] = field(default_factory=lambda: np.zeros(0, np.uint8))  # and which of these
    last: list[Waiting] = field(default_factory=list)
    told: int = 0  # so many of these have been to L2
    emptied: Emptied = field(default_factory=list)  # caches of L1 before some of these
    held: Held | None = None  # where L2 had no room for all

    @property
    def is_empty(self) -> bool:
        """Has nobody been there?"""
        return not (self.read.size or self.dirty.size or self.last or self.held)

    @property
    def lines(self) -> Index:
        """Those that L2 holds."""
        line = merged(self.read, self.dirty) >> SECTOR_BITS  # what was stored is dirty
        return line.take(firsts(line))

    def keep(self, waiting: list[Waiting], emptied: Emptied, lines: int) -> None:
        """Remembers the last ones of some accesses, enough to fill caches of so many lines."""
        crowd, begin = 0, len(waiting)
        while begin and crowd < FILLS * lines:
            begin -= 1
            crowd += waiting[begin].f.most_lines(waiting[begin].rows)
        counts = [not (w.there or (w.again and not w.other_words)) for w in waiting[begin:]]
        self.last = [Waiting(w.way, w.f, w.start, w.rows, silent=True) for w, count in zip(waiting[begin:], counts, strict=True) if count]
        self.told = len(self.last)
        left = np.cumsum([0, *counts]).tolist()
        self.emptied = [(left[turn - begin], some) for turn, some in emptied if turn >= begin]

    def hold(self, held: Held) -> None:
        """L2 holds no more than that."""
        self.held = held
        self.read, self.dirty = (held.sectors.compress((held.kind & kind) > 0) for kind in (BROUGHT, DIRTY))
        self.parted, self.words = self.parted[:0], self.words[:0]

    def store(self, sectors: Index, words: NDArray[np.uint8], known: Index) -> None:
        """Words that were stored by now, which take the place of what was `known` of sectors with parts."""
        whole = words == SECTOR_WORDS
        self.read = merged(self.read, sectors[whole])
        rest = ~(whole | np.isin(sectors, self.read, assume_unique=True))
        parted = np.concatenate([np.delete(self.parted, known), sectors[rest]])
        order = np.argsort(parted)
        self.parted, self.words = parted[order], np.concatenate([np.delete(self.words, known), words[rest]])[order]

    def bring(self, cache: SharedCache) -> None:
        """Puts what L2 holds into one that is asked by one access after the other."""
        parted = np.isin(self.dirty, self.parted)
        words = line_words(self.dirty)
        words[parted] = self.words.astype(np.int64) << ((self.parted & 3) << 3)
        for sectors, bits, ask in ((self.read, line_words(self.read), cache.load), (self.dirty, words, cache.store)):
            line = sectors >> SECTOR_BITS
            starts = firsts(line)
            if starts.size:
                ask(Lines(line.take(starts)), 0, Demand(united(bits, starts)))


def merged(a: Index, b: Index) -> Index:
    """The different ones of two."""
    if not (a.size and b.size):
        return a if a.size else b
    both = np.concatenate([a, b])
    both.sort()
    return both.take(firsts(both))


def numbers(sectors: Index, stretches: list[Stretch]) -> Index:
    """The numbers that sectors, ascending, have in some stretches; others are left out."""
    found = [sectors[a:b] + (s.number - s.low << SECTOR_BITS) for s, a, b in _parts(sectors, [(s, s.low) for s in stretches])]
    return np.concatenate(found) if found else sectors[:0]


def inside(sectors: Index, stretches: list[Stretch]) -> Index:
    """Which of them these are."""
    found = [np.arange(a, b) for _, a, b in _parts(sectors, [(s, s.low) for s in stretches])]
    return np.concatenate(found) if found else sectors[:0]


def sectors_of_numbers(number: Index, stretches: list[Stretch]) -> Index:
    """The sectors that have these numbers, ascending."""
    found = [number[a:b] + (s.low - s.number << SECTOR_BITS) for s, a, b in _parts(number, [(s, s.number) for s in stretches])]
    return np.concatenate(found) if found else number[:0]


def _parts(ascending: Index, stretches: list[tuple[Stretch, int]]) -> Iterator[tuple[Stretch, int, int]]:
    """Which of some sectors lie in each stretch, that begins at a line."""
    begins = ascending.searchsorted(np.array([line << SECTOR_BITS for _, line in stretches]))
    ends = ascending.searchsorted(np.array([line + s.lines << SECTOR_BITS for s, line in stretches]))
    for (s, _), a, b in zip(stretches, begins.tolist(), ends.tolist(), strict=True):
        if b > a:
            yield s, a, b
