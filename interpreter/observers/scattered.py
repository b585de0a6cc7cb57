"""Accesses whose lanes address places in disorder: what they touch, found lane by lane, with as little as those who ask want to know.

One such access is hardly like another, so that nothing is remembered.  Keys (line, home, sector) of all lanes are sorted once; which warp
wanted which words is looked at only where a cache holds parts of sectors.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..memory.warps import count_in_rows, first_in_row
from ..vector.lanes import Geometry
from ..vector.values import Array, Shifted, Value
from .footprint import Footprint
from .rows import Outline, Rows
from .sectors import LINE, SECTOR_SHIFT, SECTOR_WORDS, Demand, Whole, different, firsts, sectors_of, summed
from .touch import WARP, Lanes

Index = NDArray[np.int64]
ROWS = 8  # the first warps, which mostly tell
FEW = 5  # lanes that tell about others that were in disorder before
Keys = NDArray[np.uint32] | Index
Flags = NDArray[np.bool_]


class Scattered(Footprint):
    """What an access touches, relative to line 0; of its entries, one for each home and line, the sectors are found first."""

    _crew: dict[str, Any]
    _place: Keys
    _root: Scattered | None
    _same: Scattered | None
    by: int  # bytes further on

    def __init__(self, g: Geometry, rows: Rows, place: Keys, mask: Array | None, width: int, ends: tuple[int, int] | None = None) -> None:
        super().__init__(g, rows, place, mask, width)
        del self.address
        self._begin(dict(self.__dict__), place)
        if ends is not None:
            self.ends = ends

    def _begin(self, crew: dict[str, Any], place: Keys) -> None:
        """Sets what is not the same for all accesses by a `crew` of lanes; little is kept, for many of these wait at a time."""
        self._crew, self._place, self._root, self._same, self.by = crew, place, None, None, 0

    def another(self, g: Geometry, rows: Rows, address: Shifted, width: int) -> Scattered | None:
        """An access in disorder by the same lanes; None if it is by others or a few of them say that it has some order."""
        base, low, high = address.base, address.facts.low + address.delta, address.facts.high + address.delta
        if g is not self.geometry or rows is not self.rows or width != self.width or self.mask is not None or base.size < g.n:
            return None
        if len({x >> SECTOR_SHIFT for x in base[0, :FEW].tolist()}) <= FEW // 2:
            return None
        f = Scattered.__new__(Scattered)
        f.__dict__.update(self._crew)
        f._begin(self._crew, g.warps.spread(_short(base, address.delta, high)))
        f.ends = low // LINE, high // LINE
        return f

    def moved(self, by: int, ends: tuple[int, int], same: Scattered | None) -> Scattered:
        """The same access by as many sectors further on, or in these; `same`: what uses just its sectors."""
        f: Scattered = type(self).__new__(type(self))
        f.__dict__.update(self._crew)
        f._crew, f._root, f._same, f.by, f.ends = self._crew, self.root, same, self.by + by, ends
        return f

    @property
    def root(self) -> Scattered:
        """What this is that far from; itself if there is none."""
        return self._root or self

    @property
    def same(self) -> Footprint:
        return self._same or self

    def is_same_as(self, other: Scattered) -> None:
        """Notes what uses just its sectors."""
        self._same = other

    @property
    def height(self) -> int:
        """How many rows its places have."""
        return len(self.root._place)

    @property
    def place(self) -> Keys:
        """Of each lane of each warp."""
        place = self.root._place
        if self.by:
            place = place + place.dtype.type(self.by & (1 << 32) - 1 if place.dtype == np.uint32 else self.by)
        return place

    def is_like(self, other: Scattered) -> bool:
        """Do the same lanes use the same?"""
        return (
            self.geometry is other.geometry
            and self.rows is other.rows
            and self.width == other.width
            and np.array_equal(self.place, other.place)
            and self.active is not None
            and other.active is not None
            and np.array_equal(self.active, other.active)
        )

    @property
    def sector(self) -> Keys:
        """Of each lane of each warp."""
        return self.place >> self.place.dtype.type(SECTOR_SHIFT)

    @property
    def _new(self) -> tuple[Keys, Flags]:
        """The sectors of each warp in order, and which of them come for the first time."""
        ordered = self.sector
        if self.active is not None:
            np.putmask(ordered, ~self.active, _nowhere(ordered))
        ordered.sort(axis=1)
        new = first_in_row(ordered)
        if self.active is not None:
            new &= ordered != _nowhere(ordered)
        return ordered, new

    @property
    def measured(self) -> bool:
        """Is that known?"""
        return "total" in self.root.__dict__

    def measure(self) -> None:
        """Finds how many sectors it asks for, and which warp for the most."""
        if self.root is not self:
            self.root.measure()
        elif not self.measured:
            sector = self.sector
            if self.active is not None:
                np.putmask(sector, ~self.active, _nowhere(sector))
            count_sectors([self], sector, _nowhere(sector))

    @cached_property
    def total(self) -> int:
        return int(self.units.sum()) if self.root is self else self.root.total

    @cached_property
    def taken(self) -> Index | None:
        """The lanes that take part, if not all do."""
        return None if self.active is None else np.flatnonzero(self.active)

    @cached_property
    def worst(self) -> tuple[int, int]:
        if self.root is not self:
            return self.root.worst
        if self.active is None and self.place.shape[1] == WARP:
            sector = self.sector[:ROWS]
            sector.sort(axis=1)
            alone = (sector[:, 1:] != sector[:, :-1]).all(axis=1)
            if alone.any():  # no warp can be worse
                return int(alone.argmax()), WARP
        return super().worst

    @property
    def lanes(self) -> Lanes:  # many of these wait
        return Lanes(self.place.astype(np.int64), self.active, self.geometry.warps.count)

    def lanes_of_warp(self, warp: int) -> tuple[Index, Flags]:
        if self.active is None:
            return self.place[warp].astype(np.int64), np.ones(WARP, np.bool_)
        return self.lanes.full[warp], self.lanes.mask[warp].copy()

    @cached_property
    def ends(self) -> tuple[int, int]:
        place = self._of_lanes(self.place)
        return int(place.min()) // LINE, int(place.max()) // LINE

    @property
    def sectors_by_lane(self) -> tuple[Index, Keys, Index | None, int, int]:
        """The multiprocessor of each row, all lanes' sectors, which lanes are active, no lower number than those, and how crowded one is."""
        return self.caches(self.rows), self.sector, self.taken, 4 * self.ends[1] + 3, self.crowd(self.rows)

    def uses(self, rows: Rows) -> tuple[Index, Keys, Flags | None]:
        return self.caches(rows)[:, None], self.sector, None if self.active is None else self._absent

    def caches(self, rows: Rows) -> Index:
        """The multiprocessor of each row of lanes, mostly a warp."""
        return rows.warps(self._each)[0]

    def order(self, rows: Rows, bits: int) -> Index:
        return rows.order(self._each, bits)[:, None]

    @property
    def some_sectors(self) -> Index:
        found: Index = self.place[0].astype(np.int64) >> SECTOR_SHIFT
        return found

    def crowds(self, rows: Rows, bits: int) -> tuple[Index, Index, Index]:
        lanes = np.full(1, WARP) if self.lanes_by_warp is None else self.lanes_by_warp
        return self.order(rows, bits).ravel(), self.caches(rows), lanes

    def crowd(self, rows: Rows) -> int:
        return rows.warps(self._each)[1]

    def most_warps(self, rows: Rows) -> int:
        return rows.warps(self._each)[1] // WARP

    @cached_property
    def _absent(self) -> Flags:
        assert self.active is not None
        return ~self.active

    @property
    def parts(self) -> bool:
        return self.width < 32

    @property
    def first_word(self) -> Keys:
        return self.first_byte >> np.uint32(2)

    @property
    def first_byte(self) -> Keys:
        """Of each use, in its sector."""
        place = self.place
        return (place & place.dtype.type(31)).astype(np.uint32)

    def first_bytes(self, row: Index, lane: Index) -> Keys:
        """Of some uses."""
        place = self.root.place[row, lane]
        return (place + place.dtype.type(self.by & 31) & place.dtype.type(31)).astype(np.uint32)

    @property
    def stored_words(self) -> int:
        return (1 << self.width // 4) - 1

    @property
    def touched_words(self) -> int:
        """The words of a use, the first as bit 0, be it of less than one."""
        return self.stored_words or 1

    def ordinary(self) -> tuple[Footprint, int]:
        """The same worked out as if it were in order, and the line that it is relative to."""
        start = self.ends[0]
        address = self.geometry.warps.gather(self.place.astype(np.int64)) - start * LINE
        return Footprint(self.geometry, self.rows, address, self.mask, self.width), start

    def _of_lanes(self, values: Keys) -> Keys:
        """Those of the active lanes."""
        return values.ravel() if self.taken is None else values.take(self.taken)

    @property
    def sectors_of_lanes(self) -> Keys:
        """Those of the active lanes, a copy."""
        return self._of_lanes(self.sector)

    @cached_property
    def _entries(self) -> tuple[Index, Index]:
        """(line, home) ascending, and the words of each."""
        home = np.repeat(np.arange(self.rows.where.size), self._each) if self.by_row else self.rows.warps(self._each)[0]
        self._shift = int(home.max()).bit_length()  # of the line
        bits = self._shift + 5
        line: Keys = self._of_lanes(self.sector) >> 2
        if int(line.max()).bit_length() + bits > 8 * line.itemsize:
            line = line.astype(np.int64)
        home = (home << 5).take(self._warp_of_lanes)
        word = self._of_lanes(self.place) >> 2 & 31
        key: Keys = line << bits | home.astype(line.dtype) | word.astype(line.dtype)
        key = different(key)
        return _together(key >> 5, np.int64((1 << max(1, self.width // 4)) - 1) << (key & 31).astype(np.int64))

    @property
    def _warp_of_lanes(self) -> Index:
        """The warp of each active lane."""
        return np.repeat(np.arange(len(self.place)), WARP) if self.taken is None else self.taken // WARP

    @cached_property
    def sectors(self) -> Index:
        """Of each entry, a bit each."""
        return sectors_of(self.words)

    @cached_property
    def outline(self) -> Outline:
        key = self._entries[0]
        return Outline(key & (1 << self._shift) - 1, key >> self._shift, self.by_row, once=True)

    @cached_property
    def units(self) -> Index:
        return count_in_rows(self._new[1])

    @property
    def each_sector(self) -> Index:
        ordered, new = self._new
        return ordered.ravel().compress(new.ravel()).astype(np.int64)

    @cached_property
    def words(self) -> Index:
        return self._entries[1]

    @cached_property
    def asked(self) -> Demand:
        return Whole(self.sectors, lambda: Demand(self.first))

    @cached_property
    def fetched(self) -> Demand:
        lines = self.outline.lines
        sectors = self.sectors if lines.starts is None else lines.united(self.sectors)
        return Demand(sectors * SECTOR_WORDS, sectors)

    @cached_property
    def read(self) -> Demand:
        lines = self.outline.lines
        return self.asked if lines.starts is None else Whole(lines.united(self.sectors), self.read_exactly)

    @property
    def changed(self) -> Demand:
        return self.fetched  # of lines that have their sectors


def _together(key: Keys, bits: Index) -> tuple[Index, Index]:
    """The different ones of ascending keys, and the bits of each."""
    starts = firsts(key)
    if starts.size == key.size:
        return key.astype(np.int64), bits
    return key.take(starts).astype(np.int64), summed(bits, starts)


def count_sectors(some: list[Scattered], sector: Keys, nowhere: int) -> None:
    """See measure, of accesses whose warps' sectors, or other names of them, are given; lanes that take no part have the highest one."""
    sector.sort(axis=1)
    new = first_in_row(sector)
    if any(f.active is not None for f in some):
        new &= sector != nowhere
    units, ends = count_in_rows(new), list(accumulate([f.height for f in some]))
    totals = np.add.reduceat(units, [0, *ends[:-1]]).tolist()
    for f, begin, end, total in zip(some, [0, *ends[:-1]], ends, totals, strict=True):
        f.total, at = total, int(units[begin:end].argmax())
        f.worst = at, units.item(begin + at)


def _nowhere(sector: Keys) -> int:
    return int(np.iinfo(sector.dtype).max)


def scattered(g: Geometry, rows: Rows, address: Value, mask: Array | None, width: int, *, waits: bool = False) -> Scattered | None:
    """The footprint of an access in disorder; None if it has some order.  Of one that waits it is enough that some lanes seem to have none."""
    ends = None
    if mask is None and isinstance(address, Shifted):
        ends = (address.facts.low + address.delta) // LINE, (address.facts.high + address.delta) // LINE
    f = Scattered(g, rows, g.warps.spread(places_of(address)), mask, width, ends)
    return f if f.count and (waits or 3 * f.total >= f.count) else None


def places_of(address: Value) -> Keys:
    """Addresses as short numbers, if they are."""
    if not isinstance(address, Shifted):
        return _short(address, 0, int(address.max()))
    return _short(address.base, address.delta, address.facts.high + address.delta)


def _short(base: Array, delta: int, highest: int) -> Keys:
    place: Keys = base.astype(np.uint32) if highest < 1 << 32 else base.astype(np.int64)
    if delta:
        place += place.dtype.type(delta & (1 << 32) - 1 if place.dtype == np.uint32 else delta)
    return place
