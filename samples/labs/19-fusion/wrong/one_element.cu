// One element for each thread, whatever their number.
// wrong: values: differ

// y = max(w x + b, 0)^2, element by element
__global__ void layer(const float *x, const float *w, const float *b, float *y, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float v = fmaxf(w[i] * x[i] + b[i], 0);
        y[i] = v * v;
    }
}
