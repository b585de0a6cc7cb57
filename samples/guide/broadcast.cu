// Lanes that read one word share it, and so do lanes that read parts of one word.
//
// REQUIRES: cuda
//@ run --kernel one_word --block 32 --arg out:out=u32[32] --expect "out == 7"
//@ run --kernel eight_words --block 32 --arg out:out=u32[32] --expect "out == arange(32) % 8"
//@ run --kernel bytes --block 32 --arg out:out=u32[32] --expect "out == arange(32)"
//@ run --kernel halves --block 32 --arg out:out=u32[32] --expect "out == arange(32)"
//@ run --kernel spread_bytes --block 32 --arg out:out=u32[32] --expect "out == arange(32)"
__global__ void one_word(unsigned *out)
{
    __shared__ unsigned words[32];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[7];
}

__global__ void eight_words(unsigned *out)
{
    __shared__ unsigned words[32];
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x % 8];
}

__global__ void bytes(unsigned *out)
{
    __shared__ unsigned char parts[32];
    parts[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = parts[threadIdx.x];
}

__global__ void halves(unsigned *out)
{
    __shared__ unsigned short parts[32];
    parts[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = parts[threadIdx.x];
}

// Four bytes apart, each in a word of its own.
__global__ void spread_bytes(unsigned *out)
{
    __shared__ unsigned char parts[128];
    parts[4 * threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = parts[4 * threadIdx.x];
}
