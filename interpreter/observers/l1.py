"""The caches of all multiprocessors at once, for observers: what accesses find of lines that come once for each cache.

The same caches as memory/cache.py (fully associative, least recently used first out, 128-byte lines in sectors of 32, validity by word),
with the order of use kept in steps of 1/64 of a cache.  A cache that never overflows gives the same counts; one that does is emptied in
such steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .l2 import ALIVE, MOST, RING, STEPS
from .pages import PAGE, Place
from .sectors import Demand
from .tables import Slots, Tables

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

EMPTY = 0  # the step of what was never used: memory that nobody wrote yet costs nothing


class PrivateCaches:
    """The lines of `caches` equal caches of `lines` lines each."""

    def __init__(self, caches: int, lines: int, expected: int = 0, tables: Tables | None = None) -> None:
        self.caches, self.lines = caches, lines
        self.portion = max(1, min(MOST, lines // 4))  # lines of a cache that are taken at once: few enough that their order matters little
        self.step = max(1, lines // STEPS)
        self._tables = tables or Tables(caches, expected)
        self.floor = np.full(caches, EMPTY + 1, np.int64)  # lines last used in a step before it are gone
        self.inserted = np.full(caches, self.step, np.int64)  # lines ever brought in: the clock of each cache
        self.gone = self.inserted.copy()  # of those, the ones that are not held
        self.now = self.inserted // self.step
        self.version = 0  # as long as it stays, lines that were the last used ones stay so, and what was found is found again
        self._level = True  # every floor is the first
        # Lines alive, by cache and by step of their last use; counted when lines have to go for the first time.
        self._ring: Index | None = None
        self._first_step = np.arange(caches) * RING
        self._at_now = self._first_step + self.now % RING
        self._set_bound()

    @property
    def size(self) -> int:
        """Lines that there is room for."""
        return self._tables.used.size

    def give_back(self) -> Tables | None:
        """The memory for others, if it is not too much to keep; these caches are no more."""
        if not self._tables.is_small:
            return None
        self._tables.clear()
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
        slot, known = self._tables.insert(place, page, self.floor) if admit else self._tables.find(place, page)
        if known:
            used = self._tables.used[slot]
            present = used >= (EMPTY + 1 if self._level else self.floor[place.cache])
            found = int(np.count_nonzero(present))
        if not known or not found:
            if admit:
                self._admit_new(place, slot, demand.wanted)
            return demand.sectors
        valid = self._tables.valid[slot]
        if found < used.size:
            valid *= present
        missed = demand.missed(valid)
        if admit:
            valid |= demand.wanted
            self._admit(place, slot, used, None if found == used.size else present, valid)
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
        slot, known = self._tables.insert(place, page, self.floor) if admit else self._tables.find(place, page)
        if known:
            used = self._tables.used[slot]
            present = used >= (EMPTY + 1 if self._level else self.floor[place.cache])
            found = int(np.count_nonzero(present))
        if not known or not found:
            if admit:
                self._admit_new(place, slot, demand.words)
            return
        words = demand.words
        if not admit and found < used.size:
            chosen = np.flatnonzero(present)
            assert not isinstance(slot, slice)
            place, slot, used, words, present = place.part(chosen), slot[chosen], used[chosen], words[chosen], present[chosen]
        valid = self._tables.valid[slot]
        if found < used.size:
            valid *= present
        valid |= words
        self._admit(place, slot, used, None if found == used.size else present, valid)

    def drop(self, place: Place, page: int) -> None:
        """Forgets lines."""
        if not self.lines or not place.cache.size or self._tables.pages == 1:
            return
        slot, known = self._tables.find(place, page)
        if not known:
            return
        used = self._tables.used[slot]
        gone = np.flatnonzero(used >= (EMPTY + 1 if self._level else self.floor[place.cache]))
        if not gone.size:
            return
        cache = place.cache[gone]
        if self._ring is not None:
            np.subtract.at(self._ring, self._first_step[cache] + used[gone] % RING, 1)
        self.gone += np.bincount(cache, minlength=self.caches)
        self._tables.used[slot[gone]] = EMPTY
        self.version += 1
        self._set_bound()

    def empty(self, cache: Index) -> None:
        """Forgets all that some caches hold."""
        self.version += 1
        self.inserted = self.inserted.copy()
        self.inserted[cache] += self.step
        self.now = self.inserted // self.step
        self._at_now = self._first_step + self.now % RING
        self.floor[cache] = self.now[cache]
        self.gone[cache] = self.inserted[cache]
        if self._ring is not None:
            self._ring.reshape(-1, RING)[cache] = 0
        self._level = False
        self._set_bound()

    # ------------------------------------------------------------ the order of use

    def _bring(self, added: Index) -> bool:
        """Moves the clocks for lines brought in; True if a clock has moved or a cache is full."""
        self.inserted = inserted = self.inserted + added
        moved = bool((inserted > self._bound).any())
        if moved:
            now = inserted // self.step
            if (now != self.now).any():
                self.now = now
                self.version += 1
                self._at_now = self._first_step + now % RING
        if self._ring is not None:
            self._ring[self._at_now] += added
        return moved

    def _evict(self) -> None:
        """Takes the oldest lines out where room is short.

        The ring holds so many steps: a line that nobody used for so long goes too, although drops may have left room for it.
        """
        now = self.now
        while (full := (self.inserted - self.gone > self.lines) & (self.floor < now) | (now - self.floor >= ALIVE)).any():
            if self._ring is None:
                self._ring = self._counted()
            which = np.flatnonzero(full)
            oldest = self._first_step[which] + self.floor[which] % RING
            self.gone[which] += self._ring[oldest]
            self._ring[oldest] = 0
            self.floor[which] += 1
            self._level = False
        self._set_bound()

    def _counted(self) -> Index:
        """The lines alive by cache and step."""
        t = self._tables
        cache, used = t.owner[1 : t.pages] % self.caches, t.used[PAGE : t.pages * PAGE].reshape(-1, PAGE)
        alive = used >= self.floor[cache][:, None]
        return np.bincount((self._first_step[cache][:, None] + used % RING)[alive], minlength=self.caches * RING)

    def _set_bound(self) -> None:
        self._bound = np.minimum(self.now * self.step + self.step - 1, self.gone + self.lines)  # beyond it _bring says so

    def _admit_new(self, place: Place, slot: Slots, valid: Index) -> None:
        """Brings in lines of which none is there."""
        self._tables.valid[slot] = valid
        look = self._bring(place.counts)
        self._tables.used[slot] = self.now[place.cache]
        if look:
            self._evict()

    def _admit(self, place: Place, slot: Slots, used: Index, present: Flags | None, valid: Index) -> None:
        """Makes lines, of which some are there (`present` None: all), the last used ones with these words."""
        self._tables.valid[slot] = valid
        cache, look = place.cache, False
        if present is not None:
            look = self._bring(np.bincount(cache[np.flatnonzero(~present)], minlength=self.caches))
        now = self.now[cache]
        if present is None and self._ring is None:
            self._tables.used[slot] = now
            return
        if self._ring is not None:
            old = used != now
            moved = np.flatnonzero(old if present is None else old & present)
            if moved.size:  # from one step to another
                cache = cache[moved]
                np.subtract.at(self._ring, self._first_step[cache] + used[moved] % RING, 1)
                np.add.at(self._ring, self._at_now[cache], 1)
            elif present is None:
                return
        self._tables.used[slot] = now
        if look:
            self._evict()
