"""Accesses whose way through the caches waits, so that many are followed at once, and the numbers that stand for what their lanes use.

A use is one number: cache, line, then the turn of its access and the sector in the one order or the other, and the word where that matters.
Sorted, the uses of a line or of a sector stand together in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .footprint import Footprint
from .rows import Rows
from .sectors import SECTOR_WORDS

Index = NDArray[np.int64]
Numbers = NDArray[Any]


class Sink(Protocol):
    """Where is counted what some accesses found."""

    def tell(self, w: Waiting, total: int, hits: int, l2: int, l2_hits: int) -> None:
        """Of one or more accesses, of which `w` is one: sectors in all, found in L1, asked of L2 and found there."""

    def sample(self, f: Footprint, start: int) -> None:
        """One access may be the worst."""


WORD = 4  # bytes
SECTOR_BITS = 2  # of a sector in its line
PIECE = 1 << 17  # uses
WORD_BITS = 3  # of a word in its sector


class Way(Enum):
    """What an access asks of the caches."""

    LOAD = "through L1, which keeps what it lacked"
    STREAM = "through L1, which keeps of it what belongs to its lines"
    PASS = "past L1, which forgets the line"
    STORE = "into both"
    ATOMIC = "at L2, and L1 forgets the line"


@dataclass(slots=True, eq=False)
class Waiting:
    """One access, whose footprint begins at line `start`, by rows on these multiprocessors."""

    way: Way
    f: Footprint
    start: int
    rows: Rows
    sink: Sink | None = None  # is told in the end; what those of one find is summed
    silent: bool = False  # it was told already, and only comes before others
    there: bool = False  # all that it uses is in both caches, and none of it has had to go since it was used last
    again: bool = False  # it stores what was stored so lately that none of it has had to go
    other_words: bool = False  # of the same sectors
    whole: Waiting | None = None  # the access of which this is the first warp's part
    times: int = 1  # warps that it stands for

    @property
    def brings(self) -> bool:
        """Are all sectors that it uses there afterwards, as a whole?"""
        return self.way is Way.LOAD or (self.way is Way.STORE and (self.there or (self.f.width >= WORD and not self.f.parts)))

    def tell(self, total: int, hits: int, l2: int, l2_hits: int) -> None:
        """Hands on what the caches found."""
        if self.sink is not None:
            n = self.times
            self.sink.tell(self.whole or self, n * total, n * hits, n * l2, n * l2_hits)


def span_of(waiting: list[Waiting]) -> tuple[int, int]:
    """The first and the last line of some accesses."""
    return min(w.f.ends[0] + w.start for w in waiting), max(w.f.ends[1] + w.start for w in waiting)


def count_of(what: Numbers, many: int) -> Index:
    """How often each of so many numbers comes."""
    return np.bincount(what.view(np.int64) if what.itemsize == 8 else what, minlength=many)


@dataclass(frozen=True, slots=True)
class Frame:
    """How many bits the parts of a number have."""

    low: int  # the line that others are counted from
    line_bits: int
    turn_bits: int
    word_bits: int  # 0: words do not matter
    cache_bits: int
    part_bits: int = 0  # of the turn: its warps come one after the other

    @staticmethod
    def of(waiting: list[Waiting], caches: int) -> Frame:
        """Wide enough for these accesses."""
        low, high = span_of(waiting)
        words = any(w.way is Way.STORE and not w.brings for w in waiting)
        return Frame(low, (high - low).bit_length(), (len(waiting) - 1).bit_length(), WORD_BITS if words else 0, (caches - 1).bit_length())

    @property
    def place_bits(self) -> int:
        """Of all but the cache."""
        return self.line_bits + SECTOR_BITS + self.turn_bits + self.word_bits

    @property
    def fits(self) -> bool:
        """Has a number room for all of it?"""
        return self.place_bits + self.cache_bits < 64

    def pack(self, chosen: Iterable[tuple[int, Waiting]], *, private: bool, by_turn: bool = False) -> Numbers:
        """The uses of some accesses, each with its turn, in order; of lines of the cache that all share, if not of `private` ones.

        Sorted by sector and then by turn; `by_turn`: by line, turn and then sector.
        """
        parts = [(turn, w, *w.f.uses(w.rows)) for turn, w in chosen]
        kind: Any = np.uint32 if self.place_bits + (self.cache_bits if private else 0) <= 32 else np.uint64
        out: Numbers = np.empty(sum([sector.size for _, _, _, sector, _ in parts]), kind)
        at = gone = 0
        for turn, w, cache, sector, absent in parts:
            part = out[at : at + sector.size].reshape(sector.shape)
            at += sector.size
            lead = kind(self.turn_bits + self.word_bits)
            if by_turn:
                np.subtract(sector, sector.dtype.type((self.low - w.start) << SECTOR_BITS), out=part, casting="unsafe")
                last = part & kind(3)
                part ^= last
                part <<= lead
                part |= last << kind(self.word_bits)
                lead, rest = kind(SECTOR_BITS + self.word_bits), np.zeros(1, kind)
            else:  # what is too much on the left goes round, and so does what is taken off
                np.left_shift(sector.astype(kind, copy=False), lead, out=part)
                rest = np.array(((w.start - self.low) << SECTOR_BITS + int(lead)) & (1 << 8 * out.itemsize) - 1, kind)
                lead = kind(self.word_bits)
            if w.way is Way.STORE and not w.brings and self.word_bits:
                part |= w.f.first_word
            turns: Numbers = np.array(turn << self.part_bits, kind)
            if self.part_bits:
                turns = turns | w.f.order(w.rows, self.part_bits).astype(kind)
            rest = rest + (turns << lead)
            part += rest + (cache.astype(kind) << kind(self.place_bits)) if private else rest
            if absent is not None:
                np.copyto(part, kind(-1 & (1 << 8 * out.itemsize) - 1), where=absent)  # to the end
                gone += int(np.count_nonzero(absent))
        out.sort()
        return out[: out.size - gone]

    def pieces(self, use: Numbers, caches: int) -> Iterator[tuple[Numbers, int, int]]:
        """Uses of a few caches at a time, and of which: pieces that fit into the host's own caches."""
        ends = [*use.searchsorted(np.arange(1, caches).astype(use.dtype) << use.dtype.type(self.place_bits)).tolist(), use.size]
        low = begin = 0
        for cache, end in enumerate(ends):
            if end - begin >= PIECE or cache == caches - 1:
                if end > begin:
                    yield use[begin:end], low, cache + 1
                low, begin = cache + 1, end

    def finer(self, bits: int) -> Frame:
        """With turns in so many parts."""
        return replace(self, turn_bits=self.turn_bits + bits, part_bits=bits)

    # ------------------------------------------------------------ numbers sorted by sector

    def sector_of(self, use: Numbers) -> Numbers:
        """(cache, line, sector)."""
        found: Numbers = use >> use.dtype.type(self.turn_bits + self.word_bits)
        return found

    def turn_in(self, use: Numbers) -> Numbers:
        """The turn."""
        return self.counts(use >> use.dtype.type(self.word_bits) if self.word_bits else use, self.turn_bits)

    def turn_of(self, use: Numbers) -> Index:
        """The same to compute with."""
        return self.turn_in(use).astype(np.int64, copy=False)

    def counts(self, use: Numbers, bits: int) -> Numbers:
        """The last bits."""
        low = use & use.dtype.type((1 << bits) - 1)
        found: Numbers = low.view(np.int64) if low.itemsize == 8 else low
        return found

    def cache_of(self, line: Numbers) -> Index:
        """The cache of (cache, line)."""
        found: Index = (line >> line.dtype.type(self.line_bits)).astype(np.int64)
        return found

    def line_of(self, line: Numbers) -> Index:
        """The line of (cache, line), counted from the start of memory."""
        found: Index = (line & line.dtype.type((1 << self.line_bits) - 1)).astype(np.int64) + self.low
        return found

    def shared(self, use: Numbers) -> Numbers:
        """The same without the cache."""
        found: Numbers = use & use.dtype.type((1 << self.place_bits) - 1)
        return found

    def by_sector(self, use: Numbers) -> Numbers:
        """(line, turn, sector) of loads as (line, sector, turn), without the turn's parts."""
        kind = use.dtype.type
        low: Numbers = use >> kind(self.word_bits)
        both = kind(SECTOR_BITS + self.turn_bits)
        out: Numbers = low >> both
        out <<= both
        out |= (low & kind(3)) << kind(self.turn_bits)
        low >>= kind(SECTOR_BITS)
        low &= kind((1 << self.turn_bits) - 1)
        out |= low
        out >>= kind(self.part_bits)
        out <<= kind(self.word_bits)
        return out

    def words_by_turn(self, chosen: Iterable[tuple[int, Waiting]]) -> Index:
        """The words of its sector that a use of each turn makes valid, if it begins with the first."""
        every = np.zeros(1 << self.turn_bits - self.part_bits, np.int64)
        for turn, w in chosen:
            every[turn] = w.f.stored_words if w.way is Way.STORE else 0 if w.way is not Way.LOAD else SECTOR_WORDS
        return np.repeat(every, 1 << self.part_bits)

    def words(self, use: Numbers, stores: Iterable[tuple[int, Waiting]]) -> Index:
        """The words of its sector that each use stores."""
        words = self.words_by_turn([(turn, w) for turn, w in stores if w.way is Way.STORE]).take(self.turn_of(use))
        if self.word_bits:
            words <<= (use & use.dtype.type((1 << self.word_bits) - 1)).astype(np.int64)
        return words

    def stored(self, use: Numbers, starts: Index, chosen: Iterable[tuple[int, Waiting]]) -> Index:
        """The words of its sector that each group of uses stores."""
        found: Index = np.bitwise_or.reduceat(self.words(use, chosen), starts)
        return found
