// Arrays of two dimensions: rows that begin at multiples of 128 bytes need the fewest sectors, so rows get a pitch.
//
// REQUIRES: cuda
//@ run --kernel "rows<33>" --block 32,8 --arg x=f32[8,33]:arange --arg out:out=f32[8,32] --expect "out == x[:, :32]"
//@ run --kernel "rows<64>" --block 32,8 --arg x=f32[8,64]:arange --arg out:out=f32[8,32] --expect "out == x[:, :32]"
//@ run --kernel starts --block 1 --arg x=f32[3] --arg y=u8[5] --arg out:out=u32[2] --expect "out == 0"
template <int PITCH> __global__ void rows(const float *x, float *out)
{
    out[threadIdx.y * 32 + threadIdx.x] = x[threadIdx.y * PITCH + threadIdx.x];
}

// What an allocation begins with.
__global__ void starts(const float *x, const unsigned char *y, unsigned *out)
{
    out[0] = (unsigned long long)x % 256;
    out[1] = (unsigned long long)y % 256;
}
