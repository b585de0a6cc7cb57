// wrong: warps stay together: divergent_branches is

// x: gridDim.x * blockDim.x numbers; sums: one sum for each block
__global__ void reduce(const unsigned *x, unsigned *sums)
{
    __shared__ unsigned cell[256];
    unsigned t = threadIdx.x;
    cell[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (t % (2 * s) == 0) cell[t] += cell[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = cell[0];
}
