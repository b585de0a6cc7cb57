"""Global memory as observers see it: requests and sectors by the device's rule, what L1 and L2 hold, bytes to the device's memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Instruction
from warplab.isa.profiles import DeviceProfile

from ..memory.cache import LoadPolicy, StorePolicy, load_policy, store_policy
from ..memory.coalesce import async_copy_global, global_transactions
from ..memory.contention import atomic_global
from .static import is_gathered
from .tables import CacheTable
from .touch import ALL_WORDS, WARP, Lanes, Touch, patterns, touch

Index = NDArray[np.int64]
LINE = 128
SECTOR = 32


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one access of a group."""

    touch: Touch
    requests: int
    units: Index  # of each warp
    ideal: int
    hits: int = 0
    l2: int = 0
    l2_hits: int = 0
    moved: int = 0


class Hierarchy:
    """The caches of one launch."""

    def __init__(self, device: DeviceProfile, multiprocessors: int, l1_size: int) -> None:
        self.device = device
        self.modern = device.global_rule == "sectors"
        self.l1 = CacheTable(multiprocessors, l1_size // LINE)
        self.l2 = CacheTable(1, device.l2_cache // LINE)
        self.written = 0  # sectors that became dirty

    def access(self, i: Instruction, kind: str, where: Index, lanes: Lanes, width: int) -> Outcome:
        """A load, store or atomic operation of warps on multiprocessors `where`."""
        if not self.modern:
            return self._early(i, kind, where, lanes, width)
        t = touch(lanes, width)
        units = t.sectors
        if kind == "ld":
            hits, l2, l2_hits = self._load(where[t.warp], t, load_policy(i.modifiers))
            return self._modern(t, lanes, width, units, hits, l2, l2_hits)
        l2, l2_hits = int(t.sectors.sum()), 0
        if kind == "st":
            if width >= 4:
                self.l1.store(where[t.warp], t.line, t.words, admit=store_policy(i.modifiers) is StorePolicy.KEEP)
        else:
            if lanes.where.shape[1] > 1 or not is_gathered(i):
                units = contended_sectors(lanes, width)
            self.l1.drop(where[t.warp], t.line)
            l2_hits = self._read_l2(t.line, t.words)
        self._write(t)
        return self._modern(t, lanes, width, units, 0, l2, l2_hits)

    def copy(self, i: Instruction, where: Index, source: Lanes, target: Lanes, width: int) -> Outcome:
        """cp.async: a load through L1 or past it, whose sectors also depend on where in shared memory the bytes go."""
        bypass = "cg" in i.modifiers
        t = touch(source, width)
        hits, l2, l2_hits = self._load(where[t.warp], t, LoadPolicy.BYPASS if bypass else LoadPolicy.CACHE)
        units = async_copy_global(source.full, target.full, source.mask, width, bypass=bypass)[1]
        return self._modern(t, source, width, units, hits, l2, l2_hits)

    def _modern(self, t: Touch, lanes: Lanes, width: int, units: Index, hits: int, l2: int, l2_hits: int) -> Outcome:
        return Outcome(t, lanes.requests, units, ideal_sectors(lanes, width), hits, l2, l2_hits, SECTOR * int(units.sum()))

    # ------------------------------------------------------------ caches

    def _load(self, where: Index, t: Touch, policy: LoadPolicy) -> tuple[int, int, int]:
        """(sectors found in L1, asked of L2, found there)."""
        if policy is LoadPolicy.BYPASS:
            self.l1.drop(where, t.line)
            return 0, int(t.sectors.sum()), self._read_l2(t.line, t.words)
        found, missed = self.l1.load(where, t.line, t.words, admit=policy is LoadPolicy.CACHE)
        hits = int(found.sum())
        lost = np.flatnonzero(missed)
        if not lost.size:
            return hits, 0, 0
        return hits, int(t.sectors.sum()) - hits, self._read_l2(t.line[lost], missed[lost])

    def _read_l2(self, line: Index, words: Index) -> int:
        return int(self.l2.load(np.zeros(line.size, np.int64), line, words)[0].sum())

    def _write(self, t: Touch) -> None:
        if self.l2.lines:
            self.written += self.l2.store(np.zeros(t.line.size, np.int64), t.line, t.words, dirty=True)

    # ------------------------------------------------------------ before 5.0

    def _early(self, i: Instruction, kind: str, where: Index, lanes: Lanes, width: int) -> Outcome:
        """Transactions by the guide's rules, through L1 a line at a time."""
        cached = self.device.l1_caches_global and kind == "ld" and load_policy(i.modifiers) is not LoadPolicy.BYPASS
        rows = patterns(lanes, 2 * LINE)
        requests, found = global_transactions(self.device, rows.where, rows.mask, width, cached=cached)
        per_row, moved = found.per_warp(len(rows.where)), found.bytes_per_warp(len(rows.where))
        t = touch(lanes, width)
        hits = l2 = l2_hits = 0
        if kind == "ld" and cached:
            sectors, missed = self.l1.load(where[t.warp], t.line, np.full(t.line.size, ALL_WORDS, np.int64))
            hits = int(np.count_nonzero(sectors == LINE // SECTOR))
            lost = np.flatnonzero(missed)
            l2, l2_hits = LINE // SECTOR * lost.size, self._read_l2(t.line[lost], missed[lost])
        elif self.l2.lines:
            l2 = int(t.sectors.sum())
            if kind != "st":
                l2_hits = self._read_l2(t.line, t.words)
            if kind != "ld":
                self.l1.drop(where[t.warp], t.line)
                self._write(t)
        unit = LINE if cached else SECTOR if self.device.capability >= (2, 0) else WARP // 2 * max(width, 2)  # a half-warp's segment
        least = -(-lanes.count * width // unit)
        return Outcome(t, int(requests @ rows.count), rows.spread(per_row), least, hits, l2, l2_hits, int(moved @ rows.count))


def ideal_sectors(lanes: Lanes, width: int) -> int:
    """Sectors had each warp's active lanes been neighbours."""
    if lanes.active is None:
        return lanes.warps * -(-32 * width // SECTOR)
    return int((-(-np.count_nonzero(lanes.active, axis=1) * width // SECTOR)).sum())


def contended_sectors(lanes: Lanes, width: int) -> Index:
    """Sectors of each warp's atomic, asked once for each set of addresses."""
    rows = patterns(lanes, 1 << 40)
    return rows.spread(atomic_global(rows.where, rows.mask, width)[1])
