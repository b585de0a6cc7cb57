"""The approximate instructions (PTX ISA 9.7.3, 9.7.4): what the special-function unit computes, bit for bit; see isa/sfu."""

from typing import Any

import numpy as np

from .. import sfu
from ..facts import facts
from ..notation import Need, instruction
from ..ports import Array

PLAIN: dict[str, Any] = {"ptx": 1.4, "sm": 10}
OLD: dict[str, Any] = {"needs": {"": Need(before=1.4)}}  # .approx had no name yet; targets were sm_1x, which flush subnormal singles


facts("div", leading="full")


@instruction("div.approx{.ftz}.f32  d, a, b", section="9.7.3.8", **PLAIN)
@instruction("div.f32  d, a, b", section="9.7.3.8", **OLD)
def div_approx(a: Array, b: Array, *, ftz: bool = False) -> Array:
    """d = a / b within 2 ulp, for divisors between 2**-126 and 2**126."""
    return sfu.div_approx(a, b, ftz)


@instruction("div.full{.ftz}.f32  d, a, b", section="9.7.3.8", **PLAIN)
def div_full(a: Array, b: Array, *, ftz: bool = False) -> Array:
    """d = a / b within 2 ulp over the whole range."""
    return sfu.div_full(a, b, ftz)


@instruction("rcp.approx{.ftz}.f32  d, a", section="9.7.3.13", **PLAIN)
@instruction("rcp.f32  d, a", section="9.7.3.13", **OLD)
def rcp(a: Array, *, ftz: bool = False) -> Array:
    """d = 1 / a within 1 ulp."""
    return sfu.rcp(a, ftz)


@instruction("rcp.approx.ftz.f64  d, a", ptx=2.1, sm=20, section="9.7.3.14")
def rcp_double(a: Array) -> Array:
    """d = 1 / a from the high word of a; the low word of the result is zero."""
    return sfu.rcp64h(a)


@instruction("sqrt.approx{.ftz}.f32  d, a", section="9.7.3.15", **PLAIN)
@instruction("sqrt.f32  d, a", section="9.7.3.15", **OLD)
def sqrt(a: Array, *, ftz: bool = False) -> Array:
    """d = the square root of a, approximately."""
    return sfu.sqrt(a, ftz)


@instruction("rsqrt.approx{.ftz}.f32  d, a", section="9.7.3.16", **PLAIN)
@instruction("rsqrt.f32  d, a", section="9.7.3.16", **OLD)
def rsqrt(a: Array, *, ftz: bool = False) -> Array:
    """d = 1 / the square root of a, approximately."""
    return sfu.rsqrt(a, ftz)


@instruction("rsqrt.approx{.ftz}.f64  d, a", section="9.7.3.16", needs={"ftz": Need(4.0, 20)}, **PLAIN)
@instruction("rsqrt.f64  d, a", section="9.7.3.16", **OLD)
def rsqrt_double(a: Array, *, ftz: bool = False) -> Array:
    """d = 1 / the square root of a; with .ftz from the high word of a alone, and the low word of the result is zero."""
    return sfu.rsqrt64h(a, ftz)


@instruction("sin.approx{.ftz}.f32  d, a", section="9.7.3.18", **PLAIN)
@instruction("sin.f32  d, a", section="9.7.3.18", **OLD)
def sin(a: Array, *, ftz: bool = False) -> Array:
    """d = the sine of a radians."""
    return sfu.sin(a, ftz)


@instruction("cos.approx{.ftz}.f32  d, a", section="9.7.3.19", **PLAIN)
@instruction("cos.f32  d, a", section="9.7.3.19", **OLD)
def cos(a: Array, *, ftz: bool = False) -> Array:
    """d = the cosine of a radians."""
    return sfu.cos(a, ftz)


@instruction("lg2.approx{.ftz}.f32  d, a", section="9.7.3.20", **PLAIN)
@instruction("lg2.f32  d, a", section="9.7.3.20", **OLD)
def lg2(a: Array, *, ftz: bool = False) -> Array:
    """d = the logarithm of a to base 2."""
    return sfu.lg2(a, ftz)


@instruction("ex2.approx{.ftz}.f32  d, a", section="9.7.3.21", **PLAIN)
@instruction("ex2.f32  d, a", section="9.7.3.21", **OLD)
def ex2(a: Array, *, ftz: bool = False) -> Array:
    """d = 2 to the power a."""
    return sfu.ex2(a, ftz)


@instruction("tanh.approx.f32  d, a", ptx=7.0, sm=75, section="9.7.3.22")
def tanh(a: Array) -> Array:
    """d = the hyperbolic tangent of a."""
    return sfu.tanh(a)


@instruction("tanh.approx.type  d, a", type="f16 f16x2", ptx=7.0, sm=75, section="9.7.4.9")
def tanh_f16(a: Array) -> Array:
    """d = the hyperbolic tangent of a."""
    return sfu.tanh_f16(a.view(np.uint16)).view(np.float16)


@instruction("tanh.approx.type  d, a", type="bf16 bf16x2", ptx=7.8, sm=90, section="9.7.4.9")
def tanh_bf16(a: Array) -> Array:
    """d = the hyperbolic tangent of a."""
    return sfu.tanh_bf16(a)


@instruction("ex2.approx.type  d, a", type="f16 f16x2", ptx=7.0, sm=75, section="9.7.4.10")
def ex2_f16(a: Array) -> Array:
    """d = 2 to the power a."""
    return sfu.ex2_f16(a.view(np.uint16)).view(np.float16)


@instruction("ex2.approx.ftz.type  d, a", type="bf16 bf16x2", ptx=7.8, sm=90, section="9.7.4.10")
def ex2_bf16(a: Array) -> Array:
    """d = 2 to the power a; subnormal operands and results are flushed."""
    return sfu.ex2_bf16(a)
