"""Forms of PTX that are legal and rarely written by compilers; other tools' kernels have them."""

import numpy as np
import pytest

from .harness import Array, Machine, kernel

START = ".reg .u64 %in, %to; ld.param.u64 %in, [in]; ld.param.u64 %to, [to];"


def words(body: str, given: Array, count: int, before: str = "", threads: int = 1) -> list[int]:
    """What a kernel that reads `in` by %in leaves in the words at %to."""
    machine = Machine(kernel("p in, p to", f"{START} {body} ret;", before))
    out = machine.upload(np.zeros(count, np.uint32))
    machine.launch(1, threads, [machine.upload(given), out])
    return [int(x) for x in machine.download(out)]


ACCESSES = [
    ("ld.b32 %r1, [%in]; st.b32 [there+4], %r1; ld.b32 %r2, [there+4];", 7),
    ("ld.b32 %r1, [%in]; st.{space}.b32 [there+4], %r1; ld.relaxed.gpu.b32 %r2, [there+4];", 7),
    ("ld.b32 %r1, [%in]; st.b32 [there+8], %r1; red.add.u32 [there+8], 5; atom.add.u32 %r2, [there+8], 1;", 12),
    ("ld.b32 %r1, [%in]; st.b32 [there], %r1; atom.cas.b32 %r1, [there], 7, 9; ld.{space}.b32 %r2, [there];", 9),
]


@pytest.mark.parametrize("space", ["shared", "local", "global"])
@pytest.mark.parametrize("access", ACCESSES, ids=lambda a: a[0].split("; ")[-1])
def test_a_name_in_a_generic_access_is_its_generic_address(access: tuple[str, int], space: str) -> None:
    text, want = access
    body = f".reg .b32 %r<3>; {text} st.b32 [%to], %r2;".replace("{space}", space)
    where = f".{space} .align 8 .b32 there[4];"
    assert words(where + body if space != "global" else body, np.array([7], np.uint32), 1, where if space == "global" else "") == [want]


def test_a_name_in_mbarrier_without_a_state_space() -> None:
    body = """.shared .b64 there; .reg .b64 %s; .reg .pred %p; .reg .b32 %r; mbarrier.init.b64 [there], 1; mbarrier.arrive.b64 %s, [there];
    mbarrier.test_wait.b64 %p, [there], %s; selp.u32 %r, 1, 2, %p; st.u32 [%to], %r;"""
    assert words(body, np.zeros(1, np.uint32), 1) == [1]


def test_mov_of_whole_vectors() -> None:
    body = """.reg .v4 .u32 %q; .reg .v2 .f32 %f; .reg .u32 %r<5>; .reg .pred %p; ld.u32 %r1, [%in]; setp.eq.u32 %p, %r1, 7;
    mov.v4.u32 %q, {%r1, 2, 3, 4}; mov.v4.u32 {%r2, %r1, %r4, %r3}, %q; st.v4.u32 [%to], {%r1, %r2, %r3, %r4};
    mov.v2.u32 {%r1, %r2}, {%r2, %r1}; st.v2.u32 [%to+16], {%r1, %r2};
    mov.v2.f32 %f, {0f3f800000, 0f40000000}; @!%p mov.v2.f32 %f, {0f00000000, 0f00000000}; st.v2.f32 [%to+24], %f;"""
    assert words(body, np.array([7], np.uint32), 8) == [2, 7, 4, 3, 7, 2, 0x3F800000, 0x40000000]


@pytest.mark.parametrize("before", ["", "mov.u32 %r2, %r1;"])
@pytest.mark.parametrize("branch", ["", "@%q bra L;"])
def test_a_guarded_result_that_nobody_reads(branch: str, before: str) -> None:
    body = f""".reg .u32 %r<3>; .reg .pred %p, %q; mov.u32 %r1, %tid.x; {before} setp.lt.u32 %p, %r1, 3; setp.lt.u32 %q, %r1, 5;
    {branch} @%p mov.u32 %r2, 5; L: mov.u32 %r2, 7; st.u32 [%to], %r2;"""
    assert words(body, np.zeros(1, np.uint32), 1, threads=8) == [7]


def test_addresses_of_parameters_inside_a_function() -> None:
    before = """.func (.param .align 8 .b8 r[16]) sum (.param .align 4 .b8 a[12]) { .reg .u64 %p, %q; .reg .u32 %x, %y; mov.u64 %p, a;
    add.u64 %p, %p, 4; ld.param.u32 %x, [%p]; ld.param.u32 %y, [%p+4]; add.u32 %x, %x, %y; mov.u64 %q, r; st.param.u32 [%q+8], %x; ret; }"""
    body = """.param .align 4 .b8 a[12]; .param .align 8 .b8 r[16]; .reg .u32 %x; ld.u32 %x, [%in]; st.param.u32 [a+4], %x;
    ld.u32 %x, [%in+4]; st.param.u32 [a+8], %x; call (r), sum, (a); ld.param.u32 %x, [r+8]; st.u32 [%to], %x;"""
    assert words(body, np.array([5, 9], np.uint32), 1, before) == [14]


def test_vector_registers_as_parameters() -> None:
    before = """.func (.reg .v4 .f32 o) turned (.reg .u32 k, .reg .v4 .f32 i)
    { .reg .pred %p; mov.v4.f32 o, {i.w, i.z, i.y, i.x}; setp.eq.u32 %p, k, 1; @%p ret; neg.f32 o.x, o.x; ret; }"""
    body = """.reg .v4 .f32 %v; .reg .u32 %t; .reg .u64 %a; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 16, %to; ld.v4.f32 %v, [%in];
    call (%v), turned, (%t, %v); st.v4.f32 [%a], %v;"""
    got = words(body, np.array([1, 2, 3, 4], np.float32), 12, before, threads=3)
    assert np.array(got, np.uint32).view(np.float32).tolist() == [-4, 3, 2, 1, 4, 3, 2, 1, -4, 3, 2, 1]


def test_a_vector_register_as_one_value() -> None:
    body = """.reg .v2 .u32 %v, %w; .reg .u64 %d; .reg .v4 .u16 %h; ld.v2.u32 %v, [%in]; mov.b64 %d, %v; add.u64 %d, %d, 1; mov.b64 %w, %d;
    mov.b64 %h, %d; mov.b32 %v.x, {%h.w, %h.x}; st.v2.u32 [%to], %w; st.u32 [%to+8], %v.x;"""
    assert words(body, np.array([0xFFFFFFFF, 0x10002], np.uint32), 3) == [0, 0x10003, 1]


def test_a_register_and_a_constant_as_one_value() -> None:
    body = """.local .align 8 .b8 %l[8]; .reg .u64 %t; .reg .u32 %r, %s; .reg .u16 %h; ld.u64 %t, [%in]; st.u64 [%l], %t + 1; ld.u64 %t, [%l];
    cvt.u32.u64 %r, %t+16; mov.u32 %s, %r+-1; mul.lo.u32 %s, %s+1, %s+2; st.u32 [%to], %s; cvt.u16.u32 %h, %r+65536; st.u16 [%to+4], %h+2;
    mov.b64 %t, %to+8; st.u32 [%t], %r;"""
    assert words(body.replace("%l", "stack"), np.array([12], np.uint64), 3) == [29 * 30, 31, 29]


def test_lanes_that_call_different_functions_inside_a_branch() -> None:
    before = """.func (.reg .u32 r) one (.reg .u32 a) { add.u32 r, a, 1; ret; }
    .func (.reg .u32 r) two (.reg .u32 a) { add.u32 r, a, 2; ret; }"""
    body = """.reg .u32 %t, %x, %d<8>; .reg .u64 %f, %a; .reg .pred %p, %q; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 4, %to; mov.u32 %x, %t;
    setp.lt.u32 %p, %t, 4; and.b32 %t, %t, 1; setp.eq.u32 %q, %t, 0; @%p bra J; {dead}
    mov.u64 %f, one; @%q mov.u64 %f, two; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); call (%x), %f, (%x), P; J: st.u32 [%a], %x;"""
    dead = "".join(f"add.u32 %d{n}, %x, {n};" for n in range(8)) + "".join(f"xor.b32 %x, %x, %d{n};" for n in range(8))  # dead at the call
    got = words(body.replace("{dead}", dead), np.zeros(1, np.uint32), 8, before, threads=8)
    sums = [t ^ t ^ (t + 1) ^ (t + 2) ^ (t + 3) ^ (t + 4) ^ (t + 5) ^ (t + 6) ^ (t + 7) for t in range(8)]
    assert got == [t if t < 4 else sums[t] + (1 if t & 1 else 2) for t in range(8)]


def test_a_kernel_of_the_first_years() -> None:
    text = """.version 1.3
    .target sm_13
    .entry k
    {
      .param .u64 out; .param .f32 x;
      .reg .u64 %a; .reg .f32 %f<8>; .reg .f64 %d<4>;
      ld.param.u64 %a, [out]; ld.param.f32 %f1, [x];
      rcp.f32 %f2, %f1; sqrt.f32 %f3, %f1; div.f32 %f4, %f2, %f1; ex2.f32 %f5, %f1;
      st.global.f32 [%a], %f2; st.global.f32 [%a+4], %f3; st.global.f32 [%a+8], %f4; st.global.f32 [%a+12], %f5;
      cvt.f64.f32 %d1, %f1; mad.f64 %d2, %d1, %d1, %d1; st.global.f64 [%a+16], %d2;
      exit;
    }"""
    machine = Machine(text, "sm_13")
    out = machine.upload(np.zeros(6, np.float32))
    machine.launch(1, 1, [out, np.float32(4)])
    assert machine.download(out, np.float32)[:4].tolist() == [0.25, 2, 0.0625, 16]
    assert machine.download(out, np.float64)[2] == 20
