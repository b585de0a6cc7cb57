// wrong: more threads than numbers: out of bounds
__global__ void saxpy(unsigned n, float a, const float *x, float *y)
{
    unsigned threads = blockDim.x * gridDim.x;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    do {
        y[i] = a * x[i] + y[i];
        i += threads;
    } while (i < n);
}
