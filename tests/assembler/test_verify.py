"""The verifier against annotated programs, ptxas's verdicts on mutants, and its own table of codes."""

import ast
import itertools
import json
import re
from pathlib import Path

import pytest

from warplab.assembler import verify as package
from warplab.assembler.codes import CODES
from warplab.assembler.diagnostics import EXPLANATIONS, explain
from warplab.assembler.parse import parse
from warplab.assembler.verify import check, verify

DATA = Path(__file__).parent / "data" / "verify"
MUTANTS = Path(__file__).parents[1] / "data" / "mutants.jsonl"
EXPECTED = re.compile(r"// (error|warning)\[([\w-]+)\]: (.*)$")
HEAD = """.version 9.0
.target sm_90a
.address_size 64
.global .b32 g;
.func (.reg .u32 r) twice(.reg .u32 a) { add.u32 r, a, a; ret; }
"""
BODY = ".visible .entry k() {\n.reg .pred %p<4>; .reg .u32 %r<9>; .reg .f32 %f<4>; .reg .b64 %rd<4>;\n"


def inside(statements):
    """A module around the statements of a body; the first of them stands on line 8."""
    return HEAD + BODY + statements + "\nret;\n}\n"


@pytest.mark.parametrize("path", sorted(DATA.glob("*.ptx")), ids=lambda p: p.stem)
def test_annotated_programs(path):
    text = path.read_text()
    target = re.match(r"// test: verify --target (\w+)", text)[1]
    expected = [(n, *m.groups()) for n, line in enumerate(text.split("\n"), 1) if (m := EXPECTED.search(line))]
    diagnostics = check(text, target, warnings=None if path.stem == "warnings" else ())
    found = sorted(((d.span.line, d.severity, d.code, d.message) for d in diagnostics), key=lambda f: f[0])
    lines = {n for n, *_ in expected}
    assert {n for n, *_ in found} == lines
    assert [f for i, f in enumerate(found) if f[0] not in {n for n, *_ in found[:i]}] == expected


def mutants():
    with MUTANTS.open() as file:
        seeds = {name: text.split("\n") for name, text in json.loads(next(file)).items()}
        for line in file:
            seed, at, cut, put, arch, legal, lines = json.loads(line)
            text = seeds[seed]
            yield "\n".join(text[:at] + put + text[at + cut :]), arch, legal, lines


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.long)])
def test_mutants_get_the_verdict_and_the_line_of_ptxas(step):
    total = agreed = placed = right = 0
    for text, arch, legal, lines in itertools.islice(mutants(), 0, None, step):
        errors = [d for d in check(text, arch, warnings=()) if d.severity == "error"]
        total += 1
        agreed += (not errors) == legal
        if errors and lines:
            placed += 1
            right += errors[0].span.line in lines
    assert total > 1000 / step
    assert agreed >= 0.985 * total
    assert right >= 0.95 * placed


@pytest.mark.parametrize("word", CODES)
def test_the_example_of_a_code_has_it(word):
    code = CODES[word]
    example = code.example
    text = inside(example) if code.inside else example if ".version" in example else HEAD + example + "\n"
    if word == "needs":
        text = text.replace("9.0", "7.8").replace("sm_90a", "sm_80")
    target = "sm_90" if word == "target-mismatch" else None
    assert (word, code.severity) in {(d.code, d.severity) for d in check(text, target)}
    assert code.explanation.split()[0] in (explain(word) or "")


def test_every_code_in_the_source_is_in_the_table():
    used = set()
    for path in Path(package.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                used.update({node.value} & CODES.keys() or re.findall(r"^[a-z]+(?:-[a-z]+)+$", node.value))
    assert used <= CODES.keys() | EXPLANATIONS.keys()
    assert CODES.keys() <= used


@pytest.mark.parametrize(
    "statement, code, marked",
    [
        ("add.u32 %r1, %r2, %f1;", "operand-type", "%f1"),
        ("add.u32 %r1, /* , */ %r2 , %f1 ;", "operand-type", "%f1"),
        ("@%r1 add.u32 %r1, %r2, %r3;", "bad-predicate", "%r1"),
        ("@%p1 mov.u32.fast %r1, %r2;", "unknown-word", ".fast"),
        ("load.u32 %r1, [%rd1];", "unknown-instruction", "load"),
        ("ld.global.v2.u32 {%r1, %r2, %r3}, [%rd1];", "vector-size", "{%r1, %r2, %r3}"),
        ("ld.shared.u32 %r1, [g];", "state-space", "[g]"),
        ("mul.u32.lo %r1, %r2, %r3;", "word-order", ".lo"),
        ("call (%r1), twice, (%f1);", "call-argument", "%f1"),
        ("bar.sync\t16;", "out-of-range", "16"), ("bar\n.sync\n16;", "out-of-range", ".sync"),
        ("st.global.v2.u32 [%rd1], {%r1, %f1};", "operand-type", "%f1"),
        ("add.u32 %r1, %r2, %r3, %r4;", "operand-count", "%r4"),
    ],
)  # fmt: skip
def test_the_caret_stands_under_the_smallest_wrong_part(statement, code, marked):
    text = inside(statement)
    (found,) = [d for d in check(text) if d.severity == "error"]
    assert found.code == code
    assert text[found.span.start : found.span.end] == marked
    before = text[: found.span.start]
    assert found.span.line == before.count("\n") + 1
    assert found.span.column == len(before) - before.rfind("\n")


def test_messages_help():
    (wrong,) = check(inside("setpp.eq.u32 %p1, %r1, %r2;"))
    assert "setp" in wrong.help
    (wrong,) = check(inside("add.sat.u32 %r1, %r2, %r3;"))
    assert "add.type" in wrong.forms and wrong.help == "write add.u32"
    (wrong,) = check(inside("add.f32 %f1, %f2, %r1;"))
    assert wrong.notes[0].message == "%r1 is declared here" and wrong.notes[0].span.line == 7
    (wrong,) = check(inside("add.f32 %f1, %f2, 1;"))
    assert wrong.help == "write 1.0"
    (wrong,) = check(inside("elect.sync %r1|%p1, -1;").replace("9.0", "7.8").replace("sm_90a", "sm_80"))
    assert "PTX 8.0" in wrong.message and "sm_90" in wrong.message


def test_all_errors_of_one_run_in_order():
    found = check(inside("add.u32 %r1, %r2, %f1;\nmov.u32 %r1, 1.0;\nadd.u32 %r1, %r2, %r3;\nbar.sync 99;"))
    assert [(d.span.line, d.code) for d in found] == [(8, "operand-type"), (9, "operand-type"), (11, "out-of-range")]


@pytest.mark.parametrize(
    "target, device, legal",
    [
        ("sm_80", "sm_90", True), ("sm_90", "sm_90a", True), ("sm_90a", "sm_90a", True), ("sm_90a", "sm_90", False),
        ("sm_90a", "sm_100", False), ("sm_100", "sm_90", False), ("sm_100f", "sm_103", True), ("sm_100f", "sm_120", False),
        ("sm_120", None, True), ("sm_100a", None, True),
    ],
)  # fmt: skip
def test_a_module_runs_on_its_target_and_later_ones(target, device, legal):
    found = check(f".version 9.0\n.target {target}\n.visible .entry k() {{ ret; }}\n", device)
    assert {d.code for d in found if d.severity == "error"} == (set() if legal else {"target-mismatch"})
    assert any(d.code == "newer-target" for d in found) == (target.startswith(("sm_10", "sm_12")))


def test_warnings_are_chosen_by_name():
    module = parse(inside("add.u32 %r1, %r7, 1;\nret;\nmov.u32 %r2, 1;"))
    assert {d.code for d in verify(module, warnings=None)} == {"never-written", "unreachable-code"}
    assert {d.code for d in verify(module, warnings={"unreachable-code"})} == {"unreachable-code"}
    assert verify(module) == []


def test_a_verdict_is_remembered_for_what_it_depends_on():
    found = check(inside("bfe.u32 %r1, %r2, 1, 2;\nbfe.u32 %r1, %r2, 1, 300;\nbfe.u32 %r1, %r2, 1, 2;\n@%p1 bra L;\n@%r1 bra L;\nL:"))
    assert [(d.span.line, d.code) for d in found if d.severity == "error"] == [(9, "out-of-range"), (12, "bad-predicate")]


@pytest.mark.parametrize("text", ["", "\0", ".version", b"\xff\xfe", ".version 9.0\n.target sm_90\n.func f(", "}" * 50, "@" * 50])
def test_broken_text_is_no_exception(text):
    assert all(d.code in CODES or d.code in EXPLANATIONS for d in check(text))


@pytest.mark.parametrize(
    ("body", "help"),
    [
        (".reg .f32 %f; mov.f32 %f, 0.25f; ret;", "write 0.25"),
        (".reg .b32 %r<4>; mov.b32 r1, 0; ret;", "is %r1 meant?"),
        (".reg .f32 %f; mov.f32 %f, 1/4; ret;", "1.0/4.0"),
        (".reg .b32 %r<4>; ld.global.u32 %r1, [%r2]; ret;", "say .shared"),
    ],
)
def test_the_help_says_what_was_meant(body, help):
    (found,) = check(f"{HEAD}.visible .entry k() {{ {body} }}")
    assert help in found.help


def test_an_unknown_version_is_one_error():
    text = inside(".reg .b32 %r; mov.b32 %r, 0; ret;")
    assert [d.code for d in check(text.replace(".version 9.0", ".version 99.0"))] == ["unknown-version"]
