"""Sectors of global atomics and reductions on 5.x to 9.0: lanes that get in each other's way take several passes.

Fitted to the H200's counters: of 1391 recorded gathers all but two come out equal.  The rule needs to know how lines spread
over the four slices of L1; that hash was recorded for address bits 7 to 14 and is continued in its pattern above them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .warps import NONE, WARP, Addresses, Counts, Mask, access, distinct, requests

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
    contended = np.flatnonzero(_contended(where, active, width))
    if contended.size:
        sectors[contended] = _passes(where[contended], active[contended], width)
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


def _passes(where: NDArray[np.int64], active: Mask, width: int) -> Counts:
    """Sectors of each warp over all its passes.

    In a pass each bank of a slice goes to the lowest lane.  Lines rank by their first lane: a lane that loses to an earlier line holds
    back its whole sector, one that loses to its own line or a later one waits alone.
    """
    warps = len(where)
    lines = where // LINE
    port = (line_slice(lines) * BANK * WARP + where % LINE) // max(BANK, width)  # lanes take aligned banks: all of them or none
    line, sector = _first_lane(lines, active), _first_lane(where // SECTOR, active)
    sectors = np.zeros(warps, dtype=np.int64)
    row, lane = np.nonzero(active)
    while row.size:
        here = port[row, lane], line[row, lane], sector[row, lane]
        owner = _lowest(row, here[0], lane, warps, BANK * WARP)
        rank = _lowest(row, here[1], lane, warps, WARP)
        lost = owner[row, here[0]] != lane
        waits, winner = row[lost], owner[row, here[0]][lost]
        behind = rank[waits, line[waits, winner]] < rank[waits, here[1][lost]]
        held = np.zeros((warps, WARP), dtype=np.bool_)
        held[waits[behind], here[2][lost][behind]] = True
        late = lost | held[row, here[2]]
        served = np.zeros((warps, WARP), dtype=np.bool_)
        served[row[~late], here[2][~late]] = True
        sectors += served.sum(axis=1)
        row, lane = row[late], lane[late]
    return sectors


def _first_lane(keys: NDArray[np.int64], active: Mask) -> NDArray[np.int64]:
    """For each active lane the first of its warp that has the same key."""
    order = np.argsort(np.where(active, keys, NONE), axis=-1, kind="stable")
    ranked = np.take_along_axis(keys, order, axis=-1)
    start = np.ones(keys.shape, dtype=np.bool_)
    start[:, 1:] = ranked[:, 1:] != ranked[:, :-1]
    place = np.broadcast_to(np.arange(keys.shape[1]), keys.shape)
    first = np.take_along_axis(order, np.maximum.accumulate(np.where(start, place, 0), axis=-1), axis=-1)
    out = np.empty_like(first)
    np.put_along_axis(out, order, first, axis=-1)
    return out


def _lowest(row: NDArray[np.int64], what: NDArray[np.int64], lane: NDArray[np.int64], rows: int, count: int) -> NDArray[np.int64]:
    """(rows, count): the lowest lane that names each thing."""
    out = np.full(rows * count, WARP, dtype=np.int64)
    np.minimum.at(out, row * count + what, lane)
    return out.reshape(rows, count)
