// The width of what a lane reads from global memory.
//
// REQUIRES: cuda
//@ run --kernel "reads<char>" --block 32 --arg x=u8[512]:zeros --arg out:out=u8[32] --expect "out == 0"
//@ run --kernel "reads<short>" --block 32 --arg x=u8[512]:zeros --arg out:out=u8[64] --expect "out == 0"
//@ run --kernel "reads<int>" --block 32 --arg x=u8[512]:zeros --arg out:out=u8[128] --expect "out == 0"
//@ run --kernel "reads<int2>" --block 32 --arg x=u8[512]:zeros --arg out:out=u8[256] --expect "out == 0"
//@ run --kernel "reads<int4>" --block 32 --arg x=u8[512]:zeros --arg out:out=u8[512] --expect "out == 0"
//@ run --kernel "reads<Three>" --block 32 --arg x=u8[512]:zeros --arg out:out=u8[384] --expect "out == 0"
struct Three { int a, b, c; };

template <typename T> __global__ void reads(const T *x, T *out) { out[threadIdx.x] = x[threadIdx.x]; }
