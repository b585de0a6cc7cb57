"""Where what is kept of each line of many caches stands: two tables, of regions of memory and of the pages in them that a cache has seen.

A page of a cache gets a number when one of its lines is brought in; number 0 stands for none yet.  Pages of which no line is held are
left out when room is short.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

from .l2 import Directory
from .pages import PAGE, Place

Index = NDArray[np.int64]
Slots = Index | slice

_REGION_BITS = 10
REGION = 1 << _REGION_BITS  # pages of each cache that are numbered together: a megabyte of memory
KEPT = 1 << 20  # lines: larger tables are not kept for others
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def _blank(size: int) -> NDArray[np.int32]:
    """Zeros of which only those that somebody touches cost anything, however large."""
    return np.frombuffer(mmap.mmap(-1, 4 * size, **_PRIVATE), np.int32)


class Tables:
    """The tables of `caches` caches, which the next launch may use again: fresh memory costs a fault of the host a page."""

    def __init__(self, caches: int, expected: int) -> None:
        self.caches = caches
        self.room = 64 * REGION  # pages of memory that the first table has places for
        self.page = _blank(self.room * caches)  # the number of a page of a cache
        self._make(max(PAGE << 7, min(4 * expected, 1 << 20) & -PAGE))
        self.directory = Directory(_REGION_BITS)
        self.pages = 1  # numbers given out; the first page stays empty

    def _make(self, size: int) -> None:
        """Room for so many lines."""
        self.valid = np.zeros(size, np.int64)  # a bit for each word
        self.used = np.zeros(size, np.int64)  # the step of the last use; 0 where never
        self.owner = np.zeros(size // PAGE, np.int64)  # where a page's number stands

    @property
    def is_small(self) -> bool:
        """Not too much to keep for the next launch?"""
        return self.used.size <= KEPT

    def clear(self) -> None:
        """Forgets everything."""
        self.page[self.owner[1 : self.pages]] = 0
        self.used[: self.pages * PAGE] = 0
        self.directory = Directory(_REGION_BITS)
        self.pages = 1

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
        new = at[np.flatnonzero(number == 0)] if known else at
        if pages.rank is None:  # each once
            mark = np.arange(new.size, dtype=np.int32)
            self.page[new] = mark
            new = new[np.flatnonzero(self.page.take(new) == mark)]
        begin, end = self.pages, self.pages + new.size
        self.page[new] = np.arange(begin, end, dtype=np.int32)
        self.owner[begin:end] = new
        self.pages = end
        if not known and pages.slot is not None:
            start = begin * PAGE
            if pages.run:
                start += pages.slot.item(0)
                return slice(start, start + pages.slot.size), 0
            return pages.slot + start, 0
        return self._slots(place, self.page.take(at)), known

    def _slots(self, place: Place, number: NDArray[np.int32]) -> Index:
        first = number * np.int64(PAGE)
        return (first if place.pages.rank is None else first[place.pages.rank]) + place.pages.low

    def _at(self, place: Place, page: int) -> Index:
        """Where the numbers of the pages stand."""
        pages = place.pages
        shift = self.directory.shift(page + pages.span[0], page + pages.span[1])
        caches = self.caches
        at = place.at + (page + shift) * caches if shift is not None else self.directory.each(pages.page + page) * caches + place.owner
        if self.directory.room > self.room:
            larger = _blank(2 * self.directory.room * self.caches)
            larger[: self.page.size] = self.page
            self.room, self.page = 2 * self.directory.room, larger
        return at

    def _sweep(self, room: int, floor: Index) -> None:
        """Leaves out pages of which no line is held, and makes room if need be."""
        owner = self.owner[1 : self.pages]
        used, valid = (x.reshape(-1, PAGE)[1 : self.pages] for x in (self.used, self.valid))
        lowest = floor[owner % self.caches] if int(floor.max()) > 1 else np.ones(owner.size, np.int64)
        kept = np.flatnonzero((used >= lowest[:, None]).view(np.uint64))  # a byte a line
        self.page[owner] = 0
        owner, used, valid = owner[kept], used[kept], valid[kept]
        size, end = self.used.size, kept.size + 1
        while (end + room) * 2 * PAGE > size:
            size *= 2
        if size > self.used.size:
            self._make(size)
        else:
            self.used[end * PAGE : self.pages * PAGE] = 0
        self.used.reshape(-1, PAGE)[1:end], self.valid.reshape(-1, PAGE)[1:end] = used, valid
        self.owner[1:end], self.page[owner] = owner, np.arange(1, end)
        self.pages = end
