// What a program can ask each device for.
#include "../../exec/check.h"

int main()
{
    int devices;
    cudaDeviceProp p[8];
    CUDA(cudaGetDeviceCount(&devices));
    for (int i = 0; i < devices; i++) CUDA(cudaGetDeviceProperties(&p[i], i));
    auto row = [&](const char *name, auto values) {
        printf("%-24s", name);
        for (int i = 0; i < devices; i++) {
            char text[64];
            values(text, p[i]);
            printf(" %18s", text);
        }
        printf("\n");
    };
#define ROW(name, ...) row(name, [](char *text, const cudaDeviceProp &p) { snprintf(text, 64, __VA_ARGS__); })
    ROW("capability", "%d.%d", p.major, p.minor);
    ROW("multiprocessors", "%d", p.multiProcessorCount);
    ROW("registers per block", "%d", p.regsPerBlock);
    ROW("shared memory per block", "%zu", p.sharedMemPerBlock);
    ROW("warp size", "%d", p.warpSize);
    ROW("integrated", "%d", p.integrated);
    ROW("maps host memory", "%d", p.canMapHostMemory);
    ROW("concurrent kernels", "%d", p.concurrentKernels);
    ROW("1D texture", "%d", p.maxTexture1D);
    ROW("1D layered texture", "%d, %d", p.maxTexture1DLayered[0], p.maxTexture1DLayered[1]);
    ROW("2D texture", "%d, %d", p.maxTexture2D[0], p.maxTexture2D[1]);
    ROW("2D texture, linear", "%d, %d", p.maxTexture2DLinear[0], p.maxTexture2DLinear[1]);
    ROW("2D texture, gather", "%d, %d", p.maxTexture2DGather[0], p.maxTexture2DGather[1]);
    ROW("2D layered texture", "%d, %d, %d", p.maxTexture2DLayered[0], p.maxTexture2DLayered[1], p.maxTexture2DLayered[2]);
    ROW("3D texture", "%d, %d, %d", p.maxTexture3D[0], p.maxTexture3D[1], p.maxTexture3D[2]);
    ROW("cubemap texture", "%d", p.maxTextureCubemap);
    ROW("cubemap layered texture", "%d, %d", p.maxTextureCubemapLayered[0], p.maxTextureCubemapLayered[1]);
    ROW("1D surface", "%d", p.maxSurface1D);
    ROW("1D layered surface", "%d, %d", p.maxSurface1DLayered[0], p.maxSurface1DLayered[1]);
    ROW("2D surface", "%d, %d", p.maxSurface2D[0], p.maxSurface2D[1]);
    ROW("2D layered surface", "%d, %d, %d", p.maxSurface2DLayered[0], p.maxSurface2DLayered[1], p.maxSurface2DLayered[2]);
    ROW("3D surface", "%d, %d, %d", p.maxSurface3D[0], p.maxSurface3D[1], p.maxSurface3D[2]);
    ROW("cubemap surface", "%d", p.maxSurfaceCubemap);
    ROW("cubemap layered surface", "%d, %d", p.maxSurfaceCubemapLayered[0], p.maxSurfaceCubemapLayered[1]);
}
