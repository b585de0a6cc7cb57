// The square of the sum, and then its positive part.
// wrong: values: differ

// y = max(w x + b, 0)^2, element by element
__global__ void layer(const float *x, const float *w, const float *b, float *y, unsigned n)
{
    unsigned threads = gridDim.x * blockDim.x;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += threads) {
        float v = w[i] * x[i] + b[i];
        y[i] = fmaxf(v * v, 0);
    }
}
