// Grids and images.

// A step of the heat equation in two dimensions
extern "C" __global__ void heat_2d(int width, int height, float rate, const float *old, float *fresh)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        int i = y * width + x;
        fresh[i] = old[i] + rate * (old[i - 1] + old[i + 1] + old[i - width] + old[i + width] - 4.0f * old[i]);
    }
}

// Seven points in three dimensions, a column a thread that keeps three of them
extern "C" __global__ void stencil_3d(int nx, int ny, int nz, const float *__restrict__ in, float *__restrict__ out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    int plane = nx * ny, i = y * nx + x;
    float below = in[i], here = in[i + plane];
    for (int z = 1; z < nz - 1; z++) {
        i += plane;
        float above = in[i + plane];
        out[i] = 0.4f * here + 0.1f * (below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx]);
        below = here;
        here = above;
    }
}

// A sweep of Jacobi for Poisson's equation, with the largest change of each block
extern "C" __global__ void jacobi(int width, int height, const double *f, const double *old, double *fresh, double *change)
{
    __shared__ double most[256];
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    most[t] = 0.0;
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        int i = y * width + x;
        double u = 0.25 * (old[i - 1] + old[i + 1] + old[i - width] + old[i + width] - f[i]);
        most[t] = fabs(u - old[i]);
        fresh[i] = u;
    }
    __syncthreads();
    for (int s = 128; s > 0; s >>= 1) {
        if (t < s)
            most[t] = fmax(most[t], most[t + s]);
        __syncthreads();
    }
    if (t == 0)
        change[blockIdx.y * gridDim.x + blockIdx.x] = most[0];
}

// Edges of a gray image
extern "C" __global__ void sobel(int width, int height, const unsigned char *in, unsigned char *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= width - 1 || y >= height - 1)
        return;
    const unsigned char *p = in + y * width + x;
    int gx = p[1 - width] + 2 * p[1] + p[1 + width] - p[-1 - width] - 2 * p[-1] - p[width - 1];
    int gy = p[width - 1] + 2 * p[width] + p[width + 1] - p[-width - 1] - 2 * p[-width] - p[1 - width];
    int strength = abs(gx) + abs(gy);
    out[y * width + x] = strength > 255 ? 255 : strength;
}

// The negative of an image, in place
extern "C" __global__ void invert_u8(int n, unsigned char *image)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        image[i] = 255 - image[i];
}

// Samples of 16 bits times a factor
extern "C" __global__ void scale_u16(int n, float factor, const unsigned short *in, unsigned short *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (unsigned short)fminf(in[i] * factor + 0.5f, 65535.0f);
}

// Three bytes a pixel to one
extern "C" __global__ void rgb_to_gray(int n, const unsigned char *rgb, unsigned char *gray)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        gray[i] = (unsigned char)(0.299f * rgb[3 * i] + 0.587f * rgb[3 * i + 1] + 0.114f * rgb[3 * i + 2]);
}

// An image in another size, by bilinear interpolation
extern "C" __global__ void resize_bilinear(int width, int height, int from_width, int from_height, const unsigned char *in,
                                           unsigned char *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sx = fmaxf((x + 0.5f) * from_width / width - 0.5f, 0.0f), sy = fmaxf((y + 0.5f) * from_height / height - 0.5f, 0.0f);
    int x0 = (int)sx, y0 = (int)sy;
    int x1 = min(x0 + 1, from_width - 1), y1 = min(y0 + 1, from_height - 1);
    float ax = sx - x0, ay = sy - y0;
    float top = in[y0 * from_width + x0] * (1 - ax) + in[y0 * from_width + x1] * ax;
    float bottom = in[y1 * from_width + x0] * (1 - ax) + in[y1 * from_width + x1] * ax;
    out[y * width + x] = (unsigned char)(top * (1 - ay) + bottom * ay + 0.5f);
}

// A box filter along rows, a row a thread with a running sum
extern "C" __global__ void box_rows(int width, int height, int radius, const float *in, float *out)
{
    int y = blockIdx.x * blockDim.x + threadIdx.x;
    if (y >= height)
        return;
    const float *row = in + y * width;
    float sum = 0.0f, scale = 1.0f / (2 * radius + 1);
    for (int x = -radius; x < width; x++) {
        if (x + radius < width)
            sum += row[x + radius];
        if (x - radius - 1 >= 0)
            sum -= row[x - radius - 1];
        if (x >= 0)
            out[y * width + x] = sum * scale;
    }
}

// How often each of 256 values occurs, counted in shared memory first
extern "C" __global__ void histogram_shared(int n, const unsigned char *data, unsigned *bins)
{
    __shared__ unsigned mine[256];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

__constant__ float blur[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};

// A blur of five by five points from a tile with a rim
extern "C" __global__ void convolve_tile(int width, int height, const float *in, float *out)
{
    __shared__ float tile[20][20];
    int x0 = blockIdx.x * 16 - 2, y0 = blockIdx.y * 16 - 2;
    for (int i = threadIdx.y * 16 + threadIdx.x; i < 400; i += 256) {
        int x = min(max(x0 + i % 20, 0), width - 1), y = min(max(y0 + i / 20, 0), height - 1);
        tile[i / 20][i % 20] = in[y * width + x];
    }
    __syncthreads();
    int x = x0 + 2 + threadIdx.x, y = y0 + 2 + threadIdx.y;
    if (x >= width || y >= height)
        return;
    float sum = 0.0f;
    for (int dy = 0; dy < 5; dy++)
        for (int dx = 0; dx < 5; dx++)
            sum += blur[dy] * blur[dx] * tile[threadIdx.y + dy][threadIdx.x + dx];
    out[y * width + x] = sum;
}

// Rows to columns, with stores far apart
extern "C" __global__ void transpose_naive(int width, int height, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height)
        out[x * height + y] = in[y * width + x];
}

// Rows to columns through a tile, four elements a thread
extern "C" __global__ void transpose_tiled(int width, int height, const float *in, float *out)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

// A generation of the Game of Life, a byte a cell, on a torus
extern "C" __global__ void game_of_life(int width, int height, const unsigned char *old, unsigned char *fresh)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height)
        return;
    int left = (x + width - 1) % width, right = (x + 1) % width;
    int up = (y + height - 1) % height * width, down = (y + 1) % height * width, row = y * width;
    int around = old[up + left] + old[up + x] + old[up + right] + old[row + left] + old[row + right];
    around += old[down + left] + old[down + x] + old[down + right];
    fresh[row + x] = around == 3 || (around == 2 && old[row + x]);
}
