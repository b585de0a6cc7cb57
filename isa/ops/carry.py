"""Extended precision: the instructions that write or read the carry flag CC.CF (PTX ISA 9.7.2).

The flag holds a carry; a subtraction adds the complement, so after one it is set when nothing was borrowed.  That is why addc
after sub.cc and subc after add.cc mean what they mean on hardware.  ptxas takes 16-bit types and .sat.s32 where no flag is written.
"""

import numpy as np

from ..facts import Need, facts
from ..notation import instruction
from ..ports import Array, Mask
from .integer import INTEGER, WIDER, high_half, saturate

facts("madc", leading="lo hi")

CARRIED = "u32 u64 s32 s64"
WIDE = {"u64": Need(4.3, 20), "s64": Need(4.3, 20)}  # 64-bit carries came later than 32-bit ones


def _unsigned(a: Array) -> Array:
    return a.view(f"u{a.itemsize}")


def _sum(a: Array, b: Array) -> tuple[Array, Mask]:
    """a + b and its carry."""
    d = a + b
    return d, _unsigned(d) < _unsigned(b)


def _sum3(a: Array, b: Array, cc: Mask) -> tuple[Array, Mask]:
    """a + b + cc and its carry."""
    d, carry = _sum(a, b)
    e = d + cc.astype(d.dtype)
    return e, carry | (_unsigned(e) < _unsigned(d))


@instruction("add.cc.type  d, a, b", type=CARRIED, needs=WIDE, ptx=1.2, carry="out", section="9.7.2.1")
def add_cc(a: Array, b: Array) -> tuple[Array, Mask]:
    """d = a + b; CC.CF = the carry."""
    return _sum(a, b)


@instruction("addc.cc.type  d, a, b", type=CARRIED, needs=WIDE, ptx=1.2, carry="in out", section="9.7.2.2")
def addc_cc(a: Array, b: Array, *, cc: Mask) -> tuple[Array, Mask]:
    """d = a + b + CC.CF; CC.CF = the carry."""
    return _sum3(a, b, cc)


@instruction("addc.type  d, a, b", type=INTEGER, ptx=1.2, carry="in", section="9.7.2.2")
@instruction("addc.sat.s32  d, a, b", ptx=1.2, carry="in", section="9.7.2.2")
def addc(a: Array, b: Array, *, cc: Mask, sat: bool = False) -> Array:
    """d = a + b + CC.CF; .sat clamps the sum to the range of .s32."""
    if sat:
        return saturate(np.add(a, b, dtype=np.int64) + cc)
    d: Array = a + b + cc.astype(a.dtype)
    return d


@instruction("sub.cc.type  d, a, b", type=CARRIED, needs=WIDE, ptx=1.3, carry="out", section="9.7.2.3")
def sub_cc(a: Array, b: Array) -> tuple[Array, Mask]:
    """d = a - b; CC.CF = 1 if there was no borrow."""
    return a - b, _unsigned(a) >= _unsigned(b)


@instruction("subc.cc.type  d, a, b", type=CARRIED, needs=WIDE, ptx=1.3, carry="in out", section="9.7.2.4")
def subc_cc(a: Array, b: Array, *, cc: Mask) -> tuple[Array, Mask]:
    """d = a - b - borrow; CC.CF = 1 means no borrow, before and after."""
    return _sum3(a, ~b, cc)


@instruction("subc.type  d, a, b", type=INTEGER, ptx=1.3, carry="in", section="9.7.2.4")
@instruction("subc.sat.s32  d, a, b", ptx=1.3, carry="in", section="9.7.2.4")
def subc(a: Array, b: Array, *, cc: Mask, sat: bool = False) -> Array:
    """d = a - b - borrow; CC.CF = 1 means no borrow; .sat clamps the difference to the range of .s32."""
    if sat:
        return saturate(np.subtract(a, b, dtype=np.int64) - ~cc)
    d: Array = a + ~b + cc.astype(a.dtype)
    return d


@instruction("mad.lo.cc.type  d, a, b, c", type=CARRIED, needs=WIDE, ptx=3.0, sm=20, carry="out", section="9.7.2.5")
def mad_cc(a: Array, b: Array, c: Array) -> tuple[Array, Mask]:
    """d = the lower half of a * b, + c; CC.CF = the carry of the sum."""
    return _sum(a * b, c)


@instruction("mad.hi.cc.type  d, a, b, c", type=CARRIED, needs=WIDE, ptx=3.0, sm=20, carry="out", section="9.7.2.5")
def mad_hi_cc(a: Array, b: Array, c: Array) -> tuple[Array, Mask]:
    """d = the upper half of a * b, + c; CC.CF = the carry of the sum."""
    return _sum(high_half(a, b), c)


@instruction("madc.lo.cc.type  d, a, b, c", type=CARRIED, needs=WIDE, ptx=3.0, sm=20, carry="in out", section="9.7.2.6")
def madc_cc(a: Array, b: Array, c: Array, *, cc: Mask) -> tuple[Array, Mask]:
    """d = the lower half of a * b, + c + CC.CF; CC.CF = the carry of the sum."""
    return _sum3(a * b, c, cc)


@instruction("madc.hi.cc.type  d, a, b, c", type=CARRIED, needs=WIDE, ptx=3.0, sm=20, carry="in out", section="9.7.2.6")
def madc_hi_cc(a: Array, b: Array, c: Array, *, cc: Mask) -> tuple[Array, Mask]:
    """d = the upper half of a * b, + c + CC.CF; CC.CF = the carry of the sum."""
    return _sum3(high_half(a, b), c, cc)


@instruction("madc.lo.type  d, a, b, c", type=INTEGER, ptx=3.0, sm=20, carry="in", section="9.7.2.6")
def madc(a: Array, b: Array, c: Array, *, cc: Mask) -> Array:
    """d = the lower half of a * b, + c + CC.CF."""
    d: Array = a * b + c + cc.astype(a.dtype)
    return d


@instruction("madc.hi.type  d, a, b, c", type=INTEGER, ptx=3.0, sm=20, carry="in", section="9.7.2.6")
@instruction("madc.hi.sat.s32  d, a, b, c", ptx=3.0, sm=20, carry="in", section="9.7.2.6")
def madc_hi(a: Array, b: Array, c: Array, *, cc: Mask, sat: bool = False) -> Array:
    """d = the upper half of a * b, + c + CC.CF."""
    # Neither 16 bits nor .sat are in the manual.  ptxas takes both; the H200 multiplies 16-bit factors as 32-bit ones, whose
    # product has nothing but its sign in the upper half, and does not saturate.
    high = high_half(a.astype(WIDER[a.dtype]), b.astype(WIDER[b.dtype])).astype(a.dtype) if a.itemsize == 2 else high_half(a, b)
    d: Array = high + c + cc.astype(a.dtype)
    return d
