// Times host calls, rectangles, streams and peers on one or two GPUs: `nvcc -O2 host_calls.cu -o host_calls && ./host_calls > host_calls.json`.
#include "timed.cuh"
#define TELL(what, bytes, ...) tell(what, bytes, timed([&] { __VA_ARGS__; }))
#define DONE cudaDeviceSynchronize()

int main() {
    const size_t most = 64 << 20;
    char *device, *other, *pinned, *back, *pageable = (char *)calloc(most, 1);
    cudaMalloc(&device, most), cudaMalloc(&other, most), cudaMallocHost(&pinned, most), cudaMallocHost(&back, most);
    for (size_t i = 0; i < most; i += 4096) pageable[i] = 1;
    cudaStream_t s, t, u, v, own[4];
    cudaStreamCreate(&s), cudaStreamCreate(&t), cudaStreamCreateWithFlags(&u, cudaStreamNonBlocking);
    for (auto &o : own) cudaStreamCreate(&o);
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    cudaEventRecord(b, s);
    float ms;
    void *p;
    const auto up = cudaMemcpyHostToDevice, down = cudaMemcpyDeviceToHost, across = cudaMemcpyDeviceToDevice;
    printf("[\n");
    TELL("cudaEventRecord", 0, cudaEventRecord(a, s));
    TELL("cudaEventQuery", 0, cudaEventQuery(a));
    TELL("cudaEventSynchronize, reached", 0, cudaEventSynchronize(a));
    TELL("cudaStreamWaitEvent", 0, cudaStreamWaitEvent(t, a, 0));
    TELL("cudaStreamSynchronize, idle", 0, cudaStreamSynchronize(s));
    TELL("cudaDeviceSynchronize, idle", 0, DONE);
    TELL("cudaEventRecord, cudaEventSynchronize", 0, cudaEventRecord(a, s), cudaEventSynchronize(a));
    TELL("cudaEventElapsedTime", 0, cudaEventElapsedTime(&ms, b, a));
    TELL("cudaMemsetAsync", 4096, cudaMemsetAsync(device, 0, 4096, s));
    TELL("launch", 0, nothing<<<1, 32, 0, s>>>());
    for (size_t n : {4096ul, 1ul << 20, 64ul << 20, 1ul << 30}) {
        TELL("cudaMalloc, cudaFree", n, cudaMalloc(&p, n), cudaFree(p));
        TELL("cudaMallocAsync, cudaFreeAsync", n, cudaMallocAsync(&p, n, s), cudaFreeAsync(p, s));
    }
    for (size_t n : {4096ul, 1ul << 20, 64ul << 20}) TELL("cudaMallocHost, cudaFreeHost", n, cudaMallocHost(&p, n), cudaFreeHost(p));
    for (size_t n : {1024ul, 16384ul, 65536ul, 262144ul, 1ul << 20, 16ul << 20, 64ul << 20}) {
        TELL("cudaMemcpy h2d pageable", n, cudaMemcpy(device, pageable, n, up));
        TELL("cudaMemcpyAsync h2d pageable", n, cudaMemcpyAsync(device, pageable, n, up, s));
        TELL("cudaMemcpyAsync d2h pageable", n, cudaMemcpyAsync(pageable, device, n, down, s));
        TELL("cudaMemcpyAsync d2h pinned", n, cudaMemcpyAsync(pinned, device, n, down, s));
        TELL("cudaMemcpy d2d", n, cudaMemcpy(other, device, n, across));
    }
    for (size_t w : {4, 64, 512, 4096}) {
        TELL("2D h2d pinned", w, cudaMemcpy2D(device, 8192, pinned, w, w, 4096, up), DONE);
        TELL("2D d2h pinned", w, cudaMemcpy2D(pinned, w, device, 8192, w, 4096, down));
        TELL("2D h2d pageable", w, cudaMemcpy2D(device, 8192, pageable, w, w, 4096, up), DONE);
        TELL("2D d2h pageable", w, cudaMemcpy2D(pageable, w, device, 8192, w, 4096, down));
        TELL("2D d2d", w, cudaMemcpy2D(device, 8192, other, w, w, 4096, across), DONE);
    }
    const int c = 400000;
    TELL("one kernel", 0, spin<<<1, 32, 0, s>>>(c), DONE);
    TELL("kernels in two streams", 0, spin<<<1, 32, 0, s>>>(c), spin<<<1, 32, 0, t>>>(c), DONE);
    TELL("kernels that fill the device", 0, spin<<<264, 1024, 0, s>>>(c), spin<<<264, 1024, 0, t>>>(c), DONE);
    TELL("kernels that fill half of it", 0, spin<<<132, 1024, 0, s>>>(c), spin<<<132, 1024, 0, t>>>(c), DONE);
    TELL("a stream and the legacy stream", 0, spin<<<1, 32, 0, s>>>(c), spin<<<1, 32>>>(c), DONE);
    TELL("a non-blocking stream and the legacy stream", 0, spin<<<1, 32, 0, u>>>(c), spin<<<1, 32>>>(c), DONE);
    TELL("a stream waits for an event", 0, spin<<<1, 32, 0, s>>>(c), cudaEventRecord(a, s), cudaStreamWaitEvent(t, a, 0), spin<<<1, 32, 0, t>>>(c), DONE);
    TELL("kernel and pageable h2d", 4 << 20, spin<<<1, 32, 0, s>>>(c), cudaMemcpyAsync(device, pageable, 4 << 20, up, t), DONE);
    for (int parts : {1, 2, 4}) {
        size_t n = (48 << 20) / parts;
        TELL("h2d, kernel, d2h: streams", parts, for (int k = 0; k < parts; k++) {
            cudaMemcpyAsync(device + k * n, pinned + k * n, n, up, own[k]), spin<<<1, 32, 0, own[k]>>>(1600000 / parts);
            cudaMemcpyAsync(back + k * n, device + k * n, n, down, own[k]);
        } DONE);
    }
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    for (int k = 0; k < 20; k++) nothing<<<1, 32, 0, s>>>();
    cudaStreamEndCapture(s, &graph), cudaGraphInstantiate(&ready, graph, 0);
    TELL("graph of 20 kernels", 0, cudaGraphLaunch(ready, s), DONE);
    TELL("20 kernels", 0, for (int k = 0; k < 20; k++) nothing<<<1, 32, 0, s>>>(); DONE);
    int devices = 0;
    cudaGetDeviceCount(&devices);
    for (int access : {0, 1}) {
        if (devices < 2) break;
        char *theirs;
        cudaSetDevice(1), cudaMalloc(&theirs, most), cudaStreamCreate(&v);
        if (access) cudaDeviceEnablePeerAccess(0, 0), cudaSetDevice(0), cudaDeviceEnablePeerAccess(1, 0);
        cudaSetDevice(0);
        for (size_t n : {4ul, 65536ul, 1ul << 20, 4ul << 20, 16ul << 20, 64ul << 20})
            TELL(access ? "peer copy with access" : "peer copy without access", n, cudaMemcpyPeerAsync(theirs, 1, device, 0, n, s), DONE);
        if (access) TELL("kernel over a peer", most, touch<<<264, 256>>>((float *)theirs, most / 4), DONE);
    }
    printf("\n]\n");
    fprintf(stderr, "%s\n", cudaGetErrorString(cudaGetLastError()));
}
