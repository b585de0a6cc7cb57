// wrong: expression: first out[
// expression.cu as the code generator printed it.
__global__ void expression(const int *x, const int *y, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[i] = (x[i] + y[i]) * (x[i] - y[i]) + (x[i] >> 2);
}
