"""Half precision arithmetic (PTX ISA 9.7.4): f16 and bf16, alone and in pairs.

Sums and products of halves are exact, or exact enough, one or two formats up: there they are computed and rounded once.
"""

import functools
from typing import Any

import numpy as np

from ..facts import Need
from ..floats import binary32 as floats
from ..floats import conversions as to
from ..floats.binary64 import odd_sum
from ..notation import instruction
from ..ports import Array

F16 = "f16 f16x2"
BF16 = "bf16 bf16x2"
RN = "rn"
ARITHMETIC: dict[str, Any] = {"rnd": RN, "type": F16, "ptx": 4.2, "sm": 53}
ARITHMETIC_BF16: dict[str, Any] = {"rnd": RN, "type": BF16, "ptx": 7.8, "sm": 90}
OOB = 0x7FF7  # the NaN, of either sign, that a tensor copy fills elements outside the tensor with
# From here on a magnitude, rounded to 11 bits without a lower limit on the exponent, is a normal number.
_NORMAL_FROM = 2.0**-14 - 2.0**-26


def _f16(s: Array, ftz: bool = False, sat: bool = False, relu: bool = False) -> Array:
    """A float32 or float64 value rounded to f16 and finished."""
    if ftz:
        s = np.where(np.abs(s) < _NORMAL_FROM, np.copysign(s.dtype.type(0), s), s)
    if sat:
        s = floats.saturate(s)
    r = to.narrow_half(s)
    return to.relu(r) if relu else r


def _operands(ftz: bool, *halves: Array) -> tuple[Array, ...]:
    return tuple((floats.flush(x) if ftz else x).astype(np.float32) for x in halves)


def _bf16(s: Array) -> Array:
    """A float64 value, exact or rounded to odd, rounded to bf16."""
    return to.float_to_bf16(to.odd_float(s))


@instruction("add{.rnd}{.ftz}{.sat}.type  d, a, b", section="9.7.4.1", **ARITHMETIC)
def add(a: Array, b: Array, *, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """d = a + b; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    x, y = _operands(ftz, a, b)
    return _f16(x + y, ftz, sat)


@instruction("sub{.rnd}{.ftz}{.sat}.type  d, a, b", section="9.7.4.2", **ARITHMETIC)
def sub(a: Array, b: Array, *, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """d = a - b; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    x, y = _operands(ftz, a, b)
    return _f16(x - y, ftz, sat)


@instruction("mul{.rnd}{.ftz}{.sat}.type  d, a, b", section="9.7.4.3", **ARITHMETIC)
def mul(a: Array, b: Array, *, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """d = a * b; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    x, y = _operands(ftz, a, b)
    return _f16(x * y, ftz, sat)


@instruction("add{.rnd}.type  d, a, b", section="9.7.4.1", **ARITHMETIC_BF16)
def add_bf16(a: Array, b: Array, *, rnd: str = "rn") -> Array:
    """d = a + b."""
    return to.float_to_bf16(to.bf16_to_float(a) + to.bf16_to_float(b))


@instruction("sub{.rnd}.type  d, a, b", section="9.7.4.2", **ARITHMETIC_BF16)
def sub_bf16(a: Array, b: Array, *, rnd: str = "rn") -> Array:
    """d = a - b."""
    return to.float_to_bf16(to.bf16_to_float(a) - to.bf16_to_float(b))


@instruction("mul{.rnd}.type  d, a, b", section="9.7.4.3", **ARITHMETIC_BF16)
def mul_bf16(a: Array, b: Array, *, rnd: str = "rn") -> Array:
    """d = a * b."""
    return _bf16(np.multiply(to.bf16_to_float(a), to.bf16_to_float(b), dtype=np.float64))


def _fma(a: Array, b: Array, c: Array, ftz: bool, sat: bool, relu: bool) -> Array:
    # The product is exact in float32, and the sum rounded to odd there leaves the rounding to f16 alone.
    x, y, z = _operands(ftz, a, b, c)
    return _f16(odd_sum(x * y, z), ftz, sat, relu)


def _without_oob(r: Array, *operands: Array) -> Array:
    """Zero where an operand is the NaN that marks elements outside a tensor."""
    outside = functools.reduce(np.logical_or, ((x.view(np.uint16) & np.uint16(0x7FFF)) == OOB for x in operands))
    return np.where(outside, r.dtype.type(0), r)


@instruction("fma.rn{.ftz}{.sat}.type  d, a, b, c", type=F16, ptx=4.2, sm=53, section="9.7.4.4")
def fma(a: Array, b: Array, c: Array, *, ftz: bool = False, sat: bool = False) -> Array:
    """d = a * b + c, rounded once; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    return _fma(a, b, c, ftz, sat, False)


@instruction("fma.rn{.ftz}.relu.type  d, a, b, c", type=F16, ptx=7.0, sm=80, section="9.7.4.4")
def fma_relu(a: Array, b: Array, c: Array, *, ftz: bool = False) -> Array:
    """d = a * b + c, rounded once, negative results becoming +0."""
    return _fma(a, b, c, ftz, False, True)


@instruction("fma.rn.oob{.clamp}.type  d, a, b, c", clamp="sat relu", type=F16, ptx=8.1, sm=90, section="9.7.4.4")
def fma_oob(a: Array, b: Array, c: Array, *, clamp: str = "") -> Array:
    """d = a * b + c, rounded once, or 0 where a or b is the NaN of elements outside a tensor."""
    return _without_oob(_fma(a, b, c, False, clamp == "sat", clamp == "relu"), a, b)


FMA_BF16: dict[str, Any] = {"ptx": 7.0, "sm": 80, "needs": {"oob": Need(8.1, 90)}, "section": "9.7.4.4"}


@instruction("fma.rnd{.oob}{.relu}.type  d, a, b, c", rnd="rn", type="bf16", **FMA_BF16)
@instruction("fma.rnd{.oob}{.relu}.type  d, a, b, c", rnd="rn rz rm rp", type="bf16x2", **FMA_BF16)
def fma_bf16(a: Array, b: Array, c: Array, *, rnd: str, oob: bool = False, relu: bool = False) -> Array:
    """d = a * b + c, rounded once to nearest; .relu clears negative results, .oob those of elements outside a tensor."""
    # The manual knows .rn alone; ptxas takes every rounding of a pair, and the hardware rounds to nearest whatever is written.
    x, y, z = (to.bf16_to_float(v) for v in (a, b, c))
    r = _bf16(odd_sum(np.multiply(x, y, dtype=np.float64), z.astype(np.float64)))
    if relu:
        r = np.where((r & np.uint16(0x8000)) != 0, np.uint16(0), r)
    return _without_oob(r, a, b) if oob else r


@instruction("fma.rnd{.oob}{.relu}.type  d, a, b, c", rnd="rz rm rp", type="bf16", **FMA_BF16)
def fma_bf16_directed(a: Array, b: Array, c: Array, *, rnd: str, oob: bool = False, relu: bool = False) -> Array:
    """d = a * b + c of the operands' bits taken as f16, to nearest; .rm makes a zero sum of unlike signs -0; .oob and .relu do nothing."""
    # The manual does not know these roundings of one bf16; ptxas takes them, and the machine code that it makes is that of f16.
    x, y, z = _operands(False, *(v.view(np.float16) for v in (a, b, c)))
    total = odd_sum(x * y, z)
    if rnd == "rm":
        total = np.where((total == 0) & (np.signbit(x * y) != np.signbit(z)), np.float32(-0.0), total)
    return _f16(total).view(np.uint16)


@instruction("neg{.ftz}.type  d, a", type=F16, ptx=6.0, sm=53, section="9.7.4.5")
def neg(a: Array, *, ftz: bool = False) -> Array:
    """d = -a; a NaN becomes the canonical NaN."""
    return floats.canonical(-(floats.flush(a) if ftz else a))


@instruction("neg.type  d, a", type=BF16, ptx=7.0, sm=80, section="9.7.4.5")
def neg_bf16(a: Array) -> Array:
    """d = -a; a NaN becomes the canonical NaN."""
    return to.float_to_bf16(-to.bf16_to_float(a), "rz")


@instruction("abs{.ftz}.type  d, a", type=F16, ptx=6.5, sm=53, section="9.7.4.6")
def abs_(a: Array, *, ftz: bool = False) -> Array:
    """d = |a|; a NaN becomes the canonical NaN."""
    return floats.canonical(np.absolute(floats.flush(a) if ftz else a))


@instruction("abs.type  d, a", type=BF16, ptx=7.0, sm=80, section="9.7.4.6")
def abs_bf16(a: Array) -> Array:
    """d = |a|; a NaN becomes the canonical NaN."""
    return to.float_to_bf16(np.absolute(to.bf16_to_float(a)), "rz")


EXTREME: dict[str, Any] = {"ptx": 7.0, "sm": 80}
XORSIGN: dict[str, Any] = {"ptx": 7.2, "sm": 86}


def _extreme(a: Array, b: Array, larger: bool, nan: bool, xorsign: bool = False, ftz: bool = False) -> Array:
    infinity = 0x7F80 if a.dtype == np.uint16 else 0x7C00
    x, y = ((floats.flush(v) if ftz else v).view(np.int16) for v in (a, b))
    size_x, size_y = x & 0x7FFF, y & 0x7FFF
    # As signed integers with negative magnitudes turned over, floats are in order, -0 below +0.
    keys = (size_x, size_y) if xorsign else (x ^ (x >> 15 & 0x7FFF), y ^ (y >> 15 & 0x7FFF))
    key = np.maximum(*keys) if larger else np.minimum(*keys)
    r = key ^ (key >> 15 & 0x7FFF)
    if max(np.maximum.reduce(size_x, axis=None), np.maximum.reduce(size_y, axis=None)) > infinity:
        nan_x, nan_y = size_x > infinity, size_y > infinity
        if not nan:
            r = np.where(nan_x, size_y if xorsign else y, np.where(nan_y, size_x if xorsign else x, r))
        r = np.where(nan_x | nan_y if nan else nan_x & nan_y, np.int16(0x7FFF), r)
    if xorsign:
        r = np.where(r > infinity, r, r | (x ^ y) & -0x8000)
    extreme: Array = r.view(a.dtype)
    return extreme


@instruction("min{.ftz}{.NaN}.type  d, a, b", type=F16, section="9.7.4.7", **EXTREME)
@instruction("min{.NaN}.type  d, a, b", type=BF16, section="9.7.4.7", **EXTREME)
def min_(a: Array, b: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the lesser operand, -0 below +0; a NaN yields to a number unless .NaN."""
    return _extreme(a, b, False, NaN, ftz=ftz)


@instruction("max{.ftz}{.NaN}.type  d, a, b", type=F16, section="9.7.4.8", **EXTREME)
@instruction("max{.NaN}.type  d, a, b", type=BF16, section="9.7.4.8", **EXTREME)
def max_(a: Array, b: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the larger operand, -0 below +0; a NaN yields to a number unless .NaN."""
    return _extreme(a, b, True, NaN, ftz=ftz)


@instruction("min{.ftz}{.NaN}.xorsign.abs.type  d, a, b", type=F16, section="9.7.4.7", **XORSIGN)
@instruction("min{.NaN}.xorsign.abs.type  d, a, b", type=BF16, section="9.7.4.7", **XORSIGN)
def min_xorsign(a: Array, b: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the lesser magnitude, negative if the signs of a and b differ."""
    return _extreme(a, b, False, NaN, True, ftz)


@instruction("max{.ftz}{.NaN}.xorsign.abs.type  d, a, b", type=F16, section="9.7.4.8", **XORSIGN)
@instruction("max{.NaN}.xorsign.abs.type  d, a, b", type=BF16, section="9.7.4.8", **XORSIGN)
def max_xorsign(a: Array, b: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the larger magnitude, negative if the signs of a and b differ."""
    return _extreme(a, b, True, NaN, True, ftz)
