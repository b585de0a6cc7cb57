// What runs at the same time: the host and the device, copies and kernels, kernels and kernels.
#include "timer.h"

const int N = 1 << 16, PARTS = 4, PART = N / PARTS;

__global__ void work(float *x, int steps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = x[i];
    for (int k = 0; k < steps; k++) v = v * 0.5f + 1;
    x[i] = v;
}

// The sum of 1,024 values: by one block, and by blocks whose results a second launch adds.
__global__ void sum(const float *x, float *out)
{
    __shared__ float part[256];
    int n = blockDim.x, t = threadIdx.x;
    part[t] = x[blockIdx.x * n + t];
    for (int s = n / 2; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) part[t] += part[t + s];
    }
    if (t == 0) out[blockIdx.x] = part[0];
}

__global__ void sum_in_one(const float *x, float *out)
{
    __shared__ float part[256];
    int t = threadIdx.x;
    part[t] = x[t] + x[t + 256] + x[t + 512] + x[t + 768];
    for (int s = 128; s > 0; s /= 2) {
        __syncthreads();
        if (t < s) part[t] += part[t + s];
    }
    if (t == 0) *out = part[0];
}

void measure(Table &table)
{
    float *host, *x, *out;
    cudaStream_t s[PARTS];
    CUDA(cudaMallocHost(&host, N * sizeof(float)));
    CUDA(cudaMalloc(&x, N * sizeof(float)));
    CUDA(cudaMalloc(&out, 1024));
    for (auto &one : s) CUDA(cudaStreamCreate(&one));
    auto row = [&](const char *name, auto work) { table.set(name, "%.1f", us(work)); };
    auto pass = [&](bool several) {
        for (int k = 0; k < PARTS; k++) {
            cudaStream_t in = several ? s[k] : s[0];
            CUDA(cudaMemcpyAsync(x + k * PART, host + k * PART, PART * sizeof(float), cudaMemcpyHostToDevice, in));
            work<<<PART / 256, 256, 0, in>>>(x + k * PART, 100);
            CUDA(cudaMemcpyAsync(host + k * PART, x + k * PART, PART * sizeof(float), cudaMemcpyDeviceToHost, in));
        }
    };
    row("copies and kernels, one stream", [&] { pass(false); });
    row("copies and kernels, four streams", [&] { pass(true); });
    auto small = [&](bool several) {
        for (int k = 0; k < PARTS; k++) work<<<2, 256, 0, several ? s[k] : s[0]>>>(x + k * PART, 2000);
    };
    row("four small kernels, one stream", [&] { small(false); });
    row("four small kernels, four streams", [&] { small(true); });
    row("16,384 values, a thread for each", [&] { work<<<PART / 256, 256>>>(x, 100); });
    row("32 values, one after another", [&] { for (int i = 0; i < 32; i++) work<<<1, 1>>>(x + i, 100); });
    row("a sum by two launches", [&] { sum<<<4, 256>>>(x, out); sum<<<1, 4>>>(out, out + 4); });
    row("the same sum by one block", [&] { sum_in_one<<<1, 256>>>(x, out); });
}

int main()
{
    on_each_device(measure);
}
