// Kernels whose copies run beside their arithmetic: cp.async with mma, bulk copies with mbarriers, wgmma fed by bulk copies, clusters that read each other.
#include <cuda_fp16.h>
#define KERNEL extern "C" __global__ void
using u32 = unsigned;
using u64 = unsigned long long;

__device__ u32 address(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ void barrier_init(u64 *b, u32 count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(b)), "r"(count) : "memory"); }
__device__ void barrier_expect(u64 *b, u32 bytes) { asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(b)), "r"(bytes) : "memory"); }
__device__ void barrier_arrive(u64 *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(b)) : "memory"); }
__device__ void barrier_wait(u64 *b, u32 parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra again; }" ::"r"(address(b)), "r"(parity) : "memory");
}
__device__ void bulk_copy(void *to, const void *from, u32 bytes, u64 *b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(address(to)), "l"(from), "r"(bytes), "r"(address(b))
                 : "memory");
}

// A block adds up its share of `in`, 4 KB at a time, STAGES pieces under way.
template <int STAGES> __device__ void bulk_sum(const float4 *in, float *out, int steps) {
    __shared__ alignas(128) float4 ring[STAGES][256];
    __shared__ u64 full[STAGES];
    int t = threadIdx.x;
    const float4 *from = in + (size_t)blockIdx.x * steps * 256;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) barrier_init(&full[s], 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int s = 0; s < STAGES && s < steps; s++) barrier_expect(&full[s], 4096), bulk_copy(ring[s], from + s * 256, 4096, &full[s]);
    }
    __syncthreads();
    float sum = 0;
    for (int s = 0; s < steps; s++) {
        barrier_wait(&full[s % STAGES], s / STAGES & 1);
        for (int k = 0; k < 2; k++) {
            float4 v = ring[s % STAGES][t + k * 128];
            sum += v.x * v.y + v.z * v.w;
        }
        __syncthreads();
        if (t == 0 && s + STAGES < steps) barrier_expect(&full[s % STAGES], 4096), bulk_copy(ring[s % STAGES], from + (s + STAGES) * 256, 4096, &full[s % STAGES]);
    }
    out[blockIdx.x * 128 + t] = sum;
}
KERNEL bulk_sum_1(const float4 *in, float *out, int steps) { bulk_sum<1>(in, out, steps); }
KERNEL bulk_sum_2(const float4 *in, float *out, int steps) { bulk_sum<2>(in, out, steps); }
KERNEL bulk_sum_4(const float4 *in, float *out, int steps) { bulk_sum<4>(in, out, steps); }

// 64 x 64 of a product of halves: tiles of 64 x 32 by cp.async, mma.m16n8k16 in four warps.
template <int STAGES> __device__ void mma_product(const half *a, const half *b, float *c, int n) {
    __shared__ alignas(128) half as[STAGES][64][40], bs[STAGES][64][40];
    int t = threadIdx.x, lane = t % 32, warp = t / 32, row = blockIdx.y * 64, column = blockIdx.x * 64;
    float d[8][4] = {};
    auto load = [&](int s) {
        for (int k = 0; k < 2; k++) {
            int r = t / 4 + k * 32, q = t % 4 * 8;
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&as[s % STAGES][r][q])), "l"(a + (size_t)(row + r) * n + s * 32 + q) : "memory");
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&bs[s % STAGES][r][q])), "l"(b + (size_t)(column + r) * n + s * 32 + q) : "memory");
        }
    };
    int steps = n / 32;
    for (int s = 0; s < STAGES - 1; s++) {
        load(s);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    for (int s = 0; s < steps; s++) {
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");
        __syncthreads();
        if (s + STAGES - 1 < steps) load(s + STAGES - 1);
        asm volatile("cp.async.commit_group;" ::: "memory");
        for (int k = 0; k < 32; k += 16) {
            u32 x[4], y[2];
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"(address(&as[s % STAGES][warp * 16 + lane % 16][k + lane / 16 * 8])));
#pragma unroll
            for (int j = 0; j < 8; j++) {
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                             : "=r"(y[0]), "=r"(y[1])
                             : "r"(address(&bs[s % STAGES][j * 8 + lane % 8][k + lane / 8 % 2 * 8])));
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
                             : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
            }
        }
    }
    for (int j = 0; j < 8; j++) {
        float *to = c + (size_t)(row + warp * 16 + lane / 4) * n + column + j * 8 + lane % 4 * 2;
        to[0] = d[j][0], to[1] = d[j][1], to[8 * n] = d[j][2], to[8 * n + 1] = d[j][3];
    }
}
KERNEL mma_product_2(const half *a, const half *b, float *c, int n) { mma_product<2>(a, b, c, n); }
KERNEL mma_product_4(const half *a, const half *b, float *c, int n) { mma_product<4>(a, b, c, n); }

// Chains of mma on registers alone, in pairs.
KERNEL mma_chains(float *out, int steps) {
    float d[2][4] = {};
    u32 x = threadIdx.x;
    for (int s = 0; s < steps; s++)
        for (int j = 0; j < 2; j++)
            asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%4,%4,%4},{%4,%4},{%0,%1,%2,%3};"
                         : "+f"(d[j][0]), "+f"(d[j][1]), "+f"(d[j][2]), "+f"(d[j][3])
                         : "r"(x));
    out[blockIdx.x * blockDim.x + threadIdx.x] = d[0][0] + d[1][1];
}

__device__ u64 descriptor(const void *p) { return (address(p) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62; }  // 128-byte swizzle, 1024 bytes a group of rows
__device__ void wgmma_64(float (&d)[32], u64 a, u64 b) {
    asm volatile(
        "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,"
        "%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]),
          "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]), "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]),
          "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
        : "l"(a), "l"(b));
}
// 64 x 64 of a product whose tiles lie one after another: a warp copies tiles of 64 x 64 halves, a warp group multiplies them.
template <int STAGES> __device__ void wgmma_product(const half *a, const half *b, float *c, int steps) {
    __shared__ alignas(1024) half as[STAGES][4096], bs[STAGES][4096];
    __shared__ u64 full[STAGES], empty[STAGES];
    int t = threadIdx.x;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) barrier_init(&full[s], 1), barrier_init(&empty[s], 128);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t >= 128) {
        if (t == 128)
            for (int s = 0; s < steps; s++) {
                if (s >= STAGES) barrier_wait(&empty[s % STAGES], s / STAGES - 1 & 1);
                barrier_expect(&full[s % STAGES], 16384);
                bulk_copy(as[s % STAGES], a + ((size_t)blockIdx.y * steps + s) * 4096, 8192, &full[s % STAGES]);
                bulk_copy(bs[s % STAGES], b + ((size_t)blockIdx.x * steps + s) * 4096, 8192, &full[s % STAGES]);
            }
        return;
    }
    float d[32] = {};
    for (int s = 0; s < steps; s++) {
        barrier_wait(&full[s % STAGES], s / STAGES & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < 4; k++) wgmma_64(d, descriptor(as[s % STAGES]) + k * 2, descriptor(bs[s % STAGES]) + k * 2);
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
        barrier_arrive(&empty[s % STAGES]);
    }
    for (int k = 0; k < 32; k++) c[((size_t)(blockIdx.y * gridDim.x + blockIdx.x) * 32 + k) * 128 + t] = d[k];
}
KERNEL wgmma_product_1(const half *a, const half *b, float *c, int steps) { wgmma_product<1>(a, b, c, steps); }
KERNEL wgmma_product_2(const half *a, const half *b, float *c, int steps) { wgmma_product<2>(a, b, c, steps); }
// Products of one pair of tiles again and again: no copy.
KERNEL wgmma_alone(float *c, int steps) {
    __shared__ alignas(1024) half as[4096], bs[4096];
    int t = threadIdx.x;
    for (int k = t; k < 4096; k += 128) as[k] = bs[k] = __int2half_rn(k & 3);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    float d[32] = {};
    for (int s = 0; s < steps; s++) {
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < 4; k++) wgmma_64(d, descriptor(as) + k * 2, descriptor(bs) + k * 2);
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int k = 0; k < 32; k++) c[(blockIdx.x * 32 + k) * 128 + t] = d[k];
}

// Each block of a cluster reads what the others hold in shared memory, one after another.
KERNEL __cluster_dims__(4, 1, 1) cluster_sum(const float *in, float *out, int rounds) {
    __shared__ float mine[1024];
    int t = threadIdx.x;
    for (int k = t; k < 1024; k += 256) mine[k] = in[blockIdx.x * 1024 + k];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    float sum = 0;
    for (int r = 0; r < rounds; r++) {
        u32 theirs;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(theirs) : "r"(address(&mine[t])), "r"(r % 4));
        for (int k = 0; k < 4; k++) {
            float v;
            asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(v) : "r"(theirs + k * 1024));
            sum += v;
        }
    }
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    out[blockIdx.x * 256 + t] = sum;
}
