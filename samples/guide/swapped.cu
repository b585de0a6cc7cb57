// A tiled matrix product as guides print it, with the indices of one tile swapped, and the right one.
//
// REQUIRES: cuda
//@ run --kernel swapped --grid 4,4 --block 16,16 --arg a=f32[64,64]:rand(1) --arg b=f32[64,64]:rand(2) --arg out:c=f32[64,64] --arg n=64 --rtol 1e-4 --expect "sum(c != matmul(a, b)) > 4000"
//@ run --kernel right --grid 4,4 --block 16,16 --arg a=f32[64,64]:rand(1) --arg b=f32[64,64]:rand(2) --arg out:c=f32[64,64] --arg n=64 --rtol 1e-4 --expect "c == matmul(a, b)"
template <bool SWAPPED> __device__ void product(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, x = blockIdx.x * 16 + tx, y = blockIdx.y * 16 + ty;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        as[ty][tx] = a[y * n + k + tx];
        bs[ty][tx] = SWAPPED ? b[(k + tx) * n + blockIdx.x * 16 + ty] : b[(k + ty) * n + x];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += as[ty][j] * bs[j][tx];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

__global__ void swapped(const float *a, const float *b, float *c, int n) { product<true>(a, b, c, n); }

__global__ void right(const float *a, const float *b, float *c, int n) { product<false>(a, b, c, n); }
