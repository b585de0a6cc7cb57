// wrong: compaction: differ

// x: warps of 32 numbers
__global__ void scan(const unsigned *x, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = x[i];
    unsigned lane = threadIdx.x % 32;
#pragma unroll
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, mine, d);
        if (lane >= d) mine += other;
    }
    out[i] = mine;
}

// x: warps of 32 numbers; out: of each warp the odd ones first, in order; the rest stays as it was
__global__ void compact(const unsigned *x, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[i];
    unsigned lane = threadIdx.x % 32;
    unsigned ballot = __ballot_sync(0xffffffff, v % 2);
    unsigned place = __popc(ballot & ((2u << lane) - 1));  // odd ones in the lanes before
    if (v % 2) out[i - lane + place] = v;
}
