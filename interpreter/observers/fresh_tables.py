"""The accesses of a launch as tables of what they use: stretches of memory, whose sectors have numbers, and the rows of each access."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from .lanes import repeated
from .scattered import Scattered
from .sectors import SECTOR
from .strays import Strays
from .touch import WARP
from .uses import SECTOR_BITS, Waiting, Way

Index = NDArray[np.int64]
WARPS, USES, LANES = range(3)  # tables
SILENT = 255  # the code of those who are told nothing
LOADED, WHOLE, PART, DROPPED, STREAMED = 1, 2, 4, 8, 16  # what is done to a stretch
BRING = (Way.LOAD, Way.STORE)  # others drop what they use
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
    way: Way = field(init=False)  # what it asks
    parts: bool = field(init=False)  # does it store parts of sectors that others load?
    name: tuple[int, int, int] = field(init=False)  # the same where the same lanes use the same

    def __post_init__(self) -> None:
        w = self.waiting
        self.way = w.way
        self.parts = w.way is Way.STORE and self.stretch.mixed and not w.brings
        self.name = (*name_of(w), id(w.rows))

    @property
    def shift(self) -> int:
        """From a sector of the footprint to its number."""
        return self.waiting.start + self.stretch.number - self.stretch.low << SECTOR_BITS


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
        s.done |= what_it_does(waiting[turn])
    return stretches, where


def once(some: list[Used]) -> list[Used]:
    """Accesses, in order, less those whose sectors all were asked for by the same lanes before."""
    found: dict[tuple[int, int, int], Used] = {}
    for u in some:
        found.setdefault(u.name, u)
    return list(found.values())


def up_to_last_load(some: list[Used]) -> list[Used]:
    """What comes after it matters to nobody."""
    while some and (some[-1].code == SILENT or some[-1].way is not Way.LOAD):
        some.pop()
    return some


def by_lane(some: list[Used]) -> Table:
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


def by_warp(some: list[Used], nowhere: int) -> Table:
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


def by_use(some: list[Used]) -> Table:
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


def name_of(w: Waiting) -> tuple[int, int]:
    """The same for accesses that use the same."""
    same = w.f.same
    return id(same.lanewise or same), w.start


def what_it_does(w: Waiting) -> int:
    if w.there:
        return 0
    if w.way is Way.LOAD:
        return LOADED
    if w.way is Way.STORE:
        return WHOLE if w.brings else PART
    return STREAMED if w.way is Way.STREAM else DROPPED
