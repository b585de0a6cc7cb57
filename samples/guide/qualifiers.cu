// Function and variable qualifiers.
//
// REQUIRES: cuda
//@ run --kernel calls --block 4 --arg out:out=s32[4] --expect "out == arange(4) ** 2 + 1"
//@ run --kernel recurses --block 4 --arg out:out=s32[4] --expect "out == [1, 1, 2, 6]"
//@ run --kernel variable --block 4 --set offset=5 --arg out:out=s32[4] --expect "out == arange(4) + 5" --expect "offset == 9"
//@ run --kernel dynamic --block 32 --shared 128 --arg x=s32[32]:arange --arg out:out=s32[32] --expect "out == flip(x)"
//@ run --kernel pointers --block 4 --arg inout:x=s32[4]:arange --expect "x == 2 * arange(4)"
//@ run --kernel same_place --block 1 --shared 64 --arg out:out=u32[1] --expect "out == 0"
//@ run --kernel one_of_each --block 32 --shared 320 --arg out:out=f32[32] --expect "out == 3 * arange(32)"
//@ run --kernel architecture --block 1 --arg out:out=s32[1] --expect "out == 900"
//@ run --kernel local_static --block 4 --arg out:out=s32[4] --expect "sort(out) == arange(4)"
__device__ int square(int v) { return v * v; }
__host__ __device__ int next(int v) { return v + 1; }

__global__ void calls(int *out) { out[threadIdx.x] = next(square(threadIdx.x)); }

__device__ __noinline__ int factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }

__global__ void recurses(int *out) { out[threadIdx.x] = factorial(threadIdx.x); }

__device__ int offset;

__global__ void variable(int *out)
{
    out[threadIdx.x] = offset + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) offset += 4;
}

// The launch gives the size.
extern __shared__ int cell[];

__global__ void dynamic(const int *x, int *out)
{
    cell[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = cell[31 - threadIdx.x];
}

__device__ __noinline__ void twice(int *p) { *p *= 2; }

// A pointer of a function does not say whether it points to shared or to global memory.
__global__ void pointers(int *x)
{
    __shared__ int mine[4];
    mine[threadIdx.x] = x[threadIdx.x] / 2;
    twice(&mine[threadIdx.x]);
    twice(&x[threadIdx.x]);
}

extern __shared__ float others[];

__global__ void same_place(unsigned *out) { *out = (unsigned)((char *)others - (char *)cell); }

// Three arrays in one: each begins where the one before ends, at an address that suits its type.
__global__ void one_of_each(float *out)
{
    short *first = (short *)cell;  // 32 words of 2 bytes
    float *second = (float *)&first[32];
    int *third = (int *)&second[32];
    int t = threadIdx.x;
    first[t] = t; second[t] = t; third[t] = t;
    out[t] = first[t] + second[t] + third[t];
}

// As above, but 31 words of 2 bytes end where no float may begin.
__global__ void one_misplaced(float *out)
{
    short *first = (short *)cell;
    float *second = (float *)&first[31];
    second[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = second[threadIdx.x];
}

// What the first block leaves in shared memory is not there for the second.
__global__ void two_blocks(int *out)
{
    __shared__ volatile int mine;
    if (blockIdx.x == 0) mine = 5;
    out[blockIdx.x] = mine;
}

__global__ void architecture(int *out)
{
#ifdef __CUDA_ARCH__
    *out = __CUDA_ARCH__;
#else
    *out = 0;  // what the host compiles
#endif
}

// One variable for all threads, which lives as long as the program.
__global__ void local_static(int *out)
{
    static int next;
    out[threadIdx.x] = atomicAdd(&next, 1);
}
