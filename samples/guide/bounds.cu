// Launch bounds are a promise about the block.
//
// REQUIRES: cuda
//@ run --kernel bounded --block 256 --arg out:out=f32[256]
//@ run --kernel unbounded --block 256 --arg out:out=f32[256]
//@ run --kernel of_architecture --block 128 --arg out:out=f32[128]
__global__ void __launch_bounds__(256, 4) bounded(float *out) { out[threadIdx.x] = threadIdx.x; }

__global__ void unbounded(float *out) { out[threadIdx.x] = threadIdx.x; }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 200
#define THREADS 256
#else
#define THREADS 128
#endif
__global__ void __launch_bounds__(THREADS) of_architecture(float *out) { out[threadIdx.x] = threadIdx.x; }
