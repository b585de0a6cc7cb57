// Functions and their faster, less exact twins.
//
// REQUIRES: cuda
//@ run --kernel exact --block 32 --arg x=f32[32]:range(0,32) --arg out:out=f32[32] --rtol 1e-6 --expect "out == sin(float64(x))"
//@ run --kernel fast --block 32 --arg x=f32[32]:range(0,32) --arg out:out=f32[32] --atol 1e-5 --expect "out == sin(float64(x))"
//@ run --kernel divides --block 32 --arg x=u32[32]:arange --arg out:out=u32[32] --expect "out == x // 7 + x % 7"
//@ run --kernel shifts --block 32 --arg x=u32[32]:arange --arg out:out=u32[32] --expect "out == x // 8 + x % 8"
__global__ void exact(const float *x, float *out) { out[threadIdx.x] = sinf(x[threadIdx.x]); }

__global__ void fast(const float *x, float *out) { out[threadIdx.x] = __sinf(x[threadIdx.x]); }

__global__ void divides(const unsigned *x, unsigned *out) { out[threadIdx.x] = x[threadIdx.x] / 7 + x[threadIdx.x] % 7; }

__global__ void shifts(const unsigned *x, unsigned *out) { out[threadIdx.x] = x[threadIdx.x] / 8 + x[threadIdx.x] % 8; }
