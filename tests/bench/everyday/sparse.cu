// Sparse matrices times vectors, in the usual formats.

// y = A x, a row of CSR a thread
extern "C" __global__ void spmv_csr(int rows, const int *start, const int *column, const float *value, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float sum = 0.0f;
        for (int k = start[row]; k < start[row + 1]; k++)
            sum += value[k] * x[column[k]];
        y[row] = sum;
    }
}

// y = A x, a row of CSR a warp, whose lanes share the row's entries
extern "C" __global__ void spmv_csr_warp(int rows, const int *__restrict__ start, const int *__restrict__ column,
                                         const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    int lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = start[row] + lane; k < start[row + 1]; k += 32)
        sum += value[k] * x[column[k]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

// y = A x in ELL: entry k of every row side by side, rows padded with column -1
extern "C" __global__ void spmv_ell(int rows, int width, const int *column, const double *value, const double *x, double *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    double sum = 0.0;
    for (int k = 0; k < width; k++) {
        int c = column[k * rows + row];
        if (c >= 0)
            sum += value[k * rows + row] * x[c];
    }
    y[row] = sum;
}

// y += A x, an entry of COO a thread
extern "C" __global__ void spmv_coo(int entries, const int *row, const int *column, const float *value, const float *x, float *y)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < entries)
        atomicAdd(&y[row[k]], value[k] * x[column[k]]);
}

// y += A' x, a row of CSR a thread: results are scattered
extern "C" __global__ void spmv_transpose(int rows, const int *start, const int *column, const float *value, const float *x, float *y)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float mine = x[row];
        int end = start[row + 1];
        for (int k = start[row]; k < end; k++)
            atomicAdd(&y[column[k]], value[k] * mine);
    }
}

// Y = A X with a dense X of few columns, an element of Y a thread
extern "C" __global__ void spmm_csr(int rows, int width, const int *__restrict__ start, const int *__restrict__ column,
                                    const float *__restrict__ value, const float *__restrict__ x, float *__restrict__ y)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y;
    int j = threadIdx.x;
    if (row >= rows || j >= width)
        return;
    float sum = 0.0f;
    for (int k = start[row]; k < start[row + 1]; k++)
        sum += value[k] * x[column[k] * width + j];
    y[row * width + j] = sum;
}

// The products of rows of U and V where a sparse matrix has entries
extern "C" __global__ void sddmm(int entries, const int *row, const int *column, const float4 *u, const float4 *v, float *out)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= entries)
        return;
    float sum = 0.0f;
    for (int q = 0; q < 2; q++) {
        float4 a = u[row[k] * 2 + q];
        float4 b = v[column[k] * 2 + q];
        sum += a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
    }
    out[k] = sum;
}

// Divides every row of CSR by its sum, in place
extern "C" __global__ void csr_normalize(int rows, const int *start, float *value)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0.0f;
    for (int k = start[row]; k < start[row + 1]; k++)
        sum += value[k];
    for (int k = start[row]; k < start[row + 1]; k++)
        value[k] /= sum;
}
