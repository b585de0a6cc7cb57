// The place of a pixel, turned about the centre of the picture, is where the texture is read.
__global__ void turn(cudaTextureObject_t img, float *out, unsigned width, unsigned height, float angle)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = (x + 0.5f) / width - 0.5f, v = (y + 0.5f) / height - 0.5f;
    float tu = u * __cosf(angle) - v * __sinf(angle) + 0.5f;
    float tv = v * __cosf(angle) + u * __sinf(angle) + 0.5f;
    out[y * width + x] = tex2D<float>(img, tu, tv);
}
