// Conversions that a program does not name.
//
// REQUIRES: cuda
//@ run --kernel double_constant --block 32 --arg x=f32[32]:arange --arg out:out=f32[32] --expect "out == 1.1 * arange(32)" --rtol 1e-6
//@ run --kernel float_constant --block 32 --arg x=f32[32]:arange --arg out:out=f32[32] --expect "out == 1.1 * arange(32)" --rtol 1e-6
//@ run --kernel bytes --block 32 --arg x=s8[32]:arange --arg out:out=s8[32] --expect "out == 3 * arange(32) + 1"
//@ run --kernel words --block 32 --arg x=s32[32]:arange --arg out:out=s32[32] --expect "out == 3 * arange(32) + 1"
__global__ void double_constant(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x] * 1.1; }

__global__ void float_constant(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x] * 1.1f; }

__global__ void bytes(const signed char *x, signed char *out) { out[threadIdx.x] = 3 * x[threadIdx.x] + 1; }

__global__ void words(const int *x, int *out) { out[threadIdx.x] = 3 * x[threadIdx.x] + 1; }
