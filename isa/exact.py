"""Exact arithmetic on float64 arrays: error-free transformations, rounding to odd, and the five operations in every rounding mode.

No rounding mode of the processor is ever switched: each operation is done to nearest, its error is known exactly, and a
directed rounding steps to the neighbour on the right side.  Values whose exponents leave the comfortable range travel as
(high + low) * 2**k.
"""

import numpy as np
from numpy.typing import NDArray

from .ports import Array

F64 = NDArray[np.float64]
Mask = NDArray[np.bool_]

NAN64 = np.array(0xFFF8000000000000, np.uint64).view(np.float64)  # what an invalid operation gives
_SPLIT = 134217729.0  # 2**27 + 1
_TINY = 2.0**-1022
_ONE = np.int64(1)
_BITS: dict[int, np.dtype[np.generic]] = {2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """a + b as (rounded sum, exact error); the sum must not overflow."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a: Array, b: Array) -> tuple[Array, Array]:
    """a * b as (rounded product, exact error), for magnitudes far from overflow and underflow."""
    p = a * b
    t = a * _SPLIT
    ah = t - (t - a)
    al = a - ah
    t = b * _SPLIT
    bh = t - (t - b)
    bl = b - bh
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def odd(s: Array, e: Array) -> Array:
    """The exact s + e rounded to odd, s being its nearest float64: any later rounding to 51 bits or less is then the only one."""
    bits = s.view(np.int64)
    move = ((e > 0) | (e < 0)) & (bits & _ONE == 0)
    return (bits + np.where(move, np.where((e > 0) == (s > 0), 1, -1), 0)).view(np.float64)


def odd_sum(a: Array, b: Array) -> Array:
    """a + b rounded to odd (infinite and NaN operands pass)."""
    return odd(*two_sum(a, b))


def step(r: Array, up: Mask | bool, down: Mask | bool, mode: str) -> Array:
    """Turns results rounded to nearest into directed ones; `up` marks lanes whose exact value lies above r, `down` below."""
    negative = np.signbit(r)
    if mode == "rz":
        change = -(np.where(negative, up, down).astype(np.int8))
    elif mode == "rm":
        change = np.where(negative, down, np.negative(down, dtype=np.int8))
    else:
        change = np.where(negative, np.negative(up, dtype=np.int8), up)
    dtype = _BITS[r.dtype.itemsize]
    stepped: Array = (r.view(dtype) + change.astype(dtype)).view(r.dtype)
    return stepped


def quiet(r: Array, *order: Array) -> Array:
    """Gives NaN lanes the first NaN in the stated order of operands, quietened, or the NaN of an invalid operation."""
    lanes = np.isnan(r)
    if not lanes.any():
        return r
    payload = np.broadcast_to(NAN64.view(np.uint64), r.shape)
    for x in reversed(order):
        payload = np.where(np.isnan(x), x.view(np.uint64) | np.uint64(1 << 51), payload)
    return np.where(lanes, payload, r.view(np.uint64)).view(np.float64)


def _scaled(h: Array, low: Array, k: Array, mode: str) -> Array:
    """(h + low) * 2**k rounded once into float64, h being the nearest float64 of h + low, about 1."""
    r = np.ldexp(h, k)
    up, down = low > 0, low < 0
    tiny = (np.abs(r) <= _TINY) & (h != 0)
    if tiny.any():
        # The grid of subnormals is 2**-1074: adding 2**52 grid steps rounds to it, and the rest is exact.
        shift = np.maximum(k, -1200)
        grid = np.ldexp(1.0, -1074 - shift)
        big = np.copysign(np.ldexp(1.0, -1022 - shift), h)
        t = (h + big) - big
        rest = h - t
        if mode == "rn":
            t = t + np.where((rest == grid / 2) & up, grid, 0.0) - np.where((rest == -grid / 2) & down, grid, 0.0)
        r = np.where(tiny, np.copysign(np.ldexp(t, shift), h), r)
        up = np.where(tiny & (rest != 0), rest > 0, up)
        down = np.where(tiny & (rest != 0), rest < 0, down)
    if mode == "rn":
        return r
    over = np.isinf(r)
    return step(r, np.where(over, r < 0, up), np.where(over, r > 0, down), mode)


def add64(a: Array, b: Array, mode: str) -> Array:
    """a + b, NaN payloads aside."""
    s = a + b
    if mode == "rn":
        return s
    high, low = np.where(np.abs(a) >= np.abs(b), a, b), np.where(np.abs(a) >= np.abs(b), b, a)
    e = low - (s - high)
    finite = np.isfinite(a) & np.isfinite(b)
    over = np.isinf(s) & finite
    r = step(s, np.where(over, s < 0, finite & (e > 0)), np.where(over, s > 0, finite & (e < 0)), mode)
    return _minus_zero(r, (s == 0) & (np.signbit(a) != np.signbit(b))) if mode == "rm" else r


def _minus_zero(r: Array, lanes: Mask) -> Array:
    """An exact zero of two addends of opposite signs is negative when rounding down."""
    return np.where(lanes, -0.0, r)


def mul64(a: Array, b: Array, mode: str) -> Array:
    """a * b, NaN payloads aside."""
    p = a * b
    if mode == "rn":
        return p
    (am, ae), (bm, be) = np.frexp(a), np.frexp(b)
    r = _scaled(*two_product(am, bm), ae + be, mode)
    return np.where(np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0), r, p)


def div64(a: Array, b: Array, mode: str) -> Array:
    """a / b, NaN payloads aside."""
    q = a / b
    if mode == "rn":
        return q
    (am, ae), (bm, be) = np.frexp(a), np.frexp(b)
    h = am / bm
    p, e = two_product(h, bm)
    r = _scaled(h, ((am - p) - e) / bm, ae - be, mode)
    return np.where(np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0), r, q)


def sqrt64(a: Array, mode: str) -> Array:
    """The square root of a, NaN payloads aside."""
    r = np.sqrt(a)
    if mode == "rn":
        return r
    m, e = np.frexp(a)
    h = np.sqrt(np.where(e & 1, m * 2, m))
    p, low = two_product(h, h)
    rest = (np.where(e & 1, m * 2, m) - p) - low
    directed = step(np.ldexp(h, e >> 1), rest > 0, rest < 0, mode)
    return np.where(np.isfinite(a) & (a > 0), directed, r)


def _fma64_everywhere(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a * b + c in one rounding for operands of any magnitude."""
    (am, ae), (bm, be), (cm, ce) = np.frexp(a), np.frexp(b), np.frexp(c)
    pe = ae + be
    ce = np.where(c == 0, -5000, ce)
    k = np.maximum(pe, ce)
    # An addend more than 200 bits below the other only tells on which side the exact value lies.
    p_shift, c_shift = np.maximum(pe - k, -200), np.maximum(ce - k, -200)
    ph, pl = two_product(am, bm)
    ph, pl, cm = np.ldexp(ph, p_shift), np.ldexp(pl, p_shift), np.ldexp(cm, c_shift)
    # Boldo and Melquiond: the error terms rounded to odd keep the final sum exact in one rounding.
    th, tl = two_sum(cm, pl)
    vh, vl = two_sum(ph, th)
    h, low = two_sum(vh, odd_sum(tl, vl))
    r = _scaled(h, low, k, mode)
    r = np.where(h == 0, -0.0 if mode == "rm" else 0.0, r)
    plain = np.isfinite(a) & np.isfinite(b) & np.isfinite(c) & (a != 0) & (b != 0)
    if plain.all():
        return r
    finite = np.isfinite(a) & np.isfinite(b)
    p = np.where(finite, np.copysign(0.0, a) * np.copysign(1.0, b), a * b)  # keeps a large finite product from being infinite
    simple = p + c
    if mode == "rm":
        simple = _minus_zero(simple, (simple == 0) & (np.signbit(p) != np.signbit(c)))
    return np.where(plain, r, simple)


def fma64(a: Array, b: Array, c: Array, mode: str) -> Array:
    """a * b + c in one rounding, NaN payloads aside."""
    if mode != "rn":
        return _fma64_everywhere(a, b, c, mode)
    ph, pl = two_product(a, b)
    th, tl = two_sum(c, pl)
    vh, vl = two_sum(ph, th)
    r: Array = vh + odd_sum(tl, vl)
    # Outside this range a step above may have overflowed, or lost an error term to underflow.
    size = np.abs(ph)
    safe = (size > 2.0**-900) & (size < 2.0**1000) & (np.abs(r) > 2.0**-960) & (np.abs(c) < 2.0**1000)
    safe &= np.maximum(np.abs(a), np.abs(b)) < 2.0**990
    if safe.all():
        return r
    lanes = np.nonzero(~safe)
    wide = (np.broadcast_to(x, r.shape)[lanes] for x in (a, b, c))
    r[lanes] = _fma64_everywhere(*wide, mode)
    return r
