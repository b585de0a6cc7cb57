// Starter: both kernels load and store, and do nothing between.

// x: blocks of blockDim.x numbers, at most 256 each; out: every block's numbers in opposite order
__global__ void reverse(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[256];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    cell[t] = x[i];

    // Wait until every thread has put its number into its cell; then take the opposite one.
    out[i] = cell[t];
}

// x: gridDim.x * 256 numbers; sums: one sum for each block
__global__ void reduce(const unsigned *x, unsigned *sums)
{
    __shared__ unsigned cell[256];
    unsigned t = threadIdx.x;
    cell[t] = x[blockIdx.x * blockDim.x + t];
    __syncthreads();

    // Add up the cells: half of the threads add, then a quarter, ... with a barrier after each step.

    if (t == 0) sums[blockIdx.x] = cell[0];
}
