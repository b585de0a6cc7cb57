// The counter goes on counting.
// wrong: two launches: counter == 0

// partial: a sum for each block; counter: 0 before each launch, and behind it
__global__ void total(const unsigned *x, unsigned n, unsigned *partial, unsigned *counter, unsigned *result)
{
    __shared__ unsigned sum, last;
    unsigned t = threadIdx.x, own = 0;

    // What the block has to add up.
    if (t == 0) sum = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) own += x[i];
    atomicAdd(&sum, own);
    __syncthreads();

    // Thread 0 leaves the sum, and then, visibly later, takes a number.
    if (t == 0) {
        partial[blockIdx.x] = sum;
        __threadfence();
        last = atomicAdd(counter, 1) + 1 == gridDim.x;
        sum = 0;
    }
    __syncthreads();
    if (!last) return;

    // All other blocks have left their sums.
    __threadfence();
    own = 0;
    for (unsigned i = t; i < gridDim.x; i += blockDim.x) own += partial[i];
    atomicAdd(&sum, own);
    __syncthreads();
    if (t == 0) *result = sum;
}
