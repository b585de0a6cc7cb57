// wrong: 32 numbers: changed a, which is an input
__global__ void vecadd(float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The last block has threads beyond the end of the arrays: they do nothing.
    if (i < n) c[i] = a[i] = a[i] + b[i];
}
