"""The stages of the native compiler as a person reads them, and as JSON."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.interpreter.harness import kernel
from warplab.assembler.diagnostics import PtxError
from warplab.assembler.objects import load
from warplab.interpreter.native import cut, dump
from warplab.interpreter.native.tiering import missing
from warplab.interpreter.plan.dump import kernels_of
from warplab.runtime.cli import main

ROOT = Path(__file__).parents[3]
PROGRAMS = [*sorted((ROOT / "samples").glob("**/*.ptx")), *sorted((ROOT / "tests/bench/kernels").glob("k*.ptx"))]
HEAD = ".reg .b64 %d<6>; .reg .b32 %r<8>; .reg .pred %p, %q; ld.param.u64 %d1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %ntid.x;"
APART = kernel("p out", f"""{HEAD} mov.u32 %r3, 1; setp.lt.u32 %p, %r1, 7;
    @%p bra THEN; mov.u32 %r3, 2; bra JOIN; THEN: mov.u32 %r3, 3; JOIN: st.global.u32 [%d1], %r3; ret;""")  # fmt: skip
ACCESSES = kernel("p out", f"{HEAD} st.global.u32 [%d1], %r1; ld.global.u32 %r3, [%d1+4]; st.shared.u32 [tile], %r3; atom.global.add.u32 %r4, [%d1], 1; "
                  "st.global.u32 [%d1+8], %r4; redux.sync.add.s32 %r5, %r4, -1; st.global.u32 [%d1], %r5; ret;", ".shared .b32 tile[4];")  # fmt: skip
LOOP = kernel("p out", f"{HEAD} mov.u32 %r3, 0; L: ld.global.u32 %r4, [%d1]; add.u64 %d1, %d1, 4; add.u32 %r3, %r3, %r4; sub.u32 %r1, %r1, 1; setp.gt.s32 %p, %r1, 0; "
              "@%p bra L; st.global.u32 [%d1], %r3; ret;")  # fmt: skip
GROWING = kernel("p out", ".reg .b64 %d<3>; mov.u64 %d2, 16; alloca.u64 %d1, %d2; ret;")


def has_kernels(path: Path) -> bool:
    """Is it a program that runs?"""
    try:
        return bool(kernels_of([load(path.read_bytes(), path.name)]))
    except PtxError:
        return False


def instructions(text: str, indent: int) -> list[str]:
    """The instructions of a stage, in lines that begin with so many spaces."""
    return [line.rpartition("  ")[2] for line in text.splitlines() if line.startswith(" " * indent) and line.endswith(";")]


def marked(text: str) -> dict[str, str]:
    """The word in front of each operation of the stage uniformity, by its instruction."""
    lines = [line for line in dump.uniformity(text.encode(), "test").splitlines() if line.endswith(";")]
    return {line.rpartition("  ")[2]: line[4:12].strip() for line in lines}


@pytest.mark.parametrize(("type", "count"), [("f32", 12), ("f64", 6)])
def test_strips_are_cut_off_by_what_they_compute(type: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cut, "SMALL", 0)
    for n in (count - 1, count):
        work = " ".join(f"fma.rn.{type} %x{i + 2}, %x{i + 1}, %x{i}, %x1;" for i in range(n))
        ends = "".join(f"atom.global.exch.b{type[1:]} %x{i}, [%d1], %x{i + n};" for i in (1, 2))
        text = kernel("p out", f"{HEAD} .reg .b{type[1:]} %x<{n + 3}>; {ends.split(';')[0]}; bar.sync 0; {work} {ends} ret;")
        assert ("only computes" in dump.cut(text.encode(), "test")) == (n == count)


@pytest.mark.parametrize("path", [path for path in PROGRAMS if has_kernels(path)], ids=lambda path: path.stem)
def test_all_stages_of_all_programs_print(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = path.read_bytes()
    made = list(dump._made(data, path.name))  # once for all stages
    monkeypatch.setattr(dump, "_made", lambda *_: made)
    plan, uniformity, cut = dump.inlined(data, path.name), dump.uniformity(data, path.name), dump.cut(data, path.name)
    for stage in (dump.frame, dump.rows, dump.llvm):
        assert stage(data, path.name).count("\n") > 1
    assert instructions(plan, 4) == instructions(uniformity, 4)
    assert instructions(plan, 4) == instructions(cut, 8)


def test_results_are_uniform_varying_or_apart() -> None:
    found = marked(APART)
    assert found["mov.u32 %r2, %ntid.x;"] == "uniform" and found["mov.u32 %r1, %tid.x;"] == "varying"
    assert found["mov.u32 %r3, 1;"] == "apart" or found["mov.u32 %r3, 2;"] == "apart", "both sides write it, each one value"
    assert found["@%p bra THEN;"] == "varying" and found["st.global.u32 [%d1], %r3;"] == ""


def reasons(text: str) -> Iterator[tuple[str, str]]:
    """Each row of the stage cut that says why it begins, with its first instruction."""
    lines = dump.cut(text.encode(), "test").splitlines()
    for line, following in itertools.pairwise(lines):
        if line.startswith("    row") and "(" in line:
            yield following.rpartition("  ")[2], line[line.index("(") + 1 : line.rindex(")")]


def test_rows_say_why_they_begin() -> None:
    found = dict(reasons(ACCESSES))
    assert found["ld.global.u32 %r3, [%d1+4];"] == "global memory, which the pass before stores to"
    assert found["atom.global.add.u32 %r4, [%d1], 1;"] == "an update, which must not be done twice"
    assert found["st.global.u32 [%d1+8], %r4;"] == "behind an update, which must not be done twice"


def test_regions_are_rows_and_name_their_segments() -> None:
    text = dump.cut(LOOP.encode(), "test")
    assert "a warp runs segments 0 1 until 2, whose lanes may diverge; then the next warp" in text


def test_json_says_what_the_text_says() -> None:
    data = ACCESSES.encode()
    (cut,) = json.loads(dump.cut_json(data, "test"))
    text = dump.cut(data, "test").splitlines()
    assert [f"row {row['row']}:" in line for row, line in zip(cut["rows"], [x for x in text if x.startswith("    row")], strict=True)]
    assert [row["why"] for row in cut["rows"] if row["why"]] == [why for _, why in reasons(ACCESSES)]
    (uniformity,) = json.loads(dump.uniformity_json(data, "test"))
    (plan,) = json.loads(dump.inlined_json(data, "test"))
    for segment, planned in zip(uniformity["segments"], plan["segments"], strict=True):
        assert len(segment["varying"]) == len(planned["ops"]) + 1
    (frame,) = json.loads(dump.frame_json(data, "test"))
    places: Any = sorted(frame["offsets"].values())
    assert [f"{at:6}  slot" in line for at, line in zip(places, dump.frame(data, "test").splitlines()[1:], strict=False)]


def test_llvm_shows_the_instructions_of_each_function() -> None:
    text = dump.llvm(LOOP.encode(), "test")
    before = text.split("define i64 @region", 1)[0].splitlines()[-8:]
    assert any("ld.global.u32 %r4, [%d1];" in line for line in before)


def test_what_numpy_runs_alone_says_so() -> None:
    for stage in (dump.uniformity, dump.cut, dump.frame, dump.rows, dump.llvm):
        assert stage(GROWING.encode(), "test") == "test: numpy runs all of it: a stack that grows while the function runs\n"
    assert json.loads(dump.cut_json(GROWING.encode(), "test"))[0]["numpy_runs_it_for"]


@pytest.mark.skipif(bool(missing()), reason="needs llvmlite")
def test_the_command_prints_assembly(tmp_path: Path) -> None:
    path = tmp_path / "loop.ptx"
    path.write_text(LOOP)
    said = CliRunner().invoke(main, ["dump", str(path), "--stage", "assembly"])
    assert said.exit_code == 0 and "region0:" in said.stdout and "pass1:" in said.stdout


def test_stages_without_json_say_which_have_one(tmp_path: Path) -> None:
    path = tmp_path / "loop.ptx"
    path.write_text(LOOP)
    said = CliRunner().invoke(main, ["dump", str(path), "--stage", "llvm", "--json"])
    assert said.exit_code == 2 and "uniformity" in said.output and "llvm has none" in said.output
