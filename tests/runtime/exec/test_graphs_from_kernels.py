"""Programs whose kernels launch graphs."""

from __future__ import annotations

from .conftest import Build, Run

PROGRAM = r"""
#include <cstdio>
#define CHECK(x) do { cudaError_t e = (x); if (e) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e)); return 1; } } while (0)
__global__ void append(int *p, int digit) { *p = *p * 10 + digit; }
__global__ void again(int *p) { if (*p < 1000) cudaGraphLaunch(cudaGetCurrentGraphExec(), cudaStreamGraphTailLaunch); }
__global__ void launches(cudaGraphExec_t g) { cudaGraphLaunch(g, cudaStreamGraphFireAndForget); }
int main() {
    int *p, h;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t repeats, outer;
    CHECK(cudaMalloc(&p, 4));
    CHECK(cudaMemset(p, 0, 4));
    CHECK(cudaStreamCreate(&s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, s>>>(p, 3);
    again<<<1, 1, 0, s>>>(p);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&repeats, g, cudaGraphInstantiateFlagDeviceLaunch));
    CHECK(cudaGraphUpload(repeats, s));
    CHECK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    append<<<1, 1, 0, s>>>(p, 1);
    launches<<<1, 1, 0, s>>>(repeats);
    append<<<1, 1, 0, s>>>(p, 5);
    CHECK(cudaStreamEndCapture(s, &g));
    CHECK(cudaGraphInstantiate(&outer, g, 0));
    CHECK(cudaGraphLaunch(outer, s));
    CHECK(cudaStreamSynchronize(s));
    CHECK(cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", h);
}
"""


def test_a_kernel_launches_a_graph_that_launches_itself(warplab_exec: Run, build: Build) -> None:
    done = warplab_exec(build("from_kernels", "-arch=sm_90", "-rdc=true", "-lcudadevrt", text=PROGRAM))
    assert (done.stdout, done.stderr) == ("13335\n", "")
