"""Barriers and syncs that a group passes at once, since it holds all lanes for which it would wait."""

from __future__ import annotations

from . import words as s
from .loops import Masks, Words, popcount


def passed(S: Words, F: Masks, row: int) -> int:
    """Are all threads there that a barrier counts?  Then it also reduces their predicates, if it is to."""
    wanted = S[row + s.B]
    if S[row + s.NAMED] == s.NAMED_BY_ONE:
        wanted = F[S[row + s.PREDICATE]]
    if wanted and enough(S, wanted) == 0:
        return 0
    if wanted == 0 and S[s.LANES] != S[s.LIVING] and whole_blocks(S) == 0:
        return 0
    if S[row + s.REDUCED]:
        reduce_blocks(S, F, row)
    return 1


def missing(S: Words, F: Masks, row: int) -> int:
    """Does the membermask of a lane that executes the sync name a living lane of its warp that is not in the group?"""
    i = 0
    while i < S[s.COUNT]:
        entry = S[S[s.LIST] + i]
        mask = entry & 0xFFFFFFFF
        asking = mask
        if S[row + s.GUARDED] == s.NAMED_BY_ONE:
            asking = mask * ((F[S[row + s.GUARD]] & 1) ^ S[row + s.NEGATED])
        if S[row + s.GUARDED] == s.NAMED_BY_LANES:
            asking = mask & (F[(entry >> 32) * S[s.FRAME] + S[row + s.GUARD]] ^ (0 - S[row + s.NEGATED]))
        named = S[row + s.B]
        if S[row + s.NAMED] == s.NAMED_BY_ONE:
            named = F[S[row + s.PREDICATE]]
        if S[row + s.NAMED] == s.NAMED_BY_LANES:
            at = (entry >> 32) * S[s.FRAME] + S[row + s.PREDICATE]
            lane = 0
            while mask >> lane:
                named |= F[at + lane] * (asking >> lane & 1)
                lane += 1
        if asking and named & S[S[s.ALIVE] + (entry >> 32)] & ~mask:
            return 1
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
            result += popcount((F[(S[at] >> 32) * S[s.FRAME] + S[row + s.VALUE]] ^ (0 - S[row + s.NEGATED])) & mask)
            at += 1
        if S[row + s.REDUCED] == s.BY_AND:
            result = result == threads
        if S[row + s.REDUCED] == s.BY_OR:
            result = result != 0
        while first < at:
            place = (S[first] >> 32) * S[s.FRAME] + S[row + s.RESULT]
            mask = S[first] & 0xFFFFFFFF
            lane = 0
            if S[row + s.REDUCED] == s.BY_POPC:
                while mask >> lane:
                    if mask >> lane & 1:
                        F[place + lane] = result
                    lane += 1
            else:
                F[place] = F[place] & ~mask | mask * result
            first += 1
    return 0


FUNCTIONS = passed, missing, whole_blocks, enough, reduce_blocks
