"""The sectors of an access warp by warp: all that is to know where no part of a sector matters."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from ..flags import any_in_rows
from ..memory.warps import count_in_rows, first_in_row
from .sectors import LINE, SECTOR, SECTOR_SHIFT, firsts
from .touch import WARP, Lanes

Index = NDArray[np.int64]
WARP_SHIFT = 5
LINE_SHIFT = LINE.bit_length() - 1
LINE_BITS = 28  # of a key; the warp stands above
NOWHERE, FAR = 0xFFFFFFFF, (1 << 63) - 1
SHORT = 1 << 36  # places below that have short numbers of sectors


@dataclass(frozen=True, slots=True)
class Packed:
    """The sectors of each warp, each once."""

    units: Index  # how many each warp has
    warp: Index
    sector: Index
    most: int | None = None  # lines of a warp, if that is known

    @staticmethod
    def of(lanes: Lanes) -> Packed:
        """Those that an access touches, warp by warp."""
        where = lanes.where
        low, high = (int(where.min()), int(where.max())) if where.shape[1] > 1 else (0, 0)
        if low >> SECTOR_SHIFT == high >> SECTOR_SHIFT:  # one sector for each warp
            units: Index = any_in_rows(lanes.mask).astype(np.int64)
            warp = units.nonzero()[0]
            return Packed(units, warp, lanes.full[warp, 0] >> SECTOR_SHIFT)
        kind, nowhere = (np.uint32, NOWHERE) if low >= 0 and high < SHORT else (np.int64, FAR)  # short ones are faster
        sector = np.empty(where.shape, kind)
        np.right_shift(where, SECTOR_SHIFT, out=sector, casting="unsafe")
        if lanes.active is not None:
            np.putmask(sector, ~lanes.active, nowhere)
        flat = sector.ravel()
        down = flat[1:] < flat[:-1]
        down[WARP - 1 :: WARP] = False  # from warp to warp
        if down.any():
            sector.sort(axis=1)
        new = first_in_row(sector)
        if lanes.active is not None:
            new &= sector != nowhere
        at = new.ravel().nonzero()[0]
        return Packed(count_in_rows(new), at >> WARP_SHIFT, flat.take(at).astype(np.int64, copy=False))

    @staticmethod
    def of_run(warps: int, lanes: int, offset: int, width: int) -> Packed:
        """The same of so many lanes in order that use neighbouring places from there on."""
        each = (offset % SECTOR + width * WARP - 1 >> SECTOR_SHIFT) + 1
        warp, sector = _from_the_first(warps, each, width)
        missing = sector.item(-1) + (offset >> SECTOR_SHIFT) - (offset + lanes * width - 1 >> SECTOR_SHIFT)  # of the last warp
        units = np.full(warps, each)
        units[-1] -= missing
        return Packed(units, warp[: warp.size - missing], sector[: warp.size - missing] + (offset >> SECTOR_SHIFT))

    def further(self, by: int) -> Packed:
        """So many sectors further on."""
        return Packed(self.units, self.warp, self.sector + by) if by else self

    def crowd(self, cache: Index) -> int:
        """Lines at most that one cache is asked for, by the cache of each use; those of each warp are counted."""
        if not cache.size:
            return 0
        line = self.sector >> LINE_SHIFT - SECTOR_SHIFT
        line |= self.warp << LINE_BITS
        return int(np.bincount(cache.take(firsts(line))).max())


@lru_cache(maxsize=64)
def _from_the_first(warps: int, each: int, width: int) -> tuple[Index, Index]:
    """The warp and the sector of each use of a run, if a warp uses so many, and the first one begins with sector 0."""
    return np.repeat(np.arange(warps), each), (width * np.arange(warps)[:, None] + np.arange(each)).ravel()
