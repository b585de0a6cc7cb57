// Dynamic programming and work on texts.

// An antidiagonal of the longest common subsequence of two texts, a cell a thread
extern "C" __global__ void lcs_wavefront(int n, int d, const char *a, const char *b, const int *before, const int *last, int *now)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int j = d - i;
    if (i > n || j < 1 || j > n)
        return;
    if (a[i - 1] == b[j - 1])
        now[i] = before[i - 1] + 1;
    else
        now[i] = max(last[i - 1], last[i]);
}

// Edit distances of pairs of short words, a pair a thread with one row of the table
extern "C" __global__ void edit_distance(int pairs, int stride, const char *a, const char *b, const unsigned char *length_a,
                                         const unsigned char *length_b, int *distance)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= pairs)
        return;
    int row[17];
    int n = length_a[i], m = length_b[i];
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int r = 1; r <= n; r++) {
        int diagonal = row[0];
        row[0] = r;
        char c = a[i * stride + r - 1];
        for (int j = 1; j <= m; j++) {
            int above = row[j];
            int best = min(min(above, row[j - 1]) + 1, diagonal + (c != b[i * stride + j - 1]));
            diagonal = above;
            row[j] = best;
        }
    }
    distance[i] = row[m];
}

// The best local alignment of a query with a sequence a thread, rows side by side in global memory
extern "C" __global__ void smith_waterman(int n, int length, int query_length, const char *query, const char *sequences, short *rows,
                                          short *best)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= n)
        return;
    int top = 0;
    for (int i = 0; i < query_length; i++) {
        int diagonal = 0, left = 0;
        for (int j = 0; j < length; j++) {
            int above = rows[j * n + t];
            int here = diagonal + (query[i] == sequences[j * n + t] ? 3 : -2);
            here = max(max(here, 0), max(above, left) - 1);
            rows[j * n + t] = here;
            top = max(top, here);
            diagonal = above;
            left = here;
        }
    }
    best[t] = top;
}

// Counts how often an automaton accepts within a chunk of bytes
extern "C" __global__ void automaton(int chunks, int length, const unsigned char *text, const unsigned char *next,
                                     const unsigned char *accepts, int *matches)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunks)
        return;
    unsigned state = 0;
    int count = 0;
    for (int k = 0; k < length; k++) {
        state = next[state * 256 + text[i * length + k]];
        count += accepts[state];
    }
    matches[i] = count;
}

// Where a pattern occurs, a position a thread
extern "C" __global__ void string_search(int n, int length, const char *text, const char *pattern, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i + length > n)
        return;
    int k = 0;
    while (k < length && text[i + k] == pattern[k])
        k++;
    found[i] = k == length;
}

// How long the runs are that begin here
extern "C" __global__ void run_length(int n, const unsigned char *data, unsigned short *length)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (i > 0 && data[i - 1] == data[i]) {
        length[i] = 0;
        return;
    }
    int end = i + 1;
    while (end < n && data[end] == data[i])
        end++;
    length[i] = end - i;
}

// Prefix sums of chunks, in place, a chunk a thread
extern "C" __global__ void prefix_chunks(int chunks, int length, int *data, int *total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= chunks)
        return;
    int sum = 0;
    for (int k = 0; k < length; k++) {
        sum += data[i * length + k];
        data[i * length + k] = sum;
    }
    total[i] = sum;
}

// Every letter moved on in the alphabet, and turned into a capital
extern "C" __global__ void caesar(int n, int by, const char *in, char *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    char c = in[i];
    if (c >= 'a' && c <= 'z')
        c = 'A' + (c - 'a' + by) % 26;
    out[i] = c;
}

// The knapsack's table: one item on all capacities
extern "C" __global__ void knapsack_item(int capacity, int weight, int worth, const int *before, int *after)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c > capacity)
        return;
    int best = before[c];
    if (c >= weight)
        best = max(best, before[c - weight] + worth);
    after[c] = best;
}

// Checksums of records of different lengths, by a table
extern "C" __global__ void crc_records(int records, const int *start, const unsigned char *bytes, const unsigned *table, unsigned *crc)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= records)
        return;
    unsigned c = 0xffffffffu;
    for (int k = start[i]; k < start[i + 1]; k++)
        c = table[(c ^ bytes[k]) & 255] ^ (c >> 8);
    crc[i] = ~c;
}
