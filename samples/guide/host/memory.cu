// Variables, allocations and the heap of kernels, as the host sees them.
#include "../../exec/check.h"

__device__ int counter = 5;
__constant__ int step = 2;
__device__ int *kept;

__global__ void count() { counter += step; }
__global__ void allocate() { kept = (int *)malloc(sizeof(int)); *kept = 7; }
__global__ void use(int *out) { *out = *kept + 1; free(kept); free(nullptr); }
__global__ void free_it(int *p) { free(p); }
__global__ void large(int n, double *out)
{
    double table[16];
    for (int i = 0; i < 16; i++) table[i] = i;
    *out = table[n];
}

int main()
{
    int value, three = 3, *out, *where, *address;
    size_t bytes, pitch;
    float *rows;
    CUDA(cudaMemcpyToSymbol(step, &three, sizeof three));
    count<<<1, 1>>>();
    count<<<1, 1>>>();
    CUDA(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("5, and twice 3: %d\n", value);
    CUDA(cudaGetSymbolAddress((void **)&address, counter));
    CUDA(cudaMemcpy(&value, address, sizeof value, cudaMemcpyDeviceToHost));
    CUDA(cudaGetSymbolSize(&bytes, counter));
    printf("%d, by its address; %zu bytes\n", value, bytes);

    CUDA(cudaMallocPitch(&rows, &pitch, 33 * sizeof(float), 8));
    printf("rows of 132 bytes begin %zu bytes apart\n", pitch);

    cudaFuncAttributes a;
    CUDA(cudaFuncGetAttributes(&a, large));
    printf("local memory: %zu bytes; bound of the block: %d\n", a.localSizeBytes, a.maxThreadsPerBlock);

    CUDA(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    printf("heap: %zu MB\n", bytes >> 20);
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    CUDA(cudaDeviceGetLimit(&bytes, cudaLimitMallocHeapSize));
    printf("heap, as set: %zu MB\n", bytes >> 20);
    CUDA(cudaMalloc(&out, sizeof(int)));
    allocate<<<1, 1>>>();
    use<<<1, 1>>>(out);
    CUDA(cudaMemcpy(&value, out, sizeof value, cudaMemcpyDeviceToHost));
    printf("what one launch allocated, the next one read: %d\n", value);
    allocate<<<1, 1>>>();
    CUDA(cudaMemcpyFromSymbol(&where, kept, sizeof where));
    printf("cudaFree of memory of the heap: %s\n", cudaGetErrorName(cudaFree(where)));
    free_it<<<1, 1>>>(out);
    printf("free of memory of cudaMalloc: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
