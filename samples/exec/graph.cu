// A graph that was captured and one that is built node by node.
#include "check.h"

__global__ void add(int *p, int n, int v) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] += v;
}
static void host(void *data) { ++*(int *)data; }

int main() {
    const int n = 1000;
    int *p, out[n], calls = 0;
    CUDA(cudaMalloc(&p, n * sizeof(int)));
    cudaStream_t s;
    CUDA(cudaStreamCreate(&s));
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    CUDA(cudaMemsetAsync(p, 0, n * sizeof(int), s));
    add<<<4, 256, 0, s>>>(p, n, 3);
    add<<<4, 256, 0, s>>>(p, n, 4);
    CUDA(cudaLaunchHostFunc(s, host, &calls));
    CUDA(cudaStreamEndCapture(s, &graph));
    size_t nodes = 0;
    CUDA(cudaGraphGetNodes(graph, nullptr, &nodes));
    CHECK(nodes == 4);
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CUDA(cudaMemcpy(out, p, sizeof out, cudaMemcpyDeviceToHost));
    CHECK(out[0] == 7 && out[n - 1] == 7 && calls == 2);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));

    CUDA(cudaGraphCreate(&graph, 0));
    cudaGraphNode_t set, first, second, back, call;
    cudaMemsetParams m = {};
    m.dst = p;
    m.elementSize = 4;
    m.width = n;
    m.height = 1;
    m.value = 1;
    CUDA(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &m));
    int count = n, v = 10, w = 20;
    void *args[] = {&p, &count, &v}, *more[] = {&p, &count, &w};
    cudaKernelNodeParams k = {};
    k.func = (void *)add;
    k.gridDim = dim3(4);
    k.blockDim = dim3(256);
    k.kernelParams = args;
    CUDA(cudaGraphAddKernelNode(&first, graph, &set, 1, &k));
    k.kernelParams = more;
    CUDA(cudaGraphAddKernelNode(&second, graph, &first, 1, &k));
    CUDA(cudaGraphAddMemcpyNode1D(&back, graph, &second, 1, out, p, sizeof out, cudaMemcpyDeviceToHost));
    cudaHostNodeParams h = {};
    h.fn = host;
    h.userData = &calls;
    CUDA(cudaGraphAddHostNode(&call, graph, &back, 1, &h));
    v = w = 0;  // the graph has copies
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(out[0] == 31 && out[n - 1] == 31 && calls == 3);
    w = 100;
    CUDA(cudaGraphExecKernelNodeSetParams(exec, second, &k));
    CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaStreamSynchronize(s));
    CHECK(out[5] == 111 && calls == 4);
    cudaGraphNodeType type;
    CUDA(cudaGraphNodeGetType(back, &type));
    CHECK(type == cudaGraphNodeTypeMemcpy);
    size_t roots = 0, edges = 0;
    CUDA(cudaGraphGetRootNodes(graph, nullptr, &roots));
    CHECK(roots == 1);
    CUDA(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges));
    CHECK(edges == 4);
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphDestroy(graph));
    printf("graph: right\n");
}
