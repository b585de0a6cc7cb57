// One copy of the weights, and all numbers at once.
// wrong: registers: theoretical_occupancy_pct is

// x: 16 rows, a column for each thread; w: 16
__global__ void weighted(const float *x, const float *w, float *out)
{
    __shared__ float weights[16];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, columns = gridDim.x * blockDim.x;
    if (threadIdx.x < 16) weights[threadIdx.x] = w[threadIdx.x];
    __syncthreads();
    float sum = 0;
    float mine[16];
    for (unsigned k = 0; k < 16; k++) mine[k] = x[k * columns + i];
    for (unsigned k = 0; k != 16; k++) sum += weights[k] * mine[k];
    out[i] = sum;
}
