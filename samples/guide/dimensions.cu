// Built-in variables.
//
// REQUIRES: cuda
//@ run --kernel numbers --grid 2,3 --block 4,2 --arg out:out=u32[48] --expect "out == arange(48)"
//@ run --kernel sizes --grid 2,3,4 --block 8,4,2 --arg out:out=u32[7] --expect "out == [2, 3, 4, 8, 4, 2, 32]"
//@ run --kernel last --grid 2,3,4 --block 8,4,2 --arg inout:out=u32[6]:zeros --expect "out == [1, 2, 3, 7, 3, 1]"
__global__ void numbers(unsigned *out)
{
    unsigned block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
    unsigned i = block * blockDim.x * blockDim.y + thread;
    out[i] = thread % warpSize + block * blockDim.x * blockDim.y;
}

__global__ void sizes(unsigned *out)
{
    if (blockIdx.x + blockIdx.y + blockIdx.z + threadIdx.x + threadIdx.y + threadIdx.z) return;
    out[0] = gridDim.x; out[1] = gridDim.y; out[2] = gridDim.z;
    out[3] = blockDim.x; out[4] = blockDim.y; out[5] = blockDim.z;
    out[6] = warpSize;
}

// The greatest indices there are.
__global__ void last(unsigned *out)
{
    atomicMax(&out[0], blockIdx.x); atomicMax(&out[1], blockIdx.y); atomicMax(&out[2], blockIdx.z);
    atomicMax(&out[3], threadIdx.x); atomicMax(&out[4], threadIdx.y); atomicMax(&out[5], threadIdx.z);
}
