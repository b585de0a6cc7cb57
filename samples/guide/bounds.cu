// Launch bounds are a promise about the block.
//
// REQUIRES: cuda
//@ run --kernel bounded --block 256 --arg out:out=f32[256]
//@ run --kernel unbounded --block 256 --arg out:out=f32[256]
__global__ void __launch_bounds__(256, 4) bounded(float *out) { out[threadIdx.x] = threadIdx.x; }

__global__ void unbounded(float *out) { out[threadIdx.x] = threadIdx.x; }
