// Records what a GPU's texture unit makes of gradients: levels, and the footprints of anisotropic filtering, texel by texel.
//
//     nvcc -arch=sm_90 -o record_gradients tests/hardware/record_gradients.cu && ./record_gradients FOLDER
//
// FOLDER/levels.bin and FOLDER/footprints.bin have one part a configuration: eight words (geometry, width, height or faces, levels, anisotropy,
// lanes, records, 1000 times the bias), two floats (the clamps), nine floats a lane (coordinates, both gradients), then the records.  A level is
// a float a lane.  A footprint is three 16-bit words a texel: the lane, the texel's number from level 0 on, its weight in 4096ths.
// tests/hardware/select_gradients.py selects what the tests carry.

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define CHECK(call) do { cudaError_t e = (call); if (e) { printf("line %d: %s\n", __LINE__, cudaGetErrorString(e)); exit(1); } } while (0)

enum Geometry { PLANE, VOLUME, CUBE };
struct Config { Geometry geometry; int width, height, levels, anisotropy, lanes; float least, largest, bias; int directions; };
enum { WITHIN, ANY, THIN };  // directions of the gradients: any within a face, any at all, a long and a short one
struct Record { unsigned short lane, texel, weight; };

__device__ float fetched(cudaTextureObject_t t, int geometry, const float *p) {
    if (geometry == PLANE) return tex2DGrad<float>(t, p[0], p[1], make_float2(p[3], p[4]), make_float2(p[6], p[7]));
    float4 x = make_float4(p[3], p[4], p[5], 0), y = make_float4(p[6], p[7], p[8], 0);
    return geometry == CUBE ? texCubemapGrad<float>(t, p[0], p[1], p[2], x, y) : tex3DGrad<float>(t, p[0], p[1], p[2], x, y);
}

__global__ void read_all(cudaTextureObject_t t, int geometry, int lanes, const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < lanes) out[i] = fetched(t, geometry, in + 9 * i);
}

__global__ void weigh(cudaTextureObject_t t, int geometry, int lanes, const float *in, int texel, Record *out, unsigned *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lanes) return;
    float weight = fetched(t, geometry, in + 9 * i);
    if (weight != 0) out[atomicAdd(count, 1u)] = Record{(unsigned short)i, (unsigned short)texel, (unsigned short)rintf(weight * 4096)};
}

struct Texture {
    cudaMipmappedArray_t array; cudaTextureObject_t object; std::vector<cudaArray_t> levels; Config c;

    Texture(const Config &c, bool linear) : levels(c.levels), c(c) {
        cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
        CHECK(cudaMallocMipmappedArray(&array, &format, make_cudaExtent(c.width, height(0), c.geometry == PLANE ? 0 : depth(0)), c.levels,
                                       c.geometry == CUBE ? cudaArrayCubemap : 0));
        for (int k = 0; k < c.levels; k++) CHECK(cudaGetMipmappedArrayLevel(&levels[k], array, k));
        cudaResourceDesc resource = {}; resource.resType = cudaResourceTypeMipmappedArray; resource.res.mipmap.mipmap = array;
        cudaTextureDesc d = {};
        for (auto &mode : d.addressMode) mode = c.geometry == CUBE ? cudaAddressModeClamp : cudaAddressModeWrap;
        d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint; d.mipmapFilterMode = cudaFilterModeLinear;
        d.normalizedCoords = 1; d.maxAnisotropy = c.anisotropy; d.mipmapLevelBias = c.bias;
        d.minMipmapLevelClamp = c.least; d.maxMipmapLevelClamp = c.largest; d.disableTrilinearOptimization = !linear;
        CHECK(cudaCreateTextureObject(&object, &resource, &d, nullptr));
    }
    ~Texture() { CHECK(cudaDestroyTextureObject(object)); CHECK(cudaFreeMipmappedArray(array)); }
    int width(int k) const { return std::max(c.width >> k, 1); }
    int height(int k) const { return std::max((c.geometry == CUBE ? c.width : c.height) >> k, 1); }
    int depth(int k) const { return c.geometry == CUBE ? 6 : c.geometry == VOLUME ? std::max(c.width >> k, 1) : 1; }
    void put(int k, cudaPos at, cudaExtent extent, float *values) {
        cudaMemcpy3DParms copy = {};
        copy.srcPtr = make_cudaPitchedPtr(values, extent.width * 4, extent.width, extent.height); copy.kind = cudaMemcpyHostToDevice;
        copy.dstArray = levels[k]; copy.dstPos = at; copy.extent = extent;
        CHECK(cudaMemcpy3D(&copy));
    }
    void fill(int k, float value) {
        std::vector<float> values((size_t)width(k) * height(k) * depth(k), value);
        put(k, make_cudaPos(0, 0, 0), make_cudaExtent(width(k), height(k), depth(k)), values.data());
    }
};

std::vector<float> inputs(const Config &c, std::mt19937 &g) {
    std::uniform_real_distribution<float> u(0.f, 1.f);
    std::vector<float> in(9 * c.lanes, 0.f);
    for (int i = 0; i < c.lanes; i++) {
        float *p = &in[9 * i], size = exp2f(6 * u(g) - 6), turn = 6.2831853f * u(g), thin = c.directions == THIN ? exp2f(-8) : exp2f(-6 * u(g));
        for (int k = 0; k < 3; k++) p[k] = u(g);
        if (c.geometry == CUBE) {
            for (int k = 0; k < 3; k++) p[k] = 2 * p[k] - 1;
            p[i % 3] = i & 1 ? -1 : 1;
        }
        float across = turn + 1.5707963f + (c.directions == THIN ? 0 : 1.2f * (u(g) - 0.5f));
        int s = c.geometry == CUBE ? (i + 1) % 3 : 0, t = c.geometry == CUBE ? (i + 2) % 3 : 1;
        p[3 + s] = size * cosf(turn); p[3 + t] = size * sinf(turn); p[6 + s] = size * thin * cosf(across); p[6 + t] = size * thin * sinf(across);
        if (c.directions == ANY)
            for (int k = 3; k < 9; k++)
                if (c.geometry != PLANE || k % 3 < 2) p[k] = (2 * u(g) - 1) * exp2f((c.geometry == CUBE ? 6.f : 4.f) * u(g) - (c.geometry == CUBE ? 5.f : 6.f));
        if (i & 1) for (int k = 3; k < 6; k++) std::swap(p[k], p[k + 3]);
    }
    return in;
}

template <class T> void save(FILE *file, const Config &c, const std::vector<float> &in, const std::vector<T> &records) {
    int head[8] = {c.geometry, c.width, c.height, c.levels, c.anisotropy, c.lanes, (int)records.size(), (int)rintf(c.bias * 1000)};
    float clamps[2] = {c.least, c.largest};
    fwrite(head, 4, 8, file); fwrite(clamps, 4, 2, file); fwrite(in.data(), 4, in.size(), file); fwrite(records.data(), sizeof(T), records.size(), file);
}

int main(int, char **argv) {
    std::mt19937 g(2026);
    std::string folder = argv[1];
    float *in, *out; unsigned *count; Record *found;
    const int MOST = 8192;
    CHECK(cudaMalloc(&in, 36 * MOST)); CHECK(cudaMalloc(&out, 4 * MOST)); CHECK(cudaMalloc(&count, 4)); CHECK(cudaMalloc(&found, 64 << 20));

    FILE *file = fopen((folder + "/levels.bin").c_str(), "wb");
    for (Config c : {Config{PLANE, 256, 256, 9, 1, MOST, 0, 12, 0, ANY}, {PLANE, 200, 120, 8, 1, MOST, 0, 12, 0, ANY}, {PLANE, 255, 999, 10, 1, MOST, 0, 12, 0, ANY},
                     {PLANE, 5003, 1023, 13, 1, MOST, 0, 12, 0, ANY}, {PLANE, 12345, 3, 14, 1, MOST, 0, 12, 0, ANY}, {VOLUME, 128, 128, 8, 1, MOST, 0, 12, 0, ANY},
                     {PLANE, 256, 256, 9, 16, MOST, 0, 12, 0, WITHIN}, {PLANE, 256, 256, 9, 4, MOST, 0, 12, 0, ANY}, {PLANE, 333, 77, 9, 8, MOST, 0, 12, 0, ANY},
                     {CUBE, 256, 6, 9, 1, MOST, 0, 12, 0, ANY}, {CUBE, 96, 6, 7, 1, MOST, 0, 12, 0, WITHIN}, {CUBE, 256, 6, 9, 16, MOST, 0, 12, 0, ANY}}) {
        Texture t(c, false);
        for (int k = 0; k < c.levels; k++) t.fill(k, k);
        std::vector<float> p = inputs(c, g), levels(c.lanes);
        CHECK(cudaMemcpy(in, p.data(), 4 * p.size(), cudaMemcpyHostToDevice));
        read_all<<<(c.lanes + 127) / 128, 128>>>(t.object, c.geometry, c.lanes, in, out);
        CHECK(cudaMemcpy(levels.data(), out, 4 * c.lanes, cudaMemcpyDeviceToHost));
        save(file, c, p, levels);
    }
    fclose(file);

    file = fopen((folder + "/footprints.bin").c_str(), "wb");
    for (Config c : {Config{PLANE, 64, 64, 7, 16, 512, 0, 8, 0, THIN}, {PLANE, 64, 64, 7, 16, 512, 0, 8, -0.75f, WITHIN}, {PLANE, 64, 64, 7, 12, 512, 0, 8, 0, WITHIN},
                     {PLANE, 64, 64, 7, 10, 512, 0, 8, 0, WITHIN}, {PLANE, 64, 64, 7, 8, 512, 0, 8, 0, WITHIN}, {PLANE, 64, 64, 7, 6, 512, 0, 8, 0, WITHIN},
                     {PLANE, 64, 64, 7, 4, 512, 0, 8, 0, WITHIN}, {PLANE, 64, 64, 7, 2, 512, 0, 8, 0, WITHIN}, {PLANE, 64, 64, 7, 16, 512, 0.4f, 3.3f, 0, WITHIN},
                     {CUBE, 32, 6, 6, 16, 512, 0, 8, 0, WITHIN}, {CUBE, 32, 6, 6, 4, 512, 0, 8, 0, ANY}}) {
        Texture t(c, true);
        for (int k = 0; k < c.levels; k++) t.fill(k, 0);
        std::vector<float> p = inputs(c, g);
        CHECK(cudaMemcpy(in, p.data(), 4 * p.size(), cudaMemcpyHostToDevice));
        CHECK(cudaMemset(count, 0, 4));
        int texel = 0; float one = 1, none = 0; cudaExtent single = make_cudaExtent(1, 1, 1);
        for (int k = 0; k < c.levels; k++)
            for (int z = 0; z < t.depth(k); z++)
                for (int y = 0; y < t.height(k); y++)
                    for (int x = 0; x < t.width(k); x++, texel++) {
                        t.put(k, make_cudaPos(x, y, z), single, &one);
                        weigh<<<(c.lanes + 127) / 128, 128>>>(t.object, c.geometry, c.lanes, in, texel, found, count);
                        t.put(k, make_cudaPos(x, y, z), single, &none);
                    }
        unsigned n; CHECK(cudaMemcpy(&n, count, 4, cudaMemcpyDeviceToHost));
        std::vector<Record> records(n); CHECK(cudaMemcpy(records.data(), found, n * sizeof(Record), cudaMemcpyDeviceToHost));
        save(file, c, p, records);
    }
    fclose(file);
    return 0;
}
