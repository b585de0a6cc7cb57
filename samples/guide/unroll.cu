// #pragma unroll
//
// REQUIRES: cuda
//@ run --kernel unrolled --block 32 --arg x=f32[256]:arange --arg out:out=f32[32] --expect "out == sum(x.reshape(8, 32), 0)"
//@ run --kernel rolled --block 32 --arg x=f32[256]:arange --arg out:out=f32[32] --expect "out == sum(x.reshape(8, 32), 0)"
//@ run --kernel by_four --block 32 --arg x=f32[256]:arange --arg n=8 --arg out:out=f32[32] --expect "out == sum(x.reshape(8, 32), 0)"
//@ run --kernel not_at_all --block 32 --arg x=f32[256]:arange --arg n=8 --arg out:out=f32[32] --expect "out == sum(x.reshape(8, 32), 0)"
__global__ void unrolled(const float *x, float *out)
{
    float sum = 0;
#pragma unroll
    for (int i = 0; i < 8; i++) sum += x[i * 32 + threadIdx.x];
    out[threadIdx.x] = sum;
}

__global__ void rolled(const float *x, float *out)
{
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 8; i++) sum += x[i * 32 + threadIdx.x];
    out[threadIdx.x] = sum;
}

__global__ void by_four(const float *x, int n, float *out)
{
    float sum = 0;
#pragma unroll 4
    for (int i = 0; i < n; i++) sum += x[i * 32 + threadIdx.x];
    out[threadIdx.x] = sum;
}

__global__ void not_at_all(const float *x, int n, float *out)
{
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < n; i++) sum += x[i * 32 + threadIdx.x];
    out[threadIdx.x] = sum;
}
