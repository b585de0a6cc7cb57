"""The special-function unit: ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh and the divisions built on them."""

import numpy as np
from numpy.typing import NDArray

F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
U16 = NDArray[np.uint16]

_NAN = np.uint32(0x7FFFFFFF).view(np.float32)


def _flush(x: F32) -> F32:
    return np.where(np.abs(x) < np.float32(2.0**-126), np.copysign(np.float32(0), x), x)


def _finish(y: F64, ftz: bool) -> F32:
    r = y.astype(np.float32)
    if ftz:
        r = _flush(r)
    return np.where(np.isnan(r), _NAN, r)


def _wide(x: F32, ftz: bool) -> F64:
    return (_flush(x) if ftz else x).astype(np.float64)


def ex2(x: F32, ftz: bool) -> F32:
    """2**x."""
    with np.errstate(all="ignore"):
        return _finish(np.exp2(_wide(x, ftz)), ftz)


def lg2(x: F32, ftz: bool) -> F32:
    """Binary logarithm."""
    with np.errstate(all="ignore"):
        return _finish(np.log2(_wide(x, ftz)), ftz)


def rcp(x: F32, ftz: bool) -> F32:
    """1/x."""
    with np.errstate(all="ignore"):
        return _finish(1.0 / _wide(x, ftz), ftz)


def rsqrt(x: F32, ftz: bool) -> F32:
    """1/sqrt(x)."""
    with np.errstate(all="ignore"):
        return _finish(1.0 / np.sqrt(_wide(x, ftz)), ftz)


def sqrt(x: F32, ftz: bool) -> F32:
    """Square root."""
    with np.errstate(all="ignore"):
        return _finish(np.sqrt(_wide(x, ftz)), ftz)


def sin(x: F32, ftz: bool) -> F32:
    """Sine."""
    with np.errstate(all="ignore"):
        return _finish(np.sin(_wide(x, True)), ftz)


def cos(x: F32, ftz: bool) -> F32:
    """Cosine."""
    with np.errstate(all="ignore"):
        return _finish(np.cos(_wide(x, True)), ftz)


def tanh(x: F32) -> F32:
    """Hyperbolic tangent."""
    with np.errstate(all="ignore"):
        return _finish(np.tanh(_wide(x, False)), False)


def div_approx(a: F32, b: F32, ftz: bool) -> F32:
    """Quotient a/b as div.approx.f32."""
    with np.errstate(all="ignore"):
        return _finish(_wide(a, ftz) / _wide(b, ftz), ftz)


def div_full(a: F32, b: F32, ftz: bool) -> F32:
    """Quotient a/b as div.full.f32."""
    with np.errstate(all="ignore"):
        return _finish(_wide(a, ftz) / _wide(b, ftz), ftz)


def _f16(y: F32) -> U16:
    with np.errstate(all="ignore"):
        return np.where(np.isnan(y), np.uint16(0x7FFF), y.astype(np.float16).view(np.uint16))


def _from_bf16(x: U16) -> F32:
    return (x.astype(np.uint32) << np.uint32(16)).view(np.float32)


def _bf16(y: F32) -> U16:
    u = y.view(np.uint32)
    r = ((u + np.uint32(0x7FFF) + ((u >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(y), np.uint16(0x7FFF), r)


def tanh_f16(x: U16) -> U16:
    """Hyperbolic tangent of binary16 bits."""
    return _f16(tanh(x.view(np.float16).astype(np.float32)))


def ex2_f16(x: U16, ftz: bool) -> U16:
    """2**x of binary16 bits."""
    r = _f16(ex2(x.view(np.float16).astype(np.float32), False))
    return np.where(ftz & ((r & np.uint16(0x7C00)) == 0), np.uint16(0), r)


def tanh_bf16(x: U16) -> U16:
    """Hyperbolic tangent of bfloat16 bits."""
    return _bf16(tanh(_from_bf16(x)))


def ex2_bf16(x: U16) -> U16:
    """2**x of bfloat16 bits (ex2.approx.ftz.bf16)."""
    return _bf16(ex2(_from_bf16(x), True))


def rcp64h(x: F64) -> F64:
    """1/x to the precision of rcp.approx.ftz.f64."""
    with np.errstate(all="ignore"):
        y = (1.0 / x).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)
        return y.view(np.float64)


def rsqrt64h(x: F64, ftz: bool) -> F64:
    """1/sqrt(x) to the precision of rsqrt.approx.f64."""
    with np.errstate(all="ignore"):
        y = (1.0 / np.sqrt(x)).view(np.uint64) & np.uint64(0xFFFFFFFF00000000)
        return y.view(np.float64)
