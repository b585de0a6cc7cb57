"""Launches of the everyday kernels on sparse matrices, graphs, tables, lists, keys to sort and texts.

Each theme has the name of its file in everyday/.  Sizes are mostly no multiple of a block, as in earnest.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tests.bench.everyday_data import (
    EMPTY,
    Draft,
    Random,
    crc_table,
    cuckoo,
    draft,
    edges_above,
    floats,
    graph,
    levels,
    lines,
    lists,
    mix,
    probed,
    search_automaton,
    sources,
    starts,
    text,
    tree,
)
from tests.interpreter.harness import Array


def sparse(threads: int, rng: Random) -> Iterator[Draft]:
    """Sparse matrices."""
    n = threads - 21
    start, column = graph(n, rng)
    value, x, y = floats(rng, column.size), floats(rng, n), np.zeros(n, np.float32)
    yield lines("spmv_csr", n, n, start, column, value, x, y)
    rows = threads // 32 - 1
    long_start = starts(rng.integers(5, 120, rows))
    long_column = rng.integers(0, n, long_start[-1], np.int32)
    yield lines("spmv_csr_warp", 32 * rows, rows, long_start, long_column, floats(rng, long_column.size), x, np.zeros(rows, np.float32))
    padded = np.where(np.arange(8)[:, None] < np.diff(start), rng.integers(0, n, (8, n)), -1).astype(np.int32)
    yield lines("spmv_ell", n, n, 8, padded, rng.random((8, n)), rng.random(n), np.zeros(n))
    yield lines("spmv_coo", n, n, sources(start)[:n].copy(), column[:n].copy(), value[:n].copy(), x, y)
    yield lines("spmv_transpose", n, n, start, column, value, x, y)
    few = threads // 8 - 3
    few_start, few_column = graph(few, rng)
    dense = (few, 8, few_start, few_column, floats(rng, few_column.size), floats(rng, few, 8), np.zeros((few, 8), np.float32))
    yield draft("spmm_csr", (-(-few // 32),), (8, 32), *dense)
    yield lines("sddmm", n, n, sources(start)[:n].copy(), column[:n].copy(), floats(rng, n, 8), floats(rng, n, 8), np.zeros(n, np.float32))
    yield lines("csr_normalize", n, n, start, np.abs(value) + np.float32(0.1))


def graphs(threads: int, rng: Random) -> Iterator[Draft]:
    """Graphs, by nodes and by edges."""
    n = threads - 70
    start, target = graph(n, rng)
    source, degree = sources(start), np.diff(start)
    level, depth = levels(start, target)
    changed = np.zeros(1, np.int32)
    frontier, seen = (level == depth).astype(np.uint8), (level >= 0).astype(np.uint8)
    yield lines("bfs_level", n, n, depth, start, target, level, changed)
    yield lines("bfs_flags", n, n, start, target, frontier, np.zeros(n, np.uint8), seen, level)
    rank = rng.random(n, np.float32)
    yield lines("pagerank_push", n, n, start, target, rank, np.zeros(n, np.float32))
    yield lines("pagerank_pull", n, n, start, target, degree, rank, np.zeros(n, np.float32))
    e = n  # of the edges, as many as there are nodes
    some = np.sort(rng.choice(source.size, e, replace=False))
    ends = source[some], target[some]
    yield lines("union_find", e, e, *ends, np.arange(n, dtype=np.int32))
    yield lines("components_flatten", n, n, (np.arange(n) * rng.random(n)).astype(np.int32))
    yield lines("label_propagation", n, n, start, target, rng.permutation(n).astype(np.int32), changed)
    distance = np.where(level >= 0, 10 * level + rng.integers(0, 10, n), 0x7FFFFFFF).astype(np.int32)
    yield lines("bellman_ford", e, e, *ends, rng.integers(1, 10, e, np.int32), distance, changed)
    above = edges_above(threads, rng)
    yield lines("triangle_count", above[0].size, above[0].size, *above, np.zeros(1, np.uint64))
    yield lines("count_degrees", e, e, ends[1], np.zeros(n, np.uint32))
    color = np.where(rng.random(n) < 0.3, 0, -1).astype(np.int32)
    number = rng.permutation(n).astype(np.uint32)
    yield lines("color_nodes", n, n, 1, start, target, number, color)
    start, target = graph(n, rng, most=8)
    yield lines("color_early", n, n, 1, start, target, number, color)


def hashing(threads: int, rng: Random) -> Iterator[Draft]:
    """Tables of keys, half full, and keys of which half are there."""
    n, slots = threads - 100, 2 * threads
    mask = np.uint32(slots - 1)
    keys = rng.choice(1 << 26, n, replace=False).astype(np.uint32)
    some = np.where(rng.random(n) < 0.5, rng.choice(keys, n), rng.integers(0, 1 << 26, n)).astype(np.uint32)
    table, values = np.full(slots, EMPTY, np.uint32), np.zeros(slots, np.uint32)
    yield lines("hash_insert", n, n, mask, some, rng.integers(0, 1 << 30, n, np.uint32), table, values)
    yield lines("hash_lookup", n, n, mask, some, probed(keys, slots - 1), np.zeros(n, np.uint32))
    yield lines("cuckoo_lookup", n, n, np.uint32(2 * slots - 1), some, cuckoo(keys, 2 * slots - 1), np.zeros(n, np.uint8))
    first = mix(keys)
    second = mix(first) | np.uint32(1)
    bits = np.zeros(8 * slots, np.uint8)
    for h in range(3):
        bits[(first + np.uint32(h) * second) & np.uint32(8 * slots - 1)] = 1
    filled = np.packbits(bits, bitorder="little").view(np.uint32)
    yield lines("bloom_query", n, n, np.uint32(8 * slots - 1), some, filled, np.zeros(n, np.uint8))
    group = (n // 8 * rng.random(n) ** 2).astype(np.uint16)
    yield lines("group_sum", n, n, group, floats(rng, n), np.zeros(n // 8, np.float32), np.zeros(n // 8, np.int32))


def sorting(threads: int, rng: Random) -> Iterator[Draft]:
    """Numbers in disorder, half in order, and in order."""
    n = threads - 9
    yield lines("bitonic_step", threads, floats(rng, threads), 64, 1024)
    yield lines("bitonic_block", threads, rng.integers(0, 1 << 20, threads, np.int32), block=128)
    keys = rng.integers(0, 1 << 32, n, np.uint32)
    yield lines("radix_count", n, n, keys, 8, np.zeros(16 * -(-n // 256), np.uint32))
    zero = (keys >> 3 & 1) == 0
    before = starts(zero).astype(np.uint32)
    yield lines("radix_scatter", n, n, keys, before[:-1].copy(), before[-1], 3, np.zeros(n, np.uint32))
    parts = (np.sort(rng.integers(0, 1 << 30, size, np.int32)) for size in (3 * threads, threads))
    yield lines("merge_path", threads, 3 * threads, threads, *parts, np.zeros(4 * threads, np.int32), block=128)
    yield lines("binary_search", n, n, 2 * threads, floats(rng, n), np.sort(floats(rng, 2 * threads)), np.zeros(n, np.int32))
    yield lines("odd_even_sort", n, 2 * n, 1, rng.integers(0, 1 << 30, 2 * n, np.int32))
    yield lines("insertion_sort", n, n, 6, rng.integers(0, 100, (n, 6), np.int32))
    prime = np.array([2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37], np.int32)
    yield lines("sieve", n, n, 32, prime.size, prime, np.zeros(32 * n, np.uint8))


def sequences(threads: int, rng: Random) -> Iterator[Draft]:
    """Texts, words and records."""
    n = threads - 50
    a = text(threads, rng)
    b = np.where(rng.random(threads) < 0.8, a, text(threads, rng)).astype(np.uint8)
    before: Array = np.cumsum(rng.random(threads + 1) < 0.4).astype(np.int32)
    last = before + (rng.random(threads + 1) < 0.5).astype(np.int32)
    yield lines("lcs_wavefront", threads, threads, threads + 1, a, b, before, last, np.zeros(threads + 1, np.int32))
    words, shares = text(8 * n, rng).reshape(n, 8), rng.random((n, 8)) < 0.7
    lengths = (rng.integers(2, 5, n, np.uint8) for _ in range(2))
    other = np.where(shares, words, text(8 * n, rng).reshape(n, 8)).astype(np.uint8)
    yield lines("edit_distance", n, n, 8, words, other, *lengths, np.zeros(n, np.int32), block=128)
    genes = rng.choice(np.frombuffer(b"ACGT", np.uint8), (6, n))
    query = np.frombuffer(b"GATTACA", np.uint8)[:6].copy()
    yield lines("smith_waterman", n, n, 6, query.size, query, genes, np.zeros((6, n), np.int16), np.zeros(n, np.int16))
    pattern = b"eate"
    accepts = (np.arange(len(pattern) + 1) == len(pattern)).astype(np.uint8)
    yield lines("automaton", n, n, 24, text(24 * n, rng), search_automaton(pattern), accepts, np.zeros(n, np.int32))
    yield lines("string_search", n, n, 4, a[:n].copy(), np.frombuffer(pattern, np.uint8), np.zeros(n, np.int32))
    runs = np.repeat(rng.integers(0, 256, n, np.uint8), np.minimum(rng.geometric(0.3, n), 30))[:n].copy()
    yield lines("run_length", n, n, runs, np.zeros(n, np.uint16))
    yield lines("prefix_chunks", n, n, 16, rng.integers(0, 100, 16 * n, np.int32), np.zeros(n, np.int32))
    yield lines("caesar", n, n, 3, a[:n].copy(), np.zeros(n, np.uint8))
    table = np.sort(rng.integers(0, 10000, n, np.int32))
    yield lines("knapsack_item", n, n - 1, 37, 90, table, np.zeros(n, np.int32))
    start = starts(np.minimum(rng.geometric(0.1, n), 40))
    yield lines("crc_records", n, n, start, rng.integers(0, 256, start[-1], np.uint8), crc_table(), np.zeros(n, np.uint32))


def pointers(threads: int, rng: Random) -> Iterator[Draft]:
    """Lists and trees."""
    n = threads - 33
    yield lines("list_walk", n, n, *lists(n, rng), np.zeros(n, np.int32))
    nodes, keys = tree((threads - 1).bit_length(), rng)
    wanted = np.where(rng.random(n) < 0.6, rng.choice(keys, n), rng.integers(0, 8 * keys.size, n)).astype(np.int32)
    yield lines("tree_walk", n, n, nodes, wanted, np.zeros(n, np.int32))
