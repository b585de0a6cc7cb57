"""The caches of all multiprocessors at once, for observers: what accesses find of lines that come once for each cache.

The same caches as memory/cache.py (fully associative, least recently used first out, 128-byte lines in sectors of 32, validity by word),
with the order of use kept in steps of 1/64 of a cache.  A cache that never overflows gives the same counts; one that does is emptied in
such steps.
"""

from __future__ import annotations

import mmap

import numpy as np
from numpy.typing import NDArray

from .l2 import ALIVE, MOST, RING, STEPS, Directory
from .pages import PAGE, Place
from .sectors import Demand

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Slots = Index | slice

EMPTY = 0  # the step of what was never used: memory that nobody wrote yet costs nothing
_REGION_BITS = 10
REGION = 1 << _REGION_BITS  # pages of each cache that are numbered together: a megabyte of memory
KEPT = 1 << 20  # lines: larger tables are not kept for others
_PRIVATE = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS} if hasattr(mmap, "MAP_PRIVATE") else {}


def _blank(size: int) -> NDArray[np.int32]:
    """Zeros of which only those that somebody touches cost anything, however large."""
    return np.frombuffer(mmap.mmap(-1, 4 * size, **_PRIVATE), np.int32)


class Tables:
    """The memory of such caches, which the next launch may use again: fresh memory costs a fault of the host a page."""

    def __init__(self, caches: int, size: int) -> None:
        self.room = 64 * REGION  # pages of memory that the first table has places for
        self.page = _blank(self.room * caches)  # the number of a page of a cache
        self.make(size)

    def make(self, size: int) -> None:
        """Room for so many lines."""
        self.valid = np.zeros(size, np.int64)  # a bit for each word
        self.used = np.zeros(size, np.int64)  # the step of the last use; the first page stays empty
        self.owner = np.zeros(size // PAGE, np.int64)  # where a page's number stands

    def grow(self, room: int, caches: int) -> None:
        """Places for so many pages of memory."""
        larger = _blank(room * caches)
        larger[: self.page.size] = self.page
        self.room, self.page = room, larger

    def clear(self, pages: int) -> None:
        """Forgets what stands in the first pages."""
        self.page[self.owner[1:pages]] = 0
        self.used[: pages * PAGE] = 0


class PrivateCaches:
    """The lines of `caches` equal caches of `lines` lines each.

    A line is found by two tables, of regions of memory and of the pages in them that a cache has seen; number 0 stands for none yet.
    """

    def __init__(self, caches: int, lines: int, expected: int = 0, tables: Tables | None = None) -> None:
        self.caches, self.lines = caches, lines
        self.portion = max(1, min(MOST, lines // 4))  # lines of a cache that are taken at once: few enough that their order matters little
        self.step = max(1, lines // STEPS)
        self.directory = Directory(_REGION_BITS)
        self._tables = tables or Tables(caches, max(PAGE << 7, min(4 * expected, 1 << 20) & -PAGE))
        self._take()
        self._pages = 1
        self.floor = np.full(caches, EMPTY + 1, np.int64)  # lines last used in a step before it are gone
        self.inserted = np.full(caches, self.step, np.int64)  # lines ever brought in: the clock of each cache
        self.gone = self.inserted.copy()  # of those, the ones that are not held
        self.now = self.inserted // self.step
        self.ring = np.zeros((caches, RING), np.int64)  # lines alive by step of their last use
        self.version = 0  # as long as it stays, lines that were the last used ones stay so, and what was found is found again
        self._level = True  # every floor is the first
        self._ringed = self.inserted  # lines ever brought in that the ring knows of; later ones belong to the step that is now
        self._first_step = np.arange(caches) * RING
        self._at_now = self._first_step + self.now % RING
        self._set_bound()

    def _take(self) -> None:
        t = self._tables
        self._page, self._owner, self.valid, self.used = t.page, t.owner, t.valid, t.used

    def give_back(self) -> Tables | None:
        """The memory for others, if it is not too much to keep; these caches are no more."""
        if self.used.size > KEPT:
            return None
        self._tables.clear(self._pages)
        return self._tables

    # ------------------------------------------------------------ what happens

    def load(self, place: Place, page: int, demand: Demand, *, admit: bool = True) -> Index | None:
        """The sectors of each entry that were not found, a bit each (`demand.sectors` itself where all were missed); None if all were found.

        `page` is the one that the access begins in.  What is missed is brought in if `admit` says so.
        """
        if not self.lines:
            return demand.sectors
        if not place.cache.size:
            return None
        parts = place.portions(self.portion)
        if parts is not None:
            every = np.zeros_like(place.cache)
            for chosen in parts:
                lost = self.load(place.part(chosen), page, demand.part(chosen), admit=admit)
                every[chosen] = 0 if lost is None else lost
            return every
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
        missed = demand.missed(valid)
        if admit:
            self._admit(place, slot, used, None if found == used.size else present, valid | demand.wanted)
        return missed

    def store(self, place: Place, page: int, demand: Demand, *, admit: bool = True) -> None:
        """Makes words valid; where `admit` says no, only those of lines that are there."""
        if not self.lines or not place.cache.size:
            return
        parts = place.portions(self.portion)
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
            assert not isinstance(slot, slice)
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
        assert not isinstance(slot, slice)
        cache = place.cache[gone]
        np.subtract.at(self.ring.reshape(-1), self._first_step[cache] + used[gone] % RING, 1)
        self.gone += np.bincount(cache, minlength=self.caches)
        self.used[slot[gone]] = EMPTY
        self.version += 1

    def empty(self, cache: Index) -> None:
        """Forgets all that some caches hold."""
        self._tell_ring()
        self.version += 1
        self.inserted = self.inserted.copy()
        self.inserted[cache] += self.step
        self._ringed = self.inserted
        self.now = self.inserted // self.step
        self._at_now = self._first_step + self.now % RING
        self.floor[cache] = self.now[cache]
        self.gone[cache] = self.inserted[cache]
        self.ring[cache] = 0
        self._level = False
        self._set_bound()

    # ------------------------------------------------------------ the order of use

    def _bring(self, added: Index) -> bool:
        """Moves the clocks for lines brought in; True if a clock has moved or a cache is full."""
        self.inserted = inserted = self.inserted + added
        if not (inserted > self._bound).any():
            return False
        self._tell_ring(added)
        now = inserted // self.step
        if (now != self.now).any():
            self.now = now
            self.version += 1
            self._at_now = self._first_step + now % RING
        return True

    def _tell_ring(self, but: Index | int = 0) -> None:
        """Counts in the ring what was brought in, but for what belongs to the step that comes."""
        told = self.inserted - but
        self.ring.reshape(-1)[self._at_now] += told - self._ringed
        self._ringed = told

    def _evict(self) -> None:
        """Takes the oldest lines out where room is short.

        The ring holds so many steps: a line that nobody used for so long goes too, although drops may have left room for it.
        """
        now = self.now
        while (full := (self.inserted - self.gone > self.lines) & (self.floor < now) | (now - self.floor >= ALIVE)).any():
            which = np.flatnonzero(full)
            step = self.floor[which] % RING
            self.gone[which] += self.ring[which, step]
            self.ring[which, step] = 0
            self.floor[which] += 1
            self._level = False
        self._set_bound()

    def _set_bound(self) -> None:
        self._bound = np.minimum(self.now * self.step + self.step - 1, self.gone + self.lines)  # beyond it _bring says so

    def _admit_new(self, place: Place, slot: Slots, valid: Index) -> None:
        """Brings in lines of which none is there."""
        self.valid[slot] = valid
        look = self._bring(place.counts)
        self.used[slot] = self.now[place.cache]
        if look:
            self._evict()

    def _admit(self, place: Place, slot: Slots, used: Index, present: Flags | None, valid: Index) -> None:
        """Makes lines, of which some are there (`present` None: all), the last used ones with these words."""
        self.valid[slot] = valid
        cache = place.cache
        look = present is not None and self._bring(np.bincount(cache[~present], minlength=self.caches))
        now = self.now[cache]
        old = used != now
        moved = np.flatnonzero(old if present is None else old & present)
        if moved.size:  # from one step to another
            ring, cache = self.ring.reshape(-1), cache[moved]
            np.subtract.at(ring, self._first_step[cache] + used[moved] % RING, 1)
            np.add.at(ring, self._at_now[cache], 1)
        if moved.size or present is not None:
            self.used[slot] = now
        if look:
            self._evict()

    # ------------------------------------------------------------ where lines stand

    def _slots(self, place: Place, page: int, insert: bool) -> tuple[Slots, bool]:
        """Where what is kept of each line stands, and whether no cache has seen any of them or their neighbours before.

        With `insert` all have a place of their own afterwards.
        """
        pages = place.pages
        shift = self.directory.shift(page + pages.span[0], page + pages.span[1])
        at = place.at + (page + shift) * self.caches if shift is not None else self._scattered(place, page)
        if self.directory.room > self._tables.room:
            self._tables.grow(2 * self.directory.room, self.caches)
            self._take()
        number: NDArray[np.int32] = self._page[at]
        known = int(np.count_nonzero(number))
        if insert and known < number.size:
            if self._pages + number.size > self._owner.size:
                self._sweep(number.size)
                number = self._page[at]
            new = at[number == 0] if known else at
            if pages.rank is None:  # each once
                mark = np.arange(new.size, dtype=np.int32)
                self._page[new] = mark
                new = new[self._page[new] == mark]
            begin, end = self._pages, self._pages + new.size
            self._page[new] = np.arange(begin, end, dtype=np.int32)
            self._owner[begin:end] = new
            self._pages = end
            if not known and pages.slot is not None:
                start = begin * PAGE
                if pages.run:
                    start += pages.slot.item(0)
                    return slice(start, start + pages.slot.size), True
                return pages.slot + start, True
            number = self._page[at]
        place_of = number * np.int64(PAGE)
        slot: Index = (place_of if pages.rank is None else place_of[pages.rank]) + pages.low
        return slot, not known

    def _scattered(self, place: Place, page: int) -> Index:
        return self.directory.each(place.pages.page + page) * self.caches + place.owner

    def _sweep(self, room: int) -> None:
        """Leaves out pages of which no line is held, and makes room if need be."""
        owner = self._owner[1 : self._pages]
        used, valid = (x.reshape(-1, PAGE)[1 : self._pages] for x in (self.used, self.valid))
        kept = np.flatnonzero((used >= self.floor[owner % self.caches][:, None]).any(axis=1))
        self._page[owner] = 0
        size = self.used.size
        while (kept.size + room + 1) * 2 * PAGE > size:
            size *= 2
        self._tables.make(size)
        self._take()
        end = kept.size + 1
        self.used.reshape(-1, PAGE)[1:end], self.valid.reshape(-1, PAGE)[1:end] = used[kept], valid[kept]
        self._owner[1:end], self._page[owner[kept]] = owner[kept], np.arange(1, end)
        self._pages = end
