// wrong: colours: first out[

// pixels: 0x00RRGGBB, one for each thread; out: 0x00YYYYYY with Y = (77 R + 150 G + 29 B) / 256
__global__ void grey(const unsigned *pixels, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = pixels[i], red, green;
    asm("bfe.u32 %0, %1, 16, 8;" : "=r"(red) : "r"(v));
    asm("bfe.u32 %0, %1, 8, 8;" : "=r"(green) : "r"(v));
    unsigned y = 77 * red + 150 * green + 29 * (v & 255);
    asm("prmt.b32 %0, %0, 0, 0x4222;" : "+r"(y)); // byte 1 three times, above it a zero
    out[i] = y;
}
