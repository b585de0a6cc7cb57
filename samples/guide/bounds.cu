// Launch bounds are a promise about the block.
//
// REQUIRES: cuda
//@ run --block 256 --arg out:out=f32[256]
__global__ void __launch_bounds__(256, 4) bounded(float *out) { out[threadIdx.x] = threadIdx.x; }
