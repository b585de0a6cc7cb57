// Fences: for the block, for the device, and for all, host included; and a variable that is volatile.
//
// REQUIRES: cuda
//@ run --kernel within_block --block 64 --arg out:out=u32[64] --expect "out == 1"
//@ run --kernel within_device --block 64 --arg out:out=u32[64] --expect "out == 1"
//@ run --kernel within_system --block 64 --arg out:out=u32[64] --expect "out == 1"
//@ run --kernel reads_once --block 1 --arg x=u32[1]:fill(3) --arg out:out=u32[2] --expect "out == 3"
//@ run --kernel reads_twice --block 1 --arg x=u32[1]:fill(3) --arg out:out=u32[2] --expect "out == 3"
__global__ void within_block(unsigned *out) { out[threadIdx.x] = 1; __threadfence_block(); }

__global__ void within_device(unsigned *out) { out[threadIdx.x] = 1; __threadfence(); }

__global__ void within_system(unsigned *out) { out[threadIdx.x] = 1; __threadfence_system(); }

// The compiler may keep what it has read.
__global__ void reads_once(const unsigned *x, unsigned *out) { out[0] = *x; asm volatile(""); out[1] = *x; }

__global__ void reads_twice(const volatile unsigned *x, unsigned *out) { out[0] = *x; out[1] = *x; }
