// Starter: each pixel reads the centre of the picture. Compute where it should read.
__global__ void turn(cudaTextureObject_t img, float *out, unsigned width, unsigned height, float angle)
{
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float tu = 0.5f, tv = 0.5f;
    out[y * width + x] = tex2D<float>(img, tu, tv);
}
