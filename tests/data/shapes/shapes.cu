// Shapes of well-known suites under checkers: irregular graph codes, barriers and groups, samples.  B == 0 is right; each other B has one error.
// A comment //! B TOOL stands at a line that a finding of this tool names.
// launch: GRID BLOCK ERRORS stands above each kernel.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

#define KERNEL template <int B> __global__ void
#define ARGUMENTS int *data, int *out, const int *first, const int *list, int n
#define SYNC_UNLESS(bug) if (B != bug) __syncthreads()

__device__ __forceinline__ int self() { return blockIdx.x * blockDim.x + threadIdx.x; }
__device__ __forceinline__ int look(int *p) { return atomicAdd(p, 0); }

// ---------------------------------------------------------------- graphs: n nodes, those behind node v in list[first[v]] to list[first[v + 1] - 1]

// launch: 2 24 3
KERNEL push(ARGUMENTS) {
    int v = self();
    if (B != 2 && v >= n) return;
    int end = first[v + 1];
    for (int j = first[v]; B == 3 ? j <= end : j < end; j++) { //! 2 memcheck
        int to = list[j]; //! 3 memcheck
        if (B == 1) data[to] += v; //! 1 racecheck
        else atomicAdd(&data[to], v);
    }
}

// launch: 2 24 3
KERNEL pull(ARGUMENTS) {
    int v = self(), sum = 0;
    if (B != 2 && v >= n) return;
    int end = first[v + 1];
    for (int j = first[v]; B == 3 ? j <= end : j < end; j++) { //! 2 memcheck
        int from = list[j]; //! 3 memcheck
        sum += data[from];
    }
    if (B == 1) data[v] = sum; //! 1 racecheck
    else out[v] = sum;
}

// launch: 2 24 1
KERNEL greatest_neighbour(ARGUMENTS) {
    int v = self();
    if (v >= n) return;
    for (int j = first[v]; j < first[v + 1]; j++) {
        if (B == 1) { if (out[0] < list[j]) out[0] = list[j]; } //! 1 racecheck
        else atomicMax(&out[0], list[j]);
    }
}

// launch: 2 24 2
KERNEL edges_upwards(ARGUMENTS) {
    int v = self();
    if (v >= n) return;
    for (int j = first[v]; j < first[v + 1]; j++)
        if (v < list[j]) {
            if (B == 1) out[0]++; //! 1 racecheck
            else atomicAdd(B == 2 ? &out[100 * n] : &out[0], 1); //! 2 memcheck
        }
}

// launch: 2 24 2
KERNEL worklist(ARGUMENTS) {
    int v = self();
    if (v >= n) return;
    for (int j = first[v]; j < first[v + 1]; j++) {
        int at;
        if (B == 1) at = data[0]++; //! 1 racecheck
        else at = atomicAdd(&data[0], 1);
        out[B == 2 ? at + 64 : at] = list[j]; //! 2 memcheck
    }
}

// launch: 2 16 2
KERNEL roots(ARGUMENTS) {
    int v = self();
    if (v >= n) return;
    for (int j = first[v]; j < first[v + 1]; j++) {
        int a = v, b = list[j];
        for (;;) {
            int up;
            while ((up = B == 2 ? data[a] : look(&data[a])) != 0 && up - 1 != a) a = up - 1; //! 2 racecheck
            while ((up = look(&data[b])) != 0 && up - 1 != b) b = up - 1;
            if (a == b) break;
            int low = min(a, b), high = max(a, b);
            if (B == 1) { data[high] = low + 1; break; } //! 1 racecheck
            if (atomicCAS(&data[high], 0, low + 1) == 0) break;
        }
    }
}

// launch: 2 24 2
KERNEL relax(ARGUMENTS) {
    int v = self();
    if (v >= n) return;
    int own = look(&data[v]);
    for (int j = first[v]; j < first[v + 1]; j++) {
        if (B == 1) data[list[j]] = min(data[list[j]], own + 1); //! 1 racecheck
        else atomicMin(&data[list[j]], own + 1);
        if (B == 2) out[0] = 1 + v; //! 2 racecheck
        else atomicExch(&out[0], 1);
    }
}

// ---------------------------------------------------------------- barriers and groups

// launch: 1 64 2
KERNEL neighbour(ARGUMENTS) {
    __shared__ int s[65];
    int t = threadIdx.x;
    s[t] = data[t];
    if (t == 0) s[64] = 0;
    if (B == 2) { if (t < 40) __syncthreads(); } //! 2 synccheck
    else SYNC_UNLESS(1);
    out[t] = s[t + 1]; //! 1 racecheck
}

// launch: 1 64 2
KERNEL shift(ARGUMENTS) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    SYNC_UNLESS(1);
    int next = s[(t + 33) % 64]; //! 1 racecheck
    SYNC_UNLESS(2);
    s[t] = next; //! 2 racecheck
    out[t] = s[t];
}

// launch: 2 32 2
KERNEL groups(ARGUMENTS) {
    out[B == 1 ? threadIdx.x : self()] = blockIdx.x; //! 1 racecheck
    if (threadIdx.x == 0) {
        if (B == 2) data[0] = blockIdx.x; //! 2 racecheck
        else data[blockIdx.x] = 1;
    }
}

// launch: 1 64 1
KERNEL turns(ARGUMENTS) {
    int t = threadIdx.x, count = B == 1 ? 1 + t / 32 * 2 : 3;
    for (int k = 0; k < count; k++) {
        if (k == 0 || B != 1 || t < 48)
            __syncthreads(); //! 1 synccheck
        out[t] = k;
    }
}

// launch: 1 64 2
KERNEL counter(ARGUMENTS) {
    __shared__ int count;
    if (B != 2) { if (threadIdx.x == 0) count = 0; }
    SYNC_UNLESS(1);
    atomicAdd(&count, 1); //! 1 racecheck //! 2 initcheck
    __syncthreads();
    if (threadIdx.x == 40) out[0] = count;
}

// launch: 1 64 2
KERNEL stencil(ARGUMENTS) {
    __shared__ int s[2][66];
    int t = threadIdx.x;
    for (int k = t; k < 66; k += 64) s[0][k] = k, s[1][k] = 0;
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        int v = s[k & 1][t] + s[k & 1][t + 2]; //! 1 racecheck
        s[B == 2 ? k & 1 : ~k & 1][t + 1] = v; //! 2 racecheck
        SYNC_UNLESS(1);
    }
    out[t] = s[1][t + 1];
}

// launch: 1 64 2
KERNEL product(ARGUMENTS) {
    __shared__ int a[8][8], b[8][8];
    int x = threadIdx.x % 8, y = threadIdx.x / 8, sum = 0;
    for (int k = 0; k < 2; k++) {
        a[y][x] = data[y * 8 + x] + k; //! 2 racecheck
        b[y][x] = data[x * 8 + y] - k;
        SYNC_UNLESS(1);
        for (int i = 0; i < 8; i++) sum += a[y][i] * b[i][x]; //! 1 racecheck
        SYNC_UNLESS(2);
    }
    out[y * 8 + x] = sum;
}

// ---------------------------------------------------------------- samples

// launch: 2 64 4
KERNEL reduction(ARGUMENTS) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (B != 4 || t < 60) s[t] = data[self() % 64];
    __syncthreads();
    for (int half = 32; half > 0; half >>= 1) {
        if (t < half) {
            s[t] += s[t + half]; //! 1 racecheck //! 4 initcheck
            if (B == 2) __syncthreads(); //! 2 synccheck
        }
        if (B != 1 && B != 2) __syncthreads();
    }
    if (t == 0) out[B == 3 ? blockIdx.x * 64 : blockIdx.x] = s[0]; //! 3 memcheck
}

// launch: 1 32 1
KERNEL last_warp(ARGUMENTS) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t], s[t + 32] = 0;
    __syncwarp();
    for (int half = 16; half > 0; half >>= 1) {
        int v = s[t] + s[t + half]; //! 1 racecheck
        if (B != 1) __syncwarp();
        s[t] = v;
        if (B != 1) __syncwarp();
    }
    if (t == 0) out[0] = s[0];
}

// launch: 1 64 2
KERNEL scan(ARGUMENTS) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int d = 1; d < 64; d *= 2) {
        int v = B == 2 ? s[t - d < 0 ? 70 + t : t - d] : t >= d ? s[t - d] : 0; //! 2 memcheck
        __syncthreads();
        s[t] += v; //! 1 racecheck
        SYNC_UNLESS(1);
    }
    out[t] = s[t];
}

// launch: 2 64 4
KERNEL histogram(ARGUMENTS) {
    __shared__ int bins[16];
    int t = threadIdx.x;
    if (B != 4 && t < 16) bins[t] = 0;
    SYNC_UNLESS(2);
    int bin = B == 3 ? list[t] + 12 : list[t] % 16;
    if (B == 1) bins[bin]++; //! 1 racecheck
    else atomicAdd(&bins[bin], 1); //! 2 racecheck //! 3 memcheck //! 4 initcheck
    __syncthreads();
    if (t < 16) atomicAdd(&out[t], bins[t]);
}

// launch: 1 64 2
KERNEL transpose(ARGUMENTS) {
    __shared__ int tile[8][9];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    tile[y][x] = data[y * 8 + x];
    SYNC_UNLESS(1);
    out[B == 2 ? x * 16 + y : y * 8 + x] = tile[x][y]; //! 1 racecheck //! 2 memcheck
}

// launch: 1 64 1
KERNEL bitonic(ARGUMENTS) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = 64 - t, s[t + 64] = t * 7 % 61;
    for (int size = 2; size <= 128; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            SYNC_UNLESS(1);
            int at = 2 * t - (t & (stride - 1));
            bool down = (t & (size / 2)) != 0;
            int a = s[at], b = s[at + stride]; //! 1 racecheck
            if ((a > b) != down) s[at] = b, s[at + stride] = a;
        }
    __syncthreads();
    out[t] = s[t];
}

// launch: 2 1 2
KERNEL producer(ARGUMENTS) {
    volatile int *flag = data;
    if (blockIdx.x == 0) {
        out[0] = 42;
        if (B != 1) __threadfence();
        if (B == 2) data[0] = 1;
        else *flag = 1;
    } else {
        while (*flag == 0) //! 2 racecheck
            ;
        __threadfence();
        out[1] = out[0]; //! 1 racecheck
    }
}

// launch: 1 64 1
KERNEL hand_over(ARGUMENTS) {
    __shared__ int box[32];
    int lane = threadIdx.x % 32;
    for (int k = 0; k < 3; k++) {
        if (threadIdx.x < 32) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            box[lane] = k;
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            if (B != 1) asm volatile("bar.sync 2, 64;" ::: "memory");
            else asm volatile("bar.arrive 2, 64;" ::: "memory");
            out[lane] = box[31 - lane]; //! 1 racecheck
        }
    }
    asm volatile("bar.sync 1, 64;" ::: "memory");
}

// launch: 1 64 2
KERNEL tiles(ARGUMENTS) {
    __shared__ int s[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<16> tile = cg::tiled_partition<16>(block);
    int t = block.thread_rank();
    s[t] = data[t];
    if (B != 1) tile.sync();
    int v = s[t ^ 5]; //! 1 racecheck
    if (B != 2) block.sync();
    s[63 - t] = v; //! 2 racecheck
    block.sync();
    out[t] = s[t] + tile.shfl_down(v, 1);
}

// launch: 4 32 2
KERNEL last_block(ARGUMENTS) {
    __shared__ bool last;
    int t = threadIdx.x;
    if (t == 0) {
        data[blockIdx.x] = blockIdx.x + 1;
        if (B != 1) __threadfence();
        last = atomicAdd(&data[63], 1) == 3;
    }
    if (B != 2) __syncthreads();
    if (last && t < 4) { //! 2 racecheck
        __threadfence();
        out[t] = data[t]; //! 1 racecheck
    }
}

// launch: 3 1 2
KERNEL lock(ARGUMENTS) {
    while (atomicCAS(&data[0], 0, 1) != 0)
        ;
    if (B != 2) __threadfence();
    out[0] = out[0] + 1; //! 1 racecheck //! 2 racecheck
    if (B != 1) __threadfence();
    atomicExch(&data[0], 0);
}

// launch: 1 32 1
KERNEL warp_sum(ARGUMENTS) {
    int v = data[threadIdx.x];
    if (threadIdx.x < 24)
        v += __shfl_down_sync(0xffffff, v, 1, B == 1 ? 32 : 8); //! 1 synccheck
    out[threadIdx.x] = v;
}
