"""Single precision as the hardware computes it: flushing, the canonical NaN, saturation, and every operation in every rounding.

To nearest, numpy's own float32 operations are used where they round once; everything else goes through float64, which holds
a product exactly and a sum rounded to odd, and is narrowed once.
"""

import functools
import math
import threading
from collections.abc import Callable

import numpy as np

from ..ports import Array
from ..primitives import primitive
from .binary64 import in_chunks, odd, odd_sum, step

NAN32 = np.array(0x7FFFFFFF, np.uint32).view(np.float32)
NAN16 = np.array(0x7FFF, np.uint16).view(np.float16)
MIN32 = np.float32(2.0**-126)  # the smallest normal number
MIN16 = np.float16(2.0**-14)
_SIGN32 = np.uint32(0x80000000)
_SIGN16 = np.uint16(0x8000)
_HALFWAY = np.int64(-(2**63))  # the low 29 bits of a float64 halfway between two float32, moved to the top
_MOVE = np.int64(35)

# Rounded without a lower limit on the exponent, a value of at least this magnitude is a normal number.
_NORMAL_FROM = {"rn": 2.0**-126 - 2.0**-151, "rz": 2.0**-126, "away": np.nextafter(2.0**-126 - 2.0**-150, 1.0)}


def flush(x: Array) -> Array:
    """Subnormal float32 or float16 lanes become zeros of their sign."""
    half = x.dtype.itemsize == 2
    least = MIN16 if half else MIN32
    size = np.absolute(x)
    if np.minimum.reduce(size, axis=None) >= least:
        return x
    small = (size < least) & (size > 0)
    if not small.any():
        return x
    bits = x.view(np.uint16) if half else x.view(np.uint32)
    flushed: Array = np.where(small, bits & (_SIGN16 if half else _SIGN32), bits).view(x.dtype)
    return flushed


@primitive
def canonical(r: Array) -> Array:
    """float32 or float16 results with every NaN the one that the hardware gives."""
    top = np.maximum.reduce(r, axis=None)
    if top == top:
        return r
    return np.where(np.isnan(r), NAN16 if r.dtype.itemsize == 2 else NAN32, r)


def saturate(r: Array) -> Array:
    """Clamped to [0, 1]; NaN and negative zero become +0."""
    zero, one = r.dtype.type(0), r.dtype.type(1)
    r = np.minimum(np.maximum(r, zero) + zero, one)
    top = np.maximum.reduce(r, axis=None)
    return r if top == top else np.where(r == r, r, zero)


def narrow(s: Array, mode: str = "rn", ftz: bool = False) -> Array:
    """float64 values, exact or rounded to odd, rounded to float32."""
    r = s.astype(np.float32)
    if mode != "rn":
        r = step(r, s > r, s < r, mode)
    if ftz:
        size = np.abs(s)
        if mode in ("rn", "rz"):
            tiny = size < _NORMAL_FROM[mode]
        else:
            away = np.signbit(s) == (mode == "rm")
            tiny = size < np.where(away, _NORMAL_FROM["away"], _NORMAL_FROM["rz"])
        r = np.where(tiny, np.copysign(np.float32(0), r), r)
    return r


def _finish(r: Array, sat: bool) -> Array:
    return saturate(r) if sat else canonical(r)


def _flushed_result(r: Array, exact: Callable[[], Array]) -> Array:
    """Flushes results rounded to nearest; those that came out as 2**-126 are asked again at full width."""
    size = np.absolute(r)
    if np.minimum.reduce(size, axis=None) > MIN32:
        return r
    return narrow(exact(), "rn", True) if (size == MIN32).any() else flush(r)


def _wide_add(a: Array, b: Array) -> Array:
    return odd_sum(a.astype(np.float64), b.astype(np.float64))


def _wide_mul(a: Array, b: Array) -> Array:
    return np.multiply(a, b, dtype=np.float64)


def _wide_div(a: Array, b: Array) -> Array:
    # A quotient of two 24-bit numbers keeps 2**-49 away from every boundary of a rounding to 24 bits, unless it lies on one.
    return np.divide(a, b, dtype=np.float64)


def _wide_sqrt(a: Array) -> Array:
    return np.sqrt(a, dtype=np.float64)


def add32(a: Array, b: Array, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """a + b."""
    if ftz:
        a, b = flush(a), flush(b)
    if rnd == "rn":
        r = a + b  # a subnormal sum is exact: nothing to ask again
        return _finish(flush(r) if ftz else r, sat)
    return _finish(_add_directed(a, b, rnd=rnd, ftz=ftz), sat)


@in_chunks
def _add_directed(a: Array, b: Array, *, rnd: str, ftz: bool) -> Array:
    s = _wide_add(a, b)
    if rnd == "rm":  # an exact zero of addends of opposite signs is negative when rounding down
        s = np.where((s == 0) & (np.signbit(a) != np.signbit(b)), -0.0, s)
    return narrow(s, rnd, ftz)


def sub32(a: Array, b: Array, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """a - b."""
    if rnd != "rn":
        return add32(a, -b, rnd, ftz, sat)
    if ftz:
        a, b = flush(a), flush(b)
    r = a - b
    return _finish(flush(r) if ftz else r, sat)


def mul32(a: Array, b: Array, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """a * b."""
    if ftz:
        a, b = flush(a), flush(b)
    if rnd == "rn":
        r = a * b
        return _finish(_flushed_result(r, functools.partial(_wide_mul, a, b)) if ftz else r, sat)
    return _finish(_mul_directed(a, b, rnd=rnd, ftz=ftz), sat)


@in_chunks
def _mul_directed(a: Array, b: Array, *, rnd: str, ftz: bool) -> Array:
    return narrow(_wide_mul(a, b), rnd, ftz)


def div32(a: Array, b: Array, rnd: str = "rn", ftz: bool = False) -> Array:
    """a / b."""
    if ftz:
        a, b = flush(a), flush(b)
    if rnd == "rn":
        r = a / b
        return canonical(_flushed_result(r, functools.partial(_wide_div, a, b)) if ftz else r)
    return canonical(narrow(_wide_div(a, b), rnd, ftz))


def sqrt32(a: Array, rnd: str = "rn", ftz: bool = False) -> Array:
    """The square root of a."""
    if ftz:
        a = flush(a)
    return canonical(np.sqrt(a) if rnd == "rn" else narrow(_wide_sqrt(a), rnd))


SMALL = 1024  # lanes
FAR = 1 << 20  # below any exponent


@functools.lru_cache(maxsize=16)
def _scratch(shape: tuple[int, ...], thread: int) -> tuple[Array, Array, Array, Array]:
    """Float64 buffers of a thread, on cache lines: numpy's widest loops run twice as fast there."""

    def aligned() -> Array:
        size = int(np.prod(shape)) * 8
        raw = np.empty(size + 64, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start : start + size].view(np.float64).reshape(shape)

    return aligned(), aligned(), aligned(), aligned()


def _wide(x: Array, buffer: Array) -> Array:
    """float32 as float64, in the buffer if it fills it."""
    if x.size < buffer.size:
        return x.astype(np.float64)
    np.copyto(buffer, x)
    return buffer


@primitive
def fma_nearest(a: Array, b: Array, c: Array) -> Array:
    """a * b + c: the float64 sum rounds a second time rightly unless it is a tie of float32 whose float64 error was lost."""
    if max(a.size, b.size, c.size) <= SMALL:  # here calls cost more than passes
        s = np.multiply(a, b, dtype=np.float64) + c
        r = s.astype(np.float32)
        low = np.left_shift(s.view(np.int64), _MOVE)
        if np.minimum.reduce(low, axis=None) != _HALFWAY:
            size = np.absolute(r)
            if np.minimum.reduce(size, axis=None) >= MIN32:
                return r
            if not ((size < MIN32) & (s != 0)).any():  # zeros and NaNs only
                return canonical(r)
    exact = _exact_product(a, b)
    if exact is not None:
        return canonical(exact + c)
    p, q, s, t = _scratch(np.broadcast(a, b, c).shape, threading.get_ident())
    np.multiply(_wide(a, p), _wide(b, q), out=p)
    addend = _wide(c, q)
    np.add(p, addend, out=s)
    r = s.astype(np.float32)
    low = np.left_shift(s.view(np.int64), _MOVE, out=t.view(np.int64))
    ties = np.minimum.reduce(low, axis=None) == _HALFWAY
    if not ties and np.minimum.reduce(r, axis=None) >= MIN32:  # mostly all are positive
        return r
    size = np.absolute(r)
    least = np.minimum.reduce(size, axis=None)
    if least >= MIN32 and (not ties or _is_narrow(a, b, c, size) or _exact_sum(p, addend, s)):
        return r
    doubt = (np.abs(s) < MIN32) & (s != 0)  # a subnormal result has its ties elsewhere
    if ties:
        doubt |= low == _HALFWAY
    if doubt.any():
        np.subtract(s, p, out=t)
        error = np.subtract(p, s - t, out=p)
        error += addend - t
        doubt &= error != 0
        if doubt.any():
            r[doubt] = odd(s[doubt], error[doubt]).astype(np.float32)
    return canonical(r)


def _exact_product(a: Array, b: Array) -> Array | None:
    """a * b in float32 where one of them is the same power of two, not above 1, for all lanes, and no bit of a product is lost."""
    if b.size == 1:
        a, b = b, a
    if a.size > 1:
        return None
    factor = abs(float(a.flat[0]))
    if not MIN32 <= factor <= 1 or math.frexp(factor)[0] != 0.5:
        return None
    p = a * b
    if np.minimum.reduce(p, axis=None) >= MIN32 or np.minimum.reduce(np.absolute(p), axis=None) >= MIN32:
        return p
    return None


def _lowest_bit(x: Array) -> int:
    """An exponent below which no element of a float32 array has a bit; far down where that is not easily told."""
    if x.size == 1:
        one = float(x.flat[0])
        return 1 - one.as_integer_ratio()[1].bit_length() if math.isfinite(one) else -FAR
    least = float(np.minimum.reduce(np.absolute(x), axis=None))
    return math.frexp(least)[1] - 24 if least else -FAR


def _is_narrow(a: Array, b: Array, c: Array, size: Array) -> bool:
    """Do all bits of a * b and c up to the largest result's fit in float64, so that no sum rounded?"""
    largest = float(np.maximum.reduce(size, axis=None))
    return math.isfinite(largest) and math.frexp(largest)[1] - min(_lowest_bit(a) + _lowest_bit(b), _lowest_bit(c)) <= 53


def _exact_sum(p: Array, q: Array, s: Array) -> bool:
    """Did no sum s = p + q round?  The larger addend's difference tells, so both are asked."""
    return bool((s - p == q).all()) and bool((s - q == p).all())


def _wide_fma(a: Array, b: Array, c: Array) -> Array:
    return odd_sum(np.multiply(a, b, dtype=np.float64), c.astype(np.float64))


def fma32(a: Array, b: Array, c: Array, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """a * b + c in one rounding."""
    if ftz:
        a, b, c = flush(a), flush(b), flush(c)
    if rnd == "rn":
        r = fma_nearest(a, b, c)
        if ftz:
            r = _flushed_result(r, functools.partial(_wide_fma, a, b, c))
        return _finish(r, sat) if sat or ftz else r
    return _finish(_fma_directed(a, b, c, rnd=rnd, ftz=ftz), sat)


@in_chunks
def _fma_directed(a: Array, b: Array, c: Array, *, rnd: str, ftz: bool) -> Array:
    s = _wide_fma(a, b, c)
    if rnd == "rm":
        s = np.where((s == 0) & ((np.signbit(a) != np.signbit(b)) != np.signbit(c)), -0.0, s)
    return narrow(s, rnd, ftz)


def _has_minus_zero(x: Array) -> bool:
    return bool(np.minimum.reduce(x.view(f"i{x.dtype.itemsize}"), axis=None) == np.iinfo(f"i{x.dtype.itemsize}").min)


def _extreme(a: Array, b: Array, larger: bool, nan: bool) -> Array:
    r = np.maximum(a, b) if larger else np.minimum(a, b)
    if _has_minus_zero(a) or _has_minus_zero(b):  # -0 < +0
        x, y = (v.view(f"u{v.dtype.itemsize}") for v in (a, b))
        r = np.where((a == 0) & (b == 0), (x & y if larger else x | y).view(r.dtype), r)
    if not nan:
        top = np.maximum.reduce(r, axis=None)
        if top != top:
            r = np.where(np.isnan(a), b, np.where(np.isnan(b), a, r))
    return r


def extreme(operands: tuple[Array, ...], larger: bool, nan: bool = False, xorsign: bool = False, ftz: bool = False) -> Array:
    """The least or largest float32 or float16; without `nan` a NaN yields to a number; xorsign: of magnitudes, signs xored."""
    if ftz:
        operands = tuple(flush(x) for x in operands)
    sizes = tuple(np.absolute(x) for x in operands) if xorsign else operands
    r = sizes[0]
    for x in sizes[1:]:
        r = _extreme(r, x, larger, nan)
    if xorsign:
        negative = np.signbit(operands[0]) != np.signbit(operands[1])
        r = np.where(negative, -r, r)
    return canonical(r)
