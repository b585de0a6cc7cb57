// Uses a device function and a variable of another file.
#include "../check.h"

extern __device__ int factor;
__device__ int scaled(int v);
__global__ void apply(int *p) { p[threadIdx.x] = scaled(threadIdx.x) + factor; }

int main() {
    int *p, got[32], seven = 7;
    CUDA(cudaMalloc(&p, sizeof got));
    apply<<<1, 32>>>(p);
    CUDA(cudaMemcpyToSymbol(factor, &seven, sizeof seven));
    CUDA(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(got[i] == 6 * i + 6);
    apply<<<1, 32>>>(p);
    CUDA(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) CHECK(got[i] == 7 * i + 7);
    printf("rdc: right\n");
}
