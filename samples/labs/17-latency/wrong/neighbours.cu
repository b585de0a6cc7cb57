// Each thread has four neighbours: each load takes four times as many sectors.
// wrong: loads in advance: load_sectors_per_request is

// n: a multiple of 4 times the number of threads
__global__ void polynomial(const float *x, float *y, unsigned n)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x); i < n; i += 4 * threads) {
        float v[4], sum[4];
        for (unsigned e = 0; e < 4; e++) v[e] = x[i + e];
        for (unsigned e = 0; e < 4; e++) sum[e] = v[e] + 1;
        for (unsigned k = 0; k < 24; k++)
            for (unsigned e = 0; e < 4; e++) sum[e] = v[e] * sum[e] + 0.5f;
        for (unsigned e = 0; e < 4; e++) y[i + e] = sum[e];
    }
}
