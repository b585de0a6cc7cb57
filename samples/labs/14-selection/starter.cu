// Starter: an instruction for each operator, and some of them are long.

// pixels: 0x00RRGGBB, one for each thread; out: 0x00YYYYYY with Y = (77 R + 150 G + 29 B) / 256
__global__ void grey(const unsigned *pixels, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = pixels[i], y, t;
    asm("div.u32 %0, %1, 65536;" : "=r"(y) : "r"(v));
    asm("mul.lo.u32 %0, %0, 77;" : "+r"(y));
    asm("div.u32 %0, %1, 256;" : "=r"(t) : "r"(v));
    asm("rem.u32 %0, %0, 256;" : "+r"(t));
    asm("mul.lo.u32 %0, %0, 150;" : "+r"(t));
    asm("add.u32 %0, %0, %1;" : "+r"(y) : "r"(t));
    asm("rem.u32 %0, %1, 256;" : "=r"(t) : "r"(v));
    asm("mul.lo.u32 %0, %0, 29;" : "+r"(t));
    asm("add.u32 %0, %0, %1;" : "+r"(y) : "r"(t));
    asm("div.u32 %0, %0, 256;" : "+r"(y));
    asm("mul.lo.u32 %0, %0, 65793;" : "+r"(y)); // three bytes alike
    out[i] = y;
}
