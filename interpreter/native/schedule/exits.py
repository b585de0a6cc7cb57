"""Lanes that leave loops in which others wait for them: they leave the joins there, for one behind the loops."""

from __future__ import annotations

from . import words as s
from .loops import Words, popcount
from .stack import behind, push


def exit_of(S: Words, row: int, to: int) -> int:
    """The way out of loops that leads to a place: (to, join, how many places inside, these places); 0 where it is none."""
    at = S[row + s.EXITS]
    if at == 0:
        return 0
    n = S[at]
    at += 1
    while n > 0:
        if S[at] == to:
            return int(at)
        at += 3 + S[at + 2]
        n -= 1
    return 0


def inside(S: Words, way: int, pc: int) -> int:
    """Does a place lie in the loops that a way leaves?"""
    i = 0
    while i < S[way + 2]:
        if S[way + 3 + i] == pc:
            return 1
        i += 1
    return 0


def below(S: Words, row: int, to: int) -> int:
    """Do others wait for the group in the loops that it leaves by going to a place?"""
    way = exit_of(S, row, to)
    if way == 0:
        return 0
    return inside(S, way, S[s.STOP])


def depart(S: Words, at: int, n: int, lanes: int, row: int, to: int) -> int:
    """Lanes leave the joins of the loops that they leave, for one behind these; True if there is no room."""
    way = exit_of(S, row, to)
    gone = S[s.GONE]
    i = 0
    while i < n:
        S[gone + (S[at + i] >> 32)] = S[at + i] & 0xFFFFFFFF
        i += 1
    lowest = S[s.DEPTH]
    outer = s.NOWHERE
    i = S[s.DEPTH] - 1
    while i >= 0:
        node = S[s.STACK] + i * s.NODE
        if S[node] == s.IS_JOIN:
            if not inside(S, way, S[node + s.NODE_PC]):
                outer = S[node + s.NODE_PC]
                break
            lowest = i
        i -= 1
    node = S[s.STACK] + lowest * s.NODE
    join = S[way + 1]
    if outer != join:
        count = S[node + s.NODE_COUNT]
        copy = behind(S, S[s.FREE])
        if copy + count > S[s.ROOM] or S[s.DEPTH] + 4 > s.NODES:
            return 1
        i = 0
        while i < count:
            S[copy + i] = S[S[node + s.NODE_LIST] + i]
            i += 1
        push(S, lowest, s.IS_JOIN, join, copy, count, S[node + s.NODE_LANES], S[node + s.NODE_TURN])
        lowest += 1
    i = lowest
    while i < S[s.DEPTH]:
        node = S[s.STACK] + i * s.NODE
        if S[node] == s.IS_JOIN:
            forget(S, node)
        i += 1
    if to != join:
        push(S, lowest, s.IS_PENDING, to, at, n, lanes, 0)
    i = 0
    while i < n:
        S[gone + (S[at + i] >> 32)] = 0
        i += 1
    return 0


def forget(S: Words, node: int) -> int:
    """A join no longer waits for the lanes that have gone."""
    at = S[node + s.NODE_LIST]
    n = S[node + s.NODE_COUNT]
    gone = S[s.GONE]
    kept = 0
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        mask = entry & 0xFFFFFFFF & ~S[gone + (entry >> 32)]
        S[at + kept] = (entry >> 32) << 32 | mask
        kept += mask != 0
        lanes += popcount(mask)
        i += 1
    S[node + s.NODE_COUNT] = kept
    S[node + s.NODE_LANES] = lanes
    return 0


FUNCTIONS = exit_of, inside, below, depart, forget
