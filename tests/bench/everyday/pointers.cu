// Lists and trees, followed node by node.

// Lengths and sums of linked lists
extern "C" __global__ void list_walk(int lists, const int *head, const int *next, const int *value, int *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lists)
        return;
    int s = 0;
    for (int node = head[i]; node != -1; node = next[node])
        s += value[node];
    sum[i] = s;
}

struct Node {
    int key, left, right, value;
};

// Looks keys up in a binary tree
extern "C" __global__ void tree_walk(int n, const Node *tree, const int *key, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = key[i], node = 0, result = -1;
    while (node >= 0) {
        if (tree[node].key == k) {
            result = tree[node].value;
            break;
        }
        node = k < tree[node].key ? tree[node].left : tree[node].right;
    }
    found[i] = result;
}
