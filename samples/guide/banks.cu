// Shared memory: which words of a warp's access lie in one bank.
//
// REQUIRES: cuda
//@ run --kernel "strided<1>" --block 32 --arg out:out=f32[32] --expect "out == arange(32)"
//@ run --kernel "strided<2>" --block 32 --arg out:out=f32[32] --expect "out == 2 * arange(32)"
//@ run --kernel "strided<3>" --block 32 --arg out:out=f32[32] --expect "out == 3 * arange(32)"
//@ run --kernel "strided<32>" --block 32 --arg out:out=f32[32] --expect "out == 32 * arange(32)"
template <int S> __global__ void strided(float *out)
{
    __shared__ float words[32 * S];
    for (int i = 0; i < S; i++) words[i * 32 + threadIdx.x] = i * 32 + threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[S * threadIdx.x];
}
