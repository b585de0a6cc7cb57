"""The float64 forms of rcp and rsqrt: the same sums, cut to the 20 mantissa bits of a high word.

The unit reads and writes high words only. The plain form of rsqrt refines that value by one step of third order, which
the assembler writes in float64 multiplications and fma around the unit.
"""

import numpy as np
from numpy.typing import NDArray

from . import unit
from .unit import I64

F64 = NDArray[np.float64]

_INF = 0x7FF00000
_NAN = 0x7FFFFFFF
_SIGN = 0x80000000
_NORMAL = 0x00100000


def _high(x: F64) -> I64:
    return (x.view(np.uint64) >> np.uint64(32)).astype(np.int64)


def _from_high(high: I64) -> F64:
    return (high.astype(np.uint64) << np.uint64(32)).view(np.float64)


def rcp64h(x: F64) -> F64:
    """1/x as rcp.approx.ftz.f64."""
    u = _high(x)
    a = u & 0x7FFFFFFF
    r = ((2044 - (a >> 20)) << 20) + (unit.reciprocal((a & 0xFFFFF) << 3) >> 19)
    r = np.where((r < _NORMAL) | (a == _INF), 0, r)
    r = np.where(a < _NORMAL, _INF, r) | (u & _SIGN)
    return _from_high(np.where(a > _INF, _NAN, r))


def _rsqrt_high(u: I64) -> I64:
    a = u & 0x7FFFFFFF
    r = ((1021 - (((a >> 20) - 1023) >> 1)) << 20) + (unit.reciprocal_root(a << 3) >> 19)
    r = np.where(u >= _INF, np.where(u == _INF, 0, _NAN), r)
    return np.where(a < _NORMAL, _INF | (u & _SIGN), r)


def _split(a: F64) -> tuple[F64, F64]:
    """Two halves of at most 26 bits whose sum is a."""
    c = a * 134217729.0
    high = c - (c - a)
    return high, a - high


def _fma(a: F64, b: F64, c: F64) -> F64:
    """a*b + c rounded once, for moderate exponents: the exact product and sum, their tails rounded to odd."""
    p = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    product_tail = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    s = p + c
    t = s - p
    sum_tail = (p - (s - t)) + (c - t)
    tail = sum_tail + product_tail
    t = tail - sum_tail
    lost = (sum_tail - (tail - t)) + (product_tail - t)
    bits = tail.view(np.int64)
    outward = np.where((lost > 0) == (tail > 0), 1, -1)
    return s + np.where((lost != 0) & (bits & 1 == 0), bits + outward, bits).view(np.float64)


def rsqrt64h(x: F64, ftz: bool = False) -> F64:
    """1/sqrt(x) as rsqrt.approx.ftz.f64 or, without `ftz`, as rsqrt.approx.f64."""
    if ftz:
        return _from_high(_rsqrt_high(_high(x)))
    with np.errstate(all="ignore"):
        usual = np.isfinite(x) & (x > 0)
        argument, exponent = np.frexp(np.where(usual, x, 1.0))
        odd = exponent & 1
        argument = np.ldexp(argument, 2 - odd)  # [1, 4), the argument's exponent less an even number
        y = _from_high(_rsqrt_high(_high(argument)))
        error = _fma(argument, -(y * y), np.ones_like(y))
        y = _fma(_fma(error, np.full_like(y, 0.375), np.full_like(y, 0.5)), y * error, y)
        y = np.ldexp(y, (2 - odd - exponent) >> 1)
        special = np.where(x == 0, np.copysign(np.inf, x), np.where(x > 0, 0.0, x + x))
        special = np.where(x < 0, np.uint64(0xFFF8000000000000).view(np.float64), special)
        return np.where(usual, y, special)
