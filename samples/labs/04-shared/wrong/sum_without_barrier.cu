// wrong: sums, in another order: first sums

// x: blocks of blockDim.x numbers, at most 256 each; out: every block's numbers in opposite order
__global__ void reverse(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    cell[t] = x[i];
    __syncthreads();                     // of reverse
    out[i] = cell[blockDim.x - 1 - t];   // another thread wrote it
}

// x: gridDim.x * 256 numbers; sums: one sum for each block
__global__ void reduce(const unsigned *x, unsigned *sums)
{
    __shared__ unsigned cell[256];
    unsigned t = threadIdx.x;
    cell[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) cell[t] += cell[t + s];
    }
    if (t == 0) sums[blockIdx.x] = cell[0];
}
