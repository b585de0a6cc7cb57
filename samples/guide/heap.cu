// malloc and free in kernels.
//
// REQUIRES: cuda
//@ run --block 4 --arg out:out=u32[4] --expect "out == [0, 2, 4, 6]"
#ifndef __CUDACC_RTC__  // NVRTC has them without a header
#include <cstdlib>
#endif

__global__ void own(unsigned *out)
{
    unsigned *mine = (unsigned *)malloc(8);
    mine[0] = mine[1] = threadIdx.x;
    out[threadIdx.x] = mine[0] + mine[1];
    free(mine);
}
