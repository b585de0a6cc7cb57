"""The groups that wait: a stack of joins and of groups that have not run yet, and the lists of their lanes."""

from __future__ import annotations

from . import words as s
from .loops import Words, popcount


def finish(S: Words) -> int:
    """The group is over, since it has come to its join or has ended: the next one."""
    while S[s.DEPTH] > 0:
        S[s.DEPTH] -= 1
        node = S[s.STACK] + S[s.DEPTH] * s.NODE
        S[s.LIST] = S[node + s.NODE_LIST]
        S[s.COUNT] = S[node + s.NODE_COUNT]
        S[s.LANES] = S[node + s.NODE_LANES]
        S[s.TURN] = S[node + s.NODE_TURN]
        S[s.PC] = S[node + s.NODE_PC]
        if S[node] == s.IS_PENDING:
            return 0
        S[s.STOP] = stop_below(S)
        keep_living(S)
        if S[s.COUNT] and S[s.PC] != S[s.STOP] and S[s.PC] != s.END:
            return 0
        if S[s.PC] == s.END:
            end_lanes(S, S[s.LIST], S[s.COUNT])
    S[s.COUNT] = 0
    return s.DONE


def stop_below(S: Words) -> int:
    """The place of the nearest join on the stack."""
    i = S[s.DEPTH] - 1
    while i >= 0:
        node = S[s.STACK] + i * s.NODE
        if S[node] == s.IS_JOIN:
            return int(S[node + s.NODE_PC])
        i -= 1
    return s.NOWHERE


def keep_living(S: Words) -> int:
    """Drops the lanes of the group that have ended."""
    at = S[s.LIST]
    n = S[s.COUNT]
    kept = 0
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        mask = entry & S[S[s.ALIVE] + (entry >> 32)]
        if mask:
            S[at + kept] = (entry >> 32) << 32 | mask
            kept += 1
            lanes += popcount(mask)
        i += 1
    S[s.COUNT] = kept
    S[s.LANES] = lanes
    return 0


def end_lanes(S: Words, at: int, n: int) -> int:
    """Lanes have executed their last instruction."""
    alive = S[s.ALIVE]
    i = 0
    while i < n:
        entry = S[at + i]
        mask = entry & 0xFFFFFFFF
        S[alive + (entry >> 32)] &= ~mask
        S[s.LIVING] -= popcount(mask)
        i += 1
    return 0


def room(S: Words, n: int) -> int:
    """Where n entries have room behind all lists in use; 0 if there is none."""
    at = behind(S, S[s.LIST] + S[s.COUNT])
    if at + n <= S[s.ROOM]:
        return at
    at = behind(S, S[s.LISTS])  # what lies between the stack's lists and the group's is in use no more
    if at + S[s.COUNT] + n > S[s.ROOM]:
        return 0
    i = 0
    while i < S[s.COUNT]:
        S[at + i] = S[S[s.LIST] + i]
        i += 1
    S[s.LIST] = at
    return int(at + S[s.COUNT])


def behind(S: Words, highest: int) -> int:
    """The first word behind a place and behind all lists of the stack."""
    i = 0
    while i < S[s.DEPTH]:
        node = S[s.STACK] + i * s.NODE
        end = S[node + s.NODE_LIST] + S[node + s.NODE_COUNT]
        if end > highest:
            highest = end
        i += 1
    return highest


def push(S: Words, where: int, kind: int, pc: int, at: int, n: int, lanes: int, turn: int) -> int:
    """Puts a node on the stack, or below those from `where` on."""
    i = S[s.DEPTH]
    while i > where:
        node = S[s.STACK] + i * s.NODE
        w = 0
        while w < s.NODE:
            S[node + w] = S[node - s.NODE + w]
            w += 1
        i -= 1
    S[s.DEPTH] += 1
    node = S[s.STACK] + where * s.NODE
    S[node + s.NODE_KIND] = kind
    S[node + s.NODE_PC] = pc
    S[node + s.NODE_LIST] = at
    S[node + s.NODE_COUNT] = n
    S[node + s.NODE_LANES] = lanes
    S[node + s.NODE_TURN] = turn
    return 0


FUNCTIONS = finish, stop_below, keep_living, end_lanes, room, behind, push
