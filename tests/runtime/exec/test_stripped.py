"""Programs and libraries with a static runtime that have lost their symbols."""

from __future__ import annotations

import platform
import shutil
import subprocess

import pytest

from warplab.runtime.exec.binaries.host_code import HostCode
from warplab.runtime.exec.binaries.registration import BINDS_BY_NAME, NEW, OLD, ORDER, registration

from .conftest import Build, Run

REGISTERED = """
#include <cstdio>
__device__ int counter;
__constant__ float table[4];
__managed__ int managed = 3;
__global__ void one(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = threadIdx.x + counter + (int)table[1] + managed; }
template <class T> __global__ void two(T *p) { p[0] += 1; }
int main() {
    int *p, got[4] = {}, five = 5;
    float values[4] = {0, 2, 0, 0};
    cudaMalloc(&p, sizeof got);
    cudaMemcpyToSymbol(counter, &five, sizeof five);
    cudaMemcpyToSymbol(table, values, sizeof values);
    if (cudaGetLastError()) return 1;
    managed = 7;
    one<<<1, 4>>>(p, 4);
    two<int><<<1, 1>>>(p);
    cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d %s\\n", got[0], got[1], got[2], got[3], cudaGetErrorName(cudaGetLastError()));
}
"""
FORMS = {
    "plain": [],
    "optimized": ["-O3"],
    "separate": ["-rdc=true"],
    "per thread": ["-O2", "--default-stream", "per-thread"],
    "fixed address": ["-O2", "-Xcompiler", "-no-pie", "-Xlinker", "-no-pie"],
}


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only its machine code is read")
@pytest.mark.parametrize("form", FORMS)
def test_the_kernels_and_variables_of_a_stripped_program_are_found(warplab_exec: Run, build: Build, form: str) -> None:
    program = build(f"registered {form}", "-arch=sm_90", *FORMS[form], "-Xlinker", "--strip-all", text=REGISTERED)
    done = warplab_exec(program)
    assert (done.returncode, done.stdout, done.stderr) == (0, "15 15 16 17 cudaSuccess\n", "")


PLAIN = """
#include <cstdio>
__global__ void k(int *p) { *p = 7; }
int main() {
    int *p;
    cudaMalloc(&p, 4);
    k<<<1, 1>>>(p);
    return cudaDeviceSynchronize() || cudaGetLastError();
}
"""


def without_descriptions(path: str, under: str) -> str:
    """A copy of a program, without what tells where its registration is."""
    out = f"{path}_{under}"
    subprocess.run(["objcopy", "--strip-all", "--rename-section", ".nvFatBinSegment=.other", path, out], check=True)
    return out


def test_a_stripped_runtime_that_tells_nothing_is_refused_with_what_helps(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(without_descriptions(build("plain", text=PLAIN), "mute"))
    assert done.returncode == 1, "the program sees that its launch is not supported"
    assert done.stderr.count("without its symbols") == 1
    assert "-cudart shared" in done.stderr


def test_a_library_that_is_machine_code_is_named(warplab_exec: Run, build: Build) -> None:
    text = """
#include <cstdio>
__global__ void k(int *p) { *p = 7; }
extern "C" int run() {
    int *p, got = 0;
    printf("%d ", cudaMalloc(&p, 4));
    k<<<1, 1>>>(p);
    cudaMemcpy(&got, p, 4, cudaMemcpyDefault);
    printf("%d\\n", got);
    return cudaDeviceSynchronize();
}
"""
    plugin = build("stripped_plugin", "-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-s", text=text)
    main = '#include <dlfcn.h>\nint main(int, char **a) { return !((int (*)())dlsym(dlopen(a[1], RTLD_NOW), "run"))(); }\n'
    program = build("machine_code", "-ldl", text=main)
    assert platform.machine() != "x86_64" or warplab_exec(program, plugin).stdout == "0 7\n"
    shutil.copy(without_descriptions(plugin, "mute"), library := f"{plugin}.so")
    done = warplab_exec(program, library)
    assert done.stdout == "0 0\n", "its other calls work"
    assert done.stderr.count("machine code, with a CUDA runtime of its own") == 1 and library in done.stderr


HOST_ONLY = """
#include <cstdio>
#include <cuda_runtime_api.h>
int main() {
    void *p = nullptr;
    int in = 7, out = 0, count = 0, version = 0;
    cudaGetDeviceCount(&count);
    cudaRuntimeGetVersion(&version);
    cudaMalloc(&p, 4);
    cudaMemcpy(p, &in, 4, cudaMemcpyHostToDevice);
    cudaMemcpy(&out, p, 4, cudaMemcpyDeviceToHost);
    printf("%d %d %d %s\\n", count, out, version >= 13000, cudaGetErrorName(cudaGetLastError()));
}
"""


@pytest.mark.skipif(platform.machine() != "x86_64", reason="only its machine code is read")
def test_a_stripped_runtime_without_kernels_is_found(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("host_only", "-x", "c++", "-nodlink", "-Xlinker", "--strip-all", text=HOST_ONLY))
    assert (done.returncode, done.stdout, done.stderr) == (0, "1 7 1 cudaSuccess\n", "")


SPOILER = """
extern "C" int spoil() { return cudaSetDevice(99) ? cudaPeekAtLastError() : 0; }
extern "C" int last() { return cudaGetLastError(); }
"""
CLEAN = """
#include <dlfcn.h>
#include <cstdio>
int main(int, char **argv) {
    void *plugin = dlopen(argv[1], RTLD_NOW);
    int spoilt = ((int (*)())dlsym(plugin, "spoil"))(), own = cudaGetLastError(), theirs = ((int (*)())dlsym(plugin, "last"))();
    cudaMalloc(nullptr, 4);
    printf("%d %d %d, %d %d\\n", spoilt, own, theirs, ((int (*)())dlsym(plugin, "last"))(), cudaGetLastError());
}
"""


@pytest.mark.parametrize("stripped", [False, True])
def test_each_runtime_has_a_last_error_of_its_own(warplab_exec: Run, build: Build, stripped: bool) -> None:
    plugin = build("spoiler", "-shared", "-Xcompiler", "-fPIC", *(["-Xlinker", "-s"] if stripped else []), text=SPOILER)
    done = warplab_exec(build("clean", "-ldl", text=CLEAN), plugin)
    assert (done.stdout, done.stderr) == ("101 0 101, 0 1\n", "")


SPACE, DESCRIBED = 64, 0x9000  # bytes between functions; the address of a description


def host_code(at: dict[str, int], first: int) -> bytes:
    """What registers a kernel and launches it, with the runtime's functions at given places behind."""
    code = bytearray()

    def distance(target: int) -> bytes:
        return (target - (0x1000 + len(code)) - 4).to_bytes(4, "little", signed=True)

    def one(before: bytes, target: int) -> None:
        code.extend(before)
        code.extend(distance(target))

    one(b"\x48\x8d\x3d", DESCRIBED)  # lea rdi
    one(b"\xe8", at["__cudaRegisterFatBinary"])
    one(b"\x48\x8d\x35", first)  # lea rsi
    one(b"\xe8", at["__cudaRegisterFunction"])
    one(b"\xe8", at["__cudaRegisterFatBinaryEnd"])
    one(b"\xe9", at["__cudaUnregisterFatBinary"])
    code.extend(b"\x48\x8d\x54\x24\x08\x48\x8d\x74\x24\x20")  # lea rdx, [rsp + 8]; lea rsi, [rsp + 32]
    one(b"\xe8", at["__cudaPopCallConfiguration"])
    return bytes(code)


@pytest.mark.parametrize("since", [11, 12])
def test_the_order_of_the_functions_must_agree_with_their_calls(since: int) -> None:
    order = [n for n in ORDER if n not in (NEW if since == 11 else OLD)]
    known = [BINDS_BY_NAME] if since == 11 else []
    starts = [0x1000 + SPACE * n for n in range(4, 5 + len(order) + 1)]
    places = dict(zip(order, starts, strict=False))
    found = registration(HostCode(host_code(places, starts[-1]).ljust(SPACE * 24), 0x1000), starts, {DESCRIBED}, known)
    assert found == {name: n for n, name in enumerate(order)}
    other = dict(zip([*order[:3], *order[4:], order[3]], starts, strict=False))  # one function fewer in front of the kernels'
    assert registration(HostCode(host_code(other, starts[-1]).ljust(SPACE * 24), 0x1000), starts, {DESCRIBED}, known) == {}
    assert registration(HostCode(host_code(places, starts[-1]).ljust(SPACE * 24), 0x1000), starts, {DESCRIBED - 24}, known) == {}
