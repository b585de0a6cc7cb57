"""The approximate instructions (PTX ISA 9.7.3, 9.7.4): what the special-function unit computes, bit for bit; see isa/sfu."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import sfu
from ..facts import Need, facts
from ..notation import instruction
from ..ports import Array

PLAIN: dict[str, Any] = {"ptx": 1.4, "sm": 10}
OLD: dict[str, Any] = {"needs": {"": Need(before=1.4)}}  # .approx had no name yet; targets were sm_1x, which flush subnormal singles


facts("div", leading="full")
facts("rsqrt sin cos ex2 lg2 tanh", flops=1)

# Opcode, meaning, section, sentence of what has an .approx form and an old one.
SINGLES: tuple[tuple[str, Callable[..., Array], str, str], ...] = (
    ("div", sfu.div_approx, "9.7.3.8", "d = a / b within 2 ulp, for divisors between 2**-126 and 2**126."),
    ("rcp", sfu.rcp, "9.7.3.13", "d = 1 / a within 1 ulp."),
    ("sqrt", sfu.sqrt, "9.7.3.15", "d = the square root of a, approximately."),
    ("rsqrt", sfu.rsqrt, "9.7.3.16", "d = 1 / the square root of a, approximately."),
    ("sin", sfu.sin, "9.7.3.18", "d = the sine of a radians."),
    ("cos", sfu.cos, "9.7.3.19", "d = the cosine of a radians."),
    ("lg2", sfu.lg2, "9.7.3.20", "d = the logarithm of a to base 2."),
    ("ex2", sfu.ex2, "9.7.3.21", "d = 2 to the power a."),
)
for _opcode, _meaning, _section, _says in SINGLES:
    _operands = "d, a, b" if _opcode == "div" else "d, a"
    instruction(f"{_opcode}.f32  {_operands}", section=_section, doc=_says, **OLD)(_meaning)
    instruction(f"{_opcode}.approx{{.ftz}}.f32  {_operands}", section=_section, doc=_says, **PLAIN)(_meaning)

_DOUBLE = "d = 1 / the square root of a; with .ftz from the high word of a alone, and the low word of the result is zero."
_WORD = "d = 1 / a from the high word of a; the low word of the result is zero."
_TANH, _FLUSHED = "d = the hyperbolic tangent of a.", "d = 2 to the power a; subnormal operands and results are flushed."
instruction("div.full{.ftz}.f32  d, a, b", section="9.7.3.8", doc="d = a / b within 2 ulp over the whole range.", **PLAIN)(sfu.div_full)
instruction("rcp.approx.ftz.f64  d, a", ptx=2.1, sm=20, section="9.7.3.14", doc=_WORD)(sfu.rcp64h)
instruction("rsqrt.f64  d, a", section="9.7.3.16", doc=_DOUBLE, **OLD)(sfu.rsqrt64h)
instruction("rsqrt.approx{.ftz}.f64  d, a", section="9.7.3.16", needs={"ftz": Need(4.0, 20)}, doc=_DOUBLE, **PLAIN)(sfu.rsqrt64h)
instruction("tanh.approx.f32  d, a", ptx=7.0, sm=75, section="9.7.3.22", doc=_TANH)(sfu.tanh)
instruction("tanh.approx.type  d, a", type="bf16 bf16x2", ptx=7.8, sm=90, section="9.7.4.9", doc=_TANH)(sfu.tanh_bf16)
instruction("ex2.approx.ftz.type  d, a", type="bf16 bf16x2", ptx=7.8, sm=90, section="9.7.4.10", doc=_FLUSHED)(sfu.ex2_bf16)


@instruction("tanh.approx.type  d, a", type="f16 f16x2", ptx=7.0, sm=75, section="9.7.4.9")
def tanh_f16(a: Array) -> Array:
    """d = the hyperbolic tangent of a."""
    return sfu.tanh_f16(a.view(np.uint16)).view(np.float16)


@instruction("ex2.approx.type  d, a", type="f16 f16x2", ptx=7.0, sm=75, section="9.7.4.10")
def ex2_f16(a: Array) -> Array:
    """d = 2 to the power a."""
    return sfu.ex2_f16(a.view(np.uint16)).view(np.float16)
