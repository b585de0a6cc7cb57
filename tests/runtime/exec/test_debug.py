"""A launch of a real program in the debugger: the one that fails, or the one that is named."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from warplab.runtime.recording import Recording

from ..dap.editor import Editor
from .conftest import Build, Run

TEXT = """
#include <cstdio>
__global__ void fill(float *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}
__global__ void add(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] + 1.0f;
}
int main(int count, char **) {
    float *a, *b;
    cudaMalloc(&a, 4000);
    cudaMalloc(&b, 4000);
    for (int k = 0; k < 3; ++k) fill<<<4, 256>>>(a, 1000 - k);
    add<<<4, 256>>>(a, b + (count > 1 ? 0 : 500));
    printf("%s\\n", cudaGetErrorString(cudaDeviceSynchronize()));
    return 7;
}
"""
FAULT = next(n for n, line in enumerate(TEXT.splitlines(), 1) if "in[i]" in line)


@pytest.fixture(scope="module")
def program(build: Build) -> str:
    return build("launches", "-lineinfo", text=TEXT)


def debug(run: Run, program: str, *options: str) -> subprocess.CompletedProcess[str]:
    """Opens the debugger on a launch, with a few commands."""
    commands = ("-ex", "info record", "-ex", "goto end", "-ex", "reverse-stepi", "-ex", "info line", "-ex", "info args", "--batch")
    return run(program, options=("--bounds", "strict", "--debug", *options, *commands))


def test_the_launch_that_fails_is_opened(warplab_exec: Run, program: str) -> None:
    done = debug(warplab_exec, program)
    assert done.returncode == 0, done.stderr
    assert "add<<<" in done.stdout and "an illegal memory access" in done.stdout and f"launches.cu:{FAULT}" in done.stdout
    assert "fault: out of bounds" in done.stdout and "<param_0[0]>" in done.stdout


@pytest.mark.parametrize(("launch", "n"), [("2", 999), ("fill:3", 998), ("fill", 1000)])
def test_the_launch_that_is_named_is_opened(warplab_exec: Run, program: str, launch: str, n: int) -> None:
    done = debug(warplab_exec, program, "--launch", launch)
    assert "fill<<<" in done.stdout and f"param_1 = {n}\n" in done.stdout, done.stdout


def test_without_a_failure_it_is_the_last_one(warplab_exec: Run, program: str, tmp_path: Path) -> None:
    saved = tmp_path / "last.wlrec"
    done = warplab_exec(program, "right", options=("--recording", str(saved)))
    assert done.returncode == 7 and "the last one of 4 is kept" in done.stderr
    rec = Recording.load(saved)
    assert rec.track.kernel == "_Z3addPKfPf" and not rec.track.ended


@pytest.mark.parametrize(("launch", "why"), [("9", "no launch 9"), ("nothing", "no launch nothing"), ("0", "from 1 on")])
def test_a_launch_that_is_not_there(warplab_exec: Run, program: str, launch: str, why: str) -> None:
    done = debug(warplab_exec, program, "--launch", launch)
    assert done.returncode == 2 and why in done.stderr


def test_a_program_without_launches(warplab_exec: Run) -> None:
    done = warplab_exec("true", options=("--debug",))
    assert done.returncode == 2 and "launches nothing" in done.stderr


def test_an_editor_debugs_a_program(program: str) -> None:
    editor = Editor()
    editor.ask("initialize")
    editor.ask("launch", command=[program], args="--bounds strict")
    assert any("illegal memory access" in e["body"]["output"] for e in editor.events if e["event"] == "output")
    editor.ask("setExceptionBreakpoints", filters=["fault"])
    at = editor.go()
    assert at["reason"] == "exception" and at["file"] == "launches.cu" and at["line"] == FAULT
    assert "launches nothing" in editor.refused("launch", command=["true"])
    assert "nothing.at.all" in editor.refused("launch", command=["./nothing.at.all"])
