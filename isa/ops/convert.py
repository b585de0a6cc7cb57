"""cvt and cvt.pack (PTX ISA 9.7.10): one row for every pair of types that shares its rounding words and modifiers."""

from typing import Any

import numpy as np

from ..facts import Demand, Need, facts
from ..floats import conversions as to
from ..floats import minifloats, stochastic
from ..floats.binary32 import canonical, flush, narrow, saturate
from ..floats.binary64 import quiet
from ..notation import instruction
from ..ports import Array
from ..types import TYPES

facts("cvt", leading="pack", reads_special=True, float_vectors=True)

INTEGERS = "u8 s8 u16 s16 u32 s32 u64 s64"
FRND = "rn rz rm rp"
IRND = "rni rzi rmi rpi"
CVT: dict[str, Any] = {"section": "9.7.10.21"}
BF16: dict[str, Any] = {"ptx": 7.8, "sm": 90, "section": "9.7.10.21"}
RELU = {"relu": Need(7.0, 80), "satfinite": Need(8.1, 75)}
NEW: dict[str, Any] = {"ptx": 8.6, "sm": 100, "arch": "af", "section": "9.7.10.21"}


# ---- integers among themselves


def _narrowing(source: str) -> tuple[str, str]:
    """The integer types that some value of `source` does not fit in, and the others."""
    lo, hi = to.bounds(TYPES[source].dtype)
    limits = {name: to.bounds(TYPES[name].dtype) for name in INTEGERS.split()}
    tight = [name for name, (least, most) in limits.items() if least > lo or most < hi]
    return " ".join(tight), " ".join(name for name in limits if name not in tight)


def cvt_integer(a: Array, *, dtype: str, sat: bool = False) -> Array:
    """d = the low bits of a, or with .sat the nearest value of the type; a wider type is filled with the sign of a signed source."""
    return to.integer(a, TYPES[dtype].dtype, sat)


_WITHOUT_SAT = {"takes_bits": "a"}  # with .sat the value decides

for _source in INTEGERS.split():
    _tight, _roomy = _narrowing(_source)
    if _tight:
        instruction("cvt{.sat}.dtype.atype  d:dtype+, a:atype+", dtype=_tight, atype=_source, facts=_WITHOUT_SAT, **CVT)(cvt_integer)
    instruction("cvt.dtype.atype  d:dtype+, a:atype+", dtype=_roomy, atype=_source, facts=_WITHOUT_SAT, **CVT)(cvt_integer)


# ---- integer to float


@instruction("cvt.rnd{.ftz}{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=FRND, dtype="f32", atype=INTEGERS, **CVT)
@instruction("cvt.rnd{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=FRND, dtype="f16 f64", atype=INTEGERS, **CVT)
@instruction("cvt.rnd.dtype.atype  d:dtype, a:atype", rnd=FRND, dtype="bf16", atype=INTEGERS, **BF16)
def cvt_from_integer(a: Array, *, rnd: str, dtype: str, sat: bool = False, ftz: bool = False) -> Array:
    """d = a as a float, rounded; .sat clamps to [0, 1], .ftz has nothing to flush."""
    match dtype:
        case "f32" if rnd == "rn":
            r = a.astype(np.float32)
        case "f32":
            r = narrow(to.from_integer(a), rnd)
        case "f64":
            r = to.integer_to_double(a, rnd)
        case "f16":
            r = to.narrow_half(to.from_integer(a), rnd)
        case _:
            return to.float_to_bf16(to.odd_float(to.from_integer(a)), rnd)
    return saturate(r) if sat else r


# ---- float to integer


@instruction("cvt.rnd{.ftz}{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=IRND, dtype=INTEGERS, atype="f32", **CVT)
@instruction("cvt.rnd{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=IRND, dtype=INTEGERS, atype="f16 f64", **CVT)
@instruction("cvt.rnd.dtype.atype  d:dtype, a:atype", rnd=IRND, dtype=INTEGERS, atype="bf16", **BF16)
def cvt_to_integer(a: Array, *, rnd: str, dtype: str, atype: str, sat: bool = False, ftz: bool = False) -> Array:
    """d = a rounded to an integer and clamped to the type, with .sat and without."""
    if atype == "bf16":
        a = to.bf16_to_float(a)
    if ftz:
        a = flush(a)
    kind = TYPES[dtype].dtype
    nan = 1 << 63 if kind.itemsize == 8 else 1 << kind.itemsize * 8 - 1 if atype == "f64" else 0
    return to.to_integer(a, rnd, kind, nan)


# ---- float to float


@instruction("cvt{.rnd}{.ftz}{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=IRND, dtype="f32", atype="f32", **CVT)
@instruction("cvt{.rnd}{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=IRND, dtype="f16", atype="f16", **CVT)
@instruction("cvt{.rnd}{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=IRND, dtype="f64", atype="f64", **CVT)
def cvt_same(a: Array, *, rnd: str = "", ftz: bool = False, sat: bool = False) -> Array:
    """d = a, rounded to an integral value if the instruction has an integer rounding."""
    r = flush(a) if ftz else a
    if rnd:
        r = to.integral(r, rnd)
    if sat:
        return saturate(r)
    if a.dtype == np.float64:
        return quiet(r, r) if rnd else r
    return canonical(r) if rnd or ftz or a.dtype == np.float16 else r


@instruction("cvt{.rnd}.dtype.atype  d:dtype, a:atype", rnd=IRND, dtype="bf16", atype="bf16", **BF16)
def cvt_same_bf16(a: Array, *, rnd: str = "") -> Array:
    """d = a, rounded to an integral value if the instruction has an integer rounding."""
    x = to.bf16_to_float(a)
    return to.float_to_bf16(to.integral(x, rnd) if rnd else x, "rz")


@instruction("cvt{.ftz}{.sat}.dtype.atype  d:dtype+, a:atype+", dtype="f64", atype="f32", **CVT)
@instruction("cvt{.ftz}{.sat}.dtype.atype  d:dtype+, a:atype+", dtype="f32", atype="f16", **CVT)
@instruction("cvt{.sat}.dtype.atype  d:dtype+, a:atype+", dtype="f64", atype="f16", **CVT)
@instruction("cvt{.rnd}{.ftz}.dtype.atype  d:dtype, a:atype", rnd=FRND, dtype="f32", atype="bf16",
             ptx=7.1, sm=80, needs={"ftz": Need(7.8, 90)}, section="9.7.10.21")  # fmt: skip
@instruction("cvt{.rnd}.dtype.atype  d:dtype, a:atype", rnd=FRND, dtype="f64", atype="bf16", **BF16)
def cvt_widening(a: Array, *, dtype: str, atype: str, rnd: str = "", ftz: bool = False, sat: bool = False) -> Array:
    """d = a exactly; a NaN keeps its payload, but not with .ftz and not from f16 to f32."""
    if atype == "bf16":
        a = to.bf16_to_float(a)
    if ftz and atype != "f16":
        a = canonical(flush(a))
    r = a.astype(TYPES[dtype].dtype)
    if sat:
        return saturate(r)
    if atype == "f16":
        return canonical(r) if dtype == "f32" else quiet(r, r)
    return r


@instruction("cvt.rnd{.ftz}{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=FRND, dtype="f32", atype="f64", **CVT)
def cvt_to_single(a: Array, *, rnd: str, ftz: bool = False, sat: bool = False) -> Array:
    """d = a rounded to single precision."""
    r = narrow(a, rnd, ftz)
    return saturate(r) if sat else r


@instruction("cvt.rnd{.satfinite}{.relu}.dtype.atype  d:dtype+, a:atype+", rnd="rn rz", dtype="f16", atype="f32", needs=RELU, **CVT)
@instruction("cvt.rnd{.ftz}{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=FRND, dtype="f16", atype="f32", **CVT)
@instruction("cvt.rnd{.sat}.dtype.atype  d:dtype+, a:atype+", rnd=FRND, dtype="f16", atype="f64", **CVT)
@instruction("cvt{.rnd}.dtype.atype  d:dtype, a:atype", rnd=FRND, dtype="f16", atype="bf16", **BF16)
def cvt_to_half(
    a: Array, *, atype: str, rnd: str = "rn", ftz: bool = False, sat: bool = False, satfinite: bool = False, relu: bool = False
) -> Array:
    """d = a rounded to half precision; .satfinite keeps it finite, .relu clears negative results."""
    if atype == "bf16":
        a = to.bf16_to_float(a)
    r = to.narrow_half(a, rnd)  # .ftz does not flush the source: a directed rounding of a subnormal is not a zero
    if atype == "f64":
        r = to.nan_of_double(a, r.view(np.uint16), 10).view(np.float16)
    if satfinite:
        r = np.clip(r, np.float16(-65504), np.float16(65504))
    if relu:
        r = to.relu(r)
    return saturate(r) if sat else r


@instruction("cvt.rnd{.satfinite}{.relu}.dtype.atype  d:dtype, a:atype", rnd="rn rz", dtype="bf16", atype="f32",
             ptx=7.0, sm=80, needs={"satfinite": Need(8.1, 80)}, section="9.7.10.21")  # fmt: skip
@instruction("cvt.rnd{.ftz}.dtype.atype  d:dtype, a:atype", rnd=FRND, dtype="bf16", atype="f32", ptx=7.0, sm=80, section="9.7.10.21")
@instruction("cvt.rnd.dtype.atype  d:dtype, a:atype", rnd=FRND, dtype="bf16", atype="f64", **BF16)
@instruction("cvt{.rnd}.dtype.atype  d:dtype, a:atype", rnd=FRND, dtype="bf16", atype="f16", **BF16)
def cvt_to_bf16(a: Array, *, rnd: str = "rn", ftz: bool = False, satfinite: bool = False, relu: bool = False) -> Array:
    """d = a rounded to bf16; .satfinite keeps it finite, .relu clears negative results."""
    if a.dtype == np.float64:
        return to.nan_of_double(a, to.float_to_bf16(to.odd_float(a), rnd), 7)
    if a.dtype == np.float16:
        a = a.astype(np.float32)
    elif ftz:
        a = flush(a)
    return _bf16(a, rnd, satfinite, relu)


def _bf16(a: Array, rnd: str, satfinite: bool, relu: bool) -> Array:
    r = to.float_to_bf16(a, rnd)
    if satfinite:
        r = np.where((r & np.uint16(0x7FFF)) == np.uint16(0x7F80), r - np.uint16(1), r)
    return np.where((r & np.uint16(0x8000)) != 0, np.uint16(0), r) if relu else r


@instruction("cvt.rnd{.satfinite}.dtype.atype  d:dtype, a:atype", rnd="rna", dtype="tf32", atype="f32",
             ptx=7.0, sm=80, needs={"satfinite": Need(8.1, 80)}, section="9.7.10.21")  # fmt: skip
@instruction("cvt.rnd{.satfinite}{.relu}.dtype.atype  d:dtype, a:atype", rnd="rn rz", dtype="tf32", atype="f32",
             ptx=7.8, sm=90, needs={"satfinite": Need(8.6, 100)}, section="9.7.10.21")  # fmt: skip
def cvt_to_tf32(a: Array, *, rnd: str, satfinite: bool = False, relu: bool = False) -> Array:
    """d = a rounded to the precision of tf32."""
    r = to.tf32(a, rnd, satfinite)
    return np.where((r & np.uint32(0x80000000)) != 0, np.uint32(0), r) if relu else r


# ---- packed results


def _pair(low: Array, high: Array) -> Array:
    return np.stack(np.broadcast_arrays(low, high), axis=-1)


@instruction("cvt.rnd{.satfinite}{.relu}.dtype.atype  d:dtype, a:atype, b:atype", rnd="rn rz", dtype="f16x2 bf16x2", atype="f32",
             ptx=7.0, sm=80, needs={"satfinite": Need(8.1, 80)}, section="9.7.10.21", facts={"pairs": True})  # fmt: skip
def cvt_pair(a: Array, b: Array, *, rnd: str, dtype: str, satfinite: bool = False, relu: bool = False) -> Array:
    """d = b in the low half, a in the high half, each rounded."""
    if dtype == "f16x2":
        return _pair(*(cvt_to_half(x, atype="f32", rnd=rnd, satfinite=satfinite, relu=relu) for x in (b, a)))
    return _pair(*(_bf16(x, rnd, satfinite, relu) for x in (b, a)))


_BYTES: dict[str, Any] = {
    "demands": (Demand(Need(8.1), "", instead=Need(sm=90), message="bytes of floating point need sm_90, or PTX 8.1"),)
}


@instruction(
    "cvt.rn.satfinite{.relu}.dtype.atype  d:dtype, a:atype, b:atype",
    dtype="e4m3x2 e5m2x2",
    atype="f32",
    ptx=7.8,
    sm=89,
    facts=_BYTES,
    **CVT,
)
@instruction("cvt.rn.satfinite{.relu}.dtype.atype  d:dtype, a:atype, b:atype", dtype="e2m3x2 e3m2x2 e2m1x2", atype="f32", **NEW)
def cvt_narrow_pair(a: Array, b: Array, *, dtype: str, relu: bool = False) -> Array:
    """d = b in the low part, a in the high part, each rounded to a narrow format; too large values become the largest finite one."""
    low, high = (minifloats.encode(x, dtype[:-2], relu) for x in (b, a))
    return high << np.uint8(4) | low if dtype == "e2m1x2" else _pair(low, high)


@instruction(
    "cvt.rn.satfinite{.relu}.dtype.atype  d:dtype, a:atype", dtype="e4m3x2 e5m2x2", atype="f16x2", ptx=7.8, sm=89, facts=_BYTES, **CVT
)
@instruction("cvt.rn.satfinite{.relu}.dtype.atype  d:dtype, a:atype", dtype="e2m1x2", atype="f16x2", **NEW)
def cvt_narrow_halves(a: Array, *, dtype: str, relu: bool = False) -> Array:
    """d = both halves of a rounded to a narrow format."""
    codes = minifloats.encode(a.astype(np.float32), dtype[:-2], relu)
    return codes[..., 1] << np.uint8(4) | codes[..., 0] if dtype == "e2m1x2" else codes


@instruction("cvt.rn{.relu}.dtype.atype  d:dtype, a:atype", dtype="f16x2", atype="e4m3x2 e5m2x2", ptx=7.8, sm=89, facts=_BYTES, **CVT)
@instruction("cvt.rn{.relu}.dtype.atype  d:dtype, a:atype", dtype="f16x2", atype="e2m3x2 e3m2x2 e2m1x2", **NEW)
def cvt_halves(a: Array, *, atype: str, relu: bool = False) -> Array:
    """d = both narrow elements of a as halves, exactly."""
    codes = _pair(a & np.uint8(15), a >> np.uint8(4)) if atype == "e2m1x2" else a
    r = to.narrow_half(minifloats.decode(codes, atype[:-2]))
    return to.relu(r) if relu else r


@instruction("cvt.rnd{.satfinite}.dtype.atype  d:dtype, a:atype, b:atype", rnd="rz rp", dtype="ue8m0x2", atype="f32", **NEW)
def cvt_scales(a: Array, b: Array, *, rnd: str, satfinite: bool = False) -> Array:
    """d = the exponents of b (low) and a (high), the magnitudes rounded to powers of two."""
    return _pair(minifloats.scale(b, rnd, satfinite), minifloats.scale(a, rnd, satfinite))


@instruction("cvt.rnd{.satfinite}.dtype.atype  d:dtype, a:atype", rnd="rz rp", dtype="ue8m0x2", atype="bf16x2", **NEW)
def cvt_scales_bf16(a: Array, *, rnd: str, satfinite: bool = False) -> Array:
    """d = the exponents of both halves of a, the magnitudes rounded to powers of two."""
    return minifloats.scale(to.bf16_to_float(a), rnd, satfinite)


@instruction("cvt.rn.dtype.atype  d:dtype, a:atype", dtype="bf16x2", atype="ue8m0x2", **NEW)
def cvt_from_scales(a: Array) -> Array:
    """d = two powers of two as bf16."""
    return minifloats.scale_to_bf16(a)


RANDOM: dict[str, Any] = {"atype": "f32", "ptx": 8.7, "sm": 100, "arch": "a", **CVT}


@instruction("cvt.rs{.relu}{.satfinite}.dtype.atype  d:dtype, a:atype, b:atype, c:b32", dtype="f16x2 bf16x2", **RANDOM)
def cvt_random_pair(a: Array, b: Array, c: Array, *, dtype: str, relu: bool = False, satfinite: bool = False) -> Array:
    """d = b (low) and a (high), each rounded away from zero where a half of c, added to the bits that are cut off, carries."""
    width = 13 if dtype == "f16x2" else 16
    halves = ((b, c), (a, c >> np.uint32(16)))
    codes = [stochastic.encode(x, r & np.uint32((1 << width) - 1), width, dtype[:-2], relu, satfinite) for x, r in halves]
    return _pair(*codes).view(TYPES[dtype].dtype)


@instruction("cvt.rs{.relu}.satfinite.dtype.atype  d:dtype, a*4:atype, b:b32", dtype="e4m3x4 e5m2x4 e2m3x4 e3m2x4 e2m1x4", **RANDOM)
def cvt_random_four(a: tuple[Array, ...], b: Array, *, dtype: str, relu: bool = False) -> Array:
    """d = the four elements of a, the first uppermost, each rounded away from zero where its part of b carries, else toward zero.

    The upper half of b serves the upper two elements and the lower half the others; for e2m1 each element has a byte of its own.
    """
    # Where the bytes for e2m1 lie is the manual's; which of its two elements a byte serves is not, and taken to be as in f16x2.
    width, shifts = (8, (0, 16, 8, 24)) if dtype == "e2m1x4" else (16, (0, 0, 16, 16))
    mask = np.uint32((1 << width) - 1)
    codes = [
        stochastic.encode(x, b >> np.uint32(shift) & mask, width, dtype[:-2], relu, True).astype(np.uint16)
        for x, shift in zip(reversed(a), shifts, strict=True)
    ]
    if dtype == "e2m1x4":
        d: Array = codes[0] | codes[1] << np.uint16(4) | codes[2] << np.uint16(8) | codes[3] << np.uint16(12)
        return d
    return np.stack(np.broadcast_arrays(*codes), axis=-1).astype(np.uint8)


@instruction("cvt.pack.sat.dtype.atype  d:b32, a:atype, b:atype", dtype="u16 s16", atype="s32", ptx=6.5, sm=72, section="9.7.10.22")
@instruction(
    "cvt.pack.sat.dtype.atype.ctype  d:u32, a:atype, b:atype, c:ctype",
    dtype="u8 s8",
    atype="s32",
    ctype="b32",
    ptx=6.5,
    sm=72,
    section="9.7.10.22",
)
@instruction("cvt.pack.sat.dtype.atype.ctype  d:u32, a:atype, b:atype, c:ctype", dtype="u4 s4 u2 s2", atype="s32", ctype="b32",
             ptx=6.5, sm=75, section="9.7.10.22")  # fmt: skip
def cvt_pack(a: Array, b: Array, c: Array | None = None, *, dtype: str) -> Array:
    """d = a and b clamped to a narrow integer type, side by side (b lowest), below the low bits of c."""
    bits = int(dtype[1:])
    lo, hi = (0, 2**bits - 1) if dtype[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    mask = np.uint32(2**bits - 1)
    high, low = (np.clip(x, lo, hi).view(np.uint32) & mask for x in (a, b))
    r = high << np.uint32(bits) | low
    return r if c is None else c << np.uint32(2 * bits) | r
