// A list of nodes.  nodes_nvcc.ptx: nvcc -G -ptx -arch=sm_80 nodes.cu (13.0); nodes_clang.ptx: clang -x cuda --cuda-gpu-arch=sm_80
// --cuda-device-only -nocudainc -nocudalib -g -S nodes.cu (22.1).
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define THREAD __nvvm_read_ptx_sreg_tid_x()
#define __syncthreads() asm volatile("bar.sync 0;" ::: "memory")
#else
#define THREAD threadIdx.x
#endif

struct Node {
    int key;
    float weights[3];
    Node *next;
};
enum class Colour { red, green = 5 };
typedef unsigned int word;
namespace geometry {
template <typename T> struct Pair {
    T x, y;
    __device__ T dot(const Pair &other) const {
        T sum = x * other.x + y * other.y;
        return sum;
    }
};
}
struct Flags {
    word low : 3, high : 5;
    bool is_last;
    char name[4];
};

__device__ int square(int value) {
    int result = value * value;
    return result + 1;
}

extern "C" __global__ void walk(Node *nodes, int n, float *sums) {
    __shared__ float tile[32];
    int i = THREAD;
    Node *p = &nodes[i];
    p->key = i * 10;
    p->weights[1] = i / 2.0f;
    p->next = &nodes[(i + 1) % n];
    __syncthreads();
    geometry::Pair<float> pair = {1.5f, (float)i};
    Colour colour = i & 1 ? Colour::green : Colour::red;
    Flags flags = {(word)i & 7, (word)i & 31, i == n - 1, {'o', 'k'}};
    int squares[4];
    for (int k = 0; k < 4; ++k) {
        int last = square(k + i);
        squares[k] = last;
    }
    tile[i] = pair.dot(pair);
    __syncthreads();
    sums[i] = p->next->key + squares[i & 3] + tile[31 - i] + (int)colour + flags.is_last;
}
