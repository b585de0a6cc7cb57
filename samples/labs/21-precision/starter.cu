// Starter: one kernel lets the compiler contract, one loses the error, one flushes small numbers to zero.

// d = b b - 4 a c, each operation rounded: on every device and by every compiler the same bits
__global__ void discriminant(const float *a, const float *b, const float *c, float *d)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    d[i] = b[i] * b[i] - 4 * a[i] * c[i];
}

// p = a b, rounded, and e = a b - p, the error of the rounding, exactly
__global__ void product(const float *a, const float *b, float *p, float *e)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float rounded = __fmul_rn(a[i], b[i]);
    p[i] = rounded;
    e[i] = __fmul_rn(a[i], b[i]) - rounded;
}

// y = x / 2, also where the result is too small to be normal
__global__ void halve(const float *x, float *y)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    asm("mul.ftz.f32 %0, %1, 0f3F000000;" : "=f"(y[i]) : "f"(x[i])); // as nvcc -ftz=true has it
}
