"""Nodes, which stand for all groups but the one that runs, and the lists of their lanes.

A node is a group, or a join: a group that has parted, and waits at a place for its CHILDREN.  Each stands below the join that is its parent (0: none).
A list has an entry for each warp with lanes in the group, in ascending order; it belongs to one node.  New lists lie behind all others; when there is no
room left, they move together.
"""

from __future__ import annotations

from . import words as s
from .loops import Words, popcount


def new(S: Words, state: int, pc: int, at: int, n: int, lanes: int, parent: int) -> int:
    """A node with these lanes."""
    node = S[s.UNUSED]
    if node:
        S[s.UNUSED] = S[node + s.NODE_PARENT]
    else:
        node = S[s.NODES_AT] + S[s.HIGH] * s.NODE
        S[s.HIGH] += 1
    S[s.USED] += 1
    S[node + s.STATE] = state
    S[node + s.NODE_PC] = pc
    S[node + s.NODE_LIST] = at
    S[node + s.NODE_COUNT] = n
    S[node + s.NODE_LANES] = lanes
    S[node + s.NODE_TURN] = 0
    S[node + s.NODE_PARENT] = parent
    S[node + s.CHILDREN] = 0
    S[node + s.YIELDS] = 0
    S[node + s.LEFT] = 0
    return int(node)


def drop(S: Words, node: int) -> int:
    """A node is no more."""
    S[node + s.STATE] = s.IS_UNUSED
    S[node + s.NODE_PARENT] = S[s.UNUSED]
    S[s.UNUSED] = node
    S[s.USED] -= 1
    return 0


def park(S: Words, state: int, pc: int) -> int:
    """The group that runs as a node; none runs."""
    node = new(S, state, pc, S[s.LIST], S[s.COUNT], S[s.LANES], S[s.PARENT])
    S[node + s.NODE_TURN] = S[s.TURN]
    S[s.COUNT] = 0
    return node


def push(S: Words, node: int) -> int:
    """A group is ready: it runs before those that were."""
    S[node + s.STATE] = s.IS_READY
    S[S[s.READY_AT] + S[s.READY]] = node
    S[s.READY] += 1
    return 0


def pop(S: Words) -> int:
    """The group that became ready last runs."""
    S[s.READY] -= 1
    node = S[S[s.READY_AT] + S[s.READY]]
    S[s.PC] = S[node + s.NODE_PC]
    S[s.LIST] = S[node + s.NODE_LIST]
    S[s.COUNT] = S[node + s.NODE_COUNT]
    S[s.LANES] = S[node + s.NODE_LANES]
    S[s.TURN] = S[node + s.NODE_TURN]
    S[s.PARENT] = S[node + s.NODE_PARENT]
    S[s.STOP] = s.NOWHERE
    if S[s.PARENT]:
        S[s.STOP] = S[S[s.PARENT] + s.NODE_PC]
    drop(S, node)
    return 0


def block(S: Words, node: int, state: int) -> int:
    """A group waits."""
    S[node + s.STATE] = state
    S[S[s.BLOCKED_AT] + S[s.BLOCKED]] = node
    S[s.BLOCKED] += 1
    return 0


def unblock(S: Words, node: int) -> int:
    """A group waits no more."""
    at = S[s.BLOCKED_AT]
    end = at + S[s.BLOCKED]
    while S[at] != node:
        at += 1
    while at + 1 < end:
        S[at] = S[at + 1]
        at += 1
    S[s.BLOCKED] -= 1
    return 0


def pick(S: Words, node: int) -> int:
    """Notes a node, above those that were noted."""
    S[S[s.PICKED_AT] + S[s.PICKED]] = node
    S[s.PICKED] += 1
    return 0


def keep(S: Words, node: int, where: int, flip: int) -> int:
    """Drops the lanes of a node that are not among masks, each of them combined with `flip` by exclusive or."""
    at = S[node + s.NODE_LIST]
    n = S[node + s.NODE_COUNT]
    kept = 0
    lanes = 0
    i = 0
    while i < n:
        entry = S[at + i]
        mask = entry & 0xFFFFFFFF & (S[where + (entry >> 32)] ^ flip)
        S[at + kept] = (entry >> 32) << 32 | mask
        kept += mask != 0
        lanes += popcount(mask)
        i += 1
    S[node + s.NODE_COUNT] = kept
    S[node + s.NODE_LANES] = lanes
    return 0


def keep_living(S: Words, node: int) -> int:
    """Drops the lanes of a node that have ended."""
    return keep(S, node, S[s.ALIVE], 0)


def mark(S: Words, where: int, node: int) -> int:
    """Adds the lanes of a node to masks."""
    at = S[node + s.NODE_LIST]
    i = 0
    while i < S[node + s.NODE_COUNT]:
        entry = S[at + i]
        S[where + (entry >> 32 & 0x3FFFFFFF)] |= entry & 0xFFFFFFFF
        i += 1
    return 0


def unmark(S: Words, where: int, node: int) -> int:
    """Clears the masks of the warps of a node."""
    at = S[node + s.NODE_LIST]
    i = 0
    while i < S[node + s.NODE_COUNT]:
        S[where + (S[at + i] >> 32 & 0x3FFFFFFF)] = 0
        i += 1
    return 0


def forget(S: Words, node: int) -> int:
    """Drops the lanes of a node that are marked as gone."""
    keep(S, node, S[s.GONE], -1)
    S[node + s.NODE_TURN] = 0
    return 0


def spare(S: Words, nodes: int, entries: int) -> int:
    """Is there room for so many nodes and entries, and for what may become of groups that wait?"""
    if S[s.USED] + nodes + 8 > s.NODES:
        return 0
    i = 0
    while i < S[s.BLOCKED]:
        entries += S[S[S[s.BLOCKED_AT] + i] + s.NODE_COUNT]
        i += 1
    if S[s.FREE] + entries <= S[s.ROOM]:
        return 1
    compact(S)
    return int(S[s.FREE] + entries <= S[s.ROOM])


def compact(S: Words) -> int:
    """Moves all lists together."""
    first = S[s.PICKED]
    if S[s.COUNT]:
        pick(S, s.RUNNING)
    i = 0
    while i < S[s.HIGH]:
        node = S[s.NODES_AT] + i * s.NODE
        if S[node + s.STATE] != s.IS_UNUSED:
            pick(S, node)
            at = S[s.PICKED_AT] + S[s.PICKED] - 1
            while at > S[s.PICKED_AT] + first and S[S[at - 1] + s.NODE_LIST] > S[node + s.NODE_LIST]:
                S[at] = S[at - 1]
                at -= 1
            S[at] = node
        i += 1
    to = S[s.LISTS]
    i = first
    while i < S[s.PICKED]:
        node = S[S[s.PICKED_AT] + i]
        at = S[node + s.NODE_LIST]
        S[node + s.NODE_LIST] = to
        end = at + S[node + s.NODE_COUNT]
        while at < end:
            S[to] = S[at]
            to += 1
            at += 1
        i += 1
    S[s.PICKED] = first
    S[s.FREE] = to
    return 0


FUNCTIONS = new, drop, park, push, pop, block, unblock, pick, keep, keep_living, mark, unmark, forget, spare, compact
