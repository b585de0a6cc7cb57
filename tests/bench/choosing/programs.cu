// Programs whose launches differ in what they ask of the choice of an engine.  nvcc -ptx -arch=sm_90 -O3 programs.cu
#define ENTRY extern "C" __global__ void

// Each thread has fewer iterations than the one before it.
ENTRY triangle(int n, float *s) {
    int a = threadIdx.x;
    for (int b = a; b < n; b++) {
        float x = 0;
        for (int i = 0; i < n; i++) x += s[i * n + a] * s[i * n + b];
        s[n * n + a * n + b] = x;
    }
}

// All blocks wait for each other between two steps.
__device__ void everybody(unsigned *count, unsigned step) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (*(volatile unsigned *)count < step * gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
}

ENTRY relaxed(int n, int steps, float *from, float *to, unsigned *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 1; s <= steps; s++) {
        float l = from[(i + n - 1) % n], r = from[(i + 1) % n];
        to[i] = 0.25f * l + 0.5f * from[i] + 0.25f * r;
        everybody(count, s);
        float *t = from; from = to; to = t;
    }
}

// Many operations in one stretch.
template <int ROUNDS> __device__ unsigned mixed(unsigned x, unsigned key) {
    unsigned y = key;
#pragma unroll
    for (int i = 0; i < ROUNDS; i++) {
        x += (y << 4 ^ y >> 5) + y ^ (key + i * 0x9e3779b9u);
        y += (x << 4 ^ x >> 5) + x ^ (key * 3 + i);
    }
    return x ^ y;
}

ENTRY long_stretch(unsigned *data, unsigned key) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    data[i] = mixed<160>(data[i], key);
}

// Many kernels, of which each is launched a few times.
template <int N> __global__ void variant(const float *in, float *out, int n) {
    __shared__ float tile[256 + 2 * N];
    int i = blockIdx.x * 256 + threadIdx.x;
    for (int k = threadIdx.x; k < 256 + 2 * N; k += 256) {
        int at = blockIdx.x * 256 + k - N;
        tile[k] = at >= 0 && at < n ? in[at] : 0.0f;
    }
    __syncthreads();
    float sum = 0;
#pragma unroll
    for (int k = -N; k <= N; k++) sum += tile[threadIdx.x + N + k] * (1.0f + k * 0.01f);
    if (i < n) out[i] = sqrtf(fabsf(sum)) / (N + 1);
}

#define FOUR(N) template __global__ void variant<N>(const float *, float *, int); template __global__ void variant<N + 1>(const float *, float *, int); \
    template __global__ void variant<N + 2>(const float *, float *, int); template __global__ void variant<N + 3>(const float *, float *, int);
FOUR(0) FOUR(4) FOUR(8) FOUR(12) FOUR(16) FOUR(20) FOUR(24) FOUR(28) FOUR(32) FOUR(36)

// Few threads, long loops.
ENTRY filtered(int steps, const double *measured, double *state) {
    int i = threadIdx.x;
    double x = 0, v = 0, p = 1, q = 0.5;
    for (int t = 0; t < steps; t++) {
        x += v * 0.1; p += q * 0.01 + 0.001;
        double gain = p / (p + 0.2), off = measured[t] + i * 0.001 - x;
        x += gain * off; v += 0.1 * gain * off; p *= 1 - gain;
    }
    state[2 * i] = x; state[2 * i + 1] = v;
}

ENTRY mandelbrot(int width, int most, unsigned char *out) {
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    float cx = px * 3.0f / width - 2.0f, cy = py * 2.4f / width - 1.2f, x = 0, y = 0;
    while (n < most && x * x + y * y < 4) { float t = x * x - y * y + cx; y = 2 * x * y + cy; x = t; n++; }
    out[py * width + px] = n & 255;
}

ENTRY monte_carlo(int rounds, unsigned long long seed, double *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long s = seed + i * 0x9e3779b97f4a7c15ull | 1;
    double sum = 0;
    for (int r = 0; r < rounds; r++) {
        s ^= s << 13; s ^= s >> 7; s ^= s << 17;
        double u = (s >> 11) * 0x1p-53;
        sum += exp(-u * u) * sqrt(1.0 - u);
    }
    out[i] = sum / rounds;
}

// One launch for each step of an algorithm.
ENTRY sort_step(unsigned *keys, int j, int k) {
    int i = blockIdx.x * blockDim.x + threadIdx.x, other = i ^ j;
    if (other <= i) return;
    unsigned a = keys[i], b = keys[other];
    if ((a > b) == ((i & k) == 0)) { keys[i] = b; keys[other] = a; }
}

ENTRY shortest(int n, int k, float *far) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
    if (x < n) far[y * n + x] = fminf(far[y * n + x], far[y * n + k] + far[k * n + x]);
}

ENTRY aligned(int n, int diagonal, const unsigned char *a, const unsigned char *b, int *score) {
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = diagonal - i;
    if (i > n || j < 1 || j > n) return;
    int s = score[(i - 1) * (n + 1) + j - 1] + (a[i - 1] == b[j - 1] ? 2 : -1);
    s = max(s, max(score[(i - 1) * (n + 1) + j], score[i * (n + 1) + j - 1]) - 1);
    score[i * (n + 1) + j] = max(s, 0);
}

ENTRY lives(int w, int h, const unsigned char *from, unsigned char *to) {
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy) n += from[(y + dy + h) % h * w + (x + dx + w) % w];
    to[y * w + x] = n == 3 || (n == 2 && from[y * w + x]);
}

// Kernels in turn: a sparse product, a sum of a block, a step.
ENTRY product(int n, const int *start, const int *column, const float *value, const float *x, float *y) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sum = 0;
    for (int k = start[row]; k < start[row + 1]; k++) sum += value[k] * x[column[k]];
    y[row] = sum;
}

ENTRY dotted(int n, const float *a, const float *b, float *sum) {
    __shared__ float s[256];
    float x = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) x += a[i] * b[i];
    s[threadIdx.x] = x;
    for (int k = 128; k; k >>= 1) {
        __syncthreads();
        if (threadIdx.x < k) s[threadIdx.x] += s[threadIdx.x + k];
    }
    if (threadIdx.x == 0) atomicAdd(sum, s[0]);
}

ENTRY stepped(int n, float factor, const float *a, float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += factor * a[i];
}

ENTRY bodies(int n, const float4 *at, float4 *push) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = at[i];
    float fx = 0, fy = 0, fz = 0;
    for (int k = 0; k < n; k++) {
        float4 o = at[k];
        float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z, d = dx * dx + dy * dy + dz * dz + 0.01f, f = o.w * rsqrtf(d * d * d);
        fx += f * dx; fy += f * dy; fz += f * dz;
    }
    push[i] = make_float4(fx, fy, fz, 0);
}
