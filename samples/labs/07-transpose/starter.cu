// Starter: right, and the stores follow columns.

// width, height: of src, multiples of 32
__global__ void transpose(const float *src, float *out, unsigned width, unsigned height)
{
    unsigned x = blockIdx.x * 32 + threadIdx.x;
    for (unsigned k = threadIdx.y; k < 32; k += 8) {
        unsigned y = blockIdx.y * 32 + k;
        out[x * height + y] = src[y * width + x];
    }
}
