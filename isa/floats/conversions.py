"""Values from one format to another: integers and floats of every width, bf16, tf32 and the formats of 4 to 8 bits.

Everything that must round more than one way passes through float64, exact or rounded to odd, and is then rounded once.
Rounding words are those of the manual: rn rz rm rp, with an i behind them when the result is an integer value.
"""

from typing import Any

import numpy as np

from ..ports import Array
from .binary32 import canonical
from .binary64 import odd_sum, step, two_sum

NAN_BF16 = np.uint16(0x7FFF)
_ROUND_TO_INTEGER = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


# ---- integers


def bounds(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the largest value of an integer type."""
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def integer(x: Array, dtype: np.dtype[Any], sat: bool) -> Array:
    """An integer in another integer type: its low bits, or with `sat` the nearest value of that type."""
    if sat:
        (lo, hi), (own_lo, own_hi) = bounds(dtype), bounds(x.dtype)
        x = np.clip(x, max(lo, own_lo), min(hi, own_hi))
    return x.astype(dtype)


def from_integer(x: Array) -> Array:
    """An integer as float64 rounded to odd."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    return odd_sum(*_halves(x))


def integer_to_double(x: Array, rnd: str) -> Array:
    """An integer as float64, rounded."""
    if x.dtype.itemsize < 8 or rnd == "rn":
        return x.astype(np.float64)
    s, e = two_sum(*_halves(x))
    return step(s, e > 0, e < 0, rnd)


def _halves(x: Array) -> tuple[Array, Array]:
    high = (x >> x.dtype.type(32)).astype(np.float64) * 2.0**32
    return high, (x & x.dtype.type(0xFFFFFFFF)).astype(np.float64)


def to_integer(x: Array, rnd: str, dtype: np.dtype[Any], nan: int) -> Array:
    """A float rounded to an integral value and clamped to an integer type; NaN becomes `nan`."""
    if rnd != "rzi":
        x = _ROUND_TO_INTEGER[rnd](x)
    lo, hi = bounds(dtype)
    if dtype == np.int32 and x.dtype != np.float16:
        r = x.astype(np.int32)  # the processor marks everything out of range with the least integer
        if np.minimum.reduce(r, axis=None) != lo:
            return r
    elif dtype.itemsize <= 4 and np.minimum.reduce(x, axis=None) >= lo and np.maximum.reduce(x, axis=None) < hi:
        return x.astype(np.int64 if dtype == np.uint32 else np.int32).astype(dtype)
    wide = x.astype(np.float64)
    if dtype.itemsize < 8:
        r = np.clip(wide, float(lo), float(hi))
        r = np.where(wide == wide, r, 0.0).astype(np.int64)
    else:
        half = 2.0**63
        if dtype.kind == "u":
            upper = wide >= half
            r = np.where(upper, wide - half, np.maximum(wide, 0.0))
            r = np.where(r < half, r, 0.0).astype(np.int64).astype(np.uint64)
            r = np.where(upper, r + np.uint64(1 << 63), r)
            r = np.where(wide >= 2 * half, np.uint64(hi), r)
        else:
            inside = np.abs(wide) < half
            r = np.where(inside, wide, 0.0).astype(np.int64)
            r = np.where(inside, r, np.where(wide > 0, np.int64(hi), np.int64(lo)))
    r = r.astype(dtype)
    lanes = np.isnan(wide)
    return np.where(lanes, np.array(nan & (1 << 8 * dtype.itemsize) - 1, f"u{dtype.itemsize}").view(dtype), r) if lanes.any() else r


# ---- floats of 16 bits and more


def bf16_to_float(bits: Array) -> Array:
    """bf16 bits as float32, bit for bit."""
    return (bits.astype(np.uint32) << np.uint32(16)).view(np.float32)


def float_to_bf16(x: Array, rnd: str = "rn") -> Array:
    """float32 rounded to bf16 bits; NaN becomes the canonical one."""
    bits = x.view(np.uint32)
    if rnd == "rn":
        r = bits + ((bits >> np.uint32(16) & np.uint32(1)) + np.uint32(0x7FFF))
    elif rnd == "rz":
        r = bits
    else:
        away = np.signbit(x) == (rnd == "rm")
        r = bits + np.where(away, np.uint32(0xFFFF), np.uint32(0))
    r = (r >> np.uint32(16)).astype(np.uint16)
    top = np.maximum.reduce(x, axis=None)
    return r if top == top else np.where(np.isnan(x), NAN_BF16, r)


def odd_float(s: Array) -> Array:
    """float64 values, exact or rounded to odd, as float32 rounded to odd."""
    r = s.astype(np.float32)
    bits = r.view(np.int32)
    bits = bits - (np.abs(r) > np.abs(s))
    kept = bits.view(np.float32)
    inexact = np.abs(kept - s) > 0
    odd: Array = (bits | inexact).view(np.float32)
    return odd


def float_to_half(x: Array) -> Array:
    """float32, exact or rounded to odd, rounded to nearest float16; NaN becomes the canonical one."""
    bits = x.view(np.uint32)
    size = bits & np.uint32(0x7FFFFFFF)
    # Moving the exponent to its new bias and rounding 13 bits away; 65536 and above end as infinity.
    r = np.minimum(size, np.uint32(0x47800000)) - np.uint32(0x38000000 - 0xFFF)
    r = r + (size >> np.uint32(13) & np.uint32(1)) >> np.uint32(13)
    if np.minimum.reduce(size, axis=None) < 0x38800000:
        # A subnormal: adding a half leaves its multiple of 2**-24, rounded, in the last bits of the sum.
        small = (size.view(np.float32) + np.float32(0.5)).view(np.uint32) - np.uint32(0x3F000000)
        r = np.where(size < np.uint32(0x38800000), small, r)
    r = (bits >> np.uint32(16) & np.uint32(0x8000) | r).astype(np.uint16)
    if np.maximum.reduce(size, axis=None) > 0x7F800000:
        r = np.where(size > np.uint32(0x7F800000), np.uint16(0x7FFF), r)
    half: Array = r.view(np.float16)
    return half


def narrow_half(s: Array, rnd: str = "rn") -> Array:
    """float64 or float32 values, exact or rounded to odd, rounded to float16; NaN becomes the canonical one."""
    r = float_to_half(s if s.dtype == np.float32 else odd_float(s))
    if rnd == "rn":
        return r
    back = r.astype(np.float32)
    return canonical(step(r, s > back, s < back, rnd))


def nan_of_double(a: Array, r: Array, fraction: int) -> Array:
    """Bits of a 16-bit format with `fraction` bits: where the float64 source is a NaN, its sign and the top of its payload, quiet."""
    lanes = np.isnan(a)
    if not lanes.any():
        return r
    bits = a.view(np.uint64)
    payload = bits >> np.uint64(52 - fraction) & np.uint64((1 << fraction) - 1)
    quiet = np.uint64(0x7FFF ^ (1 << fraction - 1) - 1)
    return np.where(lanes, (bits >> np.uint64(48) & np.uint64(0x8000) | payload | quiet).astype(np.uint16), r)


def integral(x: Array, rnd: str) -> Array:
    """A float rounded to an integral value of its own format."""
    return _ROUND_TO_INTEGER[rnd](x)


def relu(r: Array) -> Array:
    """Negative results become +0; NaN stays, canonical."""
    return np.where(r > 0, r, np.where(np.isnan(r), r, r.dtype.type(0)))


def tf32(x: Array, rnd: str, satfinite: bool = False) -> Array:
    """float32 rounded to the 10 fraction bits of tf32, as 32 bits whose low 13 are zero."""
    bits = x.view(np.uint32)
    special = np.isnan(x) | np.isinf(x)
    if rnd == "rna":
        # Infinity and NaN are cut off, which leaves some NaNs as infinity; .satfinite steps down from every such pattern.
        r = bits + np.where(special, np.uint32(0), np.uint32(0x1000))
    elif rnd == "rn":
        r = bits + (np.uint32(0xFFF) + (bits >> np.uint32(13) & np.uint32(1)))
    else:
        r = bits
    r = r & np.uint32(0xFFFFE000)
    if rnd != "rna":
        r = np.where(np.isnan(x), np.uint32(0x7FFFE000), r)
    if satfinite:
        over = (r & np.uint32(0x7F800000)) == np.uint32(0x7F800000)
        if rnd != "rna":
            over &= ~np.isnan(x)
        r = r - np.where(over, np.uint32(0x2000), np.uint32(0))
    return r
