"""The cache that all multiprocessors share, asked by many accesses at once.

Who uses a sector first misses it, as long as the cache does not overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .l2 import DIRTY, HELD, USED, SharedCache
from .lines import Missed
from .sectors import SECTOR_WORDS, firsts, line_words
from .uses import SECTOR_BITS, Frame, Numbers, Waiting, Way

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Fetched(NamedTuple):
    """What many accesses did not find, and how to bring it in."""

    lost: Numbers  # one for each sector, as missed.asked
    changed: int  # sectors that became dirty
    commit: Callable[[], None]


class Used(NamedTuple):
    """The different sectors of uses in order."""

    use: Numbers
    starts: Index  # the first use of each sector
    first: Numbers
    sector: Numbers  # (line, sector), lines counted from the frame's

    @staticmethod
    def of(frame: Frame, use: Numbers) -> Used:
        """Of these."""
        starts = firsts(frame.sector_of(use))
        first = use.take(starts)
        return Used(use, starts, first, frame.sector_of(first))

    @property
    def line(self) -> Numbers:
        """The line of each sector."""
        line: Numbers = self.sector >> self.sector.dtype.type(SECTOR_BITS)
        return line

    def before(self, other: Used, frame: Frame) -> tuple[Index, Index]:
        """Where the sectors stand that the other uses too, but later: here and there."""
        mine, others = self.sector, other.sector
        if not mine.size or not others.size or mine[0] > others[-1] or others[0] > mine[-1]:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        shift = mine.dtype.type(frame.word_bits)
        both = np.concatenate([self.first >> shift, other.first >> shift]).astype(np.uint64) << np.uint64(1)
        both[mine.size :] |= np.uint64(1)
        both.sort()
        sector = both >> np.uint64(frame.turn_bits + 1)
        pairs = ((sector[1:] == sector[:-1]) & (both[:-1] & np.uint64(1) == 0)).nonzero()[0]
        shared = sector.take(pairs).astype(mine.dtype)
        return mine.searchsorted(shared), others.searchsorted(shared)


class JointCache(SharedCache):
    """Such a cache."""

    def take_together(self, frame: Frame, waiting: list[Waiting], missed: Missed) -> Fetched | None:
        """What accesses do not find, those of L1 that missed there among them; None where they have to be asked one after the other."""
        turns, every = len(waiting), list(enumerate(waiting))
        stores, atomics = [x for x in every if x[1].way is Way.STORE], [x for x in every if x[1].way is Way.ATOMIC]
        passes, whole = [x for x in every if x[1].way is Way.PASS], [x for x in stores if x[1].brings]
        exactly = bool(passes or atomics)  # it matters which words these want
        updated, passed = (frame.pack(x, private=False) for x in (atomics, passes + whole))
        use = _merged(missed.asked, updated, passed)
        read, stored = Used.of(frame, use), Used.of(frame, frame.pack([x for x in stores if not x[1].brings], private=False))
        if not self.lines:
            return Fetched(missed.asked, 0, lambda: None) if not whole and not exactly else None
        lost = np.ones(read.sector.size, np.bool_)
        if self.held:
            bits = line_words(read.sector)
            have = self._states(frame, read) & bits
            lost = have != bits
            if exactly and (lost & (have != 0)).any():
                return None
        here, there = stored.before(read, frame)
        if here.size:
            if exactly and lost.take(there).any():
                return None
            lost[there] &= ~self._covered(frame, stored, stores, here, frame.turn_of(read.first.take(there)))
        if whole:
            lost &= np.array([w.way is not Way.STORE for w in waiting]).take(frame.turn_of(read.first))
        if self._ring is not None or self.held + read.sector.size + stored.sector.size > self.lines:
            return None if stores or atomics else self._in_turn(frame, use, turns)
        written = stored
        if atomics and not stores:
            written = read if updated.size == use.size else Used.of(frame, updated)
        elif atomics or whole:
            written = Used.of(frame, _merged(stored.use, updated, frame.pack(whole, private=False)))
        first = read.first if lost.all() else read.first[lost]
        changed = written.sector.size
        if self.held:
            changed -= int(np.count_nonzero(self._states(frame, written) & _dirty(written.sector)))

        def commit() -> None:
            self._enter(frame, read, line_words(read.sector), turns)
            words = frame.stored(written.use, written.starts, stores) << ((written.sector & 3).astype(np.int64) << 3)
            self._enter(frame, written, words | _dirty(written.sector), turns)

        return Fetched(first, changed, commit)

    def _covered(self, frame: Frame, stored: Used, stores: list[tuple[int, Waiting]], which: Index, until: Index) -> Flags:
        """Of some of the stored sectors: is all of them there before these turns?"""
        limit = np.zeros(stored.sector.size, np.int64)
        limit[which] = until
        before = frame.turn_of(stored.use) < np.repeat(limit, np.diff(stored.starts, append=stored.use.size))
        words = np.bitwise_or.reduceat(frame.words(stored.use, stores) * before, stored.starts).take(which)
        shift = (stored.sector.take(which) & 3).astype(np.int64) << 3
        if self.held:
            words |= self._states(frame, stored).take(which) >> shift
        found: Flags = words & SECTOR_WORDS == SECTOR_WORDS
        return found

    def _where(self, frame: Frame, line: Numbers) -> Index:
        number = line.astype(np.int64) + frame.low
        return self._places(number, number.item(0), number.item(-1))

    def _states(self, frame: Frame, used: Used) -> Index:
        """Of the line of each sector."""
        return self._alive(self._where(frame, used.line)) if used.sector.size else np.zeros(0, np.int64)

    def _enter(self, frame: Frame, used: Used, words: Index, turns: int) -> None:
        """Makes lines that there is room for the last used ones, with these words too."""
        if not words.size:
            return
        line = used.line
        of_line = firsts(line)
        at = self._where(frame, line.take(of_line))
        state = self._alive(at)
        new = state == 0
        arrived = np.bincount(np.minimum.reduceat(frame.turn_of(used.first), of_line)[new], minlength=turns)
        steps = (self.inserted + np.cumsum(arrived)) // self.step
        last = frame.turn_of(used.use.take(np.append(used.starts[1:], used.use.size) - 1))
        stamp = steps.take(np.maximum.reduceat(last, of_line))
        self.inserted += int(arrived.sum())
        self.held += int(arrived.sum())
        self._state[at] = stamp << USED | state & HELD | np.bitwise_or.reduceat(words, of_line)
        self._trim()

    def _in_turn(self, frame: Frame, use: Numbers, turns: int) -> Fetched:
        """The same where lines may have to go: as if each access came alone."""
        turn = frame.turn_of(use)
        order = np.argsort(turn, kind="stable")
        sector = frame.sector_of(use).take(order).astype(np.int64) + (frame.low << SECTOR_BITS)
        ends = np.cumsum(np.bincount(turn, minlength=turns)).tolist()
        each = [self.load_each(sector[a:b]) if b > a else 0 for a, b in zip([0, *ends], ends, strict=False)]
        kind = use.dtype.type
        return Fetched(np.repeat(np.arange(turns).astype(use.dtype) << kind(frame.word_bits), each), 0, lambda: None)


def _merged(*parts: Numbers) -> Numbers:
    """All in order."""
    some = [part for part in parts if part.size]
    every: Numbers = np.concatenate(some) if some else parts[0]
    every.sort()
    return every


def _dirty(sector: Numbers) -> Index:
    """The bit that says so, of each sector."""
    return np.int64(1) << DIRTY + (sector & 3).astype(np.int64)
