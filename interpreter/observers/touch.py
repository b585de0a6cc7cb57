"""One access of a group as the words its warps touch: what coalescing and caches ask, found for all warps at once.

The words of all lanes become keys (warp, word); sorted, their steps from sector to sector and from line to line are the counts.  Lanes
mostly come in ascending order already, so that nothing has to be sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..flags import any_in_rows
from .sectors import count_bits, sectors_of

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

WARP = 32
MANY = 64  # warps
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
        return self.warps if self.active is None else int(np.count_nonzero(any_in_rows(self.active)))

    @property
    def mask(self) -> Flags:
        """(warps, 32), written out."""
        return np.ones((self.warps, WARP), np.bool_) if self.active is None else self.active

    @property
    def full(self) -> Index:
        """(warps, 32), written out."""
        return self.where if self.where.shape == (self.warps, WARP) else np.broadcast_to(self.where, (self.warps, WARP))


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
        row = np.flatnonzero(any_in_rows(lanes.active)) if lanes.active is not None else np.arange(lanes.warps)
        at = word[row, 0] if len(word) > 1 else np.full(row.size, word[0, 0])
        sectors = np.zeros(lanes.warps, np.int64)
        sectors[row] = 1
        return Touch(sectors, row, at >> 5, bits << (at & 31))
    warps = (np.arange(lanes.warps, dtype=np.int64) << WORD_BITS)[:, None]
    keys = word | warps
    key = keys.ravel() if lanes.active is None else keys.ravel().compress(lanes.active.ravel())
    if not key.size:
        none = np.zeros(0, np.int64)
        return Touch(np.zeros(lanes.warps, np.int64), none, none, none)
    steps = key[1:] - key[:-1]
    if steps.size and int(steps.min()) < 0:
        if lanes.active is None:
            key = np.sort(keys, axis=1).ravel()  # much faster than all at once
        else:
            np.copyto(keys, warps | (1 << WORD_BITS) - 1, where=~lanes.active)  # behind the others
            keys.sort(axis=1)
            key = keys[np.arange(WARP) < np.count_nonzero(lanes.active, axis=1)[:, None]]
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
    sectors = np.bincount(warp, weights=count_bits(sectors_of(words)), minlength=lanes.warps).astype(np.int64)
    return Touch(sectors, warp, first & (1 << WORD_BITS - 5) - 1, words)


@dataclass(frozen=True, slots=True)
class Patterns:
    """The different warps of an access: a row each, how many warps do as it does, and each warp's row (None where there is one row)."""

    where: Index  # (rows, 32), less a multiple of what was asked for
    active: Flags | None
    count: Index
    which: Index | None

    @property
    def mask(self) -> Flags:
        """(rows, 32), written out."""
        return np.ones(self.where.shape, np.bool_) if self.active is None else self.active

    @property
    def key(self) -> tuple[bytes, bytes]:
        """What tells patterns apart."""
        return self.where.tobytes(), b"" if self.active is None else self.active.tobytes()

    def spread(self, values: Index) -> Index:
        """A value of each row as one of each warp."""
        return values[self.which] if self.which is not None else np.repeat(values, self.count)


_NOWHERE = np.iinfo(np.int64).min
_ODD = np.arange(1, 2 * WARP, 2) * np.int64(0x9E3779B97F4A7C1)  # factors of a warp's addresses


def patterns(lanes: Lanes, align: int, period: int = 1) -> Patterns:
    """The different warps of an access; rules that ask only for places modulo `align` need be asked once for each.

    `period`: if warps are alike, then mostly some that are so many apart.
    """
    where, active = lanes.where, lanes.active
    if active is None:
        relative = where - (where[:, :1] & -align)
    else:
        where = lanes.full
        lead = where[np.arange(lanes.warps), active.argmax(axis=1)]
        relative = np.where(active, where - (lead & -align)[:, None], _NOWHERE)
    rows = relative.shape[0]
    if rows == 1 or ((relative[1] == relative[0]).all() and (relative == relative[0]).all()):
        row = relative[:1] if relative.shape[1] == WARP else np.repeat(relative[:1], WARP, axis=1)
        return Patterns(row, None if active is None else active[:1], np.array([lanes.warps]), None)
    if relative.shape[1] == 1:
        _, first, which = np.unique(relative[:, 0], return_index=True, return_inverse=True)
        return Patterns(np.repeat(relative[first], WARP, axis=1), None, np.bincount(which), which)
    if rows > MANY and (relative[0] != relative[1]).any() and (period >= rows or (relative[0] != relative[period]).any()):
        # It is not worth looking for those that are alike.
        return Patterns(relative, active, np.ones(rows, np.int64), np.arange(rows))
    mixed = relative @ _ODD  # different sums: different warps
    _, first, which = np.unique(mixed, return_index=True, return_inverse=True)
    if first.size == rows:
        return Patterns(relative, active, np.ones(rows, np.int64), np.arange(rows))
    if not (relative == relative[first][which]).all():
        whole = np.ascontiguousarray(relative).view(np.dtype((np.void, WARP * 8))).ravel()
        _, first, which = np.unique(whole, return_index=True, return_inverse=True)
    order = np.argsort(first)  # as they come
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    first, which = first[order], place[which.reshape(-1)]
    return Patterns(relative[first], None if active is None else active[first], np.bincount(which), which)
