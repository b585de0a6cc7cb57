"""The arithmetic of the H200's tensor cores on matrices (rows, columns, warps), and the columns that a sparse A leaves out."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..ports import Array
from . import binary64
from .binary32 import NAN32
from .minifloats import decode as decode_minifloat

ELEMENTS = 1 << 15  # products that are worked on at once: their arrays stay in the second-level cache

# ---------------------------------------------------------------- floats


@dataclass(frozen=True, eq=False, slots=True)
class Terms:
    """Numbers with the exponent that the adder goes by: subnormals count as the least normal number, zeros as nothing."""

    value: Array  # float64
    exponent: Array  # int16

    def __getitem__(self, index: Any) -> Terms:
        return Terms(self.value[index], self.exponent[index])


# Exponents of zeros, and of infinities and NaN: two of any kind add up within an int16, and a sum with the latter stays large.
NOTHING, SPECIAL = np.int16(-8000), np.int16(12000)
LARGE, LEAST = 3000, np.int16(-400)
FRACTION = {"f16": 10, "bf16": 7, "f32": 23, "tf32": 23}
FIELD = {"f16": 0x1F, "bf16": 0xFF, "f32": 0xFF, "tf32": 0xFF}


def _decoded(bits: Array, kind: str) -> Terms:
    if kind == "f16":
        value = bits.view(np.float16).astype(np.float64)
    elif kind == "bf16":
        value = (bits.astype(np.uint32) << np.uint32(16)).view(np.float32).astype(np.float64)
    else:
        if kind == "tf32":
            bits = bits & np.uint32(0xFFFFE000)
        value = bits.view(np.float32).astype(np.float64)
    field = (bits >> bits.dtype.type(FRACTION[kind]) & bits.dtype.type(FIELD[kind])).astype(np.int16)
    exponent = np.maximum(field, np.int16(1)) - np.int16(FIELD[kind] >> 1)
    exponent[value == 0] = NOTHING
    exponent[field == FIELD[kind]] = SPECIAL
    return Terms(value, exponent)


@functools.cache
def _table(kind: str) -> Terms:
    """All numbers of a format of up to 16 bits; the hardware makes f16 of the 8-bit ones."""
    if kind == "f16":
        return _decoded(np.arange(1 << 16, dtype=np.uint16), kind)
    codes = np.arange(256)
    if kind == "ue8m0":
        exponent = (codes - 127).astype(np.int16)
        return Terms(np.where(codes == 255, np.nan, power(exponent)), np.where(codes == 255, SPECIAL, exponent))
    if kind == "ue4m3":
        codes, kind = codes & 0x7F, "e4m3"
    return _decoded(decode_minifloat(codes, kind).astype(np.float16).view(np.uint16), "f16")


def terms(bits: Array, kind: str) -> Terms:
    """The numbers that bit patterns of a format stand for; tf32 disregards the low 13 bits."""
    return _decoded(bits, kind) if kind in ("bf16", "f32", "tf32") else _table(kind)[bits]


def scaled(t: Terms, factors: Terms) -> Terms:
    """Numbers times the factors of the chunks of k, the first axis, that they stand in.

    Of the adders that know such factors none is recorded: a product with them is taken to be one term of the sum, as one without.
    """
    f = Terms(*(np.repeat(x, len(t.value) // len(x), axis=0) for x in (factors.value, factors.exponent)))
    special = (t.exponent == SPECIAL) | (f.exponent == SPECIAL)
    return Terms(t.value * f.value, np.where(special, SPECIAL, np.maximum(t.exponent + f.exponent, NOTHING)))


def power(exponent: Array) -> Array:
    """2.0 ** exponent of integers in the normal range of float64."""
    out: Array = (exponent.astype(np.int64) + 1023 << 52).view(np.float64)
    return out


def _sum(a: Terms, b: Terms, c: Terms, bits: int) -> Array:
    top = np.maximum((a.exponent + b.exponent).max(axis=0), c.exponent)
    special = top.max() > LARGE
    scale = power(bits - (np.clip(top, LEAST, LARGE - 2500) if special else np.maximum(top, LEAST)))
    product = a.value * b.value
    plain = product.sum(axis=0) + c.value if special else None
    product *= scale
    np.trunc(product, out=product)
    total: Array = product.sum(axis=0)
    total += np.trunc(c.value * scale)
    total /= scale
    total += 0.0  # a sum of zeros is +0
    # Products of finite numbers stay finite here, so infinity and NaN arise exactly as the operands bring them.
    return total if plain is None else np.where(top > LARGE, plain, total)


def add_products(a: Terms, b: Terms, c: Terms, bits: int = 25) -> Array:
    """The sum of a[k, m] * b[k, n] over all k and of c[m, n], as float64, as one addition of the tensor core makes it.

    Every term is truncated toward zero to a multiple of 2**(E - bits), E being the largest exponent among them, and these are
    added exactly; the caller rounds.  Matrices are (k, m, warps), (k, n, warps) or (k, m, n, warps), and (m, n, warps).
    """
    at = a[:, :, None]
    bt = b[:, None] if b.value.ndim == 3 else b
    step = max(ELEMENTS // max(len(b.value) * c.value.shape[0] * c.value.shape[1], 1), 1)
    if c.value.shape[-1] <= step:
        return _sum(at, bt, c, bits)
    total = np.empty(c.value.shape)
    for w in range(0, c.value.shape[-1], step):
        cut = (..., slice(w, w + step))
        total[cut] = _sum(at[cut], bt[cut], c[cut], bits)
    return total


def to_f32(total: Array) -> Array:
    """Truncated toward zero to float32, though too large a sum becomes infinite and what underflows is +0; NaN is the hardware's."""
    r: Array = total.astype(np.float32)
    size = np.abs(total)
    common = size.max() < 2.0**127
    cut = np.abs(r) > size
    if not common:
        cut &= size < 2.0**128
    r.view(np.int32)[...] -= cut
    r += np.float32(0)
    return r if common else np.where(np.isnan(r), NAN32, r)


def to_f16(total: Array) -> Array:
    """Rounded to nearest even to float16; what underflows is +0, and NaN is the hardware's."""
    r: Array = total.astype(np.float16) + np.float16(0)
    unordered = np.isnan(total)
    if unordered.any():
        r.view(np.uint16)[unordered] = 0x7FFF
    return r


# ---------------------------------------------------------------- integers and float64


def signed(elements: Array, kind: str) -> Array:
    """Elements of an integer type as float32: their products and the sums of a few hundred of them are exact in it."""
    if kind == "s8":
        return elements.view(np.int8).astype(np.float32)
    if kind == "s4":
        return ((elements ^ 8).astype(np.int8) - np.int8(8)).astype(np.float32)
    return elements.astype(np.float32)


def dot(a: Array, b: Array) -> Array:
    """The integer matrix product of (m, k, warps) and (k, n, warps), as int64."""
    product: Array = np.matmul(np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0))
    return np.moveaxis(product, 0, -1).astype(np.int64)


def count_ones(a: Array, b: Array, op: str) -> Array:
    """How many ones `a op b` has, bit against bit, for every row of a and column of b."""
    both = dot(a, b)
    if op == "and":
        return both
    ones: Array = a.sum(axis=1)[:, None] + b.sum(axis=0)[None] - 2 * both
    return ones.astype(np.int64)


def add_integers(product: Array, c: Array, satfinite: bool) -> Array:
    """product + c as int32: clamped, or modulo 2**32."""
    total = product + c
    if satfinite:
        total = np.clip(total, -(2**31), 2**31 - 1)
    return total.astype(np.int32)


def fma_chain(a: Array, b: Array, c: Array, rounding: str) -> Array:
    """c + the products in the order of k, each step one fma in float64."""
    for i in range(b.shape[0]):
        x, y = a[:, i, None], b[None, i]
        c = binary64.quiet(binary64.fma64(x, y, c, rounding), *(np.broadcast_to(v, c.shape) for v in (y, c, x)))
    return c


# ---------------------------------------------------------------- sparsity


def metadata(e: Array, selector: int, groups: int, narrow_elements: bool) -> Array:
    """The 4-bit metadata of every row's groups, (16, groups, warps).

    Neighbouring threads of each four, chosen by the selector, hold those of rows g and g + 8.  For 16-bit elements a register
    has four groups of one row in its low half and four of the other in its high half; for narrower ones eight groups of one row.
    """
    threads = groups // 4
    first = selector * threads % 4
    words = np.broadcast_to(e, np.broadcast_shapes(e.shape, (1, 32))).reshape(-1, 8, 4)[:, :, first : first + threads]
    nibbles = words[..., None] >> np.arange(0, 32, 4, dtype=np.uint32) & 15  # (warps, row, thread, group)
    parts = nibbles.reshape(-1, 8, threads // 2, 2, 8) if narrow_elements else nibbles.reshape(-1, 8, threads, 2, 4)
    rows: Array = np.moveaxis(parts.transpose(0, 3, 1, 2, 4).reshape(-1, 16, groups), 0, -1)
    return rows


def kept(nibbles: Array, bits: int) -> Array:
    """Which column each stored element of A stands in, (rows, stored, warps), for elements of so many bits.

    Of four columns two are kept, each named by two bits.  4-bit elements are kept by pairs.  Of two tf32 columns one is kept:
    they count as four halves.
    """
    base = 4 * np.arange(nibbles.shape[1])[:, None]
    low, high = (nibbles & 3) + base, (nibbles >> 2) + base
    if bits == 32:
        return low >> 1
    both = np.stack([low, high], axis=2)
    if bits == 4:
        both = np.stack([2 * both, 2 * both + 1], axis=3)
    return both.reshape(len(nibbles), -1, nibbles.shape[-1])


def choose(columns: Array, b: Terms) -> Terms:
    """B as each row of a sparse A meets it: (stored, m, n, warps)."""
    places = np.moveaxis(columns, 1, 0)[:, :, None]
    n, warps = b.value.shape[1:]
    index = (places, np.arange(n)[:, None], np.arange(warps))
    return b[index]


def expand(columns: Array, stored: Array, k: int) -> Array:
    """A sparse A with its zeros, (m, k, warps); where metadata names a column twice, both elements count."""
    m, _, warps = stored.shape
    out = np.zeros((m, k, warps), stored.dtype)
    for i in range(4):  # every fourth element is of another group
        part = np.zeros_like(out)
        np.put_along_axis(part, columns[:, i::4], stored[:, i::4], axis=1)
        out += part
    return out
