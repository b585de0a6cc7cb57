"""Stand-ins for NVIDIA's libraries of mathematics."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from warplab.runtime.exec.binaries.library import STAND_INS, exported, sonames

from .conftest import ROOT, Build, Run

CLIENTS = ROOT / "tests" / "clients"
LINKED = r"""
#include <cstdio>
#include <cuda_runtime.h>
extern "C" int cublasCreate_v2(void **);
extern "C" int cublasDestroy_v2(void *);
extern "C" int cublasSetStream_v2(void *, cudaStream_t);
extern "C" int cublasSgemm_v2(void *, int, int, int, int, int, const float *, const float *, int, const float *, int, const float *, float *, int);
__global__ void wait_for(volatile int *flag) { while (!*flag) ; }
__global__ void set(volatile int *flag) { *flag = 1; }
int main() {
    float a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {1, 0, 2, 1, 0, 3}, c[4], *d, one = 1, zero = 0;
    int *flag;
    void *h;
    cudaStream_t s, other;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaMalloc(&d, 64);
    cudaMalloc(&flag, 4);
    cudaMemset(flag, 0, 4);
    cudaMemcpy(d, a, 24, cudaMemcpyHostToDevice);
    cudaMemcpy(d + 6, b, 24, cudaMemcpyHostToDevice);
    int code = cublasCreate_v2(&h);
    code |= cublasSetStream_v2(h, s);
    wait_for<<<1, 1, 0, s>>>(flag);
    code |= cublasSgemm_v2(h, 0, 0, 2, 2, 3, &one, d, 2, d + 6, 3, &zero, d + 12, 2);
    code |= cudaStreamQuery(s) != cudaErrorNotReady;
    set<<<1, 1, 0, other>>>(flag);
    cudaStreamSynchronize(s);
    cudaMemcpy(c, d + 12, 16, cudaMemcpyDeviceToHost);
    printf("%d: %g %g %g %g\n", code | cublasDestroy_v2(h), c[0], c[1], c[2], c[3]);
}
"""
SAID = "warplab: cuBLAS: computed by warplab's stand-in: the same mathematics, not the same bits\n"


@pytest.fixture(scope="module")
def linked(warplab_exec: Run, build: Build, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A program that was linked with -lcublas, which warplab exec offers to linkers, too."""
    folder = tmp_path_factory.mktemp("linked")
    (folder / "linked.cu").write_text(LINKED)
    command = f'nvcc -o {folder}/linked {folder}/linked.cu -L"${{LD_LIBRARY_PATH%%:*}}" -lcublas'
    done = warplab_exec("sh", "-c", command)
    assert done.returncode == 0, done.stderr
    return f"{folder}/linked"


def test_a_program_that_is_linked_with_cublas(warplab_exec: Run, linked: str, tmp_path: Path) -> None:
    done = warplab_exec(linked, options=("--log", f"{tmp_path}/calls.json"))
    assert (done.stdout, done.stderr) == ("0: 11 14 16 20\n", SAID)
    calls = [e for e in json.loads((tmp_path / "calls.json").read_text())["traceEvents"] if e.get("cat") == "cublas"]
    assert [e["name"] for e in calls] == ["cublasCreate_v2", "cublasSetStream_v2", "cublasSgemm_v2", "cublasDestroy_v2"]
    assert calls[2]["args"]["m"] == 2 and calls[2]["args"]["result"] == 0


def test_without_stand_ins_a_library_is_what_the_loader_finds(warplab_exec: Run, linked: str) -> None:
    done = warplab_exec(linked, options=("--no-stand-ins",))
    assert done.returncode == 127 and "libcublas.so.13" in done.stderr
    assert not set(sonames(exported(stand_ins=False))) & set(STAND_INS)


@pytest.mark.parametrize("library", ["libcublas.so.13", "libcublas.so.12"])
def test_the_mathematics_of_cublas(warplab_exec: Run, library: str) -> None:
    done = warplab_exec(sys.executable, str(CLIENTS / "blas.py"), library)
    assert done.stdout == "blas: right\n", done.stderr
    assert done.stderr.startswith(SAID)
    assert done.stderr.count("\n") == 2 and "the stand-in has no cublasSspmv_v2" in done.stderr


def test_the_numbers_of_curand(warplab_exec: Run) -> None:
    """As NVIDIA's library 10.4.5 gives them on the host; those of the H100 are the same, but for the last bits of normal numbers."""
    done = warplab_exec(sys.executable, str(CLIENTS / "random_numbers.py"))
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    recorded = json.loads((ROOT / "tests" / "data" / "curand.json").read_text())
    assert found.keys() == recorded.keys()
    for name, wanted in recorded.items():
        if name.endswith("others"):
            assert found[name] == pytest.approx(wanted, rel=0.03), name
        elif "Normal" in name or name.endswith("moments"):
            first = int("moments" not in name)  # a sum of all bits
            assert found[name][first:] == pytest.approx(wanted[first:], rel=2e-6, abs=2e-6), name
        else:
            assert found[name] == wanted, name


@pytest.mark.parametrize("library", ["libcufft.so.12", "libcufft.so.11"])
def test_the_transforms_of_cufft(warplab_exec: Run, library: str) -> None:
    done = warplab_exec(sys.executable, str(CLIENTS / "fourier.py"), library)
    assert done.stdout == "fourier: right\n", done.stderr
    assert done.stderr == SAID.replace("cuBLAS", "cuFFT")


@pytest.mark.parametrize("library", ["libcusolver.so.12", "libcusolver.so.11"])
def test_the_algebra_of_cusolver(warplab_exec: Run, library: str) -> None:
    done = warplab_exec(sys.executable, str(CLIENTS / "solver.py"), library)
    assert done.stdout == "solver: right\n", done.stderr
    assert done.stderr == SAID.replace("cuBLAS", "cuSOLVER")


def test_the_products_of_cusparse(warplab_exec: Run) -> None:
    done = warplab_exec(sys.executable, str(CLIENTS / "sparse.py"))
    assert done.stdout == "sparse: right\n", done.stderr
    assert done.stderr == SAID.replace("cuBLAS", "cuSPARSE")


@pytest.mark.parametrize("library", ["libcublasLt.so.13", "libcublasLt.so.12"])
def test_the_products_of_cublaslt(warplab_exec: Run, library: str) -> None:
    done = warplab_exec(sys.executable, str(CLIENTS / "light_products.py"), library)
    assert done.stdout == "light products: right\n", done.stderr
    assert done.stderr.startswith(SAID.replace("cuBLAS", "cuBLASLt")) and "product with attributes [17]" in done.stderr


def test_cublaslt_is_there_and_says_what_it_lacks(warplab_exec: Run) -> None:
    code = """
import ctypes
lt = ctypes.CDLL("libcublasLt.so.13")
handle = ctypes.c_void_p()
print(lt.cublasLtCreate(ctypes.byref(handle)), lt.cublasLtGetVersion(), lt.cublasLtMatrixTransform(handle), lt.cublasLtDestroy(handle))
"""
    done = warplab_exec(sys.executable, "-c", code)
    assert done.stdout == "0 130000 15 0\n" and "the stand-in has no cublasLtMatrixTransform" in done.stderr


def test_no_more_auditors_than_the_loader_takes(warplab_exec: Run) -> None:
    done = warplab_exec("sh", "-c", 'echo "$LD_AUDIT"')
    assert 0 < len(done.stdout.split(":")) <= 11, "glibc takes twelve"


def test_libraries_are_those_of_the_tables(tmp_path: Path) -> None:
    """readelf finds the functions of a written stand-in under the version that programs ask for."""
    from warplab.runtime.exec.binaries.elf import MACHINE
    from warplab.runtime.exec.binaries.library import built

    listed = exported()
    names = sonames(listed)
    images = built(MACHINE, listed, b"socket", dict.fromkeys(names, "path"))
    assert set(images) == set(names)
    for soname, (table, _) in STAND_INS.items():
        (tmp_path / soname).write_bytes(images[soname].image)
        text = subprocess.run(["readelf", "-W", "--dyn-syms", tmp_path / soname], capture_output=True, text=True, check=True).stdout
        found = {line.split()[-2 if line.endswith("]") else -1].partition("@@")[0] for line in text.splitlines() if f"@@{soname}" in line}
        assert found == {e.function.name for e in listed if e.library == table}
