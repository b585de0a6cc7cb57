"""Lanes come to where they meet others: at a join, or at the end of the kernel (vector/convergence.py)."""

from __future__ import annotations

from . import passing
from . import words as s
from .loops import Masks, Words, popcount
from .nodes import drop, keep_living, park, push


def go(S: Words, F: Masks, to: int) -> int:
    """The group that runs goes to a place, which may be the end of its way."""
    if to == S[s.STOP]:
        parent = S[s.PARENT]
        S[s.COUNT] = 0
        arrive(S, F, parent)
    elif to == s.END:
        leave(S, F)
    else:
        S[s.PC] = to
    return 0


def go_node(S: Words, F: Masks, node: int) -> int:
    """The same for a group that does not run: it becomes ready if it has not come to the end of its way."""
    parent = S[node + s.NODE_PARENT]
    to = S[node + s.NODE_PC]
    if parent and S[parent + s.NODE_PC] == to:
        drop(S, node)
        arrive(S, F, parent)
    elif to == s.END:
        end_lanes(S, F, node)
        drop(S, node)
        withdraw(S, F, parent)
    else:
        push(S, node)
    return 0


def arrive(S: Words, F: Masks, join: int) -> int:
    """A group below a join has come there, and is no more."""
    S[join + s.CHILDREN] -= 1
    if S[join + s.CHILDREN] == 0:
        settle(S, F, join)
    return 0


def leave(S: Words, F: Masks) -> int:
    """All lanes of the group that runs end."""
    end_lanes(S, F, s.RUNNING)
    parent = S[s.PARENT]
    S[s.COUNT] = 0
    return withdraw(S, F, parent)


def settle(S: Words, F: Masks, join: int) -> int:
    """No lanes are missing at a join: those that are there go on."""
    lanes = S[join + s.NODE_LANES]
    keep_living(S, join)
    if S[join + s.NODE_LANES] != lanes:
        S[join + s.NODE_TURN] = 0
    if S[join + s.YIELDS]:
        S[join + s.YIELDS] = 0
        rest(S, join)
    else:
        go_node(S, F, join)
    return 0


def withdraw(S: Words, F: Masks, join: int) -> int:
    """A group below a join is no more, and has not come there."""
    while join:
        S[join + s.CHILDREN] -= 1
        if S[join + s.CHILDREN]:
            return 0
        keep_living(S, join)
        if S[join + s.NODE_COUNT]:
            return settle(S, F, join)
        above = S[join + s.NODE_PARENT]
        drop(S, join)
        join = above
    return 0


def end_lanes(S: Words, F: Masks, node: int) -> int:
    """Lanes have executed their last instruction."""
    alive = S[s.ALIVE]
    at = S[node + s.NODE_LIST]
    i = 0
    while i < S[node + s.NODE_COUNT]:
        entry = S[at + i]
        mask = entry & 0xFFFFFFFF
        S[alive + (entry >> 32)] &= ~mask
        S[s.LIVING] -= popcount(mask)
        i += 1
    S[s.EVENTS] += 1
    if S[s.BLOCKED]:
        passing.recheck(S, F)
    return 0


def turn(S: Words, limit: int, to: int) -> int:
    """The group goes back to the head of a loop; 1 if it has turned so often that others run first."""
    if to == S[s.STOP]:  # its siblings meet it at the head: it is the suspended group that turns
        join = S[s.PARENT]
        S[join + s.NODE_TURN] += 1
        if S[join + s.NODE_TURN] >= limit:
            S[join + s.YIELDS] = 1
        return 0
    S[s.TURN] += 1
    return int(S[s.TURN] >= limit)


def rest(S: Words, node: int) -> int:
    """A group that spins lets others run first."""
    S[node + s.NODE_TURN] = 0
    if S[s.QUIET] >= s.BEGINNING:
        S[node + s.NODE_TURN] = s.TURNS_OF_SPINNING
    S[node + s.STATE] = s.IS_SPINNING
    S[S[s.SPINNING_AT] + S[s.SPINNING]] = node
    S[s.SPINNING] += 1
    return 0


def wait_turns(S: Words, to: int, limit: int) -> int:
    """The group that runs has turned as often as it may: others run now, if there are any."""
    S[s.TURN] = 0
    S[s.PC] = to
    if S[s.READY] == 0 and S[s.BLOCKED] == 0 and S[s.SPINNING] == 0 and S[s.PARENT] == 0 and has_more(S) == 0:
        return still(S)
    if limit >= s.PATIENT and S[s.APART] == 0:
        return s.TURNED
    return rest(S, park(S, s.IS_SPINNING, to))


def has_more(S: Words) -> int:
    """May another wave run beside this one?"""
    return int(S[s.MORE] or S[s.NEXT_BLOCK] < S[s.BLOCKS])


def still(S: Words) -> int:
    """Counts one more round of spinning; not 0 where Python should look whether lanes get on."""
    if S[s.EVENTS] != S[s.SEEN]:
        S[s.SEEN] = S[s.EVENTS]
        S[s.QUIET] = 0
        return 0
    S[s.QUIET] += 1
    if S[s.QUIET] < s.QUIET_ROUNDS:
        return 0
    return s.CALM


FUNCTIONS = go, go_node, arrive, leave, settle, withdraw, end_lanes, turn, rest, wait_turns, has_more, still
