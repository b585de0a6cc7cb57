"""All accesses of a launch at once, where all have waited, or those of a chapter of it: caches that nobody asks again.

Then it is enough to know who uses a sector first, and which uses of a line come too late to find it still; nothing is written down.
Sectors are numbered without the gaps between the stretches of memory that are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .footprint import SECTOR, Footprint
from .lanes import repeated
from .scattered import Scattered, count_sectors
from .strays import Strays, count_strays, lane_by_lane
from .touch import WARP
from .uses import SECTOR_BITS, Waiting, Way

Index = NDArray[np.int64]
Codes = NDArray[Any]
Changed = list[tuple[Waiting, Footprint, bool, bool]]  # how accesses were before

DENSE = 1 << 20  # sectors that may be numbered in any case
SPARSE = 8  # sectors for each use that may be numbered
SILENT, PARTED = 255, 254  # the codes of those who are told nothing; of those who only store parts of sectors
WORTH = 64  # rows that are worth marking on their own
MANY = 1 << 17  # marks
FEW = 8  # codes that are counted one by one
AT_ONCE = 1 << 15  # uses that are looked at together
WARPS, USES, LANES = range(3)  # tables
LOADED, WHOLE, PART, DROPPED, STREAMED = 1, 2, 4, 8, 16  # what is done to a stretch
NOBODY = np.zeros(0, np.int64)


@dataclass(slots=True)
class Stretch:
    """Neighbouring lines."""

    low: int
    high: int
    done: int  # to any of them
    number: int = 0  # of the first

    @property
    def lines(self) -> int:
        """How many."""
        return self.high + 1 - self.low

    @property
    def stays(self) -> bool:
        """May any of it be in L1?"""
        return self.done & (LOADED | WHOLE | PART) > 0

    @property
    def mixed(self) -> bool:
        """Are parts of sectors stored that others read?"""
        return self.done & PART > 0 and self.done & (LOADED | DROPPED) > 0


@dataclass(frozen=True, slots=True)
class Table:
    """What some accesses use, in rows of one length: the sectors by number, and of each row the cache and the lanes that take part."""

    sectors: NDArray[np.uint32]
    cache: Index
    used: list[Used]
    lanes: Index | None = None  # None: all of each row

    @property
    def turn(self) -> Index:
        """Of each row."""
        return repeated([u.turn for u in self.used], [u.end - u.begin for u in self.used])

    @property
    def masked(self) -> bool:
        """Do some lanes take no part?"""
        return self.lanes is not None


@dataclass(frozen=True, slots=True)
class Marks:
    """The code of who uses each sector first in each cache: (caches, sectors), from one sector on."""

    codes: Codes
    low: int
    flat: Codes  # with a line more for each cache, that nobody uses
    places: Callable[[int, int, int], Index]  # of some rows of a table, in `flat`
    over: Index  # the rows of caches that have no room for all
    lives: bool  # are there caches that were emptied on the way, and are others since?

    def life(self, u: Used) -> int:
        """The same for accesses to the same caches."""
        return u.turn if self.lives else 0


@dataclass(eq=False, slots=True)
class Used:
    """One access, and where in a table it stands."""

    waiting: Waiting
    turn: int
    code: int  # of those who are told things that are summed
    stretch: Stretch
    table: int = 0
    begin: int = 0
    end: int = 0

    @property
    def way(self) -> Way:
        """What it asks."""
        return self.waiting.way

    @property
    def parts(self) -> bool:
        """Does it store parts of sectors that others load?"""
        return self.stretch.mixed and self.way is Way.STORE and not self.waiting.brings

    @property
    def shift(self) -> int:
        """From a sector of the footprint to its number."""
        return self.waiting.start + self.stretch.number - self.stretch.low << SECTOR_BITS


class Fresh:
    """All accesses, less those that find everything anyway."""

    def __init__(
        self, used: list[Used], stretches: list[Stretch], groups: list[list[Waiting]], also: list[Waiting], changed: Changed
    ) -> None:
        self.used, self.stretches, self.groups, self.changed = used, stretches, groups, changed  # groups by code
        self.lines = stretches[-1].number + stretches[-1].lines  # that have numbers
        kinds: list[list[Used]] = [[], [], []]
        for u in used:
            u.table = LANES if isinstance(u.waiting.f, Strays) else WARPS if isinstance(u.waiting.f, Scattered) else USES
            kinds[u.table].append(u)
        self.tables = [_by_warp(kinds[WARPS], self.nowhere), _by_use(kinds[USES]), _by_lane(kinds[LANES])]
        by_name = {_name(u.waiting): u for u in used}
        self.also = [by_name[_name(w)] for w in also]  # who store what these have brought in

    def undo(self) -> None:
        """The accesses are to be followed in another way."""
        for w, f, there, again in self.changed:
            w.f, w.there, w.again = f, there, again

    @property
    def nowhere(self) -> int:
        """The number of what is used by lanes that take no part."""
        return self.lines << SECTOR_BITS

    @staticmethod
    def of(waiting: list[Waiting], *, last: bool) -> Fresh | None:
        """Numbers what these use; None where they get in each other's way; `last`: nobody will want to know what the caches hold then."""
        stretches, where = stretches_of(waiting)
        lines = 0
        for s in stretches:
            s.number, lines = lines, lines + s.lines
        changed: Changed = []
        for turn in where:
            w = waiting[turn]
            mixed, uses = where[turn].mixed, not isinstance(w.f, Scattered)
            before = w.f, w.there, w.again
            if mixed:  # it matters which words of its sector each use wants, and lines may have begun anew
                w.there = w.again = False
                where[turn].done |= _does(w)
            parted = w.way is Way.STORE and not w.brings and (mixed or not last)  # or later chapters may read what was stored
            if uses and (parted or (mixed and (w.f.parts or (w.way is Way.LOAD and not w.f.by_line)))):
                w.f = lane_by_lane(w.f)
            if before != (w.f, w.there, w.again):
                changed.append((w, *before))
        if lines << SECTOR_BITS > max(DENSE, SPARSE * sum([w.f.count for w in waiting])):
            return None
        codes: dict[object, int] = {}
        groups: list[list[Waiting]] = [[]]
        used = []
        also = [w for w in waiting if w.there and w.way is Way.STORE]
        for turn in sorted(where):
            w = waiting[turn]
            if w.there or (w.again and (last or not w.other_words)):
                continue
            code = SILENT if w.silent or w.way is Way.STORE else codes.setdefault((w.way, w.sink), len(groups))
            if code == len(groups):
                groups.append([])
            if code != SILENT:
                groups[code].append(w)
            used.append(Used(w, turn, code, where[turn]))
        if len(groups) > PARTED:
            return None
        return Fresh(used, stretches, groups, also, changed)

    @cached_property
    def once_each(self) -> bool:
        """Does nobody use a sector that was used before?  Then nobody finds one."""
        uses = sum([t.sectors.size for t in self.tables])
        if uses > self.nowhere or any(t.masked for t in self.tables):
            return False
        return int(np.count_nonzero(self.firsts(self.used))) == uses

    def measure(self) -> None:
        """See scattered.measure, of all those whose lanes are in disorder; nobody asks for the order of sectors in a row afterwards."""
        by_root = {id(u.waiting.f.root): u for u in self.used if isinstance(u.waiting.f, Scattered) and not u.waiting.f.measured}
        for run in self.runs(sorted(by_root.values(), key=lambda u: (u.table, u.begin))):
            sectors = self.tables[run[0].table].sectors[run[0].begin : run[-1].end]
            roots = [u.waiting.f.root for u in run if isinstance(u.waiting.f, Scattered)]
            if run[0].table == LANES:
                count_strays([f for f in roots if isinstance(f, Strays)], sectors)
            else:
                count_sectors(roots, sectors, self.nowhere)

    def firsts(self, some: list[Used], *, by_turn: bool = False, alike: bool = True) -> Codes:
        """Who of these uses each sector first: the code, or the turn, counted from 1 on; `alike`: what has one name uses the same still."""
        marks = np.zeros(self.lines + 1 << SECTOR_BITS, np.uint16 if by_turn else np.uint8)
        self.mark(
            marks,
            once(some) if alike else some,
            lambda table, begin, end: self.tables[table].sectors[begin:end].astype(np.intp),
            by_turn=by_turn,
        )
        return marks[: self.nowhere]

    def mark(self, marks: Codes, some: list[Used], places: Callable[[int, int, int], Index], *, by_turn: bool = False) -> None:
        """Leaves the code of the first of some accesses, or its turn, at each place; `places` are those of some rows of a table."""
        for run in reversed(list(self.runs(some))):
            at = places(run[0].table, run[0].begin, run[-1].end)
            names = [u.turn + 1 if by_turn else PARTED if u.parts else u.code for u in run]
            if len(set(names)) == 1:
                marks[at] = names[0]
            elif len(at) > len(run) * WORTH:
                for u, name in zip(reversed(run), reversed(names), strict=True):
                    marks[at[u.begin - run[0].begin : u.end - run[0].begin]] = name
            else:
                codes = repeated(names, [u.end - u.begin for u in run], marks.dtype)
                marks[np.ascontiguousarray(at[::-1])] = codes[::-1, None]  # the last that is written remains

    def runs(self, some: list[Used]) -> Iterator[list[Used]]:
        """Accesses that stand one after the other in a table, not too many at once."""
        run: list[Used] = []
        for u in [*some, None]:
            if run and (
                u is None
                or u.table != run[0].table
                or u.begin != run[-1].end
                or (u.end - run[0].begin) * self.tables[u.table].sectors.shape[1] > AT_ONCE
            ):
                yield run
                run = []
            if u is not None:
                run.append(u)

    def counts(self, marks: Codes) -> list[int]:
        """How many sectors each code has."""
        if len(self.groups) <= FEW:
            return [0, *(int(np.count_nonzero(marks == code)) for code in range(1, len(self.groups)))]
        lines = marks.view(np.uint32)
        if lines.size > MANY:
            lines = lines[lines != 0]  # often few
        codes = lines.view(np.uint8)
        if codes.size > MANY:  # two at a time
            pairs = np.bincount(codes.view(np.uint16), minlength=1 << 16).reshape(1 << 8, 1 << 8)
            found: Index = pairs.sum(axis=0) + pairs.sum(axis=1)
        else:
            found = np.bincount(codes, minlength=len(self.groups))
        return [0, *found[1 : len(self.groups)].tolist()]


def stretches_of(waiting: list[Waiting]) -> tuple[list[Stretch], dict[int, Stretch]]:
    """The lines that some accesses use, and which of them each uses, by turn."""
    spans = sorted((w.f.ends[0] + w.start, w.f.ends[1] + w.start, turn) for turn, w in enumerate(waiting) if w.f.count)
    stretches: list[Stretch] = []
    where = {}
    for low, high, turn in spans:
        if not stretches or low > stretches[-1].high:
            stretches.append(Stretch(low, high, 0))
        s = where[turn] = stretches[-1]
        s.high = max(s.high, high)
        s.done |= _does(waiting[turn])
    return stretches, where


def once(some: list[Used]) -> list[Used]:
    """Accesses, in order, less those whose sectors all were asked for by the same lanes before."""
    found: dict[tuple[int, int, int], Used] = {}
    for u in some:
        found.setdefault((*_name(u.waiting), id(u.waiting.rows)), u)
    return list(found.values())


def _by_lane(some: list[Used]) -> Table:
    """Accesses by some lanes of their warps: a row a lane."""
    footprints = [u.waiting.f for u in some if isinstance(u.waiting.f, Strays)]
    sizes = _rows(some, [f.count for f in footprints])
    if not some:
        return Table(np.zeros((0, 1), np.uint32), NOBODY, [])
    place = np.concatenate([f.place for f in footprints])
    place >>= place.dtype.type(SECTOR.bit_length() - 1)
    shifts = np.array([u.shift for u in some]).astype(place.dtype)  # what is too much goes round
    place += repeated(shifts.tolist(), sizes, place.dtype)[:, None]
    cache = np.concatenate([f.caches(u.waiting.rows) for u, f in zip(some, footprints, strict=True)])
    return Table(place.astype(np.uint32, copy=False), cache, some)


def _by_warp(some: list[Used], nowhere: int) -> Table:
    """Accesses whose lanes are in disorder: a row a warp."""
    footprints = [u.waiting.f for u in some if isinstance(u.waiting.f, Scattered)]
    sizes = _rows(some, [f.height for f in footprints])
    if not some:
        return Table(np.zeros((0, WARP), np.uint32), NOBODY, [])
    place = np.concatenate([f.place for f in footprints])
    place >>= place.dtype.type(SECTOR.bit_length() - 1)
    shifts = np.array([u.shift for u in some]).astype(place.dtype)  # what is too much goes round
    place += shifts[0] if (shifts == shifts[0]).all() else repeated(shifts.tolist(), sizes, place.dtype)[:, None]
    sectors = place.astype(np.uint32, copy=False)
    lanes = np.full(len(place), WARP) if any(f.active is not None for f in footprints) else None
    for u, f in zip(some, footprints, strict=True):
        if lanes is not None and f.active is not None and f.lanes_by_warp is not None:
            if f.mask is None:  # few
                warp, lane = f.geometry.warps.absent
                sectors[warp + u.begin, lane] = nowhere
            else:
                np.copyto(sectors[u.begin : u.end], nowhere, where=~f.active)
            lanes[u.begin : u.end] = f.lanes_by_warp
    cache = np.concatenate([f.caches(u.waiting.rows) for u, f in zip(some, footprints, strict=True)])
    return Table(sectors, cache, some, lanes)


def _by_use(some: list[Used]) -> Table:
    """Accesses in order: a row for each sector that a multiprocessor uses."""
    uses = [u.waiting.f.uses(u.waiting.rows) for u in some]
    sizes = _rows(some, [cache.size for cache, _, _ in uses])
    if not some:
        return Table(np.zeros((0, 1), np.uint32), NOBODY, [])
    sectors = np.empty(sum(sizes), np.uint32)
    for u, (_, sector, _) in zip(some, uses, strict=True):
        np.add(sector, u.shift, out=sectors[u.begin : u.end], casting="unsafe")
    cache = np.concatenate([cache for cache, _, _ in uses])
    return Table(sectors[:, None], cache, some)


def _rows(some: list[Used], sizes: list[int]) -> list[int]:
    """Gives accesses their rows in their table."""
    end = 0
    for u, size in zip(some, sizes, strict=True):
        u.begin, u.end = end, end + size
        end += size
    return sizes


def _name(w: Waiting) -> tuple[int, int]:
    """The same for accesses that use the same."""
    return id((w.f.lanewise or w.f).same), w.start


def _does(w: Waiting) -> int:
    if w.there:
        return 0
    if w.way is Way.LOAD:
        return LOADED
    if w.way is Way.STORE:
        return WHOLE if w.brings else PART
    return STREAMED if w.way is Way.STREAM else DROPPED
