// Pointers to functions, and volatile.
//
// REQUIRES: cuda
//@ run --kernel chooses --block 4 --arg x=s32[4]:[0,1,0,1] --arg out:out=s32[4] --expect "out == [0, 4, 4, 12]"
//@ run --kernel twice --block 1 --arg x=s32[1]:fill(3) --arg out:out=s32[1] --expect "out == 6"
//@ run --kernel twice_volatile --block 1 --arg x=s32[1]:fill(3) --arg out:out=s32[1] --expect "out == 6"
typedef int (*Operation)(int);
__device__ int same(int v) { return v; }
__device__ int shift(int v) { return v << 1; }
__device__ Operation operations[2] = {same, shift};

__global__ void chooses(const int *x, int *out)
{
    int v = 2 * threadIdx.x;
    out[threadIdx.x] = operations[x[threadIdx.x]](v);
}

__global__ void twice(const int *x, int *out) { *out = *x + *x; }

__global__ void twice_volatile(const volatile int *x, int *out) { *out = *x + *x; }
