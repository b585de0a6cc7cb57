// Cooperative groups: a grid that waits for itself, with as many blocks as the occupancy calls allow.
#include <cooperative_groups.h>
#include "check.h"
namespace cg = cooperative_groups;

__global__ void turns(int *p, int *result) {
    cg::grid_group grid = cg::this_grid();
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int i = (int)grid.thread_rank(), n = (int)grid.size();
    p[i] = i;
    grid.sync();
    int other = p[(i + 1) % n], lane = tile.shfl(other, 0);
    grid.sync();
    p[i] = other + 0 * lane;
    grid.sync();
    if (i == 0)
        for (int k = 0; k < n; k++) *result += p[k] == (k + 1) % n;
}

int main() {
    int blocks = 0, *p, *result, got, least, size;
    CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, turns, 128, 0));
    CHECK(blocks > 0);
    CUDA(cudaOccupancyMaxPotentialBlockSize(&least, &size, turns, 0, 0));
    CHECK(size >= 128);
    cudaFuncAttributes a;
    CUDA(cudaFuncGetAttributes(&a, turns));
    CHECK(a.maxThreadsPerBlock >= 128 && a.numRegs > 0);
    CUDA(cudaMalloc(&p, 8 * 128 * sizeof(int)));
    CUDA(cudaMalloc(&result, sizeof(int)));
    CUDA(cudaMemset(result, 0, sizeof(int)));
    void *args[] = {&p, &result};
    CUDA(cudaLaunchCooperativeKernel(turns, dim3(8), dim3(128), args, 0, 0));
    CUDA(cudaMemcpy(&got, result, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(got == 8 * 128);
    printf("cooperative: right\n");
}
