"""The cache that all multiprocessors share, for observers: what accesses find of lines that each comes once and ascend.

Fully associative, least recently used first out, 128-byte lines, validity by word, dirtiness by sector.  The order of use is kept in steps of
1/64 of the cache: a cache that never overflows gives exact counts; one that does is emptied in such steps.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .sectors import Demand, count_bits, different, firsts, united, words_of

Index = NDArray[np.int64]
Keys = NDArray[np.uint32] | Index

STEPS = 64  # of one cache
ALIVE = 127  # steps that may be alive at once
RING = 256  # those, and some to spare: an access adds fewer than STEPS
MOST = 1 << 14  # entries that are taken at once
_CHUNK_BITS = 15  # lines of memory that stand together
KEPT = 1 << 20  # lines: larger tables are not kept for others
USED = 36  # where the step of the last use stands in a line's state; below it four bits for dirty sectors, and a bit for each word
DIRTY = 32
HELD = (1 << USED) - 1
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
        starts = firsts(line)
        return Lines(line) if starts.size == line.size else Lines(line.take(starts), starts)

    def united(self, words: Index) -> Index:
        """Words of each entry as those of each line."""
        return words if self.starts is None else united(words, self.starts)


class Directory:
    """Where stretches of memory stand in a table: those met together stand side by side, so that mostly a constant is added."""

    __slots__ = ("bits", "fixed", "number", "room")

    def __init__(self, bits: int, fixed: int = 0) -> None:
        self.bits = bits
        self.fixed = fixed  # so many stretches from the start of memory stand where they are
        self.number: dict[int, int] = {}
        self.room = 0  # places that have been given out

    def shift(self, low: int, high: int) -> int | None:
        """What brings the places low to high to where they stand in the table; None where it is not the same for all."""
        first, last = low >> self.bits, high >> self.bits
        if last < self.fixed:
            self.room = max(self.room, last + 1 << self.bits)
            return 0
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
        found = chunk if chunk < self.fixed else self.number.get(chunk)
        if found is None:
            found = self.number[chunk] = self.fixed + len(self.number)
        self.room = max(self.room, found + 1 << self.bits)
        return found


class SharedCache:
    """A cache of `lines` lines."""

    def __init__(self, lines: int, table: Index | None = None) -> None:
        self.lines = lines
        self.portion = max(1, min(MOST, lines // 4))  # lines that are taken at once: few enough that their order matters little
        self.step = max(1, lines // STEPS)
        self.directory = Directory(_CHUNK_BITS)
        self._state = np.zeros(0, np.int64) if table is None else table  # 0 where never used
        self._lowest, self._highest = 0, -1  # of the places that were used
        self.floor = 1  # lines last used in a step before it are gone
        self.inserted = self.step  # lines ever brought in: the clock
        self.held = 0
        self._ring: Index | None = None  # lines alive by step of their last use; counted when lines have to go for the first time

    @property
    def is_empty(self) -> bool:
        """Has nothing ever been brought in?"""
        return self.inserted == self.step

    def give_back(self) -> Index | None:
        """The memory, empty, for another one, if it is not too much to keep; this cache is no more."""
        if self._state.size > KEPT:
            return None
        self._state[self._lowest : self._highest + 1] = 0
        return self._state

    def load(self, lines: Lines, start: int, demand: Demand) -> int:
        """Brings in the sectors of some words; gives how many were not there."""
        if not self.lines or not lines.line.size:
            return demand.total
        if lines.line.size > self.portion:
            return sum(self.load(part, start, demand.part(chosen)) for part, chosen in self._parts(lines))
        at = self._at(lines, start)
        state = self._alive(at)
        if not np.count_nonzero(state):
            self._admit(at, state, demand.wanted)
            return demand.total
        missed = demand.missed(state)
        self._admit(at, state, demand.wanted)
        return 0 if missed is None else demand.total if missed is demand.sectors else int(count_bits(missed).sum())

    def load_each(self, sector: Keys) -> int:
        """As load, of whole sectors in any order."""
        if not self.lines:
            return different(sector).size
        shift = self._shift(int(sector.min()) >> 2, int(sector.max()) >> 2)
        if shift is not None and self.inserted + sector.size < (self.now + 1) * self.step:  # what is used now stays so
            state = self._alive((sector >> 2).astype(np.int64) + shift)
            words = words_of(sector)
            other = np.flatnonzero((state.astype(np.uint32) & words != words) | (state >> USED != self.now))
            if not other.size:
                return 0
            sector = sector.take(other)
        sector = different(sector)
        line = sector >> 2
        starts = firsts(line)
        most = self.portion
        if starts.size > most:
            ends = [*starts[most::most].tolist(), sector.size]
            return sum([self.load_each(sector[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)])
        at = self._places(line.astype(np.int64), int(line[0]), int(line[-1]))
        state, words = self._alive(at), words_of(sector)
        have = state.astype(np.uint32)
        have &= words
        lost = np.flatnonzero(have != words)
        self._use(at, state, starts)
        np.add.at(self._state, at.take(lost), (words ^ have).take(lost).astype(np.int64))
        return lost.size

    def update_each(self, sector: Keys) -> tuple[int, int] | None:
        """Brings in whole sectors, in any order, and makes them dirty; gives how many were not there, and how many were clean.

        None, and nothing has happened, if lines with parts of sectors, or too many, are among them.
        """
        sector = different(sector)
        line = sector >> 2
        starts = firsts(line)
        if not self.lines or starts.size > self.portion:
            return None
        at = self._places(line.astype(np.int64), int(line[0]), int(line[-1]))
        state, words = self._alive(at), words_of(sector)
        have = state.astype(np.uint32)
        have &= words
        lost = have != words
        if have[lost].any():
            return None
        dirty = np.int64(1) << DIRTY + (sector & 3).astype(np.int64)
        clean = state & dirty == 0
        self._use(at, state, starts)
        np.add.at(self._state, at, lost * words.astype(np.int64) + clean * dirty)
        return int(np.count_nonzero(lost)), int(np.count_nonzero(clean))

    def _use(self, at: Index, state: Index, starts: Index) -> None:
        """Makes lines the last used ones; `starts` are the first of each among those that come several times, side by side."""
        if starts.size < at.size:
            self._admit(at.take(starts), state.take(starts), 0)
        else:
            self._admit(at, state, 0)

    def store(self, lines: Lines, start: int, demand: Demand) -> int:
        """Makes words valid and their sectors dirty; gives how many of these were clean."""
        if not self.lines or not lines.line.size:
            return 0
        if lines.line.size > self.portion:
            return sum(self.store(part, start, demand.part(chosen)) for part, chosen in self._parts(lines))
        at = self._at(lines, start)
        state = self._alive(at)
        dirty = demand.sectors * 0x01020408 >> 24 & 15  # the four bits side by side
        clean = int(np.bitwise_count(dirty & ~(state >> DIRTY)).sum())
        self._admit(at, state, demand.words | dirty << DIRTY)
        return clean

    @property
    def now(self) -> int:
        """The step that lines are used in; as long as it stays, the last used ones stay so."""
        return self.inserted // self.step

    def _parts(self, lines: Lines) -> list[tuple[Lines, slice]]:
        most = self.portion
        chosen = [slice(k, k + most) for k in range(0, lines.line.size, most)]
        return [(Lines(lines.line[c]), c) for c in chosen]

    def _alive(self, at: slice | Index) -> Index:
        """The state of lines, 0 where they are not held."""
        state = self._state[at] if isinstance(at, slice) else self._state.take(at)
        return state if self.floor == 1 else state * (state >= self.floor << USED)

    def _at(self, lines: Lines, start: int) -> slice | Index:
        """Where what is kept of each line stands."""
        low, high = start + lines.low, start + lines.high
        shift = self._shift(low, high)
        if shift is None:
            return self._places(lines.line + start, low, high)
        return slice(low + shift, high + shift + 1) if lines.run else lines.line + (start + shift)

    def _places(self, line: Index, low: int, high: int) -> Index:
        shift = self._shift(low, high)
        if shift is not None:
            return line + shift
        at = self.directory.each(line)
        self._make_room(0, self.directory.room - 1)
        return at

    def _shift(self, low: int, high: int) -> int | None:
        shift = self.directory.shift(low, high)
        if shift is not None and (low + shift < self._lowest or high + shift > self._highest or self.directory.room > self._state.size):
            self._make_room(low + shift, high + shift)
        return shift

    def _make_room(self, low: int, high: int) -> None:
        if self.directory.room > self._state.size:
            larger = np.zeros(2 * self.directory.room, np.int64)
            larger[: self._state.size] = self._state
            self._state = larger
        if low < self._lowest or high > self._highest:
            none = self._highest < 0
            self._lowest, self._highest = low if none else min(low, self._lowest), max(high, self._highest)

    def _admit(self, at: slice | Index, state: Index, words: Index | int) -> None:
        """Makes lines the last used ones, with these words too.  `state`: 0 where not held."""
        added = state.size - int(np.count_nonzero(state))
        self.inserted += added
        self.held += added
        now = self.now
        if self._ring is not None:
            old = state[np.flatnonzero(state)] >> USED
            self._ring -= np.bincount(old & (RING - 1), minlength=RING)
            self._ring[now & (RING - 1)] += state.size
        states = state & HELD
        states |= words
        states |= now << USED
        self._state[at] = states
        self._trim()

    def _trim(self) -> None:
        """The oldest lines go where room is short."""
        now = self.now
        # The ring holds so many steps: a line that nobody used for so long goes too.
        while (self.held > self.lines and self.floor < now) or now - self.floor >= ALIVE:
            if self._ring is None:
                used = self._state[self._lowest : self._highest + 1] >> USED
                self._ring = np.bincount(used[np.flatnonzero(used >= self.floor)] & (RING - 1), minlength=RING)
            step = self.floor & (RING - 1)
            self.held -= self._ring.item(step)
            self._ring[step] = 0
            self.floor += 1
