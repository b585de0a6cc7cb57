// Starter: right, and every operand comes from global memory.

// n: a multiple of 16
__global__ void matmul(const float *a, const float *b, float *c, unsigned n)
{
    unsigned x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    float sum = 0;
    for (unsigned k = 0; k < n; k++) sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = sum;
}
