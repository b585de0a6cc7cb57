"""Caches that hold all they are ever asked for: sorted by sector, uses tell how many sectors each cache fetches, and for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .fresh import SILENT, WARPS, Fresh, Used
from .lanes import repeated
from .uses import PIECE, SECTOR_BITS, Way

if TYPE_CHECKING:
    from .fresh_order import Lives

Index = NDArray[np.int64]
Keys = NDArray[np.uint64]
MOST = 1 << 22  # uses


class Sets:
    """The uses of some accesses as numbers: cache, sector, turn."""

    def __init__(self, fresh: Fresh, chosen: list[Used], lives: Lives, lines: int) -> None:
        self.fresh, self.chosen, self.lives, self.lines = fresh, chosen, lives, lines
        self.turn_bits = (len(chosen) - 1).bit_length()
        self.place = self.turn_bits + fresh.nowhere.bit_length()  # bits of all but the cache
        self.codes = np.array([u.code if u.way is Way.LOAD else SILENT for u in chosen], np.uint8)
        self.loads = np.array([u.way is Way.LOAD for u in chosen])
        self.parts = np.array([u.parts for u in chosen])

    @property
    def fits(self) -> bool:
        """Is a number long enough, and are these not too many?"""
        if self.place + (self.lives.count - 1).bit_length() > 63:
            return False
        return sum([u.waiting.f.count if u.table == WARPS else u.end - u.begin for u in self.chosen]) <= MOST

    def missed(self) -> list[int] | None:
        """The sectors that caches fetch for each code.

        None if a cache overflows, or if a part of a sector was stored before the sector was loaded.
        """
        keys = np.concatenate([self._keys(table) for table in sorted({u.table for u in self.chosen})])
        keys.sort()
        groups = len(self.fresh.groups)
        new = np.ones(keys.size, np.bool_)
        np.greater_equal(keys[1:] ^ keys[:-1], np.uint64(1 << self.turn_bits), out=new[1:])
        first = keys[new]
        line = first >> np.uint64(self.turn_bits + SECTOR_BITS)
        begins = np.ones(line.size, np.bool_)
        np.not_equal(line[1:], line[:-1], out=begins[1:])
        cache = (line[begins] >> np.uint64(self.place - self.turn_bits - SECTOR_BITS)).astype(np.int64)
        if int(np.bincount(cache).max()) > self.lines:
            return None
        if self.parts.any() and self._are_loaded_in_part(keys, new.nonzero()[0]):
            return None
        found: list[int] = np.bincount(self.codes.take(self._turn(first)), minlength=groups)[:groups].tolist()
        return found

    def _are_loaded_in_part(self, keys: Keys, starts: Index) -> bool:
        parted = self.parts.take(self._turn(keys.take(starts)))
        if not parted.any():
            return False
        loads = np.append(0, np.cumsum(self.loads.take(self._turn(keys)), dtype=np.int32))
        begins, ends = loads.take(starts), loads.take(np.append(starts[1:], keys.size))
        return bool((parted & (begins < ends)).any())

    def _turn(self, keys: Keys) -> Index:
        found: Index = keys.astype(np.int64) & (1 << self.turn_bits) - 1
        return found

    def _keys(self, table: int) -> Keys:
        """The uses of a table's rows."""
        t, of, some = self.fresh.tables[table], self.lives.of[table], [(turn, u) for turn, u in enumerate(self.chosen) if u.table == table]
        sizes = [u.end - u.begin for _, u in some]
        rest = repeated([turn for turn, _ in some], sizes)
        gaps = int(sum(sizes)) < some[-1][1].end - some[0][1].begin
        where: Any = np.concatenate([np.arange(u.begin, u.end) for _, u in some]) if gaps else slice(some[0][1].begin, some[-1][1].end)
        rest += of[where] << self.place
        sectors = t.sectors[where]
        out = np.empty(sectors.shape, np.uint64)
        step = max(1, PIECE // sectors.shape[1])
        for a in range(0, len(out), step):
            part = out[a : a + step]
            np.left_shift(sectors[a : a + step], np.uint64(self.turn_bits), out=part, dtype=np.uint64)
            part += rest[a : a + step].astype(np.uint64)[:, None]
        return out[sectors != self.fresh.nowhere] if t.masked else out.ravel()
