"""Bodies in which names hide each other, blocks and labels stand in odd places, or lines hold more than one statement."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.garbage import left_in_circles
from warplab.assembler import check, parse
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.parse import parse_all
from warplab.assembler.verify import verify
from warplab.assembler.walk import statements

ROOT = Path(__file__).parents[2]
MODULE = ROOT / "tests" / "bench" / "kernels" / "nvcc_module.ptx"
BEFORE = """.version 8.0
.target sm_80
.address_size 64
.func (.param .b32 r) f(.param .b32 p) { ret; }
.extern .func g(.param .b32 p);
.visible .entry k(.param .u32 p)
{
"""
BODIES = [
    (".reg .b32 %r<4>; .reg .b32 ret; mov.b32 %r1, ret; mov.b32 ret, %r1; ret;", ""),
    (".reg .b32 %r<4>; bra ret; ret: exit;", ""),
    (".reg .b32 %r<4>; mov.b32 %r1, %r2; { .reg .b32 %r<4>; mov.b32 %r1, 1; } mov.b32 %r3, %r1; ret;", ""),
    (".reg .b32 %r<4>; mov.b32 %r1, later; .reg .b32 later; mov.b32 later, 1; ret;", "undeclared-name"),
    (".reg .b32 %r<4>; .reg .pred %p<2>; @!%p1 bra L; @ !%p1 bra L; @!!%p1 bra L; L: ret;", "syntax"),
    (
        ".reg .b32 %r<4>; mov.b32 {%r1, %r2}, 1; ld.global.v2.b32 { %r1,%r2}, [0]; ld.global.v2.b32 {%r1 , %r2}, [0]; ret;",
        "vector-size operand-kind operand-kind",
    ),
    (".reg .b32 %r<4>; L: mov.b32 %r1, 1; L: mov.b32 %r1 2; ;; ret", "duplicate-label syntax empty-statement empty-statement syntax"),
    (".reg .b32 %r<4>; .loc 1 2 3 mov.b32 %r01, %r1; .loc 1 2 mov.b32 %r1, %r4; L: .loc 1 2 3 M: add.u32 %r1,%r2,%r3; ret;", "syntax"),
    (".reg .b32 %tid; mov.b32 %tid, %tid.x; mov.b32 %tid, %ntid.x; ret;", "operand-kind"),
    (".reg .b32 %r<4>; L:mov.b32 %r1, 1;M:add.u32 %r1, %r1, %r1;}{ret;", "syntax"),
    (
        ".reg .b32 %r<4>; {mov.b32 %r1, 1;} {.reg .b32 t; mov.b32 t, 2; add.u32 %r2, t, %r1;} { .reg .b32 t; add.u32 %r3, t, %r1; } ret;",
        "never-written",
    ),
    (".reg .b32 %r<4>; .reg .b32 t; mov.b32 t, 1; { .reg .b64 t; mov.b64 t, 2; mov.b32 %r1, t; } mov.b32 %r1, t; ret;", "operand-type"),
    (
        ".reg .b32 %r<4>; { .reg .b32 t, t; mov.b32 t, 1; } { .reg .b32 t; .reg .b32 t; mov.b32 t, 1; } { .reg .b32 %r1; mov.b32 %r1, 1; } ret;",
        "duplicate-name duplicate-name",
    ),
    (
        ".reg .b32 %r<4>; { .reg .b32 ret; mov.b32 ret, 1; ret; } { .reg .b32 add; add.u32 add, add, add; } { .reg .b32 %tid; mov.b32 %r1, %tid.x; } ret;",
        "operand-kind",
    ),
    (".reg .b32 %r<4>; { mov.b32 %r1, 1; { mov.b32 %r2, 1; } mov.b32 %r3, 1; } } mov.b32 %r1, 1; { ret;", "syntax"),
    (
        ".reg .b32 %r<4>; .reg .pred %p<2>; { .reg .pred p; setp.eq.u32 p, %r1, 1; @p bra L; @!p mov.b32 %r1, 1; @%p1 bra K; K: } L: ret;",
        "never-written",
    ),
    (".reg .b32 %r<4>; { mov.b32 %r1, 1; } L: { mov.b32 %r2, 1; bra L; M: mov.b32 %r3, 1; } bra M; ret;", "unknown-label"),
    (
        ".reg .b32 %r<4>; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 %r2, [b]; } mov.b32 %r3, a; ret;",
        "undeclared-name",
    ),
    (
        ".reg .b32 %r<4>; { .param .b32 a; .param .b64 b; call (b), f, (a); call.uni f, (a); call (b), k, (a); call (c), f, (a); } ret;",
        "call-argument call-arity call-target undeclared-name",
    ),
    (
        ".reg .b32 %r<4>; { .param .b32 a; st.param.b32 [a+0], %r1; call g, (a); } { .param .b32 f; call (f), f, (f); } call g; call h; ret;",
        "call-target call-arity undeclared-name unresolved",
    ),
    (".reg .b32 %r<4>; { .param .b32 p; st.param.b32 [p], 1; } st.param.b32 [p], 1; ret;", "input-parameter input-parameter"),
    (
        ".reg .b32 %r<4>; { .param .b8 a[4]; st.param.b32 [a], %r1; } { .param .b8 a[0]; st.param.b32 [a], %r1; } ret;",
        "bad-array undeclared-name",
    ),
    (
        ".reg .b32 %r<4>; { .param .align 4 .b8 a[4]; st.param.b32 [a], 1; } { .param .align 3 .b8 a[4]; st.param.b32 [a], 1; } ret;",
        "bad-alignment undeclared-name",
    ),
    (
        ".reg .b32 %r<4>; { .param .b8 a[4]; .param .b32 b; call (b), f, (a); } { .param .b8 a[8]; .param .b32 b; call (b), f, (a); } ret;",
        "call-argument call-argument",
    ),
    (
        ".reg .b32 %r<4>; .loc 1 2 3\nmov.b32 %r1, 1; .loc 1 1234567890 3\nmov.b32 %r1, 1; .loc 1 12345678901 3\nmov.b32 %r1, 1; ret;",
        "out-of-range",
    ),
    (
        ".reg .b32 %r<4>; .loc 1 2 3, function_name $I, inlined_at 1 4 5\nmov.b32 %r1, 1; .loc 1 2 3, function_name $I\nret;",
        "bad-location syntax",
    ),
    (
        ".reg .b64 %rd<7>;\n.entry k()\n{\n.reg .b32 %r<10>;\nst.global.v2.u32 [%rd6], {%r9, %r9};\nst.global.b32 [%rd1], %r1;\nret;\n}\n",
        "syntax undeclared-name undeclared-name syntax",
    ),
    (".reg .b64 a;\n.entry k()\n{\n.reg .b32 %r<10>;\nst.global.b32 [a], %r1;\nmov.b64 a, 1;\nret;\n}\n", "syntax undeclared-name syntax"),
]


@pytest.mark.parametrize(("body", "codes"), BODIES)
def test_what_is_said_of_odd_bodies(body: str, codes: str) -> None:
    assert [d.code for d in check(BEFORE + body + "\n}\n")] == codes.split()


def instructions(body: str) -> list[Instruction]:
    """The instructions of a kernel with this body."""
    function = parse(BEFORE + body + "\nret;\n}\n").functions["k"]
    return [s for s in statements(function.body) if isinstance(s, Instruction)]


def test_like_instructions_share_their_shape() -> None:
    registers = ".reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<2>; "
    a, b, guarded, floats, other, constant, wide, _ = instructions(
        registers + "mov.b32 %r1, %r2; mov.b32 %r3, %r3; @!%p1 mov.b32\n%r1,%r1; mov.b32 %f1, %r2; mov.u32 %r1, %r2; mov.b32 %r1, 7;"
        "mov.b32 %r1, 0x7; "
    )
    assert a.shape is b.shape is guarded.shape and constant.shape is wide.shape
    assert len({a.shape, floats.shape, other.shape, constant.shape}) == 4
    assert (a.shape.opcode, a.shape.modifiers, a.shape.categories) == ("mov", ("b32",), ("b32", "b32"))


def test_a_label_that_comes_later_has_the_shape_of_one_that_came_before() -> None:
    early, late, inner, _ = instructions("L: bra L; bra M; { bra K; K: } M:")
    assert early.shape is late.shape is inner.shape


def test_spans_begin_behind_blanks_comments_and_labels() -> None:
    text = BEFORE + ".reg .b32 %r<3>;\n L: /* a */ mov.b32 %r1, 1; // b\n\tmov.b32 %r1, 2 ;ret;\n}\n"
    module = parse(text)
    found = [s.span for s in statements(module.functions["k"].body) if isinstance(s, Instruction)]
    assert [text[s.start : s.end] for s in found] == ["mov.b32 %r1, 1;", "mov.b32 %r1, 2 ;", "ret;"]
    assert [(s.line, s.column) for s in found] == [(9, 13), (10, 2), (10, 18)]


def test_a_module_that_nothing_holds_is_gone_at_once() -> None:
    text = MODULE.read_text()
    check(text)  # fills what is kept for good
    assert left_in_circles(lambda: verify(parse_all(text)[0])) == 0


def test_registers_are_numbered_in_the_order_of_the_text() -> None:
    for item in parse(MODULE.read_text()).items:
        if isinstance(item, Function):
            assert [r.index for r in item.registers] == list(range(len(item.registers)))
