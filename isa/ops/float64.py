"""Double precision arithmetic (PTX ISA 9.7.3): every rounding is exact, and NaN payloads travel in the hardware's order."""

from typing import Any

import numpy as np

from ..facts import Demand, Need, facts, when
from ..floats import binary64
from ..notation import instruction
from ..ports import Array

ROUNDING = "rn rz rm rp"
DOUBLE: dict[str, Any] = {"rnd": ROUNDING, "ptx": 1.0, "sm": 10}  # ptxas takes doubles on sm_10 too
LATER: dict[str, Any] = {**DOUBLE, "ptx": 1.4}
DIVISION: dict[str, Any] = {**DOUBLE, "needs": {"rz": Need(2.0, 20), "rm": Need(2.0, 20), "rp": Need(2.0, 20)}}
facts("add sub mul", demands=(Demand(Need(sm=13), "a rounding of .f64", when("rm rp", also="f64")),))
OLD: dict[str, Any] = {"needs": {"": Need(before=1.4)}}  # the rounding, always .rn, was not written yet


@instruction("add{.rnd}.f64  d, a, b", section="9.7.3.3", **DOUBLE)
def add(a: Array, b: Array, *, rnd: str = "rn") -> Array:
    """d = a + b; of two NaNs that of b passes, quietened."""
    return binary64.quiet(binary64.add64(a, b, rnd), b, a)


@instruction("sub{.rnd}.f64  d, a, b", section="9.7.3.4", **DOUBLE)
def sub(a: Array, b: Array, *, rnd: str = "rn") -> Array:
    """d = a - b; of two NaNs that of b passes, quietened."""
    return binary64.quiet(binary64.add64(a, -b, rnd), b, a)


@instruction("mul{.rnd}.f64  d, a, b", section="9.7.3.5", **DOUBLE)
def mul(a: Array, b: Array, *, rnd: str = "rn") -> Array:
    """d = a * b; of two NaNs that of b passes, quietened."""
    return binary64.quiet(binary64.mul64(a, b, rnd), b, a)


@instruction("fma.rnd.f64  d, a, b, c", section="9.7.3.6", **LATER)
@instruction("mad.rnd.f64  d, a, b, c", section="9.7.3.7", **DOUBLE)
@instruction("mad.f64  d, a, b, c", section="9.7.3.7", **OLD)
def fma(a: Array, b: Array, c: Array, *, rnd: str = "rn") -> Array:
    """d = a * b + c, rounded once; of several NaNs that of b passes, else of c, else of a."""
    return binary64.quiet(binary64.fma64(a, b, c, rnd), b, c, a)


@instruction("div.rnd.f64  d, a, b", section="9.7.3.8", **DIVISION)
@instruction("div.f64  d, a, b", section="9.7.3.8", **OLD)
def div(a: Array, b: Array, *, rnd: str = "rn") -> Array:
    """d = a / b, correctly rounded; of two NaNs that of a passes, quietened."""
    return binary64.quiet(binary64.div64(a, b, rnd), a, b)


@instruction("rcp.rnd{.ftz}.f64  d, a", section="9.7.3.13", **{**DIVISION, "ptx": 1.4})
def rcp(a: Array, *, rnd: str, ftz: bool = False) -> Array:
    """d = 1 / a, correctly rounded; .ftz is read and changes nothing."""
    return binary64.quiet(binary64.div64(np.ones((1,) * a.ndim), a, rnd), a)


@instruction("sqrt.rnd.f64  d, a", section="9.7.3.15", **DIVISION)
@instruction("sqrt.f64  d, a", section="9.7.3.15", **OLD)
def sqrt(a: Array, *, rnd: str = "rn") -> Array:
    """d = the square root of a, correctly rounded."""
    return binary64.quiet(binary64.sqrt64(a, rnd), a)


@instruction("abs.f64  d, a", section="9.7.3.9")
def abs_(a: Array) -> Array:
    """d = |a|; a NaN keeps its sign."""
    return binary64.quiet(np.absolute(a), a)


@instruction("neg.f64  d, a", section="9.7.3.10")
def neg(a: Array) -> Array:
    """d = -a; a NaN keeps its sign."""
    return binary64.quiet(-a, a)


@instruction("min.f64  d, a, b", section="9.7.3.11")
def min_(a: Array, b: Array) -> Array:
    """d = the lesser operand, -0 below +0; a NaN yields to a number."""
    return _extreme(np.fmin(a, b), a, b, a.view(np.uint64) | b.view(np.uint64))


@instruction("max.f64  d, a, b", section="9.7.3.12")
def max_(a: Array, b: Array) -> Array:
    """d = the larger operand, -0 below +0; a NaN yields to a number."""
    return _extreme(np.fmax(a, b), a, b, a.view(np.uint64) & b.view(np.uint64))


def _extreme(r: Array, a: Array, b: Array, zero: Array) -> Array:
    if np.isnan(r).any():  # of a signaling NaN and a number, fmin and fmax give now the one, now the other
        r = np.where(np.isnan(a), b, np.where(np.isnan(b), a, r))
    return binary64.quiet(np.where((a == 0) & (b == 0), zero.view(np.float64), r), b, a)
