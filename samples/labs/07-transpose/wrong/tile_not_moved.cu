// wrong: 64 x 96: out of bounds

// width, height: of src, multiples of 32
__global__ void transpose(const float *src, float *out, unsigned width, unsigned height)
{
    __shared__ float tile[32][32];
    unsigned tx = threadIdx.x;
    for (unsigned k = threadIdx.y; k < 32; k += 8)
        tile[k][tx] = src[(blockIdx.y * 32 + k) * width + blockIdx.x * 32 + tx];
    __syncthreads();
    // The lanes run along a row of out and down a column of the tile.
    for (unsigned k = threadIdx.y; k < 32; k += 8)
        out[(blockIdx.x * 32 + k) * height + blockIdx.x * 32 + tx] = tile[tx][k];
}
