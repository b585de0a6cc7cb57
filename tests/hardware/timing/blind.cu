// Kernels that the model of time was not tuned on: `record.py` beside this file times their launches on a GPU.
#include <cuda_fp16.h>

#define KERNEL extern "C" __global__ void
__device__ int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

KERNEL axpby(const float *x, const float *y, float *out, float a, float b, int n) {
    int i = index();
    if (i < n) out[i] = a * x[i] + b * y[i];
}
KERNEL axpby4(const float4 *x, const float4 *y, float4 *out, float a, float b, int n) {
    int i = index();
    if (i < n) {
        float4 p = x[i], q = y[i];
        out[i] = make_float4(a * p.x + b * q.x, a * p.y + b * q.y, a * p.z + b * q.z, a * p.w + b * q.w);
    }
}
KERNEL strided_read(const float *x, float *out, int stride, int n) {
    int i = index();
    if (i < n) out[i] = x[(i * stride) & ((1 << 24) - 1)] + 1.0f;
}
KERNEL gather(const unsigned *at, const float *x, float *out, int n) {
    int i = index();
    if (i < n) out[i] = x[at[i]];
}
KERNEL scatter(const unsigned *at, const float *x, float *out, int n) {
    int i = index();
    if (i < n) out[at[i]] = x[i];
}
KERNEL horner(const float *x, float *out, int degree, int n) {
    int i = index();
    if (i >= n) return;
    float v = x[i], s = 1.0f;
    for (int k = degree; k > 0; k--) s = s * v + (float)k;
    out[i] = s;
}
KERNEL horner_four(const float *x, float *out, int degree, int n) {
    int i = index() * 4;
    if (i >= n) return;
    float4 v = *(const float4 *)(x + i);
    float a = 1, b = 1, c = 1, d = 1;
    for (int k = degree; k > 0; k--) {
        float t = (float)k;
        a = a * v.x + t, b = b * v.y + t, c = c * v.z + t, d = d * v.w + t;
    }
    *(float4 *)(out + i) = make_float4(a, b, c, d);
}
KERNEL hashes(unsigned *out, int rounds, int n) {
    int i = index();
    if (i >= n) return;
    unsigned h = i * 2654435761u;
    for (int r = 0; r < rounds; r++) {
        h ^= h >> 16, h *= 0x85ebca6bu, h ^= h >> 13, h *= 0xc2b2ae35u, h ^= h >> 16;
        h += r;
    }
    out[i] = h;
}
KERNEL options(const float *price, const float *strike, float *out, int n) {
    int i = index();
    if (i >= n) return;
    float s = price[i] + 1.0f, k = strike[i] + 1.0f, root = 0.5f;
    float d1 = (logf(s / k) + 0.15f * 0.25f) / (0.3f * root), d2 = d1 - 0.3f * root;
    out[i] = s * normcdff(d1) - k * expf(-0.0125f) * normcdff(d2);
}
KERNEL escape_time(unsigned *out, int width, int limit) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width) return;
    float cx = 3.0f * x / width - 2.0f, cy = 2.0f * y / width - 1.0f, a = 0, b = 0;
    int k = 0;
    while (a * a + b * b < 4.0f && k < limit) {
        float t = a * a - b * b + cx;
        b = 2 * a * b + cy, a = t, k++;
    }
    out[y * width + x] = k;
}
KERNEL collatz(const unsigned *in, unsigned *out, int n) {
    int i = index();
    if (i >= n) return;
    unsigned v = in[i] + 1, k = 0;
    while (v != 1 && k < 300) v = v & 1 ? 3 * v + 1 : v >> 1, k++;
    out[i] = k;
}
KERNEL search(const unsigned *wanted, unsigned *out, int n) {
    int i = index();
    if (i >= n) return;
    unsigned w = wanted[i], low = 0, high = 1 << 20;
    while (low < high) {
        unsigned mid = (low + high) / 2;
        if (wanted[mid] % 1048576 < w) low = mid + 1;
        else high = mid;
    }
    out[i] = low;
}
KERNEL life(const unsigned *cells, unsigned *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) sum += cells[((y + dy) & (width - 1)) * width + ((x + dx) & (width - 1))] & 1;
    out[y * width + x] = sum == 3 || (sum == 2 && (cells[y * width + x] & 1));
}
KERNEL heat_3d(const float *t, float *out, int nx, int ny, int nz) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1) return;
    int plane = nx * ny, at = y * nx + x;
    float below = t[at], here = t[at + plane];
    for (int z = 1; z < nz - 1; z++) {
        at += plane;
        float above = t[at + plane];
        out[at] = here + 0.1f * (below + above + t[at - 1] + t[at + 1] + t[at - nx] + t[at + nx] - 6 * here);
        below = here, here = above;
    }
}
KERNEL blur(const float *in, float *out, int width) {
    __shared__ float tile[20][36];
    int x0 = blockIdx.x * 32 - 2, y0 = blockIdx.y * 16 - 2;
    for (int k = threadIdx.y * 32 + threadIdx.x; k < 20 * 36; k += 512) {
        int x = min(max(x0 + k % 36, 0), width - 1), y = min(max(y0 + k / 36, 0), width - 1);
        tile[k / 36][k % 36] = in[y * width + x];
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int dy = 0; dy < 5; dy++)
#pragma unroll
        for (int dx = 0; dx < 5; dx++) sum += tile[threadIdx.y + dy][threadIdx.x + dx];
    out[(y0 + 2 + threadIdx.y) * width + x0 + 2 + threadIdx.x] = sum / 25;
}
KERNEL rows_times_vector(const float *a, const float *v, float *out, int columns) {
    int row = index() / 32, lane = threadIdx.x % 32;
    float sum = 0;
    for (int c = lane; c < columns; c += 32) sum += a[row * columns + c] * v[c];
    for (int d = 16; d; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) out[row] = sum;
}
KERNEL dot(const float *x, const float *y, float *out, int n) {
    __shared__ float part[32];
    float sum = 0;
    for (int i = index(); i < n; i += gridDim.x * blockDim.x) sum += x[i] * y[i];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0;
        for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
        if (threadIdx.x == 0) atomicAdd(out, sum);
    }
}
KERNEL norm_rows(const float *x, float *out, int columns) {
    __shared__ float part[2];
    const float *row = x + blockIdx.x * columns;
    if (threadIdx.x < 2) part[threadIdx.x] = 0;
    __syncthreads();
    float sum = 0, squares = 0;
    for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c], squares += row[c] * row[c];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d), squares += __shfl_xor_sync(~0u, squares, d);
    if (threadIdx.x % 32 == 0) atomicAdd(part, sum), atomicAdd(part + 1, squares);
    __syncthreads();
    float mean = part[0] / columns, scale = rsqrtf(part[1] / columns - mean * mean + 1e-5f);
    for (int c = threadIdx.x; c < columns; c += blockDim.x) out[blockIdx.x * columns + c] = (row[c] - mean) * scale;
}
KERNEL sort_block(const unsigned *in, unsigned *out) {
    __shared__ unsigned s[512];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 512 + t], s[t + 256] = in[blockIdx.x * 512 + t + 256];
    for (int k = 2; k <= 512; k *= 2)
        for (int j = k / 2; j; j /= 2) {
            __syncthreads();
            int a = 2 * j * (t / j) + t % j, b = a + j;
            unsigned p = s[a], q = s[b];
            if ((p > q) == !(a & k)) s[a] = q, s[b] = p;
        }
    __syncthreads();
    out[blockIdx.x * 512 + t] = s[t], out[blockIdx.x * 512 + t + 256] = s[t + 256];
}
KERNEL shared_bins(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned bins[256];
    for (int k = threadIdx.x; k < 256; k += blockDim.x) bins[k] = 0;
    __syncthreads();
    for (int i = index(); i < n; i += gridDim.x * blockDim.x) atomicAdd(bins + in[i], 1u);
    __syncthreads();
    for (int k = threadIdx.x; k < 256; k += blockDim.x) atomicAdd(out + k, bins[k]);
}
KERNEL count_even(const unsigned *in, unsigned *out, int n) {
    int i = index();
    bool even = i < n && in[i] % 2 == 0;
    unsigned votes = __ballot_sync(~0u, even);
    if (threadIdx.x % 32 == 0 && votes) atomicAdd(out, __popc(votes));
}
KERNEL spread_atomics(const unsigned *in, unsigned *out, int bins, int n) {
    int i = index();
    if (i < n) atomicAdd(out + in[i] % bins, 1u);
}
KERNEL product_registers(const float *a, const float *b, float *c, int n) {
    __shared__ float as[16][64], bs[16][64];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float sum[4][4] = {};
    for (int k0 = 0; k0 < n; k0 += 16) {
        for (int e = threadIdx.x; e < 1024; e += 256) {
            as[e % 16][e / 16] = a[(row + e / 16) * n + k0 + e % 16];
            bs[e / 64][e % 64] = b[(k0 + e / 64) * n + column + e % 64];
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < 16; k++) {
            float4 p = *(float4 *)&as[k][ty * 4], q = *(float4 *)&bs[k][tx * 4];
            float l[4] = {p.x, p.y, p.z, p.w}, r[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < 4; j++) sum[i][j] += l[i] * r[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) c[(row + ty * 4 + i) * n + column + tx * 4 + j] = sum[i][j];
}
KERNEL jacobi_f64(const double *in, double *out, int width) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= width - 1) return;
    out[y * width + x] = 0.25 * (in[y * width + x - 1] + in[y * width + x + 1] + in[(y - 1) * width + x] + in[(y + 1) * width + x]);
}
KERNEL roots_f64(const float *in, float *out, int n) {
    int i = index();
    if (i >= n) return;
    double v = in[i] + 1.0, r = v;
    for (int k = 0; k < 8; k++) r = 0.5 * (r + v / r);
    out[i] = (float)r;
}
KERNEL halves(const __half2 *x, const __half2 *y, __half2 *out, int rounds, int n) {
    int i = index();
    if (i >= n) return;
    __half2 p = x[i], q = y[i];
    for (int k = 0; k < rounds; k++) p = __hfma2(p, q, q);
    out[i] = p;
}
KERNEL tensor_tiles(const __half *a, const __half *b, float *c, int n) {
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = (blockIdx.y * 4 + warp) * 16, column = blockIdx.x * 8;
    float d[4] = {};
    for (int k = 0; k < n; k += 16) {
        const unsigned *pa = (const unsigned *)(a + (row + lane / 4) * n + k), *pb = (const unsigned *)(b + (column + lane / 4) * n + k);
        unsigned a0 = pa[lane % 4], a1 = pa[4 * n + lane % 4], a2 = pa[4 + lane % 4], a3 = pa[4 * n + 4 + lane % 4];
        unsigned b0 = pb[lane % 4], b1 = pb[4 + lane % 4];
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    float *pc = c + (row + lane / 4) * n + column + lane % 4 * 2;
    pc[0] = d[0], pc[1] = d[1], pc[8 * n] = d[2], pc[8 * n + 1] = d[3];
}
KERNEL staged_sum(const float4 *in, float *out, int steps) {
    __shared__ float4 ring[4][128];
    int t = threadIdx.x;
    const float4 *from = in + blockIdx.x * steps * 128 + t;
    unsigned at = (unsigned)__cvta_generic_to_shared(&ring[0][t]);
    for (int s = 0; s < 3; s++) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group;" ::"r"(at + s * 2048), "l"(from + s * 128) : "memory");
    }
    float sum = 0;
    for (int s = 0; s < steps; s++) {
        asm volatile("cp.async.wait_group 2;" ::: "memory");
        float4 v = ring[s % 4][t];
        sum += v.x * v.y + v.z * v.w;
        int next = min(s + 3, steps - 1);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16; cp.async.commit_group;" ::"r"(at + (s + 3) % 4 * 2048), "l"(from + next * 128) : "memory");
    }
    out[blockIdx.x * 128 + t] = sum;
}
KERNEL chase(const unsigned *next, unsigned *out, int steps) {
    int i = index();
    unsigned at = next[i];
    for (int k = 0; k < steps; k++) at = next[at];
    out[i] = at;
}
__constant__ float weights[64] = {1, 2, 3, 4, 5, 6, 7, 8};
KERNEL filter(const float *in, float *out, int taps, int n) {
    int i = index();
    if (i >= n) return;
    float sum = 0;
    for (int k = 0; k < taps; k++) sum += weights[k] * in[i + k];
    out[i] = sum;
}
KERNEL grey(const uchar4 *in, unsigned char *out, int n) {
    int i = index();
    if (i >= n) return;
    uchar4 p = in[i];
    out[i] = (unsigned char)((77 * p.x + 150 * p.y + 29 * p.z) >> 8);
}
KERNEL local_table(const unsigned *in, unsigned *out, int n) {
    int i = index();
    if (i >= n) return;
    unsigned table[32];
    for (int k = 0; k < 32; k++) table[k] = in[(i + k * 97) & 1048575];
    unsigned at = in[i], sum = 0;
    for (int k = 0; k < 16; k++) at = table[at & 31], sum += at;
    out[i] = sum;
}
KERNEL random_points(unsigned *out, int rounds) {
    unsigned s = index() * 747796405u + 1, inside = 0;
    for (int k = 0; k < rounds; k++) {
        s ^= s << 13, s ^= s >> 17, s ^= s << 5;
        float x = (s & 0xffff) / 65536.0f, y = (s >> 16) / 65536.0f;
        inside += x * x + y * y < 1;
    }
    inside = __reduce_add_sync(~0u, inside);
    if (threadIdx.x % 32 == 0) atomicAdd(out, inside);
}
KERNEL transpose_odd(const float *in, float *out, int width) {
    __shared__ float tile[32][32];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) out[(y + k) * width + x] = tile[threadIdx.x][threadIdx.y + k];
}
KERNEL integers_by_division(const unsigned *in, unsigned *out, unsigned by, int n) {
    int i = index();
    if (i < n) out[i] = in[i] / by + in[i] % (by + 1);
}
