// Pitched and three-dimensional copies, arrays, and memory pools.
#include "check.h"

__global__ void scale(float *p, size_t pitch, int w, int h) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < w && y < h) ((float *)((char *)p + y * pitch))[x] *= 2;
}

int main() {
    const int w = 37, h = 11, d = 5;
    float a[h][w], b[h][w], *p;
    size_t pitch;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) a[y][x] = y * 100 + x;
    CUDA(cudaMallocPitch(&p, &pitch, w * 4, h));
    CUDA(cudaMemcpy2D(p, pitch, a, w * 4, w * 4, h, cudaMemcpyHostToDevice));
    scale<<<h, 64>>>(p, pitch, w, h);
    CUDA(cudaMemcpy2D(b, w * 4, p, pitch, w * 4, h, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) CHECK(b[y][x] == 2 * a[y][x]);

    cudaPitchedPtr box;
    CUDA(cudaMalloc3D(&box, make_cudaExtent(w, h, d)));
    CUDA(cudaMemset3D(box, 7, make_cudaExtent(w, h, d)));
    static unsigned char back[d][h][w];
    cudaMemcpy3DParms c = {};
    c.srcPtr = box;
    c.dstPtr = make_cudaPitchedPtr(back, w, w, h);
    c.extent = make_cudaExtent(w, h, d);
    c.kind = cudaMemcpyDeviceToHost;
    CUDA(cudaMemcpy3D(&c));
    CHECK(back[0][0][0] == 7 && back[d - 1][h - 1][w - 1] == 7);

    cudaArray_t array;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    CUDA(cudaMallocArray(&array, &f, w, h));
    CUDA(cudaMemcpy2DToArray(array, 0, 0, a, w * 4, w * 4, h, cudaMemcpyHostToDevice));
    float *q;
    CUDA(cudaMallocAsync(&q, sizeof a, 0));
    CUDA(cudaMemcpy2DFromArray(q, w * 4, array, 0, 0, w * 4, h, cudaMemcpyDeviceToDevice));
    CUDA(cudaMemcpy(b, q, sizeof a, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) CHECK(b[y][x] == a[y][x]);
    CUDA(cudaMemcpyToArray(array, 8, 1, a, 2 * w * 4, cudaMemcpyHostToDevice));  // from the third texel of a row to the next but one
    CUDA(cudaMemcpyFromArray(b, array, 8, 1, 2 * w * 4, cudaMemcpyDeviceToHost));
    for (int x = 0; x < w; x++) CHECK(b[0][x] == a[0][x] && b[1][x] == a[1][x]);
    CUDA(cudaFreeAsync(q, 0));
    cudaMemPool_t pool;
    CUDA(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long keep = 1 << 20, kept = 0;
    CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    CUDA(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    CHECK(kept == keep);
    CUDA(cudaFreeArray(array));
    size_t free_bytes, all_bytes;
    CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
    CHECK(free_bytes < all_bytes);
    printf("copies: right\n");
}
