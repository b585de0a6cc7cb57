"""Groups that wait for lanes of their warps, and what goes on when no group can run (vector/waiting/sync.py)."""

from __future__ import annotations

from . import words as s
from .convergence import go
from .divergence import lanes_taken
from .guards import guarded, split
from .loops import Masks, Words, popcount
from .nodes import block, mark, new, park, pick, push, spare, unblock, unmark
from .passing import clear_passed
from .releasing import release
from .uniting import gather


def sync(S: Words, F: Masks, row: int) -> int:
    """The group waits where it lacks lanes of its warps that a membermask names."""
    if S[row + s.PARTS]:
        code = guarded(S, F, row)
        if code:
            return code - 1
    if S[s.LANES] == S[s.LIVING] or misses(S, F, row) == 0:
        return go(S, F, S[row + s.A])
    if S[s.APART] == 0:
        return s.PARTED
    if spare(S, 3, 2 * S[s.COUNT] + 2 * s.WAY) == 0:
        return s.FULL
    if S[row + s.PARTS] == 0 and S[row + s.GUARDED] == s.NAMED_BY_LANES:  # lanes whose guard does not hold wait for nobody
        flip = 0 - S[row + s.INVERTED]
        if lanes_taken(S, F, S[row + s.GUARD], flip) < S[s.LANES]:
            push(S, split(S, F, S[row + s.GUARD], flip, S[row + s.A]))
        if misses(S, F, row) == 0:
            return push(S, park(S, s.IS_READY, S[row + s.A]))
    node = park(S, s.IS_AT_SYNC, S[row + s.A])
    S[node + s.NODE_ROW] = row
    return block(S, node, s.IS_AT_SYNC)


def misses(S: Words, F: Masks, row: int) -> int:
    """Does the group lack living lanes that its lanes name?"""
    i = 0
    while i < S[s.COUNT]:
        entry = S[S[s.LIST] + i]
        if named(S, F, row, entry) & S[S[s.ALIVE] + (entry >> 32)] & ~entry:
            return 1
        i += 1
    return 0


def named(S: Words, F: Masks, row: int, entry: int) -> int:
    """The lanes of a warp that those of an entry name which execute the sync."""
    frame = (entry >> 32) * S[s.FRAME]
    asking = entry & 0xFFFFFFFF
    if S[row + s.GUARDED] == s.NAMED_BY_ONE:
        asking = asking * (F[S[row + s.GUARD]] & 1 ^ S[row + s.INVERTED])
    if S[row + s.GUARDED] == s.NAMED_BY_LANES:
        asking = asking & (F[frame + S[row + s.GUARD]] ^ (0 - S[row + s.INVERTED]))
    if asking == 0:
        return 0
    if S[row + s.NAMED] == s.NAMED_BY_ONE:
        return int(F[S[row + s.PREDICATE]])
    if S[row + s.NAMED] == s.NAMED_BY_TEXT:
        return int(S[row + s.B])
    out = 0
    lane = 0
    while asking >> lane:
        out |= F[frame + S[row + s.PREDICATE] + lane] * (asking >> lane & 1)
        lane += 1
    return out


# ---------------------------------------------------------------- when no group can run


def free_one(S: Words, F: Masks) -> int:
    """0: some group can run, 1: none can, else a code for Python plus one."""
    code = split_passed(S, F)
    if code != 1:
        return code
    code = unite_blocked(S, F)
    if code != 1:
        return code
    return release(S, F)


def split_passed(S: Words, F: Masks) -> int:
    """Groups of which some blocks have passed their barrier part, so that those go on."""
    first = S[s.PICKED]
    i = 0
    while i < S[s.BLOCKED]:
        node = S[S[s.BLOCKED_AT] + i]
        if S[node + s.STATE] == s.IS_AT_BARRIER and S[node + s.LEFT] < S[node + s.NODE_COUNT]:
            pick(S, node)
        i += 1
    end = S[s.PICKED]
    if end == first:
        return 1
    if S[s.APART] == 0:
        S[s.PICKED] = first
        return s.PARTED + 1
    i = first
    while i < end:
        node = S[S[s.PICKED_AT] + i]
        number = S[node + s.NODE_NUMBER]
        S[S[s.PICKED_AT] + i] = take_free(S, F, node)
        S[S[S[s.PICKED_AT] + i] + s.NODE_NUMBER] = number
        i += 1
    i = first
    while i < end:
        node = S[S[s.PICKED_AT] + i]
        if node:
            number = S[node + s.NODE_NUMBER]
            j = i
            while j < end:
                node = S[S[s.PICKED_AT] + j]
                if node and S[node + s.NODE_NUMBER] == number:
                    S[S[s.PICKED_AT] + j] = 0
                    pick(S, node)
                j += 1
            gather(S, F, end)
        i += 1
    S[s.PICKED] = first
    return 0


def unite_blocked(S: Words, F: Masks) -> int:
    """Lanes that wait at equal instructions, and for no others, go on, those at one place as one group."""
    first = S[s.PICKED]
    i = 0
    while i < S[s.BLOCKED]:
        node = S[S[s.BLOCKED_AT] + i]
        if S[node + s.STATE] == s.IS_AT_SYNC:
            pick(S, node)
        i += 1
    end = S[s.PICKED]
    code = 1
    i = first
    while i < end and code < 2:
        if S[S[s.PICKED_AT] + i]:
            found = unite_equal(S, F, i, end)
            if found != 1:
                code = found
        i += 1
    S[s.PICKED] = first
    return code


def unite_equal(S: Words, F: Masks, i: int, end: int) -> int:
    """The same for those that wait at instructions equal to that of a picked group; they are picked no more."""
    key = S[S[S[S[s.PICKED_AT] + i] + s.NODE_ROW] + s.KEY]
    while i < end:
        node = S[S[s.PICKED_AT] + i]
        if node and S[S[node + s.NODE_ROW] + s.KEY] == key:
            S[S[s.PICKED_AT] + i] = 0
            pick(S, node)
            mark(S, S[s.HERE], node)
        i += 1
    exchange = key > 0 and free_places(S, F, end) > 1
    first = S[s.PICKED]
    i = end
    while i < first:
        node = S[S[s.PICKED_AT] + i]
        if exchange == 0 and can_go(S, F, node):
            pick(S, take_free(S, F, node))
        i += 1
    i = end
    while i < S[s.PICKED]:
        unmark(S, S[s.HERE], S[S[s.PICKED_AT] + i])
        i += 1
    some = S[s.PICKED] > first
    gather(S, F, first)
    S[s.PICKED] = end
    if exchange:
        return s.STUCK + 1
    return int(some == 0)


def free_places(S: Words, F: Masks, first: int) -> int:
    """At how many places groups stand, of those picked from a number on, that can go on with some of their warps."""
    places = 0
    i = first
    while i < S[s.PICKED]:
        node = S[S[s.PICKED_AT] + i]
        another = can_go(S, F, node)
        j = first
        while j < i:
            other = S[S[s.PICKED_AT] + j]
            if S[other + s.NODE_PC] == S[node + s.NODE_PC] and can_go(S, F, other):
                another = 0
            j += 1
        places += another != 0
        i += 1
    return places


def can_go(S: Words, F: Masks, node: int) -> int:
    """How many warps of a group wait no more."""
    n = 0
    i = 0
    while i < S[node + s.NODE_COUNT]:
        n += is_free(S, F, node, S[S[node + s.NODE_LIST] + i])
        i += 1
    return n


def is_free(S: Words, F: Masks, node: int, entry: int) -> int:
    """Has a warp of a waiting group passed its barrier, or are the lanes that it lacks marked as here?"""
    if S[node + s.STATE] == s.IS_AT_BARRIER:
        return int(entry >= s.PASSED)
    vector = entry >> 32
    return int(named(S, F, S[node + s.NODE_ROW], entry) & S[S[s.ALIVE] + vector] & ~entry & ~S[S[s.HERE] + vector] == 0)


def take_free(S: Words, F: Masks, node: int) -> int:
    """The warps of a waiting group that wait no more, as a group; the others wait on."""
    unblock(S, node)
    at = S[s.FREE]
    here = S[node + s.NODE_LIST]
    n = 0
    lanes = 0
    kept = 0
    if can_go(S, F, node) == S[node + s.NODE_COUNT]:
        return clear_passed(S, node)
    i = 0
    while i < S[node + s.NODE_COUNT]:
        entry = S[here + i]
        if is_free(S, F, node, entry):
            S[at + n] = entry
            n += 1
            lanes += popcount(entry & 0xFFFFFFFF)
        else:
            S[here + kept] = entry
            kept += 1
        i += 1
    S[s.FREE] += n
    S[node + s.NODE_COUNT] = kept
    S[node + s.NODE_LANES] -= lanes
    S[node + s.LEFT] = kept
    S[node + s.NODE_TURN] = 0
    if S[node + s.NODE_PARENT]:
        S[S[node + s.NODE_PARENT] + s.CHILDREN] += 1
    block(S, node, S[node + s.STATE])
    return clear_passed(S, new(S, s.IS_READY, S[node + s.NODE_PC], at, n, lanes, S[node + s.NODE_PARENT]))


FUNCTIONS = sync, misses, named, free_one, split_passed, unite_blocked, unite_equal, free_places, can_go, is_free, take_free
