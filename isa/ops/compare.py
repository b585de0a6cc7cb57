"""Comparison and selection, halves included (PTX ISA 9.7.7 and 9.7.8)."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ..facts import ALWAYS, Need, facts, when
from ..notation import instruction
from ..ports import Array, Mask
from ..types import TYPES
from .logic import COMBINE

F = TypeVar("F", bound=Callable[..., object])
Test = Callable[[Array, Array], Mask]
Flag = bool  # where a parameter takes that name

EQUAL: dict[str, Test] = {"eq": np.equal, "ne": np.not_equal}
ORDER: dict[str, Test] = EQUAL | {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal}
UNSIGNED: dict[str, Test] = ORDER | {"lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}
# Of floats: the first six are false where an operand is a NaN, those with a u true; numpy's != alone is true there.
FLOAT: dict[str, Test] = ORDER | {
    "ne": lambda a, b: (a < b) | (a > b), "equ": lambda a, b: ~((a < b) | (a > b)), "neu": np.not_equal,
    "ltu": lambda a, b: ~(a >= b), "leu": lambda a, b: ~(a > b), "gtu": lambda a, b: ~(a <= b), "geu": lambda a, b: ~(a < b),
    "num": lambda a, b: (a == a) & (b == b), "nan": lambda a, b: (a != a) | (b != b),
}  # fmt: skip

UNORDERED = {"equ": "eq", "neu": "ne", "ltu": "lt", "leu": "le", "gtu": "gt", "geu": "ge"}  # true of NaNs, else as those

facts("selp", moves_bits=True, sign_free=ALWAYS)
facts("selp slct", takes_bits="a b")
facts("setp", discards=True)
facts("set setp", compares=True, predicate_register=when("bf16 bf16x2"))

FTZ = {"ftz": Need(1.4)}


def flush(a: Array) -> Array:
    """Subnormal numbers of .f32 as zeros."""
    bits = a.view(np.uint32)
    twice = bits << np.uint32(1)
    twice -= np.uint32(1)  # now zeros are the largest and subnormals the smallest numbers
    return a if twice.min() >= 0xFFFFFF else (bits * (twice >= 0xFFFFFF)).view(np.float32)


def _ranked(a: Array, type: str, ftz: bool) -> tuple[Array, Mask]:
    """16-bit floats as integers in the same order, both zeros as 0, and where they are NaNs."""
    # numpy compares float16 slowly and does not know bf16.
    bits = a.view(np.int16)
    size = bits & np.int16(0x7FFF)
    nan = size > np.int16(0x7C00 if type.startswith("f16") else 0x7F80)
    if ftz:
        size = size * (size >= np.int16(0x0400))
    sign = bits >> np.int16(15)
    return (size ^ sign) - sign, nan


def _compared(a: Array, b: Array, cmp: str, type: str, ftz: bool) -> Mask:
    """a cmp b of floats, subnormals flushed with .ftz."""
    if type == "f32" or type == "f64":
        return FLOAT[cmp](flush(a), flush(b)) if ftz else FLOAT[cmp](a, b)
    (x, nan), (y, other) = _ranked(a, type, ftz), _ranked(b, type, ftz)
    nan = nan | other
    if cmp in ("num", "nan"):
        return nan if cmp == "nan" else ~nan
    if cmp in UNORDERED:
        return ORDER[UNORDERED[cmp]](x, y) | nan
    return ORDER[cmp](x, y) & ~nan


def _rows(row: str, **given: Any) -> Callable[[F], F]:
    """Decorates with a comparison, and with the one that combines its result with the predicate c."""

    def register(meaning: F) -> F:
        combined = row.replace(".cmp", ".cmp.bool") + ", {!}c"
        return instruction(combined, bool=COMBINE, **given)(instruction(row, **given)(meaning))

    return register


def _combined(t: Mask, c: Mask | None, bool: str) -> Mask:
    """t, or t bool c."""
    return t if c is None else COMBINE[bool](t, c)


# ---------------------------------------------------------------- setp


@_rows("setp.cmp.type  p[|q], a, b", cmp=UNSIGNED, type="u16 u32 u64", section="9.7.7.2")
@_rows("setp.cmp.type  p[|q], a, b", cmp=ORDER, type="s16 s32 s64", section="9.7.7.2")
@_rows("setp.cmp.type  p[|q], a, b", cmp=EQUAL, type="b16 b32 b64", section="9.7.7.2")
def setp(a: Array, b: Array, c: Mask | None = None, *, cmp: str, bool: str = "", pair: Flag = True) -> tuple[Mask, Mask] | Mask:
    """p = a cmp b; q = its opposite; with .bool p = (a cmp b) bool c; q = !(a cmp b) bool c."""
    t = UNSIGNED[cmp](a, b)
    return (_combined(t, c, bool), _combined(~t, c, bool)) if pair else _combined(t, c, bool)


@_rows("setp.cmp{.ftz}.type  p[|q], a, b", cmp=FLOAT, type="f32", needs=FTZ, section="9.7.7.2")
@_rows("setp.cmp.type  p[|q], a, b", cmp=FLOAT, type="f64", section="9.7.7.2")
def setp_float(
    a: Array, b: Array, c: Mask | None = None, *, cmp: str, bool: str = "", type: str, ftz: Flag = False, pair: Flag = True
) -> tuple[Mask, Mask] | Mask:
    """p = a cmp b; q = its opposite; with .bool p = (a cmp b) bool c; q = !(a cmp b) bool c."""
    t = _compared(a, b, cmp, type, ftz)
    return (_combined(t, c, bool), _combined(~t, c, bool)) if pair else _combined(t, c, bool)


@_rows("setp.cmp{.ftz}.type  p, a, b", cmp=FLOAT, type="f16", ptx=4.2, sm=53, section="9.7.8.2")
@_rows("setp.cmp.type  p, a, b", cmp=FLOAT, type="bf16", ptx=7.8, sm=90, section="9.7.8.2")
def setp_half(a: Array, b: Array, c: Mask | None = None, *, cmp: str, bool: str = "", type: str, ftz: Flag = False) -> Mask:
    """p = a cmp b; with .bool p = (a cmp b) bool c."""
    return _combined(_compared(a, b, cmp, type, ftz), c, bool)


@_rows("setp.cmp{.ftz}.type  p[|q], a, b", cmp=FLOAT, type="f16x2", ptx=4.2, sm=53, section="9.7.8.2")
@_rows("setp.cmp.type  p[|q], a, b", cmp=FLOAT, type="bf16x2", ptx=7.8, sm=90, section="9.7.8.2")
def setp_halves(
    a: Array, b: Array, c: Mask | None = None, *, cmp: str, bool: str = "", type: str, ftz: Flag = False, pair: Flag = True
) -> tuple[Mask, Mask] | Mask:
    """p = a cmp b of the lower halves, q of the upper ones; with .bool p = (a cmp b) bool c, and q likewise."""
    t = _compared(a, b, cmp, type, ftz)
    p = _combined(t[..., 0], c, bool)
    return (p, _combined(t[..., 1], c, bool)) if pair else p


# ---------------------------------------------------------------- set


def _as_value(t: Mask, dtype: str, stype: str) -> Array:
    """True as all ones of an integer, 1.0 of a float; both halves of a pair side by side in one integer."""
    kind = TYPES[dtype]
    if kind.kind != "f":
        if stype.endswith("x2"):
            halves = t.astype(np.uint32) * np.uint32(0xFFFF)
            return (halves[..., 0] | (halves[..., 1] << np.uint32(16))).view(kind.dtype)
        return -t.astype(kind.dtype)
    return t.astype(np.uint16) * np.uint16(0x3F80) if dtype.startswith("bf16") else t.astype(kind.dtype)


HALF = {
    "u16": Need(6.5, 53),
    "s16": Need(6.5, 53),
    "u32": Need(6.5, 53),
    "s32": Need(6.5, 53),
}  # integers of f16 came later than f16 of f16
NEEDS = {"f16": Need(4.2, 53), "bf16": Need(7.8, 90)}
ANY = "u32 s32 f32 f16 bf16"


@_rows("set.cmp{.ftz}.dtype.stype  d:dtype, a:stype, b:stype",
       cmp=FLOAT, dtype="u32 s32 f32 f16", stype="f32", needs=FTZ | NEEDS, section="9.7.7.1")  # fmt: skip
@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype", cmp=FLOAT, dtype="bf16", stype="f32", needs=NEEDS, section="9.7.7.1")
@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype", cmp=FLOAT, dtype=ANY, stype="f64", needs=NEEDS, section="9.7.7.1")
@_rows("set.cmp{.ftz}.dtype.stype  d:dtype, a:stype, b:stype",
       cmp=FLOAT, dtype="u16 s16 u32 s32 f16", stype="f16", ptx=4.2, sm=53, needs=HALF, section="9.7.8.1")  # fmt: skip
@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype", cmp=FLOAT, dtype="bf16", stype="f16", ptx=7.8, sm=90, section="9.7.8.1")
@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype",
       cmp=FLOAT, dtype="u16 s16 u32 s32 bf16", stype="bf16", ptx=7.8, sm=90, section="9.7.8.1")  # fmt: skip
@_rows("set.cmp{.ftz}.dtype.stype  d:dtype, a:stype, b:stype",
       cmp=FLOAT, dtype="u32 s32 f16x2", stype="f16x2", ptx=4.2, sm=53, needs=HALF, section="9.7.8.1")  # fmt: skip
@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype",
       cmp=FLOAT, dtype="u32 s32 bf16x2", stype="bf16x2", ptx=7.8, sm=90, section="9.7.8.1")  # fmt: skip
def set_float(a: Array, b: Array, c: Mask | None = None, *, cmp: str, bool: str = "", dtype: str, stype: str, ftz: Flag = False) -> Array:
    """d = a cmp b, or (a cmp b) bool c, as all ones or 0, of a float type as 1.0 or 0.0; pairs half by half."""
    if c is not None and stype.endswith("x2"):
        c = c[..., np.newaxis]
    return _as_value(_combined(_compared(a, b, cmp, stype, ftz), c, bool), dtype, stype)


@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype", cmp=UNSIGNED, dtype=ANY, stype="u16 u32 u64", needs=NEEDS, section="9.7.7.1")
@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype", cmp=ORDER, dtype=ANY, stype="s16 s32 s64", needs=NEEDS, section="9.7.7.1")
@_rows("set.cmp.dtype.stype  d:dtype, a:stype, b:stype", cmp=EQUAL, dtype=ANY, stype="b16 b32 b64", needs=NEEDS, section="9.7.7.1")
def set_(a: Array, b: Array, c: Mask | None = None, *, cmp: str, bool: str = "", dtype: str, stype: str) -> Array:
    """d = a cmp b, or (a cmp b) bool c, as all ones or 0, of a float type as 1.0 or 0.0."""
    return _as_value(_combined(UNSIGNED[cmp](a, b), c, bool), dtype, stype)


# ---------------------------------------------------------------- selp, slct


def choose(c: Mask, a: Array, b: Array) -> Array:
    """c ? a : b, bit by bit: np.where takes several times as long over lanes that disagree."""
    if c.size == 1:
        return a if c.flat[0] else b
    word = f"i{a.itemsize}"
    x, y = a.view(word), b.view(word)
    d: Array = (y ^ ((x ^ y) & -c.astype(word))).view(a.dtype)
    return d


VALUES = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f32 f64"


@instruction("selp.type  d, a, b, {!}c", type=VALUES, section="9.7.7.3")
def selp(a: Array, b: Array, c: Mask) -> Array:
    """d = c ? a : b."""
    return choose(c, a, b)


@instruction("slct.dtype.ctype  d:dtype, a:dtype, b:dtype, c:ctype", dtype=VALUES, ctype="s32",
             section="9.7.7.4")  # fmt: skip
@instruction("slct{.ftz}.dtype.ctype  d:dtype, a:dtype, b:dtype, c:ctype", dtype=VALUES, ctype="f32",
             needs=FTZ, section="9.7.7.4")  # fmt: skip
def slct(a: Array, b: Array, c: Array, *, ftz: bool = False) -> Array:
    """d = c >= 0 ? a : b; a NaN chooses b."""
    return choose((flush(c) if ftz else c) >= 0, a, b)
