"""Reference caches, one warp and one line after the other: lines of 128 bytes in sectors of 32, least recently used first out.

Requests reach a cache in the order of the calls and, within one, in the order of the rows; a sector that is still on its way counts as found,
as the hardware counts it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.profiler.caches import DROP, LOAD, STORE, STREAM, UPDATE
from warplab.interpreter.rules.policies import LoadPolicy, StorePolicy
from warplab.interpreter.rules.warps import Addresses, Counts, Mask, access

LINE = 128
SECTOR = 32
WORDS = LINE // 4
SECTOR_WORDS = 0xFF  # the words of a line's first sector, one bit each
WRITTEN = 32  # of the valid words: the bit after which each sector has one that says that bytes or halfwords of it were written


class Cache:
    """One cache: for each line it holds, which words are valid.

    Lines are kept in the order of their last use.  `ways` bounds each of the sets that the line's number selects; by default
    the whole cache is one set, which comes close to the H200's hashed L1 (all found up to 97 % of its size, nothing from 130 %).
    """

    def __init__(self, size: int, ways: int | None = None) -> None:
        self.lines = size // LINE
        self.ways = min(ways or self.lines, self.lines)
        self.sets: list[dict[int, int]] = [{} for _ in range(self.lines // self.ways if self.lines else 0)]

    def words(self, line: int) -> int:
        """The valid words of a line, one bit each; 0 if it is not held."""
        return self.sets[line % len(self.sets)].get(line, 0) if self.sets else 0

    def put(self, line: int, words: int) -> None:
        """Make words of a line valid and the line the last one used, if need be in place of the least recently used."""
        if not self.sets:
            return
        chosen = self.sets[line % len(self.sets)]
        words |= chosen.pop(line, 0)
        if len(chosen) >= self.ways:
            del chosen[next(iter(chosen))]
        chosen[line] = words

    def drop(self, line: int) -> None:
        """Forget a line."""
        if self.sets:
            self.sets[line % len(self.sets)].pop(line, None)

    def clear(self) -> None:
        """Forget everything."""
        for chosen in self.sets:
            chosen.clear()


def whole_words(addresses: Addresses, active: Mask, width: int) -> dict[tuple[int, int], int]:
    """The words that each warp's bytes or halfwords cover in full, by (warp, line)."""
    where, active = access(addresses, active)
    covered: dict[tuple[int, int], int] = {}
    for place in range(0, 4, width):
        warps, lines, words = line_words(where, active & (where % 4 == place), width)
        found = dict(zip(zip(warps.tolist(), lines.tolist(), strict=True), words.tolist(), strict=True))
        covered = {key: covered.get(key, 0) & bits if place else bits for key, bits in found.items()}
    return covered


def line_words(addresses: Addresses, active: Mask, width: int) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """(warp, line, words): the lines that each warp touches, ascending, with a bit for each 4-byte word of the line."""
    where, active = access(addresses, active)
    row, column = np.nonzero(active)
    first = where[row, column] // 4
    each = max(1, -(-width // 4))
    word = (first[:, None] + np.arange(each)).reshape(-1)
    warp = np.repeat(row, each)
    line = word // WORDS
    if not len(line):
        empty = np.zeros(0, dtype=np.int64)
        return empty, empty, empty
    order = np.lexsort((line, warp))
    warp, line, bits = warp[order], line[order], np.int64(1) << (word[order] % WORDS)
    starts = np.nonzero(np.r_[True, (warp[1:] != warp[:-1]) | (line[1:] != line[:-1])])[0]
    return warp[starts], line[starts], np.bitwise_or.reduceat(bits, starts)


def whole_sectors(words: int) -> int:
    """The words of all sectors that some of these words lie in."""
    spread = 0
    for sector in range(LINE // SECTOR):
        mask = SECTOR_WORDS << 8 * sector
        if words & mask:
            spread |= mask
    return spread


def sectors_within(words: int, valid: int) -> int:
    """How many of the sectors touched by `words` have all of those words valid."""
    found = 0
    for sector in range(LINE // SECTOR):
        wanted = words & SECTOR_WORDS << 8 * sector
        found += bool(wanted) and not wanted & ~valid
    return found


def sectors_written(words: int) -> int:
    """The mark that a store of bytes or halfwords leaves on the sectors of these words."""
    return (whole_sectors(words) & 0x01010101) << WRITTEN


def clashes(words: int, valid: int) -> bool:
    """Does a load want words that a sector lacks although something was written to it?

    >>> clashes(0b10, 0b01), clashes(0b10, 0b11), clashes(0b10, 0x100), clashes(0b10, sectors_written(1))
    (True, False, False, True)
    """
    written = whole_sectors(valid & 0xFFFF_FFFF) | (valid >> WRITTEN) * SECTOR_WORDS
    return bool(words & ~valid & written)


class L1:
    """The L1 caches of a device's multiprocessors; each call names, for every warp, the multiprocessor it runs on.

    A load finds a sector when every word it wants of it is valid, and brings in the whole sector when not.  A store makes valid
    the words that a warp writes in full; bytes and halfwords leave a mark on their sectors as well.  A load of words that a sector
    lacks to which something was written takes the whole line out first, and so do atomics and loads that bypass L1.
    """

    def __init__(self, multiprocessors: int, size: int) -> None:
        self.caches = [Cache(size) for _ in range(multiprocessors)]

    def load(
        self,
        multiprocessor: NDArray[np.int64],
        addresses: Addresses,
        active: Mask,
        width: int,
        policy: LoadPolicy = LoadPolicy.CACHE,
    ) -> Counts:
        """Sectors found in L1, for each warp."""
        warps, lines, wanted = line_words(addresses, active, width)
        hits = np.zeros(len(multiprocessor), dtype=np.int64)
        where = multiprocessor[warps].tolist()
        for warp, at, line, words in zip(warps.tolist(), where, lines.tolist(), wanted.tolist(), strict=True):
            cache = self.caches[at]
            if policy is LoadPolicy.BYPASS:
                cache.drop(line)
                continue
            valid = cache.words(line)
            there = bool(valid)
            if clashes(words, valid):
                cache.drop(line)
                valid = 0
            hits[warp] += sectors_within(words, valid)
            if policy is LoadPolicy.CACHE or there:
                cache.put(line, whole_sectors(words & ~valid))
        return hits

    def store(
        self,
        multiprocessor: NDArray[np.int64],
        addresses: Addresses,
        active: Mask,
        width: int,
        policy: StorePolicy = StorePolicy.KEEP,
    ) -> None:
        """Write through, leaving valid what was written."""
        warps, lines, written = line_words(addresses, active, width)
        covered = whole_words(addresses, active, width) if width < 4 else {}
        for warp, line, words in zip(warps.tolist(), lines.tolist(), written.tolist(), strict=True):
            cache = self.caches[int(multiprocessor[warp])]
            if policy is StorePolicy.KEEP or cache.words(line):
                cache.put(line, words if width >= 4 else covered.get((warp, line), 0) | sectors_written(words))

    def atomic(self, multiprocessor: NDArray[np.int64], addresses: Addresses, active: Mask, width: int) -> None:
        """Atomics and reductions happen in L2: L1 forgets their lines."""
        warps, lines, _ = line_words(addresses, active, width)
        for at, line in zip(multiprocessor[warps].tolist(), lines.tolist(), strict=True):
            self.caches[at].drop(line)

    def empty(self, multiprocessor: int | None = None) -> None:
        """Forget everything, on one multiprocessor or (between launches) on all."""
        for cache in self.caches if multiprocessor is None else [self.caches[multiprocessor]]:
            cache.clear()


class L2:
    """The cache that all multiprocessors share: sectors are fetched on a miss and kept dirty until they are pushed out."""

    def __init__(self, size: int, ways: int = 16) -> None:
        self.cache = Cache(size, ways)

    def touch(self, addresses: Addresses, active: Mask, width: int, *, write: bool = False) -> Counts:
        """Sectors found, for each warp; a write finds or makes its sectors, a whole one without reading memory."""
        warps, lines, wanted = line_words(addresses, active, width)
        rows = np.atleast_2d(np.asarray(addresses)).shape[0]
        hits = np.zeros(rows, dtype=np.int64)
        for warp, line, words in zip(warps.tolist(), lines.tolist(), wanted.tolist(), strict=True):
            hits[warp] += sectors_within(words, self.cache.words(line))
            self.cache.put(line, words if write else whole_sectors(words))
        return hits


class LineCaches:
    """Caches asked by one use of a line after the other: the reference of the profiler's `find`."""

    def __init__(self, caches: int, lines: int, *, clash: bool) -> None:
        self.caches, self.clash = [Cache(LINE * lines) for _ in range(caches)], clash
        self.written = 0  # sectors that became dirty
        self.dirty: dict[tuple[int, int], int] = {}

    def ask(self, cache: int, line: int, words: int, kind: int, covered: int) -> int:
        """The sectors that one use finds, each as the bit of its first word."""
        c, found = self.caches[cache], 0
        valid = c.words(line)
        if kind == DROP:
            c.drop(line)
        elif kind in (LOAD, STREAM, UPDATE):
            has = valid & 0xFFFF_FFFF
            if self.clash and clashes(words, valid):
                c.drop(line)
                has = 0
            for sector in range(LINE // SECTOR):
                found |= sectors_within(words & SECTOR_WORDS << 8 * sector, has) << 8 * sector
            if kind != STREAM or valid:
                c.put(line, whole_sectors(words & ~has))
        elif kind == STORE or valid:
            c.put(line, covered | sectors_written(words))
        if kind in (STORE, UPDATE):
            sectors, dirty = whole_sectors(words) & 0x01010101, self.dirty.get((cache, line), 0)
            self.written += (sectors & ~dirty).bit_count()
            self.dirty[cache, line] = dirty | sectors
        for gone in [key for key in self.dirty if key[0] == cache and not c.words(key[1])]:
            del self.dirty[gone]
        return found
