"""Scans of atomic operations: what one place in memory holds before the operation of each lane, and after the last.

A scan takes the first value of the place (an array of one) and the operands of the lanes in their order; it returns one value more than
there are lanes, in one array operation instead of one per lane.  A scan may be wrong for some lanes: `Lanes.update` checks each step
against the operation itself.
"""

import numpy as np

from .floats.binary32 import canonical, flush
from .ports import Array

_TOP = 16  # bf16 are the upper bits of a float32


def _after(first: Array, rest: Array) -> Array:
    return np.concatenate((first, rest.astype(first.dtype, copy=False)))


def sums(first: Array, b: Array, *_: Array) -> Array:
    """Sums of floats: accumulate rounds after each of them."""
    run: Array = np.add.accumulate(_after(first, b), dtype=first.dtype)
    return run if run.dtype.itemsize == 8 else _after(first, canonical(run[1:]))


def flushed_sums(first: Array, b: Array) -> Array:
    """The same of float32 whose subnormals count as zeros; a sum that comes out subnormal is left to the check."""
    return _after(first, sums(flush(first), flush(b))[1:])


def sums_bf16(first: Array, b: Array) -> Array:
    """Sums of bf16 bits: beside a number so large that the last bit of a float32 is that of a bf16 of the sums' size."""
    start, more = (np.left_shift(bits, _TOP, dtype=np.uint32).view(np.float32) for bits in (first, b))
    exponent = np.frexp(start + more[:1])[1]
    large = np.ldexp(np.float32(1.5), exponent + 15)
    run = np.add.accumulate(_after(start + large, more), dtype=np.float32) - large
    return _after(first, (run[1:].view(np.uint32) >> _TOP).astype(np.uint16))


def exchanged(first: Array, b: Array) -> Array:
    """What the lane before has put there."""
    return _after(first, b)


def counted_up(first: Array, b: Array) -> Array:
    """inc with one limit for all lanes."""
    turn = np.int64(b[0]) + 1
    start = np.where(first > b[:1], -1, first.astype(np.int64))
    return _after(first, ((start + np.arange(1, b.size + 1)) % turn).astype(first.dtype))


def counted_down(first: Array, b: Array) -> Array:
    """dec with one limit for all lanes."""
    turn = np.int64(b[0]) + 1
    start = np.where(first > b[:1], 0, first.astype(np.int64))
    return _after(first, ((start - np.arange(1, b.size + 1)) % turn).astype(first.dtype))
