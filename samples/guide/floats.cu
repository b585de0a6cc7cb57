// Floating point as IEEE 754 has it, and where it differs.
//
// REQUIRES: cuda
//@ run --kernel denormal --block 1 --arg x=f32[1]:fill(1e-40) --arg out:out=f32[2] --expect "out == [float32(1e-40) / 2, 0]"
//@ run --kernel contracted --block 1 --arg x=f32[3]:[1.0000001,1.0000001,-1.0000002] --arg out:out=f32[2] --expect "out[0] != out[1]"
//@ run --kernel divided --block 1 --arg x=f32[2]:[1,3] --arg out:out=f32[1] --ulp 0 --expect "out == float32(1) / float32(3)"
//@ run --kernel extremes --block 1 --arg x=f32[2]:[1,0] --arg out:out=f32[3] --print out
//@ run --kernel rounded --block 1 --arg x=f32[1]:fill(0.5) --arg out:out=s32[3] --expect "out == [2, 2, -3]"
//@ run --kernel atomic --block 1 --arg inout:cell=f32[1]:fill(1e-40) --expect "cell == 0"
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
