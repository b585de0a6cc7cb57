"""Accesses whose lanes mostly go on from sector to sector: only where they do not is looked at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..vector.lanes import WarpLayout
from ..vector.values import Array
from .packed import Packed
from .sectors import LINE, SECTOR, SECTOR_SHIFT, firsts
from .touch import WARP

Index = NDArray[np.int64]
LINE_SHIFT = LINE.bit_length() - 1
SECTOR_BITS = 44  # of a key; the warp stands above
SHORT = 4  # lanes of a section, on the average, that are too few to be worth it


@dataclass(frozen=True, slots=True)
class Sections:
    """Lanes of a warp that stand one after the other and pass over no sector: the first place and the last one of each section."""

    low: Index
    high: Index
    warp: Index
    begins: Index | None  # the first section of each warp; None: each has one
    width: int  # if all lanes of a section use neighbouring places, so many bytes each; else 0

    @staticmethod
    def of(place: Array, layout: WarpLayout, width: int) -> Sections | None:
        """Those of all lanes of a group; None where there are many."""
        flat = place.ravel()
        steps = flat[1:] - flat[:-1]
        begins = np.empty(flat.size, np.bool_)
        np.greater(steps.view(f"u{steps.itemsize}"), SECTOR, out=begins[1:])  # backwards is far, too
        if layout.aligned:
            begins[::WARP] = True
        else:
            begins[layout.starts] = True
        at = begins.nonzero()[0]
        if at.size * SHORT > flat.size and at.size > layout.count:
            return None
        ends = np.empty_like(at)
        ends[:-1], ends[-1] = at[1:], flat.size
        low, high = flat.take(at), flat.take(ends - 1)
        if low.itemsize < 8:
            low, high = low.astype(np.int64), high.astype(np.int64)
        neighbours = int(high.sum() - low.sum()) == width * (flat.size - at.size)
        if neighbours:
            far = steps != width
            neighbours = bool((far <= begins[1:]).all())
        if at.size == layout.count:
            return Sections(low, high, layout.numbers, None, width if neighbours else 0)
        warp = (at if layout.aligned else layout.position.take(at)) >> 5
        return Sections(low, high, warp, firsts(warp), width if neighbours else 0)

    def parts(self, by: int) -> bool:
        """So many bytes further on, does some section not use whole sectors?"""
        if not self.width:
            return True
        return bool(((self.low + by) % SECTOR).any() or ((self.high + (by + self.width)) % SECTOR).any())

    def packed(self, by: int) -> Packed | None:
        """The sectors of each warp, so many bytes further on; None where they are too far up."""
        first, last = self.low + by, self.high + by
        most = None
        if self.begins is None:
            most = int(((last >> LINE_SHIFT) - (first >> LINE_SHIFT)).max()) + 1
        first >>= SECTOR_SHIFT
        last >>= SECTOR_SHIFT
        if self.begins is not None:
            further = first[1:] - last[:-1]
            further[self.begins[1:] - 1] = 1
            if int(further.min()) >= 0:
                first[1:] += further == 0  # it begins in the sector in which the one before ends
            elif int(last.max()) >> SECTOR_BITS:
                return None
            else:
                first, last = self._in_order(first, last)
        count = last - first
        count += 1
        units = count if self.begins is None else np.add.reduceat(count, self.begins)
        each = int(count.max())
        if each * count.size == int(count.sum()):
            return Packed(units, self.warp.repeat(each), (first[:, None] + np.arange(each)).ravel(), most)
        ends = np.cumsum(count)
        first -= ends
        first += count
        sector = first.repeat(count)
        sector += np.arange(sector.size)
        return Packed(units, self.warp.repeat(count), sector, most)

    def _in_order(self, first: Index, last: Index) -> tuple[Index, Index]:
        """The sections of each warp in the order of their sectors, each less those that come before it has."""
        above = self.warp << SECTOR_BITS
        begin, end = above | first, above | last
        order = begin.argsort()
        begin, end = begin.take(order), end.take(order)
        np.maximum.accumulate(end, out=end)
        np.maximum(begin[1:], end[:-1] + 1, out=begin[1:])
        return begin - above, end - above
