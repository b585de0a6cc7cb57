"""What many accesses that came together did to the lines of caches: which were used, what was missed, what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .sectors import MARKS, firsts
from .uses import Frame, Numbers

if TYPE_CHECKING:
    from .joint_l1 import JointCaches

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Missed(NamedTuple):
    """What many accesses missed, and how to bring it in."""

    asked: Numbers  # in no order: (line, sector, turn), one for each sector that a cache asks for
    commit: Callable[[], None]


class Lines:
    """Lines of caches that are used, ascending."""

    def __init__(self, frame: Frame, line: Numbers, of_line: Index, caches: JointCaches) -> None:
        self.frame, self.caches = frame, caches
        self._all, self._first = line, of_line  # of each use; the first use of each

    @cached_property
    def _number(self) -> Numbers:
        return self._all.take(self._first)

    @cached_property
    def cache(self) -> Index:
        """The cache of each."""
        return self.frame.cache_of(self._number)

    @property
    def count(self) -> int:
        """How many."""
        return self._first.size

    def line_of(self, which: Index) -> Index:
        """Some of them, counted from the start of memory."""
        return self.frame.line_of(self._number.take(which))

    @cached_property
    def slot(self) -> Index:
        """Where what is kept of each stands; page 0: nothing is."""
        return self.caches.slots_of(self.cache, self.frame.line_of(self._number))

    @cached_property
    def state(self) -> Index:
        """Of each, 0 where it is not held."""
        if self.caches.is_empty:
            return np.zeros(self._first.size, np.int64)
        return self.caches.states_of(self.slot, self.cache)

    @cached_property
    def known(self) -> Index:
        """Which are held."""
        return np.zeros(0, np.int64) if self.caches.is_empty else self.state.nonzero()[0]

    @property
    def new(self) -> Index:
        """How many are not held, by cache."""
        if self.caches.is_empty:
            kind = self._all.dtype.type
            starts = np.arange(self.caches.caches).astype(kind) << kind(self.frame.line_bits)
            counts: Index = np.diff(self._first.searchsorted(self._all.searchsorted(starts)), append=self._first.size)
            return counts
        return np.bincount(self.cache[self.state == 0], minlength=self.caches.caches)


class Settled(NamedTuple):
    """What becomes of them."""

    stay: Index  # those that may be there afterwards
    last: Index  # turn of the last use of each of these
    words: Index  # that are valid then
    brought: Index  # (caches, turns): lines that were brought in
    floor: Index | None  # of each cache, counted from the step that is now: what was used before is gone; None: nothing


def joined(parts: Iterable[Missed | None]) -> Missed | None:
    """What several parts missed; None if one of them does not know."""
    every: list[Missed] = []
    for part in parts:
        if part is None:
            return None
        every.append(part)
    if len(every) == 1:
        return every[0]

    def commit() -> None:
        for part in every:
            part.commit()

    return Missed(np.concatenate([part.asked for part in every]), commit)


def once(ordered: Numbers) -> Numbers:
    """The different ones."""
    starts = firsts(ordered)
    return ordered if starts.size == ordered.size else ordered.take(starts)


def in_part(state: Index, bits: Index) -> bool:
    """Was something written to a sector that is lost?"""
    marks = (bits & 0x01010101) * 0x01020408 >> 24 & 15
    return bool((state & (bits | marks << MARKS)).any())
