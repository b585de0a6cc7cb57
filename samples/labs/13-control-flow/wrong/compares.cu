// wrong: one jump: op_brx is 0

// op is taken modulo 5
__global__ void calculate(const unsigned *op, const int *a, const int *b, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned o = op[i] % 5;
    out[i] = o == 0 ? a[i] + b[i] : o == 1 ? a[i] - b[i] : o == 2 ? a[i] * b[i] : o == 3 ? min(a[i], b[i]) : 0;
}

// x: one number for each thread
__global__ void clamp(int *x, int low, int high)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = min(max(x[i], low), high);
}
