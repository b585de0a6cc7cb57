"""A branch with many ways (brx.idx): compiled code has written, for each vector, a mask of the lanes that take each of them.

The lanes of each way are first collected, in records behind all lists: where the way leads, how many entries and lanes it has, and the entries.
"""

from __future__ import annotations

from . import words as s
from .divergence import alone, go
from .exits import below, depart, exit_of
from .loops import Masks, Words, popcount
from .stack import finish, push, room


def table(S: Words, F: Masks, row: int) -> int:
    """The lanes of the group part; those of the first way run first."""
    size = 0
    taken = 0
    only = 0
    way = 0
    while way < S[S[row + s.A]]:
        count = vectors_of(S, F, row, way)
        if count:
            size += count + s.WAY
            taken += 1
            only = S[S[row + s.A] + 1 + way]
        way += 1
    if taken == 1:
        return go(S, only, row)
    first = room(S, size + taken * S[s.COUNT])  # and a list for each join that lanes may leave for
    if first == 0 or S[s.DEPTH] + 2 * taken + 4 > s.NODES:
        return s.FULL
    end = collect(S, F, row, first)
    S[s.FREE] = end
    leaving = 0
    staying = 0
    at = first
    while at < end:
        leaving += below(S, row, S[at + s.WAY_TO])
        if exit_of(S, row, S[at + s.WAY_TO]) == 0:
            staying += 1
            only = at
        at += s.WAY + S[at + s.WAY_COUNT]
    if leaving and staying < 2:
        leave(S, row, first, end)
        if staying == 0:
            return finish(S)
        return alone(S, only + s.WAY, S[only + s.WAY_COUNT], S[only + s.WAY_LANES], S[only + s.WAY_TO], row)
    join = S[row + s.JOIN]
    if S[s.STOP] != join:
        push(S, S[s.DEPTH], s.IS_JOIN, join, S[s.LIST], S[s.COUNT], S[s.LANES], S[s.TURN])
        S[s.STOP] = join
    if staying > 1:
        leave(S, row, first, end)
    bottom = S[s.DEPTH]
    at = first
    while at < end:
        if S[at + s.WAY_TO] != join and (staying < 2 or below(S, row, S[at + s.WAY_TO]) == 0):
            push(S, bottom, s.IS_PENDING, S[at + s.WAY_TO], at + s.WAY, S[at + s.WAY_COUNT], S[at + s.WAY_LANES], 0)
        at += s.WAY + S[at + s.WAY_COUNT]
    return finish(S)


def vectors_of(S: Words, F: Masks, row: int, way: int) -> int:
    """How many vectors have lanes that take a way."""
    place = S[row + s.PREDICATE] + way
    count = 0
    i = 0
    while i < S[s.COUNT]:
        entry = S[S[s.LIST] + i]
        count += F[(entry >> 32) * S[s.FRAME] + place] & entry & 0xFFFFFFFF != 0
        i += 1
    return count


def collect(S: Words, F: Masks, row: int, at: int) -> int:
    """Writes the records, from a place on; gives their end."""
    way = 0
    while way < S[S[row + s.A]]:
        place = S[row + s.PREDICATE] + way
        end = at + s.WAY
        lanes = 0
        i = 0
        while i < S[s.COUNT]:
            entry = S[S[s.LIST] + i]
            mask = F[(entry >> 32) * S[s.FRAME] + place] & entry & 0xFFFFFFFF
            S[end] = (entry >> 32) << 32 | mask
            end += mask != 0
            lanes += popcount(mask)
            i += 1
        if lanes:
            S[at + s.WAY_TO] = S[S[row + s.A] + 1 + way]
            S[at + s.WAY_COUNT] = end - at - s.WAY
            S[at + s.WAY_LANES] = lanes
            at = end
        way += 1
    return at


def leave(S: Words, row: int, at: int, end: int) -> int:
    """The lanes of ways out of loops leave the joins in these."""
    while at < end:
        if below(S, row, S[at + s.WAY_TO]):
            depart(S, at + s.WAY, S[at + s.WAY_COUNT], S[at + s.WAY_LANES], row, S[at + s.WAY_TO])
        at += s.WAY + S[at + s.WAY_COUNT]
    return 0


FUNCTIONS = table, vectors_of, collect, leave
