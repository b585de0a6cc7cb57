"""Counting distinct things in each warp, without a loop over warps; the rules of this package are written in these words.

Addresses come as arrays (warps, 32) of byte addresses with a mask of active lanes; `access` brings them into one dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Addresses = NDArray[np.int64] | NDArray[np.uint64]
Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]

WARP = 32
BITS: dict[int, Any] = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}
NONE = np.int64(np.iinfo(np.int64).max)  # sorts behind every key


def access(addresses: Addresses, active: Mask) -> tuple[NDArray[np.int64], Mask]:
    """Addresses as int64 and the mask, both of shape (warps, lanes) and of equal shape."""
    whole = np.atleast_2d(np.asarray(addresses)).astype(np.int64, copy=False)
    if active.shape == whole.shape and active.dtype == np.bool_:
        return whole, active
    return whole, np.broadcast_to(np.atleast_2d(np.asarray(active, dtype=np.bool_)), whole.shape)


def distinct(keys: NDArray[np.int64], active: Mask) -> Counts:
    """How many different keys the active entries of each row have."""
    ordered = np.sort(np.where(active, keys, NONE), axis=-1)
    return count_in_rows(first_in_row(ordered) & (ordered != NONE))


def first_in_row(ordered: NDArray[Any]) -> Mask:
    """What comes for the first time in its row, rows being in order."""
    new, flat = np.empty(ordered.shape, np.bool_), ordered.ravel()
    np.not_equal(flat[1:], flat[:-1], out=new.ravel()[1:])  # row by row it would take longer
    new[:, 0] = True
    return new


def count_in_rows(flags: Mask) -> Counts:
    """How many of each row are set.

    >>> count_in_rows(np.array([[True, False] * 8, [True, True] * 8]))
    array([ 8, 16])
    """
    bits = BITS.get(flags.shape[1])
    if bits is None:
        return np.asarray(np.count_nonzero(flags, axis=1))
    return np.asarray(np.bitwise_count(np.packbits(flags.ravel()).view(bits)), dtype=np.int64)  # five times as fast


def largest_group(groups: NDArray[np.int64], active: Mask, count: int) -> Counts:
    """The most active entries that fall into one of `count` groups, row by row."""
    rows, lanes = groups.shape
    entry = np.flatnonzero(active)
    table = np.bincount((entry // lanes) * count + groups.ravel().take(entry), minlength=rows * count).reshape(rows, count)
    return np.asarray(table.max(axis=1, initial=0), dtype=np.int64)


def most_different(groups: NDArray[np.int64], active: Mask, count: int, keys: NDArray[Any]) -> Counts:
    """The most different keys of active entries that fall into one of `count` groups, row by row; rows have a power of two entries.

    >>> most_different(np.array([[0, 0, 0, 1]]), np.ones((1, 4), bool), 2, np.array([[5, 7, 5, 8]]))
    array([2])
    """
    lanes, whole = groups.shape[1], bool(active.all())
    if not whole:
        keys = np.where(active, keys, keys.flat[active.argmax()])
    low = int(keys.min())
    bits = max(1, (int(keys.max()) - low).bit_length())
    short = bits + (count + lanes).bit_length() < 32 and -(1 << 31) <= low < (1 << 31) - (1 << bits)
    kind: Any = np.int32 if short else np.int64  # short ones are faster
    ordered = groups.astype(kind)
    ordered <<= kind(bits)
    ordered += keys.astype(kind, copy=False)
    ordered -= kind(low)
    if not whole:
        others = np.arange(count, count + lanes, dtype=kind) << kind(bits)  # groups for entries that do not count, one each
        np.putmask(ordered, ~active, np.broadcast_to(others, ordered.shape))
    ordered.sort(axis=-1)
    numbers = np.cumsum(first_in_row(ordered).ravel(), dtype=np.int32)  # of the different ones
    ordered >>= kind(bits)
    begins = np.flatnonzero(first_in_row(ordered))  # of each group
    first = numbers[begins]
    sizes = np.empty(begins.size, np.int64)
    np.subtract(first[1:], first[:-1], out=sizes[:-1])
    sizes[-1] = numbers[-1] + 1 - first[-1]
    most: Counts = np.maximum.reduceat(sizes, np.flatnonzero(begins & lanes - 1 == 0))
    return most * (ordered[:, 0] < count)


def requests(active: Mask) -> Counts:
    """1 for each row with an active lane, else 0: what no lane executes makes no request."""
    return np.asarray(active.any(axis=-1), dtype=np.int64)
