// Reference: c[i] = a[i] + b[i] for i < n.
__global__ void vecadd(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    // The last block has threads beyond the end of the arrays: they do nothing.
    if (i < n) c[i] = a[i] + b[i];
}
