// Objects that kernels make: virtual functions, the device heap, recursion.
#include "check.h"

struct Shape {
    __device__ virtual int area() const = 0;
    __device__ virtual ~Shape() {}
};
struct Square : Shape {
    int side;
    __device__ Square(int s) : side(s) {}
    __device__ int area() const override { return side * side; }
};
struct Oblong : Shape {
    int width, height;
    __device__ Oblong(int w, int h) : width(w), height(h) {}
    __device__ int area() const override { return width * height; }
};
struct Tree {
    int value;
    Tree *left, *right;
};

__device__ Tree *insert(Tree *t, int value) {
    if (t == nullptr) return new Tree{value, nullptr, nullptr};
    Tree *&next = value < t->value ? t->left : t->right;
    next = insert(next, value);
    return t;
}
__device__ int sum(const Tree *t) { return t ? t->value + sum(t->left) + sum(t->right) : 0; }
__device__ void release(Tree *t) {
    if (t == nullptr) return;
    release(t->left);
    release(t->right);
    delete t;
}

__global__ void work(int *areas, int *sums) {
    int i = threadIdx.x;
    Shape *s = i % 2 ? (Shape *)new Square(i) : (Shape *)new Oblong(i, 3);
    areas[i] = s->area();
    delete s;
    Tree *t = nullptr;
    for (int k = 0; k < 8; k++) t = insert(t, (k * 5 + i) % 7);
    sums[i] = sum(t);
    release(t);
}

int main() {
    const int n = 64;
    int *p, areas[n], sums[n];
    CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    CUDA(cudaDeviceSetLimit(cudaLimitStackSize, 8 << 10));
    CUDA(cudaMalloc(&p, 2 * sizeof areas));
    work<<<1, n>>>(p, p + n);
    CUDA(cudaMemcpy(areas, p, sizeof areas, cudaMemcpyDeviceToHost));
    CUDA(cudaMemcpy(sums, p + n, sizeof sums, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        int expected = 0;
        for (int k = 0; k < 8; k++) expected += (k * 5 + i) % 7;
        CHECK(areas[i] == (i % 2 ? i * i : i * 3) && sums[i] == expected);
    }
    printf("objects: right\n");
}
