// Each thread adds to the result.
// wrong: many blocks: global_atom_requests + global_red_requests is

// partial: a sum for each block; counter: 0 before each launch, and behind it
__global__ void total(const unsigned *x, unsigned n, unsigned *partial, unsigned *counter, unsigned *result)
{
    unsigned own = 0;
    if (blockIdx.x == 0 && threadIdx.x == 0) *result = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) own += x[i];
    if (threadIdx.x == 0) partial[blockIdx.x] = 0;
    __syncthreads();
    atomicAdd(&partial[blockIdx.x], own);
    atomicAdd(result, own);
}
