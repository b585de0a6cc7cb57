// Built-in variables.
//
// REQUIRES: cuda
//@ run --grid 2,3 --block 4,2 --arg out:out=u32[48] --expect "out == arange(48)"
__global__ void numbers(unsigned *out)
{
    unsigned block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned i = block * blockDim.x * blockDim.y + thread;
    out[i] = thread % warpSize + block * blockDim.x * blockDim.y;
}
