"""Accesses in disorder by some lanes of their warps: each lane that takes part stands for itself."""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory.warps import count_in_rows, first_in_row
from ..vector.lanes import Geometry
from ..vector.values import Array, Shifted, Value
from .disorder import FEW, goes_up
from .footprint import Footprint
from .lanes import repeated
from .rows import Rows
from .scattered import Keys, Scattered, places_of
from .sectors import LINE, different, firsts
from .touch import WARP, Lanes

Index = NDArray[np.int64]
SMALL = 256  # lanes that are sooner followed one by one than put together
SPARSE = 2  # lanes of a warp that are sooner put together with those of others
NONE = (1 << 32) - 1
SECTOR_BITS = 40  # of a key; the warp stands above


class Crew:
    """The lanes of a group that take part, and what is known of them whatever they address."""

    def __init__(self, g: Geometry, rows: Rows, at: Index, size: Index | None = None) -> None:  # size: if they are all of the group
        self.geometry, self.rows, self.at = g, rows, at  # of each, among the lanes of all warps; they ascend
        self.warp = at >> 5
        self.size = np.bincount(self.warp, minlength=g.warps.count) if size is None else size  # of each warp
        self.requests = g.warps.count if size is not None else int(np.count_nonzero(self.size))
        self.each = g.shape[1] // WARP if g.warps.aligned else 1  # warps of a row
        self._order: tuple[int, Index] | None = None
        self._same: dict[int, dict[str, Any]] = {}

    def same(self, width: int) -> dict[str, Any]:
        """What all their accesses of so many bytes have in common."""
        found = self._same.get(width)
        if found is None:
            ideal = int((self.size * width + 31 >> 5).sum())  # sectors if the lanes of each warp used neighbouring places
            found = self._same[width] = {
                "geometry": self.geometry, "rows": self.rows, "width": width, "_each": self.each,
                "by_row": self.geometry.warps.aligned and self.rows.apart,
                "count": self.at.size, "requests": self.requests, "lanes_by_warp": self.size, "ideal": ideal,
                "mask": None, "active": None, "lanewise": None,  # of its rows all take part
                "again": False, "by_line": False, "run": None,
            }  # fmt: skip
        return found

    @cached_property
    def cache(self) -> Index:
        """The multiprocessor of each lane."""
        return self.rows.warps(self.each)[0].take(self.warp)

    @cached_property
    def crowd(self) -> int:
        """Lanes at most that one multiprocessor has."""
        return int(np.bincount(self.rows.warps(self.each)[0], self.size).max())

    @cached_property
    def warps(self) -> Index:
        """Those that have lanes."""
        return np.flatnonzero(self.size)

    @cached_property
    def many(self) -> Index:
        """How many lanes each of those warps has."""
        return self.size if self.requests == self.size.size else self.size.take(self.warps)

    def order(self, bits: int) -> Index:
        """Which of 2**bits parts of its multiprocessor's warps each lane belongs to."""
        if self._order is None or self._order[0] != bits:
            self._order = bits, self.rows.order(self.each, bits).take(self.warp)
        return self._order[1]


_latest: list[Crew] = []  # whole groups; the one that was met last


class Strays(Scattered):
    """What such an access touches: as of lanes in disorder, in rows of one lane."""

    crew: Crew

    def __init__(self, crew: Crew, place: Keys, width: int) -> None:
        same = {"crew": crew, **crew.same(width)}  # the crew does not keep itself
        self.__dict__.update(same)
        self._begin(same, place[:, None])

    @property
    def warp(self) -> Index:
        """Of each lane."""
        return self.crew.warp

    def another(self, g: Geometry, rows: Rows, address: Shifted, width: int) -> Scattered | None:
        return None

    def measure(self) -> None:
        if self.root is self:
            count_strays([(self, self.sector)], self._names)
        else:
            self.root.measure()

    @property
    def lanes(self) -> Lanes:
        warps = self.geometry.warps.count
        where, active = np.zeros(warps * WARP, np.int64), np.zeros(warps * WARP, np.bool_)
        at = self.crew.at
        where[at], active[at] = self.place.ravel(), True
        return Lanes(where.reshape(-1, WARP), active.reshape(-1, WARP), warps)

    def lanes_of_warp(self, warp: int) -> tuple[Index, NDArray[np.bool_]]:
        begin, end = self.crew.warp.searchsorted([warp, warp + 1]).tolist()
        at = self.crew.at[begin:end] & WARP - 1
        where, active = np.zeros(WARP, np.int64), np.zeros(WARP, np.bool_)
        where[at], active[at] = self.place[begin:end, 0], True
        return where, active

    def caches(self, rows: Rows) -> Index:
        return self.crew.cache

    def order(self, rows: Rows, bits: int) -> Index:
        return self.crew.order(bits)[:, None]

    def crowds(self, rows: Rows, bits: int) -> tuple[Index, Index, Index]:
        return self.order(rows, bits).ravel(), self.caches(rows), np.ones(1, np.int64)

    def crowd(self, rows: Rows) -> int:
        return self.crew.crowd

    @property
    def some_sectors(self) -> Index:
        return self.sector[:WARP, 0].astype(np.int64)

    @property
    def _warp_of_lanes(self) -> Index:
        return self.warp

    @cached_property
    def units(self) -> Index:
        found = np.zeros(self.geometry.warps.count, np.int64)
        found[self.crew.warps] = _units([(self.crew, self.sector)], self._names)
        return found

    @property
    def _names(self) -> int:
        return int(self.sector.max()) + 1

    @property
    def each_sector(self) -> Index:
        return different(self.warp << SECTOR_BITS | self.sector.ravel().astype(np.int64)) & (1 << SECTOR_BITS) - 1

    def ordinary(self) -> tuple[Footprint, int]:
        start, lanes, gather = self.ends[0], self.lanes, self.geometry.warps.gather
        return Footprint(self.geometry, self.rows, gather(lanes.where) - start * LINE, gather(lanes.mask), self.width), start


def strays(g: Geometry, rows: Rows, address: Value, mask: Array | None, width: int) -> Strays:
    """The footprint of an access by some lanes."""
    every = places_of(address)
    place: Keys = every.ravel() if every.size == g.n else np.full(g.shape, every).ravel()
    if mask is None:
        crew = _whole(g, rows)
    else:
        chosen = np.flatnonzero(mask if mask.shape == g.shape else np.broadcast_to(mask, g.shape))
        place, crew = place.take(chosen), Crew(g, rows, g.warps.place.take(chosen))
    f = Strays(crew, place, width)
    if mask is None and isinstance(address, Shifted):
        f.ends = (address.facts.low + address.delta) // LINE, (address.facts.high + address.delta) // LINE
    return f


def _whole(g: Geometry, rows: Rows) -> Crew:
    """All lanes of a group; several accesses by one follow each other."""
    if not _latest or _latest[0].geometry is not g or _latest[0].rows is not rows:
        _latest[:] = [Crew(g, rows, g.warps.place, g.warps.lanes)]
    return _latest[0]


def lane_by_lane(f: Footprint) -> Scattered:
    """The same access, whose lanes are in order, as one of lanes that may be in any."""
    found = f.lanewise
    if not isinstance(found, Scattered):
        lanes = f.lanes
        if lanes.active is not None and FEW * f.count <= lanes.active.size:
            at = np.flatnonzero(lanes.active)
            found = Strays(Crew(f.geometry, f.rows, at), lanes.full.ravel().take(at), f.width)
        else:
            found = Scattered(f.geometry, f.rows, lanes.full, f.mask, f.width)
            if f.same is not f:
                found.is_same_as(lane_by_lane(f.same))
        f.lanewise = found
    return found


def count_strays(some: list[tuple[Strays, Keys]], names: int) -> None:
    """Finds how many sectors each of these asks for, and which warp for the most; with the sectors of all lanes, or other names below `names`."""
    up = [(f, sectors) for f, sectors in some if goes_up(sectors[:, 0])]
    units = _in_order([(f.crew, sectors) for f, sectors in up]) if up else None
    if units is not None:
        _tell(up, units)
        told = {id(f) for f, _ in up}
        some = [(f, sectors) for f, sectors in some if id(f) not in told]
    if some:
        _tell(some, _units([(f.crew, sectors) for f, sectors in some], names))


def _tell(some: list[tuple[Strays, Keys]], units: Index) -> None:
    """Tells these how many sectors each of their warps asks for."""
    begins = [0, *accumulate(f.crew.requests for f, _ in some)]
    totals = np.add.reduceat(units, begins[:-1], dtype=np.int64).tolist()
    for (f, _), total, (begin, end) in zip(some, totals, pairwise(begins), strict=True):
        at = int(units[begin:end].argmax())
        f.total, f.worst = total, (int(f.crew.warps[at]), units.item(begin + at))


def _in_order(some: list[tuple[Crew, Keys]]) -> Index | None:
    """How many different sectors the lanes of each warp have; None unless they come in order."""
    sector = np.concatenate([sectors.ravel() for _, sectors in some])
    begins = np.zeros(sum([crew.requests for crew, _ in some]), np.int64)
    np.cumsum(np.concatenate([crew.many for crew, _ in some])[:-1], out=begins[1:])
    down = sector[1:] < sector[:-1]
    down[begins[1:] - 1] = False
    if down.any():
        return None
    new = np.empty(sector.size, np.bool_)
    np.not_equal(sector[1:], sector[:-1], out=new[1:])
    new[begins] = True
    units: Index = np.add.reduceat(new, begins, dtype=np.int64)
    return units


def _units(some: list[tuple[Crew, Keys]], names: int) -> Index:
    """How many different sectors the lanes of each warp have."""
    rows = [crew.size.size for crew, _ in some]
    many = np.concatenate([crew.many for crew, _ in some])
    count = _by_warp if sum(rows) * SPARSE <= sum([crew.at.size for crew, _ in some]) else _all_at_once
    return count(some, list(accumulate(rows, initial=0)), many, names)


def _by_warp(some: list[tuple[Crew, Keys]], begins: list[int], many: Index, names: int) -> Index:
    """A row of 32 for each warp: short rows are sorted much faster than all at once."""
    kind: Any = np.uint32 if names < NONE else np.uint64
    keys: Keys = np.full(begins[-1] * WARP, np.iinfo(kind).max, kind)
    for (crew, sectors), begin, end in zip(some, begins, begins[1:], strict=False):
        keys[begin * WARP : end * WARP][crew.at] = sectors.ravel()
    keys = keys.reshape(-1, WARP)
    if many.size < len(keys):
        keys = keys.take(np.concatenate([crew.warps + begin for (crew, _), begin in zip(some, begins, strict=False)]), axis=0)
    keys.sort(axis=1)
    return count_in_rows(first_in_row(keys)) - (many < WARP)  # less what stands where there is no lane


def _all_at_once(some: list[tuple[Crew, Keys]], begins: list[int], many: Index, names: int) -> Index:
    """Sorted by warp and name."""
    bits = names.bit_length()
    kind: Any = np.uint32 if bits + begins[-1].bit_length() <= 32 else np.uint64
    keys: Keys = np.concatenate([crew.warp for crew, _ in some], dtype=kind, casting="unsafe")
    keys += repeated(begins[:-1], [crew.at.size for crew, _ in some], kind)
    keys <<= kind(bits)
    keys |= np.concatenate([sectors.ravel() for _, sectors in some]).astype(kind, copy=False)
    keys.sort()
    starts = np.concatenate([[0], np.cumsum(many)])
    new = np.zeros(keys.size, np.int64)
    new[firsts(keys)] = 1
    return np.add.reduceat(new, starts[:-1])
