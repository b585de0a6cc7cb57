"""The sequences of numbers that cuRAND's generators give: bits, and uniform and normal numbers made of them.

A generator's place counts what it has given; each call gives the numbers from there on, whatever kinds of numbers were given before.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np

from .lanes import LOW, Array, DrawingLanes, Mrg32k3a, Xorwow, slots

SINGLE, DOUBLE = np.float32(2.0**-32), 2.0**-53
TURN = np.float32(2.3283064e-10) * np.float32(6.2831855)  # a whole turn, for each of 2**32 numbers
MRG_UNIFORM, MRG_BITS = 2.3283065498378288e-10, 1.000000048662


class Sequence(Protocol):
    """What a generator gives; each function gives the numbers from a place on."""

    each: int  # numbers for each step of the place
    normals_each: int  # normal numbers for each step of the place

    def bits(self, first: int, n: int) -> Array:
        """Whole numbers of 32 bits."""

    def uniform(self, first: int, n: int) -> Array:
        """Numbers above 0, up to 1, in single precision."""

    def uniform_double(self, first: int, n: int) -> Array:
        """The same in double precision."""

    def normal(self, first: int, n: int) -> Array:
        """Normal numbers; of two for each step of the place, both."""

    def normal_double(self, first: int, n: int) -> Array:
        """The same in double precision."""


def single(x: Array) -> Array:
    """Uniform numbers of whole ones."""
    return x.astype(np.float32) * SINGLE + SINGLE / np.float32(2)


def double(low: Array, high: Array) -> Array:
    """Uniform numbers with 53 bits."""
    out: Array = (low.astype(np.uint64) ^ high.astype(np.uint64) << np.uint64(21)) * DOUBLE + DOUBLE / 2
    return out


def box_muller(radius: Array, angle: Array) -> Array:
    """Two normal numbers of each two uniform ones, (n, 2); the angle is in radians."""
    length = np.sqrt(radius.dtype.type(-2) * np.log(radius))
    return np.stack([np.sin(angle) * length, np.cos(angle) * length], axis=-1)


class XorwowSequence:
    """Of XORWOW: a double takes two draws of a lane, two normal doubles take four."""

    each, normals_each = 1, 2

    def __init__(self, seed: int) -> None:
        self._seed = seed

    @cached_property
    def lanes(self) -> DrawingLanes:
        """The lanes."""
        return Xorwow(self._seed)

    def bits(self, first: int, n: int) -> Array:
        """See Sequence."""
        return slots(self.lanes, first, n, 1)[:, 0]

    def uniform(self, first: int, n: int) -> Array:
        """See Sequence."""
        return single(self.bits(first, n))

    def uniform_double(self, first: int, n: int) -> Array:
        """See Sequence."""
        return double(*slots(self.lanes, first, n, 2).T)

    def normal(self, first: int, n: int) -> Array:
        """See Sequence."""
        x, y = slots(self.lanes, first, n // 2, 2).T
        return box_muller(single(x), y.astype(np.float32) * TURN + TURN / np.float32(2)).ravel()

    def normal_double(self, first: int, n: int) -> Array:
        """See Sequence."""
        a, b, c, d = slots(self.lanes, first, n // 2, 4).T
        return box_muller(double(a, b), double(c, d) * (2 * np.pi)).ravel()


class MrgSequence:
    """Of MRG32k3a: each number takes one draw, two normal ones take two."""

    each, normals_each = 1, 2

    def __init__(self, seed: int) -> None:
        self._seed = seed

    @cached_property
    def lanes(self) -> DrawingLanes:
        """The lanes."""
        return Mrg32k3a(self._seed)

    def bits(self, first: int, n: int) -> Array:
        """See Sequence."""
        drawn = slots(self.lanes, first, n, 1)[:, 0]
        return np.minimum(drawn.astype(np.float64) * MRG_BITS, LOW).astype(np.uint32)

    def uniform(self, first: int, n: int) -> Array:
        """See Sequence."""
        return self.uniform_double(first, n).astype(np.float32)

    def uniform_double(self, first: int, n: int) -> Array:
        """See Sequence."""
        return self._doubles(first, n, 1)[:, 0]

    def _doubles(self, first: int, n: int, each: int) -> Array:
        out: Array = slots(self.lanes, first, n, each).astype(np.float64) * MRG_UNIFORM
        return out

    def normal(self, first: int, n: int) -> Array:
        """See Sequence."""
        x, y = self._doubles(first, n // 2, 2).astype(np.float32).T
        return box_muller(x, y * np.float32(6.2831855)).ravel()

    def normal_double(self, first: int, n: int) -> Array:
        """See Sequence."""
        x, y = self._doubles(first, n // 2, 2).T
        return box_muller(x, y * (2 * np.pi)).ravel()


THREADS = 65536  # of cuRAND's Philox, which draw four numbers each
MULTIPLIERS, WEYL = (0xD2511F53, 0xCD9E8D57), (0x9E3779B9, 0xBB67AE85)


class PhiloxSequence:
    """Of Philox4x32-10 (Salmon and others, 2011): four numbers of a counter and a key."""

    each, normals_each = 1, 1

    def __init__(self, seed: int) -> None:
        self.key = seed & LOW, seed >> 32

    def _blocks(self, first: int, n: int, each: int) -> Array:
        """(groups of four places, 4 each): for the groups that hold the places from one on, what their threads draw."""
        group = np.arange(first // 4, (first + n - 1) // 4 + 1, dtype=np.uint64)
        thread, step = group % np.uint64(THREADS), group // np.uint64(THREADS)
        return np.concatenate([self._drawn(step * np.uint64(each) + np.uint64(i), thread) for i in range(each)], axis=1)

    def _drawn(self, step: Array, thread: Array) -> Array:
        low, half = np.uint64(LOW), np.uint64(32)
        x, y, z, w = step & low, step >> half, thread, np.zeros_like(thread)
        k0, k1 = self.key
        for _ in range(10):
            p, q = np.uint64(MULTIPLIERS[0]) * x, np.uint64(MULTIPLIERS[1]) * z
            x, y, z, w = q >> half ^ y ^ np.uint64(k0), q & low, p >> half ^ w ^ np.uint64(k1), p & low
            k0, k1 = k0 + WEYL[0] & LOW, k1 + WEYL[1] & LOW
        return np.stack([x, y, z, w], axis=1)

    def bits(self, first: int, n: int) -> Array:
        """See Sequence."""
        return self._blocks(first, n, 1).ravel()[first % 4 :][:n].astype(np.uint32)

    def uniform(self, first: int, n: int) -> Array:
        """See Sequence."""
        return single(self.bits(first, n))

    def uniform_double(self, first: int, n: int) -> Array:
        """See Sequence."""
        b = self._blocks(first, n, 2)
        return double(b[:, 0::2], b[:, 1::2]).ravel()[first % 4 :][:n]

    def normal(self, first: int, n: int) -> Array:
        """See Sequence."""
        b = self._blocks(first, n, 1).astype(np.uint32)
        angle = b[:, 1::2].astype(np.float32) * TURN + TURN / np.float32(2)
        return box_muller(single(b[:, 0::2]), angle).ravel()[first % 4 :][:n]

    def normal_double(self, first: int, n: int) -> Array:
        """See Sequence."""
        b = self._blocks(first, n, 2)
        x, y = double(b[:, 0::4], b[:, 1::4]), double(b[:, 2::4], b[:, 3::4])
        return box_muller(x, y * (2 * np.pi)).ravel()[first % 4 :][:n]


def poisson(uniform: Array, mean: float) -> Any:
    """Numbers of a Poisson distribution, by its inverse."""
    most = int(mean + 12 * np.sqrt(mean) + 20)
    k = np.arange(most)
    logs = -mean + k * np.log(mean) - np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, most)))])
    return np.searchsorted(np.cumsum(np.exp(logs)), 1 - uniform)
