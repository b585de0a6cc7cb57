// A texel's number is taken for the place of its centre.
// wrong: not turned: differ
__global__ void turn(cudaTextureObject_t img, float *out, unsigned width, unsigned height, float angle)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float u = float(x) / width - 0.5f, v = float(y) / height - 0.5f;
    float tu = u * __cosf(angle) - v * __sinf(angle) + 0.5f;
    float tv = v * __cosf(angle) + u * __sinf(angle) + 0.5f;
    out[y * width + x] = tex2D<float>(img, tu, tv);
}
