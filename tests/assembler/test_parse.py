"""parse: what the IR says of a text, name resolution, and the place of each error."""

from __future__ import annotations

import pytest

from warplab.assembler import PtxError, parse
from warplab.assembler.ir import (
    Address,
    Arguments,
    Block,
    Declaration,
    Element,
    Function,
    Immediate,
    Instruction,
    Label,
    Location,
    Pair,
    Prototype,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Targets,
    Variable,
    Vector,
)  # fmt: skip
from warplab.assembler.parse import parse_all

HEADER = ".version 8.0\n.target sm_90\n.address_size 64\n"
REGISTERS = ".reg .pred %p<5>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .f32 %f<10>; .reg .v4 .u32 %v;\n"


def body(text: str, before: str = "") -> Function:
    module = parse(f"{HEADER}{before}\n.entry f(.param .u64 p)\n{{\n{REGISTERS}{text}\nret;\n}}\n")
    return module.functions["f"]


def instructions(f: Function) -> list[Instruction]:
    assert f.body is not None
    out: list[Instruction] = []
    todo = list(reversed(f.body.statements))
    while todo:
        s = todo.pop()
        if isinstance(s, Block):
            todo += reversed(s.statements)
        elif isinstance(s, Instruction):
            out.append(s)
    return out


def first(text: str, before: str = "") -> Instruction:
    return instructions(body(text, before))[0]


def errors(text: str, before: str = "") -> list[tuple[str, int]]:
    """Codes and lines, counted from the first line of the text."""
    whole = f"{HEADER}{before}\n.entry f(.param .u64 p)\n{{\n{REGISTERS}"
    found = parse_all(f"{whole}{text}\nret;\n}}\n")[1]
    return [(d.code, d.span.line - whole.count("\n")) for d in found]


def test_an_instruction_and_its_span() -> None:
    i = first("    @!%p1 add.sat.s32  %r1, %r2, -5;")
    assert (i.opcode, i.modifiers, i.guard_negated) == ("add", ("sat", "s32"), True)
    assert i.guard is not None and i.guard.name == "%p1" and i.guard.type.name == "pred"
    d, a, b = i.operands
    assert isinstance(d, Register) and isinstance(a, Register) and (d.name, a.name) == ("%r1", "%r2")
    assert isinstance(b, Immediate) and b.value == -5
    assert (i.span.line, i.span.column) == (8, 5)


@pytest.mark.parametrize(
    "text",
    [
        "add.s32 %r1,%r2,1;", "add.s32 %r1 , %r2 ,1 ;", "add .s32 %r1, %r2, 1;", "add.s32\n%r1,\n%r2,\n1\n;",
        "add.s32 %r1, /* here */ %r2, 1; // there", "add.s32%r1,%r2,1;", "add.s32 %r01, %r2, 1;", ";".join(["add.s32 %r1, %r2, 1"]) + ";\\",
    ],
)  # fmt: skip
def test_layouts_of_one_instruction(text: str) -> None:
    i = first(text)
    assert (i.opcode, i.modifiers) == ("add", ("s32",))
    assert [getattr(o, "name", getattr(o, "value", None)) for o in i.operands] == ["%r1", "%r2", 1]


def test_operands() -> None:
    f = body(
        """mov.u32 %r1, %tid.x;
        ld.global.v4.u32 {%r1, _, %r3, %r4}, [%rd1+-4];
        setp.eq.u32 %p1|%p2, %r1, 1+2*3;
        mov.u64 %rd1, g+8; ld.global.u32 %r1, [g+4]; ld.global.u32 %r1, g[1]; ld.local.u32 %r1, [4+4];
        mov.u32 %r1, %v.r; vadd.u32.u32.u32 %r1, %r2.b0, %r3.h1;
        tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [t, {%r1, %r2}];
        mov.u32 %r1, WARP_SZ; and.pred %p1, %p2, !%p3;""",
        ".global .u32 g[4]; .global .texref t;",
    )
    o = [i.operands for i in instructions(f)]
    assert o[0][1] == SpecialRegister("%tid", "x")
    vector, address = o[1]
    assert isinstance(vector, Vector) and vector.elements[1] == Sink() and isinstance(address, Address) and address.offset == -4
    assert isinstance(o[2][0], Pair) and isinstance(o[2][2], Immediate) and o[2][2].value == 7
    g = o[4][1].base  # type: ignore[union-attr]
    assert isinstance(g, Variable)
    assert isinstance(o[3][1], Symbol) and (o[3][1].target, o[3][1].offset) == (g, 8)
    assert isinstance(o[5][1], Symbol) and (o[5][1].target, o[5][1].offset) == (g, 4)
    assert o[6][1] == Address(None, 8)
    assert isinstance(o[7][1], Element) and o[7][1].part == "x"
    assert [e.part for e in o[8][1:] if isinstance(e, Element)] == ["b0", "h1"]
    assert isinstance(o[9][1], Address) and isinstance(o[9][1].parts[0], Vector)
    assert isinstance(o[10][1], Immediate) and o[10][1].value == 32


def test_registers_exist_when_they_are_used() -> None:
    f = body(".reg .b16 %huge<1000000000>, plain; mov.u16 %huge999999999, plain;")
    assert [r.name for r in f.registers if "huge" in r.name or r.name == "plain"] == ["plain", "%huge999999999"]
    assert [r.index for r in f.registers] == list(range(len(f.registers)))


def test_scopes_and_labels() -> None:
    f = body("""bra L;
    { .reg .b32 %r1; mov.u32 %r1, 1; bra L; bra M; L: bra L; }
    mov.u32 %r1, 2;
    { bra L; { bra M; } }
    L: M: bra L;""")
    i = instructions(f)
    inner, outer = i[1].operands[0], i[5].operands[0]
    assert isinstance(inner, Register) and isinstance(outer, Register) and inner is not outer
    assert f.body is not None
    labels = {s.name: s for s in f.body.statements if isinstance(s, Label)}
    block = f.body.statements[6]
    assert isinstance(block, Block)
    own = next(s for s in block.statements if isinstance(s, Label))
    targets = [x.operands[0] for x in i if x.opcode == "bra"]
    assert targets == [labels["L"], own, labels["M"], own, labels["L"], labels["M"], labels["L"]]


def test_a_block_hides_an_outer_label_even_after_its_use() -> None:
    f = body("L: bra L; { bra L; L: bra L; }")
    jumps = [i.operands[0] for i in instructions(f) if i.opcode == "bra"]
    assert jumps[1] is jumps[2] and jumps[0] is not jumps[1]


def test_calls() -> None:
    f = body(
        """{ .param .b32 a0; .param .b32 r0; st.param.b32 [a0], %r1; call.uni (r0), g, (a0); ld.param.b32 %r1, [r0]; }
        proto: .callprototype (.param .b32 _) _ (.param .b32 _, .param .align 8 .b8 _[16]);
        table: .calltargets g, h;
        call (%r1), %rd1, (%r2, 5), proto; call h; call %rd1, (), table;
        ts: .branchtargets A, B; A: B: brx.idx %r1, ts;""",
        ".func (.param .b32 r) g(.param .b32 a); .func h;",
    )
    calls = [i.operands for i in instructions(f) if i.opcode == "call"]
    returns, callee, arguments = calls[0]
    assert isinstance(returns, Arguments) and isinstance(arguments, Arguments) and isinstance(callee, Function) and callee.name == "g"
    assert isinstance(calls[1][3], Prototype) and len(calls[1][3].params) == 2
    assert len(calls[2]) == 1 and isinstance(calls[3][2], Targets) and calls[3][1] == Arguments(())
    jump = instructions(f)[-2].operands[1]
    assert isinstance(jump, Targets) and [t.name for t in jump.targets] == ["A", "B"]


def test_declarations() -> None:
    m = parse(
        HEADER
        + """.global .align 16 .b8 raw[4] = {1, 2, 0x7f, 255};
.visible .global .u32 open[] = {1, 2, 3}, two[2][2] = {{1}, {2, 3}};
.extern .shared .align 8 .b8 dyn[];
.global .u64 p[3] = {raw, generic(raw)+4, f};
.global .u8 m[2] = {0xff(raw), 0xff00(raw+4)};
.global .attribute(.managed) .v4 .f32 v = {1.0, 2.0, 0f40400000, 4.0};
.func f(.reg .u32 a) { ret; }
.visible .entry k(.param .u64 .ptr .global .align 4 x, .param .align 8 .b8 s[12])
.maxntid 256, 1, 1
.reqnctapercluster 2
{ ret; }
""".replace(".global .u64 p", ".func f(.reg .u32 a);\n.global .u64 p")
    )
    v = m.variables
    assert (v["raw"].align, v["raw"].initial, v["raw"].size) == (16, (1, 2, 127, 255), 4)
    assert v["open"].dims == (3,) and v["open"].linkage == "visible" and v["two"].initial == ((1,), (2, 3))
    assert v["dyn"].dims == (0,) and v["dyn"].size == 0
    pointers = v["p"].initial
    assert isinstance(pointers, tuple)
    assert [(s.generic, s.offset) for s in pointers if isinstance(s, Symbol)] == [(False, 0), (True, 4), (False, 0)]
    masks = v["m"].initial
    assert isinstance(masks, tuple) and [s.mask for s in masks if isinstance(s, Symbol)] == [0xFF, 0xFF00]
    assert v["v"].attributes == ("managed",) and v["v"].vector == 4 and v["v"].initial == (1.0, 2.0, 3.0, 4.0)
    k = m.functions["k"]
    assert [p.pointer for p in k.params] == [("global", 4), None] and k.params[1].dims == (12,)
    maxntid = k.directive(".maxntid")
    assert maxntid is not None and maxntid.values == (256, 1, 1)
    parameter = m.functions["f"].params[0]
    assert parameter.space == "reg" and parameter.register is not None
    declared = next(i for i in m.items if isinstance(i, Function))
    assert declared.definition is m.functions["f"]


def test_lines_and_files() -> None:
    m = parse(
        HEADER
        + '.file 1 "a b.cu", 5, 6\n.entry f() {\n.loc 1 2 3\nret;\n.loc 1 4 5, function_name $L+3, inlined_at 1 6 7\nret; }\n'
        + ".section .debug_str { L:\n.b8 1,2\n.b32 L+4 }\n"
    )
    f = m.functions["f"]
    assert m.files == {1: "a b.cu"} and f.body is not None
    a, b = (s for s in f.body.statements if isinstance(s, Location))
    assert (a.line, a.inlined_at, b.function, b.function_offset, b.inlined_at) == (2, None, "$L", 3, (1, 6, 7))


def test_old_ptx() -> None:
    m = parse(
        ".version 1.4\n.target sm_10, map_f64_to_f32\n.entry f\n{\n.reg .u16 $rh1;\nmov.u16 $rh1, %ctaid.x;\nexit;\n}\n@@DWARF .byte 1\n"
    )
    assert (m.version, m.address_size, m.target) == ((1, 4), 64, "sm_10")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("add.s32 %r1, %r2\nadd.s32 %r1, %r2, 1;", [("syntax", 2)]),
        ("add.s32 ,%r1, %r2, 1;", [("syntax", 1)]),
        ("bra L;;\nL:", [("empty-statement", 1)]),
        ("mov.u32..u32 %r1, 1;", [("syntax", 1)]),
        ("mov.u32 %r1, \\\n5;", [("syntax", 1)]),
        ("ld.global.u32 %r1, [%rd1-4];", [("syntax", 1)]),
        ("st.global.f32 (%rd1), %f1;", [("syntax", 1)]),
        ("mov.u32 %r1,\n%r99;", [("undeclared-name", 2)]),
        ("ld.global.u32 %r1, [nowhere];", [("undeclared-name", 1)]),
        ("mov.b64 %rd1, {%r1, nowhere};", [("undeclared-name", 1)]),
        ("bra NOWHERE;\n{ bra ALSO; }", [("unknown-label", 1), ("unknown-label", 2)]),
        ("bra IN;\n{ IN: }", [("unknown-label", 1)]),
        ("L:\nL:", [("duplicate-label", 2)]),
        (".reg .b32 a;\nadd.u32 a, a, 1;\n.reg .b32 a;", [("duplicate-name", 3)]),
        (".reg .b32 %r<3>;", [("duplicate-name", 1)]),
        (".reg .b32 %r1;", [("duplicate-name", 1)]),
        ("{ .reg .b32 %r1; .reg .b32 p; }", []),
        (".reg .b32 a1<3>;\nmov.u32 a12, 1;", [("undeclared-name", 2)]),
        (".reg .bf16 h;", [("syntax", 1)]),
        (".local .u32 x = 1;", [("bad-initialiser", 1)]),
        (".shared .align 3 .u32 x;", [("bad-alignment", 1)]),
        (".local .u32 x[];", [("bad-array", 1)]),
        ("@%r1x ret;", [("bad-predicate", 1)]),
        ("here.a:", [("syntax", 1)]),
        ("call vprintf;", [("undeclared-name", 1)]),
        (".pragma ;", [("syntax", 1)]),
        ("{", [("unclosed-brace", 4)]),
        ("\x1d", [("syntax", 1)]),
        ("\x0b", [("syntax", 1)]),
        ("\x0c // \x1d\n/* \x01 */", []),
        ("mov.u32 %r1, 1; /* /* */ */", [("syntax", 1)]),
    ],
)  # fmt: skip
def test_errors(text: str, found: list[tuple[str, int]]) -> None:
    assert errors(text) == found


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "missing-version", 1), (".version 8.0\n\n.entry f() { ret; }", "missing-version", 3), (HEADER + ".version 8.0\n", "syntax", 4),
        (HEADER + ".address_size 64\n", "syntax", 4), (HEADER + "ret;\n", "syntax", 4),
        (HEADER + ".entry f() {\nret;\n", "unclosed-brace", 6),
        (HEADER + ".entry f() { ret; }\n}\n", "syntax", 5), (HEADER + ".global .u32 x;\n.global .u32 x;", "duplicate-name", 5),
        (HEADER + ".entry f() { ret; }\n.entry f() { ret; }", "duplicate-function", 5), (HEADER + "// é\n", "non-ascii", 4),
        (HEADER + ".func f(.param .u32 a);\n.func f(.param .f32 a) { ret; }", "redeclared-differently", 5),
        (HEADER + "/* ", "unterminated-comment", 4),
        (HEADER + ".entry f(.param .u32 a, .param .u32 a) { ret; }", "duplicate-name", 4),
        (HEADER + ".visible .weak .global .u32 x;", "syntax", 4),
        (HEADER + ".entry f() .maxntid 0\n{ ret; }", "bad-directive", 5), (HEADER + '.file 1 "a"\n.file 1 "b"\n', "duplicate-name", 6),
        (HEADER + ".global .b16 v[2][] = {{1, 2}};", "syntax", 4), (HEADER + ".global .u32 x[2] = {1, 2, 3};", "bad-initialiser", 4),
    ],
)  # fmt: skip
def test_errors_of_modules(text: str, code: str, line: int) -> None:
    with pytest.raises(PtxError) as caught:
        parse(text)
    assert (caught.value.diagnostics[0].code, caught.value.diagnostics[0].span.line) == (code, line)


def test_all_errors_in_one_run() -> None:
    text = HEADER + ".entry f() {\nmov.u32 a, 1;\n] ;\nbra X;\n}\n.visible .entry g( {\nret;\n}\n.entry h() {\nadd.u32 b, b, 1;\n}\n"
    module, found = parse_all(text)
    assert [d.span.line for d in found] == [5, 6, 7, 9, 13, 13] or [d.span.line for d in found] == [5, 6, 7, 9]
    assert "h" in module.functions


def test_messages_point_and_help() -> None:
    with pytest.raises(PtxError) as caught:
        parse(HEADER + ".entry f() {\n\t.reg .b32 %r<3>, total;\n\tmov.u32 \t%r3, totl;\n}\n", name="x.ptx")
    shown = str(caught.value)
    assert "x.ptx:6:11" in shown and "\t       \t" not in shown.split("\n")[0]
    assert "%r<3> declares %r0 to %r2" in shown and "is total meant?" in shown
    d = caught.value.diagnostics[0]
    assert d.ptxas_style("x.ptx").startswith("ptxas x.ptx, line 6; error   : ")
    assert d.to_json()["code"] == "undeclared-name"


def test_bytes_are_text() -> None:
    assert parse(f"{HEADER}.entry f() {{ ret; }}".encode()).functions["f"].is_entry


def test_a_declaration_is_kept_as_written() -> None:
    f = body(".reg .f64 %d<3>, one;")
    assert f.body is not None
    last = [s for s in f.body.statements if isinstance(s, Declaration)][-1]
    assert last.stems == (("%d", 3), ("one", -1)) and last.type is not None and last.type.name == "f64"


def test_depth_has_a_limit() -> None:
    deep = "{" * 20_000 + "}" * 20_000
    assert ("too-deep", 1) in errors(deep)
    assert errors(f"mov.u32 %r1, {'(' * 3000}1{')' * 3000};") == []
    assert errors(f"mov.u32 %r1, {'-' * 20000}1;") == []


def test_calls_in_unusual_layouts() -> None:
    f = body("call\n(%r1), g, (%r2); @%p1 call(%r1),g,(%r3); @%p1 call (%r1), g, (%r4);", ".func (.reg .b32 r) g(.reg .b32 a);")
    assert [len(i.operands) for i in instructions(f)[:3]] == [3, 3, 3]
