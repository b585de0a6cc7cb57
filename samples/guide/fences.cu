// The last block adds up what all blocks wrote: a fence, then an atomic counter.
//
// REQUIRES: cuda
//@ run --kernel sum --grid 4 --block 32 --arg x=f32[128]:arange --arg inout:part=f32[4] --arg out:total=f32[1] --schedules 5 --expect "total == 8128"
__device__ unsigned arrived = 0;

__global__ void sum(const float *x, volatile float *part, float *total)
{
    float v = x[blockIdx.x * 32 + threadIdx.x];
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    if (threadIdx.x) return;
    part[blockIdx.x] = v;
    __threadfence();
    if (atomicInc(&arrived, gridDim.x) != gridDim.x - 1) return;
    float all = 0;
    for (int b = 0; b < gridDim.x; b++) all += part[b];
    *total = all;
}
