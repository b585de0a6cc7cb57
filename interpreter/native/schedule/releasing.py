"""Lanes that wait at a join for siblings who cannot come, and groups that spin, when no group can run."""

from __future__ import annotations

from . import words as s
from .convergence import go_node, has_more, still
from .loops import Masks, Words, popcount
from .nodes import mark, new, pick, unmark


def release(S: Words, F: Masks) -> int:
    """Lanes that wait at a join for siblings that cannot come go on alone; 0 if some do, 1 if none, else a code for Python plus one."""
    first = S[s.PICKED]
    S[s.LOOKS] += 1
    above_all(S, S[s.BLOCKED_AT], S[s.BLOCKED])
    above_all(S, S[s.SPINNING_AT], S[s.SPINNING])
    end = S[s.PICKED]
    spinning = S[s.SPINNING]
    moved = 1
    i = first
    while i < end:
        join = S[S[s.PICKED_AT] + i]
        arrived = lanes_at(S, join)
        if arrived and S[s.APART] == 0 and only_ends(S, S[join + s.NODE_PC]) == 0:
            S[s.PICKED] = first
            return s.PARTED + 1
        if arrived:
            if spinning:
                S[S[s.UNMET] + S[join + s.NODE_PC] + 1] = 1
                S[s.ANY_UNMET] = 1
            go_node(S, F, take_arrived(S, join))
            moved = 0
        i += 1
    S[s.PICKED] = first
    return moved


def only_ends(S: Words, pc: int) -> int:
    """Do lanes do nothing more from a place on?"""
    return int(pc == s.END or S[S[s.ROWS] + pc * s.ROW] == s.EXIT)


def above_all(S: Words, at: int, n: int) -> int:
    """Picks the joins above some groups at which lanes have arrived, each once."""
    i = 0
    while i < n:
        join = S[S[at + i] + s.NODE_PARENT]
        while join:
            if S[join + s.LEFT] != S[s.LOOKS]:
                S[join + s.LEFT] = S[s.LOOKS]
                if lanes_at(S, join):
                    pick(S, join)
            join = S[join + s.NODE_PARENT]
        i += 1
    return 0


def mark_below(S: Words, join: int) -> int:
    """Marks the lanes below a join as gone."""
    i = 0
    while i < S[s.HIGH]:
        node = S[s.NODES_AT] + i * s.NODE
        if S[node + s.STATE] != s.IS_UNUSED and S[node + s.NODE_PARENT] == join:
            mark(S, S[s.GONE], node)
        i += 1
    return 0


def lanes_at(S: Words, join: int) -> int:
    """How many living lanes have come to a join."""
    mark_below(S, join)
    lanes = 0
    i = 0
    while i < S[join + s.NODE_COUNT]:
        entry = S[S[join + s.NODE_LIST] + i]
        vector = entry >> 32
        lanes += popcount(entry & S[S[s.ALIVE] + vector] & ~S[S[s.GONE] + vector])
        i += 1
    unmark(S, S[s.GONE], join)
    return lanes


def take_arrived(S: Words, join: int) -> int:
    """The lanes that have come to a join as a group that goes on without the others."""
    mark_below(S, join)
    at = S[s.FREE]
    here = S[join + s.NODE_LIST]
    n = 0
    lanes = 0
    kept = 0
    i = 0
    while i < S[join + s.NODE_COUNT]:
        entry = S[here + i]
        vector = entry >> 32
        mask = entry & S[S[s.ALIVE] + vector] & ~S[S[s.GONE] + vector]
        S[at + n] = vector << 32 | mask
        n += mask != 0
        lanes += popcount(mask)
        mask = entry & S[S[s.GONE] + vector]
        S[S[s.GONE] + vector] = 0
        S[here + kept] = vector << 32 | mask
        kept += mask != 0
        i += 1
    S[s.FREE] += n
    S[join + s.NODE_COUNT] = kept
    S[join + s.NODE_LANES] -= lanes
    S[join + s.NODE_TURN] = 0
    parent = S[join + s.NODE_PARENT]
    if parent:
        S[parent + s.CHILDREN] += 1
    return new(S, s.IS_READY, S[join + s.NODE_PC], at, n, lanes, parent)


def wake(S: Words, F: Masks) -> int:
    """Groups that spin go on; a code for Python where others should run, or where it should look whether lanes get on."""
    code = still(S)
    first = S[s.PICKED]
    i = 0
    while i < S[s.SPINNING]:
        pick(S, S[S[s.SPINNING_AT] + i])
        i += 1
    S[s.SPINNING] = 0
    end = S[s.PICKED]
    while end > first:
        end -= 1
        go_node(S, F, S[S[s.PICKED_AT] + end])
    S[s.PICKED] = first
    if has_more(S):
        return s.SPINS
    return code


FUNCTIONS = release, only_ends, above_all, mark_below, lanes_at, take_arrived, wake
