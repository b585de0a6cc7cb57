// Times texture fetches, surfaces and clusters on a GPU: `nvcc -O2 -arch=sm_90 textures.cu -o textures && ./textures > textures.json`.
// Each line holds [kind, shape, blocks, warps of a block, cycles of the slowest warp, links of a warp, links per cycle and multiprocessor].
#include <cooperative_groups.h>
#include <algorithm>
#include <cstdio>
#include <vector>
namespace cg = cooperative_groups;

constexpr int LINKS = 16, TURNS = 16, SIDE = 256;

struct Lane {
    int x, y;  // of its texel; what it fetches is zero, so that each fetch stands behind the one before
};

// Lanes in a row, in squares of 8 x 4, each in another line of the texture's memory, or all at one texel.
enum Shape { ROW, SQUARE, APART, SAME };
__device__ Lane place(int shape) {
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    int row = warp * 4 % (SIDE / 2);
    if (shape == ROW) return {lane, row};
    if (shape == SQUARE) return {lane & 7, row + (lane >> 3)};
    if (shape == APART) return {lane * 8 % SIDE, (row + lane * 7) % SIDE};
    return {0, row};
}

#define TIMED(name, parameters, once)                                                \
    __global__ void name(parameters, int shape, int turns, long long *cycles, float *out) { \
        Lane at = place(shape);                                                      \
        float x = at.x + 0.5f, y = at.y + 0.5f, sum = 0;                             \
        long long begin = 0;                                                         \
        for (int warm = 0; warm < 2; warm++) {                                       \
            __syncthreads();                                                         \
            begin = clock64();                                                       \
            for (int t = 0; t < turns; t++) {                                        \
                _Pragma("unroll") for (int k = 0; k < LINKS; k++) { once }           \
            }                                                                        \
        }                                                                            \
        long long end = clock64();                                                   \
        if ((threadIdx.x & 31) == 0) cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = end - begin; \
        out[blockIdx.x * blockDim.x + threadIdx.x] = x + y + sum;                    \
    }
#define TEXTURE cudaTextureObject_t t0
#define SURFACE cudaSurfaceObject_t s0

TIMED(linear_memory, TEXTURE, x += tex1Dfetch<float>(t0, (int)x + 256 * (int)y);)
TIMED(one_float, TEXTURE, x += tex2D<float>(t0, x, y);)
TIMED(four_floats, TEXTURE, float4 v = tex2D<float4>(t0, x, y); x += v.x + v.y; y += v.z + v.w;)
TIMED(of_a_level, TEXTURE, x += tex2DLod<float>(t0, x, y, 0.5f);)
TIMED(gathered, TEXTURE, float4 v = tex2Dgather<float4>(t0, x, y); x += v.x + v.y; y += v.z + v.w;)
TIMED(volume, TEXTURE, x += tex3D<float>(t0, x, y, 0.5f);)
TIMED(surface_load, SURFACE, x += surf2Dread<float>(s0, (int)x * 4, (int)y);)

// Loads, stores and atomic operations in the memory of the next block of a cluster, and the barrier of the cluster.
template <int WHAT> __global__ void remote(int turns, long long *cycles, float *out) {
    __shared__ unsigned memory[2048];
    cg::cluster_group cluster = cg::this_cluster();
    for (int i = threadIdx.x; i < 2048; i += blockDim.x) memory[i] = 0;
    unsigned *other = cluster.map_shared_rank(memory, (cluster.block_rank() + 1) % cluster.num_blocks());
    unsigned x = threadIdx.x & 31;
    long long begin = 0;
    for (int warm = 0; warm < 2; warm++) {
        cluster.sync();
        begin = clock64();
        for (int t = 0; t < turns; t++) {
#pragma unroll
            for (int k = 0; k < LINKS; k++) {
                if (WHAT == 0) x += ((volatile unsigned *)other)[x];
                if (WHAT == 1) ((volatile unsigned *)other)[x + 32 * (k & 7)] = 0;
                if (WHAT == 2) x += atomicAdd(other + x, 0u);
                if (WHAT == 3) cluster.sync();
                if (WHAT == 4) x += ((volatile unsigned *)memory)[x];
            }
        }
    }
    long long end = clock64();
    cluster.sync();
    if ((threadIdx.x & 31) == 0) cycles[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = end - begin;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x;
}

static bool first = true;
static long long *cycles;
static float *out;
static std::vector<long long> host(132 * 32);

static void tell(const char *kind, const char *shape, int blocks, int warps) {
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) fprintf(stderr, "%s %s: %s\n", kind, shape, cudaGetErrorString(e));
    cudaMemcpy(host.data(), cycles, blocks * warps * sizeof(long long), cudaMemcpyDeviceToHost);
    long long most = *std::max_element(host.begin(), host.begin() + blocks * warps);
    int links = LINKS * TURNS;
    printf("%s[\"%s\", \"%s\", %d, %d, %lld, %d, %.4f]", first ? "[\n" : ",\n", kind, shape, blocks, warps, most, links, double(links) * warps / most);
    first = false;
}

static const int POINTS[][2] = {{1, 1}, {1, 8}, {1, 32}, {132, 1}, {132, 8}, {132, 32}};
static const char *SHAPES[] = {"row", "square", "apart", "same"};

template <class K, class O> void points(const char *kind, K kernel, O object) {
    for (int shape = 0; shape < 4; shape++)
        for (auto &p : POINTS) {
            kernel<<<p[0], p[1] * 32>>>(object, shape, TURNS, cycles, out);
            tell(kind, SHAPES[shape], p[0], p[1]);
        }
}

template <int WHAT> void clusters(const char *kind) {
    for (int size : {2, 4, 8})
        for (int blocks : {8, 128})
            for (int warps : {1, 8, 32}) {
                cudaLaunchConfig_t c = {};
                cudaLaunchAttribute a;
                a.id = cudaLaunchAttributeClusterDimension;
                a.val.clusterDim.x = size, a.val.clusterDim.y = 1, a.val.clusterDim.z = 1;
                c.gridDim = blocks, c.blockDim = warps * 32, c.attrs = &a, c.numAttrs = 1;
                cudaLaunchKernelEx(&c, remote<WHAT>, TURNS, cycles, out);
                char name[16];
                snprintf(name, sizeof name, "of %d", size);
                tell(kind, name, blocks, warps);
            }
}

static cudaTextureObject_t texture(cudaArray_t array, cudaTextureFilterMode filter, cudaMipmappedArray_t levels = nullptr) {
    cudaResourceDesc r = {};
    r.resType = levels ? cudaResourceTypeMipmappedArray : cudaResourceTypeArray;
    if (levels) r.res.mipmap.mipmap = levels;
    else r.res.array.array = array;
    cudaTextureDesc d = {};
    d.filterMode = d.mipmapFilterMode = filter;
    d.maxMipmapLevelClamp = 8;
    cudaTextureObject_t t = 0;
    cudaCreateTextureObject(&t, &r, &d, nullptr);
    return t;
}

int main() {
    cudaMalloc(&cycles, host.size() * sizeof(long long)), cudaMalloc(&out, 132 * 1024 * sizeof(float));
    auto one = cudaCreateChannelDesc<float>();
    auto four = cudaCreateChannelDesc<float4>();
    cudaArray_t a1, a4, solid;
    cudaMipmappedArray_t levels;
    std::vector<float4> zeros(SIDE * SIDE);
    cudaMallocArray(&a1, &one, SIDE, SIDE, cudaArraySurfaceLoadStore | cudaArrayTextureGather), cudaMallocArray(&a4, &four, SIDE, SIDE);
    cudaMemcpy2DToArray(a1, 0, 0, zeros.data(), SIDE * 4, SIDE * 4, SIDE, cudaMemcpyHostToDevice);
    cudaMemcpy2DToArray(a4, 0, 0, zeros.data(), SIDE * 16, SIDE * 16, SIDE, cudaMemcpyHostToDevice);
    cudaMalloc3DArray(&solid, &one, {SIDE, SIDE, 4});
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = {zeros.data(), SIDE * 4, SIDE, SIDE}, copy.dstArray = solid, copy.extent = {SIDE, SIDE, 4}, copy.kind = cudaMemcpyHostToDevice;
    cudaMemcpy3D(&copy);
    cudaMallocMipmappedArray(&levels, &one, {SIDE, SIDE, 0}, 8);
    for (int k = 0; k < 8; k++) {
        cudaArray_t level;
        cudaGetMipmappedArrayLevel(&level, levels, k);
        cudaMemcpy2DToArray(level, 0, 0, zeros.data(), SIDE * 4, (SIDE >> k) * 4, SIDE >> k, cudaMemcpyHostToDevice);
    }
    float *memory;
    cudaMalloc(&memory, SIDE * SIDE * 4), cudaMemset(memory, 0, SIDE * SIDE * 4);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory, r.res.linear.desc = one, r.res.linear.sizeInBytes = SIDE * SIDE * 4;
    cudaTextureDesc d = {};
    cudaTextureObject_t linear = 0;
    cudaCreateTextureObject(&linear, &r, &d, nullptr);
    cudaResourceDesc s = {};
    s.resType = cudaResourceTypeArray, s.res.array.array = a1;
    cudaSurfaceObject_t surface = 0;
    cudaCreateSurfaceObject(&surface, &s);

    points("tex1Dfetch", linear_memory, linear);
    points("tex2D.point", one_float, texture(a1, cudaFilterModePoint));
    points("tex2D.linear", one_float, texture(a1, cudaFilterModeLinear));
    points("tex2D.v4.point", four_floats, texture(a4, cudaFilterModePoint));
    points("tex2D.v4.linear", four_floats, texture(a4, cudaFilterModeLinear));
    points("tex2DLod.point", of_a_level, texture(nullptr, cudaFilterModePoint, levels));
    points("tex2DLod.linear", of_a_level, texture(nullptr, cudaFilterModeLinear, levels));
    points("tex2Dgather", gathered, texture(a1, cudaFilterModePoint));
    points("tex3D.point", volume, texture(solid, cudaFilterModePoint));
    points("tex3D.linear", volume, texture(solid, cudaFilterModeLinear));
    points("surf2Dread", surface_load, surface);
    clusters<0>("ld.shared::cluster");
    clusters<1>("st.shared::cluster");
    clusters<2>("atom.shared::cluster");
    clusters<3>("barrier.cluster");
    clusters<4>("ld.shared");
    printf("\n]\n");
    return 0;
}
