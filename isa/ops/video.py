"""Video instructions: arithmetic on selected bytes and halves of 32-bit registers (PTX ISA 9.7.20).

Operands arrive as whole registers, their selectors as the words asel, bsel and dsel ("b0", "h1", "h32", "b7654"; "" where none is
written), the minus signs of vmad as the flags aneg, bneg and cneg.  Everything is computed in 64 bits and cut down at the end.
Where the manual and an H200 differ, the H200 is right: it has no such instructions, and what stands in for them is not quite them.
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..facts import facts
from ..notation import instruction
from ..ports import Array

Operation = Callable[[Array, Array], Array]

WORDS = "u32 s32"
TYPED: dict[str, Any] = {"dtype": WORDS, "atype": WORDS, "btype": WORDS}
SHIFTED: dict[str, Any] = TYPED | {"btype": "u32", "mode": "clamp wrap"}
COMPARED: dict[str, Any] = {"atype": WORDS, "btype": WORDS, "cmp": "eq ne lt le gt ge"}
SECOND = "add min max"

ORDER: dict[str, Operation] = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
ARITHMETIC: dict[str, tuple[Operation, str]] = {
    "vadd": (np.add, "a + b"),
    "vsub": (np.subtract, "a - b"),
    "vabsdiff": (lambda a, b: np.abs(a - b), "|a - b|"),
    "vmin": (np.minimum, "the smaller of a and b"),
    "vmax": (np.maximum, "the larger of a and b"),
}
AVERAGE: Operation = lambda a, b: (a + b + (a + b >= 0)) >> 1  # noqa: E731
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
    bits = _width(selector)
    up = 32 - bits - bits * int(selector[1])
    register: Array = a.view(np.uint32 if type == "u32" else np.int32)
    return ((register << up) >> (32 - bits)).astype(np.int64)


def _register(x: Array, dtype: str) -> Array:
    """The low 32 bits of 64-bit numbers."""
    return x.astype(np.uint32 if dtype == "u32" else np.int32)


def _width(selector: str) -> int:
    return 32 if not selector else 8 if selector[0] == "b" else 16


def _low(x: Array) -> Array:
    """The low 32 bits with their sign, in 64 bits again."""
    return x.astype(np.int32).astype(np.int64)


# ---------------------------------------------------------------- one result


def _saturated(x: Array, dtype: str, dsel: str) -> Array:
    """.sat of sums, differences and choices."""
    least, most = BOUNDS[dtype, _width(dsel)]
    if dsel:  # negative numbers count as large ones
        return np.where((x < 0) | (x > most), most, x)
    return np.maximum(x, 0) if dtype == "u32" else np.clip(x, least, most)  # what is too large for .u32 wraps


def _finish(x: Array, c: Array | None, dtype: str, second: str, dsel: str) -> Array:
    """The second operation with c, or the merge into c at d's selector, or the low 32 bits as they are."""
    if c is None:
        return _register(x, dtype)
    if second == "add":
        return _register(x + _word(c, dtype), dtype)
    if second:  # compared in 64 bits, of .u32 without sign
        other = _word(c, dtype)
        smaller = x < other if dtype == "s32" else x.view(np.uint64) < other.view(np.uint64)
        return _register(np.where(smaller == (second == "min"), x, other), dtype)
    bits = _width(dsel)
    at = bits * int(dsel[1]) if dsel else 0
    field = (2**bits - 1) << at
    moved = x if dsel == "h1" else x << at  # .h1 takes the upper half of the result
    return _register((_word(c, "u32") & ~field) | (moved & field), dtype)


def _arithmetic(op: str, operation: Operation, what: str) -> None:
    def meaning(
        a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, btype: str, sat: bool = False, second: str = "",
        asel: str = "", bsel: str = "", dsel: str = "",
    ) -> Array:  # fmt: skip
        x = operation(_part(a, atype, asel), _part(b, btype, bsel))
        if sat:
            x = _saturated(x, dtype, dsel)
        return _finish(_low(x) if op in ("vadd", "vsub") else x, c, dtype, second, dsel)

    meaning.__doc__ = f"d = {what} of the selected parts, then .second of that and c, or merged into c at d's selector."
    head = f"{op}.dtype.atype.btype{{.sat}}"
    facts(op, parts=1)
    need: dict[str, Any] = {"ptx": 2.0, "sm": 20, "section": "9.7.20.1.1"}
    instruction(f"{head}  d:dtype, a:atype, b:btype{{, c:dtype}}", **TYPED, **need)(meaning)
    instruction(f"{head}.second  d:dtype, a:atype, b:btype, c:dtype", second=SECOND, **TYPED, **need)(meaning)


for _op, (_operation, _what) in ARITHMETIC.items():
    _arithmetic(_op, _operation, _what)


def _amount(b: Array, selector: str, mode: str) -> Array:
    """A shift amount modulo 32, or at most 32."""
    n = _part(b, "u32", selector)
    return n & 31 if mode == "wrap" else np.minimum(n, 32)


facts("vshl vshr vmad vset", parts=1)
facts("vmad", negates=True)


@instruction("vshl.dtype.atype.btype{.sat}.mode  d:dtype, a:atype, b:btype{, c:dtype}", **SHIFTED, ptx=2.0, sm=20, section="9.7.20.1.2")
@instruction("vshl.dtype.atype.btype{.sat}.mode.second  d:dtype, a:atype, b:btype, c:dtype",
             **SHIFTED, second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.2")  # fmt: skip
def vshl(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, mode: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a << b of the selected parts, b modulo 32 or at most 32, then .second of that and c, or merged into c at d's selector."""
    x = _part(a, atype, asel) << _amount(b, bsel, mode)
    if sat:  # of 34 bits
        x = _low(np.clip((x << 30) >> 30, *BOUNDS[dtype, 32]))
    return _finish(x, c, dtype, second, dsel)


@instruction("vshr.dtype.atype.btype{.sat}.mode  d:dtype, a:atype, b:btype{, c:dtype}", **SHIFTED, ptx=2.0, sm=20, section="9.7.20.1.2")
@instruction("vshr.dtype.atype.btype{.sat}.mode.second  d:dtype, a:atype, b:btype, c:dtype",
             **SHIFTED, second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.2")  # fmt: skip
def vshr(
    a: Array, b: Array, c: Array | None = None, *, dtype: str, atype: str, mode: str, sat: bool = False, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a >> b of the selected parts, b modulo 32 or at most 32, then .second of that and c, or merged into c at d's selector."""
    x = _part(a, atype, asel) >> _amount(b, bsel, mode)
    if sat:  # the selector of d plays no part
        x = _low(_saturated(x, dtype, ""))
    return _finish(x, c, dtype, second, dsel)


@instruction("vmad.dtype.atype.btype{.po}{.sat}{.scale}  d:dtype, a:atype, b:btype, c:dtype",
             **TYPED, scale="shr7 shr15", ptx=2.0, sm=20, section="9.7.20.1.3")  # fmt: skip
def vmad(
    a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, po: bool = False, sat: bool = False, scale: str = "",
    asel: str = "", bsel: str = "", aneg: bool = False, bneg: bool = False, cneg: bool = False,
) -> Array:  # fmt: skip
    """d = (a * b + c) >> scale of the selected parts, with .po one more; the product or c may be negated."""
    minus = aneg != bneg
    signed = atype == "s32" or btype == "s32" or minus or cneg
    # Whole unsigned registers are multiplied and added as signed ones.
    product = _low(_part(a, atype, asel)) * _low(_part(b, btype, bsel))
    addend = _word(c, "s32")
    total = addend - product if minus else product - addend if cneg else product + addend
    if po:
        total = total + 1
    if scale:
        by = int(scale[3:])
        total = total >> by if signed else (total.view(np.uint64) >> np.uint64(by)).view(np.int64)
    return _register(np.clip(total, *BOUNDS["s32" if signed else "u32", 32]) if sat else total, dtype)


@instruction("vset.atype.btype.cmp  d:u32, a:atype, b:btype{, c:u32}", **COMPARED, ptx=2.0, sm=20, section="9.7.20.1.4")
@instruction("vset.atype.btype.cmp.second  d:u32, a:atype, b:btype, c:u32",
             **COMPARED, second=SECOND, ptx=2.0, sm=20, section="9.7.20.1.4")  # fmt: skip
def vset(
    a: Array, b: Array, c: Array | None = None, *, atype: str, btype: str, cmp: str, second: str = "",
    asel: str = "", bsel: str = "", dsel: str = "",
) -> Array:  # fmt: skip
    """d = a cmp b of the selected parts as 1 or 0, then .second of that and c, or merged into c at d's selector."""
    x = ORDER[cmp](_part(a, atype, asel), _part(b, btype, bsel)).astype(np.int64)
    return _finish(x, c, atype, second, dsel).view(np.uint32)  # .min and .max take c to be of atype


# ---------------------------------------------------------------- two or four results


def _lanes(a: Array, b: Array, type: str, selector: str) -> list[Array]:
    """The halves or bytes that a selector of four or eight of them names, lowest lane first."""
    n = len(selector) - 1
    digits = [int(digit) for digit in reversed(selector[1:])]
    return [_part(a if digit < n else b, type, f"{selector[0]}{digit % n}") for digit in digits]


def _gathered(lanes: list[Array], c: Array, dtype: str, add: bool, dsel: str) -> Array:
    """The lanes that d's mask names, put into c or summed up with it."""
    bits = 32 // len(lanes)
    field = 2**bits - 1
    d = _word(c, "u32")
    for i in {int(digit) for digit in dsel[1:]} if dsel else range(len(lanes)):
        d = d + lanes[i] if add else (d & ~(field << bits * i)) | ((lanes[i] & field) << bits * i)
    return _register(d, dtype)


def _simd(op: str, n: int, operation: Operation, what: str) -> None:
    first, second = ("h10", "h32") if n == 2 else ("b3210", "b7654")

    def meaning(
        a: Array, b: Array, c: Array, *, dtype: str, atype: str, btype: str, sat: bool = False, add: bool = False,
        asel: str = "", bsel: str = "", dsel: str = "",
    ) -> Array:  # fmt: skip
        pairs = zip(_lanes(a, b, atype, asel or first), _lanes(a, b, btype, bsel or second), strict=True)
        lanes = [operation(x, y) for x, y in pairs]
        if sat:
            lanes = [np.clip(x, *BOUNDS[dtype, 32 // n]) for x in lanes]
        return _gathered(lanes, c, dtype, add, dsel)

    parts = "halves" if n == 2 else "bytes"
    meaning.__doc__ = f"d = {what} of each pair of {parts}, merged into c at d's mask, or with .add summed up with c."
    head, operands = f"{op}{n}.dtype.atype.btype", "d:dtype, a:atype, b:btype, c:dtype"
    facts(f"{op}{n}", parts=n)
    need: dict[str, Any] = {"ptx": 3.0, "sm": 30, "section": f"9.7.20.2.{n - 1}"}
    instruction(f"{head}{{.sat}}  {operands}", **TYPED, **need)(meaning)
    instruction(f"{head}.add  {operands}", **TYPED, **need)(meaning)


def _simd_set(n: int) -> None:
    first, second = ("h10", "h32") if n == 2 else ("b3210", "b7654")

    def meaning(
        a: Array, b: Array, c: Array, *, atype: str, btype: str, cmp: str, add: bool = False, asel: str = "", bsel: str = "", dsel: str = ""
    ) -> Array:
        pairs = zip(_lanes(a, b, atype, asel or first), _lanes(a, b, btype, bsel or second), strict=True)
        return _gathered([ORDER[cmp](x, y).astype(np.int64) for x, y in pairs], c, "u32", add, dsel)

    parts = "halves" if n == 2 else "bytes"
    meaning.__doc__ = f"d = a cmp b of each pair of {parts} as 1 or 0, merged into c at d's mask, or with .add summed up with c."
    facts(f"vset{n}", parts=n)
    instruction(f"vset{n}.atype.btype.cmp{{.add}}  d:u32, a:atype, b:btype, c:u32",
                **COMPARED, ptx=3.0, sm=30, section=f"9.7.20.2.{n}")(meaning)  # fmt: skip


for _n in (2, 4):
    for _op, (_operation, _what) in (ARITHMETIC | {"vavrg": (AVERAGE, "the average, halves rounded away from zero,")}).items():
        _simd(_op, _n, _operation, _what)
    _simd_set(_n)
