// Textures: filters, address modes, coordinates.
//
// REQUIRES: cuda
//@ run --kernel reads --block 8 --tex t=f32[4]:[10,20,30,40],filter=linear --arg t --arg out:out=f32[8] --expect "out == [10, 10, 15, 20, 25, 30, 35, 40]"
__global__ void reads(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1D<float>(t, threadIdx.x * 0.5f); }
