"""The special-function unit itself: one lookup of three coefficients, one truncated square, one sum, one truncation.

The leading bits of the argument choose a segment, the 17 bits below them are x, and the result is
c0 + c1*x + c2*square(x) in units of 2**-40, cut to 24 bits. The unit flushes subnormal arguments and results
(tanh excepted); README.md tells how this was found. Hands on one function for each operation, float32 to float32,
of which the instructions of `warplab.isa.sfu` are made.
"""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..primitives import look_up

F32 = NDArray[np.float32]
U32 = NDArray[np.uint32]
I64 = NDArray[np.int64]

NAN = np.uint32(0x7FFFFFFF)
INF = np.uint32(0x7F800000)
SIGN = np.uint32(0x80000000)
MAGNITUDE = np.uint32(0x7FFFFFFF)
ONE = np.uint32(0x3F800000)
ZERO = np.uint32(0)
HIDDEN = 0x800000
MANTISSA = 0x7FFFFF
LOW17 = 0x1FFFF
SMALLEST_NORMAL = np.uint32(0x800000)


def _squares() -> I64:
    """The square of every 17-bit x: its folded partial products of weight 2**19 and above, divided by 2**19."""
    square = np.zeros(1 << 17, np.int64)
    below = np.arange(1 << 16)
    for k in range(17):  # x = 2**k + y gives y's square, 2**2k, and each bit j of y at weight 2**(j + k + 1)
        own = 1 << (2 * k - 19) if 2 * k >= 19 else 0
        square[1 << k : 2 << k] = square[: 1 << k] + (below[: 1 << k] >> (18 - k)) + own
    return square


SQUARES = _squares()


@dataclass(frozen=True, slots=True, eq=False)
class Interpolator:
    """A function's coefficients as arrays, their shifts and the bias applied."""

    c0: I64
    c1: I64
    c2: I64

    def __call__(self, segment: I64, x: I64) -> I64:
        """The sum c0 + c1*x + c2*square(x), in units of 2**-40."""
        total = look_up(x, SQUARES) * look_up(segment, self.c2)
        total += look_up(segment, self.c1) * x
        total += look_up(segment, self.c0)
        return total


def _interpolator(shift0: int, bias: int, shift1: int, shift2: int, c0: list[int], c1: list[int], c2: list[int]) -> Interpolator:
    """One function of the table: a segment's sum is (c0 << shift0) + bias + (c1 << shift1) * x + (c2 << shift2) * square(x)."""
    a, b, c = (np.array(v, dtype=np.int64) for v in (c0, c1, c2))
    return Interpolator((a << shift0) + bias, b << shift1, c << shift2)


_TABLE = json.loads(Path(__file__).with_name("coefficients.json").read_text(encoding="utf-8"))
RCP, RSQRT, SQRT, EX2, LG2, SIN, TANH = (_interpolator(**_TABLE[f]) for f in ("rcp", "rsqrt", "sqrt", "ex2", "lg2", "sin", "tanh"))


def truncated(total: I64) -> F32:
    """A sum cut to the 24 leading bits, as a float."""
    y = total.astype(np.float64)
    cut = (y.view(np.int64) & np.int64(-1 << 29)).view(np.float64)
    result: F32 = (cut * 2.0**-40).astype(np.float32)
    return result


def normal(bits: I64) -> U32:
    """A result assembled with an exponent below range becomes zero, above range infinity."""
    return np.where(bits < HIDDEN, 0, np.minimum(bits, int(INF))).astype(np.uint32)


def reciprocal(m: I64) -> I64:
    """The sum for 1 / x, from the 23 mantissa bits."""
    return RCP(m >> 16, (m & 0xFFFF) << 1)


def root_arguments(a: I64) -> tuple[I64, I64]:
    """Segment and x of the arguments of rsqrt and sqrt, from mantissa and exponent (with its odd bias)."""
    return ((a >> 17) & 0x7F) ^ 0x40, a & LOW17


def reciprocal_root(a: I64) -> I64:
    """The sum for 1 / sqrt(x), to be cut at 2**-24; for even powers of two, where it would fall short, the exact one."""
    segment, low = root_arguments(a)
    return np.where((segment | low) == 0, 1 << 40, RSQRT(segment, low))


def rcp(x: F32) -> F32:
    """1 / x."""
    u = x.view(np.uint32)
    a = u & MAGNITUDE
    wide = a.astype(np.int64)
    r = normal(((252 - (wide >> 23)) << 23) + (reciprocal(wide & MANTISSA) >> 16))
    r = np.where(a < SMALLEST_NORMAL, INF, r) | (u & SIGN)
    return np.where(a > INF, NAN, r).view(np.float32)


def rsqrt(x: F32) -> F32:
    """1 / sqrt(x)."""
    u = x.view(np.uint32)
    a = u & MAGNITUDE
    wide = a.astype(np.int64)
    r = (((125 - (((wide >> 23) - 127) >> 1)) << 23) + (reciprocal_root(wide) >> 16)).astype(np.uint32)
    r = np.where(u >= INF, np.where(u == INF, ZERO, NAN), r)
    return np.where(a < SMALLEST_NORMAL, INF | (u & SIGN), r).view(np.float32)


def sqrt(x: F32) -> F32:
    """Square root."""
    u = x.view(np.uint32)
    a = u & MAGNITUDE
    wide = a.astype(np.int64)
    r = (((126 + (((wide >> 23) - 127) >> 1)) << 23) + (SQRT(*root_arguments(wide)) >> 17)).astype(np.uint32)
    r = np.where(u >= INF, np.where(u == INF, INF, NAN), r)
    return np.where(a < SMALLEST_NORMAL, u & SIGN, r).view(np.float32)


def ex2(x: F32) -> F32:
    """2 ** x, x in fixed point with 23 bits after the point."""
    u = x.view(np.uint32)
    a = u & MAGNITUDE
    inside = np.minimum(a, np.uint32(0x43800000)).view(np.float32)  # beyond 256 nothing changes
    fixed = (inside * np.float32(2.0**23)).astype(np.int64)
    # A negative argument is complemented bit by bit, a whole one (or one cut to a whole one) negated.
    fixed = np.where(u >= SIGN, -fixed - ((fixed & MANTISSA) != 0), fixed)
    m = fixed & MANTISSA
    r = normal((((fixed >> 23) + 126) << 23) + (EX2(m >> 17, m & LOW17) >> 17))
    return np.where(a > INF, NAN, r).view(np.float32)


def lg2(x: F32) -> F32:
    """Binary logarithm, cut at 2**-36 even where its leading bit is small."""
    u = x.view(np.uint32)
    a = u & MAGNITUDE
    wide = a.astype(np.int64)
    m = wide & MANTISSA
    total = LG2(m >> 17, m & LOW17) + (((wide >> 23) - 127) << 40)
    r = truncated(np.abs(total) & -16).view(np.uint32) | np.where(total < 0, SIGN, ZERO)
    r = np.where(u == ONE, ZERO, r)
    r = np.where(u >= INF, np.where(u == INF, INF, NAN), r)
    return np.where(a < SMALLEST_NORMAL, INF | SIGN, r).view(np.float32)


def _sine(x: F32, quarter: int) -> F32:
    """The sine of abs(x) turns and some quarter turns, the phase in fixed point with 25 bits after the point."""
    a = x.view(np.uint32) & MAGNITUDE
    y = np.where(a < INF, a, ZERO).view(np.float32)
    phase = ((y - np.floor(y)) * np.float32(2.0**25)).astype(np.int64) + (quarter << 23)
    p = np.where(phase & HIDDEN, ~phase, phase) & MANTISSA
    r = truncated(SIN(p >> 17, p & LOW17)).view(np.uint32) | ((phase << 7) & int(SIGN)).astype(np.uint32)
    return np.where(a < INF, r, NAN).view(np.float32)


def sin(x: F32) -> F32:
    """Sine of x turns."""
    r = _sine(x, 0)
    return np.where(np.isnan(r), r, np.where(np.signbit(x), -r, r))


def cos(x: F32) -> F32:
    """Cosine of x turns."""
    return _sine(x, 1)


# For arguments of [2**-8, 2**-7), ..., [4, 8): how many leading bits of the mantissa choose the segment, and the first.
TANH_BITS = np.array([0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3])
TANH_FIRST = np.cumsum(1 << TANH_BITS) - (1 << TANH_BITS)
_TANH_BELOW = np.uint32(0x3B800000)
_TANH_ABOVE = np.uint32(0x41000000)


def tanh(x: F32) -> F32:
    """Hyperbolic tangent; below 2**-8 its argument, from 8 on one."""
    u = x.view(np.uint32)
    a = u & MAGNITUDE
    wide = np.clip(a, _TANH_BELOW, _TANH_ABOVE - np.uint32(1)).astype(np.int64)
    binade = (wide >> 23) - 119
    bits = look_up(binade, TANH_BITS)
    m = wide & MANTISSA
    total = TANH(look_up(binade, TANH_FIRST) + (m >> (23 - bits)), (m >> (6 - bits)) & LOW17)
    r = np.where(a < _TANH_BELOW, a, truncated(total).view(np.uint32))
    r = np.where(a < _TANH_ABOVE, r, ONE) | (u & SIGN)
    return np.where(a > INF, NAN, r).view(np.float32)
