"""The approximate instructions ex2, lg2, rcp, rsqrt, sqrt, sin, cos, tanh and div, bit for bit as an H200 gives them.

Hands on a function for each instruction, arrays in and out: float32 for the single forms, patterns in uint16 for the
half forms, float64 for the double forms. `ftz` says whether the instruction carries that modifier. See README.md.
"""

from .double import rcp64h, rsqrt64h
from .half import ex2_bf16, ex2_f16, tanh_bf16, tanh_f16
from .ordinary import cos, div_approx, div_full, ex2, lg2, rcp, rsqrt, sin, sqrt, tanh

__all__ = [
    "cos",
    "div_approx",
    "div_full",
    "ex2",
    "ex2_bf16",
    "ex2_f16",
    "lg2",
    "rcp",
    "rcp64h",
    "rsqrt",
    "rsqrt64h",
    "sin",
    "sqrt",
    "tanh",
    "tanh_bf16",
    "tanh_f16",
]
