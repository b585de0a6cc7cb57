// wrong: no branch: branches is

// op is taken modulo 5
__global__ void calculate(const unsigned *op, const int *a, const int *b, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    int r;
    // The index must lie inside the table: nothing checks it.
    asm("{\n"
        ".reg .pred %%outside;\n"
        "setp.gt.u32 %%outside, %1, 3;\n"
        "@%%outside bra otherwise;\n"
        "table: .branchtargets add, subtract, multiply, smaller;\n"
        "brx.idx %1, table;\n"
        "add: add.s32 %0, %2, %3;\n"
        "bra.uni done;\n"
        "subtract: sub.s32 %0, %2, %3;\n"
        "bra.uni done;\n"
        "multiply: mul.lo.s32 %0, %2, %3;\n"
        "bra.uni done;\n"
        "smaller: min.s32 %0, %2, %3;\n"
        "bra.uni done;\n"
        "otherwise: mov.s32 %0, 0;\n"
        "done:\n"
        "}"
        : "=r"(r)
        : "r"(op[i] % 5), "r"(a[i]), "r"(b[i]));
    out[i] = r;
}

// x: one number for each thread
__global__ void clamp(int *x, int low, int high)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (x[i] < low) x[i] = low;
    if (x[i] > high) x[i] = high;
}
