// wrong: in another order, and no data: bins

// bins: 256 counters, 0 before the launch
__global__ void histogram(const unsigned char *data, unsigned n, unsigned *bins)
{
    __shared__ unsigned own[256];
    unsigned t = threadIdx.x;
    own[t] = 0;
    __syncthreads();                    // before counting

    unsigned threads = blockDim.x * gridDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + t; i < n; i += threads)
        atomicAdd(&own[data[i]], 1);
    atomicAdd(&bins[t], own[t]);
}
