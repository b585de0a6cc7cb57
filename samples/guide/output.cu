// Output and assertions of a kernel.
//
// REQUIRES: cuda
//@ run --kernel hello --block 3
//@ prints "Hello thread 0, f=1.2345\nHello thread 1, f=1.2345\nHello thread 2, f=1.2345\n"
//@ run --kernel returns --block 1 --arg out:out=s32[2] --expect "out == [2, 0]"
//@ run --kernel asserts --block 1 --arg 0
//@ fault "assert"
//@ run --kernel formats --block 1
//@ prints "-7 ff 1.50 1.500000e+00 c text 99999999999 %\n"
//@ run --kernel one_thread --grid 2 --block 4
//@ prints "from block 1, thread 3\n"
//@ run --kernel asserts_in_three --block 8
//@ fault "assert"
//@ run --kernel many --block 1
//@ prints "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32\n"
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

__global__ void formats() { printf("%d %x %.2f %e %c %s %lld %%\n", -7, 255, 1.5, 1.5, 'c', "text", 99999999999ll); }

__global__ void one_thread()
{
    if (blockIdx.x == 1 && threadIdx.x == 3) printf("from block %d, thread %d\n", blockIdx.x, threadIdx.x);
}

__global__ void asserts_in_three() { assert(threadIdx.x < 5); }

__global__ void many()
{
    printf("%d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d %d\n",
           1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32);
}
