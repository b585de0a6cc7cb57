// Dense matrices and the layers of neural networks.
#include <cuda_fp16.h>

// C = A B, an element a thread
extern "C" __global__ void matmul_naive(int m, int n, int k, const float *a, const float *b, float *c)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + col];
    c[row * n + col] = sum;
}

// C = A B by tiles of 16
extern "C" __global__ void matmul_tiled(int n, int k, const float *a, const float *b, float *c)
{
    __shared__ float ta[16][16], tb[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float sum = 0.0f;
    for (int i = 0; i < k; i += 16) {
        ta[ty][tx] = a[row * k + i + tx];
        tb[ty][tx] = b[(i + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += ta[ty][j] * tb[j][tx];
        __syncthreads();
    }
    c[row * n + col] = sum;
}

// Softmax, a row a thread
extern "C" __global__ void softmax_row(int rows, int width, const float *in, float *out)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    const float *x = in + row * width;
    float most = x[0], sum = 0.0f;
    for (int i = 1; i < width; i++)
        most = fmaxf(most, x[i]);
    for (int i = 0; i < width; i++)
        sum += expf(x[i] - most);
    for (int i = 0; i < width; i++)
        out[row * width + i] = expf(x[i] - most) / sum;
}

// Softmax, a row a warp
extern "C" __global__ void softmax_warp(int rows, int width, const float *__restrict__ in, float *__restrict__ out)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (row >= rows)
        return;
    float most = -INFINITY, sum = 0.0f;
    for (int i = lane; i < width; i += 32)
        most = fmaxf(most, in[row * width + i]);
    for (int s = 16; s > 0; s >>= 1)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, s));
    for (int i = lane; i < width; i += 32)
        sum += __expf(in[row * width + i] - most);
    for (int s = 16; s > 0; s >>= 1)
        sum += __shfl_xor_sync(0xffffffff, sum, s);
    for (int i = lane; i < width; i += 32)
        out[row * width + i] = __expf(in[row * width + i] - most) / sum;
}

// Layer norm, a row a block
extern "C" __global__ void layer_norm(int width, const float *in, const float *gain, const float *bias, float *out)
{
    __shared__ float sums[128], squares[128];
    int t = threadIdx.x;
    const float *x = in + blockIdx.x * width;
    float sum = 0.0f, square = 0.0f;
    for (int i = t; i < width; i += 128) {
        sum += x[i];
        square += x[i] * x[i];
    }
    sums[t] = sum;
    squares[t] = square;
    for (int s = 64; s > 0; s >>= 1) {
        __syncthreads();
        if (t < s) {
            sums[t] += sums[t + s];
            squares[t] += squares[t + s];
        }
    }
    __syncthreads();
    float mean = sums[0] / width, scale = rsqrtf(squares[0] / width - mean * mean + 1e-5f);
    for (int i = t; i < width; i += 128)
        out[blockIdx.x * width + i] = (x[i] - mean) * scale * gain[i] + bias[i];
}

// Rows of a table, by token
extern "C" __global__ void embedding(int width, const int *token, const float *table, float *out)
{
    int t = blockIdx.x * blockDim.y + threadIdx.y;
    out[t * width + threadIdx.x] = table[token[t] * width + threadIdx.x];
}

// The largest of two by two
extern "C" __global__ void max_pool(int n, int out_width, int out_height, const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int x = i % out_width, y = i / out_width % out_height, plane = i / (out_width * out_height);
    const float *p = in + (plane * out_height * 2 + y * 2) * out_width * 2 + x * 2;
    out[i] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[out_width * 2], p[out_width * 2 + 1]));
}

// A convolution of three by three with some channels, and ReLU
extern "C" __global__ void conv2d(int channels, int width, int height, const float *in, const float *weight, const float *bias, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, k = blockIdx.z;
    if (x >= width || y >= height)
        return;
    float sum = bias[k];
    for (int c = 0; c < channels; c++)
        for (int dy = -1; dy <= 1; dy++)
            for (int dx = -1; dx <= 1; dx++) {
                int u = x + dx, v = y + dy;
                if (u >= 0 && v >= 0 && u < width && v < height)
                    sum += in[(c * height + v) * width + u] * weight[((k * channels + c) * 3 + dy + 1) * 3 + dx + 1];
            }
    out[(k * height + y) * width + x] = fmaxf(sum, 0.0f);
}

// Scores of attention with a causal mask
extern "C" __global__ void attention_scores(int queries, int keys, int dim, const float *q, const float *k, float *score)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= queries || j >= keys)
        return;
    float sum = -INFINITY;
    if (j <= i) {
        sum = 0.0f;
        for (int d = 0; d < dim; d++)
            sum += q[i * dim + d] * k[j * dim + d];
        sum *= rsqrtf((float)dim);
    }
    score[i * keys + j] = sum;
}

// y = A x + y, a row a thread
extern "C" __global__ void gemv(int rows, int cols, const double *a, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = y[row];
    for (int i = 0; i < cols; i++)
        sum += a[row * cols + i] * x[i];
    y[row] = sum;
}

// Batch norm for inference, in place
extern "C" __global__ void batch_norm(int n, int area, int channels, float *x, const float *mean, const float *var, const float *gain,
                                      const float *bias)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int c = i / area % channels;
    x[i] = gain[c] * (x[i] - mean[c]) / sqrtf(var[c] + 1e-5f) + bias[c];
}

// Where the largest of a row is, a row a warp
extern "C" __global__ void argmax(int rows, int width, const float *in, int *where)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
    if (row >= rows)
        return;
    float best = -INFINITY;
    int at = 0;
    for (int i = lane; i < width; i += 32)
        if (in[row * width + i] > best) {
            best = in[row * width + i];
            at = i;
        }
    for (int s = 16; s > 0; s >>= 1) {
        float other = __shfl_down_sync(0xffffffff, best, s);
        int other_at = __shfl_down_sync(0xffffffff, at, s);
        if (other > best || (other == best && other_at < at)) {
            best = other;
            at = other_at;
        }
    }
    if (lane == 0)
        where[row] = at;
}

// The four largest of a row, a row a thread
extern "C" __global__ void top_k(int rows, int width, const float *in, float *out, unsigned char *where)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float best[4] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY};
    int at[4] = {0, 0, 0, 0};
    for (int i = 0; i < width; i++) {
        float x = in[row * width + i];
        if (x <= best[3])
            continue;
        int k = 3;
        for (; k > 0 && best[k - 1] < x; k--) {
            best[k] = best[k - 1];
            at[k] = at[k - 1];
        }
        best[k] = x;
        at[k] = i;
    }
    for (int k = 0; k < 4; k++) {
        out[row * 4 + k] = best[k];
        where[row * 4 + k] = at[k];
    }
}

// Numbers to eight bits, with a scale for each row
extern "C" __global__ void quantize(int n, int width, const float *x, const float *scale, signed char *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (signed char)max(-127, min(127, __float2int_rn(x[i] / scale[i / width])));
}

// Bias and GELU in half precision
extern "C" __global__ void bias_gelu(int n, int width, const __half *in, const __half *bias, __half *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float x = __half2float(in[i]) + __half2float(bias[i % width]);
    out[i] = __float2half(0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))));
}
