// Several devices: each processes its own part, and one reads the memory of another. A managed variable is one for all of them.
#include <vector>
#include "check.h"

__managed__ int filled = 1;

__global__ void fill(int *p, int v) {
    p[threadIdx.x] = v + threadIdx.x;
    atomicAdd(&filled, 1);
}
__global__ void add(int *p, const int *q) { p[threadIdx.x] += q[threadIdx.x]; }

int main() {
    int count, got[64];
    CUDA(cudaGetDeviceCount(&count));
    std::vector<int *> p(count);
    for (int d = 0; d < count; d++) {
        CUDA(cudaSetDevice(d));
        CUDA(cudaMalloc(&p[d], 64 * sizeof(int)));
        fill<<<1, 64>>>(p[d], 1000 * d);
        CUDA(cudaDeviceSynchronize());
    }
    CHECK(filled == 1 + 64 * count);
    for (int d = 1; d < count; d++) {
        int can;
        CUDA(cudaDeviceCanAccessPeer(&can, 0, d));
        CHECK(can);
        CUDA(cudaSetDevice(0));
        CUDA(cudaDeviceEnablePeerAccess(d, 0));
        add<<<1, 64>>>(p[0], p[d]);
        CUDA(cudaDeviceSynchronize());
    }
    CUDA(cudaMemcpy(got, p[0], sizeof got, cudaMemcpyDefault));
    for (int i = 0; i < 64; i++) CHECK(got[i] == 1000 * (count * (count - 1) / 2) + count * i);
    if (count > 1) CUDA(cudaMemcpyPeer(p[1], 1, p[0], 0, 64 * sizeof(int)));
    printf("%d devices: right\n", count);
}
