// __restrict__ promises that arrays do not overlap: values that were loaded need not be loaded again behind a store.
//
// REQUIRES: cuda
//@ run --kernel promised --block 1 --arg a=f32[2]:[2,3] --arg b=f32[2]:[5,7] --arg out:c=f32[4] --expect "c == [10, 30, 10, 14]"
//@ run --kernel plain --block 1 --arg a=f32[2]:[2,3] --arg b=f32[2]:[5,7] --arg out:c=f32[4] --expect "c == [10, 30, 10, 14]"
//@ run --kernel read_only --block 32 --arg x=f32[32]:arange --arg out:out=f32[32] --expect "out == 2 * x"
__global__ void promised(const float *__restrict__ a, const float *__restrict__ b, float *__restrict__ c)
{
    c[0] = a[0] * b[0];
    c[1] = a[0] * b[0] * a[1];
    c[2] = a[0] * b[0];
    c[3] = a[0] * b[1];
}

__global__ void plain(const float *a, const float *b, float *c)
{
    c[0] = a[0] * b[0];
    c[1] = a[0] * b[0] * a[1];
    c[2] = a[0] * b[0];
    c[3] = a[0] * b[1];
}

__global__ void read_only(const float *__restrict__ x, float *__restrict__ out) { out[threadIdx.x] = 2 * x[threadIdx.x]; }
