// wrong: neighbours read neighbours: load_sectors_per_request
__global__ void saxpy(unsigned n, float a, const float *x, float *y)
{
    unsigned threads = blockDim.x * gridDim.x;
    unsigned each = (n + threads - 1) / threads;
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * each;
    for (unsigned i = first; i < n && i < first + each; i++)
        y[i] = a * x[i] + y[i];
}
