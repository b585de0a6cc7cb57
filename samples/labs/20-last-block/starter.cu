// Starter: each block leaves its sum, and nobody adds them up.

// partial: a sum for each block; counter: 0 before each launch, and behind it
__global__ void total(const unsigned *x, unsigned n, unsigned *partial, unsigned *counter, unsigned *result)
{
    __shared__ unsigned sum;
    unsigned t = threadIdx.x, own = 0;

    // What the block has to add up.
    if (t == 0) sum = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) own += x[i];
    atomicAdd(&sum, own);
    __syncthreads();
    if (t == 0) partial[blockIdx.x] = sum;
}
