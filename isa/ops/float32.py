"""Single precision arithmetic (PTX ISA 9.7.3, 9.7.5): everything that rounds exactly, also on pairs and with half operands."""

from typing import Any

import numpy as np

from ..facts import Demand, Need, facts, when
from ..floats import binary32 as floats
from ..notation import instruction
from ..ports import Array, Mask

facts("add sub mul div rcp sqrt min max", flops=1)
facts("fma mad", flops=2)
facts("min max", demands=(Demand(Need(8.8, 100), "{opcode} of three", when("f32"), operands=4),))

ROUNDING = "rn rz rm rp"
MIXED = "f16 bf16"
PAIRS: dict[str, Any] = {"ptx": 8.6, "sm": 100}  # packed pairs and mixed operands came together
DIRECTED = {"rm": Need(2.0, 20), "rp": Need(2.0, 20), "rn": Need(1.0, 10), "rz": Need(1.0, 10)}
NAN = {"NaN": Need(7.0, 80)}


def widen(x: Array) -> Array:
    """A half operand of a mixed instruction as float32; bf16 travels as its bits."""
    if x.dtype == np.float32:
        return x
    return x.astype(np.float32) if x.dtype == np.float16 else (x.astype(np.uint32) << np.uint32(16)).view(np.float32)


@instruction("add{.rnd}{.sat}.dtype.atype  d:dtype, a:atype, b:dtype", rnd=ROUNDING, dtype="f32", atype=MIXED, section="9.7.5.1", **PAIRS)
@instruction("add{.rnd}{.ftz}.f32x2  d, a, b", rnd=ROUNDING, section="9.7.3.3", **PAIRS)
@instruction("add{.rnd}{.ftz}{.sat}.f32  d, a, b", rnd=ROUNDING, needs=DIRECTED, section="9.7.3.3")
def add(a: Array, b: Array, *, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """d = a + b; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    return floats.add32(widen(a), b, rnd, ftz, sat)


@instruction("sub{.rnd}{.sat}.dtype.atype  d:dtype, a:atype, b:dtype", rnd=ROUNDING, dtype="f32", atype=MIXED, section="9.7.5.2", **PAIRS)
@instruction("sub{.rnd}{.ftz}.f32x2  d, a, b", rnd=ROUNDING, section="9.7.3.4", **PAIRS)
@instruction("sub{.rnd}{.ftz}{.sat}.f32  d, a, b", rnd=ROUNDING, needs=DIRECTED, section="9.7.3.4")
def sub(a: Array, b: Array, *, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """d = a - b; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    return floats.sub32(widen(a), b, rnd, ftz, sat)


@instruction("mul{.rnd}{.ftz}.f32x2  d, a, b", rnd=ROUNDING, section="9.7.3.5", **PAIRS)
@instruction("mul{.rnd}{.ftz}{.sat}.f32  d, a, b", rnd=ROUNDING, needs=DIRECTED, section="9.7.3.5")
def mul(a: Array, b: Array, *, rnd: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    """d = a * b; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    return floats.mul32(a, b, rnd, ftz, sat)


@instruction(
    "fma.rnd{.sat}.dtype.atype  d:dtype, a:atype, b:atype, c:dtype",
    rnd=ROUNDING,
    dtype="f32",
    atype=MIXED,
    section="9.7.5.3",
    **PAIRS,
)
@instruction("fma.rnd{.ftz}.f32x2  d, a, b, c", rnd=ROUNDING, section="9.7.3.6", **PAIRS)
@instruction("fma.rnd{.ftz}{.sat}.f32  d, a, b, c", rnd=ROUNDING, ptx=2.0, sm=20, section="9.7.3.6")
@instruction("mad.rnd{.ftz}{.sat}.f32  d, a, b, c", rnd=ROUNDING, ptx=2.0, sm=20, section="9.7.3.7")
def fma(a: Array, b: Array, c: Array, *, rnd: str, ftz: bool = False, sat: bool = False) -> Array:
    """d = a * b + c, rounded once; .ftz flushes subnormal operands and results, .sat clamps to [0, 1]."""
    return floats.fma32(widen(a), widen(b), c, rnd, ftz, sat)


@instruction("mad{.ftz}{.sat}.f32  d, a, b, c", needs={"": Need(before=3.2, ends=20)}, section="9.7.3.7")
def mad_unrounded(a: Array, b: Array, c: Array, *, ftz: bool = False, sat: bool = False, capability_1: bool = False) -> Array:
    """d = a * b + c: rounded once from sm_20 on; on sm_1x the product is cut to single precision first."""
    if not capability_1:
        return floats.fma32(a, b, c, "rn", ftz, sat)
    return floats.add32(floats.mul32(a, b, "rz", True, False), c, "rn", True, sat)


@instruction("div.rnd{.ftz}.f32  d, a, b", rnd=ROUNDING, ptx=2.0, sm=20, section="9.7.3.8")
def div(a: Array, b: Array, *, rnd: str, ftz: bool = False) -> Array:
    """d = a / b, correctly rounded."""
    return floats.div32(a, b, rnd, ftz)


@instruction("rcp.rnd{.ftz}.f32  d, a", rnd=ROUNDING, ptx=2.0, sm=20, section="9.7.3.13")
def rcp(a: Array, *, rnd: str, ftz: bool = False) -> Array:
    """d = 1 / a, correctly rounded."""
    return floats.div32(np.ones((1,) * a.ndim, np.float32), a, rnd, ftz)


@instruction("sqrt.rnd{.ftz}.f32  d, a", rnd=ROUNDING, ptx=2.0, sm=20, section="9.7.3.15")
def sqrt(a: Array, *, rnd: str, ftz: bool = False) -> Array:
    """d = the square root of a, correctly rounded."""
    return floats.sqrt32(a, rnd, ftz)


@instruction("abs{.ftz}.f32  d, a", section="9.7.3.9")
def abs_(a: Array, *, ftz: bool = False) -> Array:
    """d = |a|; a NaN becomes the canonical NaN."""
    return floats.canonical(np.absolute(floats.flush(a) if ftz else a))


@instruction("neg{.ftz}.f32  d, a", section="9.7.3.10")
def neg(a: Array, *, ftz: bool = False) -> Array:
    """d = -a; a NaN becomes the canonical NaN."""
    return floats.canonical(-(floats.flush(a) if ftz else a))


@instruction("min{.ftz}{.NaN}.xorsign.abs.f32  d, a, b", ptx=7.2, sm=86, section="9.7.3.11")
def min_xorsign(a: Array, b: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the lesser magnitude, negative if the signs of a and b differ."""
    return floats.extreme((a, b), False, NaN, True, ftz)


@instruction("max{.ftz}{.NaN}.xorsign.abs.f32  d, a, b", ptx=7.2, sm=86, section="9.7.3.12")
def max_xorsign(a: Array, b: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the larger magnitude, negative if the signs of a and b differ."""
    return floats.extreme((a, b), True, NaN, True, ftz)


@instruction("min{.ftz}{.NaN}.abs.f32  d, a, b, c", ptx=8.8, sm=100, section="9.7.3.11")
def min_abs(a: Array, b: Array, c: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the least magnitude of three."""
    return floats.extreme((np.absolute(a), np.absolute(b), np.absolute(c)), False, NaN, ftz=ftz)


@instruction("max{.ftz}{.NaN}.abs.f32  d, a, b, c", ptx=8.8, sm=100, section="9.7.3.12")
def max_abs(a: Array, b: Array, c: Array, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the largest magnitude of three."""
    return floats.extreme((np.absolute(a), np.absolute(b), np.absolute(c)), True, NaN, ftz=ftz)


@instruction("min{.ftz}{.NaN}.f32  d, a, b{, c}", needs=NAN, section="9.7.3.11")
def min_(a: Array, b: Array, c: Array | None = None, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the least operand, -0 below +0; a NaN yields to a number unless .NaN; three operands on sm_100 and later."""
    return floats.extreme((a, b) if c is None else (a, b, c), False, NaN, ftz=ftz)


@instruction("max{.ftz}{.NaN}.f32  d, a, b{, c}", needs=NAN, section="9.7.3.12")
def max_(a: Array, b: Array, c: Array | None = None, *, ftz: bool = False, NaN: bool = False) -> Array:
    """d = the largest operand, -0 below +0; a NaN yields to a number unless .NaN; three operands on sm_100 and later."""
    return floats.extreme((a, b) if c is None else (a, b, c), True, NaN, ftz=ftz)


@instruction("copysign.type  d, a, b", type="f32 f64", ptx=2.0, sm=20, section="9.7.3.2")
def copysign(a: Array, b: Array) -> Array:
    """d = the magnitude of b with the sign of a, bit by bit."""
    word = np.dtype(f"u{a.dtype.itemsize}")
    sign = np.array(1 << 8 * word.itemsize - 1, word)
    r: Array = (a.view(word) & sign | b.view(word) & ~sign).view(a.dtype)
    return r


@instruction(
    "testp.op.type  p, a:type",
    op="finite infinite number notanumber normal subnormal",
    type="f32 f64",
    ptx=2.0,
    sm=20,
    section="9.7.3.1",
)
def testp(a: Array, *, op: str) -> Mask:
    """p = is a of this class?"""
    size: Array = np.absolute(a)
    least = np.finfo(a.dtype).tiny
    match op:
        case "finite":
            return np.isfinite(a)
        case "infinite":
            return np.isinf(a)
        case "number":
            return ~np.isnan(a)
        case "notanumber":
            return np.isnan(a)
        case "normal":
            answer: Mask = (size < np.inf) & ((size >= least) | (size == 0))  # zero counts as normal
            return answer
        case _:
            subnormal: Array = (size > 0) & (size < least)
    return subnormal
