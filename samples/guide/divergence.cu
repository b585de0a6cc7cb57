// Branches: a warp whose lanes disagree executes both paths.
//
// REQUIRES: cuda
//@ run --kernel by_lane --block 64 --arg out:out=f32[64]
//@ run --kernel by_warp --block 64 --arg out:out=f32[64]
//@ run --kernel short_side --block 64 --arg x=f32[64]:arange --arg out:out=f32[64] --expect "out == where(x > 32, 2 * x, x)"
//@ run --kernel kept --block 64 --arg inout:out=f32[64]:arange --expect "out == where(arange(64) % 2 == 0, 0, arange(64))"
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

// A short side becomes a choice: no branch.
__global__ void short_side(const float *x, float *out)
{
    float v = x[threadIdx.x];
    if (v > 32.0f) v *= 2.0f;
    out[threadIdx.x] = v;
}

// Only even lanes store.
__global__ void kept(float *out)
{
    if (threadIdx.x % 2 == 0) out[threadIdx.x] = 0;
}
