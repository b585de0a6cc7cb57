"""Sectors of global atomics and reductions on 5.x to 9.0: lanes that get in each other's way take several passes.

Fitted to the H200's counters: of 1391 recorded gathers all but two come out equal.  The rule needs to know how lines spread
over the four slices of L1; that hash was recorded for address bits 7 to 14 and is continued in its pattern above them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .warps import WARP, Addresses, Counts, Mask, access, distinct, requests

SECTOR = 32
LINE = 128
BANK = 4
# Bits of the slice number that each bit of the line number turns over, from the lowest bit on; the last three repeat.
_SLICE_BITS = [1, 2] + [1, 2, 3] * 16
_LOW, _HIGH = (np.int64(sum(1 << n for n, turned in enumerate(_SLICE_BITS) if turned >> k & 1)) for k in (0, 1))


def line_slice(lines: NDArray[np.int64]) -> NDArray[np.int64]:
    """Which of four slices of L1 a line belongs to.

    >>> line_slice(np.array([0, 5, 1, 4, 2, 3])).tolist()
    [0, 0, 1, 1, 2, 3]
    """
    return _parity(lines & _LOW) | _parity(lines & _HIGH) << 1


def _parity(bits: NDArray[np.int64]) -> NDArray[np.int64]:
    for half in (32, 16, 8, 4, 2, 1):
        bits = bits ^ bits >> half
    return bits & 1


def atomic_global(addresses: Addresses, active: Mask, width: int) -> tuple[Counts, Counts]:
    """(requests, sectors) of each warp's atom or red; lanes that name one word go one after the other.

    >>> atomic_global(np.arange(32) // 8 * 4, np.ones(32, bool), 4)
    (array([1]), array([8]))
    """
    where, active = access(addresses, active)
    sectors = _one_word_at_a_time(where, active)
    for warp in np.nonzero(_contended(where, active, width))[0].tolist():
        sectors[warp] = _passes(where[warp], active[warp], width)
    return requests(active), sectors


def _one_word_at_a_time(where: NDArray[np.int64], active: Mask) -> Counts:
    """Sectors when lanes only wait for lanes of their own word: round k serves the k-th lane of every word."""
    order = np.argsort(np.where(active, where, -1), axis=-1, kind="stable")
    word, live = np.take_along_axis(where, order, axis=-1), np.take_along_axis(active, order, axis=-1)
    start = np.ones(word.shape, dtype=np.bool_)
    start[:, 1:] = (word[:, 1:] != word[:, :-1]) | (live[:, 1:] != live[:, :-1])
    place = np.broadcast_to(np.arange(word.shape[1]), word.shape)
    rank = place - np.maximum.accumulate(np.where(start, place, 0), axis=-1)
    return distinct(word // SECTOR * WARP + rank, live)


def _banks(where: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """The 4-byte banks of the data path that each lane's operand takes, along a new last axis."""
    return (where % LINE // BANK)[..., None] + np.arange(max(1, width // BANK))


def _contended(where: NDArray[np.int64], active: Mask, width: int) -> Mask:
    """Which warps have lanes on different lines of one slice that want one bank."""
    lines, slices = where // LINE, line_slice(where // LINE)
    banks = _banks(where, width)
    ports = (slices[..., None] * BANK * WARP + banks).reshape(len(where), -1)
    live = np.repeat(active, banks.shape[-1], axis=-1)
    # A port that several lines want shows as more (port, line) pairs than ports.
    numbers = np.unique(lines, return_inverse=True)[1].reshape(lines.shape)
    pairs = np.repeat(numbers, banks.shape[-1], axis=-1) * (4 * BANK * WARP) + ports
    return np.asarray(distinct(pairs, live) > distinct(ports, live), dtype=np.bool_)


def _passes(where: NDArray[np.int64], active: Mask, width: int) -> int:
    """Sectors over all passes of one warp, slice by slice."""
    lanes = np.nonzero(active)[0]
    chosen = where[lanes]
    rows = list(
        zip(
            line_slice(chosen // LINE).tolist(),
            (chosen // LINE).tolist(),
            (chosen // SECTOR).tolist(),
            _banks(chosen, width).tolist(),
            strict=True,
        )
    )
    return sum(_slice_passes([row[1:] for row in rows if row[0] == slice_]) for slice_ in range(4))


def _slice_passes(waiting: list[tuple[int, int, list[int]]]) -> int:
    """Sectors over the passes that the waiting lanes (line, sector, banks) of one slice take.

    In a pass each bank goes to the lowest lane.  Lines rank by their first lane: a lane that loses to an earlier line holds
    back its whole sector, one that loses to its own line or a later one waits alone.
    """
    sectors = 0
    while waiting:
        rank: dict[int, int] = {}
        for line, _, _ in waiting:
            rank.setdefault(line, len(rank))
        owner: dict[int, int] = {}
        lost, held = [False] * len(waiting), set()
        for lane, (line, sector, banks) in enumerate(waiting):
            owners = [owner[bank] for bank in banks if bank in owner]
            if owners:
                lost[lane] = True
                if any(rank[other] < rank[line] for other in owners):
                    held.add(sector)
            else:
                owner.update(dict.fromkeys(banks, line))
        late = [lost[lane] or sector in held for lane, (_, sector, _) in enumerate(waiting)]
        sectors += len({sector for wait, (_, sector, _) in zip(late, waiting, strict=True) if not wait})
        waiting = [row for wait, row in zip(late, waiting, strict=True) if wait]
    return sectors
