"""Who may pass a barrier: blocks whose barrier is complete, and the groups of their lanes that wait there."""

from __future__ import annotations

from . import words as s
from .loops import Masks, Words, popcount
from .nodes import mark, pick, unblock, unmark
from .reductions import put
from .uniting import gather


def recheck(S: Words, F: Masks) -> int:
    """Lanes have ended: barriers may be complete without them."""
    number = 0
    while number < s.BARRIERS:
        if S[s.PENDING + number] and waits_at(S, number):
            check(S, F, number)
        number += 1
    return 0


def waits_at(S: Words, number: int) -> int:
    """Does a group wait at a barrier?"""
    i = 0
    while i < S[s.BLOCKED]:
        node = S[S[s.BLOCKED_AT] + i]
        if S[node + s.STATE] == s.IS_AT_BARRIER and S[node + s.NODE_NUMBER] == number:
            return 1
        i += 1
    return 0


def check(S: Words, F: Masks, number: int) -> int:
    """Lets the blocks pass whose barrier is complete."""
    each = S[s.EACH]
    arrived = S[s.ARRIVED] + number * S[s.PER_WAVE] * each
    some = 0
    left = 0
    block = 0
    while block < S[s.WAVE_BLOCKS]:
        there = 0
        absent = 0
        threads = 0
        vector = block * each
        while vector < block * each + each:
            here = S[arrived + vector]
            missing = S[S[s.ALIVE] + vector] & ~here
            there |= here
            absent |= missing
            if here and missing == 0:
                threads += 32
            vector += 1
        wanted = S[S[s.WANTED] + number * S[s.PER_WAVE] + block]
        if there and ((wanted == 0 and absent == 0) or (wanted and threads >= wanted)):
            some = 1
            complete(S, F, number, block)
        elif there:
            left = 1
        block += 1
    S[s.PENDING + number] = left
    if some:
        S[s.EVENTS] += 1
        pass_over(S, F, number)
    return 0


def complete(S: Words, F: Masks, number: int, which: int) -> int:
    """A block has passed: notes that in the groups that wait there, and gives them what the barrier reduces."""
    each = S[s.EACH]
    n = S[s.PER_WAVE] * each
    count = 0
    threads = 0
    vector = which * each
    while vector < which * each + each:
        mask = S[S[s.ARRIVED] + number * n + vector]
        threads += popcount(mask)
        count += popcount(mask & S[S[s.HOLDS] + number * n + vector])
        S[S[s.ARRIVED] + number * n + vector] = 0
        vector += 1
    i = 0
    while i < S[s.BLOCKED]:
        node = S[S[s.BLOCKED_AT] + i]
        i += 1
        if S[node + s.STATE] != s.IS_AT_BARRIER or S[node + s.NODE_NUMBER] != number:
            continue
        at = S[node + s.NODE_LIST]
        end = at + S[node + s.NODE_COUNT]
        row = S[node + s.NODE_ROW]
        while at < end:
            entry = S[at]
            if (entry >> 32 & 0x3FFFFFFF) // each == which:
                if entry < s.PASSED:
                    S[at] = entry | s.PASSED
                    S[node + s.LEFT] -= 1
                if S[row + s.REDUCED]:
                    put(S, F, row, entry, S[S[s.REDUCES] + number], count, threads)
            at += 1
    return 0


def pass_over(S: Words, F: Masks, number: int) -> int:
    """Groups all of whose blocks have passed go on, unless another part of their warps still waits at their place."""
    first = S[s.PICKED]
    i = 0
    while i < S[s.BLOCKED]:
        node = S[S[s.BLOCKED_AT] + i]
        if S[node + s.STATE] == s.IS_AT_BARRIER and S[node + s.NODE_NUMBER] == number and S[node + s.LEFT] == 0 and held(S, node) == 0:
            pick(S, node)
        i += 1
    i = first
    while i < S[s.PICKED]:
        unblock(S, S[S[s.PICKED_AT] + i])
        clear_passed(S, S[S[s.PICKED_AT] + i])
        i += 1
    return gather(S, F, first)


def clear_passed(S: Words, node: int) -> int:
    """A group that waits no more, without the marks of its warps."""
    at = S[node + s.NODE_LIST]
    end = at + S[node + s.NODE_COUNT]
    while at < end:
        S[at] = S[at] & ~s.PASSED
        at += 1
    return node


def held(S: Words, node: int) -> int:
    """Does another part of a group's warps, at the same place, still wait for other blocks?"""
    found = 0
    mark(S, S[s.GONE], node)
    i = 0
    while i < S[s.BLOCKED]:
        other = S[S[s.BLOCKED_AT] + i]
        same = S[other + s.NODE_PC] == S[node + s.NODE_PC] and S[other + s.NODE_NUMBER] == S[node + s.NODE_NUMBER]
        if S[other + s.STATE] == s.IS_AT_BARRIER and same and S[other + s.LEFT]:
            at = S[other + s.NODE_LIST]
            end = at + S[other + s.NODE_COUNT]
            while at < end:
                found |= S[S[s.GONE] + (S[at] >> 32 & 0x3FFFFFFF)] != 0
                at += 1
        i += 1
    unmark(S, S[s.GONE], node)
    return found


FUNCTIONS = recheck, waits_at, check, complete, pass_over, clear_passed, held
