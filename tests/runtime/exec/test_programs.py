"""CUDA programs as nvcc makes them, each of which checks its own results."""

from __future__ import annotations

from pathlib import Path

import pytest

from .conftest import SAMPLES, Build, Run

NAMES = sorted(p.stem for p in SAMPLES.glob("*.cu"))


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_ends_well(warplab_exec: Run, build: Build, name: str) -> None:
    done = warplab_exec(build(name))
    assert done.returncode == 0, done.stderr
    assert done.stderr == "" or name == "faults", done.stderr


def test_a_fault_is_told_with_its_place(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("faults"))
    assert done.stderr.startswith("warplab: null pointer: 4-byte write at address 0x10")
    assert done.stderr.count("kernel _Z6brokenPi, block (0, 0, 0), thread (0, 0, 0)") == 1


@pytest.mark.parametrize(
    "flags", [("-cudart", "shared"), ("-compress-mode=size",), ("-compress-mode=speed",), ("-compress-mode=none",), ("-no-pie",)]
)
def test_however_it_was_linked_and_compressed(warplab_exec: Run, build: Build, flags: tuple[str, ...]) -> None:
    flags = ("-Xcompiler", "-no-pie", "-Xlinker", "-no-pie") if flags == ("-no-pie",) else flags
    done = warplab_exec(build("saxpy", *flags))
    assert (done.returncode, done.stdout) == (0, "launch: no error\nNVIDIA H200: 0 wrong\n"), done.stderr


def test_files_that_were_linked_on_the_device(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("rdc", "-rdc=true"))
    assert (done.returncode, done.stdout) == (0, "rdc: right\n"), done.stderr


def test_several_devices(warplab_exec: Run, build: Build) -> None:
    assert warplab_exec(build("devices"), options=("--devices", "3")).stdout == "3 devices: right\n"
    assert "A100" in warplab_exec(build("saxpy"), options=("--device", "sm_80")).stdout


def test_kernels_print_in_the_order_of_the_host(warplab_exec: Run, build: Build) -> None:
    lines = warplab_exec(build("print")).stdout.splitlines()
    ways = ("host before {}", "device {} thread 0 text 1.50", "device {} thread 1 text 1.50", "host after {}")
    assert lines == [way.format(k) for k in range(3) for way in ways]


def test_machine_code_without_ptx_is_refused_with_the_flag_that_helps(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("saxpy", "-gencode", "arch=compute_90,code=sm_90"))
    assert done.returncode != 0
    assert "sm_90" in done.stderr and "-arch=sm_90" in done.stderr
    assert "Traceback" not in done.stderr


SLIP = """
#include <cstdio>
__global__ void slip(int *p) { p[threadIdx.x + 1] = threadIdx.x; }
int main() {
    int *p;
    cudaMalloc(&p, 64 * 4);
    for (int turn = 0; turn < 3; turn++) slip<<<1, 64>>>(p);
    printf("%d", cudaDeviceSynchronize());
    slip<<<1, 64>>>(p + (8 << 20));
    printf(" %d\\n", cudaDeviceSynchronize());
}
"""


def test_an_access_just_outside_of_an_allocation_passes_with_a_warning(warplab_exec: Run, build: Build) -> None:
    program = build("slip", text=SLIP)
    done = warplab_exec(program)
    assert done.stdout == "0 700\n"
    assert done.stderr.startswith("warning: kernel _Z4slipPi writes up to 4 bytes at 0x4000000100, 0 bytes after the 256-byte allocation")
    assert done.stderr.count("warning") == 1
    assert warplab_exec(program, options=("--bounds", "strict")).stdout == "700 700\n"
    assert warplab_exec(program, WARPLAB_BOUNDS="strict").stdout == "700 700\n"


def test_a_profile_of_every_launch(warplab_exec: Run, build: Build, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = warplab_exec(build("saxpy"), options=("--profile", str(page)))
    assert done.returncode == 0
    assert "_Z5saxpyifPKfPf" in page.read_text()


def test_checkers_end_a_good_program_with_one(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("slip", text=SLIP), options=("--sanitize", "memcheck"))
    assert done.returncode == 1
    assert "out-of-bounds" in done.stderr and "ERROR SUMMARY: 1 error" in done.stderr
    done = warplab_exec(build("reduction"), options=("--sanitize", "all"))
    assert (done.returncode, done.stdout, done.stderr) == (0, "reduction: right\n", "========= ERROR SUMMARY: 0 errors\n")


def test_a_stripped_runtime_is_refused_with_what_helps(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("saxpy", "-Xlinker", "--strip-all"))
    assert done.returncode == 3
    assert done.stderr.count("without its symbols") == 1
    assert "-cudart shared" in done.stderr
