"""Single precision as the hardware computes it: flushing, the canonical NaN, saturation, and every operation in every rounding.

To nearest, numpy's own float32 operations are used where they round once; everything else goes through float64, which holds
a product exactly and a sum rounded to odd, and is narrowed once.
"""

import functools
import threading

import numpy as np
from numpy.typing import NDArray

from .exact import odd_sum, step
from .ports import Array

F32 = NDArray[np.float32]

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
    small = np.absolute(x) < (MIN16 if half else MIN32)
    if not small.any():
        return x
    bits = x.view(np.uint16) if half else x.view(np.uint32)
    flushed: Array = np.where(small, bits & (_SIGN16 if half else _SIGN32), bits).view(x.dtype)
    return flushed


def canonical(r: Array) -> Array:
    """float32 or float16 results with every NaN the one that the hardware gives."""
    top = np.maximum.reduce(r, axis=None)
    if top == top:
        return r
    return np.where(np.isnan(r), NAN16 if r.dtype.itemsize == 2 else NAN32, r)


def saturate(r: Array) -> Array:
    """Clamped to [0, 1]; NaN and negative zero become +0."""
    one = r.dtype.type(1)
    return np.where(r > 0, np.minimum(r, one), r.dtype.type(0))


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


def _flushed_result(r: Array, exact: "functools.partial[Array]") -> Array:
    """Flushes results rounded to nearest; those that came out as 2**-126 are asked again at full width."""
    size = np.absolute(r)
    if not (size <= MIN32).any():
        return r
    if (size == MIN32).any():
        return narrow(exact(), "rn", True)
    return flush(r)


def _wide_add(a: Array, b: Array) -> Array:
    return odd_sum(a.astype(np.float64), b.astype(np.float64))


def _wide_mul(a: Array, b: Array) -> Array:
    return np.multiply(a, b, dtype=np.float64)


def _wide_div(a: Array, b: Array) -> Array:
    # A quotient of two 24-bit numbers lies on no boundary of a 24-bit rounding unless it is exact, and is never within 2**-49 of one.
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
    s = _wide_add(a, b)
    if rnd == "rm":
        s = np.where((s == 0) & (np.signbit(a) != np.signbit(b)), -0.0, s)
    return _finish(narrow(s, rnd, ftz), sat)


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
    return _finish(narrow(_wide_mul(a, b), rnd, ftz), sat)


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


@functools.lru_cache(maxsize=16)
def _scratch(shape: tuple[int, ...], thread: int) -> tuple[Array, Array, Array]:
    """Two float64 buffers and an int64 one of a thread, on cache lines: numpy's widest loops run twice as fast there."""

    def aligned() -> Array:
        size = int(np.prod(shape)) * 8
        raw = np.empty(size + 64, np.uint8)
        start = -raw.ctypes.data % 64
        return raw[start : start + size].view(np.float64).reshape(shape)

    return aligned(), aligned(), aligned().view(np.int64)


def _wide_fma(a: Array, b: Array, c: Array) -> Array:
    return odd_sum(np.multiply(a, b, dtype=np.float64), c.astype(np.float64))


def _fma_nearest(a: Array, b: Array, c: Array) -> Array:
    """a * b + c: the float64 sum rounds a second time rightly unless it is a tie of float32 whose float64 error was lost."""
    shape = np.broadcast(a, b, c).shape
    x, y, z = _scratch(shape, threading.get_ident())
    np.copyto(x, a)
    if b.size == 1:
        np.multiply(x, b.astype(np.float64), out=x)
    else:
        np.copyto(y, b)
        np.multiply(x, y, out=x)
    if c.size == 1:
        np.add(x, c.astype(np.float64), out=x)
    else:
        np.copyto(y, c)
        np.add(x, y, out=x)
    r = x.astype(np.float32)
    ties = np.minimum.reduce(np.left_shift(x.view(np.int64), _MOVE, out=z), axis=None) == _HALFWAY
    least = np.minimum.reduce(np.absolute(r), axis=None)
    if ties or not least >= MIN32:
        # A subnormal result has its ties elsewhere.
        doubt = (np.abs(x) < MIN32) & (x != 0)
        if ties:
            doubt |= z == _HALFWAY
        if doubt.any():
            r[doubt] = _wide_fma(*(np.broadcast_to(v, shape)[doubt] for v in (a, b, c))).astype(np.float32)
        return canonical(r)
    return r


def fma32(a: Array, b: Array, c: Array, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """a * b + c in one rounding."""
    if ftz:
        a, b, c = flush(a), flush(b), flush(c)
    if rnd == "rn":
        r = _fma_nearest(a, b, c)
        if ftz:
            r = _flushed_result(r, functools.partial(_wide_fma, a, b, c))
        return _finish(r, sat)
    s = _wide_fma(a, b, c)
    if rnd == "rm":
        p_sign = np.signbit(a) != np.signbit(b)
        s = np.where((s == 0) & (p_sign != np.signbit(c)), -0.0, s)
    return _finish(narrow(s, rnd, ftz), sat)


def _extreme(a: Array, b: Array, larger: bool, nan: bool) -> Array:
    r = np.maximum(a, b) if larger else np.minimum(a, b)
    if (r == 0).any():  # -0 < +0
        x, y = (v.view(np.uint16 if r.dtype.itemsize == 2 else np.uint32) for v in (a, b))
        r = np.where((a == 0) & (b == 0), (x & y if larger else x | y).view(r.dtype), r)
    if not nan and np.isnan(r).any():
        r = np.where(np.isnan(a), b, np.where(np.isnan(b), a, r))
    return r


def extreme(operands: tuple[Array, ...], larger: bool, nan: bool = False, xorsign: bool = False, ftz: bool = False) -> Array:
    """The least or largest of float32 or float16 operands; without `nan` a NaN yields to any number; xorsign: of magnitudes, signs xored."""
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
