// Words of 64 and 128 bits in shared memory.
//
// REQUIRES: cuda
//@ run --kernel "wide<double>" --block 32 --arg out:out=f64[32] --expect "out == arange(32)"
//@ run --kernel "wide<double2>" --block 32 --arg out:out=f64[64] --expect "out == arange(64) // 2"
__device__ void set(double &d, int v) { d = v; }
__device__ void set(double2 &d, int v) { d.x = d.y = v; }

template <typename T> __global__ void wide(T *out)
{
    __shared__ T words[32];
    T v;
    set(v, threadIdx.x);
    words[threadIdx.x] = v;
    __syncthreads();
    out[threadIdx.x] = words[threadIdx.x];
}
