"""Lanes that leave loops in which others wait for them: they leave the joins there, for one behind the loops."""

from __future__ import annotations

from . import words as s
from .convergence import withdraw
from .loops import Masks, Words
from .nodes import forget, mark, new, unmark


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


def inside(S: Words, way: int, join: int) -> int:
    """Is there a join, in the loops that a way leaves?"""
    i = 0
    while join and i < S[way + 2]:
        if S[way + 3 + i] == S[join + s.NODE_PC]:
            return 1
        i += 1
    return 0


def depart(S: Words, F: Masks, node: int, way: int) -> int:
    """A group leaves the joins in the loops that it leaves, for one behind these."""
    first = S[node + s.NODE_PARENT]
    if inside(S, way, first) == 0:
        return 0
    top = first
    outer = S[first + s.NODE_PARENT]
    while inside(S, way, outer):
        top = outer
        outer = S[outer + s.NODE_PARENT]
    join = S[way + 1]
    if outer and S[outer + s.NODE_PC] == join:
        S[outer + s.CHILDREN] += 1
    else:
        outer = above(S, top, join)
    mark(S, S[s.GONE], node)
    at = first
    while at != outer:
        forget(S, at)
        at = S[at + s.NODE_PARENT]
    unmark(S, S[s.GONE], node)
    S[node + s.NODE_PARENT] = outer
    S[node + s.NODE_TURN] = 0
    withdraw(S, F, first)
    return 0


def above(S: Words, top: int, pc: int) -> int:
    """A join in the place of another one, which comes to stand below it, as does a group that leaves that one."""
    at = S[s.FREE]
    n = S[top + s.NODE_COUNT]
    S[s.FREE] += n
    i = 0
    while i < n:
        S[at + i] = S[S[top + s.NODE_LIST] + i]
        i += 1
    join = new(S, s.IS_JOIN, pc, at, n, S[top + s.NODE_LANES], S[top + s.NODE_PARENT])
    S[join + s.CHILDREN] = 2
    S[top + s.NODE_PARENT] = join
    return join


FUNCTIONS = exit_of, inside, depart, above
