// Managed, mapped and registered memory: host and device use one address.
#include "check.h"

__managed__ int counter = 5;
__managed__ float table[4] = {1, 2, 3, 4};
__constant__ int step[2];
__device__ int total;

__global__ void work(int *managed, int *mapped, int *registered) {
    int i = threadIdx.x;
    managed[i] += 1;
    mapped[i] = i * step[0];
    registered[i] += step[1];
    atomicAdd(&counter, 1);
    atomicAdd(&total, i);
    if (i < 4) table[i] *= 2;
}

int main() {
    int *managed, *mapped, *device_view, *plain = (int *)aligned_alloc(4096, 4096), steps[2] = {3, 100}, sum = -1;
    counter += 1;
    CUDA(cudaMallocManaged(&managed, 64 * sizeof(int)));
    CUDA(cudaHostAlloc(&mapped, 64 * sizeof(int), cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&device_view, mapped, 0));
    for (int i = 0; i < 64; i++) managed[i] = i, plain[i] = -i;
    CUDA(cudaHostRegister(plain, 64 * sizeof(int), cudaHostRegisterMapped));
    CUDA(cudaMemcpyToSymbol(step, steps, sizeof steps));
    CUDA(cudaMemPrefetchAsync(managed, 64 * sizeof(int), {cudaMemLocationTypeDevice, 0}, 0, 0));
    CUDA(cudaMemAdvise(managed, 64 * sizeof(int), cudaMemAdviseSetReadMostly, {cudaMemLocationTypeDevice, 0}));
    work<<<1, 64>>>(managed, device_view, plain);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++) CHECK(managed[i] == i + 1 && mapped[i] == 3 * i && plain[i] == 100 - i);
    CHECK(counter == 70);
    CHECK(table[3] == 8);
    CUDA(cudaMemcpyFromSymbol(&sum, total, sizeof sum));
    CHECK(sum == 63 * 64 / 2);
    void *address;
    size_t size;
    CUDA(cudaGetSymbolAddress(&address, total));
    CUDA(cudaGetSymbolSize(&size, step));
    CHECK(size == 8);
    cudaPointerAttributes a;
    CUDA(cudaPointerGetAttributes(&a, managed));
    CHECK(a.type == cudaMemoryTypeManaged);
    CUDA(cudaPointerGetAttributes(&a, address));
    CHECK(a.type == cudaMemoryTypeDevice);
    CUDA(cudaHostUnregister(plain));
    plain[0] = 7;
    CHECK(plain[0] == 7 && plain[63] == 37);
    CUDA(cudaFree(managed));
    CUDA(cudaFreeHost(mapped));
    printf("managed: right\n");
}
