"""The recipe of docs/compilers.md with real compilers, those that are installed: what they print passes as a golden test.

The commands are the ones of docs/examples/ptx.yml, so that what the page says is what is tried.  Beyond the page's small kernel, each compiler
that is there makes a softmax: shared memory, barriers or shuffles, exp, and a loop.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from click.testing import CliRunner

from warplab.runtime.cli import main
from warplab.runtime.golden import collect, run_case

RECORDED = Path(__file__).parents[2] / "data" / "compilers"
EXAMPLES = Path(__file__).parents[3] / "docs" / "examples"
PAGE = Path(__file__).parents[3] / "docs" / "compilers.md"
WORKFLOW = (EXAMPLES / "ptx.yml").read_text()


def step(name: str) -> list[str]:
    """The command lines of a step of the workflow."""
    m = re.search(rf"- name: {name}\n(?:        working-directory: .*\n)?        run: (?:\|\n((?:          .*\n)+)|(.*)\n)", WORKFLOW)
    assert m is not None, name
    return [line.strip() for line in (m[1] or m[2]).splitlines()]


RECIPES = {Path(re.findall(r"[\w.]+\.ptx", line)[0]).stem: line for line in step("PTX")}
PACKAGES = {"zig": "ziglang", "llvm": "llvmlite", "numba": "numba", "triton": "triton"}


def program(name: str) -> str:
    """Where a compiler is; the test is skipped where it isn't."""
    found = shutil.which(name) or next((w for n in range(30, 13, -1) if name == "clang" and (w := shutil.which(f"clang-{n}"))), None)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def run(words: list[str], folder: Path) -> None:
    """Runs a compiler; one that lacks a library of its own is skipped."""
    done = subprocess.run(words, capture_output=True, text=True, cwd=folder, timeout=300)
    if done.returncode and re.search(r"(ImportError|ModuleNotFoundError|NvvmSupportError|libNVVM|NvrtcError|libnvrtc)", done.stderr):
        pytest.skip(done.stderr.strip().splitlines()[-1])
    assert done.returncode == 0, done.stdout + done.stderr


def passes(path: Path) -> None:
    (case,) = collect([path])
    result = run_case(case)
    assert result.passed, result.message


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.ptx")), ids=lambda p: p.stem)
def test_output_of_a_compiler_as_the_h200_ran_it(path: Path) -> None:
    """The softmax below as nvcc 13.0, numba 0.68 and Triton 3.9 print it: the H200 recorded what comes out, bit for bit."""
    assert path.with_suffix(".golden.npz").is_file()
    passes(path)


@pytest.mark.parametrize("name", RECIPES)
def test_recipe(name: str, tmp_path: Path) -> None:
    words = shlex.split(RECIPES[name])
    if words[0] == "python":
        if find_spec(PACKAGES[name]) is None:
            pytest.skip(f"{PACKAGES[name]} is not installed")
        words[0] = sys.executable
    else:
        words[0] = program(words[0])
    shutil.copytree(EXAMPLES, tmp_path, dirs_exist_ok=True)
    run(words, tmp_path)
    passes(tmp_path / f"{name}.ptx")


def test_workflow_calls_what_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert {p.stem for p in EXAMPLES.glob("*.toml")} == set(RECIPES), "a recipe for each launch file, and a launch file for each"
    for line in step("PTX"):
        for name in re.findall(r"\bscale\w*\.\w+", line):
            assert (EXAMPLES / name).is_file(), name
    # Its last step runs as it stands, over one output and five that are missing.
    folder = tmp_path / "docs" / "examples"
    shutil.copytree(EXAMPLES, folder)
    (folder / "zig.ptx").write_text(PLAIN)
    monkeypatch.chdir(tmp_path)
    (line,) = step("Tests")
    done = CliRunner().invoke(main, shlex.split(line)[1:])
    assert done.exit_code == 0 and "1 passed" in done.output, done.output
    assert 'tests="1"' in (tmp_path / "ptx.xml").read_text()
    packages = " ".join(step("Compilers"))
    for package in PACKAGES.values():
        assert package in packages


def test_page_says_what_the_workflow_does() -> None:
    text = PAGE.read_text()
    for line in step("PTX"):
        assert line in text, line
    for path in EXAMPLES.iterdir():
        assert f"examples/{path.name}" in text, path.name


PLAIN = """\
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 x, .param .u64 out, .param .f32 factor, .param .u32 n)
{
    .reg .pred %p; .reg .b32 %t, %b, %w, %n; .reg .f32 %v, %f; .reg .b64 %x, %out;
    mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %w, %ntid.x; mad.lo.u32 %t, %b, %w, %t;
    ld.param.u32 %n, [n]; setp.ge.u32 %p, %t, %n; @%p bra done;
    ld.param.u64 %x, [x]; ld.param.u64 %out, [out]; ld.param.f32 %f, [factor];
    mad.wide.u32 %x, %t, 4, %x; mad.wide.u32 %out, %t, 4, %out;
    ld.global.f32 %v, [%x]; mul.f32 %v, %v, %f; st.global.f32 [%out], %v;
done:
    ret;
}
"""

# ---------------------------------------------------------------- a kernel with more in it

CUDA = r"""
extern "C" __global__ void softmax(const float *x, float *out, int columns)
{
    __shared__ float part[4];
    __shared__ float row[256];
    int t = threadIdx.x;
    float most = -3.4e38f;
    for (int c = t; c < columns; c += 128) { row[c] = x[blockIdx.x * columns + c]; most = fmaxf(most, row[c]); }
    for (int d = 16; d; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
    if (t % 32 == 0) part[t / 32] = most;
    __syncthreads();
    most = fmaxf(fmaxf(part[0], part[1]), fmaxf(part[2], part[3]));
    __syncthreads();
    float sum = 0;
    for (int c = t; c < columns; c += 128) sum += row[c] = expf(row[c] - most);
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
    if (t % 32 == 0) part[t / 32] = sum;
    __syncthreads();
    sum = part[0] + part[1] + part[2] + part[3];
    for (int c = t; c < columns; c += 128) out[blockIdx.x * columns + c] = row[c] / sum;
}
"""
NUMBA = """
import math, sys
from numba import cuda, float32, int32
def softmax(x, out, columns):
    part = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    most = float32(-3.4e38)
    for c in range(t, columns, 128):
        most = max(most, x[row, c])
    part[t] = most
    cuda.syncthreads()
    half = 64
    while half:
        if t < half:
            part[t] = max(part[t], part[t + half])
        cuda.syncthreads()
        half //= 2
    most = part[0]
    cuda.syncthreads()
    total = float32(0)
    for c in range(t, columns, 128):
        total += math.exp(x[row, c] - most)
    part[t] = total
    cuda.syncthreads()
    half = 64
    while half:
        if t < half:
            part[t] += part[t + half]
        cuda.syncthreads()
        half //= 2
    for c in range(t, columns, 128):
        out[row, c] = math.exp(x[row, c] - most) / part[0]
ptx, _ = cuda.compile_ptx(softmax, (float32[:, ::1], float32[:, ::1], int32), cc=(9, 0))
open("k.ptx", "w").write(ptx)
"""
TRITON = """
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
@triton.jit
def softmax(x, out, columns, W: tl.constexpr):
    c = tl.arange(0, W)
    at = tl.program_id(0) * columns + c
    v = tl.load(x + at, mask=c < columns, other=-float("inf"))
    v = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + at, v / tl.sum(v, axis=0), mask=c < columns)
types = {"x": "*fp32", "out": "*fp32", "columns": "i32", "W": "constexpr"}
options = {"num_warps": 4, "ptx_version": 90, "enable_fp_fusion": True}
done = triton.compile(ASTSource(softmax, types, {"W": 256}), target=GPUTarget("cuda", 90, 32), options=options)
open("k.ptx", "w").write(done.asm["ptx"])
open("k.shared", "w").write(str(done.metadata.shared))
"""
LAUNCH = """
rtol = 1e-6
expect = ["out == exp(float64(x) - float64(x).max(1).reshape(5, 1)) / sum(exp(float64(x) - float64(x).max(1).reshape(5, 1)), 1).reshape(5, 1)"]
[buffers]
x = "f32[5,200]:randn(3)"
out = "f32[5,200]:noinit"
[[launch]]
grid = 5
block = 128
shared = {shared}
args = [{args}]
"""
ARRAY = "null null 1000 4 {} 5 200 800 4 "


def nvcc(folder: Path) -> None:
    (folder / "k.cu").write_text(CUDA)
    run([program("nvcc"), "-ptx", "-arch=sm_90", "k.cu", "-o", "k.ptx"], folder)


def script(package: str, text: str) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        if find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
        (folder / "k.py").write_text(text)
        run([sys.executable, "k.py"], folder)

    return make


@pytest.mark.parametrize(
    ("make", "args"),
    [
        pytest.param(nvcc, "x out 200", id="nvcc"),
        pytest.param(script("numba", NUMBA), ARRAY.format("x") + ARRAY.format("out") + "200", id="numba"),
        pytest.param(script("triton", TRITON), "x out 200", id="triton"),
    ],
)
def test_softmax(make: Callable[[Path], None], args: str, tmp_path: Path) -> None:
    make(tmp_path)
    text = (tmp_path / "k.ptx").read_text()
    header = text[text.index(".entry") :].partition(")")[0]
    args += " null" * (header.count(".param") - len(args.split()))  # scratch memory that Triton's newer versions ask for
    shared = tmp_path / "k.shared"  # Triton's shared memory is dynamic
    (tmp_path / "k.toml").write_text(
        LAUNCH.format(args=", ".join(f'"{a}"' for a in args.split()), shared=shared.read_text() if shared.exists() else 0)
    )
    passes(tmp_path / "k.ptx")
