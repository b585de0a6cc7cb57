"""CUDA C++ as input: with NVRTC or nvcc where they are installed, and with a stand-in for nvcc everywhere."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import warplab.runtime as w
from warplab.runtime.cli import main
from warplab.runtime.compilers import CppSource, compile_cpp, nvcc, nvrtc
from warplab.runtime.errors import ApiError, UsageError

from ..ptx import HEAD

CPP = """//@ run --kernel scale --block 32 --arg inout:x=f32:32:arange --arg 2.0 --expect "x == 2 * before(x)"
namespace ns { template <typename T> __global__ void scale(T* x, T by) { x[threadIdx.x] *= by; } }
template __global__ void ns::scale<float>(float*, float);
"""
WRONG = "__global__ void k(int* x) { *x = y; }"
COMPILERS = [
    pytest.param("nvcc", marks=pytest.mark.skipif(shutil.which("nvcc") is None, reason="no nvcc")),
    pytest.param("nvrtc", marks=pytest.mark.skipif(nvrtc.library() is None, reason="no NVRTC")),
]


@pytest.fixture
def only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """One compiler, although there may be two."""
    name: str = request.param
    if name == "nvcc":
        monkeypatch.setattr(nvrtc, "library", lambda: None)
    else:
        monkeypatch.setattr(shutil, "which", lambda word: None)
    return name


@pytest.mark.parametrize("only", COMPILERS, indirect=True)
def test_a_file_runs_and_its_errors_are_the_compilers(only: str, tmp_path: Path) -> None:
    good, wrong = tmp_path / "good.cu", tmp_path / "wrong.cu"
    good.write_text(CPP)
    wrong.write_text(WRONG)
    done = CliRunner().invoke(main, ["run", str(good)])
    assert (done.exit_code, done.stdout) == (0, "ok     ns::scale<float><<<1, 32>>>: 1 check passed\n"), done.stderr
    failed = CliRunner().invoke(main, ["run", str(wrong)])
    assert failed.exit_code == 3 and f'{wrong}(1): error: identifier "y" is undefined' in failed.stderr
    tested = CliRunner().invoke(main, ["test", str(good)])
    assert tested.exit_code == 0 and tested.output.startswith("1 passed"), tested.output
    refused = CliRunner().invoke(main, ["fmt", str(good)])
    assert refused.exit_code == 2 and "is CUDA C++" in refused.stderr and good.read_text() == CPP
    fault = CliRunner().invoke(main, ["run", str(good), "--block", "33"])
    assert fault.exit_code == 4 and "good.cu:2   [line " in fault.stderr


@pytest.mark.parametrize("only", COMPILERS, indirect=True)
def test_programs_in_python(only: str) -> None:
    device = w.Device()
    device.set_current()
    stream = device.create_stream()
    options = w.ProgramOptions(std="c++17", define_macro=[("BY", "3"), "NOTHING"], name="mine")
    text = "template <typename T> __global__ void scale(T* x) { x[threadIdx.x] *= BY; }"
    program = w.Program(text, "c++", options)
    code = program.compile("cubin", name_expressions=("scale<float>", "scale<int>"))
    for name, dtype in (("scale<float>", np.float32), ("scale<int>", np.int32)):
        x = w.to_device(np.arange(32, dtype=dtype))
        w.launch(stream, w.LaunchConfig(grid=1, block=32), code.get_kernel(name), x)
        stream.sync()
        assert np.array_equal(x.copy_to_host(), 3 * np.arange(32))
    with pytest.raises(ApiError, match=r'mine\(1\): error: identifier "y" is undefined'):
        w.Program(WRONG, "c++", options).compile("ptx")


def test_a_stand_in_for_nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ptx = tmp_path / "twice.ptx"
    ptx.write_text(HEAD + ".visible .entry twice() { ret; }")
    command = tmp_path / "nvcc"
    command.write_text(
        '#!/bin/sh\nwhile [ $# -gt 1 ]; do [ "$1" = -o ] && out=$2; shift; done\n'
        f'if grep -q wrong "$1"; then echo "$1(1): error: bad" >&2; exit 1; fi\ncp {ptx} "$out"\n'
    )
    command.chmod(0o755)
    made = nvcc.compile_cpp(CppSource("fine", "a.cu", expressions=("twice",)), str(command))
    assert made.symbols == {"twice": "twice"} and b"twice" in made.ptx
    with pytest.raises(ApiError, match=r"a.cu does not compile\na.cu\(1\): error: bad"):
        nvcc.compile_cpp(CppSource("wrong", "a.cu"), str(command))
    with pytest.raises(ApiError, match="other is the name of 0 kernels"):
        nvcc.compile_cpp(CppSource("fine", "a.cu", expressions=("other",)), str(command))
    monkeypatch.setattr(nvrtc, "library", lambda: None)
    monkeypatch.setattr(shutil, "which", lambda word: None)
    with pytest.raises(UsageError, match=r"pip install 'warplab\[cuda\]'"):
        compile_cpp(CppSource("fine", "a.cu"))
