// malloc and free in kernels.
//
// REQUIRES: cuda
//@ run --kernel own --block 4 --arg out:out=u32[4] --expect "out == [0, 2, 4, 6]"
//@ run --kernel too_much --block 1 --arg out:out=u32[1] --expect "out == 1"
//@ run --kernel starts --block 4 --arg out:out=u32[4] --expect "out == 0"
//@ run --kernel shared_by_block --block 32 --arg out:out=u32[32] --expect "out == flip(arange(32))"
//@ run --kernel twice --block 1
//@ fault "free"
#ifndef __CUDACC_RTC__  // NVRTC has them without a header
#include <cstdlib>
#endif

__global__ void own(unsigned *out)
{
    unsigned *mine = (unsigned *)malloc(8);
    mine[0] = mine[1] = threadIdx.x;
    out[threadIdx.x] = mine[0] + mine[1];
    free(mine);
}

// A heap has an end: malloc then returns a null pointer.
__global__ void too_much(unsigned *out) { out[0] = malloc(1ull << 40) == nullptr; }

__global__ void starts(unsigned *out)
{
    char *mine = (char *)malloc(5);
    out[threadIdx.x] = (unsigned long long)mine % 16;
    free(mine);
}

// One thread allocates for all.
__global__ void shared_by_block(unsigned *out)
{
    __shared__ unsigned *all;
    if (threadIdx.x == 0) all = (unsigned *)malloc(32 * sizeof(unsigned));
    __syncthreads();
    all[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = all[31 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) free(all);
}

__global__ void twice()
{
    void *mine = malloc(8);
    free(mine);
    free(mine);
}
