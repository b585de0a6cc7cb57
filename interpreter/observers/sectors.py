"""Words and sectors of lines as bits, and entries grouped by what they name.

A line of 128 bytes has 32 words, a bit each; its four sectors are named by the bit of their first word.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]

SECTOR_BITS = 0x01010101  # the first word of each sector of a line
SECTOR_WORDS = 0xFF
DIRTY = 32  # where the sector bits of what was written stand


def sectors_of(words: Index) -> Index:
    """One bit for each sector of a line that some words lie in."""
    t = words | words >> 4
    t |= t >> 2
    return (t | t >> 1) & SECTOR_BITS


def count_bits(sectors: Index) -> Index:
    """How many sectors their bits name."""
    return sectors * SECTOR_BITS >> 24 & 7


class Demand:
    """Words of some lines that an access wants or writes, and the sectors they lie in."""

    __slots__ = ("sectors", "total", "wanted", "words")

    def __init__(self, words: Index) -> None:
        self.words = words
        self.sectors = sectors_of(words)
        self.wanted = self.sectors * SECTOR_WORDS  # all words of the sectors
        self.total = int(count_bits(self.sectors).sum())

    def missed(self, valid: Index) -> Index | None:
        """The sectors of lines with these valid words that lack some: `sectors` itself where all do, None where none does."""
        have = self.words & valid
        if not have.any():
            return self.sectors
        lacking = self.words ^ have
        return sectors_of(lacking) if lacking.any() else None

    def part(self, chosen: Index | slice) -> Demand:
        """The same of some of the lines."""
        return Demand(self.words[chosen])


@dataclass(frozen=True, slots=True)
class Groups:
    """Entries by key: `order` sorts them, `starts` are the first of each key, `alone` says that no key comes twice."""

    order: Index
    starts: Index
    alone: bool

    @staticmethod
    def of(key: Index) -> Groups:
        """The groups of some keys."""
        order = np.argsort(key, kind="stable")
        ranked = key[order]
        new = np.empty(key.size, np.bool_)
        new[:1] = True
        np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
        starts = np.flatnonzero(new)
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
        return words[self.order] if self.alone else np.bitwise_or.reduceat(words[self.order], self.starts)

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
