// Sorting, merging, searching.

// One step of a bitonic sort in global memory
extern "C" __global__ void bitonic_step(float *data, int j, int k)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned other = i ^ j;
    if (other > i) {
        bool up = (i & k) == 0;
        if ((data[i] > data[other]) == up) {
            float t = data[i];
            data[i] = data[other];
            data[other] = t;
        }
    }
}

// Sorts what a block holds, in shared memory
extern "C" __global__ void bitonic_block(int *data)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    tile[t] = data[blockIdx.x * 128 + t];
    __syncthreads();
    for (int k = 2; k <= 128; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                int a = tile[t], b = tile[other];
                if ((a > b) == ((t & k) == 0)) {
                    tile[t] = b;
                    tile[other] = a;
                }
            }
            __syncthreads();
        }
    }
    data[blockIdx.x * 128 + t] = tile[t];
}

// Counts a digit of four bits by block
extern "C" __global__ void radix_count(int n, const unsigned *keys, int shift, unsigned *counts)
{
    __shared__ unsigned bins[16];
    if (threadIdx.x < 16)
        bins[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&bins[keys[i] >> shift & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        counts[threadIdx.x * gridDim.x + blockIdx.x] = bins[threadIdx.x];
}

// Brings keys with a zero bit to the front, given the zeros before each
extern "C" __global__ void radix_scatter(int n, const unsigned *keys, const unsigned *zeros, unsigned all, int bit, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned key = keys[i], before = zeros[i];
    out[key >> bit & 1 ? all + i - before : before] = key;
}

// Merges two sorted arrays, four results a thread, which looks for its part first
extern "C" __global__ void merge_path(int na, int nb, const int *a, const int *b, int *out)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    if (first >= na + nb)
        return;
    int low = max(0, first - nb), high = min(first, na);
    while (low < high) {
        int middle = (low + high) / 2;
        if (a[middle] <= b[first - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    int i = low, j = first - low;
    for (int k = first; k < min(first + 4, na + nb); k++)
        out[k] = j >= nb || (i < na && a[i] <= b[j]) ? a[i++] : b[j++];
}

// Where numbers belong in a sorted array
extern "C" __global__ void binary_search(int queries, int n, const float *wanted, const float *sorted, int *place)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= queries)
        return;
    float x = wanted[i];
    int low = 0, high = n;
    while (low < high) {
        int middle = (low + high) >> 1;
        if (sorted[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    place[i] = low;
}

// A phase of an odd-even sort, a pair a thread
extern "C" __global__ void odd_even_sort(int n, int phase, int *data)
{
    int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + phase;
    if (i + 1 < n && data[i] > data[i + 1]) {
        int t = data[i];
        data[i] = data[i + 1];
        data[i + 1] = t;
    }
}

// Insertion sort of a row a thread
extern "C" __global__ void insertion_sort(int rows, int width, int *data)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    int *mine = data + row * width;
    for (int i = 1; i < width; i++) {
        int x = mine[i], j = i - 1;
        while (j >= 0 && mine[j] > x) {
            mine[j + 1] = mine[j];
            j--;
        }
        mine[j + 1] = x;
    }
}

// Strikes the multiples of some primes out, a stretch of numbers a thread
extern "C" __global__ void sieve(int stretches, int length, int primes, const int *prime, unsigned char *composite)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= stretches)
        return;
    unsigned begin = i * length, end = begin + length;
    for (int q = 0; q < primes; q++) {
        unsigned p = prime[q];
        for (unsigned m = max(p * p, (begin + p - 1) / p * p); m < end; m += p)
            composite[m] = 1;
    }
}
