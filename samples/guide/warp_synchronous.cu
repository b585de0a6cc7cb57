// A reduction whose last steps rely on the lanes of a warp keeping step, and one that says so.
//
// REQUIRES: cuda
//@ run --kernel relies --block 64 --sanitize none --arg x=u32[64]:arange --arg out:out=u32[1]
//@ run --kernel says --block 64 --arg x=u32[64]:arange --arg out:out=u32[1] --schedules 10 --expect "out == 2016"
__global__ void relies(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[64];
    int t = threadIdx.x;
    cell[t] = x[t];
    __syncthreads();
    if (t < 32)
        for (int s = 32; s > 0; s /= 2) cell[t] += cell[t + s];
    if (t == 0) *out = cell[0];
}

__global__ void says(const unsigned *x, unsigned *out)
{
    __shared__ unsigned cell[64];
    int t = threadIdx.x;
    cell[t] = x[t];
    __syncthreads();
    if (t < 32)
        for (int s = 32; s > 0; s /= 2) {
            unsigned v = cell[t] + cell[t + s];
            __syncwarp();
            cell[t] = v;
            __syncwarp();
        }
    if (t == 0) *out = cell[0];
}
