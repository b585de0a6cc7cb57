"""Where a group goes after a segment, and how it diverges."""

from __future__ import annotations

from . import words as s
from .exits import below, depart
from .loops import Masks, Words, popcount
from .stack import end_lanes, finish, push, room


def go(S: Words, to: int, row: int) -> int:
    """The whole group goes to a place."""
    if S[row + s.EXITS] and below(S, row, to):
        if to == s.END:
            return s.STUCK
        n = S[s.COUNT]
        S[s.FREE] = S[s.LIST] + n
        if depart(S, S[s.LIST], n, S[s.LANES], row, to):
            return s.FULL
        return finish(S)
    if S[row + s.TURNS]:
        limit = limit_of(S, S[row + s.TURNS], to)
        if limit:
            S[s.TURN] += 1
            if S[s.TURN] >= limit:
                S[s.PC] = to
                if to == S[s.STOP]:
                    finish(S)
                return s.TURNED
    if to == S[s.STOP]:
        return finish(S)
    if to == s.END:
        end_lanes(S, S[s.LIST], S[s.COUNT])
        return finish(S)
    S[s.PC] = to
    return 0


def limit_of(S: Words, at: int, to: int) -> int:
    """How often a loop may turn to which a row leads back; 0 where it does not."""
    n = S[at]
    i = 0
    while i < n:
        if S[at + 1 + 2 * i] == to:
            return int(S[at + 2 + 2 * i])
        i += 1
    return 0


def lanes_taken(S: Words, F: Masks, row: int) -> int:
    """How many lanes of the group have the predicate of a row, negated or not."""
    at = S[s.LIST]
    n = S[s.COUNT]
    frame = S[s.FRAME]
    place = S[row + s.PREDICATE]
    flip = 0 - S[row + s.NEGATED]
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        lanes += popcount((F[(entry >> 32) * frame + place] ^ flip) & entry & 0xFFFFFFFF)
        i += 1
    return lanes


def branch(S: Words, F: Masks, row: int) -> int:
    """A branch on which lanes may disagree."""
    taken = lanes_taken(S, F, row)
    if taken == S[s.LANES]:
        return go(S, S[row + s.A], row)
    if taken == 0:
        return go(S, S[row + s.B], row)
    n = S[s.COUNT]
    yes = room(S, 2 * n)
    no = yes + n
    if yes == 0 or S[s.DEPTH] + 4 > s.NODES:
        return s.FULL
    S[s.FREE] = no + n
    at = S[s.LIST]
    frame = S[s.FRAME]
    place = S[row + s.PREDICATE]
    flip = 0 - S[row + s.NEGATED]
    yeses = 0
    nos = 0
    i = 0
    while i < n:
        entry = S[at + i]
        vector = entry >> 32
        mask = entry & 0xFFFFFFFF
        bits = (F[vector * frame + place] ^ flip) & mask
        S[yes + yeses] = vector << 32 | bits
        yeses += bits != 0
        bits = bits ^ mask
        S[no + nos] = vector << 32 | bits
        nos += bits != 0
        i += 1
    to = S[row + s.A]
    other = S[row + s.B]
    lanes = taken
    rest = S[s.LANES] - taken
    swap = rest <= lanes
    if S[row + s.FIRST] != s.NOWHERE:
        swap = S[row + s.FIRST] == other
    if swap:
        return diverge(S, row, no, nos, rest, other, yes, yeses, lanes, to)
    return diverge(S, row, yes, yeses, lanes, to, no, nos, rest, other)


def diverge(S: Words, row: int, list1: int, n1: int, lanes1: int, to1: int, list2: int, n2: int, lanes2: int, to2: int) -> int:
    """The lanes of the group diverge; the first of the two lists runs first."""
    join = S[row + s.JOIN]
    if S[row + s.EXITS]:
        if below(S, row, to1):
            if depart(S, list1, n1, lanes1, row, to1):
                return s.FULL
            return alone(S, list2, n2, lanes2, to2, row)
        if below(S, row, to2):
            if depart(S, list2, n2, lanes2, row, to2):
                return s.FULL
            return alone(S, list1, n1, lanes1, to1, row)
    if S[s.STOP] != join:
        push(S, S[s.DEPTH], s.IS_JOIN, join, S[s.LIST], S[s.COUNT], S[s.LANES], S[s.TURN])
        S[s.STOP] = join
    if to2 != join:
        push(S, S[s.DEPTH], s.IS_PENDING, to2, list2, n2, lanes2, 0)
    if to1 != join:
        push(S, S[s.DEPTH], s.IS_PENDING, to1, list1, n1, lanes1, 0)
    return finish(S)


def alone(S: Words, at: int, n: int, lanes: int, to: int, row: int) -> int:
    """Some lanes of the group, the others of which have departed, go on in its place."""
    S[s.LIST] = at
    S[s.COUNT] = n
    S[s.LANES] = lanes
    if to == S[s.STOP]:
        return finish(S)
    S[s.PC] = to
    return 0


def exit_some(S: Words, F: Masks, row: int) -> int:
    """The lanes for which the predicate holds end, the others go on."""
    n = S[s.COUNT]
    ended = room(S, n)
    if ended == 0:
        return s.FULL
    at = S[s.LIST]
    frame = S[s.FRAME]
    flip = 0 - S[row + s.NEGATED]
    joined = 0
    kept = 0
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        vector = entry >> 32
        mask = entry & 0xFFFFFFFF
        bits = (F[vector * frame + S[row + s.PREDICATE]] ^ flip) & mask
        S[ended + i] = vector << 32 | bits
        joined += popcount(bits)
        bits = bits ^ mask
        S[at + kept] = vector << 32 | bits
        kept += bits != 0
        lanes += popcount(bits)
        i += 1
    if joined:
        end_lanes(S, ended, n)
    S[s.COUNT] = kept
    S[s.LANES] = lanes
    if kept == 0:
        return finish(S)
    return go(S, S[row + s.B], row)


FUNCTIONS = go, limit_of, lanes_taken, branch, diverge, alone, exit_some
