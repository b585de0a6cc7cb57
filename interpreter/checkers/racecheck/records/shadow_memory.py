"""Shadow memory: who last touched each word, in whole arrays.

A stamp is a number of 64 bits: the time (upper half), and who (lower half): a level and a number.  Time is counted in steps of synchronisation, so
that whatever a thread does between two of them has one time.  Several threads that read a word, unordered, become one record of their warp,
their block or the grid, with a mask of those that took part.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
THREAD, WARP, BLOCK, COPY = range(4)  # levels
LEVEL_AT, NUMBER = 30, (1 << 30) - 1
GRID = NUMBER  # at the level of blocks: threads of several
NEVER = 0xFFFFFFFF  # the time of a copy that nobody has waited for
OF_GRID = GRID | BLOCK << LEVEL_AT
U64 = np.uint64
HALF = U64(32)
LOW = U64(0xFFFFFFFF)
MIXED = 0x8000  # of a site: the record has threads of several instructions, which the log tells apart
LOGGED = 1 << 20  # accesses that a log keeps
PIECES = 64  # of a log, before they become one
WRITES = ("weak write", "strong write", "strong write near", "copied to")  # kinds of records; near: at a scope narrower than .gpu
READS = ("weak read", "strong read", "strong read near", "copied from")


class Cells:
    """One kind of record for every unit of a memory."""

    __slots__ = ("forgot", "log", "logged", "mask", "site", "stamp", "threads")

    def __init__(self, count: int) -> None:
        self.stamp = np.zeros(count, np.uint64)
        self.site = np.zeros(count, np.uint16)
        self.mask: Array | None = None  # of the lanes or warps that a record of several threads has
        self.threads: Array | None = None  # two threads that a record of several has, (2, units)
        self.log: list[tuple[Array, Array, Array | None, Array]] = []  # units, stamps, masks and sites of records that became one
        self.logged = 0
        self.forgot = False

    def keep(self, units: Array, stamp: Array, mask: Array | None, site: Array) -> None:
        """Keeps records that become part of one with another site; of very many the oldest are forgotten."""
        self.log.append((units, stamp, mask, site))
        self.logged += units.size
        while self.logged > LOGGED:
            self.logged -= self.log.pop(0)[0].size
            self.forgot = True

    def remember(self, where: Array, old: Array, masks: Array | None, sites: Array, mine: Array, number: int) -> None:
        """Records become one with that of the instruction `number`: where they are of several, the log keeps which thread executed which."""
        mixed = sites >= MIXED
        apart = mixed | (sites != number)
        if apart.any():
            fresh = np.flatnonzero(apart & ~mixed)
            if fresh.size:
                self.keep(where[fresh], old[fresh], None if masks is None else masks[fresh], sites[fresh])
            self.keep(where[apart], mine[apart], None, np.full(int(apart.sum()), number, np.uint16))
            self.site[where[apart]] = number | MIXED

    def parts(self, unit: int, start: int) -> tuple[Array, Array, Array]:
        """Stamps, masks and sites of all that the record of a unit may stand for, the latest last; `start`: the time when this launch began."""
        if len(self.log) > PIECES:
            self._condense(start)
        none = np.zeros(0, np.uint64), np.zeros(0, np.uint32), np.zeros(0, np.uint16)
        out = [none]
        for units, stamp, mask, site in self.log:
            here = np.flatnonzero(units == unit)
            if here.size:
                out.append((stamp[here], np.zeros(here.size, np.uint32) if mask is None else mask[here], site[here]))
        stamps_, masks, sites = (np.concatenate(column) for column in zip(*out, strict=True))
        return stamps_, masks, sites

    def _condense(self, start: int) -> None:
        """The log becomes one piece.  Of accesses of this launch by the same threads at one instruction the last stays: it races if an earlier one does."""
        pieces = [(u, s, np.zeros(u.size, np.uint32) if m is None else m, n) for u, s, m, n in self.log]
        units, stamp, mask, site = (np.concatenate(column) for column in zip(*pieces, strict=True))
        old = np.where(stamp >> HALF < np.uint64(start), stamp >> HALF, U64(0))  # launches before need not be ordered as their times are
        order = np.lexsort((np.arange(units.size), old, site, mask, stamp & LOW, units))
        columns = [c[order] for c in (units, stamp & LOW, mask, site, old)]
        kept = np.sort(order[np.append(np.logical_or.reduce([c[1:] != c[:-1] for c in columns]), True)])
        self.log = [(units[kept], stamp[kept], mask[kept], site[kept])]
        self.logged = kept.size

    def masks(self) -> Array:
        """The masks, made when the first is kept."""
        if self.mask is None:
            self.mask = np.zeros(self.stamp.size, np.uint32)
        return self.mask

    def mask_at(self, unit: int) -> int:
        """The mask of one record."""
        return 0 if self.mask is None else int(self.mask[unit])

    def names_at(self, unit: int) -> list[int]:
        """Two of the threads that one record of several has."""
        return [] if self.threads is None else [int(t) for t in self.threads[:, unit]]

    def name(self, where: Any, first: Array, second: Array) -> None:
        """Keeps the names of two of the threads that records have."""
        if self.threads is None:
            self.threads = np.zeros((2, self.stamp.size), np.uint32)
        self.threads[0, where], self.threads[1, where] = first, second

    def name_joined(self, where: Array, old: Array, named: Array | None, thread: Array, per_block: int) -> None:
        """Names two of the threads of records that became one with those of these threads: of two blocks, if it is one of the grid."""
        low = (old & LOW).astype(np.int64)
        alone = low >> LEVEL_AT == THREAD
        if named is None:
            named = np.zeros((2, where.size), np.uint32)
        first = np.where(alone, low & NUMBER, named[0])
        second = np.where(~alone & ((low == OF_GRID) | (first == thread)), named[1], thread)
        several = first // per_block != second // per_block
        some = np.flatnonzero(several | (self.stamp[where] & LOW != U64(OF_GRID)))
        self.name(where[some], first[some], second[some])

    def split(self) -> None:
        """From words to bytes."""
        self.stamp, self.site = np.repeat(self.stamp, 4), np.repeat(self.site, 4)
        if self.mask is not None:
            self.mask = np.repeat(self.mask, 4)
        if self.threads is not None:
            self.threads = np.repeat(self.threads, 4, axis=1)
        self.log = [
            (
                (units[:, None] * 4 + np.arange(4)).ravel(),
                np.repeat(stamp, 4),
                None if mask is None else np.repeat(mask, 4),
                np.repeat(site, 4),
            )
            for units, stamp, mask, site in self.log
        ]
        self.logged *= 4


class Shadow:
    """The records of one allocation, or of the shared memory of a wave; the pages of its arrays are made when they are first touched."""

    def __init__(self, name: str, size: int, origin: int = 0) -> None:
        self.name = name
        self.size = size
        self.origin = origin  # the address of its first byte
        self.unit = 4
        self.cells: dict[str, Cells] = {}
        self.has_releases = False  # may a strong read acquire anything?
        self.released = np.zeros(
            0, np.int64
        )  # by word, or by byte: which release a strong read acquires, and those before it; counted from 1
        self._bytewise = False
        self.uneven = False  # are there strong accesses of several sizes, or of scopes narrower than .gpu?
        self.strong_size = 0

    def of(self, kind: str) -> Cells:
        """The records of a kind."""
        found = self.cells.get(kind)
        if found is None:
            found = self.cells[kind] = Cells(-(-self.size // 4) * 4 // self.unit + 4)
        return found

    def release_at(self, offset: Array, size: int) -> Array:
        """The places of accesses in `released`."""
        if not self.released.size:
            self.released = np.zeros(self.size // 4 + 1, np.int64)
        if size < 4 and not self._bytewise:
            self._bytewise, words = True, self.released
            self.released = np.zeros(4 * words.size, np.int64)
            self.released[::4] = words
        return offset if self._bytewise else offset >> 2

    def forget_releases(self) -> None:
        """Another launch begins, with release sequences of its own."""
        self.has_releases = False
        self.released[:] = 0

    def overwrite(self, offset: Array) -> None:
        """Weak stores release nothing."""
        if self.has_releases:
            self.released[self.release_at(offset, 4)] = 0

    def split(self) -> None:
        """An access to less than a word, or to no whole one, came: from now on each byte has its records."""
        if self.unit == 4:
            self.unit = 1
            for cells in self.cells.values():
                cells.split()


def stamps(now: int, who: Array | int) -> Array:
    """Records of one time."""
    made: Array = np.asarray(who).astype(U64) | U64(now << 32)
    return made


def limit(time: Array | int) -> Any:
    """The last stamp of a time."""
    return (np.asarray(time).astype(U64) << HALF) | LOW
