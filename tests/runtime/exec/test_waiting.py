"""Launches that only spin, while the host and other streams go on."""

from __future__ import annotations

import sys

import pytest

from .conftest import Build, Run

HEAD = r"""
#include <cstdio>
#include <thread>
#include <unistd.h>
#define CHECK(x) do { int code_ = (int)(x); if (code_) { printf("line %d: %d %s\n", __LINE__, code_, cudaGetErrorString((cudaError_t)code_)); return 1; } } while (0)
__global__ void wait_for(volatile int *flag, int value, int *out) { while (*flag != value) ; *out = value; }
__global__ void set(volatile int *flag, int value) { *flag = value; }
__global__ void counted(volatile int *flag, int *out) { int n = 0; while (!*flag) n++; *out = n > 0; }
__global__ void says(int n) { printf("kernel %d\n", n); }
static int order[8], count;
void CUDART_CB note(void *data) { order[count++] = (int)(size_t)data; }
int main() {
    int *d, *pinned, h = 0, one = 7;
    CHECK(cudaMalloc(&d, 64));
    CHECK(cudaMemset(d, 0, 64));
    CHECK(cudaMallocHost(&pinned, 64));
    cudaStream_t a, b;
    CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
"""
OVERLAPS = (
    HEAD
    + r"""
    // a copy of another stream, from a variable that changes behind the call
    wait_for<<<1, 32, 0, a>>>(d, 7, d + 1);
    says<<<1, 1, 0, a>>>(1);
    CHECK(cudaMemcpyAsync(d + 2, &one, 4, cudaMemcpyHostToDevice, a));
    CHECK(cudaLaunchHostFunc(a, note, (void *)1));
    one = 9;
    CHECK(cudaLaunchHostFunc(b, note, (void *)2));
    int seven = 7;
    CHECK(cudaMemcpyAsync(d, &seven, 4, cudaMemcpyHostToDevice, b));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpy(&h, d + 2, 4, cudaMemcpyDeviceToHost));
    printf("copied %d, order %d %d\n", h, order[0], order[1]);

    // an event of one stream, for which another waits
    cudaEvent_t e;
    CHECK(cudaEventCreate(&e));
    wait_for<<<1, 1, 0, a>>>(d, 8, d + 1);
    CHECK(cudaEventRecord(e, a));
    CHECK(cudaStreamWaitEvent(b, e));
    CHECK(cudaMemsetAsync(d + 3, 1, 4, b));
    CHECK(cudaMemcpyAsync(pinned, d + 3, 4, cudaMemcpyDeviceToHost, b));
    printf("%d %d\n", cudaStreamQuery(b), cudaEventQuery(e));
    cudaStream_t c;
    CHECK(cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking));
    set<<<1, 1, 0, c>>>(d, 8);
    CHECK(cudaStreamSynchronize(c));
    while (cudaStreamQuery(b) == cudaErrorNotReady) ;
    printf("%d %d\n", cudaStreamQuery(b), cudaEventQuery(e));
    CHECK(cudaStreamSynchronize(b));
    printf("pinned %x\n", pinned[0]);

    // a thread that sets the flag while this one waits
    pinned[1] = 0;
    counted<<<1, 1, 0, a>>>(pinned + 1, d + 4);
    std::thread other([&] { usleep(50000); *(volatile int *)(pinned + 1) = 1; });
    CHECK(cudaDeviceSynchronize());
    other.join();
    CHECK(cudaMemcpy(&h, d + 4, 4, cudaMemcpyDeviceToHost));
    printf("counted %d\n", h);

    // a graph
    cudaGraph_t g; cudaGraphExec_t x;
    CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal));
    wait_for<<<1, 1, 0, a>>>(d, 11, d + 5);
    set<<<1, 1, 0, a>>>(d + 6, 12);
    CHECK(cudaStreamEndCapture(a, &g));
    CHECK(cudaGraphInstantiate(&x, g, 0));
    CHECK(cudaGraphLaunch(x, a));
    set<<<1, 1, 0, b>>>(d, 11);
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpy(&h, d + 6, 4, cudaMemcpyDeviceToHost));
    printf("graph %d\n", h);

    // the default stream comes behind other streams, but not behind those that do not block
    cudaStream_t blocking;
    CHECK(cudaStreamCreate(&blocking));
    wait_for<<<1, 1, 0, blocking>>>(d, 13, d + 5);
    set<<<1, 1>>>(d + 6, 14);
    printf("%d %d %d\n", cudaStreamQuery(blocking), cudaStreamQuery(0), cudaStreamQuery(a));
    set<<<1, 1, 0, a>>>(d, 13);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaStreamQuery(0));
    return 0;
}
"""
)
OVERLAPPED = """\
kernel 1
copied 7, order 2 1
600 600
0 0
pinned 1010101
counted 1
graph 12
600 600 0
"""
STUCK = (
    HEAD
    + r"""
    wait_for<<<1, 1, 0, a>>>(d, 99, d + 5);
    wait_for<<<1, 1, 0, b>>>(d, 98, d + 5);
    printf("%s\n", cudaGetErrorString(cudaStreamSynchronize(b)));
    printf("%d\n", cudaMalloc(&d, 4));
    return 0;
}
"""
)
VALUES = (
    HEAD
    + r"""
    CUstream_st *s = a;
    int (*wait)(void *, unsigned long long, unsigned, unsigned), (*write)(void *, unsigned long long, unsigned, unsigned);
    CHECK(cudaGetDriverEntryPoint("cuStreamWaitValue32", (void **)&wait, cudaEnableDefault));
    CHECK(cudaGetDriverEntryPoint("cuStreamWriteValue32", (void **)&write, cudaEnableDefault));
    CHECK(wait(s, (unsigned long long)d, 3, 1));
    set<<<1, 1, 0, a>>>(d + 1, 5);
    printf("%d\n", cudaStreamQuery(a));
    CHECK(write(b, (unsigned long long)d, 3, 0));
    CHECK(cudaStreamSynchronize(a));
    CHECK(cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", h);
    CHECK(wait(s, (unsigned long long)d, 4, 1));
    printf("%d\n", cudaDeviceSynchronize());
    return 0;
}
"""
)
COUNTS = (
    HEAD
    + r"""
    counted<<<1, 32, 0, a>>>(d, d + 1);
    printf("%d\n", cudaDeviceSynchronize());
    return 0;
}
"""
)
THREADS = r"""
#include <cstdio>
#include <thread>
#include <cuda_runtime.h>
__device__ volatile int flag;
__global__ void wait_for(int value) { while (flag != value) ; }
__global__ void set(int value) { flag = value; }
int main() {
    std::thread one([] { wait_for<<<1, 1>>>(5); printf("%d\n", cudaStreamSynchronize(cudaStreamPerThread)); });
    std::thread two([] { set<<<1, 1>>>(5); cudaStreamSynchronize(cudaStreamPerThread); });
    one.join();
    two.join();
}
"""

LOOPS = r"""
#include <cstdio>
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda_runtime.h>
namespace cg = cooperative_groups;
__global__ void clocked(volatile int *flag, int *out) { long long t = clock64(); while (!*flag && clock64() - t < (1LL << 40)) ; *out = *flag; }
__global__ void sleeps(volatile int *flag, int *out) { unsigned ns = 8; while (!*flag) { __nanosleep(ns); if (ns < 256) ns *= 2; } *out = *flag; }
__global__ void set(volatile int *flag, int v) { *flag = v; }
__global__ void waits(cuda::atomic<int, cuda::thread_scope_system> *a, int *out) { a->wait(0); *out = a->load(); }
__global__ void stores(cuda::atomic<int, cuda::thread_scope_system> *a) { a->store(5); a->notify_all(); }
__global__ void rounds(volatile int *request, volatile int *answer, int *work) {
    cg::grid_group g = cg::this_grid();
    for (int n = 1;; n++) {
        if (g.thread_rank() == 0) while (*request < n) ;
        g.sync();
        if (*request == 1000) return;
        atomicAdd(work, n);
        g.sync();
        if (g.thread_rank() == 0) { __threadfence_system(); *answer = n; }
    }
}
int main() {
    int *d, h; cudaMalloc(&d, 64); cudaMemset(d, 0, 64);
    cudaStream_t a, b; cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
    clocked<<<1, 32, 0, a>>>(d, d + 1); set<<<1, 1, 0, b>>>(d, 3); printf("%d", cudaDeviceSynchronize());
    cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost); printf(" clock %d\n", h);
    cudaMemset(d, 0, 64);
    sleeps<<<2, 32, 0, a>>>(d, d + 1); set<<<1, 1, 0, b>>>(d, 4); printf("%d", cudaDeviceSynchronize());
    cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost); printf(" sleep %d\n", h);
    cudaMemset(d, 0, 64);
    waits<<<1, 1, 0, a>>>((cuda::atomic<int, cuda::thread_scope_system> *)d, d + 1); stores<<<1, 1, 0, b>>>((cuda::atomic<int, cuda::thread_scope_system> *)d); printf("%d", cudaDeviceSynchronize());
    cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost); printf(" atomic %d\n", h);
    volatile int *box; cudaHostAlloc((void **)&box, 8, cudaHostAllocMapped); box[0] = box[1] = 0;
    cudaMemset(d, 0, 64);
    volatile int *req = box, *ans = box + 1; int *w = d;
    void *args[] = {&req, &ans, &w};
    printf("%d", cudaLaunchCooperativeKernel((void *)rounds, dim3(8), dim3(64), args, 0, a));
    for (int n = 1; n <= 10; n++) { box[0] = n; while (box[1] != n) ; }
    box[0] = 1000;
    printf(" %d", cudaStreamSynchronize(a)); cudaMemcpy(&h, d, 4, cudaMemcpyDeviceToHost); printf(" rounds %d\n", h);
}
"""


LEFT = (
    HEAD
    + r"""
    wait_for<<<1, 1, 0, a>>>(d, 99, d + 5);
    set<<<1, 1, 0, a>>>(d + 1, 98);
    CHECK(cudaMemcpyAsync(pinned, d, 4, cudaMemcpyDeviceToHost, a));
    set<<<1, 1, 0, b>>>(d + 1, 97);
    return cudaStreamSynchronize(b);
}
"""
)


SEVERAL_DEVICES = r"""
import ctypes
cu = ctypes.CDLL("libcuda.so.1")
class Launch(ctypes.Structure):
    _fields_ = [("function", ctypes.c_void_p), *((n, ctypes.c_uint) for n in ("gx", "gy", "gz", "bx", "by", "bz", "shared")), ("stream", ctypes.c_void_p), ("parameters", ctypes.c_void_p)]
TEXT = b'''.version 8.0
.target sm_90
.address_size 64
.visible .entry meet(.param .u64 p) {
    .reg .b32 %r<4>; .reg .b64 %rd<2>; .reg .pred %p;
    ld.param.u64 %rd1, [p];
    atom.sys.global.add.u32 %r1, [%rd1], 1;
again:
    ld.volatile.global.u32 %r2, [%rd1];
    setp.ne.u32 %p, %r2, 4;
    @%p bra again;
    ret;
}'''
def ok(code):
    assert code == 0, code
def made(call, *arguments):
    out = ctypes.c_void_p()
    ok(call(ctypes.byref(out), *arguments))
    return out
ok(cu.cuInit(0))
contexts, launches = [], (Launch * 2)()
for n in (0, 1):
    context = made(cu.cuDevicePrimaryCtxRetain, n)
    ok(cu.cuCtxSetCurrent(context))
    contexts.append(context)
    if not n:
        at = made(cu.cuMemAllocManaged, ctypes.c_size_t(4), 1)
        ctypes.c_int.from_address(at.value).value = 0
        table = (ctypes.c_void_p * 1)(ctypes.addressof(at))
    function = made(cu.cuModuleGetFunction, made(cu.cuModuleLoadData, TEXT), b"meet")
    launches[n] = Launch(function, 2, 1, 1, 1, 1, 1, 0, made(cu.cuStreamCreate, 1), ctypes.addressof(table))
ok(cu.cuLaunchCooperativeKernelMultiDevice(launches, 2, 0))
for context in contexts:
    ok(cu.cuCtxSetCurrent(context))
    ok(cu.cuCtxSynchronize())
print(ctypes.c_int.from_address(at.value).value)
"""


@pytest.mark.parametrize("engine", ["auto", "native"])
def test_loops_of_all_kinds_wait(warplab_exec: Run, build: Build, engine: str) -> None:
    """With the clock, with pauses, by an atomic's wait, and a grid of several blocks that waits as a whole."""
    done = warplab_exec(build("loops", "-arch=sm_90", text=LOOPS), options=("--engine", engine))
    assert (done.stdout, done.stderr) == ("0 clock 3\n0 sleep 4\n0 atomic 5\n0 0 rounds 28160\n", "")


def test_a_loop_that_counts_ends_when_its_time_is_over(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("counts", text=COUNTS), options=("--timeout", "1"))
    assert done.stdout == "702\n" and "reached the limit of 1.0 s" in done.stderr


@pytest.mark.parametrize("engine", ["auto", "numpy", "native"])
def test_the_host_and_other_streams_go_on(warplab_exec: Run, build: Build, engine: str) -> None:
    done = warplab_exec(build("overlaps", text=OVERLAPS), options=("--engine", engine))
    assert (done.stdout, done.stderr) == (OVERLAPPED, "")


def test_a_profile_counts_launches_that_overlap(warplab_exec: Run, build: Build, tmp_path: object) -> None:
    done = warplab_exec(build("overlaps", text=OVERLAPS), options=("--profile", f"{tmp_path}/page.html"))
    assert (done.stdout, done.stderr) == (OVERLAPPED, "")


def test_a_deadlock_names_what_waits_and_what_the_host_waits_for(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("stuck", text=STUCK))
    assert done.stdout == "the launch timed out and was terminated\n702\n"
    assert done.stderr.startswith("warplab: deadlock in kernel wait_for: no thread can continue\n")
    assert "; these spin, too: wait_for in stream " in done.stderr and ", and the host waits for stream " in done.stderr


def test_grids_of_several_devices_wait_for_each_other(warplab_exec: Run) -> None:
    done = warplab_exec(sys.executable, "-c", SEVERAL_DEVICES, options=("--devices", "2"))
    assert (done.stdout, done.stderr) == ("4\n", "")


def test_a_launch_that_has_not_ended_when_the_program_has_says_so(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(program := build("left", text=LEFT))
    assert done.returncode == 0
    first, where, why, behind = done.stderr.splitlines()
    assert first.startswith("warplab: kernel wait_for in stream ")
    assert first.endswith(" had not ended when the program did: nobody waited for it")
    assert where.startswith("  1 lanes (block (0, 0, 0), thread (0, 0, 0)) wait at ") and why.startswith("    for a change of memory")
    assert behind == "  2 pieces of work behind it were not begun"
    assert warplab_exec(program, options=("--error-exitcode", "9")).returncode == 9


def test_under_checkers_a_launch_ends_inside_its_call(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("stuck", text=STUCK), options=("--sanitize", "synccheck"))
    assert done.returncode == 1 and "deadlock" in done.stderr


def test_a_stream_waits_for_a_value_that_another_writes(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("values", text=VALUES))
    assert done.stdout == "600\n5\n702\n"
    assert "deadlock of a stream: its work cannot continue\n  it waits for the value 4 at 0x" in done.stderr


def test_each_thread_has_a_default_stream(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("per_thread", "--default-stream", "per-thread", text=THREADS))
    assert (done.stdout, done.stderr) == ("0\n", "")


PRIORITIES = (
    HEAD
    + r"""
    int least, greatest;
    cudaStream_t high;
    cudaEvent_t e;
    CHECK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    CHECK(cudaEventCreate(&e));
    *pinned = 0;
    wait_for<<<1, 1, 0, a>>>(pinned, 7, d);
    CHECK(cudaEventRecord(e, a));
    for (cudaStream_t s : {b, high}) {
        CHECK(cudaStreamWaitEvent(s, e));
        for (int n = 0; n < 2; n++) says<<<1, 1, 0, s>>>(s == high ? 10 + n : n);
    }
    *pinned = 7;
    CHECK(cudaDeviceSynchronize());
}
"""
)


def test_kernels_of_streams_with_a_higher_priority_come_first(warplab_exec: Run, build: Build) -> None:
    """Of those that an event makes ready at once, whichever the host has launched first."""
    done = warplab_exec(build("priorities", text=PRIORITIES))
    assert done.stdout.splitlines() == [f"kernel {n}" for n in (10, 11, 0, 1)], done.stderr
