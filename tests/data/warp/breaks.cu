// What tests/data/warp/breaks.ptx was made of: nvcc -ptx -arch=sm_90 -O3
#define K(name) extern "C" __global__ void name(int n, const int *start, const int *data, int *out, int *masks)
#define I int i = blockIdx.x * blockDim.x + threadIdx.x; int s = 0, m = 0;
// a break within an if
K(break_if) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e & 1023];
        if (x & 1) { s += data[x & 1023]; if (s % 61 == 7) break; s ^= data[s & 1023]; } else s -= data[(e + x) & 1023];
        m += __popc(__activemask());
        masks[i] = m;
    }
    out[i] = s + 1; masks[i] = m + 1000 * __popc(__activemask());
}
// breaks at two depths, code of its own on the way out
K(break_two) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e & 1023];
        if (x & 1) { s += data[x & 1023]; if (x & 16) { if (s % 31 == 7) { s = -s; break; } s ^= data[s & 1023]; } m += __popc(__activemask()); }
        else if (s % 47 == 11) break;
        s += data[(x * 3) & 1023];
        m += 100 * __popc(__activemask());
    }
    out[i] = s + 1; masks[i] = m + 100000 * __popc(__activemask());
}
// out of two loops at once
K(break_both) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        for (int k = 0; k < (data[e & 1023] & 7); k++) {
            int x = data[(e + k * 11) & 1023];
            if (x & 1) { s += data[x & 1023]; if (x % 61 == 7) goto done; } else s ^= data[(x >> 1) & 1023];
            m += __popc(__activemask());
        }
        s += data[s & 1023];
        m += 100 * __popc(__activemask());
    }
done:
    out[i] = s; masks[i] = m + 100000 * __popc(__activemask());
}
// the inner loop only
K(break_inner) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        for (int k = 0; k < (data[e & 1023] & 7); k++) {
            int x = data[(e + k * 11) & 1023];
            if (x & 1) { s += data[x & 1023]; if (s % 5 == 2) break; s -= data[(s * 3) & 1023]; } else s ^= data[(x >> 1) & 1023];
            m += __popc(__activemask());
        }
        s += data[s & 1023];
        m += 100 * __popc(__activemask());
    }
    out[i] = s; masks[i] = m + 100000 * __popc(__activemask());
}
K(continue_if) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e & 1023];
        if (x & 1) { s += data[x & 1023]; if (s % 3 == 1) continue; s ^= data[s & 1023]; if (s % 61 == 7) break; } else s -= data[(e + x) & 1023];
        s += data[(s * 5) & 1023];
        m += __popc(__activemask());
    }
    out[i] = s + 1; masks[i] = m + 1000 * __popc(__activemask());
}
K(break_switch) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e & 1023];
        switch (x & 7) {
        case 0: s += data[x & 1023]; break;
        case 1: s ^= data[(x * 3) & 1023]; if (s & 64) goto done; break;
        case 2: s -= data[(x * 5) & 1023]; 
        case 3: s += data[(x * 7) & 1023]; break;
        case 4: if (s % 71 == 3) goto done; s *= 3; break;
        default: s += x;
        }
        m += __popc(__activemask());
    }
done:
    out[i] = s + 1; masks[i] = m + 1000 * __popc(__activemask());
}
K(after_loop) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e & 1023];
        if (x & 1) { s += data[x & 1023]; if (s % 61 == 7) break; s ^= data[s & 1023]; } else s -= data[(e + x) & 1023];
        m += __popc(__activemask());
    }
    m += 1000 * __popc(__activemask());
    for (int k = 0; k < (s & 7); k++) { s += data[(s + k) & 1023]; if (s & 1) { if (s % 7 == 3) break; s += data[k]; } m += __popc(__activemask()); }
    out[i] = s; masks[i] = m + 100000 * __popc(__activemask());
}
K(in_branch) { I
    if (data[i & 1023] & 3) {
        for (int e = start[i]; e < start[i + 1]; e++) {
            int x = data[e & 1023];
            if (x & 1) { s += data[x & 1023]; if (s % 61 == 7) break; s ^= data[s & 1023]; } else s -= data[(e + x) & 1023];
            m += __popc(__activemask());
        }
        m += 1000 * __popc(__activemask());
        s += data[s & 1023];
    } else s = data[(i * 3) & 1023];
    out[i] = s; masks[i] = m + 100000 * __popc(__activemask());
}
K(return_and_break) { I
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e & 1023];
        if (x & 1) { s += data[x & 1023]; if (s % 61 == 7) break; if (s % 53 == 9) return; s ^= data[s & 1023]; } else s -= data[(e + x) & 1023];
        m += __popc(__activemask());
        masks[i] = m;
    }
    out[i] = s + 1; masks[i] = m + 1000 * __popc(__activemask());
}
K(find_first) { int i = blockIdx.x * blockDim.x + threadIdx.x; int m = 0;
    int hit = -1;
    for (int e = start[i]; e < start[i + 1]; e++) {
        int x = data[e & 1023];
        if (x > 100 && data[x & 1023] > 3000) { if (data[(x + 1) & 1023] < 900) { hit = e; break; } m++; }
        m += 100 * __popc(__activemask());
    }
    out[i] = hit; masks[i] = m + 100000 * __popc(__activemask());
}
