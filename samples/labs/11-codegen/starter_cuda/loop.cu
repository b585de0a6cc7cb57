// loop.cu as the code generator printed it.
__global__ void loop(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = 0;
    out[i] = s;
}
