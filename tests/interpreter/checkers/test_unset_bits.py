"""Undefined bits through single instructions, held against all values that they may have.

For each case every combination of a few undefined bits is calculated in a lane of its own: a bit of the result is undefined if and only if it
differs among them.  Nothing may be missed; where bits are only moved or combined in their places nothing may be added either.
"""

from typing import Any

import numpy as np
import pytest

from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.checkers.initcheck.values import UnsetValues

Array = np.ndarray[Any, np.dtype[Any]]
CASES, BITS = 96, 4  # and 16 values each

EXACT = """and.b32 d, a, b|or.b32 d, a, b|xor.b32 d, a, b|not.b32 d, a|xor.b32 d, a, a|and.b32 d, a, 0xff00|or.b32 d, a, 0xff|
lop3.b32 d, a, b, c, 0xca|lop3.b32 d, a, b, a, 0x96|mov.b32 d, a|shl.b32 d, a, 7|shr.u32 d, a, 9|shr.s32 d, a, 25|shr.s32 d, a, 40|
shf.l.wrap.b32 d, a, b, 5|shf.r.clamp.b32 d, a, b, 32|prmt.b32 d, a, b, 0x7610|prmt.b32 d, a, b, 0xf8c3|prmt.b32.rc16 d, a, b, 1|
bfe.u32 d, a, 3, 9|bfe.s32 d, a, 3, 9|bfe.s32 d, a, 30, 9|bfi.b32 d, a, b, 12, 10|brev.b32 d, a|szext.clamp.s32 d, a, 11|
selp.b32 d, a, b, p|slct.s32.s32 d, a, b, 5|cvt.u32.u8 d, a|cvt.s32.s8 d, a|cvt.s32.s16 d, a|cvt.u16.u32 h, a; cvt.u32.u16 d, h|
mov.b32 {h, g}, a; mov.b32 d, {g, h}|cvt.s64.s32 w, a; shr.u64 w, w, 20; cvt.u32.u64 d, w|mov.b64 w, {a, b}; shl.b64 w, w, 13; mov.b64 {c, d}, w|
mov.b32 d, a; and.b32 d, d, 0|shl.b32 d, a, 32|@p mov.b32 a, b; mov.b32 d, a"""
BOUNDED = """setp.lt.and.s32 q, a, b, p; selp.b32 d, a, 0, q|setp.eq.or.f32 q, a, b, p; selp.u32 d, 1, 0, q|setp.num.xor.f32 q, a, b, !p; selp.u32 d, 1, 0, q|
add.u32 d, a, b|sub.s32 d, a, b|mul.lo.u32 d, a, b|mad.lo.s32 d, a, b, c|neg.s32 d, a|add.sat.s32 d, a, b|add.u16x2 d, a, b|
mul.hi.u32 d, a, b|min.s32 d, a, b|max.u32 d, a, b|popc.b32 d, a|clz.b32 d, a|bfind.u32 d, a|abs.s32 d, a|cvt.sat.u8.s32 d, a|
shl.b32 d, a, b|shr.s32 d, a, b|prmt.b32 d, a, b, c|bfe.u32 d, a, b, c|bfi.b32 d, a, b, c, a|add.f32 d, a, b|fma.rn.f32 d, a, b, c|
cvt.rn.f32.s32 d, a|cvt.rn.f16.f32 h, a; cvt.u32.u16 d, h|add.f16x2 d, a, b|dp4a.u32.u32 d, a, b, c|vadd2.u32.u32.u32 d, a, b, c|
setp.lt.s32 q, a, b; selp.b32 d, a, b, q|setp.eq.u32 q, a, b; selp.u32 d, 1, 0, q|set.gt.u32.s32 d, a, b|lop3.or.b32 d|q, a, b, c, 0x96, p; selp.b32 d, 5, d, q|
add.cc.u32 d, a, b; addc.u32 d, b, c|sub.cc.u32 d, a, b; subc.cc.u32 e, c, c; addc.u32 d, c, 0|mul.wide.u32 w, a, b; cvt.u32.u64 d, w|
mul.f32 d, a, b; add.f32 d, d, c|sad.u32 d, a, b, c|div.u32 d, a, b|slct.s32.s32 d, a, b, c|cvt.rn.f16x2.f32 d, a, b|not.pred q, p; selp.b32 d, a, c, q|and.b32 d, a, b; xor.b32 d, d, b"""
DECLARED = """.reg .b32 a, b, c, d, e, at; .reg .b64 w, inp, out, here; .reg .b16 h, g; .reg .pred p, q;
ld.param.u64 inp, [x]; ld.param.u64 out, [y]; mov.u32 at, %tid.x; mov.u32 d, %ctaid.x; mad.lo.u32 at, d, 256, at;
mul.wide.u32 here, at, 12; add.u64 inp, inp, here; ld.global.b32 a, [inp]; ld.global.b32 b, [inp+4]; ld.global.b32 c, [inp+8];
mul.wide.u32 here, at, 4; add.u64 out, out, here; and.b32 d, at, 16; setp.ne.u32 p, d, 0; mov.b32 d, 0;"""


def split(text: str) -> list[str]:
    return [" ".join(one.split()) for one in text.split("|\n") for one in _rows(one)]


def _rows(line: str) -> list[str]:
    """d|p is a pair, and no end of a row."""
    return [one.replace("d!q", "d|q") for one in line.replace("d|q", "d!q").split("|")]


def both(body: str, seed: int, uses: tuple[int, ...]) -> tuple[Array, Array]:
    """The undefined bits of the results by the checker, and by trying all values."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 1 << 32, (CASES, 3), dtype=np.uint32)
    values[rng.random((CASES, 3)) < 0.3] &= np.uint32(0x1F)
    masks = np.zeros((CASES, 3), np.uint32)
    lanes = np.repeat(values[:, None, :], 1 << BITS, axis=1)
    for case in range(CASES):
        for bit in range(BITS):
            operand, place = int(rng.choice(uses)), np.uint32(1) << np.uint32(rng.integers(32))
            masks[case, operand] |= place
            chosen = (np.arange(1 << BITS) >> bit & 1).astype(bool)
            lanes[case, chosen, operand] |= place
            lanes[case, ~chosen, operand] &= ~place
    text = kernel("p x, p y", f"{DECLARED}\n{body};\nst.global.b32 [out], d;\nret;")
    machine, checker = Machine(text.replace(".version 8.0", ".version 8.2")), UnsetValues()
    x, y = machine.upload(lanes), machine.upload(np.zeros(CASES << BITS, np.uint32))
    every = np.repeat(masks[:, None, :], 1 << BITS, axis=1)
    checker.undefined(machine.arena, x.start, every.nbytes)[:] = every.ravel().view(np.uint8)
    machine.launch(CASES * (1 << BITS) // 256, 256, [x, y], observers=(checker,))
    found = checker.undefined(machine.arena, y.start, y.size).copy().view(np.uint32).reshape(CASES, -1)
    results = machine.download(y).reshape(CASES, -1)
    return found, np.bitwise_or.reduce(results ^ results[:, :1], axis=1)[:, None]


@pytest.mark.parametrize("body", split(EXACT))
def test_bits_that_are_moved_or_masked(body: str) -> None:
    found, true = both(body, 1, (0, 1) if " b" in body else (0,))
    assert (found == true).all()


@pytest.mark.parametrize("body", split(BOUNDED))
def test_no_bit_is_missed(body: str) -> None:
    found, true = both(body, 2, (0, 1, 2) if ", c" in body else (0, 1) if ", b" in body else (0,))
    assert not (true & ~found).any()


@pytest.mark.parametrize("test", "lt.s32 ge.s32 gt.u32 ls.u32 eq.s32 ne.b32 hi.u32 lt.and.s32 eq.or.u32".split())
def test_a_comparison_that_defined_bits_decide(test: str) -> None:
    """Both outcomes are possible, or the result is defined."""
    combined = ", p" if test.count(".") > 1 else ""
    found, true = both(f"setp.{test} q, a, b{combined}; selp.b32 d, 1, 0, q", 5, (0, 1))
    assert ((found != 0) == (true != 0)).all() and (true == 0).any()


@pytest.mark.parametrize("body", ["cvt.rn.f32.u8 d, a", "cvt.u16.u32 h, a; mul.wide.u16 d, h, h", "cvt.rn.f32.u16 d, h"])
def test_bits_above_a_narrow_operand(body: str) -> None:
    wide = "cvt.u16.u32 h, a; shl.b32 a, a, 8; and.b32 b, b, 255; or.b32 a, a, b; "
    assert not both((wide if "u8" in body else "and.b32 a, b, 255; cvt.u16.u32 h, a; ") + body, 6, (0,))[0].any()


def test_of_a_pair_each_half_has_its_own_operand() -> None:
    found, true = both("cvt.rn.f16x2.f32 d, a, b", 4, (0,))
    assert not (found & np.uint32(0xFFFF)).any() and not (true & ~found).any()


def test_a_sum_is_undefined_upwards_only() -> None:
    found, _ = both("add.u32 d, a, b", 3, (0,))
    lowest = found & (~found + np.uint32(1))
    assert (found == ~(lowest - np.uint32(1))).all() and (lowest != 1).any()
