"""Calls that can't be answered: the code that they give, and that cudaGetLastError repeats."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .conftest import Build, Run, environment

# An H200 gave these codes.
NULLS = r"""
#include <cstdio>
__global__ void k() {}
static int wrong;
#define NO(code, call) { int r = (int)(call), l = (int)cudaGetLastError(); if (r != code || l != code) { wrong++; printf(#call " %d %d\n", r, l); } }
int main() {
    int n;
    void *p;
    float ms;
    NO(1, cudaGetDevice(nullptr))
    NO(0, cudaGetDevice(&n))
    NO(1, cudaGetDevice(nullptr))
    NO(1, cudaGetDeviceCount(nullptr))
    NO(1, cudaGetDeviceFlags(nullptr))
    NO(1, cudaGetDeviceProperties(nullptr, 0))
    NO(1, cudaDeviceGetLimit(nullptr, cudaLimitStackSize))
    NO(1, cudaDeviceCanAccessPeer(nullptr, 0, 0))
    NO(1, cudaPointerGetAttributes(nullptr, &n))
    NO(1, cudaHostGetDevicePointer((void **)nullptr, &n, 0))
    NO(1, cudaStreamIsCapturing(nullptr, nullptr))
    NO(1, cudaStreamGetPriority(nullptr, nullptr))
    NO(1, cudaStreamGetFlags(nullptr, nullptr))
    NO(1, cudaFuncGetAttributes(nullptr, k))
    NO(0, cudaDeviceGetStreamPriorityRange(nullptr, nullptr))
    NO(0, cudaMemGetInfo(nullptr, nullptr))
    NO(1, cudaDriverGetVersion(nullptr))
    NO(1, cudaRuntimeGetVersion(nullptr))
    NO(1, cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0))
    NO(1, cudaDeviceGetPCIBusId((char *)nullptr, 20, 0))
    NO(1, cudaMalloc((void **)nullptr, 4))
    NO(1, cudaMallocPitch((void **)nullptr, (size_t *)&p, 4, 4))
    NO(1, cudaMallocPitch(&p, nullptr, 4, 4))
    NO(1, cudaMallocManaged((void **)nullptr, 4))
    NO(1, cudaEventCreate((cudaEvent_t *)nullptr))
    NO(1, cudaOccupancyMaxActiveBlocksPerMultiprocessor(nullptr, k, 32, 0))
    NO(400, cudaEventRecord(nullptr))
    NO(400, cudaEventQuery(nullptr))
    NO(400, cudaEventSynchronize(nullptr))
    NO(400, cudaEventElapsedTime(&ms, nullptr, nullptr))
    NO(400, cudaStreamWaitEvent(nullptr, nullptr, 0))
    NO(400, cudaEventDestroy(nullptr))
    NO(400, cudaStreamDestroy(nullptr))
    printf("%d wrong\n", wrong);
}
"""
# Functions that are no kernels, in programs with and without some: as an H200 answered.
NO_KERNELS = r"""
#include <cstdio>
#ifdef KERNEL
__global__ void k() {}
#endif
static void plain() {}
static int wrong;
#define NO(code, call) { int r = (int)(call), l = (int)cudaGetLastError(); if (r != code || l != code) { wrong++; printf(#call " %d %d\n", r, l); } }
int main() {
    cudaFuncAttributes a;
    cudaFunction_t f;
    const char *name;
    int n;
    void *arguments[1] = {&n}, *at;
    const void *p = (const void *)plain, *null = nullptr;
    NO(400, cudaFuncGetAttributes(&a, p))
    NO(98, cudaFuncGetAttributes(&a, null))
    NO(400, cudaFuncSetAttribute(p, cudaFuncAttributeMaxDynamicSharedMemorySize, 9))
    NO(400, cudaFuncSetCacheConfig(p, cudaFuncCachePreferL1))
    NO(400, cudaFuncGetName(&name, p))
    NO(400, cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, p, 32, 0))
    NO(400, cudaLaunchKernel(p, 1, 1, arguments, 0, 0))
    NO(98, cudaLaunchKernel(null, 1, 1, arguments, 0, 0))
    NO(400, cudaLaunchCooperativeKernel(p, 1, 1, arguments, 0, 0))
    NO(98, cudaGetFuncBySymbol(&f, p))
    NO(13, cudaGetSymbolAddress(&at, p))
    printf("%d wrong\n", wrong);
}
"""
LAUNCHES = r"""
#include <cstdio>
__global__ void k() {}
int main() {
    k<<<1, 1>>>();
    int first = cudaGetLastError(), second = cudaGetLastError();
    printf("%d %d\n", first, second);
}
"""
# A launch in which warplab itself fails.
BROKEN = """
import sys
from warplab.runtime.exec.handlers import special
def broken(c): raise KeyError("nothing")
special.HANDLERS["__cudaLaunchKernel"] = special.HANDLERS["cudaLaunchKernel"] = broken
from warplab.runtime.cli import main
main()
"""


@pytest.mark.parametrize("flags", [(), ("-DKERNEL",), ("-Xlinker", "--strip-all"), ("-cudart", "shared")], ids=" ".join)
def test_functions_that_are_no_kernels(warplab_exec: Run, build: Build, flags: tuple[str, ...]) -> None:
    done = warplab_exec(build("no_kernels" + "".join(flags), *flags, text=NO_KERNELS))
    assert (done.stdout, done.stderr) == ("0 wrong\n", "")


def test_null_pointers_for_answers(build: Build, warplab_exec: Run) -> None:
    done = warplab_exec(build("nulls", text=NULLS))
    assert (done.stdout, done.returncode) == ("0 wrong\n", 0), done


def test_a_launch_that_fails_in_warplab_is_remembered(build: Build) -> None:
    command = [sys.executable, "-c", BROKEN, "exec", "--error-exitcode", "7", build("empty_launch", text=LAUNCHES)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment(), timeout=120)
    assert (done.stdout, done.returncode) == ("999 0\n", 7), done
    assert "internal error" in done.stderr and "KeyError" in done.stderr, done.stderr
