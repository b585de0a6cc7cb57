"""Many caches at once, for observers: which sectors accesses find, worked out for all warps of a group together.

The same caches as memory/cache.py (fully associative, least recently used first out, 128-byte lines in sectors of 32, validity by word),
with the order of use kept in steps of 1/64 of a cache.  A cache that never overflows gives the same counts; one that does is emptied in
such steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

SECTORS = 4
SECTOR_WORDS = 0xFF
STEPS = 64  # of one cache
RING = 128  # steps that may be alive at once, and some to spare
EMPTY = -1
_HASH = np.uint64(0x9E3779B97F4A7C15)


class CacheTable:
    """The lines of `caches` equal caches of `lines` lines each, in one hash table."""

    def __init__(self, caches: int, lines: int) -> None:
        self.caches, self.lines = caches, lines
        self.step = max(1, lines // STEPS)
        self._make(12)
        self.floor = np.zeros(caches, np.int64)  # lines last used in a step before it are gone
        self.inserted = np.full(caches, self.step, np.int64)  # lines ever brought in: the clock of each cache
        self.held = np.zeros(caches, np.int64)
        self.ring = np.zeros((caches, RING), np.int64)  # lines alive by step of their last use

    def _make(self, bits: int) -> None:
        self.bits = bits
        self.key = np.full(1 << bits, EMPTY, np.int64)
        self.valid = np.zeros(1 << bits, np.int64)  # a bit for each word; dirty sectors in bits 32 to 35
        self.used = np.zeros(1 << bits, np.int64)  # the step of the last use
        self._owner = np.zeros((SECTORS + 1) << bits, np.int64)
        self._filled = 0

    # ------------------------------------------------------------ what happens

    def load(self, cache: Index, line: Index, words: Index, *, admit: bool = True) -> tuple[Index, Index]:
        """(sectors found, words of the sectors not found) of each entry; what was not found is brought in if `admit` says so."""
        if not self.lines:
            return np.zeros_like(line), _whole(words)
        found, missed = np.zeros_like(line), np.zeros_like(line)
        for part in self._portions(cache):
            c, at, w = cache[part], line[part], words[part]
            slot, known = self._slots(c, at, admit)
            present = known & (self.used[slot] >= self.floor[c])
            have = np.where(present, self.valid[slot], 0)
            hits, lost = np.zeros_like(w), np.zeros_like(w)
            alone = not admit or _ascending(slot)
            for s in range(SECTORS):
                wanted = w >> 8 * s & SECTOR_WORDS
                touched = wanted != 0
                ok = touched & (wanted & ~(have >> 8 * s) == 0)
                if not alone:  # an entry before this one has brought the sector in
                    ok |= touched & ~self._first(slot, touched, s)
                hits += ok
                lost |= np.where(touched & ~ok, SECTOR_WORDS << 8 * s, 0)
            found[part], missed[part] = hits, lost
            if admit:
                self._admit(c, slot, present, _whole(w))
        return found, missed

    def store(self, cache: Index, line: Index, words: Index, *, admit: bool = True, dirty: bool = False) -> Index:
        """Makes words valid; gives how many sectors each entry made dirty that were clean, where `dirty` is kept."""
        fresh = np.zeros_like(line)
        if not self.lines:
            return fresh
        for part in self._portions(cache):
            c, at, w = cache[part], line[part], words[part]
            slot, known = self._slots(c, at, admit)
            present = known & (self.used[slot] >= self.floor[c])
            if dirty:
                have = np.where(present, self.valid[slot] >> 32, 0)
                marks = np.zeros_like(w)
                for s in range(SECTORS):
                    touched = w >> 8 * s & SECTOR_WORDS != 0
                    fresh[part] += touched & (have >> s & 1 == 0) & self._first(slot, touched, s)
                    marks |= np.where(touched, 1 << 32 + s, 0)
                w = w | marks
            if not admit:
                c, slot, w, present = c[present], slot[present], w[present], present[present]
            self._admit(c, slot, present, w)
        return fresh

    def drop(self, cache: Index, line: Index) -> None:
        """Forgets lines."""
        if not self.lines or not line.size:
            return
        slot, known = self._slots(cache, line, False)
        gone = known & (self.used[slot] >= self.floor[cache])
        gone &= self._first(slot, gone, SECTORS)
        slot, cache = slot[gone], cache[gone]
        np.subtract.at(self.ring, (cache, self.used[slot] % RING), 1)
        np.subtract.at(self.held, cache, 1)
        self.used[slot] = EMPTY

    def empty(self, cache: Index) -> None:
        """Forgets all that some caches hold."""
        self.inserted[cache] += self.step
        self.floor[cache] = self.inserted[cache] // self.step
        self.held[cache] = 0
        self.ring[cache] = 0

    # ------------------------------------------------------------ how it is kept

    def _portions(self, cache: Index) -> list[slice | Index]:
        """The entries in portions that fill at most a quarter of a cache, so that the order within a portion matters little."""
        most = max(1, self.lines // 4)
        if cache.size <= most or int(np.bincount(cache).max()) <= most:
            return [slice(None)]
        order = np.argsort(cache, kind="stable")
        ranked = cache[order]
        start = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        rank = np.empty_like(cache)
        rank[order] = np.arange(cache.size) - np.repeat(start, np.diff(np.r_[start, cache.size]))
        return [np.flatnonzero(rank // most == k) for k in range(int(rank.max()) // most + 1)]

    def _first(self, slot: Index, among: Flags, lane: int) -> Flags:
        """Which of some entries are the first that name their slot."""
        where = np.flatnonzero(among)
        place = slot[where] * (SECTORS + 1) + lane
        self._owner[place[::-1]] = where[::-1]
        out = np.zeros(slot.size, np.bool_)
        out[where] = self._owner[place] == where
        return out

    def _admit(self, cache: Index, slot: Index, present: Flags, words: Index) -> None:
        """Makes lines the last used ones of their caches and words of them valid; the oldest lines go where room is short."""
        if not slot.size:
            return
        first = np.ones(slot.size, np.bool_) if _ascending(slot) else self._first(slot, np.ones(slot.size, np.bool_), SECTORS)
        new, old = first & ~present, first & present
        if new.any():
            added = np.bincount(cache[new], minlength=self.caches)
            self.inserted += added
            self.held += added
            self.valid[slot[new]] = 0
        now = self.inserted // self.step
        np.subtract.at(self.ring, (cache[old], self.used[slot[old]] % RING), 1)
        self.used[slot] = now[cache]
        where = cache[first]
        np.add.at(self.ring, (where, now[where] % RING), 1)
        np.bitwise_or.at(self.valid, slot, words)
        # The ring holds RING steps: a line that nobody used for so long goes too, although drops may have left room for it.
        while (full := (self.held > self.lines) & (self.floor < now) | (now - self.floor >= RING - 1)).any():
            which = np.flatnonzero(full)
            step = self.floor[which] % RING
            self.held[which] -= self.ring[which, step]
            self.ring[which, step] = 0
            self.floor[which] += 1

    def _slots(self, cache: Index, line: Index, insert: bool) -> tuple[Index, Flags]:
        """(slot, is it there) of each (cache, line); with `insert` all are there afterwards, new ones as not used."""
        key = line * self.caches + cache
        if insert and (self._filled + key.size) * 2 > self.key.size:
            self._rebuild(key.size)
        mask = (1 << self.bits) - 1
        slot = (key.astype(np.uint64) * _HASH >> np.uint64(64 - self.bits)).astype(np.int64)
        there = self.key[slot]
        known = there == key
        if known.all():
            return slot, known
        left = np.flatnonzero(~known)
        while left.size:
            at = slot[left]
            found = self.key[at]
            free = found == EMPTY
            if insert and free.any():
                here = at[free]
                self.key[here] = key[left[free]]
                self.used[here] = EMPTY
                self.valid[here] = 0
                self._filled += int(free.sum())  # an upper bound: two may have met
                found = self.key[at]
                free = np.zeros_like(free)
            same = found == key[left]
            known[left[same]] = True
            left = left[~same & ~free]
            slot[left] = slot[left] + 1 & mask
        return slot, known

    def _rebuild(self, room: int) -> None:
        """Leaves out lines that are gone, in a larger table if need be."""
        kept = np.flatnonzero(self.key != EMPTY)
        key, valid, used = self.key[kept], self.valid[kept], self.used[kept]
        alive = used >= self.floor[key % self.caches]
        key, valid, used = key[alive], valid[alive], used[alive]
        bits = self.bits
        while (key.size + room) * 4 > 1 << bits:
            bits += 1
        self._make(bits)
        slot, _ = self._slots(key % self.caches, key // self.caches, True)
        self.valid[slot], self.used[slot] = valid, used


def _ascending(slot: Index) -> bool:
    """Is it plain that all slots differ?"""
    return slot.size < 2 or bool((slot[1:] > slot[:-1]).all())


def _whole(words: Index) -> Index:
    """The words of all sectors that some words lie in."""
    out = np.zeros_like(words)
    for s in range(SECTORS):
        out |= np.where(words >> 8 * s & SECTOR_WORDS != 0, SECTOR_WORDS << 8 * s, 0)
    return out
