// Constant memory: lanes that read one address share a pass, others take one each.
//
// REQUIRES: cuda
//@ run --kernel one_address --block 32 --set table=f32[64]:arange --arg out:out=f32[32] --expect "out == 3"
//@ run --kernel own_address --block 32 --set table=f32[64]:arange --arg out:out=f32[32] --expect "out == arange(32)"
__constant__ float table[64];

__global__ void one_address(float *out) { out[threadIdx.x] = table[3]; }

__global__ void own_address(float *out) { out[threadIdx.x] = table[threadIdx.x]; }
