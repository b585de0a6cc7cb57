"""Barriers of a block: which lanes have arrived, which wait, which may go on (vector/waiting/barriers.py).

Of each of the 16 barriers of each block it is known which threads have arrived, for how many it waits (0: all), and for which a predicate holds that it
reduces.  The lists of groups that wait mark the warps whose block has passed.
"""

from __future__ import annotations

from . import words as s
from .convergence import go
from .guards import count_of, guarded, number_of
from .loops import Masks, Words, popcount
from .nodes import block, new, park, push, spare
from .passing import check
from .reductions import holds, reduce_blocks


def barrier(S: Words, F: Masks, row: int) -> int:
    """The group arrives at a barrier, or those of its lanes for which a guard holds."""
    code = guarded(S, F, row)
    if code:
        return code - 1
    number = number_of(S, F, row)
    if number == s.NOWHERE:
        return several(S, F, row)
    if number >= s.BARRIERS:
        return s.STUCK
    wanted = count_of(S, F, row)
    if S[s.PENDING + number] == 0 and ((wanted and enough(S, wanted)) or (wanted == 0 and (S[s.LANES] == S[s.LIVING] or whole_blocks(S)))):
        if S[row + s.REDUCED]:
            reduce_blocks(S, F, row)
        S[s.EVENTS] += S[s.LANES] != S[s.LIVING]
        return go(S, F, S[row + s.A])
    if spare(S, 2, S[s.COUNT]) == 0:
        return s.FULL
    note(S, F, row, number, wanted)
    if S[row + s.WAITS] == 0:
        check(S, F, number)
        return go(S, F, S[row + s.A])
    node = park(S, s.IS_AT_BARRIER, S[row + s.A])
    S[node + s.NODE_ROW] = row
    S[node + s.NODE_NUMBER] = number
    S[node + s.LEFT] = S[node + s.NODE_COUNT]
    block(S, node, s.IS_AT_BARRIER)
    return check(S, F, number)


def several(S: Words, F: Masks, row: int) -> int:
    """Lanes name different barriers: those of each number part, and arrive there one group after another."""
    if S[s.APART] == 0:
        return s.PARTED
    if spare(S, s.BARRIERS, s.BARRIERS * S[s.COUNT]) == 0:
        return s.FULL
    parent = S[s.PARENT]
    first = S[s.READY]
    number = 0
    while number < s.BARRIERS:
        at = S[s.FREE]
        n = 0
        lanes = 0
        i = 0
        while i < S[s.COUNT]:
            entry = S[S[s.LIST] + i]
            place = (entry >> 32) * S[s.FRAME] + S[row + s.NUMBER]
            mask = 0
            lane = 0
            while lane < 32:
                if entry >> lane & 1 and F[place + lane] == number:
                    mask |= 1 << lane
                lane += 1
            S[at + n] = (entry >> 32) << 32 | mask
            n += mask != 0
            lanes += popcount(mask)
            i += 1
        if n:
            S[s.FREE] += n
            push(S, new(S, s.IS_READY, S[s.PC], at, n, lanes, parent))
        number += 1
    if parent:
        S[parent + s.CHILDREN] += S[s.READY] - first - 1
    S[s.COUNT] = 0
    return 0


def note(S: Words, F: Masks, row: int, number: int, wanted: int) -> int:
    """Notes the lanes of the group as arrived."""
    n = S[s.PER_WAVE] * S[s.EACH]
    S[s.PENDING + number] = 1
    if S[row + s.REDUCED]:
        S[S[s.REDUCES] + number] = S[row + s.REDUCED]
    i = 0
    while i < S[s.COUNT]:
        entry = S[S[s.LIST] + i]
        vector = entry >> 32
        mask = entry & 0xFFFFFFFF
        S[S[s.ARRIVED] + number * n + vector] |= mask
        S[S[s.WANTED] + number * S[s.PER_WAVE] + vector // S[s.EACH]] = wanted
        at = S[s.HOLDS] + number * n + vector
        S[at] = S[at] & ~mask
        if S[row + s.REDUCED]:
            S[at] |= holds(S, F, row, vector) & mask
        i += 1
    return 0


def whole_blocks(S: Words) -> int:
    """Does the group hold every living lane of each block that it touches?"""
    at = S[s.LIST]
    end = at + S[s.COUNT]
    alive = S[s.ALIVE]
    each = S[s.EACH]
    while at < end:
        vector = (S[at] >> 32) // each * each
        behind = vector + each
        while vector < behind:
            if S[alive + vector]:
                if at == end or S[at] != vector << 32 | S[alive + vector]:
                    return 0
                at += 1
            vector += 1
    return 1


def enough(S: Words, wanted: int) -> int:
    """Does the group hold, of each block that it touches, whole warps of so many threads?"""
    at = S[s.LIST]
    end = at + S[s.COUNT]
    while at < end:
        block = (S[at] >> 32) // S[s.EACH]
        threads = 0
        while at < end and (S[at] >> 32) // S[s.EACH] == block:
            if S[at] & 0xFFFFFFFF == S[S[s.ALIVE] + (S[at] >> 32)]:
                threads += 32
            at += 1
        if threads < wanted:
            return 0
    return 1


FUNCTIONS = barrier, several, note, whole_blocks, enough
