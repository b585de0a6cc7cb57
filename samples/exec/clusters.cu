// Launches with attributes: clusters whose blocks read each other's shared memory.
#include <cooperative_groups.h>
#include "check.h"
namespace cg = cooperative_groups;

__constant__ int added;
__global__ void exchange(int *out) {
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) own = blockIdx.x;
    cluster.sync();
    int other = cluster.block_rank() ^ 1;
    if (threadIdx.x == 0) out[blockIdx.x] = *cluster.map_shared_rank(&own, other) + added;
    cluster.sync();
}

int main() {
    int *p, got[8], ten = 10, clusters = 0, size = 0;
    CUDA(cudaMalloc(&p, sizeof got));
    cudaStream_t s;
    CUDA(cudaStreamCreate(&s));
    CUDA(cudaMemcpyToSymbolAsync(added, &ten, sizeof ten, 0, cudaMemcpyHostToDevice, s));
    cudaLaunchAttribute a[1];
    a[0].id = cudaLaunchAttributeClusterDimension;
    a[0].val.clusterDim.x = 2;
    a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(8);
    c.blockDim = dim3(32);
    c.stream = s;
    c.attrs = a;
    c.numAttrs = 1;
    CUDA(cudaOccupancyMaxActiveClusters(&clusters, exchange, &c));
    CUDA(cudaOccupancyMaxPotentialClusterSize(&size, exchange, &c));
    CHECK(clusters > 0 && size >= 8);
    CUDA(cudaLaunchKernelEx(&c, exchange, p));
    CUDA(cudaMemcpyAsync(got, p, sizeof got, cudaMemcpyDeviceToHost, s));
    CUDA(cudaStreamSynchronize(s));
    for (int i = 0; i < 8; i++) CHECK(got[i] == (i ^ 1) + 10);
    const char *name;
    CUDA(cudaFuncGetName(&name, (const void *)exchange));
    CHECK(name[0] == '_' && name[1] == 'Z');
    printf("clusters: right\n");
}
