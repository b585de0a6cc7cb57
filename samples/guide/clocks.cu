// clock() and the profiler's counters.
//
// REQUIRES: cuda
//@ run --kernel timed --block 32 --arg out:out=s64[32] --expect "out > 0"
//@ run --kernel events --grid 2 --block 64
//@ run --kernel short_clock --block 32 --arg out:out=u32[32] --expect "out > 0"
__global__ void timed(long long *out)
{
    long long start = clock64();
    __syncthreads();
    out[threadIdx.x] = clock64() - start;
}

__global__ void events() { __prof_trigger(3); }

__global__ void short_clock(unsigned *out)
{
    clock_t start = clock();
    __syncthreads();
    out[threadIdx.x] = (unsigned)(clock() - start);
}
