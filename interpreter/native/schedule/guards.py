"""What the rows of barriers and syncs say of their operands, and groups of which only some lanes stop there."""

from __future__ import annotations

from . import words as s
from .convergence import go
from .divergence import child, collect, lanes_taken
from .loops import Masks, Words
from .nodes import push, spare


def guarded(S: Words, F: Masks, row: int) -> int:
    """0: the group stops here, perhaps without the lanes for which the guard does not hold, which go on; else a code for run() plus one."""
    if S[row + s.GUARDED] == s.NAMED_BY_TEXT:
        return 0
    if S[row + s.GUARDED] == s.NAMED_BY_ONE:
        if F[S[row + s.GUARD]] & 1 != S[row + s.INVERTED]:
            return 0
        return go(S, F, S[row + s.A]) + 1
    place = S[row + s.GUARD]
    flip = 0 - S[row + s.INVERTED]
    n = lanes_taken(S, F, place, flip)
    if n == S[s.LANES]:
        return 0
    if n == 0:
        return go(S, F, S[row + s.A]) + 1
    if S[s.APART] == 0:
        return s.PARTED + 1
    if spare(S, 3, 2 * S[s.COUNT] + 2 * s.WAY) == 0:
        return s.FULL + 1
    push(S, split(S, F, place, flip, S[row + s.A]))
    return 0


def split(S: Words, F: Masks, place: int, flip: int, to: int) -> int:
    """Leaves the running group the lanes that have a predicate; gives the others, as a group at another place."""
    at = S[s.FREE]
    behind = collect(S, F, at, place, flip, S[s.PC])
    S[s.FREE] = collect(S, F, behind, place, ~flip, to)
    if S[s.PARENT]:
        S[S[s.PARENT] + s.CHILDREN] += 1
    S[s.LIST] = at + s.WAY
    S[s.COUNT] = S[at + s.WAY_COUNT]
    S[s.LANES] = S[at + s.WAY_LANES]
    S[s.TURN] = 0
    return child(S, behind, S[s.PARENT])


def first_value(S: Words, F: Masks, place: int) -> int:
    """What the first lane of the group has in a register."""
    entry = S[S[s.LIST]]
    lane = 0
    while entry >> lane & 1 == 0:
        lane += 1
    return int(F[(entry >> 32) * S[s.FRAME] + place + lane])


def number_of(S: Words, F: Masks, row: int) -> int:
    """The number of the barrier at which the group arrives; NOWHERE if its lanes differ."""
    if S[row + s.NUMBERED] == s.NAMED_BY_TEXT:
        return int(S[row + s.NUMBER])
    if S[row + s.NUMBERED] == s.NAMED_BY_ONE:
        return int(F[S[row + s.NUMBER]])
    number = first_value(S, F, S[row + s.NUMBER])
    i = 0
    while i < S[s.COUNT]:
        entry = S[S[s.LIST] + i]
        place = (entry >> 32) * S[s.FRAME] + S[row + s.NUMBER]
        lane = 0
        while lane < 32:
            if entry >> lane & 1 and F[place + lane] != number:
                return s.NOWHERE
            lane += 1
        i += 1
    return number


def count_of(S: Words, F: Masks, row: int) -> int:
    """For how many threads the barrier waits; 0: for all."""
    if S[row + s.NAMED] == s.NAMED_BY_ONE:
        return int(F[S[row + s.PREDICATE]])
    if S[row + s.NAMED] == s.NAMED_BY_LANES:
        return first_value(S, F, S[row + s.PREDICATE])
    return int(S[row + s.B])


FUNCTIONS = guarded, split, first_value, number_of, count_of
