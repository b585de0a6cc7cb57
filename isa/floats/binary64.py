"""Exact arithmetic on float64 arrays: error-free transformations, rounding to odd, and five operations in every rounding.

No rounding mode of the processor is ever switched: each operation is done to nearest, its error is known exactly, and a
directed rounding steps to the neighbour on the right side.  Values whose exponents leave the comfortable range travel as
(high + low) * 2**k.
"""

import functools
from collections.abc import Callable

import numpy as np

from ..ports import Array, Mask
from ..primitives import primitive

NAN64 = np.array(0xFFF8000000000000, np.uint64).view(np.float64)  # what an invalid operation gives
_SPLIT = 134217729.0  # 2**27 + 1
_TINY = 2.0**-1022
_CHUNK = 4096
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
    """The exact s + e rounded to odd, s being its nearest float: any later rounding to two bits less or fewer is then the only one."""
    # Cut off toward zero, then set the last bit: bits count magnitudes, whatever the sign.
    integer = _BITS[s.dtype.itemsize]
    bits = s.view(integer)
    inexact = np.abs(e) > 0  # false for NaN, which infinite sums leave as their error
    toward_zero = (bits ^ e.view(integer)) < 0
    rounded: Array = (bits - (toward_zero & inexact) | inexact).view(s.dtype)
    return rounded


def odd_sum(a: Array, b: Array) -> Array:
    """a + b rounded to odd (infinite and NaN operands pass)."""
    return odd(*two_sum(a, b))


def step(r: Array, up: Mask, down: Mask, mode: str) -> Array:
    """Turns results rounded to nearest into directed ones; `up` marks lanes whose exact value lies above r, `down` below."""
    bits = r.view(_BITS[r.dtype.itemsize])
    if mode == "rz":
        negative = bits < 0
        stepped = bits - (negative & up | ~negative & down)
    else:
        outward = bits >> 8 * r.dtype.itemsize - 1 | 1  # one step up in value: 1, or -1 for a negative number
        stepped = bits - outward * down if mode == "rm" else bits + outward * up
    directed: Array = stepped.view(r.dtype)
    return directed


def in_chunks(f: Callable[..., Array]) -> Callable[..., Array]:
    """Runs an elementwise function of arrays on some thousand lanes at a time, so that its many temporaries stay in the cache."""

    @functools.wraps(f)
    def chunked(*arrays: Array, **modes: object) -> Array:
        if any(hasattr(x, "primitive") for x in arrays):  # symbols: see primitives.py
            return f(*arrays, **modes)
        shape = np.broadcast(*arrays).shape
        size = int(np.prod(shape))
        if size <= 2 * _CHUNK:
            return f(*arrays, **modes)
        flat = [x if x.size == 1 else np.broadcast_to(x, shape).reshape(-1) for x in arrays]
        flat = [x.reshape(1) if x.size == 1 else x for x in flat]
        parts = [f(*(x if x.size == 1 else x[start : start + _CHUNK] for x in flat), **modes) for start in range(0, size, _CHUNK)]
        return np.concatenate(parts).reshape(shape)

    return chunked


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
    return step(r, np.where(over, r < 0, up), np.where(over, r > 0, down), mode)  # what overflowed lies inside of infinity


def add64(a: Array, b: Array, mode: str) -> Array:
    """a + b, NaN payloads aside."""
    return a + b if mode == "rn" else _add64_directed(a, b, mode=mode)


@in_chunks
def _add64_directed(a: Array, b: Array, *, mode: str) -> Array:
    s = a + b
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
    return a * b if mode == "rn" else _mul64_directed(a, b, mode=mode)


@in_chunks
def _mul64_directed(a: Array, b: Array, *, mode: str) -> Array:
    p = a * b
    (am, ae), (bm, be) = np.frexp(a), np.frexp(b)
    r = _scaled(*two_product(am, bm), ae + be, mode)
    return np.where(np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0), r, p)


def div64(a: Array, b: Array, mode: str) -> Array:
    """a / b, NaN payloads aside."""
    return a / b if mode == "rn" else _div64_directed(a, b, mode=mode)


@in_chunks
def _div64_directed(a: Array, b: Array, *, mode: str) -> Array:
    q = a / b
    (am, ae), (bm, be) = np.frexp(a), np.frexp(b)
    h = am / bm
    p, e = two_product(h, bm)
    r = _scaled(h, ((am - p) - e) / bm, ae - be, mode)
    return np.where(np.isfinite(a) & np.isfinite(b) & (a != 0) & (b != 0), r, q)


def sqrt64(a: Array, mode: str) -> Array:
    """The square root of a, NaN payloads aside."""
    return np.sqrt(a) if mode == "rn" else _sqrt64_directed(a, mode=mode)


@in_chunks
def _sqrt64_directed(a: Array, *, mode: str) -> Array:
    r = np.sqrt(a)
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
    return fma64_nearest(a, b, c) if mode == "rn" else _fma64_directed(a, b, c, mode=mode)


@in_chunks
def _fma64_directed(a: Array, b: Array, c: Array, *, mode: str) -> Array:
    return _fma64_everywhere(a, b, c, mode)


@primitive
@in_chunks
def fma64_nearest(a: Array, b: Array, c: Array) -> Array:
    """As fma64, to nearest even."""
    ph, pl = two_product(a, b)
    th, tl = two_sum(c, pl)
    vh, vl = two_sum(ph, th)
    rest = tl + vl
    r: Array = vh + rest
    # `rest` is rounded itself: where the ends of its doubt give two sums, the last error must be known too.
    doubt = vh + rest * (1 + 2.0**-50) != vh + rest * (1 - 2.0**-50)
    if doubt.any():
        r[doubt] = vh[doubt] + odd_sum(tl[doubt], vl[doubt])
    if _ordinary(a, b, c, ph, r):
        return r
    size = np.abs(ph)
    safe = (size > 2.0**-900) & (np.abs(r) > 2.0**-900)
    for x in (a, b, c, size):
        safe &= np.abs(x) < 2.0**990
    lanes = np.nonzero(~safe)
    wide = [np.broadcast_to(x, r.shape)[lanes] for x in (a, b, c)]
    r[lanes] = _fma64_everywhere(wide[0], wide[1], wide[2], "rn")
    return r


def _ordinary(a: Array, b: Array, c: Array, p: Array, r: Array) -> bool:
    """Did no step of a fused multiply-add overflow, nor lose an error term to underflow?"""
    largest = (np.maximum.reduce(np.abs(x), axis=None) for x in (a, b, c, p))  # a NaN is less than nothing
    return all(x < 2.0**990 for x in largest) and all(np.minimum.reduce(np.abs(x), axis=None) > 2.0**-900 for x in (p, r))
