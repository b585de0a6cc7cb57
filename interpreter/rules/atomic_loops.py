"""Atomic operations that the H200 has no instruction for: its assembler writes a loop that reads, computes, and swaps if nothing has changed.

Which lanes of a warp are in the loop in each of its rounds, and what their reads and swaps count: as the H200 counts them.  ptxas/atomics.py
knows which operations become loops.  Warps that contend with each other take more rounds; how many depends on timing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .banks import modern_banks
from .contention import atomic_global
from .warps import WARP, Addresses, Counts, Mask, access

Words = NDArray[np.int64]
Change = Callable[[NDArray[Any], NDArray[Any]], NDArray[Any]]
Rule = Callable[[Addresses, Mask, int], tuple[Counts, Counts]]


def loop_passes(
    addresses: Addresses, active: Mask, width: int, held: Words | int = 0, operand: Words | int = 0, change: Change = np.add,
    *, leaves: bool = False,
) -> tuple[Counts, Counts]:  # fmt: skip
    """(passes, conflicts) of the reads of each warp's loop over shared memory.

    Words of 8 bytes need the values that memory holds and lanes bring: of two half-warps the second one swaps where the first one changed
    nothing.  `leaves`: a lane that would change nothing leaves after reading, as minima and maxima do.

    >>> loop_passes(np.zeros((1, 32)), np.ones((1, 32), bool), 4)
    (array([32]), array([0]))
    """
    where, left = access(addresses, active)
    now, brought = (np.broadcast_to(x, where.shape).astype(np.int64) for x in (held, operand))
    passes, conflicts = np.zeros(len(where), np.int64), np.zeros(len(where), np.int64)
    rows = np.arange(len(where))
    while True:
        busy = left.any(axis=1)
        if not busy.all():
            rows, left = rows[busy], left[busy]
            where, now, brought = where[busy], now[busy], brought[busy]
        if not rows.size:
            return passes, conflicts
        more, beyond = modern_banks(where, left, width)
        passes[rows] += more
        conflicts[rows] += beyond
        new = change(now, brought)
        asking = left & (new != now) if leaves else left
        left = asking & ~_swap(where, asking, now, new, width)


def _swap(where: Words, asking: Mask, held: Words, new: Words, width: int) -> Mask:
    """Which swaps succeed: of the lowest lane of a bank (8-byte words by half-warp) if its word is as read; `held` changes with memory."""
    banks = WARP * 4 // width
    bank, read, won = where // width % banks, held.copy(), np.zeros_like(asking)
    for begin in range(0, WARP, banks):
        row, lane = asking[:, begin : begin + banks].nonzero()
        row, lane = row[::-1], lane[::-1] + begin  # the lowest lane of a bank is written last
        lowest = np.full((len(where), banks), -1)
        lowest[row, bank[row, lane]] = lane
        owner = np.take_along_axis(lowest, bank, axis=1)  # of each lane's bank
        swaps = asking & (owner == np.arange(WARP)) & (held == read)
        changed = np.take_along_axis(swaps, owner, axis=1) & (np.take_along_axis(where, owner, axis=1) == where)
        np.copyto(held, np.take_along_axis(new, owner, axis=1), where=changed)
        won |= swaps
    return won


def half_word_swaps(
    addresses: Addresses, active: Mask, held: Words, offer: Callable[[Words], tuple[Words, Words]], rule: Rule = atomic_global,
    *, compares: bool,
) -> tuple[Counts, Counts]:  # fmt: skip
    """(requests, sectors), or what the rule counts, of the swaps of each warp's loop that changes halves of words that hold `held`.

    `offer` says of the halves that lanes read which ones their swaps expect, and the new ones.  A lane whose word has changed tries again;
    if it only `compares`, another value of its own half ends its loop.

    >>> lanes = np.zeros((1, 32), int)
    >>> [int(half_word_swaps(lanes, lanes == 0, lanes, lambda old: (old, old + b), compares=False)[0][0]) for b in (0, 1)]
    [1, 32]
    >>> lanes = np.arange(32)[None]
    >>> half_word_swaps(lanes // 2 * 4 + lanes % 2 * 2, lanes < 4, 0 * lanes, lambda old: (0 * old, 0 * old + 1), compares=True)
    (array([2]), array([3]))
    """
    where, left = access(addresses, active)
    word, shift = where & ~3, (where & 2) << 3
    own, memory, seen = 0xFFFF << shift, held.copy(), held.copy()
    first = second = np.zeros(len(where), np.int64)
    while left.any():
        more, beyond = rule(word, left, 4)
        first, second = first + more, second + beyond
        expected, new = (seen & ~own | half << shift for half in offer((seen & own) >> shift))
        again = np.zeros_like(left)
        for lane in np.flatnonzero(left.any(axis=0)).tolist():
            seen[:, lane] = memory[:, lane]  # the swap gives what it found
            differs = np.where(left[:, lane], seen[:, lane] ^ expected[:, lane], -1)
            again[:, lane] = left[:, lane] & (differs & (~own[:, lane] if compares else -1) != 0)
            swapped = (differs == 0)[:, None] & (word == word[:, lane, None])
            np.copyto(memory, new[:, lane, None], where=swapped)
        left = again
    return first, second
