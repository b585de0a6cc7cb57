// wrong: 64 x 64: first c

// n: a multiple of 16
__global__ void matmul(const float *a, const float *b, float *c, unsigned n)
{
    __shared__ float as[16][16], bs[16][16];
    unsigned tx = threadIdx.x, ty = threadIdx.y;
    unsigned x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (unsigned k = 0; k < n; k += 16) {
        // Each thread brings one element of both tiles.
        as[ty][tx] = a[y * n + k + tx];
        bs[ty][tx] = b[x * n + k + ty];
        __syncthreads();                 // before the tiles are used
        for (unsigned j = 0; j < 16; j++) sum += as[ty][j] * bs[j][tx];
        __syncthreads();                 // before the next tiles come
    }
    c[y * n + x] = sum;
}
