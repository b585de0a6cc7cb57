// printf and assert in kernels, as the host sees them.
#include <cassert>
#include "../../exec/check.h"

__global__ void say(int n) { printf("kernel %d\n", n); }
__global__ void is_one(int n) { assert(n == 1); }

int main()
{
    size_t bytes;
    setvbuf(stdout, nullptr, _IONBF, 0);
    CUDA(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    printf("buffer: %zu KB\n", bytes >> 10);
    CUDA(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    CUDA(cudaDeviceGetLimit(&bytes, cudaLimitPrintfFifoSize));
    printf("buffer, as set: %zu KB\n", bytes >> 10);
    say<<<1, 1>>>(1);
    printf("launched\n");
    CUDA(cudaDeviceSynchronize());
    printf("synchronized\n");
    is_one<<<1, 1>>>(1);
    printf("after an assertion that holds: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    is_one<<<1, 1>>>(2);
    printf("after one that does not: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("each call after it: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
