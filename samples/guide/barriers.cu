// __syncthreads and its three functions that also count.
//
// REQUIRES: cuda
//@ run --kernel waits --block 64 --arg x=u32[64]:arange --arg out:out=u32[64] --expect "out == flip(x)"
//@ run --kernel counts --block 64 --arg out:out=s32[3] --expect "out == [16, 0, 1]"
//@ run --kernel whole_blocks --grid 2 --block 64 --arg x=u32[64]:arange --arg out:out=u32[64] --expect "out == flip(x)"
__global__ void waits(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[64];
    cell[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = cell[63 - threadIdx.x];
}

__global__ void counts(int *out)
{
    int count = __syncthreads_count(threadIdx.x % 4 == 0);
    int all = __syncthreads_and(threadIdx.x < 63), any = __syncthreads_or(threadIdx.x == 63);
    if (threadIdx.x == 0) { out[0] = count; out[1] = all != 0; out[2] = any != 0; }
}

__global__ void forgets(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[64];
    cell[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = cell[63 - threadIdx.x];
}

// The condition is the same for all threads of a block.
__global__ void whole_blocks(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[64];
    if (blockIdx.x == 1) {
        cell[threadIdx.x] = x[threadIdx.x];
        __syncthreads();
        out[threadIdx.x] = cell[63 - threadIdx.x];
    }
}

// Half of the block: the others go on without it.
__global__ void half_waits(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[64];
    cell[threadIdx.x] = x[threadIdx.x];
    if (threadIdx.x % 2) __syncthreads();
    out[threadIdx.x] = cell[63 - threadIdx.x];
}
