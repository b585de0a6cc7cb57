// A sum in two streams with pinned memory, events, a host function and a callback.
#include "check.h"

__global__ void sum(const int *in, int *out, int n) {
    __shared__ int part[256];
    int t = threadIdx.x, own = 0;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) own += in[i];
    part[t] = own;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (t < s) part[t] += part[t + s];
        __syncthreads();
    }
    if (t == 0) atomicAdd(out, part[0]);
}

static void done(void *data) { *(int *)data += 1; }
static void called(cudaStream_t, cudaError_t status, void *data) { *(int *)data += status == cudaSuccess ? 10 : 1000; }

int main() {
    const int n = 100000;
    int *host[2], *in[2], *out[2], count = 0;
    cudaStream_t stream[2];
    cudaEvent_t start, stop;
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    for (int k = 0; k < 2; k++) {
        CUDA(cudaStreamCreateWithFlags(&stream[k], cudaStreamNonBlocking));
        CUDA(cudaMallocHost(&host[k], (n + 1) * sizeof(int)));
        CUDA(cudaMalloc(&in[k], n * sizeof(int)));
        CUDA(cudaMalloc(&out[k], sizeof(int)));
        for (int i = 0; i < n; i++) host[k][i] = i % 7 + k;
    }
    CUDA(cudaEventRecord(start, stream[0]));
    for (int k = 0; k < 2; k++) {
        CUDA(cudaMemsetAsync(out[k], 0, sizeof(int), stream[k]));
        CUDA(cudaMemcpyAsync(in[k], host[k], n * sizeof(int), cudaMemcpyHostToDevice, stream[k]));
        sum<<<32, 256, 0, stream[k]>>>(in[k], out[k], n);
        CUDA(cudaMemcpyAsync(host[k] + n, out[k], sizeof(int), cudaMemcpyDeviceToHost, stream[k]));
        CUDA(cudaLaunchHostFunc(stream[k], done, &count));
        CUDA(cudaStreamAddCallback(stream[k], called, &count, 0));
    }
    CUDA(cudaEventRecord(stop, stream[1]));
    CUDA(cudaStreamWaitEvent(stream[0], stop, 0));
    CUDA(cudaDeviceSynchronize());
    float ms = -1;
    CUDA(cudaEventElapsedTime(&ms, start, stop));
    CHECK(ms >= 0);
    CHECK(count == 22);
    for (int k = 0; k < 2; k++) {
        int want = 0;
        for (int i = 0; i < n; i++) want += i % 7 + k;
        CHECK(host[k][n] == want);
        CUDA(cudaFree(in[k]));
        CUDA(cudaFree(out[k]));
        CUDA(cudaFreeHost(host[k]));
        CUDA(cudaStreamDestroy(stream[k]));
    }
    printf("reduction: right\n");
}
