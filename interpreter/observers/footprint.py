"""What one access of a group touches, worked out once for accesses that differ by a multiple of a line.

A footprint has an entry for each different line that the warps of one multiprocessor touch, relative to the access's first line.  Loops
that walk through memory, and waves that do the same further on, meet few different footprints; mostly the facts that an address carries
tell which.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..geometry import Geometry
from ..values import Array, Facts, Shifted, Value, plain
from .l2 import Lines
from .lanes import lanes_of
from .pages import PAGE, Pages, Place
from .sectors import Demand, Groups, count_bits, sectors_of
from .touch import Lanes, touch

Index = NDArray[np.int64]
LINE = 128
SECTOR = 32
ROOM = 1 << 26  # bytes of footprints that are remembered
PLACES = 64  # of an outline that are remembered
OUTLINES = 256
_HOME_BITS = 20  # of a key; the line stands above


class Rows:
    """The multiprocessor of each row of an aligned group, else of each warp; the same object wherever they are the same."""

    __slots__ = ("apart", "caches", "where")
    known: ClassVar[dict[tuple[bytes, int], Rows]] = {}

    def __init__(self, where: Index, caches: int) -> None:
        self.where, self.caches = where, caches
        self.apart = len(set(where.tolist())) == where.size  # every row has a multiprocessor of its own

    @staticmethod
    def of(where: Index, caches: int) -> Rows:
        """These multiprocessors, of so many."""
        key = (where.tobytes(), caches)
        found = Rows.known.get(key)
        if found is None:
            if len(Rows.known) >= 512:
                Rows.known.clear()
            found = Rows.known[key] = Rows(where, caches)
        return found


class Outline:
    """The lines of an access by home: a row of the group where every block has a multiprocessor of its own, else the multiprocessor."""

    __slots__ = ("by_row", "home", "line", "lines", "pages", "places")
    known: ClassVar[dict[tuple[bytes, bytes, bool], Outline]] = {}

    def __init__(self, home: Index, line: Index, by_row: bool) -> None:
        self.home, self.line, self.by_row = home, line, by_row  # lines ascend
        self.lines = Lines.of(line)
        self.places: dict[tuple[int, Rows], Place] = {}
        self.pages: dict[int, Pages] = {}

    @staticmethod
    def of(home: Index, line: Index, by_row: bool) -> Outline:
        """The same object for all that are alike."""
        key = (home.tobytes(), line.tobytes(), by_row)
        found = Outline.known.get(key)
        if found is None:
            if len(Outline.known) >= OUTLINES:
                Outline.known.clear()
            found = Outline.known[key] = Outline(home, line, by_row)
        return found

    def place(self, start: int, rows: Rows) -> Place:
        """Where the lines lie in the caches, when the first is `start` and the group's rows run on these."""
        key = (start % PAGE, rows)
        found = self.places.get(key)
        if found is None:
            if len(self.places) >= PLACES:
                self.places.clear()
            pages = self.pages.get(start % PAGE)
            if pages is None:
                pages = self.pages[start % PAGE] = Pages(self.home, self.line + start % PAGE)
            found = self.places[key] = Place(pages, rows.where[self.home] if self.by_row else self.home, rows.caches)
        return found


@dataclass(eq=False)
class Footprint:
    """What an access touches; an entry for each home and line."""

    relative: Array | None  # in the group's shape; None: consecutive elements, or one
    geometry: Geometry
    width: int
    rows: Rows  # when this was made
    lanes: Lanes  # relative
    units: Index  # sectors of each warp
    total: int  # sectors
    requests: int
    count: int  # lanes
    ideal: int
    outline: Outline
    words: Index  # that any warp touches
    first: Index  # of each sector, those of the warp that comes first
    each: Index  # sectors, warp by warp

    @cached_property
    def worst(self) -> tuple[int, int]:
        """The warp with the most sectors, and how many."""
        at = int(self.units.argmax())
        return at, self.units.item(at)

    @cached_property
    def asked(self) -> Demand:
        """What each home asks for first."""
        return Demand(self.first)

    @cached_property
    def touched(self) -> Demand:
        """What each home touches."""
        return Demand(self.words)

    @cached_property
    def fetched(self) -> Demand:
        """Whole sectors of each line, as a cache that has none of them asks for them."""
        return Demand(self.outline.lines.united(self.asked.wanted))

    @cached_property
    def read(self) -> Demand:
        """What is read of each line past the caches, each sector as the first who comes wants it."""
        if self.outline.lines.starts is None:
            return self.asked
        groups = Groups.of(self.outline.line)
        return Demand(groups.united(self.first & ~(groups.earlier(self.asked.sectors) * 0xFF)))

    @cached_property
    def written(self) -> Demand:
        """What is written of each line."""
        return self.touched if self.outline.lines.starts is None else Demand(self.outline.lines.united(self.words))


Key = tuple[int, int, int, int, tuple[int, int]]


class Footprints:
    """The footprints that were met lately, by any launch."""

    def __init__(self) -> None:
        self.known: dict[Key, Footprint] = {}
        self.room = ROOM

    def of(self, g: Geometry, rows: Rows, address: Value, mask: Array | None, width: int) -> tuple[Footprint, int]:
        """The footprint of an access by a group whose rows run on these multiprocessors, and the line that it is relative to."""
        if mask is not None or not isinstance(address, Shifted):
            return self._plain(g, rows, plain(address), mask, width)
        facts = address.facts
        low, beyond = facts.low + address.delta, 1 << min(63, 8 * facts.base.itemsize)
        if low < 0 or facts.high + max(address.delta, 0) >= beyond:  # it goes round
            return self._plain(g, rows, plain(address), mask, width)
        start, offset = divmod(low, LINE)
        note = (offset, width, id(g))
        found: tuple[Footprint, Geometry, Rows] | None = facts.notes.get(note)
        if found is not None and found[1] is g and found[2] is rows:
            return found[0], start
        f = self._by_facts(g, rows, facts, offset, width)
        facts.notes[note] = (f, g, rows)
        return f, start

    def _by_facts(self, g: Geometry, rows: Rows, facts: Facts, offset: int, width: int) -> Footprint:
        base, shift = facts.base, width.bit_length() - 1
        if base.size == 1 or (base.size == g.n and facts.is_run(shift)):
            key, relative = (width, offset, -1, min(base.size, 2), g.shape), None
        else:
            relative = base.astype(np.int64) - (facts.low - offset)
            key = (width, int(relative[0, 0]), int(relative[0, -1]), int(relative[-1, -1]), g.shape)
        found = self.known.get(key)
        if found is not None and _same(found, g, rows, relative):
            return found
        whole = relative if relative is not None else base.astype(np.int64) - (facts.low - offset)
        return self._remember(key, make(g, rows, whole, None, width, relative))

    def _plain(self, g: Geometry, rows: Rows, address: Array, mask: Array | None, width: int) -> tuple[Footprint, int]:
        if mask is None or address.size == 1:
            lowest = address.min()
        else:
            wide, where = np.broadcast_arrays(address, mask)
            lowest = wide.min(where=where, initial=address.max())
        start = int(lowest) // LINE
        relative = (address.view(np.int64) if address.dtype.itemsize == 8 else address.astype(np.int64)) - start * LINE
        if mask is not None:
            return make(g, rows, relative, mask, width, relative), start
        key = (width, int(relative[0, 0]), int(relative[0, -1]), int(relative[-1, -1]), g.shape)
        found = self.known.get(key)
        if found is not None and _same(found, g, rows, relative):
            return found, start
        return self._remember(key, make(g, rows, relative, None, width, relative)), start

    def _remember(self, key: Key, made: Footprint) -> Footprint:
        self.room -= 150 * made.words.size + 8 * made.lanes.where.size + 1000
        if self.room < 0:
            self.known.clear()
            Outline.known.clear()
            self.room = ROOM
        self.known[key] = made
        return made


def _same(f: Footprint, g: Geometry, rows: Rows, relative: Array | None) -> bool:
    if f.rows is not rows and not (f.outline.by_row and rows.apart):
        return False
    if relative is not None and (f.relative is None or not np.array_equal(f.relative, relative)):
        return False
    return f.geometry is g or _alike(f.geometry, g)


def _alike(a: Geometry, b: Geometry) -> bool:
    """Are these the same lanes of the same warps?"""
    if a.warps.aligned or b.warps.aligned:
        return bool(a.warps.aligned and b.warps.aligned)
    return np.array_equal(a.thread, b.thread) and np.array_equal(a.block, b.block)


def make(g: Geometry, rows: Rows, relative: Array, mask: Array | None, width: int, kept: Array | None) -> Footprint:
    """The footprint of an access, found from all its words."""
    lanes = lanes_of(g, relative, mask)
    t = touch(lanes, width)
    layout = g.warps
    by_row = layout.aligned and rows.apart
    if layout.aligned:
        row = t.warp // (g.shape[1] // 32)
        home = row if by_row else rows.where[row]
    else:
        home = rows.where[t.warp]
    groups = Groups.of(t.line << _HOME_BITS | home)
    sectors = sectors_of(t.words)
    new = sectors & ~groups.earlier(sectors)
    first = groups.first
    count = count_bits(sectors)
    each = count if groups.alone else np.add.reduceat(count[groups.order], groups.starts) if t.line.size else count
    return Footprint(
        relative=kept,
        geometry=g,
        width=width,
        rows=rows,
        lanes=lanes,
        units=t.sectors,
        total=int(t.sectors.sum()),
        requests=lanes.requests,
        count=lanes.count,
        ideal=ideal_sectors(lanes, width),
        outline=(Outline.of if mask is None else Outline)(home[first], t.line[first], by_row),
        words=groups.united(t.words),
        first=groups.united(t.words & new * 0xFF),
        each=count[groups.order] if groups.alone else each,
    )


def ideal_sectors(lanes: Lanes, width: int) -> int:
    """Sectors had each warp's active lanes been neighbours."""
    if lanes.active is None:
        return lanes.warps * -(-32 * width // SECTOR)
    return int((-(-np.count_nonzero(lanes.active, axis=1) * width // SECTOR)).sum())


footprints = Footprints()
