// Starter: right, one element at a time: each waits for its load, then for each of its 24 steps.

// n: a multiple of 4 times the number of threads
__global__ void polynomial(const float *x, float *y, unsigned n)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        float v = x[i], sum = v + 1;
        for (unsigned k = 0; k < 24; k++) sum = v * sum + 0.5f;
        y[i] = sum;
    }
}
