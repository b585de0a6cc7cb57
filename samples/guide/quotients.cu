// Division and roots: as IEEE 754 rounds, and approximated.
//
// REQUIRES: cuda
//@ run --kernel exact --block 32 --arg x=f32[32]:range(1,33) --arg out:out=f32[32] --ulp 0 --expect "out == float32(1) / x"
//@ run --kernel fast --block 32 --arg x=f32[32]:range(1,33) --arg out:out=f32[32] --ulp 2 --expect "out == float32(1) / x"
//@ run --kernel fast --block 1 --arg x=f32[1]:fill(1e38) --arg out:out=f32[1] --expect "out == 0"
//@ run --kernel root --block 32 --arg x=f32[32]:range(1,33) --arg out:out=f32[32] --ulp 0 --expect "out == sqrt(x)"
//@ run --kernel inverse_root --block 32 --arg x=f32[32]:range(1,33) --arg out:out=f32[32] --ulp 2 --expect "out == float32(1 / sqrt(float64(x)))"
//@ run --kernel exact_double --block 32 --arg x=f64[32]:range(1,33) --arg out:out=f64[32] --ulp 0 --expect "out == 1 / x"
__global__ void exact(const float *x, float *out) { out[threadIdx.x] = 1.0f / x[threadIdx.x]; }

__global__ void fast(const float *x, float *out) { out[threadIdx.x] = __fdividef(1.0f, x[threadIdx.x]); }

__global__ void root(const float *x, float *out) { out[threadIdx.x] = sqrtf(x[threadIdx.x]); }

__global__ void inverse_root(const float *x, float *out) { out[threadIdx.x] = rsqrtf(x[threadIdx.x]); }

__global__ void exact_double(const double *x, double *out) { out[threadIdx.x] = 1.0 / x[threadIdx.x]; }
