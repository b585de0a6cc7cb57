// Surfaces: read and written, addressed in bytes along a row.
//
// REQUIRES: cuda
//@ run --kernel doubles --block 8,4 --surf s=f32[4,8]:arange --arg s --expect "s == 2 * reshape(arange(32), (4, 8))"
//@ run --kernel beyond --block 8,4 --surf s=f32[4,8]:arange --arg s
//@ fault "surface"
//@ run --kernel zeros_beyond --block 8 --surf s=f32[4,8]:arange --arg s --arg out:out=f32[8] --expect "out == 0"
//@ run --kernel clamps_beyond --block 8 --surf s=f32[4,8]:arange --arg s --arg out:out=f32[8] --expect "out == 7"
__global__ void doubles(cudaSurfaceObject_t s)
{
    float v = surf2Dread<float>(s, threadIdx.x * sizeof(float), threadIdx.y);
    surf2Dwrite(2 * v, s, threadIdx.x * sizeof(float), threadIdx.y);
}

__global__ void beyond(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 8 * sizeof(float), threadIdx.y); }

__global__ void zeros_beyond(cudaSurfaceObject_t s, float *out)
{
    out[threadIdx.x] = surf2Dread<float>(s, (8 + threadIdx.x) * sizeof(float), 0, cudaBoundaryModeZero);
}

__global__ void clamps_beyond(cudaSurfaceObject_t s, float *out)
{
    out[threadIdx.x] = surf2Dread<float>(s, (8 + threadIdx.x) * sizeof(float), 0, cudaBoundaryModeClamp);
}
