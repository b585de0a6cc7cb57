"""Global memory as observers see it: requests and sectors by the device's rule, what L1 and L2 hold, bytes to the device's memory."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.ir import Instruction
from warplab.isa.profiles import DeviceProfile

from ..flags import any_in_rows
from ..memory.cache import LoadPolicy, StorePolicy, load_policy, store_policy
from ..memory.coalesce import async_copy_global, global_transactions
from ..memory.contention import atomic_global
from .backlog import Backlog
from .disorder import MANY
from .footprint import Footprint
from .joint_l1 import JointCaches
from .joint_l2 import JointCache
from .l2 import Lines
from .pages import PAGE
from .rows import Outline, Rows
from .scattered import Scattered
from .sectors import LINE, SECTOR, SECTOR_WORDS, Demand, count_bits
from .tables import Tables
from .touch import ALL_WORDS, WARP, Lanes, patterns
from .uses import Waiting, Way

if TYPE_CHECKING:
    from ..program import Kernel

Index = NDArray[np.int64]
KEPT = 2048  # sets of addresses whose sectors are remembered
LARGE = 1 << 14  # bytes of those that are not
RECENT = 64  # accesses of which L1 held everything that are remembered
_l1_tables: dict[int, Tables] = {}  # of the launch before, by its caches
_l2_tables: list[Index] = []
_contended: dict[tuple[int, bytes, bytes], Index] = {}


class Outcome(NamedTuple):
    """What became of one access of a group; what caches found may be told later."""

    requests: int
    units: Index | None  # of each warp; None: the sectors that it touches
    total: int
    ideal: int
    hits: int
    l2: int
    l2_hits: int
    moved: int
    waiting: Waiting | None = None  # until that is known


class Hierarchy:
    """The caches of one launch."""

    def __init__(self, device: DeviceProfile, multiprocessors: int, l1_size: int, threads: int, kernel: Kernel | None = None) -> None:
        self.device = device
        self.modern = device.global_rule == "sectors"
        expected = threads // 16  # lines, if each thread touches eight bytes of its own
        self.l1 = JointCaches(multiprocessors, l1_size // LINE, expected, _l1_tables.pop(multiprocessors, None))
        self.l2 = JointCache(device.l2_cache // LINE, _l2_tables.pop() if _l2_tables else None)
        self.backlog = Backlog(self.l1, self.l2, kernel)
        self._written = 0  # sectors that became dirty, as far as nobody waited
        # What L1 holds of lines that are its last used ones while its version stays: to find them again changes nothing.
        self.recent: dict[tuple[int, Outline, Rows], tuple[int, Index]] = {}
        # The same of L2, and L1 has none of the lines as long as nothing was brought in.
        self.passed: dict[tuple[int, Outline, Rows], tuple[Index, int, Index]] = {}

    @property
    def written(self) -> int:
        """Sectors that became dirty, when nobody waits."""
        return self._written + self.backlog.written

    def settle(self, *, last: bool = False) -> None:
        """Tells all that wait what the caches found; `last`: there will be no more."""
        self.backlog.settle(self._ask, last=last)

    def empty(self, multiprocessors: Index) -> None:
        """L1 forgets all that it holds there."""
        self.backlog.empty(multiprocessors)

    def close(self) -> None:
        """Leaves the memory of the caches to the next launch."""
        l1, l2 = self.l1.give_back(), self.l2.give_back()
        _l1_tables.clear()
        if l1 is not None:
            _l1_tables[self.l1.caches] = l1
        _l2_tables[:] = [] if l2 is None else [l2]

    def access(self, i: Instruction, kind: str, f: Footprint, start: int, rows: Rows, *, gathers: bool = False) -> Outcome:
        """A load, store or atomic operation whose footprint begins at line `start`, by rows on these multiprocessors.

        `gathers`: one lane of each warp acts for all.
        """
        if not self.modern:
            return self._early(i, kind, f, start, rows)
        way, units = _way(i.modifiers, kind), None
        if way is Way.ATOMIC and not gathers:
            units = atomic_sectors(f, start)
        if way is not None and self.backlog.takes(f):
            waiting = self.backlog.add(way, f, start, rows, self._ask)
            total = 0 if units is None else int(units.sum())  # else it is told with what the caches found
            return Outcome(f.requests, units, total, f.ideal, 0, 0, 0, SECTOR * total, waiting)
        total = f.total if units is None else int(units.sum())
        if way is None:
            self.settle()
            found = self._unusual(i, kind, f, start, rows)
            if "mmio" in i.modifiers:  # memory that is mapped to other devices: every lane asks for itself
                units, total = f.alone, f.count
        else:
            self.backlog.settle(self._ask)
            found = self._ask(way, f, start, rows)
            self.backlog.asked(way, f, start, rows, self._written)
        return Outcome(f.requests, units, total, f.ideal, *found, SECTOR * total)

    def _unusual(self, i: Instruction, kind: str, f: Footprint, start: int, rows: Rows) -> tuple[int, int, int]:
        """What loads and stores find that do not keep in L1 what they ask for."""
        self.backlog.forget()
        if kind == "ld":
            return self._load(f, start, rows, _load_policy(i.modifiers))
        place = f.outline.place(start, rows)
        if "mmio" in i.modifiers:
            self.l1.drop(place, start // PAGE)
        else:
            self.l1.store(place, start // PAGE, f.touched if f.width >= 4 else f.marked, admit=False)
        self._written += self.l2.store(f.outline.lines, start, f.written)
        return 0, f.total, 0

    def _ask(self, way: Way, f: Footprint, start: int, rows: Rows) -> tuple[int, int, int]:
        """What one access finds in the caches as they are."""
        if isinstance(f, Scattered) and start:
            f, start = f.moved(start * LINE, (f.ends[0] + start, f.ends[1] + start), None), 0
        if isinstance(f, Scattered) and f.geometry.n < MANY:
            f, more = f.ordinary()
            start += more
        if way is Way.LOAD:
            return self._load(f, start, rows, LoadPolicy.CACHE)
        if way in (Way.STREAM, Way.PASS):
            return self._load(f, start, rows, LoadPolicy.STREAM if way is Way.STREAM else LoadPolicy.BYPASS)
        if way is Way.STORE:
            self.l1.store(f.outline.place(start, rows), start // PAGE, f.touched if f.width >= 4 else f.marked)
            self._written += self.l2.store(f.outline.lines, start, f.written)
            return 0, f.total, 0
        if not self.l1.is_empty:
            self.l1.drop(f.outline.place(start, rows), start // PAGE)
        found = self.l2.update_each(f.sectors_of_lanes) if isinstance(f, Scattered) else None
        if found is None:
            found = self.l2.load(f.outline.lines, start, f.read), self.l2.store(f.outline.lines, start, f.changed)
        self._written += found[1]
        return 0, f.total, f.total - found[0]

    def copy(self, i: Instruction, f: Footprint, start: int, rows: Rows, target: Lanes) -> Outcome:
        """cp.async: a load through L1 or past it, whose sectors also depend on where in shared memory the bytes go."""
        bypass = "cg" in i.modifiers
        lanes, way = f.lanes, Way.PASS if bypass else Way.LOAD
        units = async_copy_global(lanes.full + start * LINE, target.full, lanes.mask, f.width, bypass=bypass)[1]
        total, found, waiting = int(units.sum()), (0, 0, 0), None
        if self.modern and self.backlog.takes(f):
            waiting = self.backlog.add(way, f, start, rows, self._ask)
        else:
            self.backlog.settle(self._ask)
            found = self._ask(way, f, start, rows)
            self.backlog.asked(way, f, start, rows, self._written)
        return Outcome(f.requests, units, total, f.ideal, *found, SECTOR * total, waiting)

    # ------------------------------------------------------------ caches

    def _load(self, f: Footprint, start: int, rows: Rows, policy: LoadPolicy) -> tuple[int, int, int]:
        """(sectors found in L1, asked of L2, found there)."""
        l1 = self.l1
        if policy is LoadPolicy.BYPASS:
            return 0, f.total, self._pass(f, start, rows)
        admit = policy is LoadPolicy.CACHE
        if admit and isinstance(f, Scattered) and (lost := l1.load_each(*f.sectors_by_lane)) is not None:
            total = lost.size
            return f.total - total, total, total - self.l2.load_each(lost) if total else 0
        outline = f.outline
        again = admit and not outline.once
        key, held = (start, outline, rows), None
        if again and (known := self.recent.get(key)) is not None and known[0] == l1.version:
            held = known[1]
            if held is f.asked.wanted or not np.count_nonzero(f.first & ~held):
                return f.total, 0, 0
        demand = f.asked if admit else f.touched
        version, place = l1.version, outline.place(start, rows)
        there = None if admit else l1.holds(place, start // PAGE)
        l1.repeated = 0
        missed = l1.load(place, start // PAGE, demand, admit=admit, turns=f.turns)
        if again and version == l1.version:
            if len(self.recent) >= RECENT:
                self.recent.clear()
            self.recent[key] = version, demand.wanted if held is None else held | demand.wanted
        if missed is None:
            return f.total, 0, 0
        if missed is demand.sectors:
            total, fetched = demand.total, self.l2.load(outline.lines, start, f.fetched)
        else:
            lost = np.flatnonzero(missed)
            lines = Lines.of(outline.line[lost])
            fetched = self.l2.load(lines, start, Demand(lines.united(missed[lost] * SECTOR_WORDS)))
            total = int(count_bits(missed).sum())
        if there is not None:  # of a line that is not there nothing is kept: every warp asks for itself
            lost = count_bits(missed)
            total = int(np.where(there, lost, lost * f.each // count_bits(demand.sectors)).sum())
        total += l1.repeated
        return f.total - total, total, total - fetched

    def _pass(self, f: Footprint, start: int, rows: Rows) -> int:
        """Sectors that a load past L1 finds in L2."""
        outline, l1, l2 = f.outline, self.l1, self.l2
        key = (start, outline, rows)
        known = self.passed.get(key)
        if known is not None and known[0] is l1.inserted and known[1] == l2.now and not np.count_nonzero(f.read.words & ~known[2]):
            return f.total  # as before: spinning lanes look at one place again and again
        l1.drop(outline.place(start, rows), start // PAGE)
        missed = l2.load(outline.lines, start, f.read)
        if not outline.once and l2.lines and outline.lines.line.size <= l2.portion:
            if len(self.passed) >= RECENT:
                self.passed.clear()
            self.passed[key] = (l1.inserted, l2.now, f.read.wanted)
        return f.total - missed

    # ------------------------------------------------------------ before 5.0

    def _early(self, i: Instruction, kind: str, f: Footprint, start: int, rows: Rows) -> Outcome:
        """Transactions by the guide's rules, through L1 a line at a time."""
        outline = f.outline
        cached = self.device.l1_caches_global and kind == "ld" and _load_policy(i.modifiers) is not LoadPolicy.BYPASS
        lanes = Lanes(f.lanes.where + start * LINE, f.lanes.active, f.lanes.warps)  # some rules look at 256 bytes
        warps = patterns(lanes, 2 * LINE)
        requests, found = global_transactions(self.device, warps.where, warps.mask, f.width, cached=cached)
        per_row, moved = found.per_warp(len(warps.where)), found.bytes_per_warp(len(warps.where))
        total = int(per_row @ warps.count)
        hits = l2 = l2_hits = 0
        if kind == "ld" and cached:
            demand = Demand(np.full(outline.line.size, ALL_WORDS, np.int64))
            missed = self.l1.load(outline.place(start, rows), start // PAGE, demand)
            lost = np.flatnonzero(missed) if missed is not None else np.zeros(0, np.int64)
            hits = total - lost.size
            l2 = LINE // SECTOR * lost.size
            if lost.size:
                lines = Lines.of(outline.line[lost])
                l2_hits = l2 - self.l2.load(lines, start, Demand(np.full(lines.line.size, ALL_WORDS, np.int64)))
        elif self.l2.lines:
            l2 = f.total
            if kind != "st":
                l2_hits = l2 - self.l2.load(outline.lines, start, f.read)
            if kind != "ld":
                self.l1.drop(outline.place(start, rows), start // PAGE)
                self._written += self.l2.store(outline.lines, start, f.written)
        unit = LINE if cached else SECTOR if self.device.capability >= (2, 0) else WARP // 2 * max(f.width, 2)  # a half-warp's segment
        least = -(-f.count * f.width // unit)
        return Outcome(int(requests @ warps.count), warps.spread(per_row), total, least, hits, l2, l2_hits, int(moved @ warps.count))


@lru_cache(maxsize=1 << 10)
def _way(modifiers: tuple[str, ...], kind: str) -> Way | None:
    """What most accesses ask of the caches; None: something else."""
    if kind in ("atom", "red"):
        return Way.ATOMIC
    if "mmio" in modifiers:
        return None
    if kind == "st":
        return Way.STORE if store_policy(modifiers) is StorePolicy.KEEP else None
    return {LoadPolicy.CACHE: Way.LOAD, LoadPolicy.STREAM: Way.STREAM, LoadPolicy.BYPASS: Way.PASS}[load_policy(modifiers)]


@lru_cache(maxsize=1 << 10)
def _load_policy(modifiers: tuple[str, ...]) -> LoadPolicy:
    return load_policy(modifiers)


def atomic_sectors(f: Footprint, start: int) -> Index:
    """Sectors of each warp's atomic."""
    where, active, warps = f.lanes.where, f.lanes.active, f.lanes.warps
    if where.shape[1] == 1:
        return contended_sectors(f.lanes, f.width)
    found = np.full(warps, WARP) if f.lanes_by_warp is None else f.lanes_by_warp.copy()
    shared = np.flatnonzero(f.units < found)  # nobody is in the way of lanes that have sectors of their own
    if 2 * shared.size > warps:
        found = contended_sectors(Lanes(where + start * LINE, active, warps), f.width)
    elif shared.size:
        some = Lanes(where[shared] + start * LINE, None if active is None else active[shared], shared.size)
        found[shared] = contended_sectors(some, f.width)
    return found


def contended_sectors(lanes: Lanes, width: int) -> Index:
    """Sectors of each warp's atomic, asked once for each set of addresses."""
    if lanes.where.shape[1] == 1:  # one after the other
        return np.full(lanes.warps, WARP) if lanes.active is None else np.count_nonzero(lanes.active, axis=1)
    if lanes.active is not None and lanes.count == lanes.requests:  # nobody meets another
        return any_in_rows(lanes.active).astype(np.int64)
    if lanes.where.nbytes > LARGE and np.ptp(lanes.where[0] - lanes.where[1]):  # hardly one like another
        return atomic_global(lanes.where, lanes.mask, width)[1]
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
