// What tests/data/warp/returns_in_loops.ptx was made of: nvcc -ptx -arch=sm_90 -O3
#define K(name) extern "C" __global__ void name(int n, const int *start, const int *data, int *out, int *masks)
// a branch within the loop, a return in the middle
K(early_plain) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0, m = 0;
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e];
        if (x & 1) { s += x * 3; if (x & 8) s ^= data[(e * 7) & 1023]; } else s -= data[(e + x) & 1023];
        m += __popc(__activemask());
        masks[i] = m;
        if ((x & 0xf0) == 0) return;
        out[i] = s;
    }
    out[i] = s + 1;
}
K(early_three) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0, m = 0;
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e];
        if (x != i && data[x & 1023] < 500 && (x & 3)) { out[i] = s; return; }
        s += x;
        if (x & 4) s += data[(s & 1023)];
        m += __popc(__activemask());
        masks[i] = m;
    }
    out[i] = s + 1;
}
K(early_store_after) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0, m = 0;
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e];
        if (x & 2) s += data[x & 1023]; else if (x & 16) s -= data[(x * 5) & 1023]; else s ^= x;
        if (s % 37 == 5) { out[i] = -s; masks[i] = m; return; }
        m += __popc(__activemask());
    }
    out[i] = s; masks[i] = m;
}
K(early_nested) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int s = 0, m = 0;
    for (int e = start[i]; e < start[i + 1]; e++) {
        for (int k = 0; k < (data[e] & 3); k++) {
            int x = data[(e + k * 11) & 1023];
            if (x & 1) s += data[x & 1023];
            m += __popc(__activemask());
            if (x % 61 == 7) { out[i] = s; masks[i] = m; return; }
        }
        m += 100 * __popc(__activemask());
    }
    out[i] = s; masks[i] = m;
}
K(early_while) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int node = data[i & 1023] & 1023, m = 0, s = 0;
    while (true) {
        int x = data[node];
        if (x < 3) { out[i] = s; masks[i] = m; return; }
        if (x & 1) s += x; else s += data[x & 1023];
        m += __popc(__activemask());
        if (s > 20000) { out[i] = -1; masks[i] = m; return; }
        node = (node * 5 + x) & 1023;
    }
}
