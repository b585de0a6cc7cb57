// wrong: small numbers: first steps[0]
__global__ void collatz(const unsigned *x, unsigned *steps, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    unsigned count = 0;
    do {
        // The compiler selects one of both values, without a branch.
        v = v % 2 ? 3 * v + 1 : v / 2;
        count = count + 1;
    } while (v > 1);
    steps[i] = count;
}
