"""Words and sectors of lines as bits, and entries grouped by what they name.

A line of 128 bytes has 32 words, a bit each; its four sectors are named by the bit of their first word.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Keys = NDArray[np.uint32] | Index

SECTOR_BITS = 0x01010101  # the first word of each sector of a line
LINE, SECTOR = 128, 32  # bytes
SECTOR_SHIFT = 5  # the same by shifts, which are faster
SECTOR_WORDS = 0xFF
ALL_WORDS = 0xFFFF_FFFF
MARKS = 32  # of the valid words of a line in L1: above them four bits mark sectors of which bytes or halfwords were written
MANY = 256  # keys


def sectors_of(words: Index) -> Index:
    """One bit for each sector of a line that some words lie in."""
    t = words | words >> 4
    t |= t >> 2
    return (t | t >> 1) & SECTOR_BITS


def count_bits(sectors: Index) -> Index:
    """How many sectors their bits name."""
    return sectors * SECTOR_BITS >> 24 & 7


def words_of(sector: Keys) -> NDArray[np.uint32]:
    """All words of sectors by number."""
    shift = sector.astype(np.uint32)
    shift &= 3
    shift <<= 3
    return np.left_shift(np.uint32(SECTOR_WORDS), shift, out=shift)


def line_words(sector: NDArray[Any]) -> Index:
    """All words of sectors by number, as those of their lines."""
    return words_of(sector).astype(np.int64)


def brought_words(sector: NDArray[Any], whole: NDArray[np.bool_], stored: Index) -> Index:
    """As line_words, of sectors of which some have only the words that are stored."""
    words: Index = np.where(whole, SECTOR_WORDS, stored) << ((sector & 3).astype(np.int64) << 3)
    return words


def firsts(ordered: NDArray[Any]) -> Index:
    """Where the different ones of ordered values begin."""
    new = np.empty(ordered.size, np.bool_)
    new[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return new.nonzero()[0]


def different(keys: Keys) -> Keys:
    """The different ones of some keys, ascending; the keys themselves are put in order."""
    keys.sort()
    starts = firsts(keys)
    return keys if starts.size == keys.size else keys.take(starts)


def united(words: Index, starts: Index) -> Index:
    """The bits of neighbours together; `starts` are the first of each group.

    >>> united(np.array([1, 2, 4, 8]), np.array([0, 1, 3])).tolist()
    [1, 6, 8]
    """
    if 3 * starts.size < 2 * words.size:
        return np.bitwise_or.reduceat(words, starts)
    out = words[starts]
    more = np.ones(words.size, np.bool_)
    more[starts] = False
    entry = np.flatnonzero(more)
    group = entry - np.arange(1, entry.size + 1)
    while entry.size:  # mostly a group has one or two
        again = np.zeros(entry.size, np.bool_)
        np.equal(group[1:], group[:-1], out=again[1:])
        now, later = np.flatnonzero(~again), np.flatnonzero(again)
        out[group[now]] |= words[entry[now]]
        entry, group = entry[later], group[later]
    return out


def summed(words: Index, starts: Index) -> Index:
    """As united, of neighbours that have no bit in common."""
    out, more = words.take(starts), np.ones(words.size, np.bool_)
    more[starts] = False
    entry = np.flatnonzero(more)
    np.add.at(out, entry - np.arange(1, entry.size + 1), words.take(entry))
    return out


def marks_of(sectors: Index) -> Index:
    """What a store of bytes or halfwords leaves on sectors.

    >>> hex(marks_of(np.array([0x1000100]))[0])
    '0xa00000000'
    """
    return ((sectors | sectors >> 7 | sectors >> 14 | sectors >> 21) & 15) << MARKS


def sectors_in_part(valid: Index) -> Index:
    """One bit for each sector of a line to which something was written and that lacks some words."""
    words, marks = valid & ALL_WORDS, valid >> MARKS & 15
    t = words & words >> 4
    t &= t >> 2
    written = sectors_of(words) | marks | marks << 7 | marks << 14 | marks << 21
    return written & ~(t & t >> 1) & SECTOR_BITS


def _sectors(words: int) -> int:
    """As sectors_of, of one line."""
    return sum(1 << at for at in range(0, MARKS, 8) if words >> at & SECTOR_WORDS)


def take_turns(valid: int, turns: list[int]) -> tuple[int, int, int]:
    """(valid words, sectors missed, misses) when warps want these words of a line one after the other.

    Who wants words that a sector lacks to which something was written makes the line begin anew.
    """
    lost = misses = 0
    for words in turns:
        marks = valid >> MARKS & 15
        written = _sectors(valid & ALL_WORDS) | sum(1 << 8 * s for s in range(4) if marks >> s & 1)
        missed = _sectors(words & ~valid)
        if missed & written:
            valid, missed = 0, _sectors(words)
        valid |= missed * SECTOR_WORDS
        lost |= missed
        misses += missed.bit_count()
    return valid, lost, misses


class Demand:
    """Words of some lines that an access wants or writes, and the sectors they lie in."""

    __slots__ = ("_ragged", "_total", "sectors", "wanted", "words")

    def __init__(self, words: Index, sectors: Index | None = None) -> None:
        self.words = words
        self.sectors = sectors_of(words) if sectors is None else sectors
        self.wanted = self.sectors * SECTOR_WORDS  # all words of the sectors
        self._total = -1
        self._ragged: bool | None = None

    @property
    def total(self) -> int:
        """How many sectors."""
        if self._total < 0:
            self._total = int(count_bits(self.sectors).sum())
        return self._total

    @property
    def ragged(self) -> bool:
        """Does a store of these words write sectors in part?"""
        if self._ragged is None:
            self._ragged = bool(sectors_in_part(self.words).any())
        return self._ragged

    def missed(self, valid: Index) -> Index | None:
        """The sectors of lines with these valid words that lack some: `sectors` itself where all do, None where none does."""
        have = self.words & valid
        if not np.count_nonzero(have):
            return self.sectors
        lacking = self.words ^ have
        return sectors_of(lacking) if np.count_nonzero(lacking) else None

    def part(self, chosen: Index | slice) -> Demand:
        """The same of some of the lines."""
        return Demand(self.words[chosen])


class Whole(Demand):
    """Sectors of which it does not matter which words are wanted, as long as a line has whole sectors only; else `exact` says which."""

    __slots__ = ("exact",)

    def __init__(self, sectors: Index, exact: Callable[[], Demand]) -> None:
        super().__init__(sectors * SECTOR_WORDS, sectors)
        self.exact = exact

    def missed(self, valid: Index) -> Index | None:
        have = self.words & valid
        if not np.count_nonzero(have):
            return self.sectors
        lacking = self.words ^ have
        if not np.count_nonzero(lacking):
            return None
        lost = sectors_of(lacking)
        return lost if (lost * SECTOR_WORDS == lacking).all() else self.exact().missed(valid)

    def part(self, chosen: Index | slice) -> Demand:
        return Whole(self.sectors[chosen], lambda: self.exact().part(chosen))


@dataclass(frozen=True, slots=True)
class Groups:
    """Entries by key: `order` sorts them, `starts` are the first of each key, `alone` says that no key comes twice."""

    order: Index
    starts: Index
    alone: bool

    @staticmethod
    def of(key: Index) -> Groups:
        """The groups of some keys."""
        if (
            key.size > MANY and (bits := (key.size - 1).bit_length()) + int(key.max()).bit_length() < 64
        ):  # to sort is faster than to find the order
            packed = key << bits | np.arange(key.size)
            packed.sort()
            order, ranked = packed & (1 << bits) - 1, packed >> bits
        else:
            order = np.argsort(key, kind="stable")
            ranked = key[order]
        starts = firsts(ranked)
        return Groups(order, starts, starts.size == key.size)

    @property
    def first(self) -> Index:
        """The first entry of each key."""
        return self.order if self.alone else self.order[self.starts]

    @property
    def rank(self) -> Index:
        """The place of each entry's key among the different ones."""
        step = np.zeros_like(self.order)
        step[self.starts[1:]] = 1
        rank = np.empty_like(step)
        rank[self.order] = np.cumsum(step)
        return rank

    def united(self, words: Index) -> Index:
        """All words of each key."""
        return words[self.order] if self.alone else united(words[self.order], self.starts)

    def earlier(self, sectors: Index) -> Index:
        """For each entry the sectors that an entry before it, of the same key, names."""
        if self.alone:
            return np.zeros_like(sectors)
        wide = (sectors & 0x0101) | (sectors & 0x01010000) << 16
        wide = ((wide & 0x0000_0001_0000_0001) | (wide & 0x0000_0100_0000_0100) << 8)[self.order]  # a count of 16 bits for each sector
        before = np.cumsum(wide) - wide
        before -= np.repeat(before[self.starts], np.diff(self.starts, append=before.size))
        some = (before + 0x7FFF_7FFF_7FFF_7FFF >> 15) & 0x0001_0001_0001_0001
        narrow = (some | some >> 8) & 0x0000_0101_0000_0101
        out = np.empty_like(sectors)
        out[self.order] = (narrow | narrow >> 16) & SECTOR_BITS
        return out
