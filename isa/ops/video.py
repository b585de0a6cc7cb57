"""Video instructions: arithmetic on selected bytes and halves of 32-bit registers (PTX ISA 9.7.20).

Operands arrive as whole registers, their selectors as the words asel, bsel and dsel ("b0", "h1", "h32", "b7654"; "" where none
is written), the minus signs of vmad as the flags aneg, bneg and cneg.  Everything is computed in 64 bits and cut down at the end.
"""

import operator
from collections.abc import Callable

import numpy as np

from ..notation import instruction
from ..ports import Array

WORDS = "u32 s32"
SECOND = "add min max"
ORDER: dict[str, Callable[[Array, Array], Array]] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
BOUNDS = {("u32", bits): (0, 2**bits - 1) for bits in (8, 16, 32)} | {
    ("s32", bits): (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for bits in (8, 16, 32)
}


def _word(a: Array, type: str) -> Array:
    """A whole register as 64-bit numbers of a type."""
    return a.view(np.uint32 if type == "u32" else np.int32).astype(np.int64)


def _part(a: Array, type: str, selector: str) -> Array:
    """The selected byte or half of a register, or all of it, as 64-bit numbers of a type."""
    if not selector:
        return _word(a, type)
    bits = 8 if selector[0] == "b" else 16
    up = 32 - bits - bits * int(selector[1])
    register: Array = a.view(np.uint32 if type == "u32" else np.int32)
    return ((register << up) >> (32 - bits)).astype(np.int64)


def _register(x: Array, dtype: str) -> Array:
    """The low 32 bits of 64-bit numbers."""
    return x.astype(np.uint32 if dtype == "u32" else np.int32)


def _saturated(x: Array, dtype: str, dsel: str) -> Array:
    bits = 32 if not dsel else 8 if dsel[0] == "b" else 16
    least, most = BOUNDS[dtype, bits]
    if dsel:
        return np.where((x < 0) | (x > most), most, x)
    return np.maximum(x, 0) if dtype == "u32" else np.clip(x, least, most)


def _finish(x: Array, c: Array | None, dtype: str, second: str, dsel: str, ctype: str = "") -> Array:
    """The second operation with c, or the merge into c, or the low 32 bits as they are."""
    if c is None:
        return _register(x, dtype)
    if second == "add":
        return _register(x + _word(c, dtype), dtype)
    if second:
        other = _word(c, ctype or dtype)
        smaller = x < other if (ctype or dtype) == "s32" else x.view(np.uint64) < other.view(np.uint64)
        return _register(np.where(smaller == (second == "min"), x, other), dtype)
    bits = 32 if not dsel else 8 if dsel[0] == "b" else 16
    at = bits * int(dsel[1]) if dsel else 0
    field = (2**bits - 1) << at
    merged = x if dsel == "h1" else x << at
    return _register((_word(c, "u32") & ~field) | (merged & field), dtype)


ARITHMETIC: dict[str, Callable[[Array, Array], Array]] = {
    "vadd": np.add, "vsub": np.subtract, "vabsdiff": lambda a, b: np.abs(a - b), "vmin": np.minimum, "vmax": np.maximum,
    "vavrg": lambda a, b: (a + b + (a + b >= 0)) >> 1,
}  # fmt: skip


# ---------------------------------------------------------------- one result

# The row without a second operation may merge its result into c: then d has a selector.


@instruction("vadd.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype{, c:dtype}", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
@instruction("vadd.dtype.atype.btype{.sat}.second  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
def vadd(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a + b of the selected parts, then .second of that and c, or merged into c at d's selector."""
    x = ARITHMETIC["vadd"](_part(a, atype, asel), _part(b, btype, bsel))
    if sat:
        x = _saturated(x, dtype, dsel)
    x = x.astype(np.int32).astype(np.int64)
    return _finish(x, c, dtype, second, dsel)


@instruction("vsub.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype{, c:dtype}", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
@instruction("vsub.dtype.atype.btype{.sat}.second  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
def vsub(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a - b of the selected parts, then .second of that and c, or merged into c at d's selector."""
    x = ARITHMETIC["vsub"](_part(a, atype, asel), _part(b, btype, bsel))
    if sat:
        x = _saturated(x, dtype, dsel)
    x = x.astype(np.int32).astype(np.int64)
    return _finish(x, c, dtype, second, dsel)


@instruction("vabsdiff.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype{, c:dtype}", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
@instruction("vabsdiff.dtype.atype.btype{.sat}.second  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
def vabsdiff(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = |a - b| of the selected parts, then .second of that and c, or merged into c at d's selector."""
    x = ARITHMETIC["vabsdiff"](_part(a, atype, asel), _part(b, btype, bsel))
    if sat:
        x = _saturated(x, dtype, dsel)
    return _finish(x, c, dtype, second, dsel)


@instruction("vmin.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype{, c:dtype}", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
@instruction("vmin.dtype.atype.btype{.sat}.second  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
def vmin(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the smaller of a and b of the selected parts, then .second of that and c, or merged into c at d's selector."""
    x = ARITHMETIC["vmin"](_part(a, atype, asel), _part(b, btype, bsel))
    if sat:
        x = _saturated(x, dtype, dsel)
    return _finish(x, c, dtype, second, dsel)


@instruction("vmax.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype{, c:dtype}", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
@instruction("vmax.dtype.atype.btype{.sat}.second  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.1")  # fmt: skip
def vmax(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the larger of a and b of the selected parts, then .second of that and c, or merged into c at d's selector."""
    x = ARITHMETIC["vmax"](_part(a, atype, asel), _part(b, btype, bsel))
    if sat:
        x = _saturated(x, dtype, dsel)
    return _finish(x, c, dtype, second, dsel)


def _shift(n: Array, mode: str) -> Array:
    """A shift amount modulo 32, or at most 32."""
    return n & 31 if mode == "wrap" else np.minimum(n, 32)


@instruction("vshl.dtype.atype.btype{.sat}.mode  d:dtype, a:atype, b:btype{, c:dtype}", dtype=WORDS, atype=WORDS, btype="u32",
             mode="clamp wrap", ptx=2.0, sm=20, section="9.7.20.1.2")  # fmt: skip
@instruction("vshl.dtype.atype.btype{.sat}.mode.second  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype="u32",
             mode="clamp wrap", second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.2")  # fmt: skip
def vshl(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, mode: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a << b of the selected parts, b modulo 32 or at most 32, then .second of that and c, or merged into c at d's selector."""
    x = _part(a, atype, asel) << _shift(_part(b, btype, bsel), mode)
    if sat:
        x = np.clip((x << 30) >> 30, *BOUNDS[dtype, 32])
    return _finish(x, c, dtype, second, dsel)


@instruction("vshr.dtype.atype.btype{.sat}.mode  d:dtype, a:atype, b:btype{, c:dtype}", dtype=WORDS, atype=WORDS, btype="u32",
             mode="clamp wrap", ptx=2.0, sm=20, section="9.7.20.1.2")  # fmt: skip
@instruction("vshr.dtype.atype.btype{.sat}.mode.second  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype="u32",
             mode="clamp wrap", second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.2")  # fmt: skip
def vshr(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, mode: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a >> b of the selected parts, b modulo 32 or at most 32, then .second of that and c, or merged into c at d's selector."""
    x = _part(a, atype, asel) >> _shift(_part(b, btype, bsel), mode)
    if sat:
        x = _saturated(x, dtype, dsel).astype(np.int32).astype(np.int64)
    return _finish(x, c, dtype, second, dsel)


@instruction("vmad.dtype.atype.btype{.po}{.sat}{.scale}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             scale="shr7 shr15", ptx=2.0, sm=20, section="9.7.20.1.3")  # fmt: skip
def vmad(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, po: bool = False, sat: bool = False, scale: str = "",
    asel: str = "", bsel: str = "", aneg: bool = False, bneg: bool = False, cneg: bool = False,
) -> Array:  # fmt: skip
    """d = (a * b + c) >> scale of the selected parts, with .po one more; the product or c may be negated."""
    minus = aneg != bneg
    unsigned = atype == btype == "u32"
    signed = not unsigned or minus or cneg
    x, y = _part(a, atype, asel), _part(b, btype, bsel)
    # The sum needs more than 64 bits where two whole unsigned registers are multiplied: kept as two words.
    low = x.view(np.uint64) * y.view(np.uint64)
    high = np.zeros_like(low) if unsigned else (low.view(np.int64) >> 63).view(np.uint64)
    addend = _word(c, "s32" if signed else "u32")
    if minus:
        low, high = ~low, ~high
    elif cneg:
        addend = ~addend
    total = low + addend.view(np.uint64)
    high = high + (addend >> 63).view(np.uint64) + (total < low)
    if po or minus or cneg:
        total = total + np.uint64(1)
        high = high + (total == 0)
    if scale:
        by = int(scale[3:])
        total = (total >> np.uint64(by)) | (high << np.uint64(64 - by))
        high = (high.view(np.int64) >> by).view(np.uint64)
    if sat:
        least, most = BOUNDS["s32" if signed else "u32", 32]
        above, x = high.view(np.int64), total.view(np.int64)
        over = (above > 0) | ((above == 0) & ((x < 0) | (x > most)))
        under = (above < -1) | ((above == -1) & ((x >= 0) | (x < least))) | ((above < 0) & (not signed))
        return _register(np.where(over, most, np.where(under, least, x)), dtype)
    return _register(total, dtype)


@instruction("vset.atype.btype.cmp  d:u32, a:atype, b:btype{, c:u32}", atype=WORDS, btype=WORDS, cmp=ORDER,
             ptx=2.0, sm=20, section="9.7.20.1.4")  # fmt: skip
@instruction("vset.atype.btype.cmp.second  d:u32, a:atype, b:btype, c:u32", atype=WORDS, btype=WORDS, cmp=ORDER, second=SECOND,
             ptx=2.0, sm=20, section="9.7.20.1.4")  # fmt: skip
def vset(
    a: Array, b: Array, c: Array | None = None, *, atype: str, btype: str, cmp: str, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a cmp b of the selected parts as 1 or 0, then .second of that and c, or merged into c at d's selector."""
    x = ORDER[cmp](_part(a, atype, asel), _part(b, btype, bsel)).astype(np.int64)
    return _finish(x, c, "u32", second, dsel, atype)


# ---------------------------------------------------------------- two or four results


def _lanes(a: Array, b: Array, type: str, selector: str) -> list[Array]:
    """The halves or bytes that a selector of four or eight of them names, lowest lane first."""
    n = len(selector) - 1
    digits = [int(digit) for digit in reversed(selector[1:])]
    return [_part(a if digit < n else b, type, f"{selector[0]}{digit % n}") for digit in digits]


def _gathered(lanes: list[Array], c: Array, dtype: str, sat: bool, add: bool, dsel: str) -> Array:
    """The lanes that d's mask names, put into c or summed up with it."""
    bits = 32 // len(lanes)
    written = {int(digit) for digit in dsel[1:]} if dsel else set(range(len(lanes)))
    if sat:
        lanes = [np.clip(x, *BOUNDS[dtype, bits]) for x in lanes]
    d = _word(c, "u32")
    for i in written:
        mask = 2**bits - 1
        d = d + lanes[i] if add else (d & (0xFFFFFFFF ^ (mask << bits * i))) | ((lanes[i] & mask) << bits * i)
    return _register(d, dtype)


def _simd(
    op: str, a: Array, b: Array, c: Array, dtype: str, atype: str, btype: str, sat: bool, add: bool, asel: str, bsel: str, dsel: str
) -> Array:
    x, y = _lanes(a, b, atype, asel), _lanes(a, b, btype, bsel)
    return _gathered([ARITHMETIC[op](s, t) for s, t in zip(x, y, strict=True)], c, dtype, sat, add, dsel)


@instruction("vadd2.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
@instruction("vadd2.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
def vadd2(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a + b of each pair of halves, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vadd", a, b, c, dtype, atype, btype, sat, add, asel or "h10", bsel or "h32", dsel)


@instruction("vsub2.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
@instruction("vsub2.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
def vsub2(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a - b of each pair of halves, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vsub", a, b, c, dtype, atype, btype, sat, add, asel or "h10", bsel or "h32", dsel)


@instruction("vavrg2.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
@instruction("vavrg2.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
def vavrg2(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the average of a and b, halves rounded away from zero, of each pair of halves, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vavrg", a, b, c, dtype, atype, btype, sat, add, asel or "h10", bsel or "h32", dsel)


@instruction("vabsdiff2.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
@instruction("vabsdiff2.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
def vabsdiff2(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = |a - b| of each pair of halves, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vabsdiff", a, b, c, dtype, atype, btype, sat, add, asel or "h10", bsel or "h32", dsel)


@instruction("vmin2.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
@instruction("vmin2.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
def vmin2(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the smaller of a and b of each pair of halves, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vmin", a, b, c, dtype, atype, btype, sat, add, asel or "h10", bsel or "h32", dsel)


@instruction("vmax2.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
@instruction("vmax2.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.1")  # fmt: skip
def vmax2(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the larger of a and b of each pair of halves, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vmax", a, b, c, dtype, atype, btype, sat, add, asel or "h10", bsel or "h32", dsel)


@instruction("vset2.atype.btype.cmp{.add}  d:u32, a:atype, b:btype, c:u32", atype=WORDS, btype=WORDS, cmp=ORDER,
             ptx=3.0, sm=30, section="9.7.20.2.2")  # fmt: skip
def vset2(
    a: Array, b: Array, c: Array, *, atype: str, btype: str, cmp: str, add: bool = False, asel: str = "", bsel: str = "", dsel: str = ""
) -> Array:
    """d = a cmp b of each pair of halves as 1 or 0, merged into c at d's mask, or with .add summed up with c."""
    x, y = _lanes(a, b, atype, asel or "h10"), _lanes(a, b, btype, bsel or "h32")
    return _gathered([ORDER[cmp](s, t).astype(np.int64) for s, t in zip(x, y, strict=True)], c, "u32", False, add, dsel)


@instruction("vadd4.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
@instruction("vadd4.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
def vadd4(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a + b of each pair of bytes, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vadd", a, b, c, dtype, atype, btype, sat, add, asel or "b3210", bsel or "b7654", dsel)


@instruction("vsub4.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
@instruction("vsub4.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
def vsub4(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a - b of each pair of bytes, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vsub", a, b, c, dtype, atype, btype, sat, add, asel or "b3210", bsel or "b7654", dsel)


@instruction("vavrg4.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
@instruction("vavrg4.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
def vavrg4(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the average of a and b, halves rounded away from zero, of each pair of bytes, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vavrg", a, b, c, dtype, atype, btype, sat, add, asel or "b3210", bsel or "b7654", dsel)


@instruction("vabsdiff4.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
@instruction("vabsdiff4.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
def vabsdiff4(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = |a - b| of each pair of bytes, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vabsdiff", a, b, c, dtype, atype, btype, sat, add, asel or "b3210", bsel or "b7654", dsel)


@instruction("vmin4.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
@instruction("vmin4.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
def vmin4(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the smaller of a and b of each pair of bytes, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vmin", a, b, c, dtype, atype, btype, sat, add, asel or "b3210", bsel or "b7654", dsel)


@instruction("vmax4.dtype.atype.btype{.sat}  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
@instruction("vmax4.dtype.atype.btype.add  d:dtype, a:atype, b:btype, c:dtype", dtype=WORDS, atype=WORDS, btype=WORDS,
             ptx=3.0, sm=30, section="9.7.20.2.3")  # fmt: skip
def vmax4(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = the larger of a and b of each pair of bytes, merged into c at d's mask, or with .add summed up with c."""
    return _simd("vmax", a, b, c, dtype, atype, btype, sat, add, asel or "b3210", bsel or "b7654", dsel)


@instruction("vset4.atype.btype.cmp{.add}  d:u32, a:atype, b:btype, c:u32", atype=WORDS, btype=WORDS, cmp=ORDER,
             ptx=3.0, sm=30, section="9.7.20.2.4")  # fmt: skip
def vset4(
    a: Array, b: Array, c: Array, *, atype: str, btype: str, cmp: str, add: bool = False, asel: str = "", bsel: str = "", dsel: str = ""
) -> Array:
    """d = a cmp b of each pair of bytes as 1 or 0, merged into c at d's mask, or with .add summed up with c."""
    x, y = _lanes(a, b, atype, asel or "b3210"), _lanes(a, b, btype, bsel or "b7654")
    return _gathered([ORDER[cmp](s, t).astype(np.int64) for s, t in zip(x, y, strict=True)], c, "u32", False, add, dsel)
