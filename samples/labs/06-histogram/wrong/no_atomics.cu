// wrong: one value: first bins[7]

// bins: 256 counters, 0 before the launch
__global__ void histogram(const unsigned char *data, unsigned n, unsigned *bins)
{
    // Before and after counting, thread t handles counter t: the block has 256 threads.
    __shared__ unsigned own[256];
    unsigned t = threadIdx.x;
    own[t] = 0;
    __syncthreads();                    // before counting

    unsigned threads = blockDim.x * gridDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += threads)
        own[data[i]]++;
    __syncthreads();                    // after counting
    atomicAdd(&bins[t], own[t]);
}
