"""Counting distinct things in each warp, without a loop over warps; the rules of this package are written in these words.

Addresses come as arrays (warps, 32) of byte addresses with a mask of active lanes; `access` brings them into one dtype.
"""

from __future__ import annotations

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


def largest_group(groups: NDArray[np.int64], active: Mask, count: int, keys: NDArray[np.int64] | None = None) -> Counts:
    """The most entries that fall into one of `count` groups, row by row; with keys, equal (group, key) pairs count once."""
    rows, lanes = groups.shape
    if keys is None:
        entry = np.flatnonzero(active)
        chosen = groups.ravel().take(entry)
    else:
        whole = bool(active.all())
        low = int(keys.min() if whole else keys.min(where=active, initial=NONE))
        bits = max(1, (int(keys.max() if whole else keys.max(where=active, initial=low)) - low).bit_length())
        ordered: NDArray[np.int32] | NDArray[np.int64] = (groups << bits) + (keys - low)
        if bits + count.bit_length() < 32:
            ordered = ordered.astype(np.int32)  # sorts faster
        if not whole:
            ordered[~active] = count << bits  # behind every key
        ordered.sort(axis=-1)
        first = np.ones(ordered.shape, dtype=np.bool_)
        np.not_equal(ordered[:, 1:], ordered[:, :-1], out=first[:, 1:])
        if not whole:
            first &= ordered < count << bits
        entry = np.flatnonzero(first)
        chosen = (ordered.ravel().take(entry) >> bits).astype(np.int64)
    table = np.bincount((entry // lanes) * count + chosen, minlength=rows * count).reshape(rows, count)
    return np.asarray(table.max(axis=1, initial=0), dtype=np.int64)


def requests(active: Mask) -> Counts:
    """1 for each row with an active lane, else 0: what no lane executes makes no request."""
    return np.asarray(active.any(axis=-1), dtype=np.int64)


def parts(array: NDArray[np.int64], lanes: int) -> NDArray[np.int64]:
    """Rows of `lanes` neighbouring lanes each: (warps, 32) becomes (warps * 32 / lanes, lanes)."""
    return array.reshape(-1, lanes)


def split(mask: Mask, lanes: int) -> Mask:
    """As `parts`, for a mask."""
    return mask.reshape(-1, lanes)
