// Textures: filters, address modes, coordinates.
//
// REQUIRES: cuda
//@ run --kernel reads --block 8 --tex t=f32[4]:[10,20,30,40],filter=linear --arg t --arg out:out=f32[8] --expect "out == [10, 10, 15, 20, 25, 30, 35, 40]"
//@ run --kernel fetches --block 4 --tex t=f32[4]:[10,20,30,40],memory --arg t --arg out:out=f32[4] --expect "out == [10, 20, 30, 40]"
//@ run --kernel points --block 4 --tex t=f32[4]:[10,20,30,40] --arg t --arg out:out=f32[4] --expect "out == [10, 20, 30, 40]"
//@ run --kernel wraps --block 8 --tex t=f32[4]:[10,20,30,40],address=wrap,normalized --arg t --arg out:out=f32[8] --expect "out == [10, 20, 30, 40, 10, 20, 30, 40]"
//@ run --kernel wraps --block 8 --tex t=f32[4]:[10,20,30,40],address=mirror,normalized --arg t --arg out:out=f32[8] --expect "out == [10, 20, 30, 40, 40, 30, 20, 10]"
//@ run --kernel wraps --block 8 --tex t=f32[4]:[10,20,30,40],address=border,normalized --arg t --arg out:out=f32[8] --expect "out == [10, 20, 30, 40, 0, 0, 0, 0]"
//@ run --kernel flat --block 4,2 --tex t=f32[2,4]:arange --arg t --arg out:out=f32[2,4] --expect "out == reshape(arange(8), (2, 4))"
//@ run --kernel fractions --block 4 --tex t=u8[4]:[0,51,102,255],read=float --arg t --arg out:out=f32[4] --rtol 1e-6 --expect "out == array([0, 51, 102, 255]) / 255"
//@ run --kernel across --block 32 --tex t=f32[32,32]:arange --arg t --arg out:out=f32[32] --expect "out == arange(32)"
//@ run --kernel square --block 8,4 --tex t=f32[32,32]:arange --arg t --arg out:out=f32[32]
//@ run --kernel down --block 32 --tex t=f32[32,32]:arange --arg t --arg out:out=f32[32] --expect "out == 32 * arange(32)"
__global__ void reads(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1D<float>(t, threadIdx.x * 0.5f); }

__global__ void fetches(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }

__global__ void points(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1D<float>(t, threadIdx.x + 0.9f); }

__global__ void wraps(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1D<float>(t, (threadIdx.x + 0.5f) / 4); }

__global__ void flat(cudaTextureObject_t t, float *out)
{
    out[threadIdx.y * 4 + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

__global__ void fractions(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1D<float>(t, threadIdx.x + 0.5f); }

__global__ void across(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, 0.5f); }

__global__ void square(cudaTextureObject_t t, float *out)
{
    out[threadIdx.y * 8 + threadIdx.x] = tex2D<float>(t, threadIdx.x + 0.5f, threadIdx.y + 0.5f);
}

__global__ void down(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, 0.5f, threadIdx.x + 0.5f); }
