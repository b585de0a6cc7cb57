// Scans, reductions and what is built of them.

// Prefix sums within blocks, in shared memory
extern "C" __global__ void block_scan(int n, const int *in, int *out, int *total)
{
    __shared__ int tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x, t = threadIdx.x;
    tile[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int s = 1; s < 256; s *= 2) {
        int x = t >= s ? tile[t - s] : 0;
        __syncthreads();
        tile[t] += x;
        __syncthreads();
    }
    if (i < n)
        out[i] = tile[t];
    if (t == 255)
        total[blockIdx.x] = tile[t];
}

// A sum: each thread some elements, then shuffles, then one addition a block
extern "C" __global__ void reduce_shuffle(int n, const float *in, float *sum)
{
    __shared__ float parts[8];
    float mine = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += in[i];
    for (int s = 16; s > 0; s >>= 1)
        mine += __shfl_down_sync(0xffffffff, mine, s);
    if (threadIdx.x % 32 == 0)
        parts[threadIdx.x / 32] = mine;
    __syncthreads();
    if (threadIdx.x < 32) {
        mine = threadIdx.x < 8 ? parts[threadIdx.x] : 0.0f;
        for (int s = 4; s > 0; s >>= 1)
            mine += __shfl_down_sync(0xffffffff, mine, s);
        if (threadIdx.x == 0)
            atomicAdd(sum, mine);
    }
}

// Sums of segments: lanes of a warp in one segment add up first
extern "C" __global__ void segmented_sum(int n, const int *segment, const float *value, float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    int mine = i < n ? segment[i] : -1;
    float x = i < n ? value[i] : 0.0f;
    for (int s = 1; s < 32; s *= 2) {
        float other = __shfl_up_sync(0xffffffff, x, s);
        int theirs = __shfl_up_sync(0xffffffff, mine, s);
        if (lane >= s && theirs == mine)
            x += other;
    }
    int next = __shfl_down_sync(0xffffffff, mine, 1);
    if (mine >= 0 && (lane == 31 || next != mine))
        atomicAdd(&sum[mine], x);
}

// Keeps what is positive, a place for each by an atomic
extern "C" __global__ void compact_atomic(int n, const float *in, float *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.0f)
        out[atomicAdd(count, 1)] = in[i];
}

// Keeps what is positive, one atomic a warp
extern "C" __global__ void compact_warp(int n, const float *in, float *out, int *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    float x = i < n ? in[i] : 0.0f;
    unsigned kept = __ballot_sync(0xffffffff, x > 0.0f);
    int first = 0;
    if (lane == 0 && kept)
        first = atomicAdd(count, __popc(kept));
    first = __shfl_sync(0xffffffff, first, 0);
    if (x > 0.0f)
        out[first + __popc(kept & ((1u << lane) - 1))] = x;
}

// Keeps what is positive at places a scan has found
extern "C" __global__ void compact_scanned(int n, const float *in, const int *before, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && in[i] > 0.0f)
        out[before[i]] = in[i];
}

// A histogram of floats in global memory
extern "C" __global__ void histogram_global(int n, int bins, float low, float high, const float *data, unsigned *count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int bin = (int)((data[i] - low) / (high - low) * bins);
    if (bin >= 0 && bin < bins)
        atomicAdd(&count[bin], 1u);
}

// A dot product, summed up by a tree in shared memory
extern "C" __global__ void dot(int n, const double *a, const double *b, double *partial)
{
    __shared__ double tile[256];
    double mine = 0.0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        mine += a[i] * b[i];
    tile[threadIdx.x] = mine;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s /= 2) {
        if (threadIdx.x < s)
            tile[threadIdx.x] += tile[threadIdx.x + s];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        partial[blockIdx.x] = tile[0];
}

// The least and the most, by atomics on integers
extern "C" __global__ void min_max(int n, const int *in, int *least, int *most)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    atomicMin(least, in[i]);
    atomicMax(most, in[i]);
}

// A column's sum a thread: rows are read side by side
extern "C" __global__ void column_sums(int width, int height, const float *in, float *sum)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x >= width)
        return;
    float s = 0.0f;
    for (int y = 0; y < height; y++)
        s += in[y * width + x];
    sum[x] = s;
}
