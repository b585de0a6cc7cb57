"""Where what is kept of each line of many caches stands: two tables, of regions of memory and of the pages in them that a cache has seen.

A page of a cache gets a number when one of its lines is brought in; number 0 stands for none yet.  Pages of which no line is held are
left out when room is short.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

from .l2 import Directory
from .pages import PAGE, PAGE_BITS, Place
from .sectors import firsts

Index = NDArray[np.int64]
Keys = NDArray[np.uint32] | Index
Slots = Index | slice

_REGION_BITS = 10
REGION = 1 << _REGION_BITS  # pages of each cache that are numbered together: a megabyte of memory
USED = 36  # where the step of the last use stands in a line's state; below it what sectors.py calls valid
FIXED = 1 << 9  # regions from the start of memory that stand in order
KEPT = 1 << 21  # lines: larger tables are not kept for others
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def _blank(size: int) -> NDArray[np.int32]:
    """Zeros of which only those that somebody touches cost anything, however large."""
    return np.frombuffer(mmap.mmap(-1, 4 * size, **_PRIVATE), np.int32)


class Tables:
    """The tables of `caches` caches, which the next launch may use again: fresh memory costs a fault of the host a page."""

    def __init__(self, caches: int, expected: int) -> None:
        self.caches = caches
        self._bits = _REGION_BITS + 6  # of a place in a cache's stretch of the first table; the cache stands above
        self.page = _blank(caches << self._bits)  # the number of a page of a cache
        self._make(max(PAGE << 7, min(4 * expected, 1 << 20) & -PAGE))
        self.directory = Directory(_REGION_BITS, FIXED)
        self.pages = 1  # numbers given out; the first page stays empty

    def _make(self, size: int) -> None:
        """Room for so many lines."""
        # A line's step of its last use from bit USED on, below it marks of sectors and a bit for each valid word; 0 where it is not held.
        self.state = np.zeros(size, np.int64)
        self.seen = np.zeros(4 * size, np.uint8)  # whatever the user notes of sectors; 0 where a sector may not be there
        self.owner = np.zeros(size // PAGE, np.int64)  # where a page's number stands

    @property
    def is_small(self) -> bool:
        """Not too much to keep for the next launch?"""
        return self.state.size <= KEPT

    @property
    def reach(self) -> tuple[int, int] | None:
        """The first and the last line that may be known; None where memory does not stand in order in the first table."""
        if self.directory.number:
            return None
        place = self.owner[1 : self.pages] & (1 << self._bits) - 1
        return (int(place.min()) << PAGE_BITS, int(place.max()) + 1 << PAGE_BITS) if place.size else (0, 0)

    def clear(self) -> None:
        """Forgets everything."""
        self.page[self.owner[1 : self.pages]] = 0
        self.directory = Directory(_REGION_BITS, FIXED)
        self.pages = 1

    def forget(self, slot: Index) -> None:
        """Forgets some lines."""
        self.state[slot] = 0
        self.seen.reshape(-1, 4)[slot] = 0

    def forget_seen(self) -> None:
        """Forgets what was noted of sectors."""
        self.seen[: 4 * PAGE * self.pages] = 0

    def find(self, place: Place, page: int) -> tuple[Index, int]:
        """Where each line stands (those of unknown pages in page 0), and how many of its pages are known."""
        at = self._at(place, page)
        number = self.page.take(at)
        return self._slots(place, number), int(np.count_nonzero(number))

    def insert(self, place: Place, page: int, floor: Index) -> tuple[Slots, int]:
        """As find; afterwards all have a place of their own.  Lines last used in a step before their cache's `floor` are not held."""
        at, pages = self._at(place, page), place.pages
        number = self.page.take(at)
        known = int(np.count_nonzero(number))
        if known == number.size:
            return self._slots(place, number), known
        if self.pages + number.size > self.owner.size:
            self._sweep(number.size, floor)
            number = self.page.take(at)
        begin = self.pages
        new = at[(number == 0).nonzero()[0]] if known else at
        if pages.rank is None:  # each once
            mark = np.arange(new.size, dtype=np.int32)
            self.page[new] = mark
            new = new[(self.page.take(new) == mark).nonzero()[0]]
        self._number(new)
        if not known and pages.slot is not None:
            start = begin * PAGE
            if pages.run:
                start += pages.slot.item(0)
                return slice(start, start + pages.slot.size), 0
            return pages.slot + start, 0
        return self._slots(place, self.page.take(at)), known

    def keys(self, cache: Index, sector: Keys, last: int) -> Keys | None:
        """(cache, sector) by sectors of warps; None where memory does not stand in order in the first table."""
        if self.directory.shift(0, last >> PAGE_BITS + 2) != 0:
            return None
        if self.directory.room > 1 << self._bits:
            self._make_room()
        kind = np.uint32 if self.key_bits + (self.caches - 1).bit_length() <= 32 else np.int64
        keys: Keys = np.bitwise_or(sector.astype(kind, copy=False), (cache << self.key_bits).astype(kind)[:, None])
        return keys.ravel()

    @property
    def key_bits(self) -> int:
        """Of a sector in a key."""
        return self._bits + PAGE_BITS + 2

    def reserve(self, pages: int, floor: Index) -> None:
        """Makes room for so many more pages."""
        if self.pages + pages > self.owner.size:
            self._sweep(2 * pages, floor)  # more will come

    def find_each(self, keys: Keys) -> Index:
        """Where the sectors of such keys stand, four for each line; those of unknown pages in page 0."""
        place = self.page.take((keys >> PAGE_BITS + 2).astype(np.int64), mode="wrap")
        place <<= PAGE_BITS + 2
        place |= (keys & 4 * PAGE - 1).astype(np.int32)
        return place.astype(np.int64)

    def find_lines(self, cache: Index, line: Index) -> Index:
        """Where lines of caches stand; those of unknown pages in page 0."""
        return self.page.take(self._pages(cache, line)).astype(np.int64) << PAGE_BITS | line & PAGE - 1

    def insert_lines(self, cache: Index, line: Index, floor: Index) -> Index:
        """As find_lines, by cache and line ascending; afterwards all have a place of their own."""
        at = self._pages(cache, line)
        self.reserve(at.size, floor)
        new = at.take(np.flatnonzero(self.page.take(at) == 0))
        self._number(new.take(firsts(new)))
        return self.page.take(at).astype(np.int64) << PAGE_BITS | line & PAGE - 1

    def _pages(self, cache: Index, line: Index) -> Index:
        """Where the numbers of their pages stand."""
        page = line >> PAGE_BITS
        shift = self.directory.shift(int(page.min()), int(page.max()))
        page = self.directory.each(page) if shift is None else page + shift
        if self.directory.room > 1 << self._bits:
            self._make_room()
        return page + (cache << self._bits)

    def insert_each(self, keys: Keys) -> Index:
        """As find_each, of ascending keys; afterwards all have a place of their own, for which there must be room."""
        at = (keys >> PAGE_BITS + 2).astype(np.int64)
        place = self.page.take(at, mode="wrap")
        new = np.flatnonzero(place == 0)
        if new.size:
            pages = at.take(new)
            starts = firsts(pages)
            numbers = np.arange(self.pages, self.pages + starts.size, dtype=np.int32)
            place[new] = numbers if starts.size == new.size else np.repeat(numbers, np.diff(starts, append=new.size))
            self._number(pages.take(starts))
        place <<= PAGE_BITS + 2
        place |= (keys & 4 * PAGE - 1).astype(np.int32)
        return place.astype(np.int64)

    def _number(self, new: Index) -> None:
        """Gives numbers to pages that have none."""
        begin, end = self.pages, self.pages + new.size
        self.page[new] = np.arange(begin, end, dtype=np.int32)
        self.owner[begin:end] = new
        self.state[begin * PAGE : end * PAGE] = 0
        self.seen[4 * begin * PAGE : 4 * end * PAGE] = 0
        self.pages = end

    def _slots(self, place: Place, number: NDArray[np.int32]) -> Index:
        first = number * np.int64(PAGE)
        return (first if place.pages.rank is None else first[place.pages.rank]) + place.pages.low

    def _at(self, place: Place, page: int) -> Index:
        """Where the numbers of the pages stand."""
        pages = place.pages
        shift = self.directory.shift(page + pages.span[0], page + pages.span[1])
        if shift is None:
            at = self.directory.each(pages.page + page)
            if self.directory.room > 1 << self._bits:
                self._make_room()
            return at + (place.owner << self._bits)
        if self.directory.room > 1 << self._bits:
            self._make_room()
        return place.at(self._bits) + (page + shift)

    def _make_room(self) -> None:
        owner, numbers, bits = self.owner[1 : self.pages], np.arange(1, self.pages), self._bits
        while self.directory.room > 1 << self._bits:
            self._bits += 1
        self.page = _blank(self.caches << self._bits)
        owner[:] = (owner >> bits << self._bits) | owner & (1 << bits) - 1
        self.page[owner] = numbers

    def _sweep(self, room: int, floor: Index) -> None:
        """Leaves out pages of which no line is held, and makes room if need be."""
        owner, state = self.owner[1 : self.pages], self.state.reshape(-1, PAGE)[1 : self.pages]
        lowest = (floor << USED).take(owner >> self._bits) if int(floor.max()) > 1 else np.ones(owner.size, np.int64)
        kept = np.flatnonzero((state >= lowest[:, None]).view(np.uint64))  # a byte a line
        self.page[owner] = 0
        self.forget_seen()
        owner, state = owner[kept], state[kept]
        size, end = self.state.size, kept.size + 1
        while (end + room) * 4 * PAGE > size:
            size *= 2
        if size > self.state.size:
            self._make(size)
        self.state.reshape(-1, PAGE)[1:end] = state
        self.owner[1:end], self.page[owner] = owner, np.arange(1, end)
        self.pages = end
