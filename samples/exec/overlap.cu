// Copies from pageable and from pinned memory, a kernel, and both beside each other in four streams, all timed by events.
#include "check.h"

__global__ void scale(float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        for (int k = 0; k < 200; k++) x[i] = x[i] * 0.5f + 1;
}

static cudaEvent_t begun, done;

static void start() { CUDA(cudaEventRecord(begun)); }

static float ms()
{
    float out;
    CUDA(cudaEventRecord(done));
    CUDA(cudaEventSynchronize(done));
    CUDA(cudaEventElapsedTime(&out, begun, done));
    return out;
}

int main()
{
    const int n = 1 << 20, streams = 4, part = n / streams;
    const size_t bytes = n * sizeof(float);
    float *pageable = (float *)calloc(n, sizeof(float)), *pinned, *x;
    CUDA(cudaMallocHost(&pinned, bytes));
    CUDA(cudaMalloc(&x, bytes));
    CUDA(cudaEventCreate(&begun));
    CUDA(cudaEventCreate(&done));
    for (int i = 0; i < n; i++) pinned[i] = 1;

    start();
    CUDA(cudaMemcpy(x, pageable, bytes, cudaMemcpyHostToDevice));
    printf("from pageable memory: %.1f GB/s\n", bytes / ms() / 1e6);
    start();
    CUDA(cudaMemcpy(x, pinned, bytes, cudaMemcpyHostToDevice));
    printf("from pinned memory: %.1f GB/s\n", bytes / ms() / 1e6);
    start();
    scale<<<n / 256, 256>>>(x, n);
    printf("kernel: %.0f us\n", ms() * 1e3);

    cudaStream_t s[streams];
    for (auto &one : s) CUDA(cudaStreamCreate(&one));
    float took[2];
    for (int several = 0; several < 2; several++) {
        start();
        for (int k = 0; k < streams; k++) {
            cudaStream_t in = several ? s[k] : 0;
            float *own = x + k * part, *host = pinned + k * part;
            CUDA(cudaMemcpyAsync(own, host, bytes / streams, cudaMemcpyHostToDevice, in));
            scale<<<part / 256, 256, 0, in>>>(own, part);
            CUDA(cudaMemcpyAsync(host, own, bytes / streams, cudaMemcpyDeviceToHost, in));
        }
        took[several] = ms();
    }
    printf("copies and kernels: %.0f us in one stream, %.0f us in four\n", took[0] * 1e3, took[1] * 1e3);
    return pinned[n - 1] == 2 && took[1] < took[0] ? 0 : 1;
}
