"""Atomic operations that the H200 has no instruction for: its assembler writes a loop that reads, computes, and swaps if nothing has changed.

Which lanes of a warp are in the loop in each of its rounds, and what their reads and swaps count: as the H200 counts them.  ptxas/atomics.py
knows which operations become loops.  Warps that contend with each other take more rounds; how many depends on timing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..flags import numbered
from .banks import modern_banks
from .contention import atomic_global
from .warps import NONE, WARP, Addresses, Counts, Mask, access

ALL_BITS = 0xFFFF_FFFF_FFFF_FFFF
Rule = Callable[[Addresses, Mask, int], tuple[Counts, Counts]]


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


def changing_passes(
    addresses: Addresses,
    active: Mask,
    held: NDArray[np.int64],
    wanted: NDArray[np.int64],
    change: Callable[[int, int], int],
) -> tuple[Counts, Counts]:
    """As spin_passes of 8-byte words, where what memory holds and lanes bring tells: a lane loses only if the word has changed.

    >>> lanes = np.arange(32)
    >>> changing_passes(0 * lanes, lanes % 16 == 0, 0 * lanes, 0 * lanes, lambda old, b: old + b)
    (array([1]), array([0]))
    """
    where, active = access(addresses, active)
    held, wanted = (np.broadcast_to(x, where.shape) for x in (held, wanted))
    rounds = []
    for row, mask, now, want in zip(where.tolist(), active, held.tolist(), wanted.tolist(), strict=True):
        lanes = np.flatnonzero(mask).tolist()
        memory = {row[lane]: now[lane] & ALL_BITS for lane in lanes}
        rounds.append(list(_changing(row, lanes, memory, [value & ALL_BITS for value in want], change)))
    return _reads(where, rounds, 8)


def shares_halves(addresses: Addresses, active: Mask) -> Mask:
    """Which warps have lanes in both halves that name one word?  Only there does it matter who changes it."""
    where, active = access(addresses, active)
    half = WARP // 2
    both = active[:, :half, None] & active[:, None, half:]
    return np.asarray((both & (where[:, :half, None] == where[:, None, half:])).any(axis=(1, 2)), dtype=np.bool_)


def extreme_passes(
    addresses: Addresses, active: Mask, width: int, held: NDArray[np.int64], wanted: NDArray[np.int64]
) -> tuple[Counts, Counts]:
    """As spin_passes, for a minimum of what memory holds and what lanes want: who would change nothing leaves after reading."""
    where, active = access(addresses, active)
    held, wanted = (np.broadcast_to(x, where.shape) for x in (held, wanted))
    rounds = []
    for row, mask, now, want in zip(where.tolist(), active, held.tolist(), wanted.tolist(), strict=True):
        lanes = np.flatnonzero(mask).tolist()
        memory = {row[lane]: now[lane] for lane in lanes}  # all warps read before any of them swaps
        rounds.append(list(_improving(row, lanes, width, memory, want)))
    return _reads(where, rounds, width)


def sum_swaps(
    addresses: Addresses,
    active: Mask,
    held: NDArray[np.int64],
    added: NDArray[np.int64],
    sum_of: Callable[[NDArray[np.uint16], NDArray[np.uint16]], NDArray[np.uint16]],
    rule: Rule = atomic_global,
) -> tuple[Counts, Counts]:
    """(requests, sectors), or what the rule counts, of the swaps of each warp's loop that adds 16-bit numbers to words that hold so much.

    In each round a word takes all swaps up to the first that changes it; a lane that would change nothing is in nobody's way.

    >>> lanes, plus = np.zeros((1, 32), int), lambda old, b: old + b
    >>> [int(sum_swaps(lanes, lanes == 0, lanes, added, plus)[0][0]) for added in (lanes, lanes + 1)]
    [1, 32]
    """
    where, active = access(addresses, active)
    words, shift = where & ~3, (where & 2) << 3
    order = np.argsort(np.where(active, words, NONE), axis=1, kind="stable")  # lanes of a word stand together
    words, shift, held, added = (np.take_along_axis(np.broadcast_to(x, where.shape), order, axis=1) for x in (words, shift, held, added))
    start = np.ones(where.shape, np.bool_)
    start[:, 1:] = words[:, 1:] != words[:, :-1]
    begin = np.maximum.accumulate((start * np.arange(start.size).reshape(start.shape)).ravel())  # of each lane's word
    left, held = np.take_along_axis(active, order, axis=1), held.ravel().copy()
    first = second = np.zeros(len(where), np.int64)
    while left.any():
        asking = np.zeros_like(left)
        np.put_along_axis(asking, order, left, axis=1)
        more, beyond = rule(where & ~3, asking, 4)
        first, second = first + more, second + beyond
        half = (held >> shift.ravel()).astype(np.uint16)
        new = held & ~(0xFFFF << shift.ravel()) | sum_of(half, added.ravel().astype(np.uint16)).astype(np.int64) << shift.ravel()
        changes = left.ravel() & (new != held)
        before = numbered(changes) - changes  # how many do, of all lanes that stand further ahead
        late = left.ravel() & (before > before.take(begin))
        changer = np.maximum.accumulate(np.where(changes & (before == before.take(begin)), np.arange(changes.size), 0))
        held[late] = new.take(changer)[late]
        left = late.reshape(left.shape)
    return first, second


def compare_swaps(
    addresses: Addresses,
    active: Mask,
    held: NDArray[np.int64],
    wanted: NDArray[np.int64],
    new: NDArray[np.int64],
    rule: Rule = atomic_global,
) -> tuple[Counts, Counts]:
    """The same of 16-bit compare-and-swaps, whose words hold what `held` says: who finds the word's other half changed tries again.

    >>> lanes = np.arange(32)
    >>> compare_swaps(lanes // 2 * 4 + lanes % 2 * 2, lanes < 4, 0 * lanes, 0 * lanes, 0 * lanes + 1)
    (array([2]), array([3]))
    """
    where, active = access(addresses, active)
    held, wanted, new = (np.broadcast_to(x, where.shape) for x in (held, wanted, new))
    rounds = np.zeros((0, *where.shape), np.bool_)
    for row in np.flatnonzero(active.any(axis=1)).tolist():
        tries = _tries(*(x[row].tolist() for x in (where, active, held, wanted, new)))
        if len(tries) > len(rounds):
            rounds = np.concatenate([rounds, np.zeros((len(tries) - len(rounds), *where.shape), np.bool_)])
        for turn, lanes in enumerate(tries):
            rounds[turn, row, lanes] = True
    first = second = np.zeros(len(where), np.int64)
    for turn in rounds:
        more, beyond = rule(where & ~3, turn, 4)
        first, second = first + more, second + beyond
    return first, second


def _tries(where: list[int], active: list[bool], held: list[int], wanted: list[int], new: list[int]) -> list[list[int]]:
    """The lanes of each round of one warp's compare-and-swaps."""
    lanes = [lane for lane in range(WARP) if active[lane]]
    memory = {where[lane] & ~3: held[lane] for lane in lanes}
    seen = list(held)
    rounds = []
    while lanes:
        rounds.append(lanes)
        again = []
        for lane in lanes:
            word, shift = where[lane] & ~3, 8 * (where[lane] & 2)
            half = 0xFFFF << shift
            expected, found = seen[lane] & ~half | wanted[lane] << shift, memory[word]
            if found == expected:
                memory[word] = found & ~half | new[lane] << shift
            elif (found ^ expected) & ~half:
                again.append(lane)
                seen[lane] = found
        lanes = again
    return rounds


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


def _changing(
    where: list[int], lanes: list[int], memory: dict[int, int], wanted: list[int], change: Callable[[int, int], int]
) -> Iterator[list[int]]:
    while lanes:
        yield lanes
        read, claimed, won = dict(memory), set(), set()
        for lane in lanes:
            word, port = where[lane], (lane // 16, where[lane] // 8 % 16)
            if port not in claimed:
                claimed.add(port)
                if memory[word] == read[word]:
                    memory[word] = change(memory[word], wanted[lane])
                    won.add(lane)
        lanes = [lane for lane in lanes if lane not in won]
