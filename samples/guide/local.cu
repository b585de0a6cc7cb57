// Local memory: an array whose index is known only at run time lies there; one whose indices are constants lies in registers.
//
// REQUIRES: cuda
//@ run --kernel indexed --block 32 --arg x=s32[32]:arange --arg out:out=s32[32] --expect "out == 3 * (arange(32) % 8)"
//@ run --kernel constant --block 32 --arg x=s32[32]:arange --arg out:out=s32[32] --expect "out == 28 * arange(32)"
__global__ void indexed(const int *x, int *out)
{
    int table[8];
    for (int i = 0; i < 8; i++) table[i] = 3 * i;
    out[threadIdx.x] = table[x[threadIdx.x] % 8];
}

__global__ void constant(const int *x, int *out)
{
    int table[8], sum = 0;
    for (int i = 0; i < 8; i++) table[i] = i * x[threadIdx.x];
    for (int i = 0; i < 8; i++) sum += table[i];
    out[threadIdx.x] = sum;
}
