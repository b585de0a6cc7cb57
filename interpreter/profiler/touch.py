"""Which words and lines the warps of one access touch: what coalescing and the caches ask, found for all warps at once.

The words of all lanes become keys (warp, word).  In sorted order a step to another line begins a new entry.  Most accesses have their lanes
in ascending order already and need no sort.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..flags import any_in_rows
from ..lanes import Geometry
from ..values import Shifted
from .lanes import WARP, WarpLanes
from .loops.compiled import Loops, loops
from .loops.words import SUMS, VECTOR
from .sectors import ALL_WORDS, SECTOR, Bits, touched

Index = NDArray[np.int64]
T = TypeVar("T")

KEY_BITS = 44  # of a byte or word below the number of its warp


@dataclass(frozen=True, slots=True)
class Touch:
    """What the warps of one access touch of the lines of a cache: an entry for each warp and line."""

    sectors: Index  # of each warp
    warp: Index
    line: Index
    words: Bits

    def whole_lines(self) -> Touch:
        """The same entries, of all words."""
        return Touch(self.sectors, self.warp, self.line, np.full(self.words.size, ALL_WORDS))


def touch(lanes: WarpLanes, width: int) -> Touch:
    """The sectors and lines of aligned accesses of `width` bytes (at most 32).

    >>> coalesced = touch(WarpLanes(np.arange(32)[None, :] * 4, None, 1), 4)
    >>> coalesced.sectors, coalesced.line, hex(coalesced.words[0])
    (array([4]), array([0]), '0xffffffff')
    """
    each = max(1, width // 4)
    bits = np.uint32((1 << each) - 1)
    word = lanes.where >> 2
    if word.shape[1] == 1:
        warp = np.arange(lanes.warps) if lanes.active is None else any_in_rows(lanes.active).nonzero()[0]
        at = word[warp, 0] if len(word) > 1 else np.full(warp.size, word[0, 0])
        sectors = np.zeros(lanes.warps, np.int64)
        sectors[warp] = 1
        return Touch(sectors, warp, at >> 5, bits << (at & 31).astype(np.uint32))
    if (compiled := loops()) is not None:
        return _touch(lanes, width, compiled)[0]
    key, steps = _in_order(lanes, word)
    if not key.size:
        none = np.zeros(0, np.int64)
        return Touch(np.zeros(lanes.warps, np.int64), none, none, none.astype(np.uint32))
    lines = key >> 5
    starts = np.concatenate(([True], lines[1:] != lines[:-1])).nonzero()[0]
    first = lines[starts]
    warp, line = first >> KEY_BITS - 5, first & (1 << KEY_BITS - 5) - 1
    if key.size * each == starts.size * WARP and (not steps.size or int(steps.min()) >= each):  # every word of every line
        return Touch(np.bincount(warp, minlength=lanes.warps) * 4, warp, line, np.full(starts.size, ALL_WORDS))
    words = np.bitwise_or.reduceat(bits << (key & 31).astype(np.uint32), starts)
    sectors = np.bincount(warp, weights=np.bitwise_count(touched(words)), minlength=lanes.warps).astype(np.int64)
    return Touch(sectors, warp, line, words)


def _touch(lanes: WarpLanes, width: int, compiled: Loops) -> tuple[Touch, list[int]]:
    """The same by a compiled loop, and the sums of loops/words.py."""
    where, active = np.ascontiguousarray(lanes.where), lanes.whole_mask
    warps, each = where.shape
    at = SUMS + 2 * (-(-each // VECTOR) * VECTOR) + warps  # where the warps of the entries begin
    found, words = np.empty(at + 2 * where.size, np.int64), np.empty(where.size, np.uint32)
    n = compiled.touch(where, active, active is not None, warps, each, width, found, words)
    t = Touch(found[at - warps : at], found[at : at + n], found[at + where.size : at + where.size + n], words[:n])
    if n < where.size // 2:
        t = Touch(t.sectors.copy(), t.warp.copy(), t.line.copy(), t.words.copy())  # so that it holds no memory that it does not need
    return t, found[:SUMS].tolist()


def _in_order(lanes: WarpLanes, place: Index) -> tuple[Index, Index]:
    """Places of the active lanes as keys below their warps, in ascending order; the steps from one to the next."""
    warps = (np.arange(lanes.warps, dtype=np.int64) << KEY_BITS)[:, None]
    keys = place | warps
    key = keys.ravel() if lanes.active is None else keys.ravel().compress(lanes.active.ravel())
    steps = key[1:] - key[:-1]
    if steps.size and int(steps.min()) < 0:
        if lanes.active is None:
            key = np.sort(keys, axis=1).ravel()  # rows of 32 sort much faster than one long row
        else:
            np.copyto(keys, warps | (1 << KEY_BITS) - 1, where=~lanes.active)  # behind the active ones
            keys.sort(axis=1)
            key = keys[np.arange(keys.shape[1]) < np.count_nonzero(lanes.active, axis=1)[:, None]]
        steps = key[1:] - key[:-1]
    return key, steps


def covered(lanes: WarpLanes, width: int, t: Touch) -> Bits:
    """The words that each warp's bytes or halfwords cover in full, for each entry of its touch.

    >>> halves = WarpLanes(np.arange(32)[None, :] * 2 + 2, None, 1)
    >>> hex(covered(halves, 2, touch(halves, 2))[0])
    '0xfffe'
    """
    words = np.zeros(t.line.size, np.uint32)
    if (compiled := loops()) is not None:
        pieces, ordered = np.zeros(4 * words.size, np.uint32), np.empty(VECTOR, np.int64)
        compiled.cover(
            np.ascontiguousarray(lanes.full),
            lanes.whole_mask,
            lanes.active is not None,
            width,
            words.size,
            t.warp,
            t.line,
            ordered,
            pieces,
            words,
        )
        return words
    key, steps = _in_order(lanes, lanes.full)
    if not key.size:
        return words
    key = key[np.concatenate(([True], steps != 0))]  # bytes or halfwords that are different
    last = 4 // width - 1  # of a word's pieces
    first = key[: key.size - last]
    word = first[(first & 3 == 0) & (key[last:] - first == last * width)] >> 2
    if word.size:
        lines = word >> 5
        starts = np.concatenate(([True], lines[1:] != lines[:-1])).nonzero()[0]
        entry = (t.line | t.warp << KEY_BITS - 7).searchsorted(lines[starts])
        words[entry] = np.bitwise_or.reduceat(np.uint32(1) << (word & 31).astype(np.uint32), starts)
    return words


class Footprint:
    """One access by warps: its lanes, what they touch, and what both sum up to."""

    __slots__ = ("count", "ends", "ideal", "lanes", "requests", "total", "touch", "width", "worst")

    def __init__(self, lanes: WarpLanes, width: int) -> None:
        self.lanes, self.width = lanes, width
        if (compiled := loops()) is not None and lanes.where.shape[1] > 1:
            self.touch, (self.total, self.worst, *ends, self.count, self.requests, self.ideal) = _touch(lanes, width, compiled)
            self.ends = ends[0], ends[1]
            return
        self.touch = touch(lanes, width)
        self.requests, self.count = lanes.requests, lanes.count
        self.total = int(self.touch.sectors.sum())
        self.worst = int(self.touch.sectors.argmax())  # the warp that touches the most sectors
        line = self.touch.line
        self.ends = (int(line.min()), int(line.max())) if line.size else (0, -1)
        if lanes.active is None:
            self.ideal = lanes.warps * -(-WARP * width // SECTOR)
        else:
            self.ideal = int((-(-np.count_nonzero(lanes.active, axis=1) * width // SECTOR)).sum())


class Memo(Generic[T]):
    """What was found for pointers that walk from one base array: an address some lines further on touches the same, further on.

    It is remembered when it is found a second time: most addresses come once, and memory that is free again soon is fast.
    """

    def of(self, g: Geometry, address: Shifted, step: int, kind: Hashable, find: Callable[[], T]) -> tuple[T, int]:
        """What was found for an address, and its distance in bytes, a multiple of `step`, from the address it was found for."""
        notes = address.facts.notes
        key = self, g, address.delta % step, kind
        known: tuple[T, int] | None = notes.get(key)
        if known is None:
            known = find(), address.delta
            notes[key] = known if key in notes else None
        return known[0], address.delta - known[1]
