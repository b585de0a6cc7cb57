// Hash tables and filters.

#define EMPTY 0xffffffffu

__device__ unsigned mix(unsigned x)
{
    x ^= x >> 16;
    x *= 0x85ebca6bu;
    x ^= x >> 13;
    x *= 0xc2b2ae35u;
    return x ^ (x >> 16);
}

// Inserts keys and values, open addressing with linear probing
extern "C" __global__ void hash_insert(int n, unsigned mask, const unsigned *key, const unsigned *value, unsigned *keys, unsigned *values)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = key[i];
    unsigned slot = mix(k) & mask;
    while (true) {
        unsigned old = atomicCAS(&keys[slot], EMPTY, k);
        if (old == EMPTY || old == k) {
            values[slot] = value[i];
            return;
        }
        slot = (slot + 1) & mask;
    }
}

// Looks keys up, open addressing with linear probing over pairs of key and value
extern "C" __global__ void hash_lookup(int n, unsigned mask, const unsigned *key, const uint2 *table, unsigned *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = key[i];
    unsigned slot = mix(k) & mask, result = EMPTY;
    for (;;) {
        uint2 entry = table[slot];
        if (entry.x == k)
            result = entry.y;
        if (entry.x == k || entry.x == EMPTY)
            break;
        slot = (slot + 1) & mask;
    }
    found[i] = result;
}

// Looks keys up where each has two places
extern "C" __global__ void cuckoo_lookup(int n, unsigned mask, const unsigned *key, const unsigned *table, unsigned char *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned k = key[i];
    bool there = table[mix(k) & mask] == k;
    if (!there)
        there = table[mix(k ^ 0x9e3779b9u) & mask] == k;
    found[i] = there;
}

// Asks a Bloom filter with three bits a key
extern "C" __global__ void bloom_query(int n, unsigned mask, const unsigned *key, const unsigned *bits, unsigned char *maybe)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = mix(key[i]), b = mix(a) | 1;
    bool all = true;
    for (int h = 0; h < 3 && all; h++) {
        unsigned bit = (a + h * b) & mask;
        all = bits[bit >> 5] >> (bit & 31) & 1;
    }
    maybe[i] = all;
}

// Sums and counts by key, a group a key
extern "C" __global__ void group_sum(int n, const unsigned short *group, const float *value, float *sum, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicAdd(&sum[group[i]], value[i]);
    atomicAdd(&count[group[i]], 1);
}
