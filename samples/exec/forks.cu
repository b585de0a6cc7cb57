// Processes: each child has a device of its own, and the kernels that the parent registered.
#include <sys/wait.h>
#include <unistd.h>
#include "check.h"

__global__ void fill(int *p, int v) { p[threadIdx.x] = v; }

int main() {
    for (int k = 0; k < 3; k++)
        if (fork() == 0) {
            int *p, got[32];
            CUDA(cudaMalloc(&p, sizeof got));
            fill<<<1, 32>>>(p, k);
            CUDA(cudaMemcpy(got, p, sizeof got, cudaMemcpyDeviceToHost));
            for (int i = 0; i < 32; i++) CHECK(got[i] == k);
            _exit(10 + k);
        }
    int sum = 0, status;
    for (int k = 0; k < 3; k++) {
        wait(&status);
        sum += WEXITSTATUS(status);
    }
    CHECK(sum == 33);
    int count;
    CUDA(cudaGetDeviceCount(&count));
    printf("forks: right\n");
}
