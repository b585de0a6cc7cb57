"""Where a group goes after a segment, and how it parts (vector/divergence.py).

The lanes of each way are first collected in records: where the way leads, how many entries and lanes it has, where the next record is, and the entries.
Records stand in the order in which the ways run.
"""

from __future__ import annotations

from . import words as s
from .convergence import end_lanes, go, go_node, leave, settle, turn, wait_turns
from .exits import depart, exit_of, inside
from .loops import Masks, Words, popcount
from .nodes import drop, new, park, push, spare


def follow(S: Words, F: Masks, to: int, row: int) -> int:
    """The whole group goes to a place, as the row says where that leads back or out of loops."""
    if S[row + s.EXITS] and S[s.PARENT] and spare(S, 2, room_to_leave(S, row)) == 0:
        return s.FULL
    if S[row + s.TURNS]:
        limit = limit_of(S, S[row + s.TURNS], to)
        if limit and turn(S, limit, to):
            return wait_turns(S, to, limit)
    if S[row + s.EXITS]:
        way = exit_of(S, row, to)
        if way and inside(S, way, S[s.PARENT]):
            node = park(S, s.IS_READY, to)
            depart(S, F, node, way)
            return go_node(S, F, node)
    return go(S, F, to)


def limit_of(S: Words, at: int, to: int) -> int:
    """How often a loop may turn to which a row leads back; 0 where it does not."""
    n = S[at]
    i = 0
    while i < n:
        if S[at + 1 + 2 * i] == to:
            return int(S[at + 2 + 2 * i])
        i += 1
    return 0


def lanes_taken(S: Words, F: Masks, place: int, flip: int) -> int:
    """How many lanes of the group have a predicate."""
    at = S[s.LIST]
    n = S[s.COUNT]
    frame = S[s.FRAME]
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        lanes += popcount((F[(entry >> 32) * frame + place] ^ flip) & entry & 0xFFFFFFFF)
        i += 1
    return lanes


def collect(S: Words, F: Masks, at: int, place: int, flip: int, to: int) -> int:
    """Writes a record of the lanes that have a predicate; gives its end."""
    frame = S[s.FRAME]
    first = S[s.LIST]
    n = S[s.COUNT]
    end = at + s.WAY
    lanes = 0
    i = 0
    while i < n:
        entry = S[first + i]
        vector = entry >> 32
        mask = (F[vector * frame + place] ^ flip) & entry & 0xFFFFFFFF
        S[end] = vector << 32 | mask
        end += mask != 0
        lanes += popcount(mask)
        i += 1
    S[at + s.WAY_TO] = to
    S[at + s.WAY_COUNT] = end - at - s.WAY
    S[at + s.WAY_LANES] = lanes
    S[at + s.WAY_NEXT] = end
    return end


def branch(S: Words, F: Masks, row: int) -> int:
    """A branch on which lanes may disagree: those that are fewer run first."""
    place = S[row + s.PREDICATE]
    flip = 0 - S[row + s.NEGATED]
    taken = lanes_taken(S, F, place, flip)
    if taken == S[s.LANES]:
        return follow(S, F, S[row + s.A], row)
    if taken == 0:
        return follow(S, F, S[row + s.B], row)
    if spare(S, 3, 2 * S[s.COUNT] + 2 * s.WAY + room_to_leave(S, row)) == 0:
        return s.FULL
    first = S[row + s.A]
    second = S[row + s.B]
    left = S[s.LANES] - taken
    swap = left < taken or (left == taken and flip == 0)
    if S[row + s.FIRST] == first and first != second:
        swap = 0
    if S[row + s.FIRST] == second and first != second:
        swap = 1
    if swap:
        flip = ~flip
        first = S[row + s.B]
        second = S[row + s.A]
    at = S[s.FREE]
    end = collect(S, F, collect(S, F, at, place, flip, first), place, ~flip, second)
    S[s.FREE] = end
    return part(S, F, row, at, end)


def room_to_leave(S: Words, row: int) -> int:
    """How many entries joins may have that lanes leave for."""
    if S[row + s.EXITS]:
        return int(2 * S[s.WAVE_BLOCKS] * S[s.EACH])
    return 0


def part(S: Words, F: Masks, row: int, first: int, end: int) -> int:
    """The lanes of the group go several ways, of which the records tell, and reconverge where the row says."""
    join = S[row + s.JOIN]
    leaving = 0
    staying = 0
    at = first
    while at < end:
        way = exit_of(S, row, S[at + s.WAY_TO])
        if way == 0:
            staying += 1
        elif inside(S, way, S[s.PARENT]):
            leaving = 1
        at = S[at + s.WAY_NEXT]
    if S[S[s.UNMET] + join + 1] or (leaving and staying < 2):
        return divide(S, F, row, first, end, leaving)
    parent = S[s.PARENT]
    if parent == 0 or S[parent + s.NODE_PC] != join:
        parent = park(S, s.IS_JOIN, join)
    else:
        S[s.COUNT] = 0
        S[parent + s.CHILDREN] -= 1
    children = 0
    at = first
    while at < end:
        children += S[at + s.WAY_TO] != join
        at = S[at + s.WAY_NEXT]
    S[parent + s.CHILDREN] += children
    if S[parent + s.CHILDREN] == 0:
        return settle(S, F, parent)
    at = first
    while at < end:
        way = exit_of(S, row, S[at + s.WAY_TO])
        if way and staying > 1 and S[at + s.WAY_TO] != join:
            node = child(S, at, parent)
            depart(S, F, node, way)
            go_node(S, F, node)
        at = S[at + s.WAY_NEXT]
    bottom = S[s.READY]
    at = first
    while at < end:
        if S[at + s.WAY_TO] != join and (staying < 2 or exit_of(S, row, S[at + s.WAY_TO]) == 0):
            push(S, child(S, at, parent))
        at = S[at + s.WAY_NEXT]
    return reverse(S, S[s.READY_AT] + bottom, S[s.READY_AT] + S[s.READY] - 1)


def child(S: Words, at: int, parent: int) -> int:
    """The lanes of a record as a group below a join."""
    return new(S, s.IS_READY, S[at + s.WAY_TO], at + s.WAY, S[at + s.WAY_COUNT], S[at + s.WAY_LANES], parent)


def reverse(S: Words, low: int, high: int) -> int:
    """Turns words round."""
    while low < high:
        word = S[low]
        S[low] = S[high]
        S[high] = word
        low += 1
        high -= 1
    return 0


def divide(S: Words, F: Masks, row: int, first: int, end: int, leaving: int) -> int:
    """The lanes diverge for good: each group takes its own place below the join, or leaves it."""
    parent = S[s.PARENT]
    at = first
    while at < end:
        if parent and at != first:
            S[parent + s.CHILDREN] += 1
        at = S[at + s.WAY_NEXT]
    S[s.COUNT] = 0
    at = first
    while at < end:
        node = child(S, at, parent)
        way = exit_of(S, row, S[at + s.WAY_TO])
        if leaving and way:
            depart(S, F, node, way)
        go_node(S, F, node)
        at = S[at + s.WAY_NEXT]
    return 0


def exit_some(S: Words, F: Masks, row: int) -> int:
    """The lanes for which the predicate holds end, the others go on."""
    place = S[row + s.PREDICATE]
    flip = 0 - S[row + s.NEGATED]
    ended = lanes_taken(S, F, place, flip)
    if ended == 0:
        return follow(S, F, S[row + s.B], row)
    if ended == S[s.LANES]:
        return leave(S, F)
    if spare(S, 3, 2 * S[s.COUNT] + 2 * s.WAY) == 0:
        return s.FULL
    at = S[s.FREE]
    behind = collect(S, F, at, place, flip, s.END)
    S[s.FREE] = collect(S, F, behind, place, ~flip, S[row + s.B])
    gone = child(S, at, S[s.PARENT])
    S[s.LIST] = behind + s.WAY
    S[s.COUNT] = S[behind + s.WAY_COUNT]
    S[s.LANES] = S[behind + s.WAY_LANES]
    S[s.TURN] = 0
    end_lanes(S, F, gone)
    drop(S, gone)
    return go(S, F, S[row + s.B])


FUNCTIONS = follow, limit_of, lanes_taken, collect, branch, room_to_leave, part, child, reverse, divide, exit_some
