// What the host programs of the guide share: a table with a column for each device, and the time between two events.
#pragma once
#include "../../exec/check.h"

// Microseconds that the current device needs for what a function starts.
template <typename Work> float us(Work work)
{
    float ms;
    cudaEvent_t begun, done;
    CUDA(cudaEventCreate(&begun));
    CUDA(cudaEventCreate(&done));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaEventRecord(begun));
    work();
    CUDA(cudaEventRecord(done));
    CUDA(cudaEventSynchronize(done));
    CUDA(cudaEventElapsedTime(&ms, begun, done));
    return ms * 1e3f;
}

struct Table {
    static const int MOST = 32;
    char cells[MOST][8][16];
    const char *names[MOST];
    int rows = 0, columns = 0, row = 0;

    void column()  // for the current device
    {
        cudaDeviceProp p;
        CUDA(cudaGetDeviceProperties(&p, columns++));
        row = 0;
        set("microseconds", "%d.%d", p.major, p.minor);
    }
    template <typename... Values> void set(const char *name, const char *format, Values... values)
    {
        names[row] = name;
        snprintf(cells[row++][columns - 1], sizeof cells[0][0], format, values...);
        rows = row;
    }
    void print()
    {
        for (int r = 0; r < rows; r++) {
            printf("%-36s", names[r]);
            for (int c = 0; c < columns; c++) printf(" %8s", cells[r][c]);
            printf("\n");
        }
    }
};

// Prints what a function measures on each device.
inline void on_each_device(void (*measure)(Table &))
{
    int devices;
    static Table table;
    CUDA(cudaGetDeviceCount(&devices));
    for (int i = 0; i < devices; i++) {
        CUDA(cudaSetDevice(i));
        table.column();
        measure(table);
    }
    table.print();
}
