"""Tests that stand in PTX files: directives, verdicts, budgets, recorded outputs, FileCheck lines, reports, the pytest plugin."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.errors import UsageError
from warplab.runtime.golden import collect, run_case
from warplab.runtime.golden.directives import read
from warplab.runtime.golden.filecheck import checks_of, match, without_checks
from warplab.runtime.golden.metrics import check_metric

from ..ptx import kernel

ROOT = Path(__file__).parents[3]
KERNEL = kernel("doubles")
RUN = "//@ run --block 32 --arg x=u32[32]:arange --arg out:out=u32[32]"


def write(folder: Path, head: str, body: str = KERNEL, name: str = "t.ptx") -> Path:
    path = folder / name
    path.write_text(head + "\n" + body)
    return path


def messages(path: Path, **kw: bool) -> list[str]:
    return [run_case(c, **kw).message for c in collect([path])]


def test_runs_pass_and_fail_with_the_first_element(tmp_path: Path) -> None:
    path = write(tmp_path, f'{RUN} --expect "out == 2 * x"\n{RUN} --expect "out == 3 * x"')
    good, bad = messages(path)
    assert good == ""
    assert "31 of 32 differ; first out[1]: got 2, expected 3" in bad


@pytest.mark.parametrize(
    ("metric", "good"),
    [
        ("sectors_per_request == 4", True),
        ("global_ld_requests <= 1", True),
        ("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum == 4", True),
        ("op_add == 1", True),
        ("op_shfl == 0", True),
        ("warp_instructions < branches + 20", True),
        ("global_ld_sectors <= 3", False),
    ],
)
def test_budgets_on_counters(tmp_path: Path, metric: str, good: bool) -> None:
    (message,) = messages(write(tmp_path, f"{RUN}\n//@ metric {metric}"))
    assert (message == "") is good, message
    if not good:
        assert "global_ld_sectors is 4" in message


def test_metrics_that_make_no_sense_are_named() -> None:
    values = {"branches": 3.0}
    assert check_metric("branches == 3", values) is None
    with pytest.raises(UsageError, match="did you mean branches"):
        check_metric("branchs == 3", values)
    for wrong in ("branches", "branches == 3 == 3", "__import__('os') == 1", "branches == 'a'", "branches == "):
        with pytest.raises(UsageError):
            check_metric(wrong, values)


def test_a_fault_is_expected(tmp_path: Path) -> None:
    head = '//@ run --block 32 --arg x=u32[8] --arg out:out=u32[32]\n//@ fault "{}"'
    assert messages(write(tmp_path, head.format("CUDA_ERROR_ILLEGAL_ADDRESS"))) == [""]
    assert messages(write(tmp_path, head.format("out-of-bounds"))) == [""]
    assert "does not say 'deadlock'" in messages(write(tmp_path, head.format("deadlock")))[0]
    assert "ended well" in messages(write(tmp_path, f'{RUN}\n//@ fault "illegal"'))[0]


def test_verdicts_of_the_assembler(tmp_path: Path) -> None:
    body = KERNEL.replace("    add.u32 %v, %v, %v;", '    add.u32 %v, %w, %v;  //@ error[undeclared-name] "%w"')
    assert messages(write(tmp_path, "// -", body)) == [""]
    assert messages(write(tmp_path, "//@ error +14: ", body.replace('//@ error[undeclared-name] "%w"', ""))) == [""]
    wrong = messages(write(tmp_path, '//@ error 3: "nothing"', body))[0]
    assert "line 3: error 'nothing' is not reported" in wrong
    missing = messages(write(tmp_path, "//@ error 9:", body.replace('//@ error[undeclared-name] "%w"', "")))[0]
    assert "not expected:" in missing and "%w" in missing


def test_small_outputs_in_place_and_large_ones_beside(tmp_path: Path) -> None:
    head = "//@ run --block 4 --arg x=u32[4]:arange --arg out:out=u32[4]\n//@ golden out = [0, 2, 5, 6]\n//@ golden x"
    path = write(tmp_path, head)
    (message,) = messages(path)
    assert "1 of 4 elements differ" in message and "holds no x of run 1" in message
    assert run_case(collect([path])[0], update=True).updated
    assert "//@ golden out = [0, 2, 4, 6]" in path.read_text()
    with np.load(tmp_path / "t.golden.npz") as kept:
        assert kept["run1.x"].tolist() == [0, 1, 2, 3]
    assert messages(path) == [""]
    before = path.stat().st_mtime_ns
    assert not run_case(collect([path])[0], update=True).updated
    assert path.stat().st_mtime_ns == before


def test_directives_belong_to_the_run_above() -> None:
    found = read('//@ metric a == 1\n//@ run --grid 1\n//@ metric b == 1\n//@ run --grid 2\n//@     --block 3\n//@ prints "x\\n"\n')
    assert [r.metrics for r in found.runs] == [("a == 1", "b == 1"), ("a == 1",)]
    assert found.runs[1].prints == "x\n"
    assert found.runs[1].spec.launches[0].block == (3, 1, 1)


@pytest.mark.parametrize(
    "text", ["//@ rnu --grid 1", '//@ fault "x"', "//@ run --grid 1\n//@ prints x", "//@ error twelve", "//@ run --gird 1"]
)
def test_directives_that_cannot_be_read_fail_as_tests(tmp_path: Path, text: str) -> None:
    (message,) = messages(write(tmp_path, text))
    assert message


def test_tools_are_held_against_check_lines(tmp_path: Path) -> None:
    head = "// RUN: warplab cfg %s\n// CHECK: twice\n// CHECK-NOT: B1\n// RUN: not warplab cfg %s -f nothing | filecheck --check-prefix=BAD\n// BAD: no function is called nothing"
    assert messages(write(tmp_path, head)) == ["", ""]
    wrong = messages(write(tmp_path, "// RUN: warplab cfg %s\n// CHECK: thrice"))[0]
    assert ":2: CHECK: thrice" in wrong and "the output there:" in wrong
    assert "a test cannot run tests" in messages(write(tmp_path, "// RUN: warplab test %s"))[0]
    assert "changes the test itself" in messages(write(tmp_path, "// RUN: rm -f %s && touch %s"))[0]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("warplab cfg %s && warplab check %s | FileCheck %s\n// CHECK: .entry", ""),
        ("warplab cfg %s | grep entry | FileCheck %s\n// CHECK: .entry\n// CHECK-NOT: B0", ""),
        ("warplab assemble %s -o %t.o && warplab info %t.o | FileCheck %s\n// CHECK: twice", ""),
        ("cp %s %t.ptx && warplab run %t.ptx", ""),
        ("not false && not warplab cfg %s -f nothing", ""),
        ("false | cat", "ended with exit code 1"),
        ("echo said >&2; exit 7", "ended with exit code 7\nsaid"),
        ("echo %{WARPLAB_WORD} | FileCheck %s\n// CHECK: a word", ""),
        ("echo %{NOWHERE_SET}", "the environment has no variable NOWHERE_SET"),
        ("echo %q", "%q is not supported; there are %s, %S, %t, %T and %{VARIABLE}"),
        ("warplab cfg %s\n// CHEKC: .entry", ":3: CHEKC is no check; is CHECK meant?"),
        ("warplab cfg %s | FileCheck --check-prefix=FLOW %s\n// FLOW: .entry\n// FLWO-NEXT: B0", "FLWO is no check; is FLOW meant?"),
        ("warplab cfg %s\n// CHECK: .entry\n// NOTE: this is prose", ""),
    ],
)
def test_run_lines_of_any_command(lines: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WARPLAB_WORD", "a word")
    found = messages(write(tmp_path, f"{RUN}\n// RUN: {lines}", name="k.ptx"))
    assert any(message in m for m in found) if message else not any(found), found


def test_check_lines_without_a_command_are_an_error(tmp_path: Path) -> None:
    assert "line 2: there are CHECK lines and no RUN line" in messages(write(tmp_path, f"{RUN}\n// CHECK-NEXT: ret"))[0]


@pytest.mark.parametrize(
    ("checks", "output", "good"),
    [
        ("CHECK: a\nCHECK-NEXT: b", "a\nb\n", True),
        ("CHECK: a\nCHECK-NEXT: b", "a\nc\nb\n", False),
        ("CHECK: a\nCHECK-NOT: x\nCHECK: b", "a\nb\nx\n", True),
        ("CHECK: a\nCHECK-NOT: x\nCHECK: b", "a\nx\nb\n", False),
        ("CHECK: a\nCHECK-NOT: x", "a\nx\n", False),
        ("CHECK-DAG: b\nCHECK-DAG: a\nCHECK: c", "a\nb\nc\n", True),
        ("CHECK-DAG: a\nCHECK-DAG: a\n", "a\nb\n", False),
        ("CHECK-DAG: b\nCHECK-DAG: a\nCHECK: c", "c\na\nb\n", False),
        ("CHECK: r[[N:[0-9]+]] = 1\nCHECK: use r[[N]]", "r7 = 1\nuse r7\n", True),
        ("CHECK: r[[N:[0-9]+]] = 1\nCHECK: use r[[N]]", "r7 = 1\nuse r8\n", False),
        ("CHECK: {{r[0-9]+}}  =   1", "r7 = 1\n", True),
        ("CHECK: a\nCHECK-SAME: c", "a b c\n", True),
        ("CHECK: a\nCHECK-SAME: c", "a b\nc\n", False),
        ("CHECK: a\nCHECK-EMPTY:\nCHECK: b", "a\n\nb\n", True),
        ("CHECK-COUNT-2: a\nCHECK-NOT: a", "a\na\n", True),
        ("CHECK-COUNT-3: a", "a\na\n", False),
        ("CHECK-LABEL: f:\nCHECK: x\nCHECK-LABEL: g:\nCHECK: y", "f:\nx\ng:\ny\n", True),
        ("CHECK-LABEL: f:\nCHECK: x\nCHECK-LABEL: g:", "f:\ng:\nx\n", False),
        ("CHECK-LABEL: f:\nCHECK-NOT: x\nCHECK-LABEL: g:\nCHECK-NEXT: x", "f:\ng:\nx\n", True),
        ("CHECK-LABEL: f:\nCHECK-NEXT: g:\nCHECK-LABEL: g:", "f:\ng:\n", False),
        ("CHECK-LABEL: h:", "f:\ng:\n", False),
        ("CHECK: r[[#N:]] =\nCHECK: r[[#N+1]] =", "r9 =\nr10 =\n", True),
        ("CHECK: r[[#N:]] =\nCHECK: r[[#N+1]] =", "r9 =\nr11 =\n", False),
        ("CHECK: a [[#%x,A:]]\nCHECK: b [[#A+0x10]]", "a ff\nb 10f\n", True),
        ("CHECK: a [[#%x,A:]]\nCHECK: b [[#%d, A - 256]]", "a ff\nb -1\n", True),
        ("CHECK: a [[#%#x,A:]]\nCHECK: b [[#A]]", "a 0xff\nb 0xff\n", True),
        ("CHECK: a [[#%.8X,A:]]\nCHECK: b [[#%u,A]]", "a 000000FF\nb 255\n", True),
        ("CHECK: a [[#%.3u,]]$", "a 12$\n", False),
        ("CHECK: a [[#%d,N:]]\nCHECK: b [[#N: N - 1]]\nCHECK: c [[#N]]", "a -1\nb -2\nc -2\n", True),
        ("CHECK: [[#N:]]\nCHECK: [[#mul(N, 2) - max(1,(N+0))]];", "7\n7;\n", True),
        ("CHECK: [[#N:]]\nCHECK: [[#div(-7, 2) + N]];", "7\n4;\n", True),
        ("CHECK: [[#N:]] [[#]] [[#%x,]]", "1 2 ab", True),
        ("CHECK: line [[#@LINE]]\nCHECK: line [[@LINE+1]] ", "line 1\nline 3 \n", True),
        ("CHECK: [[#N:]]\nCHECK: [[# == N + 1 ]]", "1\n2\n", True),
        ("CHECK: [[#N:]]\nCHECK-NOT: [[#N]]", "1\n2\n", True),
        ("CHECK: [[#N:]]\nCHECK-NOT: [[#N]]", "1\n1\n", False),
        ("CHECK{LITERAL}: [[a]] {{b}}\nCHECK-NEXT{LITERAL}: (", "[[a]] {{b}}\n(\n", True),
        ("CHECK: a{{[[:space:]]+[[:digit:]]}}", "a  7\n", True),
    ],
)
def test_filecheck(checks: str, output: str, good: bool) -> None:
    found = checks_of("\n".join("// " + line for line in checks.splitlines()))
    assert (match(found, output) is None) is good


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("// CHECK-NXET: ret", ":2: CHECK-NXET is unknown: CHECK may be followed by -NEXT,"),
        ("// CHECK-COUNT-0: ret", ":2: CHECK-COUNT-0 is unknown"),
        ("// CHECK{LITERL}: ret", ":2: CHECK{LITERL} is unknown"),
        ("// CHECK-FLOW: twice\n// RUN: warplab cfg %s | filecheck --check-prefix=CHECK-FLOW", ""),
    ],
)
def test_no_check_is_ignored(lines: str, message: str, tmp_path: Path) -> None:
    first = messages(write(tmp_path, f"// RUN: warplab cfg %s\n{lines}"))[0]
    assert message in first and bool(message) == bool(first)


@pytest.mark.parametrize(
    ("checks", "output", "message"),
    [
        ("CHECK: [[#N]]", "1", "no line above reads N: [[#N:]] does"),
        ("CHECK-NOT: [[N]]", "1", "no line above reads N: [[N:REGEX]] does"),
        ("CHECK: [[1,2]]", "1", "[[1,2]] names no text"),
        ("CHECK-NEXT: 1", "1\n1", "no line above says after which match"),
        ("CHECK-NOT: 2\nCHECK-EMPTY:", "\n\n", "no line above says after which match"),
        ("CHECK:", "1", "there is nothing to look for"),
        ("CHECK: [[#N:]] [[#N]]", "1 1", "no line above reads N"),
        ("CHECK: [[N:.]]\nCHECK: [[#N]]", "1\n1", "N stands for a text"),
        ("CHECK: [[#N:]]\nCHECK: [[N]]", "1\n1", "N is a number: write [[#N]]"),
        ("CHECK: [[#N:]]\nCHECK: [[#N-2]]", "1\n1", "the value is -1, and %u has no sign"),
        ("CHECK: [[#A:]] [[#%x,B:]]\nCHECK: [[#A+B]]", "1 1\n2", "the variables have different formats"),
        ("CHECK: [[#%q,N:]]", "1", "cannot be read"),
        ("CHECK: [[#%#u,N:]]", "1", "# goes with %x and %X"),
        ("CHECK: [[#1 * 2]]", "2", "is not an expression of +, -, variables and numbers"),
        ("CHECK: [[#1 +]]", "2", "a number or a variable is missing"),
        ("CHECK: [[#add(1)]]", "2", ", is missing"),
        ("CHECK: [[#1 2]]", "2", "1 2 cannot be read"),
        ("CHECK: [[#div(1, 0)]]", "2", "divides by zero"),
    ],
)
def test_numbers_that_filecheck_cannot_use(checks: str, output: str, message: str) -> None:
    failure = match(checks_of("\n".join("// " + line for line in checks.splitlines())), output)
    assert failure is not None and message in failure.reason


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("warplab cfg %s | FileCheck %s --check-prefixes=A,B\n// A: .entry\n// B-NEXT: bogus", ":4: B-NEXT: bogus"),
        ("warplab cfg %s | FileCheck %s --check-prefix A\n// A: bogus", ":3: A: bogus"),
        ("warplab cfg %s | FileCheck -check-prefix=A --check-prefix=B %s\n// A: .entry\n// B: bogus", ":4: B: bogus"),
        ("warplab cfg %s | FileCheck %s --implicit-check-not=twice\n// CHECK: ret", ":2: --implicit-check-not=twice"),
        ("warplab cfg %s | FileCheck %s --match-full-lines\n// CHECK: .entry", "not found"),
        ("warplab cfg %s | FileCheck %s --match-full-lines\n// CHECK: {{.*}}.entry twice{{.*}}", ""),
        ("warplab cfg %s | FileCheck %s -DWHAT=entry -D#N=0\n// CHECK: .[[WHAT]] twice\n// CHECK: B[[#N]]", ""),
        ("warplab cfg %s | FileCheck %s -D=3", "-D=3 is not supported"),
        ("warplab cfg %s | FileCheck %s -D#N=x", "'x' is not a number"),
        (
            "warplab cfg %s | FileCheck %s --strict-whitespace\n// CHECK: .entry",
            "--strict-whitespace is not supported; there are --check-prefix",
        ),
        ("warplab cfg %s | FileCheck %s --check-prefix=\n// CHECK: .entry", "a prefix begins with a letter"),
        ("warplab cfg %s | FileCheck %s --check-prefix=OTHER\n// CHECK: .entry", "no line of the file begins with // OTHER:"),
        ("warplab cfg %s \\\n// RUN:  | FileCheck %s\n// CHECK: bogus", ":4: CHECK: bogus"),
        ("warplab run %S/k.ptx", ""),
        ("warplab check %s\n// RUN: warplab cfg %s | FileCheck %s\n// CHECK: .entry", ""),
    ],
)
def test_run_lines_as_llvm_writes_them(lines: str, message: str, tmp_path: Path) -> None:
    found = messages(write(tmp_path, f"{RUN}\n// RUN: {lines}", name="k.ptx"))
    assert any(message in m for m in found) if message else not any(found), found


def test_check_lines_in_the_output_do_not_match_themselves() -> None:
    assert without_checks("// CHECK: ret\n    // RUN: warplab fmt %s\n// note: kept\nret;\n") == "// note: kept\nret;\n"


def test_command_reports(tmp_path: Path) -> None:
    write(tmp_path, f'{RUN} --expect "out == 2 * x"', name="a.ptx")
    write(tmp_path, f'{RUN} --expect "out == x"', name="b.ptx")
    write(tmp_path, "// no test", name="c.ptx")
    junit = tmp_path / "report.xml"
    done = CliRunner().invoke(main, ["test", str(tmp_path), "--json", "--junit", str(junit)])
    assert done.exit_code == 1
    report = json.loads(done.output)
    assert (report["passed"], report["failed"]) == (1, 1)
    suite = ElementTree.parse(junit).getroot()[0]
    assert suite.attrib["tests"] == "2" and suite.attrib["failures"] == "1"
    assert "31 of 32 differ" in (suite[1][0].text or "")
    assert CliRunner().invoke(main, ["test", str(tmp_path), "-k", "a.ptx"]).exit_code == 0
    assert CliRunner().invoke(main, ["test", str(tmp_path), "-k", "not b.ptx"]).exit_code == 0
    assert CliRunner().invoke(main, ["test", str(tmp_path), "-n", "2"]).exit_code == 1
    assert CliRunner().invoke(main, ["test", str(tmp_path / "c.ptx")]).exit_code == 2
    assert CliRunner().invoke(main, ["test", str(tmp_path / "nowhere")]).exit_code == 2


def test_small_tests_are_quick(tmp_path: Path) -> None:
    for n in range(60):
        write(tmp_path, f'{RUN} --expect "out == 2 * x"', KERNEL.replace("twice", f"twice{n}"), name=f"t{n}.ptx")
    cases = collect([tmp_path])
    run_case(cases[0])
    start = time.process_time()
    assert all(run_case(c).passed for c in cases)
    rate = len(cases) / (time.process_time() - start)
    assert rate > 60, f"{rate:.0f} tests a second"


def test_pytest_collects_where_it_is_told(tmp_path: Path) -> None:
    write(tmp_path, f'{RUN} --expect "out == 2 * x"\n{RUN} --expect "out == x"', name="a.ptx")
    (tmp_path / "test_device.py").write_text(
        "import pytest\n"
        "def test_array(assert_array):\n"
        "    assert_array([1.0, 2.0], [1.0, 2.0])\n"
        "    with pytest.raises(AssertionError, match='1 of 2 elements differ'):\n"
        "        assert_array([1, 2], [1, 3])\n"
    )
    paths = str(ROOT / "tests" / "importroot")

    def run(ini: str) -> str:
        (tmp_path / "pytest.ini").write_text(f"[pytest]\n{ini}\n")
        words = [sys.executable, "-m", "pytest", "-q", "-p", "warplab.runtime.pytest_plugin", "-p", "no:cacheprovider", str(tmp_path)]
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": paths, "PATH": "/usr/bin:/bin", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        ).stdout

    assert "1 passed" in run("")
    told = run("warplab = .")
    assert "2 passed" in told and "1 failed" in told and "first out[1]" in told and "Traceback" not in told


def test_the_toml_beside_has_directives_of_its_own(tmp_path: Path) -> None:
    path = write(tmp_path, "// as a compiler leaves it")
    run = '[[run]]\n{}\nbuffers = {{ x = "u32[4]:arange", out = "u32[4]:noinit" }}\nlaunch = [{{ block = 4, args = ["x", "out"] }}]\n'
    toml = path.with_suffix(".toml")
    toml.write_text("#@ metric sectors_per_request <= 1\n" + run.format("#@ golden out = [0, 2, 4, 6]") + run.format("#@ golden out = [1]"))
    good, bad = messages(path)
    assert good == "" and "4 elements, 1 are recorded" in bad
    assert [r.updated for r in (run_case(c, update=True) for c in collect([path]))] == [False, True]
    assert toml.read_text().count("#@ golden out = [0, 2, 4, 6]") == 2 and messages(path) == ["", ""]
    toml.write_text(toml.read_text().replace("<= 1", "< 1"))
    assert all("sectors_per_request is 1" in m for m in messages(path))
    toml.write_text("#@ run --grid 1\n" + toml.read_text())
    assert "there are #@ fault, metric, prints and golden" in messages(path)[0]


def test_update_of_verdicts_moves_no_line(tmp_path: Path) -> None:
    body = KERNEL.replace("    add.u32 %v, %v, %v;", '    add.u32 %v, %w, %v;  //@ error "something else"').replace("st.global", "st.globe")
    path = write(tmp_path, '//@ error 5: "gone"\n// ---', body)
    (case,) = collect([path])
    assert not run_case(case).passed
    result = run_case(case, update=True)
    assert result.passed and result.updated
    assert messages(path) == [""]
    lines = path.read_text().splitlines()
    assert lines[0] == "//" and len(lines) >= len(body.splitlines()) + 2
    assert re.search(r"add\.u32 %v, %w, %v;  //@ error\[undeclared-name\] \".*%w", path.read_text())
    assert "something else" not in path.read_text()
    assert not run_case(collect([path])[0], update=True).updated


PRINTS = kernel("says")


def test_update_of_what_is_printed(tmp_path: Path) -> None:
    path = write(tmp_path, '//@ run\n//@ prints "old\\n"\n//@ prints "older\\n"', PRINTS)
    (message,) = messages(path)
    assert "-old" in message and '+"\\' in message and "+ok" in message
    assert run_case(collect([path])[0], update=True).updated
    assert path.read_text().splitlines()[1:3] == ['//@ prints "\\"\\\\\\n"', '//@ prints "ok\\n"']
    assert messages(path) == [""]


def test_update_records_what_a_tool_prints(tmp_path: Path) -> None:
    path = write(tmp_path, "// RUN: warplab fmt - < %s\n// RUN: warplab cfg %s | filecheck --check-prefix=FLOW")
    for case in collect([path]):
        assert run_case(case, update=True).updated
    text = path.read_text()
    assert "// CHECK-NEXT: .target sm_70" in text and "// FLOW:" in text
    assert messages(path) == ["", ""]
    assert not any(run_case(c, update=True).updated for c in collect([path]))
    path.write_text(text.replace("add.u32 %v, %v, %v;", "sub.u32 %v, %v, %v;", 1))
    assert "add.u32" in messages(path)[0]
    assert all(run_case(c, update=True).updated for c in collect([path])) and messages(path) == ["", ""]
    by_hand = write(tmp_path, "// RUN: warplab fmt - < %s\n// CHECK: nothing\n// CHECK-NOT: add", name="hand.ptx")
    kept = by_hand.read_text()
    assert "written by hand" in run_case(collect([by_hand])[0], update=True).message and by_hand.read_text() == kept
    shared = write(tmp_path, "// RUN: warplab fmt - < %s\n// RUN: warplab cfg %s", name="shared.ptx")
    assert "check-prefix" in run_case(collect([shared])[0], update=True).message


def test_a_tool_cannot_change_the_test_itself(tmp_path: Path) -> None:
    path = write(tmp_path, "// RUN: warplab fmt %s\n// CHECK: add")
    before = path.read_bytes()
    assert "changes the test itself" in messages(path)[0] and path.read_bytes() == before
    (tmp_path / "u.ptx").write_text("// RUN: warplab fmt - < nowhere.ptx\n")
    assert "nowhere.ptx" in messages(tmp_path / "u.ptx")[0]


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("", "failed"), ("// XFAIL: *", "xfailed"), ("// XFAIL: gpu", "failed"), ("// XFAIL: gpu || !gpu", "xfailed"), ("// REQUIRES: gpu", "skipped"),
        ("// REQUIRES: !gpu && (linux || darwin || windows)", "failed"), ("// UNSUPPORTED: gpu, *", "skipped"), ("// UNSUPPORTED: gpu", "failed"),
        ("// REQUIRES: asserts", "failed"), ("// XFAIL: (gpu", "failed"), ("// XFAIL:", "failed"),
    ],
)  # fmt: skip
def test_conditions_of_a_file(tmp_path: Path, line: str, outcome: str) -> None:
    path = write(tmp_path, f'{line}\n{RUN} --expect "out == x"')
    done = CliRunner().invoke(main, ["test", str(path), "--json"])
    (found,) = json.loads(done.output)["tests"]
    assert found["outcome"] == outcome and done.exit_code == (outcome == "failed"), found["message"]
    if line.endswith(("asserts", "(gpu", "XFAIL:")):
        assert line.removeprefix("// ").split(":")[0] in found["message"]


def test_a_test_that_passes_against_its_xfail_line_fails(tmp_path: Path) -> None:
    path = write(tmp_path, f'// XFAIL: *\n{RUN} --expect "out == 2 * x"')
    assert messages(path) == ["XFAIL: *: it was expected to fail, and passed"]


def test_verbose_shows_the_whole_output(tmp_path: Path) -> None:
    path = write(tmp_path, "// RUN: warplab info %s\n// CHECK: nothing like it")
    short, whole = (CliRunner().invoke(main, ["test", str(path), *more]).output for more in ([], ["-v"]))
    assert "the whole output:" in whole and "barriers" in whole and "barriers" not in short


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("//@ Run --grid 1", "no directive is called 'Run'; did you mean run? (the directives: run fault "),
        ("//@ Metrics warp_instructions <= 3", "did you mean metric?"),
        (f"{RUN} --expct out==x", "no option is called --expct; did you mean --expect? (the options: --kernel "),
        (f"{RUN}\n//@ prints hello", "'hello' is not a text in quotes"),
        ('//@ error[syntax] 3: "x"', "line 3: error[syntax] 'x' is not reported"),
    ],
)
def test_mistyped_directives_say_what_is_meant(tmp_path: Path, line: str, message: str) -> None:
    assert message in messages(write(tmp_path, line))[0]


def test_a_command_has_the_environment_that_warplab_was_given(tmp_path: Path) -> None:
    """Not what a start sets for itself."""
    path = tmp_path / "k.ptx"
    path.write_text("// RUN: env > %t; ! grep OPENBLAS_NUM_THREADS %t\n")
    code = "from warplab.runtime.cli import main; main()"
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    environment["PYTHONPATH"] = str(ROOT / "tests" / "importroot")
    done = subprocess.run([sys.executable, "-c", code, "test", str(path)], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
