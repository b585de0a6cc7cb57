"""What one access of a group touches, worked out once for accesses that differ by a multiple of a line.

A footprint has an entry for each different line that the warps of one multiprocessor touch, relative to the access's first line.  Loops
that walk through memory, and waves that do the same further on, meet few different footprints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..geometry import Geometry
from ..values import Array
from .lanes import lanes_of
from .tables import Groups, count_bits, sectors_of
from .touch import Lanes, touch

Index = NDArray[np.int64]
LINE = 128
SECTOR = 32
ROOM = 1 << 25  # bytes of footprints that are remembered
_HOME_BITS = 20  # of a key; the line stands above


@dataclass(frozen=True, slots=True, eq=False)
class Footprint:
    """Lines by home; a home is a row of the group where every block has a multiprocessor of its own, else the multiprocessor."""

    relative: Array  # in the group's shape
    geometry: Geometry
    width: int
    by_row: bool
    where: Index  # the multiprocessor of each row when this was made
    lanes: Lanes  # relative
    units: Index  # sectors of each warp
    total: int  # sectors
    requests: int
    count: int  # lanes
    ideal: int
    home: Index
    line: Index
    words: Index  # that any warp touches
    first: Index  # of each sector, those of the warp that comes first
    each: Index  # sectors, warp by warp
    span: tuple[int, int]  # the lowest and the highest line

    def multiprocessors(self, rows: Index) -> Index:
        """Of each entry, when the group's rows run on these."""
        return rows[self.home] if self.by_row else self.home


class Footprints:
    """The footprints that were met lately, by any launch."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, int, int, int, tuple[int, int]], Footprint] = {}
        self.room = ROOM

    def of(self, g: Geometry, rows: Index, address: Array, mask: Array | None, width: int) -> tuple[Footprint, int]:
        """The footprint of an access by a group whose rows run on these multiprocessors, and the line that it is relative to."""
        if mask is None or address.size == 1:
            lowest = address.min()
        else:
            wide, where = np.broadcast_arrays(address, mask)
            lowest = wide.min(where=where, initial=address.max())
        start = int(lowest) // LINE
        relative = (address.view(np.int64) if address.dtype.itemsize == 8 else address.astype(np.int64)) - start * LINE
        if mask is not None:
            return make(g, rows, relative, mask, width), start
        key = (width, int(relative[0, 0]), int(relative[0, -1]), int(relative[-1, -1]), g.shape)
        found = self.known.get(key)
        if found is not None and _same(found, g, rows, relative):
            return found, start
        made = make(g, rows, relative, None, width)
        self.room -= 6 * 8 * made.line.size + 2 * relative.nbytes + 500
        if self.room < 0:
            self.known.clear()
            self.room = ROOM
        self.known[key] = made
        return made, start


def _same(f: Footprint, g: Geometry, rows: Index, relative: Array) -> bool:
    if not np.array_equal(f.relative, relative) or not (f.geometry is g or _alike(f.geometry, g)):
        return False
    if not f.by_row and not np.array_equal(f.where, rows):
        return False
    return not f.by_row or _apart(rows)


def _alike(a: Geometry, b: Geometry) -> bool:
    """Are these the same lanes of the same warps?"""
    if a.warps.aligned or b.warps.aligned:
        return bool(a.warps.aligned and b.warps.aligned)
    return np.array_equal(a.thread, b.thread) and np.array_equal(a.block, b.block)


def _apart(rows: Index) -> bool:
    """Does every row run on a multiprocessor of its own?"""
    return len(set(rows.tolist())) == rows.size


def make(g: Geometry, rows: Index, relative: Array, mask: Array | None, width: int) -> Footprint:
    """The footprint of an access, found from all its words."""
    lanes = lanes_of(g, relative, mask)
    t = touch(lanes, width)
    layout = g.warps
    by_row = layout.aligned and _apart(rows)
    if layout.aligned:
        row = t.warp // (g.shape[1] // 32)
        home = row if by_row else rows[row]
    else:
        home = rows[t.warp]
    groups = Groups.of(t.line << _HOME_BITS | home)
    sectors = sectors_of(t.words)
    new = sectors & ~groups.earlier(sectors)
    first = groups.first
    count = count_bits(sectors)
    each = count if groups.alone else np.add.reduceat(count[groups.order], groups.starts) if t.line.size else count
    return Footprint(
        relative=relative,
        geometry=g,
        width=width,
        by_row=by_row,
        where=rows,
        lanes=lanes,
        units=t.sectors,
        total=int(t.sectors.sum()),
        requests=lanes.requests,
        count=lanes.count,
        ideal=ideal_sectors(lanes, width),
        home=home[first],
        line=t.line[first],
        words=groups.united(t.words),
        first=groups.united(t.words & new * 0xFF),
        each=count[groups.order] if groups.alone else each,
        span=(int(t.line.min()), int(t.line.max())) if t.line.size else (0, 0),
    )


def ideal_sectors(lanes: Lanes, width: int) -> int:
    """Sectors had each warp's active lanes been neighbours."""
    if lanes.active is None:
        return lanes.warps * -(-32 * width // SECTOR)
    return int((-(-np.count_nonzero(lanes.active, axis=1) * width // SECTOR)).sum())


footprints = Footprints()
