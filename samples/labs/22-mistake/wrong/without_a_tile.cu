// No tile, no conflicts, no coalescing.
// wrong: no conflicts: store_sectors_per_request is

// m: height x width, both multiples of 32; out: width x height; blocks of 32 x 8 threads
__global__ void transpose(const float *m, float *out, unsigned width, unsigned height)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x;
    for (unsigned y = blockIdx.y * 32 + threadIdx.y; y < (blockIdx.y + 1) * 32; y += 8) out[x * height + y] = m[y * width + x];
}
