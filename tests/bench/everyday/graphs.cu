// Algorithms on graphs in CSR (start, target) or as lists of edges.

// One level of a breadth-first search, a node a thread
extern "C" __global__ void bfs_level(int nodes, int depth, const int *start, const int *target, int *level, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || level[v] != depth)
        return;
    for (int k = start[v]; k < start[v + 1]; k++) {
        int u = target[k];
        if (level[u] == -1) {
            level[u] = depth + 1;
            *changed = 1;
        }
    }
}

// One level of a breadth-first search with flags of one byte for the frontier and for what has been seen
extern "C" __global__ void bfs_flags(int nodes, const int *start, const int *target, unsigned char *frontier, unsigned char *next,
                                     const unsigned char *seen, int *cost)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < nodes && frontier[v]) {
        frontier[v] = 0;
        for (int k = start[v]; k < start[v + 1]; k++) {
            int u = target[k];
            if (!seen[u]) {
                cost[u] = cost[v] + 1;
                next[u] = 1;
            }
        }
    }
}

// A step of PageRank: a node hands its rank to those it points to
extern "C" __global__ void pagerank_push(int nodes, const int *start, const int *target, const float *rank, float *next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes)
        return;
    int first = start[v], end = start[v + 1];
    float share = 0.85f * rank[v] / (float)(end - first);
    for (int k = first; k < end; k++)
        atomicAdd(next + target[k], share);
}

// A step of PageRank: a node collects from those that point to it
extern "C" __global__ void pagerank_pull(int nodes, const int *__restrict__ start, const int *__restrict__ source,
                                         const int *__restrict__ degree, const float *__restrict__ rank, float *__restrict__ next)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes)
        return;
    float sum = 0.0f;
    for (int k = start[v]; k < start[v + 1]; k++) {
        int u = source[k];
        sum += rank[u] / degree[u];
    }
    next[v] = 0.15f / nodes + 0.85f * sum;
}

__device__ int root_of(int *parent, int v)
{
    while (parent[v] != v) {
        parent[v] = parent[parent[v]];
        v = parent[v];
    }
    return v;
}

// Connected components: an edge a thread joins two trees, the larger root under the smaller
extern "C" __global__ void union_find(int edges, const int *from, const int *to, int *parent)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int a = root_of(parent, from[e]), b = root_of(parent, to[e]);
    while (a != b) {
        int high = max(a, b), low = min(a, b);
        int old = atomicCAS(&parent[high], high, low);
        if (old == high)
            break;
        a = root_of(parent, old);
        b = root_of(parent, low);
    }
}

// Connected components: every node ends up right below its root
extern "C" __global__ void components_flatten(int nodes, int *parent)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes)
        return;
    int p = parent[v];
    while (p != parent[p])
        p = parent[p];
    parent[v] = p;
}

// Every node takes the smallest label around it
extern "C" __global__ void label_propagation(int nodes, const int *start, const int *target, int *label, int *changed)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes)
        return;
    int mine = label[v], best = mine;
    for (int k = start[v]; k < start[v + 1]; k++)
        best = min(best, label[target[k]]);
    if (best < mine) {
        label[v] = best;
        atomicExch(changed, 1);
    }
}

// A round of Bellman and Ford, an edge a thread
extern "C" __global__ void bellman_ford(int edges, const int *from, const int *to, const int *weight, int *distance, int *changed)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int d = distance[from[e]];
    if (d == 0x7fffffff)
        return;
    d += weight[e];
    if (d < distance[to[e]]) {
        atomicMin(&distance[to[e]], d);
        *changed = 1;
    }
}

// Triangles above an edge: what the sorted lists of its two ends share
extern "C" __global__ void triangle_count(int edges, const int *from, const int *start, const int *target, unsigned long long *count)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= edges)
        return;
    int u = from[e], v = target[e];
    int i = start[u], j = start[v], end_i = start[u + 1], end_j = start[v + 1];
    unsigned found = 0;
    while (i < end_i && j < end_j) {
        int a = target[i], b = target[j];
        if (a == b)
            found++;
        if (a <= b)
            i++;
        if (b <= a)
            j++;
    }
    if (found)
        atomicAdd(count, (unsigned long long)found);
}

// In-degrees, an edge a thread
extern "C" __global__ void count_degrees(int edges, const int *to, unsigned *degree)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e < edges)
        atomicAdd(&degree[to[e]], 1u);
}

// A color for the nodes without one whose number is the highest among such neighbors, with a flag that ends the loop
extern "C" __global__ void color_nodes(int nodes, int round, const int *start, const int *target, const unsigned *number, int *color)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || color[v] >= 0)
        return;
    bool highest = true;
    for (int k = start[v]; k < start[v + 1] && highest; k++) {
        int u = target[k];
        if (u != v && (color[u] < 0 || color[u] == round) && number[u] >= number[v])
            highest = false;
    }
    if (highest)
        color[v] = round;
}

// The same, which returns from within the loop
extern "C" __global__ void color_early(int nodes, int round, const int *start, const int *target, const unsigned *number, int *color)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= nodes || color[v] >= 0)
        return;
    for (int k = start[v]; k < start[v + 1]; k++) {
        int u = target[k];
        if (u != v && (color[u] < 0 || color[u] == round) && number[u] >= number[v])
            return;
    }
    color[v] = round;
}
