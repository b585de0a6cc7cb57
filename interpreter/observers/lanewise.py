"""The caches of all multiprocessors for accesses in disorder: what each lane finds, one by one and in any order.

Most lanes find what somebody brought in.  A byte for each sector says so at once; it also says whether the sector's line was noted as used
in the step that is now.  When lines were used last is written down in their states only when that will be asked, before the first line has to go.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .l1 import HELD, PrivateCaches
from .l2 import MOST
from .sectors import MARKS, different, firsts, summed, words_of
from .tables import USED, Tables

Index = NDArray[np.int64]
Keys = NDArray[np.uint32] | Index

NOTED = 1 << 22  # lanes whose use may wait to be written down
AGES = 255


class LanewiseCaches(PrivateCaches):
    """Such caches, asked by lanes.  A lane's key is (cache, sector)."""

    def __init__(self, caches: int, lines: int, expected: int = 0, tables: Tables | None = None) -> None:
        super().__init__(caches, lines, expected, tables)
        self._noted: list[tuple[Keys, int, Index]] = []  # lanes, the bits of a sector in their keys, and the steps that were then
        self._waiting = 0  # lanes among those
        self._barren = False  # of the lanes that came last most found nothing
        self._age = 1  # of the sectors that were used in the steps that are now
        self._aged = self.now

    def load_each(self, cache: Index, sector: Keys, active: Index | None, last: int, crowd: int) -> Keys | None:
        """As load, of a whole sector for each active lane of warps that run on these caches: the sectors that were not there, by cache.

        `last`: no sector has a higher number; `crowd`: no cache has more lanes.  None, and nothing has happened, if lines with parts of
        sectors are among them.
        """
        tables = self._tables
        if not self.lines or (keys := tables.keys(cache, sector, last)) is None or keys.size > MOST:
            return None
        if active is not None:
            keys = keys.take(active)
        tables.reserve(keys.size, self.floor)
        found = self._find(keys, crowd) if not self._full and not self._barren else self._take_all(keys, crowd)
        if found is None:
            return None
        sectors: Keys = np.bitwise_and(found, (1 << tables.key_bits) - 1, dtype=keys.dtype)
        return sectors

    def _find(self, keys: Keys, crowd: int) -> Keys | None:
        """What most lanes find at once; the keys of what was brought in."""
        seen, place, asked = self._tables.seen, self._tables.find_each(keys), keys
        self._look_at_clocks()
        other = np.flatnonzero(seen.take(place, mode="wrap") != self._age)
        if not other.size:
            return keys[:0]
        if other.size < keys.size:
            asked, place = keys.take(other), place.take(other)
        state, lost, whole = self._look(asked, place)
        if not whole:
            return None
        self._barren = 4 * lost.size > 3 * keys.size
        if lost.size and crowd > self.portion:
            return self._take_all(keys, crowd)
        now, look = self.now, False
        missed = different(asked.take(lost))
        if missed.size:
            look = self._insert(missed)
            self._look_at_clocks()
        if lost.size < asked.size:
            found = np.ones(asked.size, np.bool_)
            found[lost] = False
            seen[place.take(np.flatnonzero(found))] = self._age
        there = np.flatnonzero(state)
        if asked.size < keys.size and self.now is not now:
            self._note(keys)  # those are used in another step, too
        elif there.size:
            self._note(asked.take(there))
        if look:
            self._evict()
        return missed

    def _take_all(self, keys: Keys, crowd: int) -> Keys | None:
        """As _find, where most lanes may miss."""
        parts = self._parts(keys >> 2, self._tables.key_bits - 2) if crowd > self.portion else None
        if parts is None:
            return self._take(different(keys))
        if not self._look(keys, self._tables.find_each(keys))[2]:
            return None
        return np.concatenate([m for part in parts if (m := self._take(different(keys.take(part)))) is not None])

    def _take(self, keys: Keys) -> Keys | None:
        """Brings in sectors, each once and in order, and makes their lines the last used ones; None where only parts of a sector are there."""
        slot, cache, table = self._tables.insert_each(keys) >> 2, self._cache_of(keys), self._tables.state
        state, words = table.take(slot), words_of(keys)
        if not self._level:
            state[np.flatnonzero(state < (self.floor << USED).take(cache))] = 0
        have = state.astype(np.uint32)
        have &= words
        lost = np.flatnonzero(have != words)
        if self._in_part(keys, state, have, lost):
            return None
        self._barren = 4 * lost.size > 3 * keys.size
        whole = words.astype(np.int64)
        starts = firsts(slot)
        if starts.size < slot.size:
            slot, cache, state, whole = slot.take(starts), cache.take(starts), state.take(starts), summed(whole, starts)
        new, look = np.flatnonzero(state == 0), False
        if new.size:
            look = self._bring(np.bincount(cache.take(new), minlength=self.caches))
        stamp = self._stamp.take(cache)
        if new.size < state.size:
            self._move(cache, state, stamp)
        state &= HELD
        state |= whole
        state |= stamp
        table[slot] = state
        if look:
            self._evict()
        return keys.take(lost)

    def _look(self, keys: Keys, place: Index) -> tuple[Index, Index, bool]:
        """The states of lines, 0 if they are not held, the lanes whose sectors are not there, and whether these are missing as a whole."""
        state = self._tables.state.take(place >> 2, mode="wrap")
        if not self._level:
            state[np.flatnonzero(state < (self.floor << USED).take(self._cache_of(keys)))] = 0
        words = words_of(keys)
        have = state.astype(np.uint32)
        have &= words
        lost = np.flatnonzero(have != words)
        return state, lost, not self._in_part(keys, state, have, lost)

    def _in_part(self, keys: Keys, state: Index, have: NDArray[np.uint32], lost: Index) -> bool:
        """Was something written to a sector that is lost?"""
        if have.take(lost).any():
            return True
        return self.ragged and bool((state.take(lost) >> MARKS + (keys.take(lost) & 3).astype(np.int64) & 1).any())

    def _insert(self, missed: Keys) -> bool:
        """Makes sectors valid, and lines that are not there the last used ones; True if a clock has moved or a cache is full."""
        table, look = self._tables.state, False
        slot, cache, words = self._tables.insert_each(missed) >> 2, self._cache_of(missed), words_of(missed).astype(np.int64)
        starts = firsts(slot)
        if starts.size < slot.size:
            slot, cache, words = slot.take(starts), cache.take(starts), summed(words, starts)
        state = table.take(slot)
        new = np.flatnonzero(state < (self.floor << USED).take(cache))
        if new.size:
            cache = cache.take(new)
            look = self._bring(np.bincount(cache, minlength=self.caches))
            state[new] = self._stamp.take(cache)
        state |= words
        table[slot] = state
        return look

    def _use(self, keys: Keys, slot: Index, state: Index, step: Index) -> None:
        """Makes lines that are there, which may come several times, used in these steps of their caches."""
        table, cache = self._tables.state, self._cache_of(keys)
        stamp = (step << USED).take(cache)
        old = np.flatnonzero(state < stamp)
        if not old.size:
            return
        place = slot.take(old)
        words = table.take(place) & HELD
        table[place] = old  # a mark, to find one lane of each line
        one = old.take(np.flatnonzero(table.take(place) == old))
        self._move(cache.take(one), state.take(one), stamp.take(one))
        table[place] = words | stamp.take(old)

    def _cache_of(self, keys: Keys) -> Index:
        return (keys >> self._tables.key_bits).astype(np.int64)

    def _parts(self, line: Keys, wide: int) -> list[Index] | None:
        """Lanes by the rank of their lines, (cache, line), among those of a cache, in portions; None where all are one."""
        lines = different(line.copy())
        starts = lines.searchsorted((np.arange(self.caches) << wide).astype(lines.dtype))
        count = np.diff(starts, append=lines.size)
        if int(count.max()) <= self.portion:
            return None
        most = min(self.portion, max(1, MOST // int(np.count_nonzero(count))))
        cache, part = (line >> wide).astype(np.int64), np.zeros(line.size, np.int64)
        for rank in range(most, int(count.max()), most):
            longer = count > rank
            first = lines.take(np.where(longer, starts + rank, 0))
            part += longer.take(cache) & (line >= first.take(cache))
        return [np.flatnonzero(part == k) for k in range(int(part.max()) + 1)]

    # ------------------------------------------------------------ when lines were used

    def _look_at_clocks(self) -> None:
        """A new age begins where a clock has moved."""
        if self.now is not self._aged:
            self._aged = self.now
            self._age += 1
            if self._age > AGES:
                self._tables.forget_seen()
                self._age = 1

    def _note(self, keys: Keys) -> None:
        self._noted.append((keys, self._tables.key_bits, self.now))
        self._waiting += keys.size
        if self._waiting > NOTED:
            self._settle()

    def _settle(self) -> bool:
        some = bool(self._noted)
        for keys, bits, step in self._noted:
            if bits != self._tables.key_bits:  # the tables have grown
                keys = (keys >> bits).astype(np.int64) << self._tables.key_bits | (keys & (1 << bits) - 1).astype(np.int64)
            slot = self._tables.find_each(keys) >> 2
            state = self._tables.state.take(slot)
            there = np.flatnonzero(state >= (self.floor << USED).take(self._cache_of(keys)))
            self._use(keys.take(there), slot.take(there), state.take(there), step)
        self._noted.clear()
        self._waiting = 0
        return some
