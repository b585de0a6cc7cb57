// wrong: the loop has no branch but its own: branches
__global__ void collatz(const unsigned *x, unsigned *steps, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    unsigned count = 0;
    while (v > 1) {
        // The compiler selects one of both values, without a branch.
        if (v % 2) { v = 3 * v + 1; __threadfence_block(); } else { v = v / 2; }  // no selection can replace a fence
        count = count + 1;
    }
    steps[i] = count;
}
