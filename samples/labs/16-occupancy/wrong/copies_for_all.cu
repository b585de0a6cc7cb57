// One number at a time, and a copy of the weights for each thread.
// wrong: shared memory: blocks_by_shared_memory is

// x: 16 rows, a column for each thread; w: 16
__global__ void weighted(const float *x, const float *w, float *out)
{
    __shared__ float weights[16][256];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, columns = gridDim.x * blockDim.x;
    for (unsigned k = 0; k < 16; k++) weights[k][threadIdx.x] = w[k];
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k != 16; k++) sum += weights[k][threadIdx.x] * x[k * columns + i];
    out[i] = sum;
}
