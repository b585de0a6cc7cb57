"""What the help of an error proposes, for mistakes that beginners make."""

import pytest

from warplab.assembler import check
from warplab.isa import foreign
from warplab.isa.notation import FORMS

HEAD = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 Data, .param .u32 n)
{
  .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .pred %p<3>; .reg .f32 %f<2>; .reg .b16 %h; .shared .u16 buf[4];
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
        ("atom.global.cas.s32 %r1, [%rd1], %r2, %r3;", "write atom.global.cas.b32"),
        ("red.global.add.b32 [%rd1], %r2;", "write red.global.add.u32 or red.global.add.s32 or red.global.add.f32"),
        ("div.f32 %f1, %f0, %f1;", ".rn or .approx or .full is missing"),
        ("sin.f32 %f1, %f0;", ".approx is missing"),
        ("or.b32 %p1, %p2, %p1;", "write or.pred for predicates"),
        ("shl.u32 %r1, %r2, 3;", "write shl.b32"),
        ("setp.lt.b32 %p1, %r1, %r2;", "write setp.lt.u32 or setp.lt.s32"),
        ("mov.u16 %h, [buf];", "ld.shared.b16 reads it into a register"),
        ("add.u32 %r1, %r1, n;", "ld.param its value into a register first"),
        ("add.f32 %f1, %f0, 0x3f800000;", "write 0f3F800000"),
        ("MOV.U32 %r1, %r2;", "lower case: mov.u32"),
        ("mov.U32 %r1, %r2;", "is .u32 meant?"),
        ("tid.x;", "%tid.x is a special register"),
        ("atomicMax(%r1, %r2);", "atomicMax is atom.global.max.s32 in PTX"),
        ("atomicMax %r1, x;", "atomicMax is atom.global.max.s32 in PTX"),
        ("__syncthreads();", "__syncthreads is bar.sync 0 in PTX"),
        ("mov.u32 %r1, threadIdx.x;", "threadIdx.x is %tid.x in PTX"),
        ("mov.u32 %r1, warpSize;", "warpSize is WARP_SZ in PTX"),
        ("IADD3 %r1, %r2, %r3;", "IADD3 is add.s32"),
        ("int x;", "declared as .reg .s32 %x;"),
        ("unsigned int x;", "declared as .reg .u32 %x;"),
        (".reg int x;", "the type int is .s32 in PTX"),
        ("if (%r1 < 3) bra L; L:", "@%p1 bra LABEL;"),
    ],
)
def test_help(statement: str, hint: str) -> None:
    (found,) = (d for d in check(HEAD + statement + " ret; }") if d.severity == "error")
    assert hint in found.help


@pytest.mark.parametrize(
    ("target", "help"),
    [("sm_8", "there are sm_80, sm_82"), ("sm_90b", "is sm_90 meant?"), ("sm80", "is sm_80 meant?"), ("90", "is sm_90 meant?")],
)
def test_a_wrong_target_is_one_error(target: str, help: str) -> None:
    text = HEAD.replace("sm_80", target) + "atom.global.add.u32 %r1, [%rd1], 1; shfl.sync.down.b32 %r1, %r2, 1, 31, -1; ret; }"
    (found,) = (d for d in check(text) if d.severity == "error")
    assert found.code == "unknown-target" and help in found.help


def test_the_table_of_foreign_words_names_instructions_that_exist() -> None:
    forms = [
        said for said in (*foreign.NAMES.values(), *foreign.OPCODES.values()) if "." in said and " " not in said and said[0] not in ".%"
    ]
    assert len(forms) > 60
    for said in forms:
        opcode, *words = said.split(".")
        spelt = any(form.match(words) is not None for form in FORMS[opcode]) or opcode in ("ld", "st", "atom")  # these lack their type
        assert spelt or any(word in slot.words for word in words for form in FORMS[opcode] for slot in form.slots), said


def test_the_address_of_a_parameter_is_seldom_meant() -> None:
    codes = [d.code for d in check(HEAD + "mov.u32 %r1, n; ret; }", warnings=("parameter-address",))]
    assert codes == ["parameter-address"]
    used = "mov.u64 %rd1, Data; cvta.param.u64 %rd2, %rd1; ret; }"
    assert check(HEAD + used, warnings=("parameter-address",)) == []
