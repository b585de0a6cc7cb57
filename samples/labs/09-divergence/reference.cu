// Reference: threads 0 to s - 1 work, so that whole warps agree until fewer than a warp is left.

// x: gridDim.x * blockDim.x numbers; sums: one sum for each block
__global__ void reduce(const unsigned *x, unsigned *sums)
{
    __shared__ unsigned cell[256];
    unsigned t = threadIdx.x;
    cell[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) cell[t] += cell[t + s];
        __syncthreads();
    }
    if (t == 0) sums[blockIdx.x] = cell[0];
}
