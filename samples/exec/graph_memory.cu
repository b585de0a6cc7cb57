// Graphs that allocate memory, loop while a kernel says so, and own an object of the host (nvcc -arch=sm_90).
#include "check.h"

__global__ void add(int *p, int value) { p[threadIdx.x] += value; }
__global__ void again(cudaGraphConditionalHandle handle, int *left) { cudaGraphSetConditional(handle, --*left > 0); }

static int destroyed;
static void destroy(void *object) { *(int *)object += 1; }

static cudaGraphNode_t add_kernel(cudaGraph_t graph, cudaGraphNode_t *before, void *kernel, int threads, void **arguments) {
    cudaKernelNodeParams p = {};
    p.func = kernel, p.gridDim = 1, p.blockDim = threads, p.kernelParams = arguments;
    cudaGraphNode_t node;
    CUDA(cudaGraphAddKernelNode(&node, graph, before, before != nullptr, &p));
    return node;
}

static void run(cudaGraph_t graph, cudaStream_t stream, int times) {
    cudaGraphExec_t exec;
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < times; i++) CUDA(cudaGraphLaunch(exec, stream));
    CUDA(cudaStreamSynchronize(stream));
    CUDA(cudaGraphExecDestroy(exec));
}

int main() {
    cudaStream_t stream;
    cudaGraph_t graph;
    int host[32], *kept;
    CUDA(cudaStreamCreate(&stream));
    CUDA(cudaMalloc(&kept, sizeof host));

    // An allocation that a capture has seen.
    int *p;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    CUDA(cudaMallocAsync((void **)&p, sizeof host, stream));
    CUDA(cudaMemsetAsync(p, 0, sizeof host, stream));
    add<<<1, 32, 0, stream>>>(p, 7);
    CUDA(cudaMemcpyAsync(kept, p, sizeof host, cudaMemcpyDeviceToDevice, stream));
    CUDA(cudaFreeAsync(p, stream));
    CUDA(cudaStreamEndCapture(stream, &graph));
    run(graph, stream, 2);
    CUDA(cudaMemcpy(host, kept, sizeof host, cudaMemcpyDeviceToHost));
    CHECK(host[31] == 7);

    // One that is a node, and the object that goes with the graph.
    CUDA(cudaGraphCreate(&graph, 0));
    cudaMemAllocNodeParams allocation = {};
    allocation.poolProps.allocType = cudaMemAllocationTypePinned;
    allocation.poolProps.location.type = cudaMemLocationTypeDevice;
    allocation.bytesize = sizeof host;
    cudaGraphNode_t first, last;
    CUDA(cudaGraphAddMemAllocNode(&first, graph, nullptr, 0, &allocation));
    int value = 3;
    void *arguments[] = {&allocation.dptr, &value};
    cudaGraphNode_t kernel = add_kernel(graph, &first, (void *)add, 32, arguments);
    CUDA(cudaGraphAddMemFreeNode(&last, graph, &kernel, 1, allocation.dptr));
    cudaUserObject_t object;
    CUDA(cudaUserObjectCreate(&object, &destroyed, destroy, 1, cudaUserObjectNoDestructorSync));
    CUDA(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    run(graph, stream, 2);
    CHECK(destroyed == 0);
    CUDA(cudaGraphDestroy(graph));
    CHECK(destroyed == 1);

    // A loop.
    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphConditionalHandle handle;
    CUDA(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));
    cudaGraphNodeParams loop = {};
    loop.type = cudaGraphNodeTypeConditional;
    loop.conditional.handle = handle, loop.conditional.type = cudaGraphCondTypeWhile, loop.conditional.size = 1;
    CUDA(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &loop));
    cudaGraph_t body = loop.conditional.phGraph_out[0];
    int *left, *count, one = 1;
    CUDA(cudaMallocManaged(&left, 2 * sizeof(int)));
    count = left + 1, *left = 5, *count = 0;
    void *counting[] = {&count, &one}, *deciding[] = {&handle, &left};
    kernel = add_kernel(body, nullptr, (void *)add, 1, counting);
    add_kernel(body, &kernel, (void *)again, 1, deciding);
    run(graph, stream, 1);
    CHECK(*count == 5);
    *left = 2;
    run(graph, stream, 1);
    CHECK(*count == 7);
    printf("graph_memory: right\n");
}
