"""One access of a group as the words its warps touch: what coalescing and caches ask, found for all warps at once.

The words of all lanes become keys (warp, word); sorted, their steps from sector to sector and from line to line are the counts.  Lanes
mostly come in ascending order already, so that nothing has to be sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

WARP = 32
WORD_BITS = 42  # of a key; the warp stands above
ALL_WORDS = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Lanes:
    """Addresses by warp: (warps, 32), or (warps, 1) where each warp has one address; `active` None: all lanes."""

    where: Index
    active: Flags | None
    warps: int

    @property
    def count(self) -> int:
        """Active lanes."""
        return self.warps * WARP if self.active is None else int(np.count_nonzero(self.active))

    @property
    def requests(self) -> int:
        """Warps with an active lane."""
        return self.warps if self.active is None else int(np.count_nonzero(self.active.any(axis=1)))

    @property
    def mask(self) -> Flags:
        """(warps, 32), written out."""
        return np.ones((self.warps, WARP), np.bool_) if self.active is None else self.active

    @property
    def full(self) -> Index:
        """(warps, 32), written out."""
        return np.broadcast_to(self.where, (self.warps, WARP))


@dataclass(frozen=True, slots=True)
class Touch:
    """What the warps of one access touch of the lines of a cache: an entry a warp and line."""

    sectors: Index  # of each warp
    warp: Index
    line: Index
    words: Index  # a bit a word of the line


def touch(lanes: Lanes, width: int) -> Touch:
    """The sectors and lines of aligned accesses of `width` bytes (at most 32).

    >>> coalesced = touch(Lanes(np.arange(32)[None, :] * 4, None, 1), 4)
    >>> coalesced.sectors, coalesced.line, hex(coalesced.words[0])
    (array([4]), array([0]), '0xffffffff')
    """
    each = max(1, width // 4)
    word = lanes.where >> 2
    bits = np.int64((1 << each) - 1)
    if word.shape[1] == 1 and WARP > 1:
        row = np.flatnonzero(lanes.active.any(axis=1)) if lanes.active is not None else np.arange(lanes.warps)
        at = np.broadcast_to(word[:, 0], (lanes.warps,))[row]
        sectors = np.zeros(lanes.warps, np.int64)
        sectors[row] = 1
        return Touch(sectors, row, at >> 5, bits << (at & 31))
    keys = word | (np.arange(lanes.warps, dtype=np.int64) << WORD_BITS)[:, None]
    key = keys.ravel() if lanes.active is None else keys[lanes.active]
    if not key.size:
        none = np.zeros(0, np.int64)
        return Touch(np.zeros(lanes.warps, np.int64), none, none, none)
    steps = key[1:] - key[:-1]
    if steps.size and int(steps.min()) < 0:
        key = np.sort(key)
        steps = key[1:] - key[:-1]
    lines = key >> 5
    starts = np.flatnonzero(np.concatenate(([True], lines[1:] != lines[:-1])))
    first = lines[starts]
    if key.size * each == starts.size * WARP and (not steps.size or int(steps.min()) >= each):
        words = np.full(starts.size, ALL_WORDS, np.int64)  # every word of every line
        warp = first >> WORD_BITS - 5
        return Touch(np.bincount(warp, minlength=lanes.warps) * 4, warp, first & (1 << WORD_BITS - 5) - 1, words)
    words = np.bitwise_or.reduceat(bits << (key & 31), starts)
    warp = first >> WORD_BITS - 5
    sectors = np.bincount(warp, weights=count_sectors(words), minlength=lanes.warps).astype(np.int64)
    return Touch(sectors, warp, first & (1 << WORD_BITS - 5) - 1, words)


def count_sectors(words: Index) -> Index:
    """In how many sectors of its line some words lie."""
    out = np.zeros_like(words)
    for s in range(4):
        out += words >> 8 * s & 0xFF != 0
    return out


def patterns(lanes: Lanes, align: int) -> tuple[Index, Flags, Index]:
    """(addresses, active, which) of the different warps: addresses less a multiple of `align`, and each warp's place among them.

    Rules that only ask for places modulo `align` need be asked once for each.
    """
    if lanes.where.shape == (1, 1) and lanes.active is None:
        return np.broadcast_to(lanes.where % align, (1, WARP)), np.ones((1, WARP), np.bool_), np.zeros(lanes.warps, np.int64)
    where, active = lanes.full, lanes.mask
    lead = where[np.arange(lanes.warps), active.argmax(axis=1)]
    relative = where - (lead & -align)[:, None]
    if lanes.active is not None:
        relative = np.where(active, relative, np.iinfo(np.int64).min)
    if (relative == relative[0]).all():
        return relative[:1], active[:1], np.zeros(lanes.warps, np.int64)
    rows = np.ascontiguousarray(relative).view(np.dtype((np.void, relative.shape[1] * 8))).ravel()
    _, first, which = np.unique(rows, return_index=True, return_inverse=True)
    return relative[first], active[first], which.reshape(-1)
