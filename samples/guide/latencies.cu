// How long a warp waits for a result, by its own clock, and what hides it.
//
// REQUIRES: cuda
//@ run --kernel chain --block 1 --arg 1.0 --arg out:cycles=s64[1] --arg out:out=f32[1] --expect "cycles > 0"
//@ run --kernel pairs --block 1 --arg 1.0 --arg out:cycles=s64[1] --arg out:out=f32[1] --expect "cycles > 0"
//@ run --kernel of_global --block 1 --arg x=s32[1]:zeros --arg out:cycles=s64[1] --arg out:out=s32[1] --expect "cycles > 0"
//@ run --kernel of_shared --block 1 --arg x=s32[1]:zeros --arg out:cycles=s64[1] --arg out:out=s32[1] --expect "cycles > 0"
//@ run --kernel fifteen --grid 64 --block 256 --arg x=f32[16384]:fill(1) --arg out:out=f32[16384] --expect "out > 0"
//@ run --kernel fences --grid 16 --block 64 --arg x=f32[1024]:arange --arg out:out=f32[1024] --expect "out == x"
__global__ void chain(float v, long long *cycles, float *out)
{
    long long begun = clock64();
#pragma unroll
    for (int i = 0; i < 64; i++) v = v * v + 1;
    long long done = clock64();
    out[threadIdx.x] = v;
    *cycles = done - begun;
}

// As many instructions, two of which are independent of each other.
__global__ void pairs(float v, long long *cycles, float *out)
{
    float w = -v;
    long long begun = clock64();
#pragma unroll
    for (int i = 0; i < 32; i++) { v = v * v + 1; w = w * w + 2; }
    long long done = clock64();
    out[threadIdx.x] = v + w;
    *cycles = done - begun;
}

// What needs the result, between the two readings of the clock.
__device__ int plus_one(int v)
{
    int out;
    asm volatile("add.s32 %0, %1, 1;" : "=r"(out) : "r"(v));
    return out;
}

__global__ void of_global(const int *x, long long *cycles, int *out)
{
    long long begun = clock64();
    int v = plus_one(*(volatile const int *)x);
    *cycles = clock64() - begun;
    out[threadIdx.x] = v;
}

__global__ void of_shared(const int *x, long long *cycles, int *out)
{
    __shared__ int cell;
    cell = x[0];
    __syncthreads();
    long long begun = clock64();
    int v = plus_one(*(volatile int *)&cell);
    *cycles = clock64() - begun;
    out[threadIdx.x] = v;
}

__global__ void fifteen(const float *x, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
#pragma unroll
    for (int k = 0; k < 3; k++) v = v * v + 1;
    out[i] = v;
}

// A warp that has stored waits at a fence until all see it.
__global__ void fences(const float *x, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i];
    __threadfence();
}
