"""Lines of many caches and the pages they lie in: what can be said of them before it is known where an access begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .l2 import MOST
from .sectors import Groups

Index = NDArray[np.int64]

PAGE_BITS = 3
PAGE = 1 << PAGE_BITS  # lines of one cache that lie side by side
MANY = 1 << 11  # lines
_HOME_BITS = 20  # of a key; the page stands above


class Pages:
    """Lines by home, each once for a home, and the pages they lie in; relative to the page that an access begins in."""

    __slots__ = ("first", "home", "line", "low", "page", "rank", "run", "slot", "span")

    def __init__(self, home: Index, line: Index, *, once: bool = False) -> None:
        self.home, self.line = home, line
        self.page, self.low = line >> PAGE_BITS, line & PAGE - 1
        self.span = (self.page.item(0), self.page.item(-1)) if line.size else (0, 0)
        self.first: Index | None = None  # entry of each page of a home
        self.rank: Index | None = None  # of an entry's page among those
        self.slot: Index | None = None  # if all pages are new
        self.run = False
        if once or line.size > MANY:  # hardly met again: entries for themselves
            return
        groups = Groups.of(self.page << _HOME_BITS | home)
        self.first, self.rank = groups.first, groups.rank
        self.page = self.page[self.first]
        self.slot = self.rank * PAGE + self.low
        self.run = bool((self.slot[1:] - self.slot[:-1] == 1).all())


class Place:
    """Pages in the tables of `caches` caches, when each home has one."""

    __slots__ = ("_at", "cache", "caches", "counts", "most", "owner", "pages")

    def __init__(self, pages: Pages, cache: Index, caches: int) -> None:
        self.pages, self.cache, self.caches = pages, cache, caches
        self.owner = cache if pages.first is None else cache[pages.first]  # of each page
        self._at: tuple[int, Index] | None = None
        self.counts = np.bincount(cache, minlength=caches)
        self.most = int(self.counts.max())

    def at(self, bits: int) -> Index:
        """The pages in a table in which each cache has a stretch of 2**bits."""
        if self._at is None or self._at[0] != bits:
            self._at = bits, (self.owner << bits) + self.pages.page
        return self._at[1]

    @staticmethod
    def of(cache: Index, line: Index, caches: int) -> Place:
        """Lines of caches."""
        return Place(Pages(cache, line), cache, caches)

    def part(self, chosen: Index) -> Place:
        """Some of the lines."""
        return Place.of(self.cache[chosen], self.pages.line[chosen], self.caches)

    def portions(self, most: int) -> list[Index] | None:
        """The entries in portions of at most so many for a cache; None where all are one."""
        size = self.cache.size
        if size <= most or (size <= MOST and self.most <= most):
            return None
        order = np.argsort(self.cache, kind="stable")
        starts = np.cumsum(self.counts) - self.counts
        rank = np.empty_like(self.cache)
        rank[order] = np.arange(size) - starts[self.cache[order]]
        most = min(most, max(1, MOST // int(np.count_nonzero(self.counts))))
        return [np.flatnonzero(rank // most == k) for k in range(int(rank.max()) // most + 1)]
