"""Local memory: each thread's window is interleaved word by word over its warp, so equal offsets are neighbours.

`interleaved` turns offsets in a thread's window into places in the warp's; the counts are those of the H200.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .warps import WARP, Addresses, Counts, Mask, access, distinct, requests

WORD = 4
LINE = WARP * WORD


def interleaved(offsets: Addresses) -> NDArray[np.int64]:
    """Where each lane's byte lies in the warp's own memory: word w of lane k is at 128 w + 4 k.

    >>> interleaved(np.full((1, 32), 8))[0, :3]
    array([256, 260, 264])
    """
    where, _ = access(offsets, np.ones(1, dtype=np.bool_))
    return where // WORD * LINE + np.arange(WARP) * WORD + where % WORD


def local_sectors(offsets: Addresses, active: Mask, width: int) -> tuple[Counts, Counts]:
    """(requests, sectors) of each warp's local load or store: a request for each word of the access."""
    where, active = access(offsets, active)
    words = max(1, width // WORD)
    count = requests(active) * words
    sectors = np.zeros_like(count)
    for word in range(words):
        sectors += distinct(interleaved(where + word * WORD) // 32, active)
    return count, sectors
