// A transposed tile that is called free of conflicts, and one that is.
//
// REQUIRES: cuda
//@ run --kernel "tiled<32>" --grid 32,32 --block 32,8 --arg x=f32[1024,1024]:arange --arg out:out=f32[1024,1024] --expect "out == transpose(x)"
//@ run --kernel "tiled<33>" --grid 32,32 --block 32,8 --arg x=f32[1024,1024]:arange --arg out:out=f32[1024,1024] --expect "out == transpose(x)"
template <int W> __global__ void tiled(const float *x, float *out)
{
    __shared__ float tile[32][W];
    for (int k = threadIdx.y; k < 32; k += 8) tile[k][threadIdx.x] = x[(blockIdx.y * 32 + k) * 1024 + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) out[(blockIdx.x * 32 + k) * 1024 + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][k];
}
