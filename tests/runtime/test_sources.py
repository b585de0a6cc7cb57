"""The door through which files become programs: CUDA C++ is compiled once, its directives mean what they mean in PTX."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.compilers import compile, is_installed, nvrtc
from warplab.runtime.compilers.messages import Message, messages
from warplab.runtime.golden import collect, run_case
from warplab.runtime.sources import program_of

needs_compiler = pytest.mark.skipif(not is_installed(), reason="no compiler of CUDA C++")
KERNEL = """\
//@ run --block 32 --arg x=u32[32]:arange --arg out:y=u32[32] --expect "y == 2 * x"
// RUN: warplab run %s
// CHECK: 1 check passed
__global__ void twice(const unsigned *x, unsigned *y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }
"""


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("WARPLAB_CACHE", str(folder))
    return folder


def passes(path: Path) -> list[str]:
    """The messages of the tests that do not pass."""
    cases = collect([path])
    assert cases
    return [r.message for r in map(run_case, cases) if not r.passed]


def test_ptx_is_its_own_program() -> None:
    assert program_of("a.ptx", b".version 7.0").data == b".version 7.0"


@needs_compiler
def test_tests_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "twice.cu").write_text(KERNEL)
    assert [c.name for c in collect([tmp_path])] == ["tool1", "run1"]
    assert passes(tmp_path) == []
    (tmp_path / "twice.toml").write_text(
        '[[run]]\nexpect = ["y == x"]\nbuffers = {x = "u32[32]:arange", y = "u32[32]"}\nlaunch = [{block = 32, args = ["x", "y"]}]\n'
    )
    (message,) = passes(tmp_path / "twice.toml")[1:]
    assert "31 of 32 differ" in message


@needs_compiler
def test_a_template_is_instantiated_where_a_run_names_it(tmp_path: Path) -> None:
    path = tmp_path / "t.cu"
    path.write_text("""\
//@ run --kernel "scale<float>" --block 4 --arg x=f32[4]:arange --arg out:y=f32[4] --expect "y == 3 * x"
//@ run --kernel "scale<double>" --block 4 --arg x=f64[4]:arange --arg out:y=f64[4] --expect "y == 3 * x"
template <typename T> __global__ void scale(const T *x, T *y) { y[threadIdx.x] = 3 * x[threadIdx.x]; }
""")
    assert passes(path) == []
    words = ["run", str(path), "--kernel", "scale<int>", "--block", "4", "--arg", "x=s32[4]:arange", "--arg", "out:y=s32[4]"]
    assert "y = [0, 3, 6, 9]" in CliRunner().invoke(main, words).output


@needs_compiler
def test_verdicts_are_the_compilers(tmp_path: Path) -> None:
    path = tmp_path / "wrong.cu"
    path.write_text('__global__ void k(int *p) {\n    *p = q;  //@ error "is undefined"\n}\n')
    assert passes(path) == []
    path.write_text('__global__ void k(int *p) {\n    *p = 1;  //@ error "is undefined"\n    *p = r;\n}\n')
    (message,) = passes(path)
    assert "line 2: error 'is undefined' is not reported" in message and 'wrong.cu(3): error: identifier "r" is undefined' in message
    run_case(*collect([path]), update=True)
    assert passes(path) == [] and path.read_text().splitlines()[2] == r'    *p = r;  //@ error "identifier \"r\" is undefined"'


@needs_compiler
def test_a_file_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "twice.cu"
    path.write_text(KERNEL)
    first = program_of(str(path), path.read_bytes())
    calls: list[str] = []
    monkeypatch.setattr(compile, "compile_cpp", lambda source, _: calls.append(source.name))
    assert program_of(str(path), path.read_bytes()) == first and not calls
    with pytest.raises(AttributeError):  # the stand-in makes nothing
        program_of(str(path), path.read_bytes() + b"\n")
    assert calls == [str(path)]


@needs_compiler
def test_a_header_beside_a_file_is_read_each_time(tmp_path: Path) -> None:
    path, header = tmp_path / "k.cu", tmp_path / "factor.h"
    path.write_text('#include "factor.h"\n__global__ void k(int *x) { x[threadIdx.x] = FACTOR; }\n')
    for factor in ("1234", "4321"):
        header.write_text(f"#define FACTOR {factor}\n")
        assert factor in program_of(str(path), path.read_bytes()).text()


def test_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "library", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda word: None)
    path = tmp_path / "twice.cu"
    path.write_text(KERNEL)
    wanted = f"{path}: there is no compiler of CUDA C++: pip install 'warplab[cuda]' has one, or put nvcc on the PATH"
    done = CliRunner().invoke(main, ["run", str(path)])
    assert done.exit_code == 2 and done.stderr.endswith(f"{wanted}\n")
    assert wanted in CliRunner().invoke(main, ["test", str(path)]).stdout


def test_messages() -> None:
    log = """\
/a/k.cu(5): error: identifier "q" is undefined
      *p = q;
/a/k.cu(2): warning #177-D: variable "x" was declared but never referenced
/a/k.cu:3:10: fatal error: no.h: No such file or directory
/usr/include/x.h(7): error: of another file
"""
    assert list(messages(log, "/a/k.cu")) == [
        Message("error", 5, "", 'identifier "q" is undefined'),
        Message("warning", 2, "177-D", 'variable "x" was declared but never referenced'),
        Message("error", 3, "", "no.h: No such file or directory"),
    ]
