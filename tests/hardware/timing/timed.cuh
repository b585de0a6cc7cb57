// What the programs share that time a GPU.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <vector>

static double now() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// Median of some runs, in microseconds.
template <class F> double timed(F f, int times = 9) {
    std::vector<double> all;
    for (int k = 0; k < times; k++) {
        cudaDeviceSynchronize();
        double t = now();
        f();
        all.push_back(now() - t);
    }
    std::sort(all.begin(), all.end());
    return all[times / 2];
}

__global__ void nothing() {}
__global__ void spin(long long cycles) {
    long long t = clock64();
    while (clock64() - t < cycles) {}
}
__global__ void touch(float *p, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) p[i] += 1;
}

static bool first = true;
static void tell(const char *what, size_t bytes, double us) {
    printf("%s{\"what\": \"%s\", \"bytes\": %zu, \"us\": %.3f}", first ? "" : ",\n", what, bytes, us);
    first = false;
}

