"""Caches that hold all they are ever asked for: their uses, in order by sector, tell how many sectors each fetches, and for whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .fresh import Fresh
from .fresh_tables import SILENT, Used
from .lanes import repeated
from .uses import SECTOR_BITS, Way

if TYPE_CHECKING:
    from .fresh_rows import Lives

Index = NDArray[np.int64]
Keys = NDArray[Any]
MOST = 3 << 22  # uses
WASTE = 3  # times as many places as uses


class Sets:
    """The uses of some accesses as numbers, sector and turn, a row for each cache: short rows are put in order much faster than all at once."""

    def __init__(self, fresh: Fresh, chosen: list[Used], lives: Lives, lines: int) -> None:
        self.fresh, self.chosen, self.lives, self.lines = fresh, chosen, lives, lines
        self.turn_bits = (len(chosen) - 1).bit_length()
        bits = self.turn_bits + fresh.nowhere.bit_length()
        self.kind: Any = np.uint32 if bits < 32 else np.uint64
        turns = 1 << self.turn_bits  # the last may also stand for nobody
        self.codes, self.loads, self.parts = np.zeros(turns, np.uint8), np.zeros(turns, np.bool_), np.zeros(turns, np.bool_)
        for turn, u in enumerate(chosen):
            self.codes[turn] = u.code if u.way is Way.LOAD else SILENT
            self.loads[turn], self.parts[turn] = u.way is Way.LOAD, u.parts
        self.tables = sorted({u.table for u in chosen})
        self.rows = [self._rows_of(table) for table in self.tables]
        sizes = [np.bincount(lives.of[table][rows], minlength=lives.count) for table, (rows, _) in zip(self.tables, self.rows, strict=True)]
        each = [fresh.tables[table].sectors.shape[1] for table in self.tables]
        self.widths = [int(size.max()) * n for size, n in zip(sizes, each, strict=True)]
        used = sum(sizes, np.zeros(lives.count, np.int64)) > 0
        self.place = np.cumsum(used) - 1  # of each cache's row
        self.count = int(self.place[-1]) + 1
        uses = sum(int(size.sum()) * n for size, n in zip(sizes, each, strict=True))
        self.fits = bits < 64 and uses <= MOST and self.count * sum(self.widths) <= WASTE * uses

    def missed(self) -> list[int] | None:
        """The sectors that caches fetch for each code.

        None if a cache overflows, or if a part of a sector was stored before the sector was loaded.
        """
        keys = self._keys()
        groups, nobody = len(self.fresh.groups), keys.dtype.type(np.iinfo(keys.dtype).max)
        there, flat = keys != nobody, keys.ravel()
        apart = flat[1:] ^ flat[:-1]  # row by row it would take longer
        new, lines = (there.copy() for _ in range(2))
        for some, bits in ((new, self.turn_bits), (lines, self.turn_bits + SECTOR_BITS)):
            some.ravel()[1:] &= apart >= keys.dtype.type(1 << bits)
            some[:, 0] = there[:, 0]
        if int(np.count_nonzero(lines, axis=1).max()) > self.lines:
            return None
        if self.parts.any() and self._are_loaded_in_part(keys.ravel(), new.ravel().nonzero()[0]):
            return None
        found: list[int] = np.bincount(self.codes.take(self._turn(flat.compress(new.ravel()))), minlength=groups)[:groups].tolist()
        return found

    def _are_loaded_in_part(self, keys: Keys, starts: Index) -> bool:
        parted = self.parts.take(self._turn(keys.take(starts)))
        if not parted.any():
            return False
        loads = self.loads.take(self._turn(keys))
        loads &= keys != np.iinfo(keys.dtype).max
        many = np.append(0, np.cumsum(loads, dtype=np.int32))
        begins, ends = many.take(starts), many.take(np.append(starts[1:], keys.size))
        return bool((parted & (begins < ends)).any())

    def _turn(self, keys: Keys) -> Index:
        found: Index = keys.astype(np.int64) & (1 << self.turn_bits) - 1
        return found

    def _rows_of(self, table: int) -> tuple[Any, list[tuple[int, Used]]]:
        """The rows of a table that are used, and by whom."""
        some = [(turn, u) for turn, u in enumerate(self.chosen) if u.table == table]
        gaps = sum(u.end - u.begin for _, u in some) < some[-1][1].end - some[0][1].begin
        return np.concatenate([np.arange(u.begin, u.end) for _, u in some]) if gaps else slice(some[0][1].begin, some[-1][1].end), some

    def _keys(self) -> Keys:
        """A row for each cache, in order; places that nobody needs have the highest number."""
        out = np.full((self.count, sum(self.widths)), np.iinfo(self.kind).max, self.kind)
        end = 0
        for table, (rows, some), width in zip(self.tables, self.rows, self.widths, strict=True):
            t, cache = self.fresh.tables[table], self.place.take(self.lives.of[table][rows])
            order = np.argsort(cache.astype(np.uint16) if self.count < 1 << 16 else cache, kind="stable")
            turn = repeated([turn for turn, _ in some], [u.end - u.begin for _, u in some], self.kind)
            sectors = t.sectors[rows].take(order, axis=0)
            keys = sectors.astype(self.kind)
            keys <<= self.kind(self.turn_bits)
            keys |= turn.take(order)[:, None]
            if t.masked:
                np.putmask(keys, sectors == self.fresh.nowhere, self.kind(np.iinfo(self.kind).max))
            cache = cache.take(order)
            many = np.bincount(cache, minlength=self.count)
            at = np.arange(cache.size) - (np.cumsum(many) - many).take(cache)
            out[:, end : end + width].reshape(self.count, -1, sectors.shape[1])[cache, at] = keys
            end += width
        out.sort(axis=1)
        return out
