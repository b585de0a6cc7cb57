"""What the help of an error proposes, for mistakes that beginners make."""

import pytest

from warplab.assembler import check

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 Data, .param .u32 n)
{
  .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p<3>; .reg .f32 %f<2>;
"""


@pytest.mark.parametrize(
    ("statement", "hint"),
    [
        ("ld.param.u64 %rd1, [data];", "is Data meant?"),
        ("mov.u32 %r1, r2;", "is %r2 meant?"),
        ("mov.u32 %r1, %tidx;", "is %tid.x meant?"),
        ("mov.u32 %r1, %r7;", "%r<4> declares %r0 to %r3"),
        ("@p1 bra L; L:", "is %p1 meant?"),
        ("mul.u32 %rd1, %r1, 4;", ".wide is missing: the result has 64 bits"),
        ("mul.u32 %r2, %r1, 4;", ".lo is missing (.hi gives the high half, .wide the whole product)"),
        ("mad.s32 %rd1, %r1, 4, %rd2;", ".wide is missing"),
        ("mul.lo.u32 %rd1, %r1, 4;", "mul.wide.u32 gives the whole product of 64 bits"),
        ("mad.lo.s32 %rd1, %r1, 4, %r2;", "mad.wide.s32 gives the whole product of 64 bits"),
        ("mov.f32 %f1, 0.25f;", "a constant has no suffix: write 0.25"),
        ("mov.f32 %f1, 1/4;", "1.0/4.0"),
        ("ld.global.u32 %r1, [%r2];", "say .shared"),
    ],
)
def test_help(statement: str, hint: str) -> None:
    (found,) = (d for d in check(HEAD + statement + " ret; }") if d.severity == "error")
    assert hint in found.help
