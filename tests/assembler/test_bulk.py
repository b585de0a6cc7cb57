"""Statements that are read by their shapes are the statements that are read one by one, in right texts and in wrong ones."""

from __future__ import annotations

import gc
import random
import re
import time
from pathlib import Path

import pytest

from tests.assembler.test_fuzz import SEED, mutated
from warplab.assembler import bulk, check
from warplab.assembler.ir import Function, Instruction, Label, Location, Module
from warplab.assembler.listing import listing
from warplab.assembler.parse import parse_all
from warplab.assembler.printer import fingerprint
from warplab.assembler.verify import verify
from warplab.assembler.walk import statements

ROOT = Path(__file__).parents[2]
TEXTS = [*sorted((ROOT / "samples").rglob("*.ptx")), *sorted((ROOT / "tests" / "bench" / "kernels").glob("*.ptx"))]


def told(text: str) -> list[object]:
    """All that a text says, and where, and what is said of it."""
    module, found = parse_all(text)
    if found:
        return [(d.code, d.message, d.span) for d in (*found, *check(text))]
    return [fingerprint(module), *places(module), *((d.code, d.message, d.span) for d in check(text))]


def places(module: Module) -> list[object]:
    """Where instructions, labels and .loc stand."""
    bodies = [f.body for f in module.items if isinstance(f, Function)]
    return [(isinstance(s, Instruction), s.span) for b in bodies for s in statements(b) if isinstance(s, (Instruction, Label, Location))]


def one_by_one(text: str, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The same without shapes."""
    with monkeypatch.context() as m:
        m.setattr(bulk.Reader, "read", lambda self, pos: pos)
        return told(text)


@pytest.mark.parametrize("path", TEXTS, ids=lambda p: p.stem)
def test_a_text_means_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text()
    assert told(text) == one_by_one(text, monkeypatch)


def test_wounded_texts_mean_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(7)
    more = "".join(path.read_text() for path in TEXTS if path.stem in ("vecadd",))
    for i in range(200):
        text = mutated(source, SEED if i % 2 else more)
        assert told(text) == one_by_one(text, monkeypatch), text


def shaken(source: random.Random, text: str) -> str:
    """The text with a statement gone, guarded or moved, or another register in it: legal often, and worth a warning."""
    lines = text.split("\n")
    plain = [i for i, line in enumerate(lines) if line.strip().endswith(";") and ".reg" not in line and line.strip()[:1] not in ("@", ".")]
    for _ in range(source.randint(1, 3)):
        i, j = source.choice(plain), source.choice(plain)
        match source.randrange(4):
            case 0:
                lines[i] = ""
            case 1:
                lines[i] = re.sub(
                    r"%(r|f|rd|p|fd)(\d+)", lambda m: f"%{m[1]}{max(1, int(m[2]) + source.choice((-1, 1)))}", lines[i], count=1
                )
            case 2:
                lines[i] = "@%p1 " + lines[i].strip()
            case _:
                lines[i], lines[j] = lines[j], lines[i]
    return "\n".join(lines)


def test_shaken_texts_get_the_same_warnings(monkeypatch: pytest.MonkeyPatch) -> None:
    source = random.Random(11)
    pool = [text for path in TEXTS if len(text := path.read_text()) < 8000]
    codes: set[str] = set()
    for _ in range(150):
        text = shaken(source, source.choice(pool))
        found = check(text)
        codes.update(d.code for d in found)
        with monkeypatch.context() as m:
            m.setattr(bulk.Reader, "read", lambda self, pos: pos)
            assert [(d.code, d.message, d.span) for d in found] == [(d.code, d.message, d.span) for d in check(text)], text
    assert {"unused-register", "never-written", "read-first", "missing-return"} <= codes


def test_few_statements_of_a_compiled_module_are_looked_at_one_by_one() -> None:
    module, _ = parse_all((ROOT / "tests" / "bench" / "kernels" / "nvcc_module.ptx").read_text())
    columns = [listing(f) for f in module.items if isinstance(f, Function) and f.body is not None]
    apart = sum(isinstance(s, Instruction) for c in columns for s in c.apart)
    assert apart * 20 < sum(len(chunk.recipes) for c in columns for chunk in c.chunks)


@pytest.mark.parametrize(
    "body",
    [
        ".reg .b32 %r<4>; .reg .b32 ret; mov.b32 %r1, ret; mov.b32 ret, %r1; ret;",
        ".reg .b32 %r<4>; bra ret; ret: exit;",
        ".reg .b32 %r<4>; mov.b32 %r1, %r2; { .reg .b32 %r<4>; mov.b32 %r1, 1; } mov.b32 %r3, %r1; ret;",
        ".reg .b32 %r<4>; mov.b32 %r1, later; .reg .b32 later; mov.b32 later, 1; ret;",
        ".reg .b32 %r<4>; .reg .pred %p<2>; @!%p1 bra L; @ !%p1 bra L; @!!%p1 bra L; L: ret;",
        ".reg .b32 %r<4>; mov.b32 {%r1, %r2}, 1; ld.global.v2.b32 { %r1,%r2}, [0]; ld.global.v2.b32 {%r1 , %r2}, [0]; ret;",
        ".reg .b32 %r<4>; L: mov.b32 %r1, 1; L: mov.b32 %r1 2; ;; ret",
        ".reg .b32 %r<4>; .loc 1 2 3 mov.b32 %r01, %r1; .loc 1 2 mov.b32 %r1, %r4; L: .loc 1 2 3 M: add.u32 %r1,%r2,%r3; ret;",
        ".reg .b32 %tid; mov.b32 %tid, %tid.x; mov.b32 %tid, %ntid.x; ret;",
        ".reg .b32 %r<4>; L:mov.b32 %r1, 1;M:add.u32 %r1, %r1, %r1;}{ret;",
        ".reg .b32 %r<4>; {mov.b32 %r1, 1;} {.reg .b32 t; mov.b32 t, 2; add.u32 %r2, t, %r1;} { .reg .b32 t; add.u32 %r3, t, %r1; } ret;",
        ".reg .b32 %r<4>; .reg .b32 t; mov.b32 t, 1; { .reg .b64 t; mov.b64 t, 2; mov.b32 %r1, t; } mov.b32 %r1, t; ret;",
        ".reg .b32 %r<4>; { .reg .b32 t, t; mov.b32 t, 1; } { .reg .b32 t; .reg .b32 t; mov.b32 t, 1; } { .reg .b32 %r1; mov.b32 %r1, 1; } ret;",
        ".reg .b32 %r<4>; { .reg .b32 ret; mov.b32 ret, 1; ret; } { .reg .b32 add; add.u32 add, add, add; } { .reg .b32 %tid; mov.b32 %r1, %tid.x; } ret;",
        ".reg .b32 %r<4>; { mov.b32 %r1, 1; { mov.b32 %r2, 1; } mov.b32 %r3, 1; } } mov.b32 %r1, 1; { ret;",
        ".reg .b32 %r<4>; .reg .pred %p<2>; { .reg .pred p; setp.eq.u32 p, %r1, 1; @p bra L; @!p mov.b32 %r1, 1; @%p1 bra K; K: } L: ret;",
        ".reg .b32 %r<4>; { mov.b32 %r1, 1; } L: { mov.b32 %r2, 1; bra L; M: mov.b32 %r3, 1; } bra M; ret;",
        ".reg .b32 %r<4>; { .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), f, (a); ld.param.b32 %r2, [b]; } mov.b32 %r3, a; ret;",
        ".reg .b32 %r<4>; { .param .b32 a; .param .b64 b; call (b), f, (a); call.uni f, (a); call (b), k, (a); call (c), f, (a); } ret;",
        ".reg .b32 %r<4>; { .param .b32 a; st.param.b32 [a+0], %r1; call g, (a); } { .param .b32 f; call (f), f, (f); } call g; call h; ret;",
        ".reg .b32 %r<4>; { .param .b32 p; st.param.b32 [p], 1; } st.param.b32 [p], 1; ret;",
        ".reg .b32 %r<4>; { .param .b8 a[4]; st.param.b32 [a], %r1; } { .param .b8 a[0]; st.param.b32 [a], %r1; } ret;",
        ".reg .b32 %r<4>; { .param .align 4 .b8 a[4]; st.param.b32 [a], 1; } { .param .align 3 .b8 a[4]; st.param.b32 [a], 1; } ret;",
        ".reg .b32 %r<4>; { .param .b8 a[4]; .param .b32 b; call (b), f, (a); } { .param .b8 a[8]; .param .b32 b; call (b), f, (a); } ret;",
        ".reg .b32 %r<4>; .loc 1 2 3\nmov.b32 %r1, 1; .loc 1 1234567890 3\nmov.b32 %r1, 1; .loc 1 12345678901 3\nmov.b32 %r1, 1; ret;",
        ".reg .b32 %r<4>; .loc 1 2 3, function_name $I, inlined_at 1 4 5\nmov.b32 %r1, 1; .loc 1 2 3, function_name $I\nret;",
    ],
)
def test_odd_bodies_mean_the_same(body: str, monkeypatch: pytest.MonkeyPatch) -> None:
    functions = ".func (.param .b32 r) f(.param .b32 p) { ret; }\n.extern .func g(.param .b32 p);\n"
    text = ".version 8.0\n.target sm_80\n.address_size 64\n" + functions + ".visible .entry k(.param .u32 p)\n{\n" + body + "\n}\n"
    assert told(text) == one_by_one(text, monkeypatch)


@pytest.mark.parametrize(
    "rest",
    [
        ".entry k()\n{\n\tret\n}\n",
        ".entry k()\n{\n",
        ".entry k()\n{\n{ add.u32",
        ".reg .b64 %rd<7>;\n.entry k()\n{\n.reg .b32 %r<10>;\nst.global.v2.u32 [%rd6], {%r9, %r9};\nst.global.b32 [%rd1], %r1;\nret;\n}\n",
        ".reg .b64 a;\n.entry k()\n{\n.reg .b32 %r<10>;\nst.global.b32 [a], %r1;\nmov.b64 a, 1;\nret;\n}\n",
    ],
)
def test_broken_modules_mean_the_same(rest: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = ".version 8.0\n.target sm_80\n.address_size 64\n" + rest
    assert told(text) == one_by_one(text, monkeypatch)


def test_a_module_that_nobody_holds_is_gone_at_once() -> None:
    text = (ROOT / "tests" / "bench" / "kernels" / "nvcc_module.ptx").read_text()
    check(text)  # fills what is kept for good
    gc.collect()
    gc.disable()
    try:
        verify(parse_all(text)[0])
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_twice_the_functions_take_twice_the_time() -> None:
    function = ".visible .entry k{0}(.param .u64 p)\n{{\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [p];\nst.global.u32 [%rd1], {0};\nret;\n}}\n"

    def seconds(count: int) -> float:
        text = ".version 8.0\n.target sm_80\n.address_size 64\n.const .b32 c;\n" + "".join(map(function.format, range(count)))
        times = []
        for _ in range(2):
            start = time.process_time()
            check(text)
            times.append(time.process_time() - start)
        return min(times)

    few, many = seconds(100), seconds(1000)
    assert many < 30 * few  # ten times would be right, a hundred times what grows with the square
