// Starter: takes one step, whatever x is.
__global__ void collatz(const unsigned *x, unsigned *steps, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    unsigned count = 0;

    // One step for an odd number; a loop is missing, and the even numbers.
    v = 3 * v + 1;
    count = count + 1;
    steps[i] = count;
}
