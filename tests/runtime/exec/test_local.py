"""Calls that a thread of the program answers itself: they are what the server would say."""

from __future__ import annotations

import pytest

from .conftest import Build, Run

PROGRAM = r"""
#include <cstdio>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

__global__ void add(int *a, int n) { a[blockIdx.x * blockDim.x + threadIdx.x] += n; }

static int *sums;

// Prepares a launch, and makes all deeper ones before it is launched: their shapes wait on one another.
static int deeper(int n) {
    if (n) add<<<1, n>>>(sums, deeper(n - 1));
    return n;
}

static void errors(const char *who) {
    add<<<1, 4096>>>(sums, 1);
    int peeked = cudaPeekAtLastError(), first = cudaGetLastError(), second = cudaGetLastError();
    printf("%s: %d %d %d\n", who, peeked, first, second);
}

static void devices(int own) {
    int before, after;
    cudaGetDevice(&before);
    cudaSetDevice(own);
    cudaGetDevice(&after);
    printf("device %d %d\n", before, after);
}

int main() {
    int host[64] = {0};
    cudaMalloc(&sums, sizeof host);
    cudaMemset(sums, 0, sizeof host);
    deeper(12);
    cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost);
    int expected = 0;
    for (int n = 1; n <= 12; n++) expected += n * (n - 1);
    int sum = 0;
    for (int x : host) sum += x;
    printf("%d of %d, %s\n", sum, expected, cudaGetErrorName(cudaGetLastError()));
    errors("main");
    std::thread(errors, "other").join();
    devices(1);
    std::thread(devices, 0).join();
    devices(0);
    fflush(stdout);
    if (!fork()) {
        int device = -1;
        int code = cudaGetDevice(&device);
        printf("child: %d %d %d\n", code, device, cudaGetLastError());
        fflush(stdout);
        _exit(0);
    }
    wait(nullptr);
}
"""
CHILD = 3  # cudaErrorInitializationError

EXPECTED = f"""\
572 of 572, cudaSuccess
main: 9 9 0
other: 9 9 0
device 0 1
device 0 0
device 1 0
child: {CHILD} -1 0
"""


@pytest.mark.parametrize("flags", [(), ("-cudart", "shared")])
def test_shapes_errors_and_devices_are_those_of_the_thread(warplab_exec: Run, build: Build, flags: tuple[str, ...]) -> None:
    done = warplab_exec(build("local", *flags, text=PROGRAM), options=("--device", "sm_90,sm_90"))
    assert (done.returncode, done.stdout, done.stderr) == (0, EXPECTED, "")
