"""Least recently used first out, for many uses of lines at once: which last use is too long ago for a line to be there still.

What such a cache holds are the lines that were used last, however many it has room for; so nothing has to be followed from use to use.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]

AT_ONCE = 16  # steps


def oldest_kept(held: Index, used: Index, moved: Index, lines: int) -> Index:
    """(caches, steps + 1): when each step begins, and after the last, lines that were last used before this step are gone.

    `held`: (caches, old), the lines last used in each step so far; `used`: (caches, steps), the uses in steps that come, counted from 0;
    elsewhere they are counted from `old` on.  `moved`: (caches, steps, old + steps), the uses in each new step of lines that were used
    before (also those that drop one, which `used` does not count), by the step of the use before.  Lines of one step go together, as soon
    as half of them have to for the use that stands in the middle of its own.

    >>> oldest_kept(np.zeros((1, 0), np.int64), np.ones((1, 3), np.int64), np.array([[[0, 0, 0], [0, 0, 0], [1, 0, 0]]]), 1).tolist()
    [[0, 0, 1, 2]]
    """
    old, steps = held.shape[1], used.shape[1]
    alive = np.concatenate([held, used], axis=1).astype(np.int32)  # lines last used in a step, as soon as it is over
    found = np.zeros((len(held), steps + 1), np.int64)
    for begin in range(0, steps, AT_ONCE):
        end = min(begin + AT_ONCE, steps)
        going = moved[:, begin:end, : old + end].astype(np.int32)
        gone = np.cumsum(going, axis=1, dtype=np.int32)
        past = alive[:, None, : old + end] - gone
        past += going
        alive[:, : old + end] -= gone[:, -1]
        over = np.arange(old + end) < np.arange(old + begin, old + end)[:, None]
        past *= over
        going *= over
        # When a step is half over, half of what it brings in front is there.
        twice = np.cumsum((2 * past - going)[:, :, ::-1], axis=2, dtype=np.int32)[:, :, ::-1]
        twice -= past
        found[:, begin:end] = np.count_nonzero((twice > (2 * lines - used[:, begin:end])[:, :, None]) & over, axis=2)
    found[:, steps] = (2 * np.cumsum(alive[:, ::-1], axis=1)[:, ::-1] - alive > 2 * lines).sum(axis=1)
    return np.maximum.accumulate(found, axis=1)  # what is gone stays so, though others may be dropped
