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
    first = np.ones(ordered.shape, dtype=np.bool_)
    first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    return np.asarray((first & (ordered != NONE)).sum(axis=-1), dtype=np.int64)


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
    lanes = groups.shape[1]
    whole = bool(active.all())
    low = int(keys.min() if whole else keys.min(where=active, initial=NONE))
    bits = max(1, (int(keys.max() if whole else keys.max(where=active, initial=low)) - low).bit_length())
    kind: Any = (
        np.int32 if bits + (count + 2 * lanes).bit_length() < 32 and low + (1 << bits) < 1 << 31 else np.int64
    )  # short ones are faster
    ordered = groups.astype(kind)
    ordered <<= kind(bits)
    ordered += keys.astype(kind, copy=False)
    ordered -= kind(low)
    others = np.arange(count, count + 2 * lanes, dtype=kind) << kind(bits)  # groups for entries that do not count, one each
    if not whole:
        np.copyto(ordered, others[:lanes], where=~active)
    ordered.sort(axis=-1)
    again = ordered[:, 1:] == ordered[:, :-1]
    if again.any():
        np.copyto(ordered[:, 1:], others[lanes + 1 :], where=again)
        ordered.sort(axis=-1)
    ordered >>= kind(bits)
    new = np.ones(ordered.shape, np.bool_)
    np.not_equal(ordered[:, 1:], ordered[:, :-1], out=new[:, 1:])
    begins = np.append(np.flatnonzero(new), ordered.size)  # of each group
    most: Counts = np.maximum.reduceat(begins[1:] - begins[:-1], np.flatnonzero(begins[:-1] & lanes - 1 == 0))
    return most * (ordered[:, 0] < count)


def requests(active: Mask) -> Counts:
    """1 for each row with an active lane, else 0: what no lane executes makes no request."""
    return np.asarray(active.any(axis=-1), dtype=np.int64)


def parts(array: NDArray[np.int64], lanes: int) -> NDArray[np.int64]:
    """Rows of `lanes` neighbouring lanes each: (warps, 32) becomes (warps * 32 / lanes, lanes)."""
    return array.reshape(-1, lanes)


def split(mask: Mask, lanes: int) -> Mask:
    """As `parts`, for a mask."""
    return mask.reshape(-1, lanes)
