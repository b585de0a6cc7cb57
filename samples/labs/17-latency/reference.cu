// Reference: four elements at a time: four loads, then four chains side by side.

// n: a multiple of 4 times the number of threads
__global__ void polynomial(const float *x, float *y, unsigned n)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * threads) {
        float v[4], sum[4];
        for (unsigned e = 0; e < 4; e++) v[e] = x[i + e * threads];
        for (unsigned e = 0; e < 4; e++) sum[e] = v[e] + 1;
        for (unsigned k = 0; k < 24; k++)
            for (unsigned e = 0; e < 4; e++) sum[e] = v[e] * sum[e] + 0.5f;
        for (unsigned e = 0; e < 4; e++) y[i + e * threads] = sum[e];
    }
}
