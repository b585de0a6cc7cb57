// Atomic functions: each returns the old value, and no update is lost.
//
// REQUIRES: cuda
//@ run --kernel adds --grid 4 --block 64 --arg inout:cell=s32[1]:zeros --expect "cell == 256"
//@ run --kernel loses --grid 4 --block 64 --sanitize none --arg inout:cell=s32[1]:zeros --expect "cell < 256"
//@ run --kernel all --block 32 --arg inout:cell=s32[9]:[0,100,7,100,0,-1,15,8,3]
//@     --expect "cell == [496, -396, 42, 0, 31, 31, 15 & ~1, 8 | 31, 3]"
//@ run --kernel wraps --block 32 --arg inout:cell=u32[2]:[0,0] --expect "cell == [32 % 6, (0 - 32) % 6]"
//@ run --kernel by_cas --grid 4 --block 64 --sanitize none --arg inout:cell=f64[1]:zeros --expect "cell == 256"
//@ run --kernel returns --block 32 --arg out:out=u32[32] --expect "sort(out) == arange(32)"
//@ run --kernel in_shared --block 64 --arg out:out=u32[1] --expect "out == 64"
//@ run --kernel wide --block 32 --arg inout:cell=u64[1]:zeros --expect "cell == 274877906944"
//@ run --kernel floats --block 32 --arg inout:cell=f32[1]:zeros --expect "cell == 16"
//@ run --kernel exchanges --block 1 --arg inout:cell=f32[1]:fill(2.5) --arg out:out=f32[1] --expect "out == 2.5" --expect "cell == 7"
//@ run --kernel of_unsigned --block 32 --arg inout:cell=u32[3]:[4000000000,7,9] --expect "cell == [4000000031, 0, 4294967295]"
//@ run --kernel swaps --block 32 --arg inout:cell=u64[2]:[5,1099511627776] --arg out:out=u64[2] --expect "out[0] == 1099511627776" --expect "cell == [9, 6]"
//@ run --kernel wide_in_shared --block 64 --arg out:out=u64[1] --expect "out == 549755813888"
//@ run --kernel by_one --block 32 --arg inout:cell=s32[2]:[5,5] --arg out:out=s32[2] --expect "cell == [8, 5]" --expect "out == 5"
__global__ void adds(int *cell) { atomicAdd(cell, 1); }

__global__ void loses(int *cell) { *(volatile int *)cell = *(volatile int *)cell + 1; }

__global__ void all(int *cell)
{
    int t = threadIdx.x;
    atomicAdd(&cell[0], t);
    atomicSub(&cell[1], t);
    if (t == 0) atomicExch(&cell[2], 42);
    atomicMin(&cell[3], t);
    atomicMax(&cell[4], t);
    atomicMax(&cell[5], t);
    atomicAnd(&cell[6], ~1);
    atomicOr(&cell[7], t);
    atomicXor(&cell[8], t);
}

__global__ void wraps(unsigned *cell)
{
    atomicInc(&cell[0], 5);
    atomicDec(&cell[1], 5);
}

// Any operation can be made of a compare-and-swap.
__global__ void by_cas(double *cell)
{
    unsigned long long *at = (unsigned long long *)cell, old = *at, seen;
    do {
        seen = old;
        old = atomicCAS(at, seen, __double_as_longlong(1.0 + __longlong_as_double(seen)));
    } while (seen != old);
}

// Each thread gets another old value.
__global__ void returns(unsigned *out)
{
    __shared__ unsigned next;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    out[threadIdx.x] = atomicAdd(&next, 1u);
}

__global__ void in_shared(unsigned *out)
{
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicInc(&count, ~0u);
    __syncthreads();
    if (threadIdx.x == 0) *out = count;
}

__global__ void wide(unsigned long long *cell) { atomicAdd(cell, 1ull << 33); }

__global__ void floats(float *cell) { atomicAdd(cell, 0.5f); }

__global__ void exchanges(float *cell, float *out) { *out = atomicExch(cell, 7.0f); }

__global__ void of_unsigned(unsigned *cell)
{
    atomicMax(&cell[0], 4000000000u + threadIdx.x);
    atomicMin(&cell[1], threadIdx.x);
    atomicMax(&cell[2], threadIdx.x == 3 ? ~0u : 0u);
}

__global__ void swaps(unsigned long long *cell, unsigned long long *out)
{
    if (threadIdx.x) return;
    out[0] = atomicExch(&cell[1], 6ull);
    out[1] = atomicCAS(&cell[0], 5ull, 9ull);
}

__global__ void wide_in_shared(unsigned long long *out)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, 1ull << 33);
    __syncthreads();
    if (threadIdx.x == 0) *out = sum;
}

// It stores where the word is what the caller expects, and not where it is not.
__global__ void by_one(int *cell, int *out)
{
    if (threadIdx.x) return;
    out[0] = atomicCAS(&cell[0], 5, 8);
    out[1] = atomicCAS(&cell[1], 6, 8);
}
