// Branches: a warp whose lanes disagree executes both paths.
//
// REQUIRES: cuda
//@ run --kernel by_lane --block 64 --arg out:out=f32[64]
//@ run --kernel by_warp --block 64 --arg out:out=f32[64]
__device__ float work(float v, int steps)
{
    for (int i = 0; i < steps; i++) v = v * 0.5f + 1.0f;
    return v;
}

__global__ void by_lane(float *out)
{
    float v = threadIdx.x;
    if (threadIdx.x % 2) v = work(v, out[0] > 1e30f ? 1 : 100);
    else v = work(-v, out[0] > 1e30f ? 1 : 101);
    out[threadIdx.x] = v;
}

__global__ void by_warp(float *out)
{
    float v = threadIdx.x;
    if (threadIdx.x / 32 % 2) v = work(v, out[0] > 1e30f ? 1 : 100);
    else v = work(-v, out[0] > 1e30f ? 1 : 101);
    out[threadIdx.x] = v;
}
