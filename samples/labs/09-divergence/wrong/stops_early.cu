// wrong: 2048 numbers: first sums

// x: gridDim.x * blockDim.x numbers; sums: one sum for each block
__global__ void reduce(const unsigned *x, unsigned *sums)
{
    __shared__ unsigned cell[256];
    unsigned t = threadIdx.x;
    cell[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 1; s /= 2) {
        if (t < s) cell[t] += cell[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = cell[0];
}
