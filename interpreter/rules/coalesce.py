"""Which transactions a warp's access to global memory becomes, by the rule of each compute capability.

The 1.x and 2.x/3.x rules are the programming guide's (4.2, appendix F) and yield transactions with size and base, which
pictures can show; from 5.x on a request touches 32-byte sectors, counted as the H200's counters count them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warplab.isa.profiles import DeviceProfile

from .contention import SLICES, line_slice
from .warps import WARP, Addresses, Counts, Mask, access, distinct, requests

SECTOR = 32
LINE = 128
HALF = WARP // 2


@dataclass(frozen=True, slots=True)
class Transactions:
    """Transactions in the order they are issued: for each its warp, size and base address in bytes."""

    warp: NDArray[np.int64]
    size: NDArray[np.int64]
    base: NDArray[np.int64]

    def of_warp(self, warp: int) -> list[tuple[int, int]]:
        """(size, base) of one warp's transactions."""
        chosen = self.warp == warp
        return list(zip(self.size[chosen].tolist(), self.base[chosen].tolist(), strict=True))

    def per_warp(self, warps: int) -> Counts:
        """How many transactions each warp has."""
        return np.bincount(self.warp, minlength=warps).astype(np.int64)

    def bytes_per_warp(self, warps: int) -> Counts:
        """How many bytes each warp's transactions move."""
        return np.bincount(self.warp, weights=self.size, minlength=warps).astype(np.int64)


def modern_global(addresses: Addresses, active: Mask, width: int) -> tuple[Counts, Counts]:
    """(requests, sectors) of each warp's load or store on 5.x to 9.0: one request, whatever the width.

    >>> lanes = np.arange(32)
    >>> modern_global(lanes * 16 + 16, np.ones(32, bool), 16)
    (array([1]), array([17]))
    """
    where, active = access(addresses, active)
    return requests(active), distinct(where // SECTOR, active)


def async_copy_global(source: Addresses, target: Addresses, active: Mask, width: int, *, bypass: bool) -> tuple[Counts, Counts]:
    """(requests, sectors) of each warp's cp.async.

    With .ca the copy loads through L1 as ld does.  With .cg a sector of the target in shared memory is filled at once from one
    line, so a line counts once for each 32 bytes of the target that it feeds; of lanes that fill one place only one counts.

    >>> lanes, every = np.arange(32), np.ones(32, bool)
    >>> [int(async_copy_global(16 * lanes, place, every, 16, bypass=True)[1][0]) for place in (16 * lanes, 0 * lanes)]
    [16, 1]
    """
    where, active = access(source, active)
    if not bypass:
        return modern_global(where, active, width)
    to, _ = access(target, active)
    alone = distinct(to // width, active) == np.count_nonzero(active, axis=1)
    if not alone.all():
        active = active.copy()
        for row in np.flatnonzero(~alone).tolist():
            active[row] = _filling(where[row] // LINE, to[row] // width, active[row])
    pair = where // LINE * (1 << 20) + to // SECTOR  # shared addresses stay far below 32 MB
    return requests(active), distinct(pair, active)


def _filling(line: NDArray[np.int64], place: NDArray[np.int64], active: Mask) -> Mask:
    """Which lanes of a warp fill the places that several want.

    Lines are read in passes, one of each slice of L1 in a pass, in the order of their first lanes.  The first pass that has a place
    fills it; of its lines, the one whose last lane is the highest.
    """
    lanes = np.flatnonzero(active).tolist()
    first, last = {int(line[lane]): lane for lane in reversed(lanes)}, {int(line[lane]): lane for lane in lanes}
    slices = dict(zip(first, line_slice(np.array(list(first))).tolist(), strict=True))
    turn: dict[int, int] = {}  # the pass of each line
    met = [0] * SLICES  # lines
    for one in sorted(first, key=lambda one: first[one]):
        turn[one], met[slices[one]] = met[slices[one]], met[slices[one]] + 1
    filling: dict[int, int] = {}
    for lane in sorted(lanes, key=lambda lane: (turn[int(line[lane])], -last[int(line[lane])])):
        filling.setdefault(int(place[lane]), lane)
    out = np.zeros_like(active)
    out[list(filling.values())] = True
    return out


def half_warp_words(addresses: Addresses, active: Mask, width: int) -> Transactions:
    """Transactions on 1.0 and 1.1 (guide F.3.2.1): thread k of a half-warp at word k of one segment, or 32 bytes a thread."""
    where, active = access(addresses, active)
    where, mask = where.reshape(-1, HALF), active.reshape(-1, HALF)
    lane = np.arange(HALF)
    start = np.where(mask, where - lane * width, 0).max(axis=-1)  # where word 0 lies if the half-warp is in order
    busy = mask.any(axis=-1)
    ordered = np.where(mask, where == start[:, None] + lane * width, True).all(axis=-1)
    aligned = start % (HALF * width) == 0
    good = busy & ordered & aligned if width in (4, 8, 16) else np.zeros_like(busy)
    segment = min(HALF * width, LINE)
    pieces = HALF * width // segment if width >= 4 else 1
    rows, bases, sizes = [], [], []
    for piece in range(pieces):
        rows.append(np.nonzero(good)[0])
        bases.append(start[good] + piece * segment)
        sizes.append(np.full(int(good.sum()), segment))
    alone = mask & ~good[:, None]
    row, column = np.nonzero(alone)
    rows.append(row)
    bases.append(where[row, column] // SECTOR * SECTOR)
    sizes.append(np.full(len(row), SECTOR))
    return _in_order(np.concatenate(rows), np.concatenate(sizes), np.concatenate(bases))


def half_warp_segments(addresses: Addresses, active: Mask, width: int) -> Transactions:
    """Transactions on 1.2 and 1.3 (guide F.3.2.2): the lowest thread's segment, shrunk while one half of it is used."""
    where, active = access(addresses, active)
    where, left = where.reshape(-1, HALF), active.reshape(-1, HALF).copy()
    segment = {1: 32, 2: 64}.get(width, LINE)
    rows, bases, sizes = [], [], []
    while left.any():
        row = np.nonzero(left.any(axis=-1))[0]
        leader = left[row].argmax(axis=-1)
        base = where[row, leader] // segment * segment
        inside = left[row] & (where[row] // segment * segment == base[:, None])
        low = np.where(inside, where[row], np.iinfo(np.int64).max).min(axis=-1)
        high = np.where(inside, where[row] + (width - 1), -1).max(axis=-1)
        size = np.full(len(row), segment)
        while True:
            half = size // 2
            lower, upper = high < base + half, low >= base + half
            shrink = (size > SECTOR) & (lower | upper)
            if not shrink.any():
                break
            base = np.where(shrink & upper, base + half, base)
            size = np.where(shrink, half, size)
        left[row] &= ~inside
        rows.append(row)
        bases.append(base)
        sizes.append(size)
    empty = [np.zeros(0, dtype=np.int64)]
    return _in_order(np.concatenate(rows or empty), np.concatenate(sizes or empty), np.concatenate(bases or empty))


def _in_order(half: NDArray[np.int64], size: NDArray[np.int64], base: NDArray[np.int64]) -> Transactions:
    """Transactions of half-warps, sorted by half-warp and otherwise as issued."""
    order = np.argsort(half, kind="stable")
    return Transactions(half[order] * HALF // WARP, size[order].astype(np.int64), base[order].astype(np.int64))


def global_transactions(
    profile: DeviceProfile, addresses: Addresses, active: Mask, width: int, *, cached: bool | None = None
) -> tuple[Counts, Transactions]:
    """(requests, transactions) of each warp's load or store on a device; `cached` overrides whether L1 serves global memory."""
    where, active = access(addresses, active)
    warps = where.shape[0]
    match profile.global_rule:
        case "half-warp-words" | "half-warp-segments":
            rule = half_warp_words if profile.global_rule == "half-warp-words" else half_warp_segments
            halves = requests(active.reshape(-1, HALF)).reshape(warps, -1).sum(axis=-1)
            return halves, rule(where, active, width)
        case "lines":  # guide F.4.2: 8-byte words make two requests (half-warps), 16-byte words four
            through_l1 = profile.l1_caches_global if cached is None else cached
            return _units(where, active, WARP * 4 // max(width, 4), LINE if through_l1 else SECTOR)
        case "sectors":
            return _units(where, active, WARP, SECTOR)


def _units(where: NDArray[np.int64], active: Mask, lanes: int, unit: int) -> tuple[Counts, Transactions]:
    """(requests, transactions) where each request of so many lanes touches aligned units once."""
    mask = active.reshape(-1, lanes)
    row, column = np.nonzero(mask)
    found = np.unique(np.stack([row, where.reshape(-1, lanes)[row, column] // unit], axis=1), axis=0)
    count = requests(mask).reshape(len(where), -1).sum(axis=-1)
    return count, Transactions(found[:, 0] // (WARP // lanes), np.full(len(found), unit), found[:, 1] * unit)
