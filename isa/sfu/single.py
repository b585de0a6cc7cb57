"""The float32 forms: what the unit computes inside the few operations that the assembler puts around it.

Those are multiplications by powers of two, to keep arguments and results of the plain forms clear of subnormals, the
multiplication by 1 / 2 pi of sin and cos, and the one by the numerator of div. Hands on a function for each operation;
`ftz` says whether the instruction carries that modifier.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from . import unit
from .unit import F32

_SMALLEST_NORMAL = np.float32(2.0**-126)
_NAN = unit.NAN.view(np.float32)
_TURNS = float(np.uint32(0x3E22F983).view(np.float32))


def _flush(x: F32) -> F32:
    return np.where(np.abs(x) < _SMALLEST_NORMAL, np.copysign(np.float32(0), x), x)


def _subnormal(x: F32) -> NDArray[np.bool_]:
    return np.abs(x) < _SMALLEST_NORMAL


def _canonical(x: F32) -> F32:
    return np.where(np.isnan(x), _NAN, x)


def ex2(x: F32, ftz: bool = False) -> F32:
    """2**x."""
    if ftz:
        return unit.ex2(x)
    with np.errstate(all="ignore"):
        low = x < -126
        r = unit.ex2(np.where(low, x * np.float32(0.5), x))
        return np.where(low, r * r, r)


def lg2(x: F32, ftz: bool = False) -> F32:
    """Binary logarithm."""
    if ftz:
        return unit.lg2(x)
    with np.errstate(all="ignore"):
        small = _subnormal(x)
        r = unit.lg2(np.where(small, x * np.float32(2.0**24), x))
        return np.where(small, r - np.float32(24), r)


def rcp(x: F32, ftz: bool = False) -> F32:
    """1/x."""
    if ftz:
        return unit.rcp(x)
    with np.errstate(all="ignore"):
        scale = np.where(_subnormal(x), np.float32(2.0**24), np.where(np.abs(x) > 2.0**126, np.float32(0.25), np.float32(1)))
        return _canonical(unit.rcp(x * scale) * scale)


def _root(function: Callable[[F32], F32], x: F32, ftz: bool, back: float) -> F32:
    """A root of the unit; a subnormal is multiplied by 2**24 before, and its root by `back`."""
    if ftz:
        return function(x)
    with np.errstate(all="ignore"):
        small = _subnormal(x)
        r = function(np.where(small, x * np.float32(2.0**24), x))
        return np.where(small, _canonical(r * np.float32(back)), r)


def rsqrt(x: F32, ftz: bool = False) -> F32:
    """1/sqrt(x)."""
    return _root(unit.rsqrt, x, ftz, 2.0**12)


def sqrt(x: F32, ftz: bool = False) -> F32:
    """Square root."""
    return _root(unit.sqrt, x, ftz, 2.0**-12)


def _turns(x: F32) -> F32:
    """x / 2 pi: times 0x3e22f983, rounded toward zero."""
    with np.errstate(all="ignore"):
        product = x.astype(np.float64) * _TURNS
        y = product.astype(np.float32)
        above = np.abs(y.astype(np.float64)) > np.abs(product)
        return (y.view(np.uint32) - above).view(np.float32)


def sin(x: F32, ftz: bool = False) -> F32:
    """Sine; `ftz` changes nothing."""
    return unit.sin(_turns(x))


def cos(x: F32, ftz: bool = False) -> F32:
    """Cosine; `ftz` changes nothing."""
    return unit.cos(_turns(x))


def tanh(x: F32) -> F32:
    """Hyperbolic tangent."""
    return unit.tanh(x)


def div_approx(a: F32, b: F32, ftz: bool = False) -> F32:
    """The quotient a/b of div.approx.f32."""
    with np.errstate(all="ignore"):
        if ftz:
            return _product_ftz(a, unit.rcp(b))
        scale = np.where(_subnormal(b), np.float32(2.0**24), np.float32(1))
        return _canonical(unit.rcp(b * scale) * (a * scale))


def div_full(a: F32, b: F32, ftz: bool = False) -> F32:
    """The quotient a/b of div.full.f32."""
    with np.errstate(all="ignore"):
        scale = np.where(np.abs(b) > 2.0**126, np.float32(0.25), np.float32(1))
        if ftz:
            return _product_ftz(_flush(_flush(a) * scale), unit.rcp(b * scale))
        scale = np.where(_subnormal(b), np.float32(2.0**24), scale)
        return _canonical(unit.rcp(b * scale) * (a * scale))


def _product_ftz(a: F32, b: F32) -> F32:
    """mul.ftz.f32: the product is flushed if it is below 2**-126 once rounded to 24 bits, whatever its exponent."""
    product = _flush(a).astype(np.float64) * _flush(b).astype(np.float64)
    small = np.abs(product) < 2.0**-126 * (1 - 2.0**-25)
    return _canonical(np.where(small, np.copysign(0.0, product), product).astype(np.float32))
