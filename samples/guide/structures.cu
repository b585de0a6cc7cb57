// Structures: aligned to 8 or 16 bytes, they are read by fewer requests.
//
// REQUIRES: cuda
//@ run --kernel "reads<Two>" --block 32 --arg x=f32[64]:arange --arg out:out=f32[64] --expect "out == x"
//@ run --kernel "reads<AlignedTwo>" --block 32 --arg x=f32[64]:arange --arg out:out=f32[64] --expect "out == x"
//@ run --kernel "reads<AlignedThree>" --block 32 --arg x=f32[128]:arange --arg out:out=f32[128]:zeros
//@ run --kernel "reads<Five>" --block 32 --arg x=f32[160]:arange --arg out:out=f32[160] --expect "out == x"
//@ run --kernel "reads<AlignedFive>" --block 32 --arg x=f32[256]:arange --arg out:out=f32[256]:zeros
//@ run --kernel inside --block 4 --arg x=u8[64]:zeros --arg out:out=f64[4] --expect "out == 0"
//@ run --kernel "blocks_of<32>" --grid 1,4 --block 32,8 --arg x=f32[32,32]:arange --arg out:out=f32[32,32] --expect "out == x"
//@ run --kernel "blocks_of<20>" --grid 1,4 --block 20,8 --arg x=f32[32,32]:arange --arg out:out=f32[32,32]:zeros --expect "out[:, :20] == x[:, :20]"
struct Two { float x, y; };
struct __align__(8) AlignedTwo { float x, y; };
struct __align__(16) AlignedThree { float x, y, z; };
struct Five { float a, b, c, d, e; };
struct __align__(16) AlignedFive { float a, b, c, d, e; };

template <typename T> __global__ void reads(const T *x, T *out) { out[threadIdx.x] = x[threadIdx.x]; }

// A program that divides an allocation among arrays has to keep their alignment: this one starts its doubles at byte 4.
__global__ void carved(const unsigned char *x, double *out) { out[threadIdx.x] = ((const double *)(x + 4))[threadIdx.x]; }

__global__ void inside(const unsigned char *x, double *out) { out[threadIdx.x] = ((const double *)(x + 8))[threadIdx.x]; }

// Rows of 32 words, read by blocks of some width.
template <int WIDTH> __global__ void blocks_of(const float *x, float *out)
{
    int at = (blockIdx.y * blockDim.y + threadIdx.y) * 32 + threadIdx.x;
    out[at] = x[at];
}
