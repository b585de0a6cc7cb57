// Built-in vector types: one instruction loads 16 bytes, and needs an address that is a multiple of 16.
//
// REQUIRES: cuda
//@ run --kernel aligned --block 8 --arg x=f32[32]:arange --arg out:out=f32[32] --expect "out == arange(32)"
//@ run --kernel misaligned --block 8 --arg x=f32[64]:arange --arg out:out=f32[32]
//@ fault "misaligned"
__global__ void aligned(const float4 *x, float4 *out) { out[threadIdx.x] = x[threadIdx.x]; }

__global__ void misaligned(const float *x, float4 *out)
{
    out[threadIdx.x] = *(const float4 *)(x + 1 + 4 * threadIdx.x);
}
