// Global memory: how many sectors the 32 lanes of a warp touch.
//
// REQUIRES: cuda
//@ run --kernel "strided<1>" --block 32 --arg x=f32[1024]:arange --arg out:out=f32[32] --expect "out == arange(32)"
//@ run --kernel "strided<2>" --block 32 --arg x=f32[1024]:arange --arg out:out=f32[32] --expect "out == 2 * arange(32)"
//@ run --kernel "strided<8>" --block 32 --arg x=f32[1024]:arange --arg out:out=f32[32] --expect "out == 8 * arange(32)"
//@ run --kernel shifted --block 32 --arg x=f32[1024]:arange --arg out:out=f32[32] --expect "out == arange(32) + 1"
//@ run --kernel reversed --block 32 --arg x=f32[1024]:arange --arg out:out=f32[32] --expect "out == 31 - arange(32)"
//@ run --kernel same --block 32 --arg x=f32[1024]:arange --arg out:out=f32[32] --expect "out == 5"
//@ run --kernel shifted_past_l1 --block 32 --arg x=f32[1024]:arange --arg out:out=f32[32] --expect "out == arange(32) + 1"
template <int S> __global__ void strided(const float *x, float *out) { out[threadIdx.x] = x[S * threadIdx.x]; }

__global__ void shifted(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x + 1]; }

__global__ void reversed(const float *x, float *out) { out[threadIdx.x] = x[31 - threadIdx.x]; }

__global__ void same(const float *x, float *out) { out[threadIdx.x] = x[5]; }

// The modifier .cg: L2 only.
__global__ void shifted_past_l1(const float *x, float *out) { out[threadIdx.x] = __ldcg(x + threadIdx.x + 1); }
