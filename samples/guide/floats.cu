// Floating point as IEEE 754 has it, and where it differs.
//
// REQUIRES: cuda
//@ run --kernel denormal --block 1 --arg x=f32[1]:fill(1e-40) --arg out:out=f32[2] --expect "out == [float32(1e-40) / 2, 0]"
//@ run --kernel contracted --block 1 --arg x=f32[3]:[1.0000001,1.0000001,-1.0000002] --arg out:out=f32[2] --expect "out[0] != out[1]"
//@ run --kernel divided --block 1 --arg x=f32[2]:[1,3] --arg out:out=f32[1] --ulp 0 --expect "out == float32(1) / float32(3)"
//@ run --kernel extremes --block 1 --arg x=f32[2]:[1,0] --arg out:out=f32[3] --print out
//@ run --kernel rounded --block 1 --arg x=f32[1]:fill(0.5) --arg out:out=s32[3] --expect "out == [2, 2, -3]"
//@ run --kernel atomic --block 1 --arg inout:cell=f32[1]:fill(1e-40) --expect "cell == 0"
//@ run --kernel directions --block 1 --arg x=f32[2]:[1,3] --arg out:out=f32[4] --expect "out[0] < out[1]" --expect "out[2] == out[0]" --expect "out[3] == out[1]"
//@ run --kernel nans --block 1 --arg x=f32[1]:fill(nan) --arg out:out=u32[3] --expect "out == [0x7fffffff, 0x40000000, 0x40000000]"
//@ run --kernel clamped --block 1 --arg x=f32[3]:[1e20,-1e20,nan] --arg out:out=s32[3] --expect "out == [2147483647, -2147483648, 0]"
//@ run --kernel fused --block 1 --arg x=f32[1]:fill(4097) --arg out:out=f32[2] --expect "out == [1, 0]"
//@ run --kernel fused_double --block 1 --arg x=f64[1]:fill(134217729) --arg out:out=f64[2] --expect "out == [1, 0]"
//@ run --kernel signs --block 1 --arg x=f32[1]:fill(nan) --arg out:out=u32[2] --print out
//@ run --kernel in_shared --block 1 --arg out:out=f32[1] --expect "out > 1e-40"
__global__ void denormal(const float *x, float *out)
{
    out[0] = x[0] / 2;
    asm("mul.ftz.f32 %0, %1, 0f3F000000;" : "=f"(out[1]) : "f"(x[0]));
}

__global__ void contracted(const float *x, float *out)
{
    out[0] = x[0] * x[1] + x[2];
    out[1] = __fadd_rn(__fmul_rn(x[0], x[1]), x[2]);
}

__global__ void divided(const float *x, float *out) { out[0] = x[0] / x[1]; }

// No operation traps.
__global__ void extremes(const float *x, float *out)
{
    out[0] = x[0] / x[1];
    out[1] = -x[0] / x[1];
    out[2] = x[1] / x[1];
}

__global__ void rounded(const float *x, int *out)
{
    out[0] = __float2int_rn(2.5f + x[0] - x[0]);
    out[1] = __float2int_rz(2.5f + x[0] - x[0]);
    out[2] = __float2int_rd(-2.5f + x[0] - x[0]);
}

__global__ void atomic(float *cell) { atomicAdd(cell, 2e-40f); }

// A rounding mode belongs to an instruction.
__global__ void directions(const float *x, float *out)
{
    out[0] = __fdiv_rd(x[0], x[1]);
    out[1] = __fdiv_ru(x[0], x[1]);
    out[2] = __fdiv_rz(x[0], x[1]);
    out[3] = __fdiv_rn(x[0], x[1]);
}

// The NaN of an operation, and the number beside a NaN.
__global__ void nans(const float *x, unsigned *out)
{
    out[0] = __float_as_uint(x[0] + 1);
    out[1] = __float_as_uint(fminf(x[0], 2));
    out[2] = __float_as_uint(fmaxf(2, x[0]));
}

__global__ void clamped(const float *x, int *out) { for (int i = 0; i < 3; i++) out[i] = (int)x[i]; }

// x * x needs more bits than a result has: one rounding leaves the last of them.
__global__ void fused(const float *x, float *out)
{
    out[0] = fmaf(x[0], x[0], -16785408.0f);
    out[1] = __fmul_rn(x[0], x[0]) - 16785408.0f;
}

__global__ void fused_double(const double *x, double *out)
{
    out[0] = fma(x[0], x[0], -18014398777917440.0);
    out[1] = __dmul_rn(x[0], x[0]) - 18014398777917440.0;
}

__global__ void signs(const float *x, unsigned *out)
{
    out[0] = __float_as_uint(fabsf(x[0]));
    out[1] = __float_as_uint(-fabsf(x[0]));
}

// The guide speaks of global memory: in shared memory denormal numbers are added.
__global__ void in_shared(float *out)
{
    __shared__ float cell;
    cell = 1e-40f;
    atomicAdd(&cell, 2e-40f);
    out[0] = cell;
}
