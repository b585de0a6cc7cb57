"""Integer arithmetic (PTX ISA 9.7.1.1 to 9.7.1.14): sums, products, quotients, minima; the bit counters live in bits.py.

Arrays keep the dtype of their type, so wrap-around is numpy's own; only products that need their upper half are widened.
"""

from typing import Any

import numpy as np

from ..facts import Need, facts, when
from ..notation import instruction
from ..ports import Array

facts("mul mad", leading="lo hi wide", sign_free=when("lo", without="sat"))
facts("add sub", updates_as="add")
facts("min", updates_as="min")
facts("max", updates_as="max")
facts("add sub neg", sign_free=when(without="sat cc"))
facts("add", passes_address=when(without="sat cc"))
facts("mul24 mad24", leading="lo hi")
facts("div rem", divides=True)

UPWARDS = {"upwards": True}
INTEGER = "u16 u32 u64 s16 s32 s64"
SIGNED = "s16 s32 s64"
HALVES = "u16x2 s16x2"
WIDER: dict[np.dtype[Any], np.dtype[Any]] = {
    np.dtype(np.uint16): np.dtype(np.uint32), np.dtype(np.int16): np.dtype(np.int32),
    np.dtype(np.uint32): np.dtype(np.uint64), np.dtype(np.int32): np.dtype(np.int64),
}  # fmt: skip
S32 = np.iinfo(np.int32)


def saturate(wide: Array) -> Array:
    """64-bit sums clamped to the range of .s32."""
    return np.clip(wide, S32.min, S32.max).astype(np.int32)


def high_half(a: Array, b: Array) -> Array:
    """The upper half of the full product, as wide as its operands."""
    wide = WIDER.get(a.dtype)
    if wide is not None:
        return np.multiply(a, b, dtype=wide, order="C").view(a.dtype)[..., 1::2].copy()
    # No 128-bit dtype: four products of 32-bit halves, whose sums never exceed 64 bits.
    x, y = a.view(np.uint64), b.view(np.uint64)
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    x0, x1, y0, y1 = x & low, x >> half, y & low, y >> half
    middle: Array = x1 * y0
    middle += (x0 * y0) >> half
    carried: Array = x0 * y1
    carried += middle & low
    carried >>= half
    middle >>= half
    high: Array = x1 * y1
    high += middle
    high += carried
    if a.dtype == np.uint64:
        return high
    signed: Array = high.view(np.int64)  # a negative factor counted 2**64 too much of the other one
    signed -= (a >> 63) & b
    signed -= (b >> 63) & a
    return signed


@instruction("add.type  d, a, b", type=INTEGER, section="9.7.1.1", facts=UPWARDS)
@instruction("add.type  d, a, b", type=HALVES, ptx=8.0, sm=90, section="9.7.1.1", facts=UPWARDS)
@instruction("add.sat.s32  d, a, b", section="9.7.1.1")
def add(a: Array, b: Array, *, sat: bool = False) -> Array:
    """d = a + b modulo 2**N; .sat clamps to the range of .s32."""
    if sat:
        return saturate(np.add(a, b, dtype=np.int64))
    return a + b


@instruction("sub.type  d, a, b", type=INTEGER, section="9.7.1.2", facts=UPWARDS)
@instruction("sub.sat.s32  d, a, b", section="9.7.1.2")
def sub(a: Array, b: Array, *, sat: bool = False) -> Array:
    """d = a - b modulo 2**N; .sat clamps to the range of .s32."""
    if sat:
        return saturate(np.subtract(a, b, dtype=np.int64))
    return a - b


@instruction("mul.lo.type  d, a, b", type=INTEGER, section="9.7.1.3", facts=UPWARDS)
def mul(a: Array, b: Array) -> Array:
    """d = the lower half of a * b."""
    return a * b


@instruction("mul.hi.type  d, a, b", type=INTEGER, section="9.7.1.3")
def mul_hi(a: Array, b: Array) -> Array:
    """d = the upper half of a * b."""
    return high_half(a, b)


@instruction("mul.wide.type  d:wide, a, b", type="u16 u32 s16 s32", section="9.7.1.3")
def mul_wide(a: Array, b: Array) -> Array:
    """d = a * b, twice as wide as its operands."""
    return np.multiply(a, b, dtype=WIDER[a.dtype])


@instruction("mad.lo.type  d, a, b, c", type=INTEGER, section="9.7.1.4", facts=UPWARDS)
def mad(a: Array, b: Array, c: Array) -> Array:
    """d = the lower half of a * b, + c."""
    return a * b + c


@instruction("mad.hi.type  d, a, b, c", type=INTEGER, section="9.7.1.4")
@instruction("mad.hi.sat.s32  d, a, b, c", section="9.7.1.4")
def mad_hi(a: Array, b: Array, c: Array, *, sat: bool = False) -> Array:
    """d = the upper half of a * b, + c; .sat clamps the sum to the range of .s32."""
    if sat:
        return saturate(np.add(high_half(a, b), c, dtype=np.int64))
    return high_half(a, b) + c


@instruction("mad.wide.type  d:wide, a, b, c:wide", type="u16 u32 s16 s32", section="9.7.1.4")
def mad_wide(a: Array, b: Array, c: Array) -> Array:
    """d = a * b + c, where the product and c are twice as wide as the factors."""
    return np.multiply(a, b, dtype=WIDER[a.dtype]) + c


def _product24(a: Array, b: Array) -> Array:
    """The 48-bit product of the low 24 bits, in 64 bits."""
    eight, wide = a.dtype.type(8), WIDER[a.dtype]
    d: Array = np.multiply((a << eight) >> eight, (b << eight) >> eight, dtype=wide)
    return d


@instruction("mul24.lo.type  d, a, b", type="u32 s32", section="9.7.1.6")
def mul24(a: Array, b: Array) -> Array:
    """d = bits 31 to 0 of the product of the low 24 bits of a and b."""
    return _product24(a, b).astype(a.dtype)


@instruction("mul24.hi.type  d, a, b", type="u32 s32", section="9.7.1.6")
def mul24_hi(a: Array, b: Array) -> Array:
    """d = bits 47 to 16 of the product of the low 24 bits of a and b."""
    return (_product24(a, b) >> 16).astype(a.dtype)


@instruction("mad24.lo.type  d, a, b, c", type="u32 s32", section="9.7.1.7")
def mad24(a: Array, b: Array, c: Array) -> Array:
    """d = bits 31 to 0 of the product of the low 24 bits of a and b, + c."""
    return mul24(a, b) + c


@instruction("mad24.hi.type  d, a, b, c", type="u32 s32", section="9.7.1.7")
@instruction("mad24.hi.sat.s32  d, a, b, c", section="9.7.1.7")
def mad24_hi(a: Array, b: Array, c: Array, *, sat: bool = False) -> Array:
    """d = bits 47 to 16 of the product of the low 24 bits of a and b, + c; .sat clamps the sum to the range of .s32."""
    if sat:
        return saturate(np.add(mul24_hi(a, b), c, dtype=np.int64))
    return mul24_hi(a, b) + c


@instruction("sad.type  d, a, b, c", type=INTEGER, section="9.7.1.8")
def sad(a: Array, b: Array, c: Array) -> Array:
    """d = c + |a - b|."""
    return np.maximum(a, b) - np.minimum(a, b) + c


def quotient(a: Array, b: Array) -> Array:
    """a / b truncated toward zero for b other than zero."""
    if a.dtype.kind == "u":
        return a // b
    # Absolute values as unsigned numbers: numpy divides those fastest, and MIN / -1 wraps to MIN as it should.
    unsigned, bits = f"u{a.itemsize}", a.itemsize * 8
    q: Array = (np.abs(a).view(unsigned) // np.abs(b).view(unsigned)).view(a.dtype)
    negative = (a ^ b) >> (bits - 1)
    d: Array = (q ^ negative) - negative
    return d


def _divisor(b: Array) -> tuple[Array | None, Array]:
    """Where b is zero (None: nowhere), and b without zeros."""
    zero = b == 0
    return (zero, b | zero.astype(b.dtype)) if zero.any() else (None, b)


@instruction("div.type  d, a, b", type=INTEGER, section="9.7.1.9")
def div(a: Array, b: Array) -> Array:
    """d = a / b truncated toward zero; division by zero gives all ones, as an H200 does."""
    zero, b = _divisor(b)
    q = quotient(a, b)
    return q if zero is None else np.where(zero, ~a.dtype.type(0), q)


@instruction("rem.type  d, a, b", type=INTEGER, section="9.7.1.10")
def rem(a: Array, b: Array) -> Array:
    """d = a - b * (a / b), with the sign of a; division by zero gives all ones, as an H200 does."""
    zero, b = _divisor(b)
    r = a - quotient(a, b) * b
    d: Array = r if zero is None else np.where(zero, ~a.dtype.type(0), r)
    return d


@instruction("abs.type  d, a", type=SIGNED, section="9.7.1.11")
def abs_(a: Array) -> Array:
    """d = |a|; the most negative number stays what it is."""
    return np.abs(a)


@instruction("neg.type  d, a", type=SIGNED, section="9.7.1.12", facts=UPWARDS)
def neg(a: Array) -> Array:
    """d = -a."""
    return -a


RELU = {"relu": Need(8.0, 90)}


@instruction("min.type  d, a, b", type="u16 u32 u64 s16 s64", section="9.7.1.13")
@instruction("min.u16x2  d, a, b", ptx=8.0, sm=90, section="9.7.1.13")
@instruction("min{.relu}.s16x2  d, a, b", ptx=8.0, sm=90, section="9.7.1.13")
@instruction("min{.relu}.s32  d, a, b", needs=RELU, section="9.7.1.13")
def min_(a: Array, b: Array, *, relu: bool = False) -> Array:
    """d = the smaller of a and b; .relu replaces negative results by 0."""
    d = np.minimum(a, b)
    return np.maximum(d, d.dtype.type(0)) if relu else d


@instruction("max.type  d, a, b", type="u16 u32 u64 s16 s64", section="9.7.1.14")
@instruction("max.u16x2  d, a, b", ptx=8.0, sm=90, section="9.7.1.14")
@instruction("max{.relu}.s16x2  d, a, b", ptx=8.0, sm=90, section="9.7.1.14")
@instruction("max{.relu}.s32  d, a, b", needs=RELU, section="9.7.1.14")
def max_(a: Array, b: Array, *, relu: bool = False) -> Array:
    """d = the larger of a and b; .relu replaces negative results by 0."""
    d = np.maximum(a, b)
    return np.maximum(d, d.dtype.type(0)) if relu else d
