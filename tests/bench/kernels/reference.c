/* The work of the six kernels as a C programmer writes it for one core; prints "name seconds" of the median run. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define APART __attribute__((noinline))

APART static void vecadd(const float *a, const float *b, float *c, int n) {
    for (int i = 0; i < n; i++) c[i] = a[i] + b[i];
}

APART static void saxpy(float *x, float a, float b, int turns, int n) { /* by blocks of lanes, so that it vectorizes */
    for (int first = 0; first < n; first += 128) {
        float *v = x + first;
        for (int k = 0; k < turns; k++)
            for (int l = 0; l < 128; l++) v[l] = fmaf(a, v[l], b);
    }
}

APART static void matmul(const float *a, const float *b, float *c, int n) {
    for (int row = 0; row < n; row++)
        for (int first = 0; first < n; first += 64) {
            float sum[64] = {0};
            for (int k = 0; k < n; k++)
                for (int l = 0; l < 64; l++) sum[l] = fmaf(a[row * n + k], b[k * n + first + l], sum[l]);
            memcpy(c + row * n + first, sum, sizeof sum);
        }
}

APART static void tiled(const float *a, const float *b, float *c, int n) {
    float left[16][16], right[16][16], sum[16][16];
    for (int by = 0; by < n; by += 16)
        for (int bx = 0; bx < n; bx += 16) {
            memset(sum, 0, sizeof sum);
            for (int tile = 0; tile < n; tile += 16) {
                for (int y = 0; y < 16; y++) {
                    memcpy(left[y], a + (by + y) * n + tile, sizeof left[y]);
                    memcpy(right[y], b + (tile + y) * n + bx, sizeof right[y]);
                }
                for (int y = 0; y < 16; y++)
                    for (int k = 0; k < 16; k++) {
                        float l = left[y][k];
                        for (int x = 0; x < 16; x++) sum[y][x] = fmaf(l, right[k][x], sum[y][x]);
                    }
            }
            for (int y = 0; y < 16; y++) memcpy(c + (by + y) * n + bx, sum[y], sizeof sum[y]);
        }
}

APART static void reduce(const float *in, float *out, int n) {
    float part[256];
    for (int block = 0; block < n / 256; block++) {
        memcpy(part, in + block * 256, sizeof part);
        for (int half = 128; half; half >>= 1)
            for (int t = 0; t < half; t++) part[t] += part[t + half];
        out[block] = part[0];
    }
}

APART static void collatz(int *out, int n) {
    for (int i = 0; i < n; i++) {
        unsigned v = i + 1;
        int steps = 0;
        for (; v != 1; steps++) v = v & 1 ? 3 * v + 1 : v >> 1;
        out[i] = steps;
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#define TIME(name, call)                                    \
    do {                                                    \
        double runs[9];                                     \
        call;                                               \
        for (int r = 0; r < 9; r++) {                       \
            double start = now();                           \
            for (int k = 0; k < 8; k++) call;               \
            runs[r] = (now() - start) / 8;                  \
        }                                                   \
        qsort(runs, 9, sizeof *runs, ascending);            \
        printf("%s %.6e\n", name, runs[4]);                 \
    } while (0)

int main(void) {
    int n = 1 << 20;
    float *a = malloc(n * sizeof *a), *b = malloc(n * sizeof *b), *c = malloc(n * sizeof *c);
    int *steps = malloc(n * sizeof *steps);
    for (int i = 0; i < n; i++) a[i] = i % 1000 * 0.001f, b[i] = i % 777 * 0.001f, c[i] = 0;
    TIME("k1_vecadd", vecadd(a, b, c, n));
    TIME("k2_saxpy", saxpy(c, 0.5f, 0.25f, 64, 1 << 18));
    TIME("k3_matmul", matmul(a, b, c, 256));
    TIME("k4_tiled", tiled(a, b, c, 256));
    TIME("k5_reduce", reduce(a, c, n));
    TIME("k5s_reduce", reduce(a, c, n));
    TIME("k6_collatz", collatz(steps, 1 << 16));
    return 0;
}
