"""The float32 forms in few array passes: arguments without special cases go the short way here, the others through `single`.

What depends on an argument's leading bits alone (coefficients, the result's exponent, the quadrant of a sine) stands in
one row of a table, so that a result is a lookup, a sum and a cut.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..primitives import primitive
from . import single, unit
from .unit import F32, I64, INF, LOW17, MAGNITUDE, MANTISSA, ONE, SIGN, SMALLEST_NORMAL, SQUARES, U32

F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]

_HALF_SQUARES = SQUARES[::2].copy()  # of the arguments of rcp, whose lowest bit is 0
_SMALLEST = np.float32(2.0**-126)


def _bits(x: float) -> np.uint32:
    return np.float32(x).view(np.uint32)


_RCP_SPAN = _bits(2.0**126) - SMALLEST_NORMAL
_FINITE_SPAN = INF - SMALLEST_NORMAL
_EX2_END = _bits(126.0)
_TURNS_END = _bits(2.0**39)
_TURNS = float(np.uint32(0x3E22F983).view(np.float32)) * 2.0**25  # 1 / 2 pi, in units of the unit's phase
_TANH_START, _TANH_SPAN = _bits(2.0**-8), _bits(8.0) - _bits(2.0**-8)
_NOTHING = 2.0**-160  # vanishes in any other sum, and leaves its sign to a zero
_CUT24 = np.int64(-1 << 29)


@dataclass(frozen=True, slots=True, eq=False)
class LookupTable:
    """A function by the leading bits of its argument."""

    c0: I64
    c1: I64
    c2: I64

    def __call__(self, row: I64, x: I64, squares: I64 = SQUARES) -> I64:
        """c0 + c1*x + c2*square(x); rows out of range give something."""
        total = np.take(squares, x, mode="clip")
        total *= np.take(self.c2, row, mode="clip")
        term = np.take(self.c1, row, mode="clip")
        term *= x
        total += term
        total += np.take(self.c0, row, mode="clip")
        return total


def _table(f: unit.Interpolator, segment: I64, exponent: I64, at: int) -> LookupTable:
    """Rows that give a segment and what to add to its sum, in units of 2**at."""
    return LookupTable(np.take(f.c0, segment) + (exponent << at), np.take(f.c1, segment), np.take(f.c2, segment))


@cache
def _rcp_table() -> LookupTable:
    row = np.arange(1 << 15)
    t = _table(unit.RCP, row & 127, 252 - (row >> 7), 39)
    return LookupTable(t.c0, t.c1 << 1, t.c2)


def _root_rows() -> tuple[I64, I64]:
    row = np.arange(1 << 15)
    return (row & 127) ^ 64, ((row >> 6) - 127) >> 1


@cache
def _rsqrt_table() -> LookupTable:
    segment, half = _root_rows()
    return _table(unit.RSQRT, segment, 125 - half, 39)


@cache
def _sqrt_table() -> LookupTable:
    segment, half = _root_rows()
    return _table(unit.SQRT, segment, 126 + half, 40)


@cache
def _ex2_table() -> LookupTable:
    row = np.arange(252 << 6)
    return _table(unit.EX2, row & 63, row >> 6, 40)


@cache
def _lg2_table() -> LookupTable:
    row = np.arange(1 << 15)
    return _table(unit.LG2, row & 63, (row >> 6) - 127, 40)


@cache
def _sine_table(quarter: int) -> tuple[I64, F64, F64, F64]:
    """By quadrant and segment: what flips x, and the coefficients with the sine's sign."""
    row = (np.arange(256) + 64 * quarter) & 255
    flipped = row >> 6 & 1
    segment = row & 63 ^ 63 * flipped
    sign = (1 - 2 * (row >> 7)) * 2.0**-40
    c0, c1, c2 = (np.take(c, segment) * sign for c in (unit.SIN.c0, unit.SIN.c1, unit.SIN.c2))
    return flipped * LOW17, np.where(c0 == 0, sign * _NOTHING, c0), c1, c2


@cache
def _float_squares() -> F64:
    return SQUARES.astype(np.float64)


@cache
def _tanh_table() -> tuple[LookupTable, I64]:
    """By exponent and 4 bits of the mantissa: coefficients, and how far the rest of the mantissa stands from x."""
    row = np.clip(np.arange(1 << 12), int(_TANH_START) >> 19, (int(_TANH_START + _TANH_SPAN) >> 19) - 1)
    binade = (row >> 4) - 119
    bits = np.take(unit.TANH_BITS, binade)
    return _table(unit.TANH, np.take(unit.TANH_FIRST, binade) + ((row & 15) >> (4 - bits)), np.zeros_like(row), 0), 6 - bits


def _with_others(r: F32, ordinary: Mask, function: Callable[..., F32], *arguments: F32) -> F32:
    """r, where some arguments were not ordinary put right by the function's definition."""
    if not ordinary.all():
        other = ~ordinary
        r[other] = function(*(np.broadcast_to(x, r.shape)[other] for x in arguments))
    return r


def _as_float(bits: I64) -> F32:
    return bits.astype(np.uint32).view(np.float32)


def _cut(total: F64) -> F32:
    """24 leading bits."""
    bits = total.view(np.int64)
    bits &= _CUT24
    return total.astype(np.float32)


def _reciprocal(x: F32) -> tuple[U32, F32]:
    """The bits of abs(x), and 1/x."""
    u = x.view(np.uint32)
    size = u & MAGNITUDE
    wide = size.astype(np.int64)
    r = (_rcp_table()(wide >> 16, wide & 0xFFFF, _HALF_SQUARES) >> 16).astype(np.uint32)
    r |= u & SIGN
    return size, r.view(np.float32)


@primitive
def rcp(x: F32, ftz: bool = False) -> F32:
    """1/x."""
    size, r = _reciprocal(x)
    size -= SMALLEST_NORMAL
    return _with_others(r, size <= _RCP_SPAN, lambda y: single.rcp(y, ftz), x)


@primitive
def rsqrt(x: F32, ftz: bool = False) -> F32:
    """1/sqrt(x)."""
    u = x.view(np.uint32)
    wide = u.astype(np.int64)
    r = _as_float(_rsqrt_table()(wide >> 17, wide & LOW17) >> 16)
    ordinary = u - SMALLEST_NORMAL < _FINITE_SPAN
    ordinary &= u & np.uint32(0xFFFFFF) != SMALLEST_NORMAL  # even powers of two, whose sums fall short
    return _with_others(r, ordinary, lambda y: single.rsqrt(y, ftz), x)


@primitive
def sqrt(x: F32, ftz: bool = False) -> F32:
    """Square root."""
    u = x.view(np.uint32)
    wide = u.astype(np.int64)
    r = _as_float(_sqrt_table()(wide >> 17, wide & LOW17) >> 17)
    return _with_others(r, u - SMALLEST_NORMAL < _FINITE_SPAN, lambda y: single.sqrt(y, ftz), x)


@primitive
def ex2(x: F32, ftz: bool = False) -> F32:
    """2**x."""
    fixed = (x * np.float32(2.0**23)).astype(np.int64)
    fixed -= (fixed < 0) & (fixed & MANTISSA != 0)
    fixed += 126 << 23
    r = _as_float(_ex2_table()(fixed >> 17, fixed & LOW17) >> 17)
    return _with_others(r, x.view(np.uint32) & MAGNITUDE < _EX2_END, lambda y: single.ex2(y, ftz), x)


@primitive
def lg2(x: F32, ftz: bool = False) -> F32:
    """Binary logarithm."""
    u = x.view(np.uint32)
    wide = u.astype(np.int64)
    total = _lg2_table()(wide >> 17, wide & LOW17) * 2.0**-4
    r = _cut(np.trunc(total, out=total))
    r *= np.float32(2.0**-36)
    r[u == ONE] = 0
    return _with_others(r, u - SMALLEST_NORMAL < _FINITE_SPAN, lambda y: single.lg2(y, ftz), x)


def _sine(x: F32, quarter: int) -> F32:
    """The sine of abs(x) and some quarter turns."""
    flip, c0, c1, c2 = _sine_table(quarter)
    turns = np.abs(x).astype(np.float64)
    turns *= _TURNS
    bits = turns.view(np.int64)
    bits &= _CUT24
    phase = turns.astype(np.int64)
    row = phase >> 17
    row &= 255
    phase &= LOW17
    phase ^= np.take(flip, row, mode="clip")
    total = np.take(_float_squares(), phase, mode="clip")
    total *= np.take(c2, row, mode="clip")
    term = np.take(c1, row, mode="clip")
    term *= phase
    total += term
    total += np.take(c0, row, mode="clip")
    return _cut(total)


@primitive
def sin(x: F32, ftz: bool = False) -> F32:
    """Sine; `ftz` changes nothing."""
    u = x.view(np.uint32)
    r = _sine(x, 0)
    bits = r.view(np.uint32)
    bits ^= u & SIGN
    return _with_others(r, u & MAGNITUDE < _TURNS_END, lambda y: single.sin(y, ftz), x)


@primitive
def cos(x: F32, ftz: bool = False) -> F32:
    """Cosine; `ftz` changes nothing."""
    return _with_others(_sine(x, 1), x.view(np.uint32) & MAGNITUDE < _TURNS_END, lambda y: single.cos(y, ftz), x)


@primitive
def tanh(x: F32) -> F32:
    """Hyperbolic tangent."""
    u = x.view(np.uint32)
    a = u & MAGNITUDE
    wide = a.astype(np.int64)
    table, shift = _tanh_table()
    row = wide >> 19
    wide &= MANTISSA
    wide >>= np.take(shift, row, mode="clip")
    wide &= LOW17
    total: F64 = table(row, wide) * np.float64(2.0**-40)
    r = _cut(total).view(np.uint32)
    r |= u & SIGN
    return _with_others(r.view(np.float32), a - _TANH_START < _TANH_SPAN, single.tanh, x)


def _quotient(a: F32, b: F32, ftz: bool, function: Callable[..., F32]) -> F32:
    """a/b where neither b nor the quotient is anything special."""
    size, reciprocal = _reciprocal(b)
    r = reciprocal * a
    size -= SMALLEST_NORMAL
    ordinary = size <= _RCP_SPAN
    ordinary = ordinary & (np.minimum(np.abs(a), np.abs(r)) > _SMALLEST if ftz else r == r)  # no NaN is greater than anything
    return _with_others(r, ordinary, lambda x, y: function(x, y, ftz), a, b)


@primitive
def div_approx(a: F32, b: F32, ftz: bool = False) -> F32:
    """The quotient a/b of div.approx.f32."""
    return _quotient(a, b, ftz, single.div_approx)


@primitive
def div_full(a: F32, b: F32, ftz: bool = False) -> F32:
    """The quotient a/b of div.full.f32."""
    return _quotient(a, b, ftz, single.div_full)
