// printf of kernels comes in the order in which the host prints.
#include <cstdio>

__global__ void hello(int n) { printf("device %d thread %d %s %.2f\n", n, threadIdx.x, "text", 1.5); }

int main() {
    for (int k = 0; k < 3; k++) {
        printf("host before %d\n", k);
        hello<<<1, 2>>>(k);
        cudaDeviceSynchronize();
        printf("host after %d\n", k);
    }
}
