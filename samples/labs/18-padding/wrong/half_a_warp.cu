// Lanes 16 to 31 are not added.
// wrong: sums: differ

// x: rows x columns; out: rows x pitch; one block for each row
__global__ void pad(const float *x, float *out, unsigned columns, unsigned pitch)
{
    unsigned row = blockIdx.x;
    for (unsigned c = threadIdx.x; c < pitch; c += 128) out[row * pitch + c] = c < columns ? x[row * columns + c] : 0.0f;
}

// x: rows x pitch, padded with zeros; out: rows; a warp for each row
__global__ void sums(const float4 *x, float *out, unsigned pitch)
{
    unsigned lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    float sum = 0;
    // Four columns for each lane: 128 columns are one load of a warp.
    for (unsigned c = 4 * lane; c < pitch; c += 128) {
        float4 v = x[(row * pitch + c) / 4];
        sum += (v.x + v.y) + (v.z + v.w);
    }
    for (unsigned distance = 8; distance != 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (lane == 0) out[row] = sum;
}
