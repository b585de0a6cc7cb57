"""Generators that many lanes draw from at once, each from its own part of one long sequence: XORWOW and MRG32k3a.

Marsaglia's XORWOW (2003) and L'Ecuyer's MRG32k3a (1999) are linear, so a matrix leads from a state to one that is any number of steps ahead.
cuRAND's documentation says how far the lanes stand from each other; the result at place n is drawn by lane n mod the number of lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]
LOW = 0xFFFF_FFFF


class DrawingLanes(Protocol):
    """The lanes of a generator with a seed."""

    count: int

    def drawn(self, lanes: slice, skipped: int, draws: int) -> Array:
        """What some lanes draw, (draws, lanes), after so many draws before."""


def slots(lanes: DrawingLanes, first: int, count: int, each: int) -> Array:
    """For each place from one on, the numbers that are drawn for it: (count, each).  A place before counts as one draw, whatever it was for."""
    rows, begin = divmod(first, lanes.count)
    if begin + count <= lanes.count:
        return lanes.drawn(slice(begin, begin + count), rows, each).T
    turns = -(-(begin + count) // lanes.count)
    out = np.empty((turns, lanes.count, each), np.uint64)
    later = lanes.drawn(slice(begin, lanes.count), rows, turns * each)
    out[:, begin:] = later.reshape(turns, each, -1).transpose(0, 2, 1)
    if begin:
        earlier = lanes.drawn(slice(0, begin), rows + 1, (turns - 1) * each)
        out[1:, :begin] = earlier.reshape(turns - 1, each, -1).transpose(0, 2, 1)
    return out.reshape(-1, each)[begin : begin + count]


def spread(state: Array, count: int, jump: Callable[[Array, int], Array]) -> Array:
    """The states of lanes, as columns, each one jump from the one before; `jump(states, n)` makes 2**n jumps."""
    n = 0
    while state.shape[1] < count:
        state = np.concatenate([state, jump(state, n)], axis=1)
        n += 1
    return state[:, :count]


# ---------------------------------------------------------------- XORWOW

WORDS, BITS = 5, 160
STEP = 362437  # that XORWOW's counter takes
LANE_STEPS = 67  # lanes are 2**67 draws apart


def _xorwow_words(v: Array) -> Array:
    """The next of the five words: v is (5, lanes)."""
    t = v[0] ^ v[0] >> np.uint32(2)
    new: Array = v[4] ^ v[4] << np.uint32(4) ^ t ^ t << np.uint32(1)
    return new


def _applied(columns: Array, words: Array) -> Array:
    """The product of a matrix over bits, whose columns are states, with states: byte by byte, from tables of what its bits add up to."""
    out = np.zeros_like(words)
    for byte in range(BITS // 8):
        table = np.zeros((256, WORDS), np.uint32)
        for bit in range(8):
            table[1 << bit : 2 << bit] = table[: 1 << bit] ^ columns[:, 8 * byte + bit]
        out ^= table[words[byte // 4] >> np.uint32(8 * (byte % 4)) & np.uint32(255)].T
    return out


@cache
def _power(n: int) -> Array:
    """The matrix of 2**n steps, over bits: where each bit leads."""
    if n == 0:
        unit = np.zeros((WORDS, BITS), np.uint32)
        unit[np.arange(BITS) // 32, np.arange(BITS)] = np.left_shift(np.uint32(1), np.arange(BITS, dtype=np.uint32) % 32)
        return np.concatenate([unit[1:], _xorwow_words(unit)[None]])
    half = _power(n - 1)
    return _applied(half, half)


def _ahead(words: Array, n: int) -> Array:
    return _applied(_power(n), words)


class Xorwow:
    """XORWOW, as curand_init seeds it."""

    count = 4096

    def __init__(self, seed: int) -> None:
        t0 = 1099087573 * (seed & LOW ^ 0xAAD26B49) & LOW
        t1 = 2591861531 * (seed >> 32 ^ 0xF7DCEFDD) & LOW
        self.counter = 6615241 + t1 + t0 & LOW
        words = [123456789 + t0, 362436069 ^ t0, 521288629 + t1, 88675123 ^ t1, 5783321 + t0]
        state = np.array([[w & LOW] for w in words], np.uint32)
        self.states = spread(state, self.count, lambda states, n: _ahead(states, LANE_STEPS + n))

    def drawn(self, lanes: slice, skipped: int, draws: int) -> Array:
        """See DrawingLanes."""
        v = self.states[:, lanes]
        for n in range(skipped.bit_length()):
            if skipped >> n & 1:
                v = _ahead(v, n)
        words = list(v)
        out = np.empty((draws, v.shape[1]), np.uint32)
        for i in range(draws):
            words.append(_xorwow_words(np.stack(words) if i == 0 else np.stack(words[-WORDS:])))
            out[i] = words[-1] + np.uint32(self.counter + STEP * (skipped + i + 1) & LOW)
        return out


# ---------------------------------------------------------------- MRG32k3a

M1, M2 = 4294967087, 4294944443
A1 = ((0, 1, 0), (0, 0, 1), (-810728 % M1, 1403580, 0))
A2 = ((0, 1, 0), (0, 0, 1), (-1370589 % M2, 0, 527612))
LANE_DISTANCE = 76  # lanes are 2**76 draws apart
Matrix = tuple[tuple[int, ...], ...]


def _product(a: Matrix, b: Matrix, modulus: int) -> Matrix:
    return tuple(tuple(sum(x * y for x, y in zip(row, column, strict=True)) % modulus for column in zip(*b, strict=True)) for row in a)


@cache
def _matrix(first: bool, n: int) -> Matrix:
    """The matrix of 2**n steps of one of the two recurrences."""
    if n == 0:
        return A1 if first else A2
    half = _matrix(first, n - 1)
    return _product(half, half, M1 if first else M2)


def _mrg_ahead(states: Array, n: int) -> Array:
    out = np.empty_like(states)
    for first, modulus, rows in ((True, M1, slice(0, 3)), (False, M2, slice(3, 6))):
        s, m = states[rows], np.uint64(modulus)
        for i, row in enumerate(_matrix(first, n)):
            out[rows.start + i] = sum(np.uint64(x) * s[j] % m for j, x in enumerate(row)) % m
    return out


class Mrg32k3a:
    """MRG32k3a, as curand_init seeds it; it draws numbers from 1 to M1."""

    count = 81920

    def __init__(self, seed: int) -> None:
        low, high = seed & LOW ^ 0x55555555, seed >> 32 ^ 0xAAAAAAAA
        factors = (low, high, low, high, low, high) if seed else (1,) * 6
        state = [12345 * f % (M1 if i < 3 else M2) for i, f in enumerate(factors)]
        self.states = spread(np.array(state, np.uint64)[:, None], self.count, lambda states, n: _mrg_ahead(states, LANE_DISTANCE + n))

    def drawn(self, lanes: slice, skipped: int, draws: int) -> Array:
        """See DrawingLanes."""
        v = self.states[:, lanes]
        for n in range(skipped.bit_length()):
            if skipped >> n & 1:
                v = _mrg_ahead(v, n)
        m1, m2 = np.uint64(M1), np.uint64(M2)
        x, y = list(v[:3]), list(v[3:])
        out = np.empty((draws, v.shape[1]), np.uint64)
        for i in range(draws):
            x = [*x[1:], (np.uint64(1403580) * x[1] + np.uint64(810728) * (m1 - x[0])) % m1]
            y = [*y[1:], (np.uint64(527612) * y[2] + np.uint64(1370589) * (m2 - y[0])) % m2]
            out[i] = np.where(x[2] > y[2], x[2] - y[2], x[2] + m1 - y[2])
        return out
