"""What the everyday kernels work on: graphs, lists, trees and tables as one meets them, and the shapes of launches.

Degrees are skewed, few nodes are popular, words are frequent or rare: what neighboring lanes do differs as much as it does in earnest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tests.interpreter.harness import Array

Given = Array | np.generic | int | float  # an int stands for a 32-bit integer, a float for a 32-bit one
Draft = tuple[str, tuple[int, ...], tuple[int, ...], tuple[Array | np.generic, ...]]  # name, grid, block, arguments
Random = np.random.Generator
EMPTY = 0xFFFFFFFF


def draft(name: str, grid: Sequence[int], block: Sequence[int], *given: Given) -> Draft:
    """A launch."""
    arguments = (np.int32(x) if isinstance(x, int) else np.float32(x) if isinstance(x, float) else x for x in given)
    return name, tuple(grid), tuple(block), tuple(arguments)


def lines(name: str, threads: int, *given: Given, block: int = 256) -> Draft:
    """A launch of so many threads in a row, rounded up to whole blocks."""
    return draft(name, (-(-threads // block),), (block,), *given)


def plane(name: str, width: int, height: int, *given: Given, block: tuple[int, int] = (16, 16), layers: int = 1) -> Draft:
    """A launch of a thread for each point of a plane."""
    return draft(name, (-(-width // block[0]), -(-height // block[1]), layers), block, *given)


def sides(points: int) -> tuple[int, int]:
    """Width and height of a plane with so many points, a power of two."""
    height = 1 << (points.bit_length() - 1) // 2
    return points // height, height


def floats(rng: Random, *shape: int) -> Array:
    """Numbers around zero."""
    return rng.standard_normal(shape, np.float32)


def starts(lengths: Array) -> Array:
    """Where parts of such lengths begin that lie one after the other, and where the last one ends."""
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def graph(nodes: int, rng: Random, most: int = 24) -> tuple[Array, Array]:
    """Where the edges of each node start, and the nodes they lead to: most nodes have few of them, and most lead to few nodes."""
    start = starts(np.minimum(rng.zipf(1.8, nodes), most))
    return start, (nodes * rng.random(start[-1]) ** 2).astype(np.int32)


def sources(start: Array) -> Array:
    """The node that each edge starts from."""
    return np.repeat(np.arange(start.size - 1, dtype=np.int32), np.diff(start))


def levels(start: Array, target: Array) -> tuple[Array, int]:
    """How far nodes are from the first one, up to the distance that most of them have, and that distance; -1 for the others."""
    source = sources(start)
    level = np.full(start.size - 1, -1, np.int32)
    level[0] = depth = 0
    while True:
        reached = target[level[source] == depth]
        fresh = reached[level[reached] < 0]
        if not fresh.size:
            break
        depth += 1
        level[fresh] = depth
    depth = int(np.bincount(level[level >= 0]).argmax())
    return np.where(level > depth, -1, level).astype(np.int32), depth


def edges_above(edges: int, rng: Random) -> tuple[Array, Array, Array]:
    """About so many edges to smaller nodes, sorted: from, start, to."""
    nodes = edges // 3
    start, target = graph(nodes, rng)
    both = np.stack([sources(start), target])
    pairs = np.unique(np.stack([both.max(0), both.min(0)])[:, both[0] != both[1]], axis=1)[:, :edges]
    return pairs[0].copy(), starts(np.bincount(pairs[0], minlength=nodes)), pairs[1].copy()


def mix(x: Array) -> Array:
    """The hash that the kernels use."""
    x = (x ^ (x >> 16)) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> 13)) * np.uint32(0xC2B2AE35)
    mixed: Array = x ^ (x >> 16)
    return mixed


def probed(keys: Array, mask: int) -> Array:
    """A table of pairs of key and value, with keys moved on to the next free slot; a value is the key's number."""
    table = np.full((mask + 1, 2), EMPTY, np.uint32)
    waiting = np.arange(keys.size)
    slot = mix(keys) & np.uint32(mask)
    while waiting.size:
        free = np.flatnonzero(table[slot[waiting], 0] == EMPTY)
        _, first = np.unique(slot[waiting[free]], return_index=True)
        placed = waiting[free[first]]
        table[slot[placed]] = np.stack([keys[placed], placed], axis=1)
        waiting = np.setdiff1d(waiting, placed)
        slot[waiting] = (slot[waiting] + 1) & mask
    return table


def cuckoo(keys: Array, mask: int) -> Array:
    """A table where each key is in one of two slots."""
    table = np.full(mask + 1, EMPTY, np.uint32)
    one, other = mix(keys) & np.uint32(mask), mix(keys ^ np.uint32(0x9E3779B9)) & np.uint32(mask)
    place = dict(zip(keys.tolist(), zip(one.tolist(), other.tolist(), strict=True), strict=True))
    for key, (slot, _) in place.items():
        moving, at = key, slot
        while moving != EMPTY:
            table[at], moving = moving, int(table[at])
            at = sum(place.get(moving, (at, 0))) - at  # its other slot
    return table


def lists(count: int, rng: Random) -> tuple[Array, Array, Array]:
    """Heads, next nodes and values of linked lists whose nodes lie about; most lists are short, and some empty."""
    start = starts(np.minimum(rng.geometric(0.2, count) - 1, 24))
    nodes = int(start[-1])
    order = rng.permutation(nodes).astype(np.int32)
    following = np.full(nodes, -1, np.int32)
    following[order[:-1]] = order[1:]
    filled = start[1:] > start[:-1]
    following[order[start[1:][filled] - 1]] = -1
    head = np.where(filled, order[np.minimum(start[:-1], nodes - 1)], -1).astype(np.int32)
    return head, following, rng.integers(0, 1000, nodes, np.int32)


def tree(depth: int, rng: Random) -> tuple[Array, Array]:
    """A search tree whose nodes (key, left, right, value) lie about, the root first; and its keys, sorted."""
    size = (1 << depth) - 1
    keys = np.sort(rng.choice(8 * size, size, replace=False)).astype(np.int32)
    place = np.concatenate([[0], 1 + rng.permutation(size - 1)])
    number = np.arange(size)
    level = np.log2(number + 1).astype(int)
    step = 1 << (depth - level)
    nodes = np.empty((size, 4), np.int32)
    below = np.append(place, np.full(size + 1, -1))
    rank = (number + 1 - (1 << level)) * step + step // 2 - 1
    nodes[place] = np.stack([keys[rank], below[2 * number + 1], below[2 * number + 2], rank], axis=1)
    return nodes, keys


def cells(count: int, rng: Random) -> tuple[int, Array, Array]:
    """Particles in the cells of a square, in the cells' order and closer together at one corner: its side, places, and where cells start."""
    side = int(count**0.5)
    place = (side * rng.random((count, 2), np.float32) ** np.float32(1.2)).astype(np.float32)
    place = np.minimum(place, np.float32(side) - np.float32(0.01))
    cell = place[:, 1].astype(int) * side + place[:, 0].astype(int)
    order = np.argsort(cell, kind="stable")
    return side, place[order], starts(np.bincount(cell, minlength=side * side))


def text(count: int, rng: Random) -> Array:
    """Letters, as often as in a language."""
    letters = np.frombuffer(b"etaoinsrhldcumfpgwybvkxjqz ", np.uint8)
    share = 1 / np.arange(2, letters.size + 2)
    return rng.choice(letters, count, p=share / share.sum())


def search_automaton(pattern: bytes) -> Array:
    """The next state for each state and byte: how much of a pattern the text ends with."""
    table = np.zeros((len(pattern) + 1, 256), np.uint8)
    for state in range(len(pattern) + 1):
        for byte in set(pattern):
            seen = pattern[:state] + bytes([byte])
            table[state, byte] = max(k for k in range(len(pattern) + 1) if seen.endswith(pattern[:k]))
    return table


def crc_table() -> Array:
    """What a byte does to a checksum of 32 bits."""
    crc: Array = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        crc = (crc >> 1) ^ np.where(crc & 1, np.uint32(0xEDB88320), np.uint32(0))
    return crc
