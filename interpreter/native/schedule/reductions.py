"""Barriers that reduce predicates: whether one holds for all threads of a block, for any, or for how many."""

from __future__ import annotations

from . import words as s
from .loops import Masks, Words, popcount


def holds(S: Words, F: Masks, row: int, vector: int) -> int:
    """The lanes of a warp for which the predicate holds that a barrier reduces."""
    if S[row + s.VALUED] == s.NAMED_BY_ONE:
        return int((0 - (F[S[row + s.VALUE]] & 1)) ^ (0 - S[row + s.NEGATED]))
    return int(F[vector * S[s.FRAME] + S[row + s.VALUE]] ^ (0 - S[row + s.NEGATED]))


def reduce_blocks(S: Words, F: Masks, row: int) -> int:
    """Writes, for the threads of each block, of how many of them a predicate holds, or whether of all or of any."""
    at = S[s.LIST]
    end = at + S[s.COUNT]
    while at < end:
        block = (S[at] >> 32) // S[s.EACH]
        first = at
        threads = 0
        result = 0
        while at < end and (S[at] >> 32) // S[s.EACH] == block:
            mask = S[at] & 0xFFFFFFFF
            threads += popcount(mask)
            result += popcount(holds(S, F, row, S[at] >> 32) & mask)
            at += 1
        while first < at:
            put(S, F, row, S[first], S[row + s.REDUCED], result, threads)
            first += 1
    return 0


def put(S: Words, F: Masks, row: int, entry: int, how: int, count: int, threads: int) -> int:
    """Writes a result for the lanes of an entry: the predicate holds for `count` of so many threads."""
    result = count
    if how == s.BY_AND:
        result = count == threads
    if how == s.BY_OR:
        result = count != 0
    place = (entry >> 32 & 0x3FFFFFFF) * S[s.FRAME] + S[row + s.RESULT]
    mask = entry & 0xFFFFFFFF
    if S[row + s.REDUCED] == s.BY_POPC:
        lane = 0
        while mask >> lane:
            if mask >> lane & 1:
                F[place + lane] = result
            lane += 1
    else:
        F[place] = F[place] & ~mask | mask * (result != 0)
    return 0


FUNCTIONS = holds, reduce_blocks, put
