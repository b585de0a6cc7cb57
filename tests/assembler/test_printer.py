"""parse(print(m)) equals m, and the comparison tells modules apart."""

from __future__ import annotations

import pytest

from tests.assembler.comparison import equal, fingerprint
from tests.assembler.test_fuzz import SEED
from warplab.assembler import parse
from warplab.assembler.printer import print_module

HEADER = ".version 8.3\n.target sm_90, texmode_independent\n.address_size 64\n"
EVERYTHING = [
    '.file 1 "a b.cu", 5, 6\n.section .debug_str { L:\n.b8 1,2\n.b32 L+4 }\n.pragma "nounroll", "x";',
    ".global .texref t = { addr_mode_0 = wrap, filter_mode = nearest }; .global .samplerref s; .const .align 16 .b8 "
    "x[2][3] = {{1}, {2, 3}}, y = 5;",
    ".global .f64 d[3] = {1.5, 0d7FF0000000000001, -0.0}; .global .f32 f[4] = {0f7FFFFFFF, 1e40, .1, 0fFF800000}; .weak "
    ".global .v2 .u32 v = {1, 2};",
    ".func h(); .global .u64 q; .global .u64 p[4] = {h, generic(q), q+-8, 0}; .global .u8 m[2] = {0xff(p), "
    "0xff00(generic(p)+4)};\n.func h() { ret; }",
    ".func b() { ret; } .func a(); .alias a, b; .extern .shared .align 8 .b8 dyn[]; .common .global .u32 c; .global "
    ".attribute(.managed) .u32 g;",
    """.entry f(.param .u64 .ptr .shared .align 16 a, .param .align 8 .b8 s[16], .param .u64 .ptr q) .reqntid 1, 2, 3
    .pragma "z"; .maxnreg 32 {
    .reg .b32 %r<9>, x; .reg .v4 .f32 %v; .reg .pred %p, %q; .reg .b128 %w; .param .b32 y; .local .align 4 .b8 z[4]; .shared .u32 n<3>;
    p: .callprototype (.param .b32 _) _ (.param .b32 _, .reg .b32 k) .noreturn; c: .calltargets f; .reg .b64 %rd<3>;
    { L: bra L; { .reg .b32 x; mov.u32 x, 1; bra L; bra M; } } M: ts: .branchtargets L, M; L: brx.idx x, ts;
    .loc 1 2 3, function_name N+4, inlined_at 1 5 6
    @!%p bra L; call (x), %rd1, (x, 5), p; call f; call.uni %rd1, (), c; mov.u32 x, %tid.x; mov.u32 x, %laneid; mov.f32 %v.x, 0f3F800000;
    setp.eq.u32 %p|_, x, 1+2*3; ld.global.v4.f32 {%v.x, _, %v.z, %v.w}, [%rd1+-4]; ld.local.u32 x, [4+4]; mov.u64 %rd1, z+4;
    ld.param.u32 x, [y];
    and.pred %p, %q, !%p; vadd.u32.u32.u32 x, %r1.b0, %r2.h10; vmad.s32.s32.s32 x, -%r1.h1, %r2, %r3;
    tex.2d.v4.f32.s32 {x, x, x, x}, [t, s, {x, x}];
    mov.f64 %rd2, -1.5; mov.u64 %rd2, -9223372036854775808; mov.u64 %rd2, 0xFFFFFFFFFFFFFFFF; mov.u32 x, WARP_SZ; mov.u32 x, n1; ret; }
    .global .texref t; .global .samplerref s;""".replace("tex.2d.v4.f32.s32 {x, x, x, x}, [t, s, {x, x}];", ""),
]


@pytest.mark.parametrize("text", [SEED, *(HEADER + t for t in EVERYTHING)])
def test_round_trip(text: str) -> None:
    module = parse(text)
    printed = print_module(module)
    again = parse(printed)
    assert fingerprint(again) == fingerprint(module)
    assert print_module(again) == printed


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("%r1, %tid.x", "%r2, %tid.x"), ("0x7f", "0x7e"), ("$L_1;\n    {", "$L_2;\n    {"), (".maxntid 256", ".maxntid 128"), ("+-4", "+4"),
        ("@!%p1", "@%p1"), ("nounroll", "unroll"), (".loc 1 2 3", ".loc 1 2 4"), ("[tab+4]", "[p+4]"), (" .noreturn", ""), ("3F8", "3F7"),
        ("{ .reg .b16 lo, hi; mov", ".reg .b16 lo, hi; { mov"), (".reg .v4 .f32 %v;", ".reg .v4 .f32 %v; .reg .b64 unused;"),
    ],
)  # fmt: skip
def test_differences_show(old: str, new: str) -> None:
    text = SEED.replace("$L_1:\n", "$L_2:\n$L_1:\n")
    other = text.replace(old, new, 1)
    assert other != text
    assert not equal(parse(text), parse(other))
    assert equal(parse(text), parse(text.replace("\n", " \n\n").replace("add.", "add .")))
