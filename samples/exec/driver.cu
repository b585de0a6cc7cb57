// The driver's calls beside the runtime's: linking PTX, libraries, memory that is mapped to an address range.
#include <cuda.h>

#include <cstring>

#include "check.h"

#define DRIVER(name, ...)                                                                                      \
    do {                                                                                                       \
        void *f_ = nullptr;                                                                                    \
        CUDA(cudaGetDriverEntryPointByVersion(#name, &f_, CUDA_VERSION, cudaEnableDefault, nullptr));          \
        CHECK(((decltype(&name))f_)(__VA_ARGS__) == CUDA_SUCCESS);                                             \
    } while (0)

static const char *caller = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .func (.param .b32 out) twice(.param .b32 in);
.visible .entry work(.param .u64 p) {
    .reg .b64 %a;
    .reg .b32 %r<2>;
    ld.param.u64 %a, [p];
    mov.u32 %r0, %tid.x;
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %r0; call (y), twice, (x); ld.param.b32 %r1, [y]; }
    mad.wide.u32 %a, %r0, 4, %a;
    st.global.u32 [%a], %r1;
    ret;
})";
static const char *called = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .func (.param .b32 out) twice(.param .b32 in) {
    .reg .b32 %r;
    ld.param.b32 %r, [in];
    add.u32 %r, %r, %r;
    st.param.b32 [out], %r;
    ret;
})";

int main() {
    CUDA(cudaFree(0));
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof log}, *image;
    CUlinkState link;
    DRIVER(cuLinkCreate, 2, options, values, &link);
    DRIVER(cuLinkAddData, link, CU_JIT_INPUT_PTX, (void *)caller, strlen(caller) + 1, "caller", 0, nullptr, nullptr);
    DRIVER(cuLinkAddData, link, CU_JIT_INPUT_PTX, (void *)called, strlen(called) + 1, "called", 0, nullptr, nullptr);
    size_t size;
    DRIVER(cuLinkComplete, link, &image, &size);
    CUmodule module;
    CUlibrary library;
    CUfunction function;
    CUkernel kernel;
    DRIVER(cuModuleLoadData, &module, image);
    DRIVER(cuLibraryLoadData, &library, image, nullptr, nullptr, 0, nullptr, nullptr, 0);
    DRIVER(cuLinkDestroy, link);
    DRIVER(cuModuleGetFunction, &function, module, "work");
    DRIVER(cuLibraryGetKernel, &kernel, library, "work");

    CUmemAllocationProp what = {};
    what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    size_t unit;
    DRIVER(cuMemGetAllocationGranularity, &unit, &what, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    CUdeviceptr range;
    CUmemGenericAllocationHandle memory;
    DRIVER(cuMemAddressReserve, &range, 2 * unit, 0, 0, 0);
    DRIVER(cuMemCreate, &memory, unit, &what, 0);
    DRIVER(cuMemMap, range + unit, unit, 0, memory, 0);
    CUmemAccessDesc access = {};
    access.location = what.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER(cuMemSetAccess, range + unit, unit, &access, 1);
    CUdeviceptr p = range + unit;
    void *arguments[] = {&p};
    int out[32];
    for (CUfunction f : {function, (CUfunction)kernel}) {
        DRIVER(cuMemsetD32, p, 0, 32);
        DRIVER(cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, 0, arguments, nullptr);
        DRIVER(cuMemcpyDtoH, out, p, sizeof out);
        for (int i = 0; i < 32; i++) CHECK(out[i] == 2 * i);
    }
    DRIVER(cuMemUnmap, p, unit);
    DRIVER(cuMemRelease, memory);
    DRIVER(cuMemAddressFree, range, 2 * unit);
    DRIVER(cuModuleUnload, module);
    printf("driver: right\n");
}
