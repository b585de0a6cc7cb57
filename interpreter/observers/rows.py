"""Which multiprocessor the warps of a group run on, and the lines of an access by it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .l2 import Lines
from .pages import PAGE, Pages, Place
from .touch import WARP

Index = NDArray[np.int64]
PLACES = 64  # of an outline that are remembered
OUTLINES = 256


class Rows:
    """The multiprocessor of each row of an aligned group, else of each warp; the same object wherever they are the same."""

    __slots__ = ("_order", "_spread", "apart", "caches", "different", "where")
    known: ClassVar[dict[tuple[bytes, int], Rows]] = {}

    def __init__(self, where: Index, caches: int) -> None:
        self.where, self.caches, self.different = where, caches, np.unique(where)
        self.apart = self.different.size == where.size  # every row has a multiprocessor of its own
        self._spread: dict[int, tuple[Index, int]] = {}
        self._order: dict[tuple[int, int], Index] = {}

    def warps(self, each: int) -> tuple[Index, int]:
        """The multiprocessor of each warp, when a row has so many, and how many lanes one has at most."""
        found = self._spread.get(each)
        if found is None:
            cache = np.repeat(self.where, each)
            found = self._spread[each] = cache, WARP * int(np.bincount(cache).max())
        return found

    def order(self, each: int, bits: int) -> Index:
        """Which of 2**bits parts of its multiprocessor's warps each warp belongs to."""
        found = self._order.get((each, bits))
        if found is None:
            cache = self.warps(each)[0]
            found = self._order[each, bits] = np.empty(cache.size, np.int64)
            order = np.argsort(cache, kind="stable")
            count = np.bincount(cache)
            first = np.cumsum(count) - count
            found[order] = ((np.arange(cache.size) - first[cache[order]]) << bits) // count[cache[order]]
        return found

    @staticmethod
    def of(where: Index, caches: int) -> Rows:
        """These multiprocessors, of so many."""
        key = (where.tobytes(), caches)
        found = Rows.known.get(key)
        if found is None:
            if len(Rows.known) >= 512:
                Rows.known.clear()
            found = Rows.known[key] = Rows(where, caches)
        return found


class Outline:
    """The lines of an access by home: a row of the group where every block has a multiprocessor of its own, else the multiprocessor."""

    __slots__ = ("_crowds", "_lines", "by_row", "home", "line", "once", "pages", "places")
    known: ClassVar[dict[tuple[bytes, bytes, bool], Outline]] = {}

    def __init__(self, home: Index, line: Index, by_row: bool, *, once: bool = False) -> None:
        self.home, self.line, self.by_row = home, line, by_row  # lines ascend
        self.once = once  # hardly met again
        self._lines: Lines | None = None
        self.places: dict[tuple[int, Rows], Place] = {}
        self.pages: dict[int, Pages] = {}
        self._crowds: dict[Rows, int] = {}

    def crowd(self, rows: Rows) -> int:
        """Lines at most that one of these multiprocessors is asked for."""
        found = self._crowds.get(rows)
        if found is None:
            found = self._crowds[rows] = int(np.bincount(rows.where[self.home] if self.by_row else self.home).max())
        return found

    @staticmethod
    def of(home: Index, line: Index, by_row: bool) -> Outline:
        """The same object for all that are alike."""
        key = (home.tobytes(), line.tobytes(), by_row)
        found = Outline.known.get(key)
        if found is None:
            if len(Outline.known) >= OUTLINES:
                Outline.known.clear()
            found = Outline.known[key] = Outline(home, line, by_row)
        return found

    @property
    def lines(self) -> Lines:
        """The different lines."""
        if self._lines is None:
            self._lines = Lines.of(self.line)
        return self._lines

    def place(self, start: int, rows: Rows) -> Place:
        """Where the lines lie in the caches, when the first is `start` and the group's rows run on these."""
        key = (start % PAGE, rows)
        found = self.places.get(key)
        if found is None:
            if len(self.places) >= PLACES:
                self.places.clear()
            pages = self.pages.get(start % PAGE)
            if pages is None:
                pages = self.pages[start % PAGE] = Pages(self.home, self.line + start % PAGE, once=self.once)
            found = self.places[key] = Place(pages, rows.where[self.home] if self.by_row else self.home, rows.caches)
        return found
