// A persistent kernel serves requests that the host writes to mapped memory; a producer and a consumer run in two streams.
#include "check.h"

__global__ void serve(volatile int *request, volatile int *answer, int *total) {
    for (int n = 1;; n++) {
        while (*request != n && *request != -1) { }
        if (*request == -1) return;
        *total += n;
        __threadfence_system();
        *answer = n;
    }
}

__global__ void produce(volatile int *full, volatile int *slot, int n) {
    for (int i = 1; i <= n; i++) {
        while (*full) { }
        *slot = i * i;
        __threadfence();
        *full = 1;
    }
}

__global__ void consume(volatile int *full, volatile int *slot, int n, int *sum) {
    for (int i = 1; i <= n; i++) {
        while (!*full) { }
        *sum += *slot;
        __threadfence();
        *full = 0;
    }
}

int main() {
    volatile int *box;
    int *d, result;
    CUDA(cudaHostAlloc((void **)&box, 2 * sizeof(int), cudaHostAllocMapped));
    CUDA(cudaMalloc(&d, 4 * sizeof(int)));
    CUDA(cudaMemset(d, 0, 4 * sizeof(int)));
    cudaStream_t a, b;
    cudaEvent_t served;
    CUDA(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    CUDA(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    CUDA(cudaEventCreate(&served));

    box[0] = box[1] = 0;
    serve<<<1, 1, 0, a>>>(box, box + 1, d);
    CUDA(cudaEventRecord(served, a));
    CHECK(cudaStreamQuery(a) == cudaErrorNotReady && cudaEventQuery(served) == cudaErrorNotReady);
    for (int n = 1; n <= 20; n++) {
        box[0] = n;
        while (box[1] != n) { }
    }
    box[0] = -1;
    CUDA(cudaEventSynchronize(served));
    CUDA(cudaMemcpy(&result, d, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(result == 210);

    consume<<<1, 1, 0, a>>>(d + 1, d + 2, 50, d + 3);
    produce<<<1, 1, 0, b>>>(d + 1, d + 2, 50);
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaMemcpy(&result, d + 3, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(result == 42925);
    printf("persistent: right\n");
}
