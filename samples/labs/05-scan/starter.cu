// Starter: both kernels copy.

// x: warps of 32 numbers
__global__ void scan(const unsigned *x, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mine = x[i];

    // Five shuffles belong here.
    out[i] = mine;
}

// x: warps of 32 numbers; out: of each warp the odd ones first, in order; the rest stays as it was
__global__ void compact(const unsigned *x, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = x[i];
    unsigned lane = threadIdx.x % 32;

    // Which lanes before me are odd?
    unsigned place = lane;
    if (v % 2) out[i - lane + place] = v;
}
