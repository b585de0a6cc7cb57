"""Calls that few programs make, as an H200 answers them: each program counts what is otherwise."""

from __future__ import annotations

from .conftest import Build, Run

BEGIN = """
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>
static int wrong;
#define IS(x, expected) if (int e = (int)(x); e != (int)(expected)) printf("line %d: %s is %d\\n", __LINE__, #x, e), wrong++, cudaGetLastError()
#define OK(x) IS(x, cudaSuccess)
"""
END = """
    printf("%d wrong\\n", wrong);
}
"""


def right(warplab_exec: Run, build: Build, name: str, text: str, devices: int = 1) -> None:
    """A program of some statements, perhaps behind functions, finds nothing wrong."""
    done = warplab_exec(build(name, text=BEGIN + text + END), options=("--devices", str(devices)))
    assert done.stdout == "0 wrong\n", done.stdout + done.stderr


def test_a_managed_variable_is_a_symbol_and_managed_memory(warplab_exec: Run, build: Build) -> None:
    """In the host's code its name means the variable, no shadow of it, so calls about symbols get its own address."""
    text = """
__managed__ double table[16];
__global__ void fill() { table[threadIdx.x] = threadIdx.x; }
int main() {
    table[3] = 7;
    void *at;
    size_t size;
    OK(cudaGetSymbolAddress(&at, table));
    IS(at == table, 1);
    OK(cudaGetSymbolSize(&size, table));
    IS(size, 128);
    double two[2] = {8, 9}, back;
    OK(cudaMemcpyToSymbol(table, two, 16, 16));
    IS(table[3], 9);
    fill<<<1, 16>>>();
    OK(cudaMemcpyFromSymbol(&back, table, 8, 24));
    IS(back, 3);
    cudaPointerAttributes a;
    OK(cudaPointerGetAttributes(&a, &table[2]));
    IS(a.type, cudaMemoryTypeManaged);
    IS(a.hostPointer == &table[2], 1);
    cudaMemLocation here = {cudaMemLocationTypeDevice, 0};
    int said = 0;
    OK(cudaMemAdvise(table, 128, cudaMemAdviseSetReadMostly, here));
    OK(cudaMemRangeGetAttribute(&said, 4, cudaMemRangeAttributeReadMostly, table, 128));
    IS(said, 1);
    OK(cudaMemPrefetchAsync(table, 128, here, 0, 0));
    OK(cudaStreamAttachMemAsync(0, table));
    IS(cudaFree(table), cudaErrorInvalidValue);
"""
    right(warplab_exec, build, "managed_symbol", text)


def test_graphs_that_cannot_be_copied_or_run(warplab_exec: Run, build: Build) -> None:
    text = """
int main() {
    cudaGraph_t circle, allocating, deciding, copy = nullptr;
    cudaGraphNode_t a, b;
    cudaGraphExec_t x;
    OK(cudaGraphCreate(&circle, 0));
    OK(cudaGraphAddEmptyNode(&a, circle, nullptr, 0));
    OK(cudaGraphAddEmptyNode(&b, circle, &a, 1));
    OK(cudaGraphAddDependencies(circle, &b, &a, nullptr, 1));
    IS(cudaGraphInstantiate(&x, circle, 0), cudaErrorInvalidValue);
    OK(cudaGraphCreate(&allocating, 0));
    cudaMemAllocNodeParams m = {};
    m.bytesize = 64, m.poolProps.allocType = cudaMemAllocationTypePinned, m.poolProps.location.type = cudaMemLocationTypeDevice;
    OK(cudaGraphAddMemAllocNode(&a, allocating, nullptr, 0, &m));
    IS(cudaGraphClone(&copy, allocating), cudaErrorNotSupported);
    OK(cudaGraphCreate(&deciding, 0));
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeConditional, p.conditional.type = cudaGraphCondTypeIf, p.conditional.size = 1;
    OK(cudaGraphConditionalHandleCreate(&p.conditional.handle, deciding));
    OK(cudaGraphAddNode(&a, deciding, nullptr, nullptr, 0, &p));
    IS(cudaGraphClone(&copy, deciding), cudaErrorNotSupported);
    cudaStream_t s;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    void *memory;
    IS(cudaMalloc(&memory, 4), cudaErrorStreamCaptureUnsupported);
    copy = circle;
    IS(cudaStreamEndCapture(s, &copy), cudaErrorStreamCaptureInvalidated);
    IS(copy == nullptr, 1);
"""
    right(warplab_exec, build, "uncopied", text)


def test_a_pool_takes_memory_in_chunks(warplab_exec: Run, build: Build) -> None:
    text = """
int main() {
    cudaMemPool_t pool;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    size_t bytes, all = -1;
    void *a, *b;
    auto reserved = [&] { OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &bytes)); return (int)(bytes >> 20); };
    OK(cudaMallocAsync(&a, 4096, 0));
    IS(reserved(), 32);
    OK(cudaMallocAsync(&b, 16 << 20, 0));
    IS(reserved(), 32);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all));
    OK(cudaFreeAsync(b, 0));
    OK(cudaFreeAsync(a, 0));
    OK(cudaDeviceSynchronize());
    IS(reserved(), 32);
    OK(cudaMemPoolTrimTo(pool, 0));
    IS(reserved(), 0);
"""
    right(warplab_exec, build, "chunks", text)


def test_a_box_keeps_within_the_pitch(warplab_exec: Run, build: Build) -> None:
    """Where an array takes part, places in memory count in its elements, too."""
    text = """
int main() {
    char memory[256] = {};
    int2 elements[8] = {{1, 1}, {2, 2}, {3, 3}};
    cudaChannelFormatDesc texel = cudaCreateChannelDesc<int2>();
    cudaArray_t array;
    OK(cudaMalloc3DArray(&array, &texel, make_cudaExtent(8, 4, 0)));
    OK(cudaMemcpy2DToArray(array, 0, 0, elements, 64, 64, 1, cudaMemcpyDefault));
    cudaMemcpy3DParms p = {};
    p.srcArray = array, p.dstPtr = make_cudaPitchedPtr(memory, 64, 8, 4), p.extent = make_cudaExtent(2, 1, 1), p.kind = cudaMemcpyDeviceToHost;
    p.dstPos = make_cudaPos(8, 1, 0);
    IS(cudaMemcpy3D(&p), cudaErrorInvalidValue);
    p.dstPos = make_cudaPos(6, 1, 0);
    OK(cudaMemcpy3D(&p));
    IS(memory[64 + 6 * 8], 1);
    IS(memory[64 + 7 * 8], 2);
"""
    right(warplab_exec, build, "pitch", text)


def test_a_device_reaches_the_pools_of_another_that_it_was_given(warplab_exec: Run, build: Build) -> None:
    """What the pool has allocated, and nothing else of that device; until access is taken away."""
    text = """
__global__ void add(int *p) { p[threadIdx.x] += 6; }
int main() {
    cudaMemPool_t pool;
    OK(cudaDeviceGetDefaultMemPool(&pool, 1));
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    OK(cudaMemPoolSetAccess(pool, &access, 1));
    OK(cudaSetDevice(1));
    int *lent, *own, back[32];
    OK(cudaMallocAsync(&lent, 128, 0));
    OK(cudaMalloc(&own, 128));
    OK(cudaMemset(lent, 0, 128));
    OK(cudaSetDevice(0));
    for (int n = 0; n < 2; n++) add<<<1, 32>>>(lent);
    OK(cudaMemcpy(back, lent, 128, cudaMemcpyDefault));
    IS(back[31], 12);
    add<<<1, 32>>>(own);
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    access.flags = cudaMemAccessFlagsProtNone;
    OK(cudaMemPoolSetAccess(pool, &access, 1));
    add<<<1, 32>>>(lent);
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
"""
    right(warplab_exec, build, "lent", text, devices=2)
