// Textures and surfaces of other shapes: volumes, layers, faces of a cube, and four texels at once.
//
// REQUIRES: cuda
//@ run --kernel volume --block 4,2,2 --tex t=f32[2,2,4]:arange --arg t --arg out:out=f32[16] --expect "out == arange(16)"
//@ run --kernel rows --block 4,2 --tex t=f32[2,4]:arange,layered --arg t --arg out:out=f32[8] --expect "out == arange(8)"
//@ run --kernel pictures --block 4,2,2 --tex t=f32[2,2,4]:arange,layered --arg t --arg out:out=f32[16] --expect "out == arange(16)"
//@ run --kernel faces --block 6 --tex t=f32[6,2,2]:arange,cube,normalized --arg t --arg out:out=f32[6] --expect "out // 4 == arange(6)"
//@ run --kernel gathers --block 1 --tex t=f32[2,2]:[1,2,3,4] --arg t --arg out:out=f32[4] --expect "out == [3, 4, 2, 1]"
//@ run --kernel line --block 8 --surf s=f32[8]:arange --arg s --expect "s == 2 * arange(8)"
//@ run --kernel solid --block 4,2,2 --surf s=f32[2,2,4]:arange --arg s --expect "s == 2 * reshape(arange(16), (2, 2, 4))"
//@ run --kernel line_of_each --block 4,2 --surf s=f32[2,4]:arange,layered --arg s --expect "s == 2 * reshape(arange(8), (2, 4))"
//@ run --kernel picture_of_each --block 4,2,2 --surf s=f32[2,2,4]:arange,layered --arg s --expect "s == 2 * reshape(arange(16), (2, 2, 4))"
//@ run --kernel face_of_each --block 2,2,6 --surf s=f32[6,2,2]:arange,cube --arg s --expect "s == 2 * reshape(arange(24), (6, 2, 2))"
//@ run --kernel faces_of_each --block 6,2 --tex t=f32[12,2,2]:arange,cube,layered,normalized --arg t --arg out:out=f32[12] --expect "out // 4 == arange(12)"
//@ run --kernel gathers_second --block 1 --tex t=f32[2,2,2]:arange,channels=2 --arg t --arg out:out=f32[4] --expect "out == [5, 7, 3, 1]"
//@ run --kernel face_of_each_layer --block 2,2,12 --surf s=f32[12,2,2]:arange,cube,layered --arg s --expect "s == 2 * reshape(arange(48), (12, 2, 2))"
//@ run --kernel tuples --block 4 --tex t=f32[4,4]:arange,channels=4,memory --arg t --arg out:out=f32[4] --expect "out == 4 * arange(4) + 3"
__global__ void volume(cudaTextureObject_t t, float *out)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[(z * 2 + y) * 4 + x] = tex3D<float>(t, x + 0.5f, y + 0.5f, z + 0.5f);
}

__global__ void rows(cudaTextureObject_t t, float *out)
{
    out[threadIdx.y * 4 + threadIdx.x] = tex1DLayered<float>(t, threadIdx.x + 0.5f, threadIdx.y);
}

__global__ void pictures(cudaTextureObject_t t, float *out)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[(z * 2 + y) * 4 + x] = tex2DLayered<float>(t, x + 0.5f, y + 0.5f, z);
}

// The greatest coordinate chooses the face: +x, -x, +y, -y, +z, -z.
__global__ void faces(cudaTextureObject_t t, float *out)
{
    float to[3] = {0.1f, 0.1f, 0.1f};
    int axis = threadIdx.x / 2;
    float at = threadIdx.x % 2 ? -1.0f : 1.0f;
    out[threadIdx.x] = texCubemap<float>(t, axis == 0 ? at : to[0], axis == 1 ? at : to[1], axis == 2 ? at : to[2]);
}

__global__ void gathers(cudaTextureObject_t t, float *out)
{
    float4 v = tex2Dgather<float4>(t, 1.0f, 1.0f, 0);
    out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;
}

__global__ void line(cudaSurfaceObject_t s)
{
    surf1Dwrite(2 * surf1Dread<float>(s, threadIdx.x * 4), s, threadIdx.x * 4);
}

__global__ void solid(cudaSurfaceObject_t s)
{
    int x = threadIdx.x * 4, y = threadIdx.y, z = threadIdx.z;
    surf3Dwrite(2 * surf3Dread<float>(s, x, y, z), s, x, y, z);
}

__global__ void line_of_each(cudaSurfaceObject_t s)
{
    surf1DLayeredwrite(2 * surf1DLayeredread<float>(s, threadIdx.x * 4, threadIdx.y), s, threadIdx.x * 4, threadIdx.y);
}

__global__ void picture_of_each(cudaSurfaceObject_t s)
{
    int x = threadIdx.x * 4, y = threadIdx.y, z = threadIdx.z;
    surf2DLayeredwrite(2 * surf2DLayeredread<float>(s, x, y, z), s, x, y, z);
}

__global__ void face_of_each(cudaSurfaceObject_t s)
{
    int x = threadIdx.x * 4, y = threadIdx.y, face = threadIdx.z;
    surfCubemapwrite(2 * surfCubemapread<float>(s, x, y, face), s, x, y, face);
}

__global__ void faces_of_each(cudaTextureObject_t t, float *out)
{
    float to[3] = {0.1f, 0.1f, 0.1f};
    to[threadIdx.x / 2] = threadIdx.x % 2 ? -1.0f : 1.0f;
    out[threadIdx.y * 6 + threadIdx.x] = texCubemapLayered<float>(t, to[0], to[1], to[2], threadIdx.y);
}

// One component of elements that have two.
__global__ void gathers_second(cudaTextureObject_t t, float *out)
{
    float4 v = tex2Dgather<float4>(t, 1.0f, 1.0f, 1);
    out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w;
}

__global__ void face_of_each_layer(cudaSurfaceObject_t s)
{
    int x = threadIdx.x * 4, y = threadIdx.y, face = threadIdx.z;
    surfCubemapLayeredwrite(2 * surfCubemapLayeredread<float>(s, x, y, face), s, x, y, face);
}

// A fetch reads an element of up to four components.
__global__ void tuples(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex1Dfetch<float4>(t, threadIdx.x).w; }
