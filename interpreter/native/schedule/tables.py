"""A branch with many ways (brx.idx): compiled code has written, for each vector, a mask of the lanes that take each of them."""

from __future__ import annotations

from . import words as s
from .divergence import collect, follow, part, room_to_leave
from .loops import Masks, Words
from .nodes import spare


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
        return follow(S, F, only, row)
    if spare(S, 2 * taken + 1, size + s.WAY + 1 + taken * room_to_leave(S, row)) == 0:
        return s.FULL
    first = S[s.FREE]
    end = first
    way = 0
    while way < S[S[row + s.A]]:
        behind = collect(S, F, end, S[row + s.PREDICATE] + way, 0, S[S[row + s.A] + 1 + way])
        if S[end + s.WAY_COUNT]:
            end = behind
        way += 1
    S[s.FREE] = end
    return part(S, F, row, first, end)


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


FUNCTIONS = table, vectors_of
