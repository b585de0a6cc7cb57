"""Groups that have come to one place on different ways go on as one (vector/waiting/uniting.py)."""

from __future__ import annotations

from . import convergence
from . import words as s
from .loops import Masks, Words, popcount
from .nodes import drop, forget, mark, new, push, unmark


def gather(S: Words, F: Masks, first: int) -> int:
    """The groups that are picked from a number on go on, those at one place as one."""
    i = first
    while i < S[s.PICKED]:
        node = S[S[s.PICKED_AT] + i]
        if node and same_place(S, i + 1, S[node + s.NODE_PC]):
            unite(S, F, i)
        i += 1
    i = first
    while i < S[s.PICKED]:
        node = S[S[s.PICKED_AT] + i]
        if node:
            push(S, node)
        i += 1
    S[s.PICKED] = first
    return 0


def same_place(S: Words, first: int, pc: int) -> int:
    """How many of the groups that are picked from a number on are at a place."""
    found = 0
    i = first
    while i < S[s.PICKED]:
        node = S[S[s.PICKED_AT] + i]
        if node and S[node + s.NODE_PC] == pc:
            found += 1
        i += 1
    return found


def unite(S: Words, F: Masks, first: int) -> int:
    """The picked group of a number, and those after it at its place, become one, below the nearest join that is above them all."""
    picked = S[s.PICKED_AT]
    pc = S[S[picked + first] + s.NODE_PC]
    join = common(S, first, pc)
    i = first
    while i < S[s.PICKED]:
        node = S[picked + i]
        if node and S[node + s.NODE_PC] == pc:
            mark(S, S[s.HERE], node)
            mark(S, S[s.GONE], node)
            parent = S[node + s.NODE_PARENT]
            while parent != join:
                forget(S, parent)
                parent = S[parent + s.NODE_PARENT]
            unmark(S, S[s.GONE], node)
        i += 1
    out = of_marked(S, pc, join)
    if join:
        S[join + s.CHILDREN] += 1
    i = first
    while i < S[s.PICKED]:
        node = S[picked + i]
        if node and S[node + s.NODE_PC] == pc:
            S[picked + i] = 0
            parent = S[node + s.NODE_PARENT]
            drop(S, node)
            convergence.withdraw(S, F, parent)
        i += 1
    S[picked + first] = out
    return 0


def common(S: Words, first: int, pc: int) -> int:
    """The nearest join above all these groups; 0 if there is none."""
    join = S[S[S[s.PICKED_AT] + first] + s.NODE_PARENT]
    while join:
        i = first
        while i < S[s.PICKED]:
            node = S[S[s.PICKED_AT] + i]
            if node and S[node + s.NODE_PC] == pc and is_above(S, join, node) == 0:
                break
            i += 1
        if i == S[s.PICKED]:
            return int(join)
        join = S[join + s.NODE_PARENT]
    return 0


def is_above(S: Words, join: int, node: int) -> int:
    """Does a node stand below a join?"""
    while node and node != join:
        node = S[node + s.NODE_PARENT]
    return int(node == join)


def of_marked(S: Words, pc: int, parent: int) -> int:
    """A group of the lanes that are marked as here; the marks vanish."""
    at = S[s.FREE]
    n = 0
    lanes = 0
    vector = 0
    while vector < S[s.WAVE_BLOCKS] * S[s.EACH]:
        mask = S[S[s.HERE] + vector]
        if mask:
            S[at + n] = vector << 32 | mask
            n += 1
            lanes += popcount(mask)
            S[S[s.HERE] + vector] = 0
        vector += 1
    S[s.FREE] += n
    return new(S, s.IS_READY, pc, at, n, lanes, parent)


FUNCTIONS = gather, same_place, unite, common, is_above, of_marked
