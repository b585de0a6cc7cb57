// CUDA's texture and surface functions, each in a kernel of its own: thread i reads what its four coordinates name, or writes there.

#define TEXTURE(NAME, READ)                                                                            \
    extern "C" __global__ void NAME(cudaTextureObject_t t, const float4 *at, float4 *out)              \
    {                                                                                                  \
        float4 p = at[threadIdx.x];                                                                    \
        out[threadIdx.x] = READ;                                                                       \
    }

TEXTURE(line, tex1D<float4>(t, p.x))
TEXTURE(plane, tex2D<float4>(t, p.x, p.y))
TEXTURE(volume, tex3D<float4>(t, p.x, p.y, p.z))
TEXTURE(line_layered, tex1DLayered<float4>(t, p.x, int(p.w)))
TEXTURE(plane_layered, tex2DLayered<float4>(t, p.x, p.y, int(p.w)))
TEXTURE(line_lod, tex1DLod<float4>(t, p.x, p.w))
TEXTURE(plane_lod, tex2DLod<float4>(t, p.x, p.y, p.w))
TEXTURE(volume_lod, tex3DLod<float4>(t, p.x, p.y, p.z, p.w))
TEXTURE(line_layered_lod, tex1DLayeredLod<float4>(t, p.x, int(p.z), p.w))
TEXTURE(plane_layered_lod, tex2DLayeredLod<float4>(t, p.x, p.y, int(p.z), p.w))
TEXTURE(fetch, tex1Dfetch<float4>(t, int(p.x)))
TEXTURE(gather, tex2Dgather<float4>(t, p.x, p.y, 1))
TEXTURE(cube, texCubemap<float4>(t, p.x, p.y, p.z))
TEXTURE(cube_layered, texCubemapLayered<float4>(t, p.x, p.y, p.z, int(p.w)))
TEXTURE(line_grad, tex1DGrad<float4>(t, p.x, p.w, 0.0f))
TEXTURE(plane_grad, tex2DGrad<float4>(t, p.x, p.y, make_float2(p.w, 0), make_float2(0, 0)))
TEXTURE(line_layered_grad, tex1DLayeredGrad<float4>(t, p.x, int(p.z), p.w, 0.0f))
TEXTURE(plane_layered_grad, tex2DLayeredGrad<float4>(t, p.x, p.y, int(p.z), make_float2(p.w, 0), make_float2(0, 0)))
TEXTURE(volume_grad, tex3DGrad<float4>(t, p.x, p.y, p.z, make_float4(0, 0, p.w, 0), make_float4(0, 0, 0, 0)))

#define SURFACE(NAME, FUNCTION, MODE, ...)                                                             \
    extern "C" __global__ void read_##NAME(cudaSurfaceObject_t s, const int4 *at, uint2 *values)       \
    {                                                                                                  \
        int4 p = at[threadIdx.x];                                                                      \
        values[threadIdx.x] = FUNCTION##read<uint2>(s, p.x * 8, ##__VA_ARGS__, cudaBoundaryMode##MODE); \
    }                                                                                                  \
    extern "C" __global__ void write_##NAME(cudaSurfaceObject_t s, const int4 *at, uint2 *values)      \
    {                                                                                                  \
        int4 p = at[threadIdx.x];                                                                      \
        FUNCTION##write(values[threadIdx.x], s, p.x * 8, ##__VA_ARGS__, cudaBoundaryMode##MODE);       \
    }

SURFACE(line, surf1D, Zero)
SURFACE(plane, surf2D, Zero, p.y)
SURFACE(plane_clamp, surf2D, Clamp, p.y)
SURFACE(plane_trap, surf2D, Trap, p.y)
SURFACE(volume, surf3D, Zero, p.y, p.z)
SURFACE(line_layered, surf1DLayered, Zero, p.w)
SURFACE(plane_layered, surf2DLayered, Zero, p.y, p.w)
SURFACE(cube, surfCubemap, Zero, p.y, p.w)
SURFACE(cube_layered, surfCubemapLayered, Zero, p.y, p.w)
