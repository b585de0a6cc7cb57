"""Accesses just outside of memory: they pass where they do on a GPU, with a warning, and a fault names itself in later calls, too."""

from .conftest import Build, Run

GRANULE = """
#include <cstdio>
__global__ void shared(int at) {
    __shared__ int s[1];
    volatile int *p = s;
    p[at] = 5;
    if (p[at] != 5) printf("lost\\n");
}
__global__ void before(int *p, long at, int *out) { *out = p[at]; }
int main(int count, char **arguments) {
    int *p, *out;
    cudaMalloc(&p, 4096);
    cudaMalloc(&out, 4);
    before<<<1, 1>>>(p, -1024, out);
    printf("%d", cudaDeviceSynchronize());
    shared<<<1, 1>>>(31);
    printf(" %d", cudaDeviceSynchronize());
    shared<<<1, 1>>>(32);
    printf(" %d", cudaDeviceSynchronize());
    printf(" %d %d\\n", cudaMalloc(&p, 4), cudaMemset(out, 0, 4));
}
"""


def test_shared_memory_ends_with_a_granule_of_128_bytes(warplab_exec: Run, build: Build) -> None:
    program = build("granule", text=GRANULE)
    for engine in ("numpy", "native"):
        done = warplab_exec(program, WARPLAB_ENGINE=engine)
        assert done.stdout == "0 0 700 700 700\n", done.stderr
        assert done.stderr.count("warning: kernel before reads up to 4 bytes") == 1
        assert done.stderr.count("warning: kernel shared writes 4 bytes of shared memory at 0x7c, 120 bytes after") == 1
        since = "every call fails since launch 3 of the context, kernel shared, has failed: out of bounds: 4-byte write of shared memory at 0x80"
        assert f"warplab: cudaMalloc: {since}\n" in done.stderr and f"warplab: cudaMemset: {since}\n" in done.stderr
        assert done.stderr.count("at line") == 1
    strict = warplab_exec(program, options=("--bounds", "strict"))
    assert strict.stdout == "700 700 700 700 700\n"


def test_checkers_of_other_errors_follow_such_accesses(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("granule", text=GRANULE), options=("--sanitize", "initcheck,racecheck"))
    assert done.stdout == "0 0 700 700 700\n"


ASSERTS = """
#include <cassert>
#include <cstdio>
__global__ void checks(int *p) { assert(threadIdx.x < 2); *p = 1; }
int main() {
    int *p;
    cudaMalloc(&p, 4);
    checks<<<1, 4>>>(p);
    printf("%d", cudaDeviceSynchronize());
    printf(" %d\\n", cudaFree(p));
}
"""


def test_an_assertion_is_printed_once_by_each_thread(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("asserts", text=ASSERTS))
    assert done.stdout == "710 710\n"
    assert done.stderr.count("Assertion `threadIdx.x < 2` failed.") == 2
    assert done.stderr.count("warplab: an assertion failed\n") == 1
    assert (
        "warplab: cudaFree: every call fails since launch 1 of the context, kernel checks, has failed: an assertion failed\n" in done.stderr
    )


WIDE = """
#include <cstdio>
__global__ void wide(int4 *out) {
    __shared__ __align__(16) int s[1];
    s[0] = 5;
    asm volatile("ld.shared.v4.s32 {%0, %1, %2, %3}, [%4];" : "=r"(out->x), "=r"(out->y), "=r"(out->z), "=r"(out->w) : "r"((int)__cvta_generic_to_shared(s)));
}
int main() {
    int4 *out;
    cudaMalloc(&out, 16);
    wide<<<1, 1>>>(out);
    printf("%d\\n", cudaDeviceSynchronize());
}
"""


def test_an_access_that_is_longer_than_shared_memory_passes_within_the_granule(warplab_exec: Run, build: Build) -> None:
    program = build("wide", text=WIDE)
    for engine in ("numpy", "native"):
        done = warplab_exec(program, WARPLAB_ENGINE=engine)
        assert done.stdout == "0\n", done.stderr
        assert done.stderr.count("warning: kernel wide reads 16 bytes of shared memory at 0x0, 12 of them lie after") == 1


DEEP = """
#include <cstdio>
#include <cstdlib>
__device__ __noinline__ int deep(int n, int *seed) {
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = seed[i] + n;
    return n ? deep(n - 1, a) + a[n & 15] : a[seed[0] & 15];
}
__global__ void sums(int n, int *out) {
    int s[16];
    for (int i = 0; i < 16; i++) s[i] = i;
    *out = deep(n, s);
}
int main(int count, char **arguments) {
    int *out;
    cudaMalloc(&out, 4);
    if (count > 2) cudaDeviceSetLimit(cudaLimitStackSize, 32768);
    for (int i = 0; i < 2; i++) sums<<<1, 1>>>(atoi(arguments[1]), out);
    printf("%d\\n", cudaDeviceSynchronize());
}
"""


def test_recursion_behind_the_limit_of_the_stack_passes_with_a_warning(warplab_exec: Run, build: Build) -> None:
    program = build("deep", text=DEEP)
    for engine in ("numpy", "native"):
        done = warplab_exec(program, "100", WARPLAB_ENGINE=engine)
        assert done.stdout == "0\n", done.stderr
        assert done.stderr.count("warning: kernel sums recursed through ") == 1, "once for a kernel"
        assert "bytes of a thread's stack; the limit is 1024 (cudaLimitStackSize)" in done.stderr
        assert not warplab_exec(program, "3", WARPLAB_ENGINE=engine).stderr, "the limit is not reached"
        assert not warplab_exec(program, "100", "more", WARPLAB_ENGINE=engine).stderr, "the limit is larger"


HOST_POINTERS = """
#include <cstdio>
#include <cstdlib>
static int filled[2000] = {1}, empty[4000];
__global__ void k(const int *p, int *out) { *out = p[threadIdx.x]; }
int main(int count, char **arguments) {
    int stack[4] = {}, *out;
    cudaMalloc(&out, 4);
    const int *all[] = {stack, (int *)malloc(64), filled, empty + 2000, (int *)calloc(1, 1 << 22)};
    k<<<1, 4>>>(all[atoi(arguments[1])], out);
    return cudaDeviceSynchronize() == cudaErrorIllegalAddress;
}
"""


def test_a_host_pointer_is_named(warplab_exec: Run, build: Build) -> None:
    program = build("host_pointers", text=HOST_POINTERS)
    wanted = "the program's stack", "the program's heap", ".data of ", ".bss of ", "memory that the program has mapped, as malloc"
    for number, words in enumerate(wanted):
        done = warplab_exec(program, str(number))
        assert done.returncode == 1 and f"  host memory: {words}" in done.stderr, done.stderr
