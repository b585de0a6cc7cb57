// Times copies, launches and events on a GPU: `nvcc -O2 transfers.cu -o transfers && ./transfers > transfers.json`.
#include "timed.cuh"

int main() {
    const size_t most = 256 << 20;
    char *device, *other, *pageable = (char *)calloc(most, 1), *pinned, *combined, *mapped, *seen;
    cudaMalloc(&device, most), cudaMalloc(&other, most);
    cudaHostAlloc(&pinned, most, cudaHostAllocDefault);
    cudaHostAlloc(&combined, most, cudaHostAllocWriteCombined);
    cudaHostAlloc(&mapped, most, cudaHostAllocMapped);
    cudaHostGetDevicePointer(&seen, mapped, 0);
    for (size_t i = 0; i < most; i += 4096) pageable[i] = pinned[i] = combined[i] = mapped[i] = 1;
    cudaStream_t s, t;
    cudaStreamCreate(&s), cudaStreamCreate(&t);
    printf("[\n");
    for (size_t n : {4ul, 1024ul, 16384ul, 65536ul, 262144ul, 1048576ul, 4194304ul, 16777216ul, 67108864ul, 268435456ul}) {
        tell("h2d pageable", n, timed([&] { cudaMemcpy(device, pageable, n, cudaMemcpyHostToDevice), cudaDeviceSynchronize(); }));
        tell("d2h pageable", n, timed([&] { cudaMemcpy(pageable, device, n, cudaMemcpyDeviceToHost); }));
        tell("h2d pinned", n, timed([&] { cudaMemcpy(device, pinned, n, cudaMemcpyHostToDevice), cudaDeviceSynchronize(); }));
        tell("d2h pinned", n, timed([&] { cudaMemcpy(pinned, device, n, cudaMemcpyDeviceToHost); }));
        tell("h2d write-combined", n, timed([&] { cudaMemcpy(device, combined, n, cudaMemcpyHostToDevice), cudaDeviceSynchronize(); }));
        tell("d2d", n, timed([&] { cudaMemcpy(other, device, n, cudaMemcpyDeviceToDevice), cudaDeviceSynchronize(); }));
        tell("memset", n, timed([&] { cudaMemset(device, 0, n), cudaDeviceSynchronize(); }));
        tell("kernel over mapped", n, timed([&] { touch<<<264, 256>>>((float *)seen, n / 4), cudaDeviceSynchronize(); }));
        tell("kernel over device", n, timed([&] { touch<<<264, 256>>>((float *)device, n / 4), cudaDeviceSynchronize(); }));
        tell("both directions pinned", n, timed([&] {
                 cudaMemcpyAsync(device, pinned, n, cudaMemcpyHostToDevice, s);
                 cudaMemcpyAsync(mapped, other, n, cudaMemcpyDeviceToHost, t);
                 cudaDeviceSynchronize();
             }));
        tell("two h2d pinned in two streams", n, timed([&] {
                 cudaMemcpyAsync(device, pinned, n / 2, cudaMemcpyHostToDevice, s);
                 cudaMemcpyAsync(device + n / 2, pinned + n / 2, n / 2, cudaMemcpyHostToDevice, t);
                 cudaDeviceSynchronize();
             }));
        tell("call of an asynchronous copy", n, timed([&] { cudaMemcpyAsync(device, pinned, n, cudaMemcpyHostToDevice, s); }));
    }
    tell("launch and synchronize", 0, timed([&] { nothing<<<1, 32>>>(), cudaDeviceSynchronize(); }, 99));
    tell("launch call", 0, timed([&] { nothing<<<1, 32>>>(); }, 99));
    tell("1000 launches", 0, timed([&] {
             for (int k = 0; k < 1000; k++) nothing<<<1, 32>>>();
             cudaDeviceSynchronize();
         }));
    tell("1000 copies of 64 bytes", 64000, timed([&] {
             for (int k = 0; k < 1000; k++) cudaMemcpyAsync(device, pinned, 64, cudaMemcpyHostToDevice, s);
             cudaDeviceSynchronize();
         }));
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    auto between = [&](auto f) {
        std::vector<float> all(15);
        for (float &ms : all) {
            cudaDeviceSynchronize();
            cudaEventRecord(a, s), f(), cudaEventRecord(b, s), cudaEventSynchronize(b), cudaEventElapsedTime(&ms, a, b);
        }
        std::sort(all.begin(), all.end());
        return all[7] * 1e3;
    };
    tell("events: nothing between", 0, between([] {}));
    tell("events: an empty kernel", 0, between([&] { nothing<<<1, 32, 0, s>>>(); }));
    tell("events: ten empty kernels", 0, between([&] { for (int k = 0; k < 10; k++) nothing<<<1, 32, 0, s>>>(); }));
    for (int blocks : {132, 1320, 13200, 132000}) tell("events: empty blocks", blocks, between([&] { nothing<<<blocks, 256, 0, s>>>(); }));
    for (int k = 0; k < 3; k++) tell("events: a kernel of 200000 cycles", 0, between([&] { spin<<<1, 32, 0, s>>>(200000); }));
    tell("events: h2d pinned", 16 << 20, between([&] { cudaMemcpyAsync(device, pinned, 16 << 20, cudaMemcpyHostToDevice, s); }));
    tell("events: d2h pinned", 16 << 20, between([&] { cudaMemcpyAsync(pinned, device, 16 << 20, cudaMemcpyDeviceToHost, s); }));
    tell("two kernels in two streams", 0, timed([&] { spin<<<1, 32, 0, s>>>(2000000), spin<<<1, 32, 0, t>>>(2000000), cudaDeviceSynchronize(); }));
    tell("one of these kernels", 0, timed([&] { spin<<<1, 32, 0, s>>>(2000000), cudaDeviceSynchronize(); }));
    tell("kernel beside a copy", 64 << 20, timed([&] {
             spin<<<1, 32, 0, s>>>(2000000), cudaMemcpyAsync(device, pinned, 64 << 20, cudaMemcpyHostToDevice, t), cudaDeviceSynchronize();
         }));
    printf("\n]\n");
    return cudaGetLastError() != cudaSuccess;
}
