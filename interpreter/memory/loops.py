"""Atomic operations that the H200 has no instruction for: its assembler writes a loop that reads, computes, and swaps if nothing has changed.

Which operations those are, which lanes of a warp are in the loop in each of its rounds, and what their reads and swaps count: as
the H200 counts them.  Warps that get in each other's way go round more often, as their timing has it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from .banks import atomic_passes, modern_banks
from .contention import atomic_global
from .warps import NONE, WARP, Addresses, Counts, Mask, access

HALF_WORDS = frozenset({"f16", "bf16", "b16"})
FLOATS = frozenset({"f32", "f64", "f16x2", "bf16x2"})
DOUBLE_WORDS = frozenset({"u64", "s64", "b64"})
VECTORS = {"v2": 2, "v4": 4, "v8": 8}


class Loop(Enum):
    """What the assembler makes of an atomic operation."""

    SPIN = "read shared memory, then swap all at once: who meets another lane in a bank reads again"
    HALF_WORD = "read the word around 16 bits, then compare and swap the word, with what was found there, until nobody came first"


def loop_of(modifiers: Iterable[str], space: str) -> Loop | None:
    """The loop that an atomic operation becomes; lanes of a generic address ("generic") that mean shared memory loop for floats alone.

    >>> loop_of(["add", "u64"], "shared"), loop_of(["add", "u64"], "generic"), loop_of(["exch", "b64"], "shared")
    (<Loop.SPIN: 'read shared memory, then swap all at once: who meets another lane in a bank reads again'>, None, None)
    """
    words = set(modifiers)
    if words & HALF_WORDS:
        return None if words & VECTORS.keys() else Loop.HALF_WORD
    if space == "global" or words & {"exch", "cas"}:
        return None
    return Loop.SPIN if words & FLOATS or (space != "generic" and words & DOUBLE_WORDS) else None


def spin_passes(addresses: Addresses, active: Mask, width: int) -> tuple[Counts, Counts]:
    """(passes, conflicts) of the reads of each warp's loop over shared memory.

    >>> spin_passes(np.zeros((1, 32)), np.ones((1, 32), bool), 4)
    (array([32]), array([0]))
    """
    where, left = access(addresses, active)
    passes, conflicts = np.zeros(len(where), dtype=np.int64), np.zeros(len(where), dtype=np.int64)
    busy = np.flatnonzero(left.any(axis=1))
    while busy.size:  # the warps that go round once more
        rows, mask = where[busy], left[busy]
        more, beyond = modern_banks(rows, mask, width)
        passes[busy] += more
        conflicts[busy] += beyond
        left = np.zeros_like(left)
        left[busy] = mask & ~_winning(rows, mask, width)
        busy = busy[left[busy].any(axis=1)]
    return passes, conflicts


def extreme_passes(
    addresses: Addresses, active: Mask, width: int, held: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[Counts, Counts]:
    """As spin_passes, for a minimum of what memory holds and what lanes want: who would change nothing leaves after reading."""
    where, active = access(addresses, active)
    memory: dict[int, int] = {}
    rounds = []
    for row, mask, now, want in zip(where.tolist(), active, held.tolist(), wanted.tolist(), strict=True):
        lanes = np.flatnonzero(mask).tolist()
        for lane in lanes:
            memory.setdefault(row[lane], now[lane])
        rounds.append(list(_improving(row, lanes, width, memory, want)))
    return _reads(where, rounds, width)


def half_word_swaps(addresses: Addresses, active: Mask, *, once: bool) -> tuple[Counts, Counts]:
    """(requests, sectors) of the swaps of each warp's loop over global memory; `once`: a compare-and-swap of 16 bits is tried once."""
    return _swaps(addresses, active, atomic_global, once=once)


def half_word_shared(addresses: Addresses, active: Mask, *, once: bool) -> tuple[Counts, Counts]:
    """(passes, conflicts) of the swaps of each warp's loop over shared memory."""
    return _swaps(addresses, active, atomic_passes, once=once)


def _swaps(
    addresses: Addresses, active: Mask, rule: Callable[[Addresses, Mask, int], tuple[Counts, Counts]], *, once: bool
) -> tuple[Counts, Counts]:
    """The sums of a rule's counts over all rounds: in each the lowest lane of a word is served."""
    where, active = access(addresses, active)
    words = where & ~3
    first, second = rule(words, active, 4)
    while not once:
        active = active & ~_first_of_each(words, active)
        if not active.any():
            break
        more, beyond = rule(words, active, 4)
        first, second = first + more, second + beyond
    return first, second


def _reads(where: NDArray[np.int64], rounds: Iterable[Iterable[list[int]]], width: int) -> tuple[Counts, Counts]:
    rows: list[int] = []
    masks = []
    for row, each in enumerate(rounds):
        for lanes in each:
            mask = np.zeros(WARP, np.bool_)
            mask[lanes] = True
            rows.append(row)
            masks.append(mask)
    count = len(where)
    if not rows:
        return np.zeros(count, np.int64), np.zeros(count, np.int64)
    passes, conflicts = modern_banks(where[rows], np.array(masks), width)
    return _sums(rows, passes, count), _sums(rows, conflicts, count)


def _sums(rows: list[int], values: Counts, count: int) -> Counts:
    return np.bincount(rows, weights=values, minlength=count).astype(np.int64)


def _winning(where: NDArray[np.int64], active: Mask, width: int) -> Mask:
    """Whose swap succeeds: the lowest lane of a bank wins, 8-byte words by half-warp, but a word that a half has changed is lost."""
    banks = WARP * 4 // width
    lane = np.flatnonzero(active)
    word = where.ravel().take(lane) >> width.bit_length() - 1
    port = lane // banks * banks + (word & banks - 1)
    first = np.empty(where.size, dtype=np.int64)
    first[port] = NONE
    np.minimum.at(first, port, lane)
    won = first.take(port) == lane
    if width > 4:  # of a second half those whose word the first half's winner has not changed
        before = np.full(where.size, NONE)
        before[port[won]] = word[won]
        won &= (lane // banks % 2 == 0) | (before.take(np.maximum(port - banks, 0)) != word)
    out = np.zeros(where.size, dtype=np.bool_)
    out[lane[won]] = True
    return out.reshape(where.shape)


def _winners(where: list[int], lanes: list[int], width: int) -> set[int]:
    ports, group = WARP * 4 // width, WARP * 4 // width
    won: dict[int, int] = {}  # lane -> word
    claimed: set[tuple[int, int]] = set()
    for lane in lanes:
        port = (lane // group, where[lane] // width % ports)
        if port not in claimed:
            claimed.add(port)
            if where[lane] not in won.values():
                won[lane] = where[lane]
    return set(won)


def _improving(where: list[int], lanes: list[int], width: int, memory: dict[int, int], wanted: list[int]) -> Iterator[list[int]]:
    while lanes:
        yield lanes
        lanes = [lane for lane in lanes if wanted[lane] < memory[where[lane]]]
        won = _winners(where, lanes, width)
        for lane in won:
            memory[where[lane]] = wanted[lane]
        lanes = [lane for lane in lanes if lane not in won]


def _first_of_each(words: NDArray[np.int64], active: Mask) -> Mask:
    """The lowest active lane of each word of a warp."""
    order = np.argsort(np.where(active, words, NONE), axis=1, kind="stable")
    ordered, live = np.take_along_axis(words, order, axis=1), np.take_along_axis(active, order, axis=1)
    live[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    first = np.zeros_like(active)
    np.put_along_axis(first, order, live, axis=1)
    return first
