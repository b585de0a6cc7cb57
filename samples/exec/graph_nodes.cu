// Nodes of a graph that change: copies to and from variables, parameters of any kind of node, attributes, and a capture that is steered.
#include "check.h"

__constant__ int factors[4];
__device__ int results[4];
__global__ void multiply(int by) { results[threadIdx.x] = factors[threadIdx.x] * by; }
__global__ void count(int *p) { ++*p; }

int main() {
    cudaGraph_t graph, clone;
    cudaGraphNode_t in, work, out;
    cudaGraphExec_t exec;
    int given[4] = {1, 2, 3, 4}, found[4], by = 10;
    void *args[] = {&by};
    CUDA(cudaGraphCreate(&graph, 0));
    CUDA(cudaGraphAddMemcpyNodeToSymbol(&in, graph, nullptr, 0, factors, given, sizeof given, 0, cudaMemcpyHostToDevice));
    cudaGraphNodeParams p = {};
    p.type = cudaGraphNodeTypeKernel;
    p.kernel.func = (void *)multiply;
    p.kernel.gridDim = dim3(1);
    p.kernel.blockDim = dim3(4);
    p.kernel.kernelParams = args;
    CUDA(cudaGraphAddNode(&work, graph, &in, nullptr, 1, &p));
    CUDA(cudaGraphAddMemcpyNodeFromSymbol(&out, graph, &work, 1, found, results, sizeof found, 0, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphInstantiate(&exec, graph, 0));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaDeviceSynchronize());
    CHECK(found[0] == 10 && found[3] == 40);

    by = 100;
    CUDA(cudaGraphExecNodeSetParams(exec, work, &p));
    CUDA(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, in, factors, given + 2, 8, 0, cudaMemcpyHostToDevice));
    CUDA(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, out, found, results, 8, 4, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaDeviceSynchronize());
    CHECK(found[0] == 400 && found[1] == 300 && found[3] == 40);

    by = 7;  // in the graph, from which the executable is brought up to date
    CUDA(cudaGraphNodeSetParams(work, &p));
    CUDA(cudaGraphMemcpyNodeSetParamsFromSymbol(out, found, results, sizeof found, 0, cudaMemcpyDeviceToHost));
    CUDA(cudaGraphClone(&clone, graph));
    cudaGraphExecUpdateResultInfo info;
    CUDA(cudaGraphExecUpdate(exec, clone, &info));
    CUDA(cudaGraphLaunch(exec, 0));
    CUDA(cudaDeviceSynchronize());
    CHECK(found[0] == 7 && found[3] == 28);

    cudaKernelNodeParams k;
    CUDA(cudaGraphKernelNodeGetParams(work, &k));
    CHECK(k.func == (void *)multiply && k.blockDim.x == 4);
    cudaLaunchAttributeValue value = {};
    value.cooperative = 1;
    CUDA(cudaGraphKernelNodeSetAttribute(work, cudaLaunchAttributeCooperative, &value));
    value.cooperative = 0;
    CUDA(cudaGraphKernelNodeGetAttribute(work, cudaLaunchAttributeCooperative, &value));
    CHECK(value.cooperative == 1);

    int *counter, counted = 5;
    CUDA(cudaMalloc(&counter, sizeof *counter));
    cudaStream_t s;
    CUDA(cudaStreamCreate(&s));
    CUDA(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    count<<<1, 1, 0, s>>>(counter);
    cudaStreamCaptureStatus status;
    const cudaGraphNode_t *before;
    size_t n;
    cudaGraph_t captured;
    CUDA(cudaStreamGetCaptureInfo(s, &status, nullptr, &captured, &before, nullptr, &n));
    CHECK(status == cudaStreamCaptureStatusActive && n == 1);
    cudaMemsetParams m = {};
    m.dst = counter;
    m.elementSize = 4;
    m.width = m.height = 1;
    cudaGraphNode_t clear;
    CUDA(cudaGraphAddMemsetNode(&clear, captured, before, n, &m));  // between two launches of the stream
    CUDA(cudaStreamUpdateCaptureDependencies(s, &clear, nullptr, 1, cudaStreamSetCaptureDependencies));
    count<<<1, 1, 0, s>>>(counter);
    CUDA(cudaStreamEndCapture(s, &captured));
    CUDA(cudaGraphExecDestroy(exec));
    CUDA(cudaGraphInstantiate(&exec, captured, 0));
    for (int turn = 0; turn < 3; turn++) CUDA(cudaGraphLaunch(exec, s));
    CUDA(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
    CHECK(counted == 1);
    printf("graph nodes: right\n");
}
