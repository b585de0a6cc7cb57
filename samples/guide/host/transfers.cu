// Transfers between host and device: what makes them fast, and how to do without.
#include "timer.h"

const int N = 1 << 18, BYTES = N * sizeof(float), PIECES = 64, PIECE = N / PIECES, BLOCKS = N / 256;

__global__ void add_one(float *x) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }

__global__ void copy(const float *x, float *y, int stride)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = x[i * stride & (N - 1)];
}

// One thread does it all: a poor kernel.
__global__ void scale_first(float *x)
{
    for (int i = 0; i < 64; i++) x[i] *= 2;
}

void measure(Table &table)
{
    float *pageable = (float *)calloc(N, sizeof(float)), *pinned, *mapped, *seen, *x, *y;
    CUDA(cudaMallocHost(&pinned, BYTES));
    CUDA(cudaHostAlloc(&mapped, BYTES, cudaHostAllocMapped));
    CUDA(cudaHostGetDevicePointer(&seen, mapped, 0));
    CUDA(cudaMalloc(&x, BYTES));
    CUDA(cudaMalloc(&y, BYTES));
    auto to_device = [&](float *from) { CUDA(cudaMemcpy(x, from, BYTES, cudaMemcpyHostToDevice)); };
    auto row = [&](const char *name, auto work) { table.set(name, "%.0f", us(work)); };

    row("1 MiB from device to device", [&] { CUDA(cudaMemcpy(y, x, BYTES, cudaMemcpyDeviceToDevice)); });
    row("from pageable memory", [&] { to_device(pageable); });
    row("from page-locked memory", [&] { to_device(pinned); });
    row("from page-locked memory, in pieces", [&] {
        for (int k = 0; k < PIECES; k++)
            CUDA(cudaMemcpyAsync(x + k * PIECE, pinned + k * PIECE, BYTES / PIECES, cudaMemcpyHostToDevice));
    });
    row("three kernels, one of them poor", [&] {
        add_one<<<BLOCKS, 256>>>(x);
        scale_first<<<1, 1>>>(x);
        add_one<<<BLOCKS, 256>>>(x);
    });
    row("two, and copies for the host's work", [&] {
        add_one<<<BLOCKS, 256>>>(x);
        CUDA(cudaMemcpy(pinned, x, BYTES, cudaMemcpyDeviceToHost));
        for (int i = 0; i < 64; i++) pinned[i] *= 2;
        CUDA(cudaMemcpy(x, pinned, BYTES, cudaMemcpyHostToDevice));
        add_one<<<BLOCKS, 256>>>(x);
    });
    row("copied, then read", [&] { to_device(pinned); copy<<<BLOCKS, 256>>>(x, y, 1); });
    row("mapped, and read", [&] { copy<<<BLOCKS, 256>>>(seen, y, 1); });
    row("mapped, and read twice", [&] { copy<<<BLOCKS, 256>>>(seen, y, 1); copy<<<BLOCKS, 256>>>(seen, y, 1); });
    row("mapped, and read with a stride of 8", [&] { copy<<<BLOCKS, 256>>>(seen, y, 8); });
}

int main()
{
    on_each_device(measure);
}
