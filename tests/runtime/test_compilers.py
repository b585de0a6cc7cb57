"""The recipe of docs/testing.md with real compilers, those that are installed: what they print passes as a golden test."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from warplab.runtime.golden import collect, run_case

CUDA = 'extern "C" __global__ void twice(const unsigned *x, unsigned *out) { out[threadIdx.x] = 2 * x[threadIdx.x]; }\n'
LAUNCH = """
expect = ["out == 2 * x"]
[buffers]
x = "u32[32]:arange"
out = "u32[32]:noinit"
[[launch]]
block = 32
args = [{args}]
"""
NUMBA = """
import re
import sys
from numba import cuda, uint32
def twice(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]
ptx, _ = cuda.compile_ptx(twice, (uint32[::1], uint32[::1]), cc=(9, 0))
# NVRTC prints its own newest version, whatever the code needs.
open(sys.argv[1], "w").write(re.sub(r"\\.version .*", ".version 9.0", ptx))
"""
TRITON = """
import sys
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
@triton.jit
def twice(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, 2 * tl.load(x + i, mask=i < n), mask=i < n)
source = ASTSource(twice, {"x": "*u32", "out": "*u32", "n": "i32", "B": "constexpr"}, {(3,): 32})
done = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 1, "ptx_version": 87})
open(sys.argv[1], "w").write(done.asm["ptx"])
"""


def check(path: Path, args: str) -> None:
    path.with_suffix(".toml").write_text(LAUNCH.format(args=", ".join(f'"{a}"' for a in args.split())))
    (case,) = collect([path])
    result = run_case(case)
    assert result.passed, result.message


def compiled(script: str, path: Path) -> None:
    """Runs a compiler in a process of its own; one that lacks its libraries is skipped."""
    source = path.with_suffix(".py")
    source.write_text(script)
    done = subprocess.run([sys.executable, str(source), str(path)], capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(done.stderr.strip().splitlines()[-1])


def test_nvcc(tmp_path: Path) -> None:
    if shutil.which("nvcc") is None:
        pytest.skip("nvcc is not installed")
    (tmp_path / "k.cu").write_text(CUDA)
    subprocess.run(["nvcc", "-ptx", "-arch=sm_90", "k.cu", "-o", "k.ptx"], cwd=tmp_path, check=True)
    check(tmp_path / "k.ptx", "x out")


def test_clang(tmp_path: Path) -> None:
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    plain = CUDA.replace("__global__", "__attribute__((global))").replace("threadIdx.x", "__nvvm_read_ptx_sreg_tid_x()")
    (tmp_path / "k.cu").write_text(plain)
    words = [
        "clang",
        "-x",
        "cuda",
        "--cuda-gpu-arch=sm_75",
        "--cuda-device-only",
        "-nocudainc",
        "-nocudalib",
        "-O2",
        "-S",
        "k.cu",
        "-o",
        "k.ptx",
    ]
    subprocess.run(words, cwd=tmp_path, check=True)
    check(tmp_path / "k.ptx", "x out")


def test_numba(tmp_path: Path) -> None:
    pytest.importorskip("numba.cuda", exc_type=ImportError)
    compiled(NUMBA, tmp_path / "k.ptx")
    check(tmp_path / "k.ptx", "null null 32 4 x 32 4 null null 32 4 out 32 4")  # an array is seven parameters


def test_triton(tmp_path: Path) -> None:
    pytest.importorskip("triton", exc_type=ImportError)
    compiled(TRITON, tmp_path / "k.ptx")
    text = (tmp_path / "k.ptx").read_text()
    scratch = text[: text.index("{")].count(".param") - 3  # pointers to scratch memory that newer versions add
    check(tmp_path / "k.ptx", "x out 32 " + "null " * scratch)
