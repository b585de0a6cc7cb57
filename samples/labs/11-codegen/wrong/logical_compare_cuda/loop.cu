// loop.cu as the code generator printed it.
__global__ void loop(const int *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int s = 0;
    int k = 0;
    while ((unsigned)k < (unsigned)x[i]) {
        if (k % 3 == 0) s = s + k * k;
        else s = s - 1;
        k = k + 1;
    }
    out[i] = s;
}
