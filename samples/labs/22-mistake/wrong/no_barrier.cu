// Nothing waits for the tile.
// wrong: a square: no barrier between

// m: height x width, both multiples of 32; out: width x height; blocks of 32 x 8 threads
__global__ void transpose(const float *m, float *out, unsigned width, unsigned height)
{
    __shared__ float tile[32][33];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32;
    for (unsigned j = threadIdx.y; j < 32; j += 8) tile[j][threadIdx.x] = m[(y + j) * width + x];
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32;
    for (unsigned j = threadIdx.y; j < 32; j += 8) out[(y + j) * height + x] = tile[threadIdx.x][j];
}
