// Starter: one element per thread, and no loop.
__global__ void saxpy(unsigned n, float a, const float *x, float *y)
{
    // Thread i of all threads of the grid begins at element i and goes on by the number of threads.
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
