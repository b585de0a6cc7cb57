"""What is a use of an unset value and what is none: one small kernel each, in every place where such values can lie or travel."""

from collections.abc import Sequence

import numpy as np
import pytest

from tests.interpreter.harness import Machine, kernel
from warplab.interpreter.checkers.initcheck.values import UnsetValues

HEAD = """.reg .b32 %r<10>; .reg .b64 %d<10>; .reg .pred %p<4>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .b128 %q;
ld.param.u64 %d1, [unset]; ld.param.u64 %d2, [set]; ld.param.u64 %d3, [out]; mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 4;
add.u64 %d1, %d1, %d4; add.u64 %d2, %d2, %d4; add.u64 %d3, %d3, %d4; setp.lt.u32 %p1, %r1, 8;"""
SHARED = ".shared .align 16 .b8 s[1024];"
FUNCTIONS = """
.func (.param .b32 r) by_memory(.param .b32 a) { .reg .b32 %r<2>; ld.param.b32 %r1, [a]; st.param.b32 [r], %r1; ret; }
.func (.reg .b32 %r1) by_register(.reg .b32 %r0) { add.u32 %r1, %r0, 1; ret; }"""
STORE = "st.global.u32 [%d3], %r2;"

# name: (the kernel's body, where the uses are said to be: ".space" of the origin, one for each finding)
USES = {
    "a sum that is stored": (f"ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; {STORE}", ["global"]),
    "a sum by a generic address": ("ld.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.u32 [%d3], %r2;", ["global"]),
    "the defined byte of a sum": ("cvt.u16.u32 %h1, %r1; st.shared.u8 [s], %h1; ld.shared.u32 %r2, [s]; add.u32 %r2, %r2, 1; st.global.u8 [%d3], %r2;", []),
    "an undefined byte of a sum": ("ld.shared.u32 %r2, [s]; add.u32 %r2, %r2, 1; st.global.u8 [%d3], %r2;", ["shared"]),
    "a sign that is set": (
        f"cvt.u16.u32 %h1, %r1; st.shared.u8 [s+3], %h1; ld.shared.u32 %r2, [s]; setp.lt.s32 %p2, %r2, 0; @%p2 {STORE}", []),
    "halves of which one is set": (
        f"cvt.u16.u32 %h1, %r1; mov.b32 %r2, {{%h1, %h3}}; setp.lt.f16x2 %p2|%p3, %r2, %r2; @%p2 {STORE}", []),
    "the half that is not set": (
        f"cvt.u16.u32 %h1, %r1; mov.b32 %r2, {{%h1, %h3}}; setp.lt.f16x2 %p2|%p3, %r2, %r2; @%p3 {STORE}", ["register"]),
    "the size of an asynchronous copy": (
        "mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 4, %r3; and.b32 %r2, %r9, 3; cp.async.ca.shared.global [%r3], [%d2], 4, %r2; cp.async.wait_all;",
        ["register"]),
    "a copy": (f"ld.global.u32 %r2, [%d1]; {STORE}", []),
    "a copy of a register": (f"mov.b32 %r2, %r9; {STORE}", []),
    "a sum with a register": (f"add.u32 %r2, %r9, %r1; {STORE}", ["register"]),
    "half of a register": (f"mov.b32 {{%h1, %h2}}, %r9; mov.b32 %r2, {{%h1, %h2}}; {STORE}", []),
    "a product with 2 that is a shift": (f"ld.global.u32 %r2, [%d1]; shl.b32 %r2, %r2, 1; {STORE}", ["global"]),
    "half of it": (f"ld.global.u32 %r2, [%d1]; shr.s32 %r2, %r2, 1; {STORE}", ["global"]),
    "a rotation": (f"ld.global.u32 %r2, [%d1]; shf.l.wrap.b32 %r2, %r2, %r2, 7; {STORE}", ["global"]),
    "a shift by what a register holds": (f"ld.global.u32 %r2, [%d1]; mov.u32 %r3, 3; shl.b32 %r2, %r2, %r3; {STORE}", ["global"]),
    "bytes that are put together": (
        f"ld.global.u8 %r2, [%d1]; ld.global.u8 %r3, [%d1+1]; shl.b32 %r3, %r3, 8; or.b32 %r2, %r2, %r3; {STORE}", []),
    "a word at an odd place": (
        f"ld.global.u32 %r2, [%d1]; ld.global.u32 %r3, [%d1]; shf.r.wrap.b32 %r2, %r2, %r3, 8; {STORE}", []),
    "a shift that leaves set bits": (
        f"ld.shared.u32 %r2, [s]; cvt.u16.u32 %h1, %r1; st.shared.u8 [s], %h1; ld.shared.u32 %r2, [s]; shl.b32 %r2, %r2, 25; {STORE}", []),
    "a sum that nobody stores": ("ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1;", []),
    "a sum in shared memory": ("ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; st.shared.u32 [s], %r2;", []),
    "a branch": (f"ld.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0; @%p2 bra L; mov.u32 %r2, 1; {STORE} L:", ["global"]),
    "a guard": ("ld.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0; @%p2 st.global.u32 [%d3], %r1;", ["global"]),
    "a guard of lanes whose value is set": (
        f"mov.u32 %r2, 0; @%p1 ld.global.u32 %r2, [%d2]; setp.eq.u32 %p2, %r2, 0; @%p2 {STORE}", []),
    "an address": ("ld.global.u32 %r2, [%d1]; and.b32 %r2, %r2, 4; cvt.u64.u32 %d5, %r2; add.u64 %d5, %d5, %d2; ld.global.u32 %r3, [%d5];",
                   ["global"]),
    "an address in shared memory": ("and.b32 %r2, %r9, 4; mov.u32 %r3, s; add.u32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1;", ["register"]),
    "an atomic operation": ("ld.global.u32 %r2, [%d1]; atom.global.add.u32 %r3, [%d2], %r2;", ["global"]),
    "a reduction": ("ld.global.u32 %r2, [%d1]; red.global.max.u32 [%d2], %r2;", ["global"]),
    "an atomic operation on unset memory": ("atom.shared.inc.u32 %r2, [s], 7;", ["shared"]),
    "an exchange with unset memory": ("atom.shared.exch.b32 %r2, [s], %r1;", []),
    "what an exchange returned": (f"mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 4, %r3; atom.shared.exch.b32 %r2, [%r3], %r1; add.u32 %r2, %r2, 1; {STORE}", ["shared"]),
    "what an exchange left": ("atom.shared.exch.b32 %r2, [s], %r9; bar.sync 0; ld.shared.u32 %r2, [s]; add.u32 %r2, %r2, 1; " + STORE, ["register"]),
    "compare and swap": ("mov.u32 %r2, 0; st.shared.u32 [s], %r2; atom.shared.cas.b32 %r3, [s], %r9, 1;", ["register"]),
    "shared memory": (f"ld.shared.u32 %r2, [s+16]; add.u32 %r2, %r2, 1; {STORE}", ["shared"]),
    "shared memory by a generic address": (
        f"mov.u64 %d5, s; cvta.shared.u64 %d5, %d5; ld.u32 %r2, [%d5]; add.u32 %r2, %r2, 1; {STORE}", ["shared"]),
    "a copy of shared memory": (f"ld.shared.u32 %r2, [s+16]; {STORE}", ["shared"]),
    "a copy of shared memory by a generic address": (
        f"mov.u64 %d5, s; cvta.shared.u64 %d5, %d5; ld.u32 %r2, [%d5+16]; {STORE}", ["shared"]),
    "a copy of shared memory that goes elsewhere": ("ld.shared.u32 %r2, [s+16]; st.shared.u32 [s], %r2;", []),
    "a copy of shared memory that goes elsewhere first": (
        f"ld.shared.u32 %r2, [s+16]; st.shared.u32 [s+64], %r2; ld.shared.u32 %r2, [s+64]; {STORE}", ["shared"]),
    "a copy of a record with padding": (
        "st.shared.u64 [s], %d1; st.shared.u32 [s+8], %r1; ld.shared.u32 %r2, [s+12]; st.global.u32 [%d3], %r2;"
        "ld.shared.v4.b32 {%r2, %r3, %r4, %r5}, [s]; mov.u64 %d5, s; cvta.shared.u64 %d5, %d5; ld.u32 %r2, [%d5+12];" + STORE, []),
    "half of a copy": (f"cvt.u16.u32 %h1, %r1; st.shared.u16 [s+16], %h1; ld.shared.u32 %r2, [s+16]; {STORE}", []),
    "shared memory that was written": (f"st.shared.u32 [s], %r1; ld.shared.u32 %r2, [s]; add.u32 %r2, %r2, 1; {STORE}", []),
    "half of a word": (f"cvt.u16.u32 %h1, %r1; st.shared.u16 [s], %h1; ld.shared.u32 %r2, [s]; mul.lo.u32 %r2, %r2, 3; {STORE}", ["shared"]),
    "the half that was written": (
        f"cvt.u16.u32 %h1, %r1; st.shared.u16 [s], %h1; ld.shared.u32 %r2, [s]; and.b32 %r2, %r2, 0xffff; mul.lo.u32 %r2, %r2, 3; {STORE}", []),
    "stored in shared memory and loaded again": (
        f"ld.global.u32 %r2, [%d1]; st.shared.u32 [s], %r2; ld.shared.u32 %r2, [s]; add.u32 %r2, %r2, 1; {STORE}", ["global"]),
    "vectors": ("mov.u64 %d5, s; ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [s]; st.shared.v2.u32 [s+16], {%r2, %r3}; ld.shared.u32 %r6, [s+20];"
                " add.u32 %r2, %r6, 1; " + STORE, ["shared"]),
    "128 bits": ("ld.shared.b128 %q, [s]; st.shared.b128 [s+16], %q; ld.shared.u32 %r2, [s+28]; add.u32 %r2, %r2, 1; " + STORE, ["shared"]),
    "a shuffle": (f"ld.global.u32 %r2, [%d1]; shfl.sync.bfly.b32 %r2, %r2, 1, 31, -1; {STORE}", []),
    "a sum of shuffled values": (
        f"mov.u32 %r2, 0; setp.eq.u32 %p2, %r1, 5; @%p2 ld.global.u32 %r2, [%d1]; shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; add.u32 %r2, %r3, 1; {STORE}",
        ["global"]),
    "a comparison that a predicate decides": (
        "mov.b32 %r2, %r9; @%p1 mov.b32 %r2, %r1; setp.eq.and.u32 %p2, %r2, 3, %p1; @%p2 bra L; L:", []),
    "a comparison that a predicate does not decide": (
        "mov.b32 %r2, %r9; @%p1 mov.b32 %r2, %r1; setp.eq.or.u32 %p2, %r2, 3, %p1; @%p2 bra L; L:", ["register"]),
    "a ballot whose unset bits are masked away": (
        "setp.eq.u32 %p2, %r9, 0; @%p1 setp.ne.u32 %p2, %r1, 0; vote.sync.ballot.b32 %r2, %p2, -1; and.b32 %r2, %r2, 255; add.u32 %r2, %r2, 1;"
        f" {STORE}", []),
    "a vote that a set predicate decides": (
        "setp.eq.u32 %p2, %r9, 0; @%p1 setp.eq.u32 %p2, %r1, 0; vote.sync.any.pred %p3, %p2, -1; @%p3 bra L; L:", []),
    "a vote": ("ld.global.u32 %r2, [%d1]; setp.eq.u32 %p2, %r2, 0; vote.sync.any.pred %p3, %p2, -1; @%p3 bra L; L:", ["global"]),
    "a reduction of a warp": (f"ld.global.u32 %r2, [%d1]; redux.sync.add.u32 %r2, %r2, -1; {STORE}", ["global"]),
    "a select that takes it not": (f"ld.global.u32 %r2, [%d1]; add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r1, 99; selp.b32 %r2, 5, %r2, %p2; {STORE}", []),
    "an undefined selector": (f"setp.eq.u32 %p2, %r9, 0; selp.b32 %r2, 5, 6, %p2; {STORE}", ["register"]),
    "an asynchronous copy": (
        "mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 4, %r3; cp.async.ca.shared.global [%r3], [%d1], 4; cp.async.wait_all; ld.shared.u32 %r2, [%r3];"
        f" add.u32 %r2, %r2, 1; {STORE}", ["global"]),
    "an asynchronous copy of what is set": (
        "mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 4, %r3; cp.async.ca.shared.global [%r3], [%d2], 4; cp.async.wait_all; ld.shared.u32 %r2, [%r3];"
        f" add.u32 %r2, %r2, 1; {STORE}", []),
    "asynchronous copies whose end is the only arrival": (
        "mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [%r3+512], 32; bar.sync 0;"
        " cp.async.ca.shared.global [%r4], [%d1], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%r3+512];"
        " W: mbarrier.try_wait.parity.shared.b64 %p3, [%r3+512], 0; @!%p3 bra W; ld.shared.u32 %r2, [%r4]; add.u32 %r2, %r2, 1; " + STORE, ["global"]),
    "matrices": ("mov.u32 %r3, s; mad.lo.u32 %r3, %r1, 16, %r3; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r3]; add.u32 %r2, %r2, 1;"
                 f" {STORE}", ["shared"]),
    "an argument in memory": (
        "ld.global.u32 %r2, [%d1]; { .param .b32 a; .param .b32 r; st.param.b32 [a], %r2; call (r), by_memory, (a); ld.param.b32 %r2, [r]; }"
        f" {STORE} add.u32 %r2, %r2, 1; {STORE}", ["global"]),
    "an argument in a register": (f"ld.global.u32 %r2, [%d1]; call (%r2), by_register, (%r2); {STORE}", ["global"]),
    "an argument that is set": (f"ld.global.u32 %r2, [%d2]; call (%r2), by_register, (%r2); {STORE}", []),
    "a value written on one way only": (f"@%p1 bra L; mov.u32 %r9, 1; L: add.u32 %r2, %r9, 1; {STORE}", ["register"]),
    "a value written on all ways": (f"@%p1 bra L; mov.u32 %r8, 1; bra M; L: mov.u32 %r8, 2; M: add.u32 %r2, %r8, 1; {STORE}", []),
    "a carry": (f"add.cc.u32 %r2, %r9, 1; addc.u32 %r2, %r1, 0; {STORE}", ["register"]),
    "an indirect branch": ("ld.shared.u32 %r2, [s]; t: .branchtargets L, M; brx.idx %r2, t; L: mov.u32 %r3, 1; M:", ["shared"]),
    "a result of the device runtime": (
        f"{{ .param .b64 a; .param .b64 r; st.param.b64 [a], 16; call (r), malloc, (a); ld.param.b64 %d5, [r]; }} cvt.u32.u64 %r2, %d5; {STORE}"
        " add.u32 %r2, %r2, 1; " + STORE, []),
    "memory of the heap": (
        "{ .param .b64 a; .param .b64 r; st.param.b64 [a], 16; call (r), malloc, (a); ld.param.b64 %d5, [r]; } ld.u32 %r2, [%d5];"
        f" st.u32 [%d5+4], %r1; ld.u32 %r3, [%d5+4]; add.u32 %r3, %r3, 1; st.global.u32 [%d3], %r3; add.u32 %r2, %r2, 1; {STORE}", ["global"]),
    "a reduction by a bulk copy": (
        "add.u32 %r2, %r9, 1; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], %r2; bar.sync 0; setp.eq.u32 %p2, %r1, 0;"
        " @%p2 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%d3], [%r3], 128;", ["register"]),
    "a stack that a call has used": (
        "{ .param .b32 a; .param .b32 r; st.param.b32 [a], 5; call (r), by_memory, (a); ld.param.b32 %r2, [r]; } alloca.u64 %d5, 64, 16;"
        f" ld.local.u32 %r2, [%d5]; add.u32 %r2, %r2, 1; {STORE}", ["local"]),
    "a bulk copy of what is set": (
        "mov.u64 %d5, s; mov.u32 %r3, s; mov.u32 %r4, s; add.u32 %r4, %r4, 512; setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [%r4], 1; bar.sync 0;"
        " @!%p2 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d2], 128, [%r4];"
        " W: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; @!%p3 bra W; mad.lo.u32 %r3, %r1, 4, %r3; ld.shared.u32 %r2, [%r3];"
        f" add.u32 %r2, %r2, 1; {STORE}", []),
    "a bulk copy of what is unset": (
        "mov.u64 %d5, s; mov.u32 %r3, s; mov.u32 %r4, s; add.u32 %r4, %r4, 512; setp.eq.u32 %p2, %r1, 0; @%p2 mbarrier.init.shared.b64 [%r4], 1; bar.sync 0;"
        " @!%p2 bra W; mbarrier.arrive.expect_tx.shared.b64 _, [%r4], 128;"
        " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], 128, [%r4];"
        " W: mbarrier.try_wait.parity.shared.b64 %p3, [%r4], 0; @!%p3 bra W; mad.lo.u32 %r3, %r1, 4, %r3; ld.shared.u32 %r2, [%r3];"
        f" add.u32 %r2, %r2, 1; {STORE}", ["global"]),
    "shared memory of the cluster": (
        f"mov.u32 %r3, s; mapa.shared::cluster.u32 %r3, %r3, 0; ld.shared::cluster.u32 %r2, [%r3+8]; add.u32 %r2, %r2, 1; {STORE}", ["shared"]),
    "shared memory of the cluster that was written": (
        "mov.u32 %r3, s; mapa.shared::cluster.u32 %r3, %r3, 0; st.shared::cluster.u32 [%r3+8], %r1; ld.shared::cluster.u32 %r2, [%r3+8];"
        f" add.u32 %r2, %r2, 1; {STORE}", []),
    "a bulk copy to global memory": (
        "add.u32 %r2, %r9, 1; mov.u32 %r3, s; mad.lo.u32 %r4, %r1, 4, %r3; st.shared.u32 [%r4], %r2; bar.sync 0; setp.eq.u32 %p2, %r1, 0;"
        " @%p2 cp.async.bulk.global.shared::cta.bulk_group [%d3], [%r3], 128;", ["register"]),
}  # fmt: skip


def uses(body: str, **options: object) -> Sequence[str]:
    """The spaces that the findings name."""
    malloc = ".extern .func (.param .b64 r) malloc(.param .b64 a);" if "malloc" in body else ""
    text = kernel("p unset, p set, p out", f"{HEAD}\n{body}\nret;", f"{SHARED}{malloc}{FUNCTIONS}").replace(".version 8.0", ".version 8.3")
    machine, checker = Machine(text), UnsetValues()
    x, y, z = (machine.upload(np.zeros(64, np.uint32)) for _ in range(3))
    checker.unset(machine.arena, x.start, x.size)
    machine.launch(1, 32, [x, y, z], observers=(checker,), **options)
    return [u.origin.space for u in checker.uses.found.values()]


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("options", [{}, {"schedule": 1, "poison": 1}], ids=["default", "another order, poisoned"])
def test_uses(name: str, options: dict[str, int]) -> None:
    body, wanted = USES[name]
    assert sorted(set(uses(body, **options))) == sorted(set(wanted))


MMA = """.reg .b32 %a<4>; .reg .b32 %b<2>; .reg .f32 %c<4>; .reg .b32 %r<5>; .reg .b64 %d<3>; .reg .pred %p;
ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; shr.u32 %r2, %r1, 2; mul.wide.u32 %d2, %r1, 16; add.u64 %d1, %d1, %d2;
mov.f32 %c0, 0f00000000; mov.f32 %c1, %c0; mov.f32 %c2, %c0; mov.f32 %c3, %c0;
mov.b32 %b0, 0x3c003c00; mov.b32 %b1, %b0; mov.b32 %a1, %b0; mov.b32 %a3, %b0;
setp.lt.u32 %p, %r2, 5; @%p mov.b32 %a0, %b0; @%p mov.b32 %a2, %b0;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%c0, %c1, %c2, %c3};
"""


def test_a_row_of_a_matrix_that_nobody_set_is_undefined_in_the_product() -> None:
    """Rows 5 to 7 of a."""
    machine, checker = Machine(kernel("p out", MMA + "st.global.v4.f32 [%d1], {%c0, %c1, %c2, %c3}; ret;")), UnsetValues()
    out = machine.upload(np.zeros(128, np.float32))
    machine.launch(1, 32, [out], observers=(checker,))
    marked = checker.undefined(machine.arena, out.start, out.size).view(np.uint32).reshape(8, 4, 4)  # row, lane, register
    assert (marked[5:, :, :2] != 0).all() and not marked[:5].any() and not marked[:, :, 2:].any()
    assert {u.origin.register for u in checker.uses.found.values()} <= {"%a0", "%a2"}


def test_rows_of_a_product_that_nobody_stores() -> None:
    machine, checker = (
        Machine(kernel("p out", MMA + "@%p st.global.v2.f32 [%d1], {%c0, %c1}; st.global.f32 [%d1+8], %c2; ret;")),
        UnsetValues(),
    )
    machine.launch(1, 32, [machine.upload(np.zeros(128, np.float32))], observers=(checker,))
    assert not checker.uses.found


def test_a_use_names_the_first_thread_and_how_many() -> None:
    text = kernel("p x", """.reg .b32 %r<4>; .reg .b64 %d<3>; ld.param.u64 %d1, [x]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4;
        add.u64 %d1, %d1, %d2;
        ld.global.u32 %r2, [%d1];
        add.u32 %r2, %r2, %r1;
        st.global.u32 [%d1], %r2; ret;""")  # fmt: skip
    machine, checker = Machine(text), UnsetValues()
    x = machine.upload(np.zeros(64, np.uint32))
    checker.unset(machine.arena, x.start + 80, 100)
    machine.launch(1, 64, [x], observers=(checker,))
    (use,) = checker.uses.found.values()
    assert use.thread == (20, 0, 0) and use.block == (0, 0, 0) and use.count == 25
    assert use.origin.site is not None and use.site.instruction.opcode == "st" and use.origin.site.instruction.opcode == "ld"
    assert use.text == "a result that depends on unset global memory goes to global memory"
    assert use.origin.nearby.startswith("80 bytes into the 256-byte allocation")
    assert use.origin.address == x.start + 80 and use.origin.size == 4


def test_memory_stays_unset_from_launch_to_launch() -> None:
    text = kernel("p x, p y", """.reg .b32 %r<4>; .reg .b64 %d<3>; ld.param.u64 %d1, [x]; ld.param.u64 %d2, [y];
        ld.global.u32 %r1, [%d1]; st.global.u32 [%d2], %r1; ret;""")  # fmt: skip
    machine, checker = Machine(text), UnsetValues()
    x, y, z = (machine.upload(np.zeros(1, np.uint32)) for _ in range(3))
    checker.unset(machine.arena, x.start, 4)
    machine.launch(1, 1, [x, y], observers=(checker,))
    machine.launch(1, 1, [y, z], observers=(checker,))
    assert not checker.uses.found and checker.undefined(machine.arena, z.start, 4).all()
    checker.set(machine.arena, x.start, 4)
    machine.launch(1, 1, [x, z], observers=(checker,))
    assert not checker.undefined(machine.arena, z.start, 4).any()


def test_kernels_that_share_a_function_have_their_own_shared_memory() -> None:
    text = kernel("p out", """.reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u64 %d1, [out]; mov.u32 %r1, 7; st.shared.u32 [t], %r1; bar.sync 0;
        call (%r1), first, (%r1); st.global.u32 [%d1], %r1; ret; }
        .visible .entry other(.param .u64 out) { .reg .b32 %r<3>; .reg .b64 %d<2>; ld.param.u64 %d1, [out]; mov.u32 %r1, 5; st.shared.u32 [u+4], %r1;
        st.shared.u32 [t], %r1; call (%r1), first, (%r1); st.global.u32 [%d1], %r1; ret;""",
        ".shared .align 4 .b8 u[64]; .shared .align 4 .b8 t[16]; .func (.reg .b32 %r1) first(.reg .b32 %r0)"
        " { .reg .b32 %r2; ld.shared.u32 %r2, [t]; add.u32 %r1, %r2, %r0; ret; }")  # fmt: skip
    machine, checker = Machine(text), UnsetValues()
    out = machine.upload(np.zeros(1, np.uint32))
    for name, wanted in (("test", 14), ("other", 10)):
        machine.launch(1, 1, [out], observers=(checker,), name=name)
        assert machine.download(out)[0] == wanted
    assert not checker.uses.found
