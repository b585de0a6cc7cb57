"""Global memory as observers see it: requests and sectors by the device's rule, what L1 and L2 hold, bytes to the device's memory."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Instruction
from warplab.isa.profiles import DeviceProfile

from ..memory.cache import LoadPolicy, StorePolicy, load_policy, store_policy
from ..memory.coalesce import async_copy_global, global_transactions
from ..memory.contention import atomic_global
from .footprint import Footprint
from .tables import CacheTable, count_bits, sectors_of
from .touch import ALL_WORDS, WARP, Lanes, patterns

Index = NDArray[np.int64]
LINE = 128
SECTOR = 32
KEPT = 2048  # sets of addresses whose sectors are remembered
LARGE = 1 << 14  # bytes of those that are not
RECENT = 64  # accesses of which L1 held everything that are remembered
_FIRST = np.zeros(1, np.int64)
_contended: dict[tuple[int, bytes, bytes], Index] = {}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one access of a group."""

    requests: int
    units: Index  # of each warp
    total: int
    ideal: int
    hits: int
    l2: int
    l2_hits: int
    moved: int


@dataclass(frozen=True, slots=True)
class Found:
    """Lines that were all found in L1 and are its last used ones while its version stays: to find them again changes nothing."""

    version: int
    where: Index
    line: Index
    words: Index


class Hierarchy:
    """The caches of one launch."""

    def __init__(self, device: DeviceProfile, multiprocessors: int, l1_size: int, threads: int) -> None:
        self.device = device
        self.modern = device.global_rule == "sectors"
        expected = threads // 16  # lines, if each thread touches eight bytes of its own
        self.l1 = CacheTable(multiprocessors, l1_size // LINE, expected)
        self.l2 = CacheTable(1, device.l2_cache // LINE, expected)
        self.written = 0  # sectors that became dirty
        self.recent: dict[tuple[int, int], Found] = {}

    def access(self, i: Instruction, kind: str, f: Footprint, start: int, rows: Index, *, gathers: bool = False) -> Outcome:
        """A load, store or atomic operation whose footprint begins at line `start`, by rows on these multiprocessors.

        `gathers`: one lane of each warp acts for all.
        """
        where, line = f.multiprocessors(rows), f.line + start
        if not self.modern:
            return self._early(i, kind, f, start, where, line)
        if kind == "ld":
            return _modern(f, f.units, f.total, *self._load(f, where, line, _load_policy(i.modifiers)))
        units, total, l2_hits = f.units, f.total, 0
        if kind == "st":
            if f.width >= 4:
                self.l1.store(where, line, f.words, admit=store_policy(i.modifiers) is StorePolicy.KEEP, distinct=True)
        else:
            if not gathers:
                units = contended_sectors(Lanes(f.lanes.where + start * LINE, f.lanes.active, f.lanes.warps), f.width)
                total = int(units.sum())
            self.l1.drop(where, line)
            l2_hits = f.total - self._read_l2(line, f.first)
        self._write(line, f.words)
        return _modern(f, units, total, 0, f.total, l2_hits)

    def copy(self, i: Instruction, f: Footprint, start: int, rows: Index, target: Lanes) -> Outcome:
        """cp.async: a load through L1 or past it, whose sectors also depend on where in shared memory the bytes go."""
        bypass = "cg" in i.modifiers
        policy = LoadPolicy.BYPASS if bypass else LoadPolicy.CACHE
        done = self._load(f, f.multiprocessors(rows), f.line + start, policy)
        units = async_copy_global(f.lanes.full, target.full, f.lanes.mask, f.width, bypass=bypass)[1]
        return _modern(f, units, int(units.sum()), *done)

    # ------------------------------------------------------------ caches

    def _load(self, f: Footprint, where: Index, line: Index, policy: LoadPolicy) -> tuple[int, int, int]:
        """(sectors found in L1, asked of L2, found there)."""
        if policy is LoadPolicy.BYPASS:
            self.l1.drop(where, line)
            return 0, f.total, f.total - self._read_l2(line, f.first)
        admit = policy is LoadPolicy.CACHE
        if admit and self._again(f, where, line):
            return f.total, 0, 0
        version = self.l1.version
        missed = self.l1.load(where, line, f.first if admit else f.words, admit=admit, distinct=True)
        lost = np.flatnonzero(missed)
        # What has just been brought in is looked for again where the same lines were met before, as in a walk from word to word.
        if admit and version == self.l1.version and line.size and (not lost.size or (line.size, line.item(0)) in self.recent):
            if len(self.recent) >= RECENT:
                self.recent.clear()
            self.recent[line.size, line.item(0)] = Found(version, where, line, sectors_of(f.first) * 0xFF)
        if not lost.size:
            return f.total, 0, 0
        asked = count_bits(missed[lost])
        fetched = self._read_l2(line[lost], missed[lost] * 0xFF, whole=True)
        if not admit:  # nothing is kept: every warp of a line asks for itself
            asked = asked * f.each[lost] // count_bits(sectors_of(f.words[lost]))
        total = int(asked.sum())
        return f.total - total, total, total - fetched

    def _again(self, f: Footprint, where: Index, line: Index) -> bool:
        """Is this a load of what was found before, with nothing in between that matters?"""
        known = self.recent.get((line.size, line.item(0))) if line.size else None
        if known is None or known.version != self.l1.version:
            return False
        return not (f.first & ~known.words).any() and np.array_equal(known.line, line) and np.array_equal(known.where, where)

    def _read_l2(self, line: Index, words: Index, *, whole: bool = False) -> int:
        """Sectors that come from the device's memory; lines ascend, and `whole` says that words are those of whole sectors."""
        starts = _starts(line)
        distinct = starts is None
        if starts is not None and whole and self.l2.lines:
            line, words, distinct = line[starts], np.bitwise_or.reduceat(words, starts), True
        return int(count_bits(self.l2.load(np.zeros(line.size, np.int64), line, words, distinct=distinct)).sum())

    def _write(self, line: Index, words: Index) -> None:
        if self.l2.lines:
            starts = _starts(line)
            if starts is not None:
                line, words = line[starts], np.bitwise_or.reduceat(words, starts)
            self.written += self.l2.store(np.zeros(line.size, np.int64), line, words, dirty=True, distinct=True)

    # ------------------------------------------------------------ before 5.0

    def _early(self, i: Instruction, kind: str, f: Footprint, start: int, where: Index, line: Index) -> Outcome:
        """Transactions by the guide's rules, through L1 a line at a time."""
        cached = self.device.l1_caches_global and kind == "ld" and _load_policy(i.modifiers) is not LoadPolicy.BYPASS
        lanes = Lanes(f.lanes.where + start * LINE, f.lanes.active, f.lanes.warps)  # some rules look at 256 bytes
        rows = patterns(lanes, 2 * LINE)
        requests, found = global_transactions(self.device, rows.where, rows.mask, f.width, cached=cached)
        per_row, moved = found.per_warp(len(rows.where)), found.bytes_per_warp(len(rows.where))
        total = int(per_row @ rows.count)
        hits = l2 = l2_hits = 0
        if kind == "ld" and cached:
            missed = self.l1.load(where, line, np.full(line.size, ALL_WORDS, np.int64), distinct=True)
            lost = np.flatnonzero(missed)
            hits = total - lost.size
            l2 = LINE // SECTOR * lost.size
            l2_hits = l2 - self._read_l2(line[lost], missed[lost] * 0xFF, whole=True)
        elif self.l2.lines:
            l2 = f.total
            if kind != "st":
                l2_hits = l2 - self._read_l2(line, f.first)
            if kind != "ld":
                self.l1.drop(where, line)
                self._write(line, f.words)
        unit = LINE if cached else SECTOR if self.device.capability >= (2, 0) else WARP // 2 * max(f.width, 2)  # a half-warp's segment
        least = -(-f.count * f.width // unit)
        return Outcome(int(requests @ rows.count), rows.spread(per_row), total, least, hits, l2, l2_hits, int(moved @ rows.count))


def _modern(f: Footprint, units: Index, total: int, hits: int, l2: int, l2_hits: int) -> Outcome:
    return Outcome(f.requests, units, total, f.ideal, hits, l2, l2_hits, SECTOR * total)


@lru_cache(maxsize=1 << 10)
def _load_policy(modifiers: tuple[str, ...]) -> LoadPolicy:
    return load_policy(modifiers)


def _starts(line: Index) -> Index | None:
    """Where each line begins, of ascending lines; None if each comes once."""
    new = line[1:] != line[:-1]
    return None if new.all() else np.concatenate((_FIRST, np.flatnonzero(new) + 1))


def contended_sectors(lanes: Lanes, width: int) -> Index:
    """Sectors of each warp's atomic, asked once for each set of addresses."""
    rows = patterns(lanes, 1 << 40)
    if rows.where.nbytes > LARGE:
        return rows.spread(atomic_global(rows.where, rows.mask, width)[1])
    key = (width, *rows.key)
    found = _contended.get(key)
    if found is None:
        if len(_contended) >= KEPT:
            _contended.clear()
        found = _contended[key] = atomic_global(rows.where, rows.mask, width)[1]
    return rows.spread(found)
