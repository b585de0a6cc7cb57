"""An entry for each line that the warps of one multiprocessor touch, found from all the words of an access."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..vector.lanes import Geometry
from .rows import Rows
from .sectors import LINE, SECTOR, SECTOR_WORDS, Groups, count_bits, sectors_of
from .touch import ALL_WORDS, WARP, Lanes, touch

Index = NDArray[np.int64]
HOME_BITS = 20  # of a key; the line stands above


@dataclass(frozen=True, slots=True)
class Entries:
    """What each home touches of its lines, as lines and then homes ascend."""

    units: Index  # sectors of each warp
    home: Index
    line: Index
    words: Index  # that any warp touches
    first: Index  # of each sector, those of the warp that comes first
    each: Index  # sectors, warp by warp

    @staticmethod
    def of(g: Geometry, rows: Rows, lanes: Lanes, width: int) -> Entries:
        """The entries of an access, found from all its words."""
        t = touch(lanes, width)
        home = homes(g, rows)[t.warp]
        groups = Groups.of(t.line << HOME_BITS | home)
        sectors = sectors_of(t.words)
        new = sectors & ~groups.earlier(sectors)
        first, count = groups.first, count_bits(sectors)
        each = count[groups.order] if groups.alone else np.add.reduceat(count[groups.order], groups.starts)
        return Entries(t.sectors, home[first], t.line[first], groups.united(t.words), groups.united(t.words & new * SECTOR_WORDS), each)

    @staticmethod
    def of_run(g: Geometry, rows: Rows, width: int) -> Entries:
        """The same where lanes, in order, use neighbouring words from the start of a line on, and a warp whole lines."""
        each = width * WARP // LINE
        home = np.repeat(homes(g, rows), each)
        words, sectors = np.full(home.size, ALL_WORDS, np.int64), LINE // SECTOR
        return Entries(np.full(g.warps.count, sectors * each), home, np.arange(home.size), words, words, np.full(home.size, sectors))


def homes(g: Geometry, rows: Rows) -> Index:
    """The home of each warp: its row where all rows have a multiprocessor of their own."""
    if not g.warps.aligned:
        return rows.where
    each = g.shape[1] // WARP
    return np.repeat(np.arange(g.shape[0]) if rows.apart else rows.where, each)


def covered_words(lanes: Lanes, width: int) -> tuple[Index, Index]:
    """(line and warp, words): which words of a line the bytes or halfwords of a warp cover in full."""
    keys, words = [], []
    for place in range(0, 4, width):
        t = touch(Lanes(lanes.full, lanes.mask & (lanes.full & 3 == place), lanes.warps), width)
        keys.append(t.line << HOME_BITS | t.warp)
        words.append(t.words)
    key = np.concatenate(keys)
    if not key.size:
        return key, key
    groups = Groups.of(key)
    all_of = np.diff(groups.starts, append=key.size) == 4 // width
    both = np.bitwise_and.reduceat(np.concatenate(words)[groups.order], groups.starts)
    return key[groups.first][all_of], both[all_of]
