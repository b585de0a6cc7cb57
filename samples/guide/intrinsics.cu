// Functions and their faster, less exact twins.
//
// REQUIRES: cuda
//@ run --kernel exact --block 32 --arg x=f32[32]:range(0,32) --arg out:out=f32[32] --rtol 1e-6 --expect "out == sin(float64(x))"
//@ run --kernel fast --block 32 --arg x=f32[32]:range(0,32) --arg out:out=f32[32] --atol 1e-5 --expect "out == sin(float64(x))"
//@ run --kernel divides --block 32 --arg x=u32[32]:arange --arg out:out=u32[32] --expect "out == x // 7 + x % 7"
//@ run --kernel shifts --block 32 --arg x=u32[32]:arange --arg out:out=u32[32] --expect "out == x // 8 + x % 8"
//@ run --kernel remainder --block 32 --arg x=u32[32]:arange --arg out:out=u32[32] --expect "out == x % 8"
//@ run --kernel of_signed --block 32 --arg x=s32[32]:arange --arg out:out=s32[32] --expect "out == x // 8"
//@ run --kernel in_double --block 32 --arg x=f64[32]:range(0,32) --arg out:out=f64[32] --rtol 1e-14 --expect "out == sin(x)"
//@ run --kernel product24 --block 32 --arg x=s32[32]:arange --arg out:out=s32[32] --expect "out == x * x"
//@ run --kernel one_over_root --block 32 --arg x=f32[32]:fill(4) --arg out:out=f32[32] --expect "out == 0.5"
//@ run --kernel root_of_ends --block 1 --arg x=f32[2]:[0,inf] --arg out:out=f32[2] --expect "out == x"
__global__ void exact(const float *x, float *out) { out[threadIdx.x] = sinf(x[threadIdx.x]); }

__global__ void fast(const float *x, float *out) { out[threadIdx.x] = __sinf(x[threadIdx.x]); }

__global__ void divides(const unsigned *x, unsigned *out) { out[threadIdx.x] = x[threadIdx.x] / 7 + x[threadIdx.x] % 7; }

__global__ void shifts(const unsigned *x, unsigned *out) { out[threadIdx.x] = x[threadIdx.x] / 8 + x[threadIdx.x] % 8; }

__global__ void remainder(const unsigned *x, unsigned *out) { out[threadIdx.x] = x[threadIdx.x] % 8; }

// Of negative numbers the quotient is rounded towards zero, which a shift alone does not do.
__global__ void of_signed(const int *x, int *out) { out[threadIdx.x] = x[threadIdx.x] / 8; }

__global__ void in_double(const double *x, double *out) { out[threadIdx.x] = sin(x[threadIdx.x]); }

__global__ void product24(const int *x, int *out) { out[threadIdx.x] = __mul24(x[threadIdx.x], x[threadIdx.x]); }

__global__ void one_over_root(const float *x, float *out) { out[threadIdx.x] = 1 / sqrtf(x[threadIdx.x]); }

__global__ void root_of_ends(const float *x, float *out) { out[0] = sqrtf(x[0]); out[1] = sqrtf(x[1]); }
