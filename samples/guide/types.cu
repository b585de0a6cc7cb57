// The built-in vector types: sizes and alignments, and the functions that make them.
//
// REQUIRES: cuda
//@ run --kernel sizes --block 1
//@ run --kernel makes --block 1 --arg out:out=s32[4] --expect "out == [1, 2, 3, 4]"
//@ run --kernel long_sizes --block 1
//@ run --kernel parts --block 1 --arg out:out=f32[4] --expect "out == [1, 2, 3, 4]"
#ifndef __CUDACC_RTC__  // NVRTC has it without a header
#include <cstdio>
#endif

#define SHOW(type) printf("%-9s %2d bytes, aligned to %2d\n", #type, (int)sizeof(type), (int)__alignof__(type))

__global__ void sizes()
{
    SHOW(char1); SHOW(uchar2); SHOW(char3); SHOW(uchar4);
    SHOW(short1); SHOW(ushort2); SHOW(short3); SHOW(ushort4);
    SHOW(int1); SHOW(uint2); SHOW(int3); SHOW(uint4);
    SHOW(longlong1); SHOW(ulonglong2);
    SHOW(float1); SHOW(float2); SHOW(float3); SHOW(float4);
    SHOW(double1); SHOW(double2);
}

__global__ void makes(int *out)
{
    int4 v = make_int4(1, 2, 3, 4);
    out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;
}

__global__ void long_sizes()
{
    SHOW(long1); SHOW(ulong2); SHOW(long3); SHOW(ulong4);
    SHOW(short2); SHOW(int4); SHOW(ulonglong1); SHOW(longlong3); SHOW(double3); SHOW(dim3);
}

__global__ void parts(float *out)
{
    float4 v = {1, 2, 3, 4};
    out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;
}
