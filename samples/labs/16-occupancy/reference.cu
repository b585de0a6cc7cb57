// Reference: one copy of the weights, one number at a time.

// x: 16 rows, a column for each thread; w: 16
__global__ void weighted(const float *x, const float *w, float *out)
{
    __shared__ float weights[16];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, columns = gridDim.x * blockDim.x;
    if (threadIdx.x < 16) weights[threadIdx.x] = w[threadIdx.x];
    __syncthreads();
    float sum = 0;
#pragma unroll 1
    for (unsigned k = 0; k != 16; k++) sum += weights[k] * x[k * columns + i];
    out[i] = sum;
}
