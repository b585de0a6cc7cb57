// Host threads, each with a stream of its own (compile with --default-stream per-thread).
#include <thread>
#include <vector>
#include "check.h"

__global__ void square(int *p, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] *= p[i];
}

int main() {
    std::vector<std::thread> threads;
    int right = 0;
    for (int k = 0; k < 8; k++)
        threads.emplace_back([k, &right] {
            int n = 500 + k, *p;
            std::vector<int> v(n);
            for (int i = 0; i < n; i++) v[i] = i + k;
            CUDA(cudaMalloc(&p, n * sizeof(int)));
            for (int turn = 0; turn < 5; turn++) {
                CUDA(cudaMemcpyAsync(p, v.data(), n * sizeof(int), cudaMemcpyHostToDevice, 0));
                square<<<(n + 127) / 128, 128>>>(p, n);
                std::vector<int> w(n);
                CUDA(cudaMemcpyAsync(w.data(), p, n * sizeof(int), cudaMemcpyDeviceToHost, 0));
                CUDA(cudaStreamSynchronize(0));
                for (int i = 0; i < n; i++) CHECK(w[i] == (i + k) * (i + k));
            }
            CUDA(cudaFree(p));
            __sync_fetch_and_add(&right, 1);
        });
    for (auto &t : threads) t.join();
    CHECK(right == 8);
    printf("threads: right\n");
}
