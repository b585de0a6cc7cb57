// Votes and shuffles of a warp.
//
// REQUIRES: cuda
//@ run --kernel votes --block 32 --arg out:out=u32[3] --expect "out == [0, 1, 0x55555555]"
//@ run --kernel broadcasts --block 32 --arg out:out=s32[32] --expect "out == 7"
//@ run --kernel up --block 32 --arg out:out=s32[32] --expect "out == where(arange(32) % 8 >= 2, arange(32) - 2, arange(32))"
//@ run --kernel butterfly --block 32 --arg out:out=s32[32] --expect "out == 496"
//@ run --kernel outside --block 32 --arg out:out=s32[32] --expect "out == arange(32) // 8 * 8 + 1"
//@ run --kernel down --block 32 --arg out:out=s32[32] --expect "out == where(arange(32) < 28, arange(32) + 4, arange(32))"
//@ run --kernel scans --block 32 --arg out:out=s32[32] --expect "out == cumsum(arange(32))"
//@ run --kernel of_each --block 32 --arg out:out=s32[32] --expect "out == flip(arange(32))"
//@ run --kernel of_floats --block 32 --arg out:out=f32[32] --expect "out == 16"
//@ run --kernel within_eight --block 32 --arg out:out=s32[32] --expect "out == arange(32) // 8 * 8 + (arange(32) % 8 ^ 1)"
//@ run --kernel wide --block 32 --arg x=f64[32]:rand(1) --arg out:out=f64[32] --expect "out == flip(x)"
//@ run --kernel down_in_eight --block 32 --arg out:out=s32[32] --expect "out == where(arange(32) % 8 < 6, arange(32) + 2, arange(32))"
__global__ void votes(unsigned *out)
{
    bool even = threadIdx.x % 2 == 0;
    bool all = __all_sync(0xffffffff, even), any = __any_sync(0xffffffff, even);
    unsigned ballot = __ballot_sync(0xffffffff, even);
    if (threadIdx.x == 0) { out[0] = all; out[1] = any; out[2] = ballot; }
}

__global__ void broadcasts(int *out) { out[threadIdx.x] = __shfl_sync(0xffffffff, threadIdx.x, 7); }

// Within parts of eight lanes: the first two of each part keep their own value.
__global__ void up(int *out) { out[threadIdx.x] = __shfl_up_sync(0xffffffff, (int)threadIdx.x, 2, 8); }

__global__ void butterfly(int *out)
{
    int v = threadIdx.x;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    out[threadIdx.x] = v;
}

// Lane 9 of a part of eight lanes does not exist: it is taken modulo the width.
__global__ void outside(int *out) { out[threadIdx.x] = __shfl_sync(0xffffffff, (int)threadIdx.x, 9, 8); }

__global__ void down(int *out) { out[threadIdx.x] = __shfl_down_sync(0xffffffff, (int)threadIdx.x, 4); }

// An inclusive scan: each lane adds what the lanes below it hold.
__global__ void scans(int *out)
{
    int v = threadIdx.x;
    for (int d = 1; d < 32; d *= 2) {
        int below = __shfl_up_sync(0xffffffff, v, d);
        if (threadIdx.x >= d) v += below;
    }
    out[threadIdx.x] = v;
}

__global__ void of_each(int *out) { out[threadIdx.x] = __shfl_sync(0xffffffff, (int)threadIdx.x, 31 - threadIdx.x); }

__global__ void of_floats(float *out)
{
    float v = 0.5f;
    for (int d = 16; d > 0; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);
    out[threadIdx.x] = v;
}

// Each part of eight lanes is a warp of its own.
__global__ void within_eight(int *out) { out[threadIdx.x] = __shfl_xor_sync(0xffffffff, (int)threadIdx.x, 1, 8); }

// A double is two registers, so two shuffles.
__global__ void wide(const double *x, double *out) { out[threadIdx.x] = __shfl_sync(0xffffffff, x[threadIdx.x], 31 - threadIdx.x); }

__global__ void down_in_eight(int *out) { out[threadIdx.x] = __shfl_down_sync(0xffffffff, (int)threadIdx.x, 2, 8); }
