// Rays, fractals, waves and prices.

// The nearest of some spheres along the ray of a pixel
extern "C" __global__ void ray_sphere(int width, int height, int spheres, const float4 *sphere, float *depth, unsigned char *which)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float dx = (x - width * 0.5f) / width, dy = (y - height * 0.5f) / width, dz = 1.0f;
    float norm = rsqrtf(dx * dx + dy * dy + dz * dz), nearest = 1e30f;
    dx *= norm;
    dy *= norm;
    dz *= norm;
    unsigned char hit = 255;
    for (int s = 0; s < spheres; s++) {
        float4 c = sphere[s];
        float along = c.x * dx + c.y * dy + c.z * dz;
        float d2 = c.x * c.x + c.y * c.y + c.z * c.z - along * along;
        if (d2 > c.w * c.w)
            continue;
        float t = along - sqrtf(c.w * c.w - d2);
        if (t > 0.0f && t < nearest) {
            nearest = t;
            hit = s;
        }
    }
    depth[y * width + x] = nearest;
    which[y * width + x] = hit;
}

// The Mandelbrot set
extern "C" __global__ void mandelbrot(int width, int height, int limit, unsigned char *out)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height)
        return;
    float cx = -2.2f + 3.2f * px / width, cy = -1.2f + 2.4f * py / height, x = 0.0f, y = 0.0f;
    int k = 0;
    while (k < limit && x * x + y * y < 4.0f) {
        float t = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = t;
        k++;
    }
    out[py * width + px] = k;
}

// One step of a Fourier transform, a butterfly a thread, in place
extern "C" __global__ void fft_step(int pairs, int half, const float2 *twiddle, float2 *data)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    int k = i & (half - 1), a = (i - k) * 2 + k, b = a + half;
    float2 w = twiddle[k * (pairs / half)], u = data[a], v = data[b];
    float re = v.x * w.x - v.y * w.y, im = v.x * w.y + v.y * w.x;
    data[a] = make_float2(u.x + re, u.y + im);
    data[b] = make_float2(u.x - re, u.y - im);
}

// The order of a Fourier transform's input: bits reversed
extern "C" __global__ void bit_reverse(int bits, const float2 *in, float2 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[__brev(i) >> (32 - bits)] = in[i];
}

// Prices of options by Black and Scholes
extern "C" __global__ void black_scholes(int n, float rate, float volatility, const float *spot, const float *strike, const float *years,
                                         float *call, float *put)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float root = sqrtf(years[i]);
    float d1 = (logf(spot[i] / strike[i]) + (rate + 0.5f * volatility * volatility) * years[i]) / (volatility * root);
    float d2 = d1 - volatility * root;
    float n1 = 0.5f * erfcf(-d1 * 0.70710678f), n2 = 0.5f * erfcf(-d2 * 0.70710678f);
    float discounted = strike[i] * expf(-rate * years[i]);
    call[i] = spot[i] * n1 - discounted * n2;
    put[i] = discounted * (1.0f - n2) - spot[i] * (1.0f - n1);
}

// A step of the wave equation over the time before the last
extern "C" __global__ void wave_1d(int n, float c, const float *now, float *before)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i > 0 && i < n - 1)
        before[i] = 2.0f * now[i] - before[i] + c * (now[i - 1] - 2.0f * now[i] + now[i + 1]);
}

// A random walk a thread, with its state kept in memory
extern "C" __global__ void random_walk(int n, int steps, unsigned long long *state, int2 *place)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long s = state[i];
    int2 p = place[i];
    for (int k = 0; k < steps; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
        switch (s >> 62) {
        case 0: p.x++; break;
        case 1: p.x--; break;
        case 2: p.y++; break;
        default: p.y--;
        }
    }
    state[i] = s;
    place[i] = p;
}

// A shortest path's pivot after Floyd and Warshall
extern "C" __global__ void floyd_warshall(int n, int rows, int pivot, int *distance)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < rows && j < n) {
        int through = distance[i * n + pivot] + distance[pivot * n + j];
        if (through < distance[i * n + j])
            distance[i * n + j] = through;
    }
}
