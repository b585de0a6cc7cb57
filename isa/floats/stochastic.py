"""Stochastic rounding of float32 to narrower formats: random bits are added to those that are cut off, and the carry is kept."""

import numpy as np

from ..ports import Array
from .minifloats import FORMATS, Format

WIDE = {"f16": Format(5, 10, 15, 0x7BFF, infinity=0x7C00, nan=0x7FFF), "bf16": Format(8, 7, 127, 0x7F7F, infinity=0x7F80, nan=0x7FFF)}
_MOST = 40  # a value of which so many bits are cut off is below any carry: 24 of its own, 16 random ones


def encode(x: Array, random: Array, width: int, name: str, relu: bool, satfinite: bool) -> Array:
    """Codes of float32 values as uint16, `random` being `width` bits in uint32, uppermost among those that are cut off."""
    f = WIDE.get(name) or FORMATS[name]
    bits = x.view(np.uint32)
    size = (bits & np.uint32(0x7FFFFFFF)).astype(np.int64)
    field = np.maximum(size >> 23, 1)
    significand = (size & 0x7FFFFF) | (size >= 0x800000).astype(np.int64) << 23
    least = np.maximum(field, 128 - f.bias)  # the exponent of the binade whose grid the value falls on: subnormals share the least
    shift = np.minimum(23 - f.fraction + least - field, _MOST)
    steps = significand + (random.astype(np.int64) << shift - width) >> shift
    code = steps + (least - 128 + f.bias << f.fraction)  # a carry into the next binade adds up by itself
    ends = f.largest if satfinite or f.infinity < 0 else f.infinity
    code = np.where((code > f.largest) | (size >= 0x7F800000), ends, code)
    code = np.where(bits >> np.uint32(31) != 0, 0 if relu else code | f.sign, code)
    return np.where(size > 0x7F800000, f.nan if f.nan >= 0 else f.largest, code).astype(np.uint16)
