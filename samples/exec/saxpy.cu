#include <cstdio>
#include <cstdlib>
__global__ void saxpy(int n, float a, const float *x, float *y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
int main() {
    int n = 1 << 20;
    float *x = (float *)malloc(n * 4), *y = (float *)malloc(n * 4), *dx, *dy;
    for (int i = 0; i < n; i++) x[i] = i, y[i] = 1;
    if (cudaMalloc(&dx, n * 4) || cudaMalloc(&dy, n * 4)) return 3;
    cudaMemcpy(dx, x, n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y, n * 4, cudaMemcpyHostToDevice);
    saxpy<<<(n + 255) / 256, 256>>>(n, 2.0f, dx, dy);
    printf("launch: %s\n", cudaGetErrorString(cudaGetLastError()));
    cudaMemcpy(y, dy, n * 4, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int i = 0; i < n; i++) wrong += y[i] != 2.0f * x[i] + 1;
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    printf("%s: %d wrong\n", p.name, wrong);
    return wrong != 0;
}
