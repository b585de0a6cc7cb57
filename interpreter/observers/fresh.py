"""All accesses of a launch at once, where all have waited: caches that were empty before, and that nobody asks again.

Then it is enough to know who uses a sector first, and which uses of a line come too late to find it still; nothing is written down.
Sectors are numbered without the gaps between the stretches of memory that are used.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .footprint import lanes_by_warp
from .touch import WARP
from .uses import SECTOR_BITS, Waiting, Way

Index = NDArray[np.int64]
Sectors = NDArray[np.uint32]
Codes = NDArray[np.uint8]

DENSE = 1 << 20  # sectors that may be numbered in any case
SPARSE = 8  # sectors for each use that may be numbered
SILENT = 255  # the code of those who are told nothing
FEW = 8  # codes that are counted one by one
LOADED, WHOLE, PART, DROPPED = 1, 2, 4, 8  # what is done to a stretch


@dataclass(frozen=True, slots=True)
class Stretch:
    """Neighbouring lines."""

    first: int  # by number
    lines: int
    done: int  # to any of them


@dataclass(eq=False)
class Used:
    """What one access uses."""

    waiting: Waiting
    turn: int
    code: int  # of those who are told things that are summed
    stretch: int
    shift: int  # from a sector of the footprint to its number
    nowhere: int  # the number of what is used by lanes that take no part

    @property
    def way(self) -> Way:
        """What it asks."""
        return self.waiting.way

    @property
    def name(self) -> tuple[int, int]:
        """The same for accesses that use the same."""
        return id(self.waiting.f), self.waiting.start

    @cached_property
    def _uses(self) -> tuple[Index, Sectors]:
        cache, sector, absent = self.waiting.f.uses(self.waiting.rows)
        number = sector.astype(np.uint32, copy=False)
        number = number + np.uint32(self.shift & 0xFFFF_FFFF)  # what is too much goes round
        if absent is not None:
            number[absent] = self.nowhere
        return cache, number

    @property
    def cache(self) -> Index:
        """Of each sector, or of each row of them."""
        return self._uses[0]

    @property
    def sectors(self) -> Sectors:
        """By number: of each lane, by rows, or in one row."""
        return self._uses[1]

    @property
    def whole(self) -> bool:
        """Do all lanes take part?"""
        return self.sectors.ndim == 1 or self.waiting.f.active is None

    @property
    def lanes(self) -> Index:
        """How many are used of each, or of each row."""
        f = self.waiting.f
        return np.ones(1, np.int64) if self.sectors.ndim == 1 else np.full(1, WARP) if f.active is None else lanes_by_warp(f.active)

    @property
    def count(self) -> int:
        """How many are used."""
        return self.waiting.f.count if self.sectors.ndim > 1 else self.sectors.size

    def order(self, bits: int) -> Index:
        """Which of so many parts of the access each belongs to, or each row."""
        return self.waiting.f.order(self.waiting.rows, bits).ravel()


@dataclass(frozen=True)
class Fresh:
    """All accesses, less those that find everything anyway."""

    used: list[Used]
    lines: int  # that have numbers
    stretches: list[Stretch]
    groups: list[list[Waiting]]  # by code

    @staticmethod
    def of(waiting: list[Waiting]) -> Fresh | None:
        """Numbers what these use; None where they get in each other's way."""
        asked = [(turn, w) for turn, w in enumerate(waiting) if w.way is Way.STORE or not w.there]
        first = np.array([w.f.ends[0] + w.start for _, w in asked])
        last = np.array([w.f.ends[1] + w.start for _, w in asked])
        order = np.argsort(first)
        reach = np.maximum.accumulate(last[order])
        begins = np.append(0, 1 + np.flatnonzero(first[order][1:] > reach[:-1]))  # of stretches
        done = np.bitwise_or.reduceat(np.array([_does(w) for _, w in asked])[order], begins)
        if ((done & PART > 0) & (done & (LOADED | DROPPED) > 0)).any():
            return None
        if (done & LOADED).any() and ((done & DROPPED > 0) & (done & ~DROPPED > 0)).any():
            return None
        ends = np.append(begins[1:], order.size)
        low, size = first[order][begins], reach[ends - 1] + 1 - first[order][begins]
        lines = int(size.sum())
        if lines << SECTOR_BITS > max(DENSE, SPARSE * sum([w.f.count for _, w in asked])):
            return None
        number = np.cumsum(size) - size
        stretches = [Stretch(*one) for one in zip(number.tolist(), size.tolist(), done.tolist(), strict=True)]
        where = np.empty(order.size, np.int64)
        where[order] = np.repeat(np.arange(begins.size), ends - begins)
        codes: dict[object, int] = {}
        groups: list[list[Waiting]] = [[]]
        used = []
        for (turn, w), stretch, shift in zip(asked, where.tolist(), (number - low)[where].tolist(), strict=True):
            code = SILENT if w.silent or w.way is Way.STORE else codes.setdefault((w.way, w.group), len(groups))
            if code == len(groups):
                groups.append([])
            if code != SILENT:
                groups[code].append(w)
            used.append(Used(w, turn, code, stretch, shift + w.start << SECTOR_BITS, lines << SECTOR_BITS))
        return Fresh(used, lines, stretches, groups) if len(groups) <= SILENT else None

    @property
    def width(self) -> int:
        """Numbers that sectors may have, also those that nobody uses."""
        return self.lines + 1 << SECTOR_BITS

    def firsts(self, some: Iterable[Used]) -> Codes:
        """Who of these uses each sector first."""
        marks = np.zeros(self.width, np.uint8)
        for u in reversed(list(some)):
            marks[u.sectors.astype(np.intp)] = u.code
        marks[self.lines << SECTOR_BITS :] = 0
        return marks

    def counts(self, marks: Codes) -> list[int]:
        """How many sectors each code has."""
        if len(self.groups) > FEW:
            return np.bincount(marks.ravel(), minlength=len(self.groups))[: len(self.groups)].tolist()  # type: ignore[no-any-return]
        return [0, *(int(np.count_nonzero(marks == code)) for code in range(1, len(self.groups)))]


def lost_in_l2(fresh: Fresh, lines: int) -> tuple[list[int], int] | None:
    """The sectors that a cache of so many lines, asked by all, has to fetch for each code, and how many become dirty; None if it overflows."""
    readers = [u for u in fresh.used if u.way is not Way.STORE or (u.waiting.brings and not u.waiting.there)]
    writers = [u for u in fresh.used if u.way in (Way.STORE, Way.ATOMIC)]
    first = fresh.firsts(readers)
    if not writers:
        written = first[:0]
    elif {u.name for u in readers} == {u.name for u in writers}:
        written = first
    else:
        written = fresh.firsts(writers)
    if fresh.lines > lines:
        both = first | written if written.size else first
        if np.count_nonzero(both.view(np.uint32)) > lines:
            return None
    return fresh.counts(first), int(np.count_nonzero(written))


def _does(w: Waiting) -> int:
    if w.way is Way.LOAD:
        return LOADED
    if w.way is Way.STORE:
        return WHOLE if w.brings else PART
    return DROPPED
