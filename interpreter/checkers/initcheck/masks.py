"""Masks of undefined bits: arrays of uint64 that broadcast as the values they belong to, a set bit for each bit that nobody has defined.

The mask of a value narrower than 64 bits may have bits above it, but none without one below; a predicate has bit 0.  A value that
is defined altogether has the mask DEFINED, this very array, so that one comparison of references tells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Mask = NDArray[np.uint64]

U64 = np.uint64
DEFINED: Mask = np.zeros((1, 1), U64)
UNDEFINED: Mask = ~DEFINED
ALL = U64(2**64 - 1)
ZERO, ONE = U64(0), U64(1)
DEFINED.flags.writeable = UNDEFINED.flags.writeable = False


def normal(mask: Mask) -> Mask:
    """The mask itself, or DEFINED where it has no bit."""
    return mask if mask is DEFINED or mask.any() else DEFINED


def bits_of(dtype: np.dtype[Any]) -> np.uint64:
    """All bits of a value."""
    return ONE if dtype.kind == "b" else U64((1 << 8 * dtype.itemsize) - 1)


def as_value(mask: Mask, dtype: np.dtype[Any]) -> Array:
    """A mask as a value of a dtype with these bits, for an operation that moves bits."""
    if dtype.kind == "b":
        holds: Array = mask & ONE != 0
        return holds
    return mask.astype(f"u{dtype.itemsize}").view(dtype)


def as_mask(value: Array) -> Mask:
    """The bits of a value as a mask."""
    if value.dtype.kind == "b":
        return value.astype(U64)
    return np.ascontiguousarray(value).view(f"u{value.dtype.itemsize}").astype(U64)


def elements(mask: Mask, dtype: np.dtype[Any], count: int) -> Mask:
    """The mask of a packed value as those of its elements, on an axis of their own."""
    whole = np.ascontiguousarray(mask.astype(f"u{dtype.itemsize * count}"))
    return whole.view(f"u{dtype.itemsize}").reshape(*mask.shape, count).astype(U64)


def packed(masks: Mask, size: int) -> Mask:
    """The masks of elements of `size` bytes as those of the packed values."""
    parts = np.ascontiguousarray(masks.astype(f"u{size}"))
    whole: Mask = parts.view(f"u{size * masks.shape[-1]}")[..., 0].astype(U64)
    return whole


def by_halves(mask: Mask) -> Mask:
    """All bits of each 16 that have one."""
    parts = np.ascontiguousarray(mask).view(np.uint16)
    whole: Mask = np.where(parts != 0, np.uint16(0xFFFF), np.uint16(0)).view(U64)
    return whole


# ---------------------------------------------------------------- what comes out of what goes in


def everything(masks: Sequence[Mask]) -> Mask:
    """Of an operation any bit of whose operands may reach any bit of the result."""
    some = masks[0] != ZERO
    for m in masks[1:]:
        some = some | (m != ZERO)
    return np.where(some, ALL, ZERO)


def upwards(masks: Sequence[Mask]) -> Mask:
    """Of a sum or the lower half of a product: the lowest undefined bit of an operand and all above it."""
    joined = masks[0]
    for m in masks[1:]:
        joined = joined | m
    return joined | (ZERO - (joined & (ZERO - joined)))


def bit_by_bit(f: Callable[..., Array], values: Sequence[Any], masks: Sequence[Mask | None]) -> tuple[Mask, Mask]:
    """Of an operation each bit of whose result comes from the operands' bits in its place, and which of these bits are no plain copies.

    The operation is done with all undefined bits of an operand 0 and again 1, in every combination: where results differ the bit is
    undefined, and a copy where it is 0 with all zeros and 1 with all ones.  One mask in two places, of one register, is one choice.
    """
    choices: dict[int, list[int]] = {}  # mask -> its operands
    for n, m in enumerate(masks):
        if m is not None and m is not DEFINED:
            choices.setdefault(id(m), []).append(n)
    places = list(choices.values())
    results: list[Mask] = []
    for chosen in range(1 << len(places)):
        given = list(values)
        for bit, operands in enumerate(places):
            for n in operands:
                mask = as_value(masks[n], values[n].dtype)  # type: ignore[arg-type]
                given[n] = values[n] | mask if chosen >> bit & 1 else values[n] & ~mask
        results.append(as_mask(f(*given)))
    low, high = results[0], results[-1]
    differ = low ^ high
    for r in results[1:-1]:
        differ = differ | (r ^ low)
    return differ, differ & (low | ~high)
