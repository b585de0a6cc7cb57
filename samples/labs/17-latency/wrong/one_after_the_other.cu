// Four elements in a turn of the loop, one after the other: a store stands before the next load.
// wrong: loads in advance: stalled_long_scoreboard is

// n: a multiple of 4 times the number of threads
__global__ void polynomial(const float *x, float *y, unsigned n)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += 4 * threads)
        for (unsigned e = 0; e < 4; e++) {
            float v = x[i + e * threads], sum = v + 1;
            for (unsigned k = 0; k < 24; k++) sum = v * sum + 0.5f;
            y[i + e * threads] = sum;
        }
}
