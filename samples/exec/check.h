// What all samples share: a failed call or check ends the program with its place.
#pragma once
#include <cstdio>
#include <cstdlib>

#define CUDA(call)                                                                                        \
    do {                                                                                                  \
        cudaError_t e_ = (call);                                                                          \
        if (e_ != cudaSuccess) {                                                                          \
            fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(e_));        \
            exit(1);                                                                                      \
        }                                                                                                 \
    } while (0)
#define CHECK(what)                                                             \
    do {                                                                        \
        if (!(what)) {                                                          \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what);  \
            exit(1);                                                            \
        }                                                                       \
    } while (0)
