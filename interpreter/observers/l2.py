"""The cache that all multiprocessors share, for observers: what accesses find of lines that each comes once and ascend.

Fully associative, least recently used first out, 128-byte lines, validity by word, dirtiness by sector.  The order of use is kept in steps of
1/64 of the cache: a cache that never overflows gives exact counts; one that does is emptied in such steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .sectors import DIRTY, Demand, count_bits

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

STEPS = 64  # of one cache
ALIVE = 127  # steps that may be alive at once
RING = 256  # those, and some to spare: an access adds fewer than STEPS
MOST = 1 << 14  # entries that are taken at once
_CHUNK_BITS = 15  # lines of memory that stand together
KEPT = 1 << 20  # lines: larger tables are not kept for others
_FAR = 64  # chunks that one access may span before they are looked up one by one


class Lines:
    """Different lines in ascending order, relative to an access's first."""

    __slots__ = ("high", "line", "low", "run", "starts")

    def __init__(self, line: Index, starts: Index | None = None) -> None:
        self.line = line
        self.starts = starts  # of each line among the entries that name it; None: each has one
        self.low, self.high = (line.item(0), line.item(-1)) if line.size else (0, -1)
        self.run = self.high - self.low == line.size - 1  # without gaps

    @staticmethod
    def of(line: Index) -> Lines:
        """The different ones of ascending lines."""
        new = line[1:] != line[:-1]
        if new.all():
            return Lines(line)
        starts = np.concatenate((np.zeros(1, np.int64), np.flatnonzero(new) + 1))
        return Lines(line[starts], starts)

    def united(self, words: Index) -> Index:
        """Words of each entry as those of each line."""
        return words if self.starts is None else np.bitwise_or.reduceat(words, self.starts)


class Directory:
    """Where stretches of memory stand in a table: those met together stand side by side, so that mostly a constant is added."""

    __slots__ = ("bits", "number", "room")

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.number: dict[int, int] = {}
        self.room = 0  # places that have been given out

    def shift(self, low: int, high: int) -> int | None:
        """What brings the places low to high to where they stand in the table; None where it is not the same for all."""
        first, last = low >> self.bits, high >> self.bits
        if first == last:
            return self._number(first) - first << self.bits
        if last - first > _FAR:
            return None
        moved = {self._number(c) - c for c in range(first, last + 1)}
        return moved.pop() << self.bits if len(moved) == 1 else None

    def each(self, places: Index) -> Index:
        """Where places stand, one by one."""
        chunks, which = np.unique(places >> self.bits, return_inverse=True)
        numbers = np.array([self._number(c) for c in chunks.tolist()])
        return (numbers << self.bits)[which] + (places & (1 << self.bits) - 1)

    def _number(self, chunk: int) -> int:
        found = self.number.get(chunk)
        if found is None:
            found = self.number[chunk] = len(self.number)
            self.room = found + 1 << self.bits
        return found


class SharedCache:
    """A cache of `lines` lines."""

    def __init__(self, lines: int, tables: tuple[Index, Index] | None = None) -> None:
        self.lines = lines
        self.portion = max(1, min(MOST, lines // 4))  # lines that are taken at once: few enough that their order matters little
        self.step = max(1, lines // STEPS)
        self.directory = Directory(_CHUNK_BITS)
        self.valid, self.used = tables or (np.zeros(0, np.int64), np.zeros(0, np.int64))
        # valid: a bit for each word, dirty sectors from bit DIRTY on; used: the step of the last use, 0: never
        self._lowest, self._highest = 0, -1  # of the places that were used
        self.floor = 1  # lines last used in a step before it are gone
        self.inserted = self.step  # lines ever brought in: the clock
        self.held = 0
        self._ring: Index | None = None  # lines alive by step of their last use; counted when lines have to go for the first time

    def give_back(self) -> tuple[Index, Index] | None:
        """The memory, empty, for another one, if it is not too much to keep; this cache is no more."""
        if self.used.size > KEPT:
            return None
        met = slice(self._lowest, self._highest + 1)
        self.used[met] = self.valid[met] = 0
        return self.valid, self.used

    def load(self, lines: Lines, start: int, demand: Demand) -> int:
        """Brings in the sectors of some words; gives how many were not there."""
        if not self.lines or not lines.line.size:
            return demand.total
        if lines.line.size > self.portion:
            return sum(self.load(part, start, demand.part(chosen)) for part, chosen in self._parts(lines))
        at = self._at(lines, start)
        used = self.used[at]
        if not used.any():
            self._admit(at, used, None, demand.wanted)
            return demand.total
        present = used >= self.floor
        valid = self.valid[at] * present if self.floor > 1 else self.valid[at]  # never used, never valid
        missed = demand.missed(valid)
        self._admit(at, used, present, valid | demand.wanted)
        return 0 if missed is None else demand.total if missed is demand.sectors else int(count_bits(missed).sum())

    def store(self, lines: Lines, start: int, demand: Demand) -> int:
        """Makes words valid and their sectors dirty; gives how many of these were clean."""
        if not self.lines or not lines.line.size:
            return 0
        if lines.line.size > self.portion:
            return sum(self.store(part, start, demand.part(chosen)) for part, chosen in self._parts(lines))
        at = self._at(lines, start)
        used = self.used[at]
        written = demand.words | demand.sectors << DIRTY
        if not used.any():
            self._admit(at, used, None, written)
            return demand.total
        present = used >= self.floor
        valid = self.valid[at] * present if self.floor > 1 else self.valid[at]  # never used, never valid
        clean = demand.sectors & ~(valid >> DIRTY)
        self._admit(at, used, present, valid | written)
        return int(count_bits(clean).sum())

    @property
    def now(self) -> int:
        """The step that lines are used in; as long as it stays, the last used ones stay so."""
        return self.inserted // self.step

    def _parts(self, lines: Lines) -> list[tuple[Lines, slice]]:
        most = self.portion
        chosen = [slice(k, k + most) for k in range(0, lines.line.size, most)]
        return [(Lines(lines.line[c]), c) for c in chosen]

    def _at(self, lines: Lines, start: int) -> slice | Index:
        """Where what is kept of each line stands."""
        low, high = start + lines.low, start + lines.high
        shift = self.directory.shift(low, high)
        at = self.directory.each(lines.line + start) if shift is None else None
        if self.directory.room > self.valid.size:
            self.valid, self.used = (_grown(x, 2 * self.directory.room) for x in (self.valid, self.used))
        if at is not None:
            self._lowest, self._highest = 0, self.directory.room - 1
            return at
        assert shift is not None
        low, high = low + shift, high + shift
        if low < self._lowest or high > self._highest:
            none = self._highest < 0
            self._lowest, self._highest = low if none else min(low, self._lowest), max(high, self._highest)
        return slice(low, high + 1) if lines.run else lines.line + (start + shift)

    def _admit(self, at: slice | Index, used: Index, present: Flags | None, valid: Index) -> None:
        """Makes lines the last used ones, with these words; the oldest lines go where room is short.  `present` None: all are new."""
        size = used.size
        added = size if present is None else size - int(np.count_nonzero(present))
        self.inserted += added
        self.held += added
        now = self.now
        self.valid[at] = valid
        if added or (used != now).any():
            if self._ring is not None:
                if present is not None and added < size:
                    old = used[present & (used != now)]
                    self._ring -= np.bincount(old % RING, minlength=RING)
                    self._ring[now % RING] += old.size
                self._ring[now % RING] += added
            self.used[at] = now
        # The ring holds so many steps: a line that nobody used for so long goes too.
        while (self.held > self.lines and self.floor < now) or now - self.floor >= ALIVE:
            if self._ring is None:
                met = self.used[self._lowest : self._highest + 1]
                self._ring = np.bincount(met[met >= self.floor] % RING, minlength=RING)
            step = self.floor % RING
            self.held -= self._ring.item(step)
            self._ring[step] = 0
            self.floor += 1


def _grown(old: Index, size: int) -> Index:
    out = np.zeros(size, np.int64)
    out[: old.size] = old
    return out
