"""Regions: parts of the program that a group executes as one function, warp by warp."""

from __future__ import annotations

from . import words as s
from .loops import Words


def enter(S: Words, row: int, found: int) -> int:
    """What follows when a region's function has returned: the group stands before its exit (0), is to go on with it later, or runs segment by segment."""
    if found >= 0:
        S[s.REGION_AT] = found
        return s.PAUSE
    S[s.REGION_AT] = 0
    if found == s.REGION_FAILED:
        S[s.STATUS] = 0
        S[s.REGION_STEPS] = 0
        S[row + s.A] = 0
        S[s.PC] += 1
        return 0
    S[s.STEPS] += S[s.REGION_STEPS]
    S[s.REGION_STEPS] = 0
    return 0


def is_open(S: Words, row: int) -> int:
    """Can the group run a region as one?  Not if it is to stop inside."""
    if S[row + s.A] == 0:
        return 0
    inside = S[row + s.INSIDE]
    n = S[inside]
    i = 0
    while i < S[s.DEPTH]:
        node = S[s.STACK] + i * s.NODE
        if S[node] == s.IS_JOIN:
            k = 1
            while k <= n:
                if S[inside + k] == S[node + s.NODE_PC]:
                    return 0
                k += 1
        i += 1
    return 1


FUNCTIONS = enter, is_open
