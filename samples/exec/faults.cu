// The next call that waits returns an error; the error persists until a reset, after which modules are loaded again.
#include "check.h"

__device__ int state = 3;
__global__ void broken(int *p) { p[0] = 1; }
__global__ void fine(int *p) { *p = state++; }

int main() {
    int *p, got = 0;
    fine<<<1, 2048>>>(nullptr);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc((int **)nullptr, 4) == cudaErrorInvalidValue);
    CHECK(cudaMalloc(&p, (size_t)1 << 60) == cudaErrorMemoryAllocation);
    CHECK(cudaPeekAtLastError() == cudaErrorMemoryAllocation);
    cudaGetLastError();
    CUDA(cudaMalloc(&p, 4));
    fine<<<1, 1>>>(p);
    broken<<<1, 1>>>((int *)16);
    CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
    CHECK(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
    CUDA(cudaDeviceReset());
    CUDA(cudaMalloc(&p, 4));
    fine<<<1, 1>>>(p);
    CUDA(cudaMemcpy(&got, p, 4, cudaMemcpyDeviceToHost));
    CHECK(got == 3);
    CHECK(cudaGetErrorName(cudaErrorIllegalAddress)[0] == 'c');
    printf("faults: right\n");
}
