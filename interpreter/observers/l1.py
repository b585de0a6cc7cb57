"""The caches of all multiprocessors at once, for observers: what accesses find of lines that come once for each cache.

The same caches as memory/cache.py (fully associative, least recently used first out, 128-byte lines in sectors of 32, validity by word),
with the order of use kept in steps of 1/64 of a cache.  A cache that never overflows gives the same counts; one that does is emptied in
such steps.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

from .l2 import MOST, RING, STEPS, Directory
from .sectors import Demand, sectors_of

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

EMPTY = 0  # the step of what was never used: memory that nobody wrote yet costs nothing
_PAGE_BITS, _REGION_BITS = 3, 10
PAGE = 1 << _PAGE_BITS  # lines of one cache that lie side by side
REGION = 1 << _REGION_BITS  # pages of each cache that are numbered together: a megabyte of memory
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def _blank(size: int) -> NDArray[np.int32]:
    """Zeros of which only those that somebody touches cost anything, however large."""
    return np.frombuffer(mmap.mmap(-1, 4 * size, **_PRIVATE), np.int32)


class Place:
    """Lines of caches, each once for a cache, relative to the page that an access begins in."""

    __slots__ = ("at", "cache", "caches", "counts", "line", "low", "most", "page", "span")

    def __init__(self, cache: Index, line: Index, caches: int) -> None:
        self.cache, self.line, self.caches = cache, line, caches
        self.page, self.low = line >> _PAGE_BITS, line & PAGE - 1
        self.at = self.page * caches + cache
        self.counts = np.bincount(cache, minlength=caches)
        self.most = int(self.counts.max()) if cache.size else 0
        self.span = (int(self.page.min()), int(self.page.max())) if cache.size else (0, 0)

    def part(self, chosen: Index) -> Place:
        """Some of the lines."""
        return Place(self.cache[chosen], self.line[chosen], self.caches)

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


class PrivateCaches:
    """The lines of `caches` equal caches of `lines` lines each.

    A line is found by two tables, of regions of memory and of the pages in them that a cache has seen; number 0 stands for none yet.
    """

    def __init__(self, caches: int, lines: int, expected: int = 0) -> None:
        self.caches, self.lines = caches, lines
        self.step = max(1, lines // STEPS)
        self.directory = Directory(_REGION_BITS)
        self._page = _blank(64 * REGION * caches)
        self._make(max(PAGE << 7, min(4 * expected, 1 << 20) & -PAGE))
        self.floor = np.full(caches, EMPTY + 1, np.int64)  # lines last used in a step before it are gone
        self.inserted = np.full(caches, self.step, np.int64)  # lines ever brought in: the clock of each cache
        self.held = np.zeros(caches, np.int64)
        self.ring = np.zeros((caches, RING), np.int64)  # lines alive by step of their last use
        self.now = self.inserted // self.step
        self.version = 0  # as long as it stays, lines that were the last used ones stay so, and what was found is found again
        self._level = True  # every floor is the first
        self._pending = np.zeros(caches, np.int64)  # lines brought in that the four counts above lack
        self._slack = 0  # so many lines may still be brought into any cache before a clock moves or a cache is full

    def _make(self, size: int) -> None:
        self.valid = np.zeros(size, np.int64)  # a bit for each word
        self.used = np.zeros(size, np.int64)  # the step of the last use; the first page stays empty
        self._owner = np.zeros(size // PAGE, np.int64)  # where a page's number stands
        self._pages = 1

    # ------------------------------------------------------------ what happens

    def load(self, place: Place, page: int, demand: Demand, *, admit: bool = True) -> Index | None:
        """The sectors of each entry that were not found, a bit each (`demand.sectors` itself where all were missed); None if all were found.

        `page` is the one that the access begins in.  What is missed is brought in if `admit` says so.
        """
        if not self.lines:
            return demand.sectors
        if not place.cache.size:
            return None
        parts = place.portions(max(1, min(MOST, self.lines // 4)))
        if parts is not None:
            missed = np.zeros_like(place.line)
            for chosen in parts:
                lost = self.load(place.part(chosen), page, demand.part(chosen), admit=admit)
                missed[chosen] = 0 if lost is None else lost
            return missed
        slot, fresh = self._slots(place, page, admit)
        if fresh:
            if admit:
                self._admit_new(place, slot, demand.wanted)
            return demand.sectors
        used = self.used[slot]
        present = used >= (EMPTY + 1 if self._level else self.floor[place.cache])
        found = int(np.count_nonzero(present))
        if not found:
            if admit:
                self._admit_new(place, slot, demand.wanted)
            return demand.sectors
        valid = self.valid[slot] if found == used.size else self.valid[slot] * present
        lost = sectors_of(demand.words & ~valid)
        if admit:
            self._admit(place, slot, used, None if found == used.size else present, valid | demand.wanted)
        return lost if lost.any() else None

    def store(self, place: Place, page: int, demand: Demand, *, admit: bool = True) -> None:
        """Makes words valid; where `admit` says no, only those of lines that are there."""
        if not self.lines or not place.cache.size:
            return
        parts = place.portions(max(1, min(MOST, self.lines // 4)))
        if parts is not None:
            for chosen in parts:
                self.store(place.part(chosen), page, demand.part(chosen), admit=admit)
            return
        slot, fresh = self._slots(place, page, admit)
        if fresh:
            if admit:
                self._admit_new(place, slot, demand.words)
            return
        used = self.used[slot]
        present = used >= (EMPTY + 1 if self._level else self.floor[place.cache])
        found = int(np.count_nonzero(present))
        if not admit:
            if not found:
                return
            chosen = np.flatnonzero(present)
            place, slot, used, words = place.part(chosen), slot[chosen], used[chosen], demand.words[chosen]
        elif not found:
            self._admit_new(place, slot, demand.words)
            return
        else:
            words = demand.words
        whole = found == used.size
        valid = self.valid[slot] if whole else self.valid[slot] * present
        self._admit(place, slot, used, None if whole else present, valid | words)

    def drop(self, place: Place, page: int) -> None:
        """Forgets lines."""
        if not self.lines or not place.cache.size or self._pages == 1:
            return
        slot, fresh = self._slots(place, page, False)
        if fresh:
            return
        used = self.used[slot]
        gone = np.flatnonzero(used >= self.floor[place.cache])
        if not gone.size:
            return
        cache = place.cache[gone]
        np.subtract.at(self.ring.reshape(-1), cache * RING + used[gone] % RING, 1)
        self.held -= np.bincount(cache, minlength=self.caches)
        self.used[slot[gone]] = EMPTY
        self.version += 1

    def empty(self, cache: Index) -> None:
        """Forgets all that some caches hold."""
        self._settle()
        self.version += 1
        self.inserted[cache] += self.step
        self.now = self.inserted // self.step
        self.floor[cache] = self.now[cache]
        self.held[cache] = 0
        self.ring[cache] = 0
        self._level = False

    # ------------------------------------------------------------ the order of use

    def _settle(self) -> None:
        """Counts what is pending."""
        added, self._pending = self._pending, np.zeros(self.caches, np.int64)
        self._slack = 0
        self.inserted += added
        self.held += added
        self.ring[np.arange(self.caches), self.now % RING] += added

    def _advance(self, added: Index) -> None:
        """Moves the clocks for lines brought in, which then count as the last used ones."""
        self._settle()
        self.inserted += added
        self.held += added
        now = self.inserted // self.step
        if (now != self.now).any():
            self.now = now
            self.version += 1

    def _evict(self) -> None:
        """Takes the oldest lines out where room is short.

        The ring holds RING steps: a line that nobody used for so long goes too, although drops may have left room for it.
        """
        now = self.now
        while (full := (self.held > self.lines) & (self.floor < now) | (now - self.floor >= RING - 1)).any():
            which = np.flatnonzero(full)
            step = self.floor[which] % RING
            self.held[which] -= self.ring[which, step]
            self.ring[which, step] = 0
            self.floor[which] += 1
            self._level = False
        self._slack = min(self.step - 1 - int((self.inserted % self.step).max()), self.lines - int(self.held.max()))

    def _admit_new(self, place: Place, slot: Index, valid: Index) -> None:
        """Brings in lines of which none is there."""
        self.valid[slot] = valid
        if place.most <= self._slack:
            self._slack -= place.most
            self._pending += place.counts
        else:
            self._advance(place.counts)
            self.ring[np.arange(self.caches), self.now % RING] += place.counts
            self._evict()
        self.used[slot] = self.now[place.cache]

    def _admit(self, place: Place, slot: Index, used: Index, present: Flags | None, valid: Index) -> None:
        """Makes lines, of which some are there (`present` None: all), the last used ones with these words."""
        self.valid[slot] = valid
        cache, clock = place.cache, self.now[place.cache]
        old = used != clock
        if present is None:
            if not old.any():
                return
            self._settle()
            moved = np.flatnonzero(old)
        else:
            added = np.bincount(cache[~present], minlength=self.caches)
            if place.most <= self._slack and not (old & present).any():
                self._slack -= place.most
                self._pending += added
                self.used[slot] = clock
                return
            self._advance(added)
            moved = np.flatnonzero(used != self.now[cache])
        ring = self.ring.reshape(-1)
        cache, slot, used = cache[moved], slot[moved], used[moved]
        left = np.flatnonzero(used >= self.floor[cache]) if present is not None else slice(None)
        np.subtract.at(ring, cache[left] * RING + used[left] % RING, 1)
        now = self.now[cache]
        self.used[slot] = now
        np.add.at(ring, cache * RING + now % RING, 1)
        self._evict()

    # ------------------------------------------------------------ where lines stand

    def _slots(self, place: Place, page: int, insert: bool) -> tuple[Index, bool]:
        """Where what is kept of each line stands, and whether no cache has seen any of them or their neighbours before.

        With `insert` all have a place of their own afterwards.
        """
        shift = self.directory.shift(page + place.span[0], page + place.span[1])
        at = (
            self.directory.each(place.page + page) * self.caches + place.cache if shift is None else place.at + (page + shift) * self.caches
        )
        if self.directory.room * self.caches > self._page.size:
            larger = _blank(2 * self.directory.room * self.caches)
            larger[: self._page.size] = self._page
            self._page = larger
        number: NDArray[np.int32] = self._page[at]
        known = int(np.count_nonzero(number))
        if insert and known < number.size:
            if self._pages + number.size > self._owner.size:
                self._sweep(number.size)
                number = self._page[at]
            self._number_pages(at[number == 0] if known else at)
            number = self._page[at]
        slot: Index = number * np.int64(PAGE) + place.low
        return slot, not known

    def _number_pages(self, new: Index) -> None:
        mark = np.arange(new.size, dtype=np.int32)
        self._page[new] = mark
        new = new[self._page[new] == mark]  # each once
        end = self._pages + new.size
        self._page[new] = np.arange(self._pages, end)
        self._owner[self._pages : end] = new
        self._pages = end

    def _sweep(self, room: int) -> None:
        """Leaves out pages of which no line is held, and makes room if need be."""
        owner = self._owner[1 : self._pages]
        used, valid = (x.reshape(-1, PAGE)[1 : self._pages] for x in (self.used, self.valid))
        kept = np.flatnonzero((used >= self.floor[owner % self.caches][:, None]).any(axis=1))
        self._page[owner] = 0
        size = self.used.size
        while (kept.size + room + 1) * 2 * PAGE > size:
            size *= 2
        self._make(size)
        end = kept.size + 1
        self.used.reshape(-1, PAGE)[1:end], self.valid.reshape(-1, PAGE)[1:end] = used[kept], valid[kept]
        self._owner[1:end], self._page[owner[kept]] = owner[kept], np.arange(1, end)
        self._pages = end
