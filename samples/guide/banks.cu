// Shared memory: which words of a warp's access lie in one bank.
//
// REQUIRES: cuda
//@ run --kernel "strided<1>" --block 32 --arg out:out=f32[32] --expect "out == arange(32)"
//@ run --kernel "strided<2>" --block 32 --arg out:out=f32[32] --expect "out == 2 * arange(32)"
//@ run --kernel "strided<3>" --block 32 --arg out:out=f32[32] --expect "out == 3 * arange(32)"
//@ run --kernel "strided<32>" --block 32 --arg out:out=f32[32] --expect "out == 32 * arange(32)"
//@ run --kernel one_writer --block 32 --arg out:out=s32[1] --sanitize none --expect "0 <= out < 32"
//@ run --kernel "strided<4>" --block 32 --arg out:out=f32[32] --expect "out == 4 * arange(32)"
//@ run --kernel "strided<16>" --block 32 --arg out:out=f32[32] --expect "out == 16 * arange(32)"
template <int S> __global__ void strided(float *out)
{
    __shared__ float words[32 * S];
    for (int i = 0; i < S; i++) words[i * 32 + threadIdx.x] = i * 32 + threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[S * threadIdx.x];
}

// All lanes write one word: one of them does it, and which is not defined.
__global__ void one_writer(int *out)
{
    __shared__ int cell;
    cell = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) *out = cell;
}
