"""Submissions in CUDA C++: what is compiled, what the limits end, and that no file but a header is read."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.compilers import is_installed, nvrtc
from warplab.runtime.grading import Lab, Submission, find_submissions, load_lab
from warplab.runtime.grading.compiling import build
from warplab.runtime.grading.mutants import mutants_of
from warplab.runtime.grading.selftest import selftest

LABS = Path(__file__).parents[3] / "samples" / "labs"
KERNEL = "__global__ void vecadd(const float *a, const float *b, float *c, int n) {{ {} }}\n"
pytestmark = pytest.mark.skipif(not is_installed(), reason="no compiler of CUDA C++")


@pytest.fixture
def lab() -> Lab:
    return load_lab(LABS / "01-vecadd")


def wrong(lab: Lab, text: str) -> str:
    """Why a submission is not compiled."""
    return build(lab, Submission("s", {"s.cu": text.encode()}))["s.cu"].wrong


@pytest.mark.parametrize(
    "text",
    [
        '#include "/etc/passwd"',
        "#include </etc/passwd>",
        "#include <../../../../etc/passwd>",
        '#/**/include\\\n "/etc/passwd"',
        '/*\n*/ # /*\n*/ include "/etc/passwd"',
        '%:include "/etc/passwd"',
        '#include_next "/etc/passwd"',
        '#define FILE "/etc/passwd"\n#include FILE',
        '#embed "/etc/passwd"',
    ],
)
def test_files_that_are_no_headers(lab: Lab, text: str) -> None:
    assert "a submission includes headers of the compiler" in wrong(lab, f"{text}\n{KERNEL.format('')}")


@pytest.mark.parametrize("text", ['#line 1 "/etc/passwd"\n#error', '# 1 "/etc/passwd"\n#error'])
def test_a_submission_does_not_say_where_it_stands(lab: Lab, text: str) -> None:
    assert wrong(lab, text) == "s.cu: #line has no place in a submission"


def test_headers_of_the_compiler(lab: Lab) -> None:
    assert wrong(lab, "#include <cuda_fp16.h>\n" + KERNEL.format("__half h = 1;")) == ""


def test_messages_are_the_compilers(lab: Lab) -> None:
    assert 's.cu(2): error: identifier "d" is undefined' in wrong(lab, "\n" + KERNEL.format("c[0] = d;"))


def test_an_endless_compilation_is_ended(lab: Lab) -> None:
    hurried = replace(lab, limits=replace(lab.limits, seconds=1.0))
    bomb = "#define A0 1+1+\n" + "".join(f"#define A{n} {f'A{n - 1} ' * 16}\n" for n in range(1, 9))
    start = time.monotonic()
    said = wrong(hurried, bomb + KERNEL.format("c[0] = A8 0;"))
    assert "the compiler took more than 1 s" in said or "the compiler ended without a message" in said
    assert time.monotonic() - start < 5


def test_too_much_of_it(lab: Lab) -> None:
    assert wrong(lab, "//" * (300 << 10)) == "s.cu is larger than 512 KiB"


def test_a_folder_with_both_languages(tmp_path: Path, lab: Lab) -> None:
    for name in ("reference.ptx", "reference.cu", "starter.cu"):
        (tmp_path / name).write_bytes((lab.folder / name).read_bytes())
    assert [s.name for s in find_submissions(lab, [tmp_path])] == ["reference.cu", "reference.ptx", "starter"]
    done = CliRunner().invoke(main, ["grade", str(lab.folder), str(tmp_path)])
    assert [line.split()[-2] for line in done.output.splitlines()[1:3]] == ["10/10", "10/10"], done.output


def test_no_compiler(lab: Lab, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.cu").write_text(KERNEL.format("c[n] = 7;"))  # which was not compiled before
    monkeypatch.setattr(nvrtc, "library", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda word: None)
    done = CliRunner().invoke(main, ["grade", str(lab.folder), str(tmp_path / "mine.cu")])
    assert done.exit_code == 2 and "mine.cu: there is no compiler of CUDA C++: pip install 'warplab[cuda]'" in done.stderr


def test_differences_are_those_from_the_reference_of_the_language(lab: Lab) -> None:
    words = ["grade", str(lab.folder), str(lab.folder / "wrong" / "first_block_only.cu"), "--differences"]
    assert "the reference: c[256] = " in CliRunner().invoke(main, words).output


def test_mutants() -> None:
    text = """\
__global__ void k(int *x, int n) {  // n < 1
    int i = threadIdx.x;
    for (int j = 0; j < n; j++) x[i] += 2;
}
"""
    found = {str(m) for m in mutants_of(Submission("k", {"k.cu": text.encode()}))}
    assert found == {
        "k.cu:1: + for *",
        "k.cu:2: without int i = threadIdx.x;",
        "k.cu:3: without for (int j = 0; j < n; j++) x[i] += 2;",
        "k.cu:3: <= for <",
        "k.cu:3: -= for +=",
    }


@pytest.mark.long
def test_a_self_test_names_what_the_tests_do_not_see(tmp_path: Path) -> None:
    assert CliRunner().invoke(main, ["new", "lab", "--cuda", str(tmp_path / "twice")]).exit_code == 0
    path = tmp_path / "twice" / "lab.toml"
    path.write_text(path.read_text().replace("--block 64 ", "--block 50 ").replace("--block 32 ", "--block 1 "))
    found = selftest(load_lab(path))
    assert {str(m) for m in found.kept} == {"reference.cu:5: without if (i >= n) return;", "reference.cu:5: > for >="}


def test_an_endless_loop_is_named_by_its_source(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "mine.cu").write_text("\n" + KERNEL.format("while (true) { }"))
    done = CliRunner().invoke(main, ["grade", str(lab.folder), str(tmp_path / "mine.cu")])
    assert "reached the limit of 5000000 steps, at mine.cu:2, line " in done.output
