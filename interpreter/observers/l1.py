"""The caches of all multiprocessors at once, for observers: what accesses find of lines that come once for each cache.

The same caches as memory/cache.py (fully associative, least recently used first out, 128-byte lines in sectors of 32, validity by word),
with the order of use kept in steps of 1/64 of a cache.  A cache that never overflows gives the same counts; one that does is emptied in
such steps.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .l2 import ALIVE, MOST, RING, STEPS
from .pages import Place
from .sectors import SECTOR_WORDS, Demand, sectors_in_part, take_turns
from .tables import USED, Slots, Tables

Index = NDArray[np.int64]
WINDOW = 16  # steps that are looked at together
Keys = NDArray[np.uint32] | Index

HELD = (1 << USED) - 1


class PrivateCaches:
    """The lines of `caches` equal caches of `lines` lines each."""

    def __init__(self, caches: int, lines: int, expected: int = 0, tables: Tables | None = None) -> None:
        self.caches, self.lines = caches, lines
        self.portion = max(1, min(MOST, lines // 4))  # lines of a cache that are taken at once: few enough that their order matters little
        self.step = max(1, lines // STEPS)
        self._tables = tables or Tables(caches, expected)
        self.floor = np.full(caches, 1, np.int64)  # lines last used in a step before it are gone
        self.inserted = np.full(caches, self.step, np.int64)  # lines ever brought in: the clock of each cache
        self.gone = self.inserted.copy()  # of those, the ones that are not held
        self._told = self.inserted  # of the lines brought in, those that the ring knows of
        self._set_clock(self.inserted // self.step)
        self._full = False  # lines have had to go
        self.ragged = False  # sectors may have been written in part
        self.repeated = 0
        self.version = 0  # as long as it stays, lines that were the last used ones stay so, and what was found is found again
        self._level = True  # every floor is the first
        self._ring = np.zeros(caches * RING, np.int64)  # lines alive by cache and by step of their last use
        self._first_step = np.arange(caches) * RING
        self._set_bound()

    @property
    def is_empty(self) -> bool:
        """Has nothing ever been brought in?"""
        return not self.lines or self._tables.pages == 1

    @property
    def size(self) -> int:
        """Lines that there is room for."""
        return self._tables.state.size

    def give_back(self) -> Tables | None:
        """The memory for others, if it is not too much to keep; these caches are no more."""
        if not self._tables.is_small:
            return None
        self._tables.clear()
        return self._tables

    # ------------------------------------------------------------ what happens

    def load(
        self, place: Place, page: int, demand: Demand, *, admit: bool = True, turns: Callable[[int], list[int]] | None = None
    ) -> Index | None:
        """The sectors of each entry that were not found, a bit each (`demand.sectors` itself where all were missed); None if all were found.

        `page` is the one that the access begins in.  What is missed is brought in if `admit` says so, else only into lines that are there.
        `turns` gives the words that warps want of an entry one after the other; `repeated` counts what they miss more than once.
        """
        if not self.lines:
            return demand.sectors
        if not place.cache.size:
            return None
        parts = place.portions(self.portion)
        if parts is not None:
            every = np.zeros_like(place.cache)
            for chosen in parts:
                own = None if turns is None else partial(_of_part, turns, chosen)
                lost = self.load(place.part(chosen), page, demand.part(chosen), admit=admit, turns=own)
                every[chosen] = 0 if lost is None else lost
            return every
        slot, known = self._tables.insert(place, page, self.floor) if admit else self._tables.find(place, page)
        state = self._alive(slot, place.cache) if known and not isinstance(slot, slice) else None
        if state is None or not np.count_nonzero(state):
            if admit:
                self._admit_new(place, slot, demand.wanted)
            return demand.sectors
        missed = demand.missed(state)
        assert not isinstance(slot, slice)
        brought = np.zeros_like(state) if missed is None else missed * SECTOR_WORDS
        if self.ragged and (torn := np.flatnonzero(sectors_in_part(state) & demand.sectors)).size:
            missed = np.zeros_like(state) if missed is None else missed.copy()
            brought[torn] = 0
            for entry in torn.tolist():
                wanted = turns(entry) if turns else [int(demand.words[entry])]
                valid, missed[entry], misses = take_turns(int(state[entry]) & HELD, wanted)
                state[entry] = int(state[entry]) & ~HELD | valid
                self.repeated += misses - int(missed[entry]).bit_count()
            self._tables.seen.reshape(-1, 4)[slot[torn]] = 0
            self.version += 1
        if admit:
            self._admit(place.cache, slot, state, brought)
        elif missed is not None:
            there = np.flatnonzero(state)
            self._tables.state[slot[there]] = state[there] | brought[there]
        return missed

    def holds(self, place: Place, page: int) -> NDArray[np.bool_]:
        """Which of the lines are there."""
        slot, known = self._tables.find(place, page)
        if not known or not self.lines:
            return np.zeros(place.cache.size, np.bool_)
        return np.asarray(self._alive(slot, place.cache) != 0)

    def store(self, place: Place, page: int, demand: Demand, *, admit: bool = True) -> None:
        """Makes words valid; where `admit` says no, only those of lines that are there."""
        if not self.lines or not place.cache.size:
            return
        self.ragged = self.ragged or demand.ragged
        parts = place.portions(self.portion)
        if parts is not None:
            for chosen in parts:
                self.store(place.part(chosen), page, demand.part(chosen), admit=admit)
            return
        slot, known = self._tables.insert(place, page, self.floor) if admit else self._tables.find(place, page)
        state = self._alive(slot, place.cache) if known and not isinstance(slot, slice) else None
        if state is None or not np.count_nonzero(state):
            if admit:
                self._admit_new(place, slot, demand.words)
        elif admit:
            self._admit(place.cache, slot, state, demand.words)
        else:
            assert not isinstance(slot, slice)
            there = np.flatnonzero(state)
            self._admit(place.cache[there], slot[there], state[there], demand.words[there])

    def drop(self, place: Place, page: int) -> None:
        """Forgets lines."""
        if self.is_empty or not place.cache.size:
            return
        slot, known = self._tables.find(place, page)
        if not known:
            return
        state = self._alive(slot, place.cache)
        gone = state.nonzero()[0]
        if not gone.size:
            return
        if self._settle():
            state = self._alive(slot, place.cache)
        cache = place.cache[gone]
        np.subtract.at(self._ring, self._first_step[cache] + (state[gone] >> USED & RING - 1), 1)
        self.gone += np.bincount(cache, minlength=self.caches)
        self._tables.forget(slot[gone])
        self.version += 1

    def empty(self, cache: Index) -> None:
        """Forgets all that some caches hold."""
        self._tell_ring(self.inserted)
        self.version += 1
        self.inserted = self._told = self.inserted.copy()
        self.inserted[cache] += self.step
        self._set_clock(self.inserted // self.step)
        self.floor[cache] = self.now[cache]
        self.gone[cache] = self.inserted[cache]
        self._ring.reshape(-1, RING)[cache] = 0
        self._level = False
        self._tables.forget_seen()
        self._set_bound()

    # ------------------------------------------------------------ the order of use

    def _bring(self, added: Index) -> bool:
        """Moves the clocks for lines brought in; True if a clock has moved or a cache is full."""
        before = self.inserted
        self.inserted = inserted = before + added
        if not np.count_nonzero(inserted > self._bound):
            return False
        now = inserted // self.step
        if np.count_nonzero(now != self.now):
            self._tell_ring(before)
            self._set_clock(now)
            self.version += 1
        return True

    def _tell_ring(self, inserted: Index) -> None:
        """Counts what was brought in so far in the step that was now; later lines belong to the step that comes."""
        self._ring[self._first_step + (self.now & RING - 1)] += inserted - self._told
        self._told = inserted

    def _set_clock(self, now: Index) -> None:
        self.now, self._stamp = now, now << USED

    def _evict(self) -> None:
        """Takes the oldest lines out where room is short.

        The ring holds so many steps: a line that nobody used for so long goes too, although drops may have left room for it.
        """
        while True:
            over, age = self.inserted - self.gone - self.lines, self.now - self.floor
            which = np.flatnonzero((over > 0) & (age > 0) | (age >= ALIVE))
            if not which.size:
                break
            if not self._full:
                self._settle()
                self._full = True
            over, age, steps = over[which, None], age[which, None], np.arange(1, WINDOW + 1)
            oldest = self._first_step[which, None] + (self.floor[which, None] + steps - 1 & RING - 1)
            lines = np.cumsum(np.where(steps <= age, self._ring[oldest], 0), axis=1)
            needed = np.where(over > 0, np.minimum((lines < over).sum(axis=1, keepdims=True) + 1, age), 0)
            taken = np.minimum(np.maximum(needed, age - ALIVE + 1), WINDOW)  # steps that go
            self.gone[which] += np.take_along_axis(lines, taken - 1, axis=1)[:, 0]
            self._ring[oldest[steps <= taken]] = 0
            self.floor[which] += taken[:, 0]
            self._level = False
        self._set_bound()

    def _settle(self) -> bool:
        """Writes down when lines were used, if some have not been told yet."""
        return False

    def _set_bound(self) -> None:
        self._bound = np.minimum(self.now * self.step + self.step - 1, self.gone + self.lines)  # beyond it _bring says so

    def _alive(self, slot: Index, cache: Index) -> Index:
        """The state of lines, 0 where they are not held."""
        state = self._tables.state.take(slot)
        if not self._level:
            gone = (state < (self.floor << USED).take(cache)).nonzero()[0]
            if gone.size:
                state[gone] = 0
        return state

    def _admit_new(self, place: Place, slot: Slots, words: Index) -> None:
        """Brings in lines of which none is there."""
        look = self._bring(place.counts)
        self._tables.state[slot] = self._stamp.take(place.cache) | words
        if look:
            self._evict()

    def _admit(self, cache: Index, slot: Slots, state: Index, words: Index) -> None:
        """Makes lines the last used ones, with these words too; `state`: 0 where a line is not there."""
        new, look = (state == 0).nonzero()[0], False
        if new.size:
            look = self._bring(np.bincount(cache[new], minlength=self.caches))
        stamp = self._stamp.take(cache)
        self._move(cache, state, stamp)
        self._tables.state[slot] = state & HELD | words | stamp
        if look:
            self._evict()

    def _move(self, cache: Index, state: Index, stamp: Index) -> None:
        """Counts lines that are there (those of state 0 are not) as used when these stamps say."""
        moved = (state < stamp).nonzero()[0]
        if moved.size:
            moved = moved.take(state.take(moved).nonzero()[0])
        if moved.size:
            first = self._first_step.take(cache.take(moved))
            np.subtract.at(self._ring, first + (state.take(moved) >> USED & RING - 1), 1)
            np.add.at(self._ring, first + (stamp.take(moved) >> USED & RING - 1), 1)


def _of_part(turns: Callable[[int], list[int]], chosen: Index, entry: int) -> list[int]:
    return turns(int(chosen[entry]))
