// Kernels that launch kernels, copies and memsets: nvcc -rdc=true nested.cu -lcudadevrt
#include "check.h"

__global__ void add(int *p, int v) { p[threadIdx.x] += v; }
__global__ void tree(int *count, int depth) {
    atomicAdd(count, 1);
    if (depth > 0) tree<<<2, 1>>>(count, depth - 1);
}
__global__ void parent(int *p, int *copy, int n) {
    int i = threadIdx.x;
    p[i] = i;
    __syncthreads();
    if (i % 8 == 0) add<<<1, 8>>>(p + i, 100 * i);
    if (i == 0) {
        cudaStream_t s;
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        add<<<1, 4, 0, s>>>(copy + n, 5);
        cudaStreamDestroy(s);
        cudaMemsetAsync(copy + n, 0, 8, cudaStreamTailLaunch);
        cudaMemcpyAsync(copy, p, n * sizeof(int), cudaMemcpyDeviceToDevice, cudaStreamTailLaunch);
    }
}
__global__ void sort(int *p, int left, int right) {
    int pivot = p[(left + right) / 2], i = left, j = right;
    while (i <= j) {
        while (p[i] < pivot) i++;
        while (p[j] > pivot) j--;
        if (i <= j) {
            int t = p[i];
            p[i++] = p[j];
            p[j--] = t;
        }
    }
    if (left < j) sort<<<1, 1>>>(p, left, j);
    if (i < right) sort<<<1, 1>>>(p, i, right);
}

int main() {
    const int n = 32;
    int *p, *copy;
    CUDA(cudaMallocManaged(&p, n * sizeof(int)));
    CUDA(cudaMallocManaged(&copy, (n + 4) * sizeof(int)));
    parent<<<1, n>>>(p, copy, n);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) CHECK(p[i] == i + 800 * (i / 8) && copy[i] == p[i]);
    CHECK(copy[n] == 0 && copy[n + 1] == 0 && copy[n + 2] == 5 && copy[n + 3] == 5);
    p[0] = 0;
    tree<<<1, 1>>>(p, 4);
    CUDA(cudaDeviceSynchronize());
    CHECK(p[0] == 31);
    for (int i = 0; i < n; i++) p[i] = i * 7 % n;
    sort<<<1, 1>>>(p, 0, n - 1);
    CUDA(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++) CHECK(p[i] == i);
    printf("nested: right\n");
}
