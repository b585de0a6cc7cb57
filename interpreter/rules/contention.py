"""Sectors of global atomics and reductions on 5.x to 9.0: lanes that get in each other's way take several passes.

Fitted to the H200's counters: of 1391 recorded gathers all but two come out equal.  The rule needs to know how lines spread
over the four slices of L1; that hash was recorded for address bits 7 to 14 and is continued in its pattern above them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .warps import NONE, WARP, Addresses, Counts, Mask, access, requests

SECTOR = 32
LINE = 128
BANK = 4
SLICES = 4
# Bits of the slice number that each bit of the line number turns over, from the lowest bit on; the last three repeat.  LOW, HIGH: the bits of the line number
# that turn over the lower one, and the higher one.
_SLICE_BITS = [1, 2] + [1, 2, 3] * 16
LOW, HIGH = (sum(1 << n for n, turned in enumerate(_SLICE_BITS) if turned >> k & 1) for k in (0, 1))


def line_slice(lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of four slices of L1 a line belongs to.

    >>> line_slice(np.array([0, 5, 1, 4, 2, 3])).tolist()
    [0, 0, 1, 1, 2, 3]
    """
    low, high = np.bitwise_count(lines & np.int64(LOW)) & 1, np.bitwise_count(lines & np.int64(HIGH)) & 1
    found: NDArray[np.int64] = (low | high << 1).astype(np.int64)
    return found


def atomic_global(addresses: Addresses, active: Mask, width: int) -> tuple[Counts, Counts]:
    """(requests, sectors) of each warp's atom or red of 4 bytes or more; lanes that name one word go one after the other.

    >>> atomic_global(np.arange(32) // 8 * 4, np.ones(32, bool), 4)
    (array([1]), array([8]))
    """
    where, active = access(addresses, active)
    return requests(active), _passes(where, active, width)


def _passes(where: NDArray[np.int64], active: Mask, width: int) -> Counts:
    """Sectors of each warp over all its passes.

    In a pass each bank of a slice goes to the lowest lane.  Lines rank by their first lane: a lane that loses to an earlier line holds
    back its whole sector, one that loses to its own line or a later one waits alone.
    """
    warps = len(where)
    # Numbered through over all warps; from the highest down, so that of several that write to one place the lowest writes last.
    lane = np.flatnonzero(active)[::-1].copy()
    if not lane.size:
        return np.zeros(warps, dtype=np.int64)
    line_of, sector_of = _names(where >> 5, active)
    place = where.ravel().take(lane)
    port = line_slice(place >> 7) * (LINE // max(BANK, width))  # lanes take aligned banks: all of them or none
    port += (place & LINE - 1) >> max(BANK, width).bit_length() - 1
    port += (lane >> 5) * (4 * LINE // max(BANK, width))
    owner, rank = np.empty(warps * 4 * WARP, dtype=np.int64), np.empty(warps * WARP, dtype=np.int64)
    sectors, held = np.zeros(warps * WARP, dtype=np.uint8), np.zeros(warps * WARP, dtype=np.bool_)
    while lane.size:
        sector = sector_of.take(lane)
        owner[port] = lane
        winner = owner.take(port)
        late = winner != lane
        lost = late.nonzero()[0]
        if lost.size:
            line = line_of.take(lane)
            rank[line] = lane
            behind = lost.compress(rank.take(line_of.take(winner.take(lost))) < rank.take(line.take(lost)))
            if behind.size:
                behind = sector.take(behind)
                held[behind] = True
                late |= held.take(sector)
                held[behind] = False
        served = np.zeros(sectors.size, dtype=np.uint8)
        served[sector.compress(~late)] = 1
        sectors += served
        left = late.nonzero()[0]  # faster than by flags
        lane, port = lane.take(left), port.take(left)
    found: Counts = sectors.reshape(warps, WARP).sum(axis=1, dtype=np.uint8).astype(np.int64)  # no more than lanes
    return found


def _names(sector: NDArray[np.int64], active: Mask) -> list[NDArray[np.int64]]:
    """For each lane a lane that stands for its warp's line, and one for its warp's sector."""
    key = np.where(active, sector << 5 | np.arange(WARP), NONE)
    key.sort(axis=1)
    there = np.flatnonzero(key != NONE)
    name = key.ravel().take(there)
    there &= -WARP
    lane = there | name & WARP - 1
    out = []
    for shift in (7, 5):
        number = name >> shift
        first = np.flatnonzero((number[1:] != number[:-1]) | (there[1:] != there[:-1]))
        first = np.concatenate(([0], first + 1))
        found = np.empty(sector.size, dtype=np.int64)
        found[lane] = np.repeat(lane.take(first), np.diff(first, append=lane.size))
        out.append(found)
    return out
