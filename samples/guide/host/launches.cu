// Launches that the device refuses, and how L1 and shared memory share one memory.
#include "../../exec/check.h"

extern __shared__ float words[];
__global__ void fill(float *x) { words[threadIdx.x] = x[threadIdx.x]; }
__global__ void __launch_bounds__(128) bounded(float *x) { x[threadIdx.x] = 0; }

int main()
{
    float *x;
    CUDA(cudaMalloc(&x, 4096));
    auto launched = [](const char *how) { printf("%-28s %s\n", how, cudaGetErrorName(cudaGetLastError())); };
    fill<<<dim3(2, 3), dim3(8, 8), 256>>>(x);
    launched("2 x 3 blocks of 8 x 8");
    fill<<<1, 2048>>>(x);
    launched("2,048 threads");
    fill<<<dim3(1, 1 << 17), 32>>>(x);
    launched("131,072 blocks along y");
    fill<<<1, dim3(1, 1, 128)>>>(x);
    launched("128 threads along z");
    fill<<<1, 64, 1 << 20>>>(x);
    launched("1 MB of shared memory");
    fill<<<0, 64>>>(x);
    launched("no block");
    bounded<<<1, 256>>>(x);
    launched("beyond the launch bounds");

    cudaFuncCache config;
    CUDA(cudaFuncSetCacheConfig(fill, cudaFuncCachePreferL1));
    CUDA(cudaDeviceSetCacheConfig(cudaFuncCachePreferShared));
    CUDA(cudaDeviceGetCacheConfig(&config));
    printf("cache configuration: %s\n", config == cudaFuncCachePreferShared ? "shared memory preferred" : "another");
}
