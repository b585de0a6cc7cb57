"""Many caches at once, for observers: which sectors accesses find, worked out for all warps of a group together.

The same caches as memory/cache.py (fully associative, least recently used first out, 128-byte lines in sectors of 32, validity by word),
with the order of use kept in steps of 1/64 of a cache.  A cache that never overflows gives the same counts; one that does is emptied in
such steps.
"""

from __future__ import annotations

import mmap
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

STEPS = 64  # of one cache
RING = 128  # steps that may be alive at once, and some to spare
EMPTY = 0  # the step of what was never used: memory that nobody wrote yet costs nothing
SECTOR_BITS = 0x01010101  # the first word of each sector of a line
DIRTY = 32  # where the sector bits of what was written stand
_PAGE_BITS, _REGION_BITS = 3, 10
PAGE = 1 << _PAGE_BITS  # lines of one cache that lie side by side
REGION = 1 << _REGION_BITS  # pages of each cache that are numbered together: a megabyte of memory
REGIONS = 1 << 18  # more than any device has; addresses that far apart would meet
FEW = 12  # entries that are sooner done one by one
_MOST = 1 << 14  # entries that are taken at once: their counts fit in 16 bits


def sectors_of(words: Index) -> Index:
    """One bit for each sector of a line that some words lie in."""
    t = words | words >> 4
    t |= t >> 2
    return (t | t >> 1) & SECTOR_BITS


def count_bits(sectors: Index) -> Index:
    """How many sectors their bits name."""
    return sectors * SECTOR_BITS >> 24 & 7


def _sectors_of_one(words: int) -> int:
    return (words & 0xFF and 1) | (words & 0xFF00 and 0x100) | (words & 0xFF0000 and 0x10000) | (words & 0xFF000000 and 0x1000000)


@dataclass(frozen=True, slots=True)
class Groups:
    """Entries by slot: `order` sorts them, `starts` are the first of each slot, `alone` says that no slot comes twice."""

    order: Index
    starts: Index
    alone: bool

    @staticmethod
    def of(slot: Index) -> Groups:
        """The groups of some slots."""
        order = np.argsort(slot, kind="stable")
        ranked = slot[order]
        new = np.empty(slot.size, np.bool_)
        new[:1] = True
        np.not_equal(ranked[1:], ranked[:-1], out=new[1:])
        starts = np.flatnonzero(new)
        return Groups(order, starts, starts.size == slot.size)

    @property
    def first(self) -> Index:
        """The first entry of each slot."""
        return self.order if self.alone else self.order[self.starts]

    def united(self, words: Index) -> Index:
        """All words of each slot."""
        return words[self.order] if self.alone else np.bitwise_or.reduceat(words[self.order], self.starts)

    def earlier(self, sectors: Index) -> Index:
        """For each entry the sectors that an entry before it, of the same slot, names."""
        if self.alone:
            return np.zeros_like(sectors)
        wide = (sectors & 0x0101) | (sectors & 0x01010000) << 16
        wide = ((wide & 0x0000_0001_0000_0001) | (wide & 0x0000_0100_0000_0100) << 8)[self.order]  # a count of 16 bits for each sector
        before = np.cumsum(wide) - wide
        before -= np.repeat(before[self.starts], np.diff(self.starts, append=before.size))
        some = (before + 0x7FFF_7FFF_7FFF_7FFF >> 15) & 0x0001_0001_0001_0001
        narrow = (some | some >> 8) & 0x0000_0101_0000_0101
        out = np.empty_like(sectors)
        out[self.order] = (narrow | narrow >> 16) & SECTOR_BITS
        return out


def _blank(size: int) -> NDArray[np.int32]:
    """Zeros of which only those that somebody touches cost anything, however large."""
    return np.frombuffer(mmap.mmap(-1, 4 * size), np.int32)


class CacheTable:
    """The lines of `caches` equal caches of `lines` lines each.

    A line is found by two tables, of regions of memory and of the pages in them that a cache has seen; number 0 stands for none yet.
    """

    def __init__(self, caches: int, lines: int, expected: int = 0) -> None:
        self.caches, self.lines = caches, lines
        self.step = max(1, lines // STEPS)
        self._region = _blank(REGIONS)
        self._regions = 1
        self._page = _blank(64 * REGION * caches)
        self._make(max(PAGE << 7, min(4 * expected, 1 << 20) & -PAGE))
        self.floor = np.full(caches, EMPTY + 1, np.int64)  # lines last used in a step before it are gone
        self.inserted = np.full(caches, self.step, np.int64)  # lines ever brought in: the clock of each cache
        self.held = np.zeros(caches, np.int64)
        self._now = self.inserted // self.step
        self.version = 0  # as long as it stays, lines that were the last used ones stay so, and what was found is found again
        self.ring = np.zeros((caches, RING), np.int64)  # lines alive by step of their last use

    def _make(self, size: int) -> None:
        self.valid = np.zeros(size, np.int64)  # a bit for each word; dirty sectors in bits 32 to 35
        self.used = np.zeros(size, np.int64)  # the step of the last use; the first page stays empty
        self._owner = np.zeros(size // PAGE, np.int64)  # where a page's number stands
        self._pages = 1

    # ------------------------------------------------------------ what happens

    def load(self, cache: Index, line: Index, words: Index, *, admit: bool = True, distinct: bool = False) -> Index:
        """The sectors of each entry that were not found, a bit each; they are brought in if `admit` says so.

        `distinct` promises that no line of a cache comes twice.
        """
        if 0 < line.size <= FEW and self.lines:
            return self._load_few(cache, line, words, admit)
        touched = sectors_of(words)
        if not self.lines or not line.size:
            return touched
        parts = self._portions(cache)
        if len(parts) > 1:
            missed = np.zeros_like(line)
            for part in parts:
                missed[part] = self.load(cache[part], line[part], words[part], admit=admit, distinct=distinct)
            return missed
        slot, fresh = self._slots(cache, line, admit)
        present = None if fresh else self.used[slot] >= self.floor[cache]
        lost = touched if present is None else sectors_of(words & ~np.where(present, self.valid[slot], 0))
        if admit:
            groups = None if distinct else Groups.of(slot)
            if groups is not None:
                lost = lost & ~groups.earlier(touched)  # an entry before has brought them in
            self._admit(groups, cache, slot, present, touched * 0xFF)
        return lost

    def store(self, cache: Index, line: Index, words: Index, *, admit: bool = True, dirty: bool = False, distinct: bool = False) -> int:
        """Makes words valid; gives how many sectors became dirty that were clean, where `dirty` is kept."""
        if not self.lines or not line.size:
            return 0
        if line.size <= FEW:
            return self._store_few(cache, line, words, admit, dirty)
        parts = self._portions(cache)
        if len(parts) > 1:
            return sum(self.store(cache[p], line[p], words[p], admit=admit, dirty=dirty, distinct=distinct) for p in parts)
        slot, _ = self._slots(cache, line, admit)
        present = self.used[slot] >= self.floor[cache]
        if not admit:
            cache, slot, words, present = cache[present], slot[present], words[present], present[present]
        groups = None if distinct else Groups.of(slot)
        fresh = 0
        if dirty:
            marks = sectors_of(words)
            have = np.where(present, self.valid[slot] >> DIRTY, 0)
            clean = marks & ~have if groups is None else groups.united(marks) & ~have[groups.first]
            fresh = int(count_bits(clean).sum())
            words = words | marks << DIRTY
        self._admit(groups, cache, slot, present, words)
        return fresh

    def drop(self, cache: Index, line: Index) -> None:
        """Forgets lines."""
        if not self.lines or not line.size or self._pages == 1:
            return
        if line.size <= FEW:
            self._drop_few(cache, line)
            return
        slot, _ = self._slots(cache, line, False)
        gone = np.flatnonzero(self.used[slot] >= self.floor[cache])
        if not gone.size:
            return
        gone = gone[Groups.of(slot[gone]).first]
        slot, cache = slot[gone], cache[gone]
        np.subtract.at(self.ring, (cache, self.used[slot] % RING), 1)
        np.subtract.at(self.held, cache, 1)
        self.used[slot] = EMPTY
        self.version += 1

    def empty(self, cache: Index) -> None:
        """Forgets all that some caches hold."""
        self.version += 1
        self.inserted[cache] += self.step
        self.floor[cache] = self.inserted[cache] // self.step
        self.held[cache] = 0
        self.ring[cache] = 0

    # ------------------------------------------------------------ the same for few lines, one after the other

    def _load_few(self, cache: Index, line: Index, words: Index, admit: bool) -> Index:
        missed = []
        for c, n, wanted in zip(cache.tolist(), line.tolist(), words.tolist(), strict=True):
            slot, present = self._one(c, n, admit)
            valid = self.valid.item(slot) if present else 0
            missed.append(_sectors_of_one(wanted & ~valid))
            if admit:
                self._admit_one(c, slot, present, valid, _sectors_of_one(wanted) * 0xFF)
        return np.array(missed, np.int64)

    def _store_few(self, cache: Index, line: Index, words: Index, admit: bool, dirty: bool) -> int:
        fresh = 0
        for c, n, written in zip(cache.tolist(), line.tolist(), words.tolist(), strict=True):
            slot, present = self._one(c, n, admit)
            if not present and not admit:
                continue
            valid = self.valid.item(slot) if present else 0
            if dirty:
                marks = _sectors_of_one(written)
                fresh += (marks & ~(valid >> DIRTY)).bit_count()
                written |= marks << DIRTY
            self._admit_one(c, slot, present, valid, written)
        return fresh

    def _drop_few(self, cache: Index, line: Index) -> None:
        for c, n in zip(cache.tolist(), line.tolist(), strict=True):
            slot, present = self._one(c, n, False)
            if present:
                self.ring[c, self.used.item(slot) % RING] -= 1
                self.held[c] -= 1
                self.used[slot] = EMPTY
                self.version += 1

    def _one(self, cache: int, line: int, insert: bool) -> tuple[int, bool]:
        """As _slots, for one line: its slot, and whether the cache holds it."""
        page = line >> _PAGE_BITS
        region = page >> _REGION_BITS & REGIONS - 1
        if insert and not self._region.item(region):
            self._number_regions(np.array([region]))
        at = (self._region.item(region) * REGION + (page & REGION - 1)) * self.caches + cache
        number = self._page.item(at)
        if insert and not number:
            if self._pages == self._owner.size:
                self._sweep(1)
            number = self._pages
            self._page[at], self._owner[number] = number, at
            self._pages += 1
        slot = number * PAGE + line % PAGE
        return slot, self.used.item(slot) >= self.floor.item(cache)

    def _admit_one(self, cache: int, slot: int, present: bool, valid: int, words: int) -> None:
        """As _admit, for one line that holds valid words."""
        self.valid[slot] = valid | words
        if not present:
            self.inserted[cache] += 1
            self.held[cache] += 1
        now = self.inserted.item(cache) // self.step
        if now != self._now.item(cache):
            self._now[cache] = now
            self.version += 1
        if present:
            last = self.used.item(slot)
            if last == now:
                return
            self.ring[cache, last % RING] -= 1
        self.used[slot] = now
        self.ring[cache, now % RING] += 1
        floor = self.floor.item(cache)
        while (self.held.item(cache) > self.lines and floor < now) or now - floor >= RING - 1:
            self.held[cache] -= self.ring.item(cache, floor % RING)
            self.ring[cache, floor % RING] = 0
            floor += 1
            self.floor[cache] = floor

    # ------------------------------------------------------------ how it is kept

    def _portions(self, cache: Index) -> list[Index]:
        """The entries in portions that fill at most a quarter of a cache, so that the order within a portion matters little."""
        most = max(1, min(_MOST, self.lines // 4))
        if cache.size <= most or (cache.size <= _MOST and int(np.bincount(cache).max()) <= most):
            return [cache]
        if self.caches == 1:
            return [np.arange(k, min(k + most, cache.size)) for k in range(0, cache.size, most)]
        order = np.argsort(cache, kind="stable")
        ranked = cache[order]
        start = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
        rank = np.empty_like(cache)
        rank[order] = np.arange(cache.size) - np.repeat(start, np.diff(start, append=cache.size))
        most = min(most, max(1, _MOST // start.size))
        return [np.flatnonzero(rank // most == k) for k in range(int(rank.max()) // most + 1)]

    def _admit(self, groups: Groups | None, cache: Index, slot: Index, present: Flags | None, words: Index) -> None:
        """Makes lines the last used ones of their caches and words of them valid; the oldest lines go where room is short.

        `present` None: none of them is there.
        """
        at = slot
        if groups is not None:
            first = groups.first
            cache, at, present = cache[first], slot[first], None if present is None else present[first]
            words = groups.united(words)
        if present is not None and not present.any():
            present = None
        if present is not None and present.all():
            self.valid[at] |= words
            now = self._clock()
            moved = self.used[at] != now[cache]
            if not moved.any():
                return
            cache, at, present = cache[moved], at[moved], present[moved]
        else:
            self.valid[at] = words if present is None else np.where(present, self.valid[at] | words, words)
            added = np.bincount(cache if present is None else cache[~present], minlength=self.caches)
            self.inserted += added
            self.held += added
            now = self._clock()
        ring = self.ring.reshape(-1)
        if present is not None:
            np.subtract.at(ring, cache[present] * RING + self.used[at[present]] % RING, 1)
        self.used[at] = now[cache]
        np.add.at(ring, cache * RING + now[cache] % RING, 1)
        # The ring holds RING steps: a line that nobody used for so long goes too, although drops may have left room for it.
        while (full := (self.held > self.lines) & (self.floor < now) | (now - self.floor >= RING - 1)).any():
            which = np.flatnonzero(full)
            step = self.floor[which] % RING
            self.held[which] -= self.ring[which, step]
            self.ring[which, step] = 0
            self.floor[which] += 1

    def _clock(self) -> Index:
        """The step of each cache."""
        now = self.inserted // self.step
        if (now != self._now).any():
            self._now = now
            self.version += 1
        return now

    def _slots(self, cache: Index, line: Index, insert: bool) -> tuple[Index, bool]:
        """Where what is kept of each (cache, line) stands, and whether none has been seen before.

        With `insert` all have a place of their own afterwards.
        """
        page = line >> _PAGE_BITS
        region = page >> _REGION_BITS & REGIONS - 1
        first = self._region[region]
        if insert and not first.all():
            self._number_regions(np.unique(region[first == 0]))
            first = self._region[region]
        at = (first * np.int64(REGION) + (page & REGION - 1)) * self.caches + cache
        number: NDArray[np.int32] = self._page[at]
        fresh = not number.any()
        if insert and not number.all():
            if self._pages + line.size > self._owner.size:
                self._sweep(line.size)
                number = self._page[at]
            self._number_pages(at[number == 0])
            number = self._page[at]
        slot: Index = number * np.int64(PAGE) + (line & PAGE - 1)
        return slot, fresh

    def _number_regions(self, new: Index) -> None:
        end = self._regions + new.size
        self._region[new] = np.arange(self._regions, end)
        self._regions = end
        each = REGION * self.caches
        if end * each > self._page.size:
            larger = _blank(max(end * each, 2 * self._page.size))
            larger[: self._page.size] = self._page
            self._page = larger

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
