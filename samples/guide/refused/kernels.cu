// What the compiler refuses, line by line.
struct Holder { __shared__ int inside; };

__global__ int returns() { return 1; }

__device__ __global__ void both() {}

__global__ void varied(int n, ...) {}

__global__ void assigns() { threadIdx.x = 1; }

__global__ void initialized(int *out) { __shared__ int cell = 3; *out = cell; }

void launches() { both(); }
