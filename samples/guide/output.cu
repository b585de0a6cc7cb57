// Output and assertions of a kernel.
//
// REQUIRES: cuda
//@ run --kernel hello --block 3
//@ prints "Hello thread 0, f=1.2345\nHello thread 1, f=1.2345\nHello thread 2, f=1.2345\n"
//@ run --kernel returns --block 1 --arg out:out=s32[2] --expect "out == [2, 0]"
//@ run --kernel asserts --block 1 --arg 0
//@ fault "assert"
#ifndef __CUDACC_RTC__  // NVRTC has both without a header
#include <cassert>
#include <cstdio>
#endif

__global__ void hello() { printf("Hello thread %d, f=%g\n", threadIdx.x, 1.2345f); }

// The result is the number of arguments, not of characters.
__global__ void returns(int *out)
{
    out[0] = printf("%d and %d\n", 1, 2);
    out[1] = printf("nothing\n");
}

__global__ void asserts(int is_one) { assert(is_one); }
