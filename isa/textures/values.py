"""What texels are worth: codes as numbers, filtered sums, border colours; bit for bit as the texture unit of sm_90 has it.

Texels come with their channels first.  Results are 32 bits a channel: a float32, or an integer where the sampler reads integers.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .positions import Array
from .resources import Sampler, TexelFormat
from .sums import LEAST_SINGLE, sum_of_codes, sum_of_floats
from .tables import SRGB, SRGB_MAGNITUDE

SINGLE_NAN, HALF_NAN = np.uint32(0x7FFFFFFF), np.uint32(0x7FFFE000)
MOST_HALF = np.float32(65504)


def keeps_integers(texel: TexelFormat, sampler: Sampler) -> bool:
    """Are texels of this format returned as the integers that they are?"""
    return texel.kind != "f" and (sampler.integer or texel.bits == 32)


def colours(texel: TexelFormat, sampler: Sampler) -> int:
    """How many channels, the first ones, hold sRGB codes."""
    if not sampler.srgb or sampler.integer or texel.kind != "u" or texel.bits != 8:
        return 0
    return 1 if texel.channels <= 2 else 3


def largest_code(texel: TexelFormat) -> int:
    """The code that stands for 1."""
    return int((1 << texel.bits - (texel.kind == "s")) - 1)


def bits_of(x: Array) -> Array:
    """Numbers as the bits of float32; a double is rounded once."""
    return np.ascontiguousarray(x, np.float32).view(np.uint32)


def plain_values(texels: Array, texel: TexelFormat, sampler: Sampler) -> Array:
    """Texels as they are read without a filter, (channels, ...)."""
    if texel.kind == "f":
        return texels.view(np.uint32) if texel.bits == 32 else widened(texels)
    if keeps_integers(texel, sampler):
        return texels.astype(np.int64).astype(np.uint32)
    most = largest_code(texel)
    values = np.maximum(texels.astype(np.float64), -most) / most
    n = colours(texel, sampler)
    if n:
        values[:n] = SRGB[texels[:n]]
    return bits_of(values)


def widened(halves: Array) -> Array:
    """Halves as the bits of float32; a NaN keeps its payload."""
    h = halves.view(np.uint16).astype(np.uint32)
    special = (h >> 15 << 31) | 0x7F800000 | (h & 0x3FF) << 13
    return np.where(h & 0x7C00 == 0x7C00, special, bits_of(halves))


def narrowed(bits: Array) -> Array:
    """The bits of float32 as the nearest half, half to even; NaN is 0x7fff."""
    value = bits.view(np.float32)
    return np.where(np.isnan(value), np.uint16(0x7FFF), value.astype(np.float16).view(np.uint16)).view(np.float16)


def filtered_values(
    texels: Array, weights: Array, touched: Callable[[], Array], texel: TexelFormat, sampler: Sampler, extra: Array | None = None
) -> Array:
    """The sum of texels (channels, quads, rows, columns, lanes); `touched` are those whose weight is not 0 before it is rounded."""
    if texel.kind == "f":
        return _filtered_floats(texels, weights, touched, texel, extra)
    total, digits = sum_of_codes(texels, weights, extra)
    half, whole_bits = 128 << digits, 8 + digits
    if keeps_integers(texel, sampler):
        whole = (total + half if texel.bits < 32 else total) >> whole_bits
        return whole.astype(np.uint32)
    if texel.bits == 16:
        whole, most = (total + half) >> whole_bits, largest_code(texel)
    elif texel.kind == "u":
        whole, most = (257 * total + half) >> whole_bits, 65535
    else:
        whole, most = ((total << 11 - digits) + (total >> 4 + digits) * 257 + 1024) >> 11, 32767
    values = np.maximum(whole, -most) / most
    n = colours(texel, sampler)
    if n:
        values[:n] = sum_of_floats(SRGB[texels[:n]], SRGB_MAGNITUDE[texels[:n]], weights, 7, 11, extra)
    return bits_of(values)


def _filtered_floats(texels: Array, weights: Array, touched: Callable[[], Array], texel: TexelFormat, extra: Array | None) -> Array:
    guard, digits, nan = (27, 24, SINGLE_NAN) if texel.bits == 32 else (14, 11, HALF_NAN)
    texels = texels.astype(np.float64)
    magnitudes = np.abs(texels)
    if texel.bits == 32 and magnitudes.min() < LEAST_SINGLE:
        texels = np.where(magnitudes < LEAST_SINGLE, texels * 0.0, texels)
    result = bits_of(sum_of_floats(texels, magnitudes, weights, guard, digits, extra))
    if not magnitudes.max() < np.inf:
        special = ~(magnitudes < np.inf) & touched()
        total = np.where(special, texels, 0.0).sum(axis=(1, 2, 3))
        result = np.where(special.any(axis=(1, 2, 3)), np.where(np.isnan(total), nan, bits_of(total)), result)
    return result


def cut_to_halves(bits: Array) -> Array:
    """The bits of float32 as halves, cut towards zero: a finite number stays one, a NaN keeps the upper bits of its payload, or its last."""
    value = bits.view(np.float32)
    size = np.abs(value)
    near = np.where(size > MOST_HALF, MOST_HALF, size).astype(np.float16)
    half = near.view(np.uint16) - (widened(near).view(np.float32) > size)
    special = 0x7C00 | np.maximum((bits & 0x7FFFFF) >> 13, np.isnan(value))
    half = np.where(np.isfinite(value), half, special) | bits >> 16 & 0x8000
    halves: Array = half.astype(np.uint16).view(np.float16)
    return halves


def border(texel: TexelFormat, sampler: Sampler) -> Array:
    """The border colour as a texel, (channels)."""
    colour = np.array(sampler.border[: texel.channels], np.float32)
    if texel.kind == "f":
        if texel.bits == 32:
            return colour
        return cut_to_halves(colour.view(np.uint32))
    if keeps_integers(texel, sampler):
        return colour.view(np.uint32).astype(f"u{texel.bits // 8}").view(texel.dtype)
    numbers = np.clip(colour.astype(np.float64), 0.0 if texel.kind == "u" else -1.0, 1.0)
    n = colours(texel, sampler)
    linear = numbers[:n]
    numbers[:n] = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    codes = np.trunc(numbers * 2.0**20) * 2.0**-20 * largest_code(texel)
    return (np.sign(codes) * np.ceil(np.abs(codes) - 0.5)).astype(texel.dtype)
