// Reference: a grid-stride loop.
__global__ void saxpy(unsigned n, float a, const float *x, float *y)
{
    unsigned threads = blockDim.x * gridDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads)
        y[i] = a * x[i] + y[i];
}
