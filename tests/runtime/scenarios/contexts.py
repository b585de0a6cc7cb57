"""Before a context, devices, contexts, limits."""

from __future__ import annotations

from ..ptx import KERNELS, PRINTS
from .notes import U32, Notes, scenario


@scenario
def before_init(t: Notes) -> None:
    t("cuDriverGetVersion", quiet=True)
    t("cuDeviceGetCount")
    t("cuDeviceGet", 0)
    t("cuCtxGetCurrent")
    t("cuMemAlloc", 4)
    t("cuGetErrorName", t.cu.CUresult.CUDA_SUCCESS)
    t("cuInit", 1)
    t("cuInit", 0)
    t("cuInit", 0)


@scenario
def without_context(t: Notes) -> None:
    cu = t.cu
    cu.cuInit(0)
    for name, *args in (
        ("cuCtxGetCurrent",), ("cuCtxGetDevice",), ("cuMemAlloc", 4), ("cuMemFree", 4096), ("cuMemGetInfo",), ("cuMemAllocHost", 4), ("cuMemHostAlloc", 4, 0),
        ("cuMemAllocManaged", 4, 1), ("cuCtxSynchronize",), ("cuStreamCreate", 0), ("cuEventCreate", 0), ("cuModuleLoadData", KERNELS.encode() + b"\0"),
        ("cuCtxPopCurrent",), ("cuCtxSetCurrent", 0), ("cuCtxPushCurrent", 0), ("cuCtxGetFlags",), ("cuCtxGetLimit", cu.CUlimit.CU_LIMIT_STACK_SIZE),
        ("cuCtxGetCacheConfig",), ("cuStreamSynchronize", 0), ("cuCtxGetApiVersion", 0), ("cuLinkCreate", 0, [], []), ("cuCtxGetStreamPriorityRange",),
        ("cuMemcpy", 0, 0, 0), ("cuMemsetD8", 4096, 0, 1), ("cuDevicePrimaryCtxGetState", 0), ("cuDevicePrimaryCtxRelease", 0), ("cuDevicePrimaryCtxReset", 0),
        ("cuDevicePrimaryCtxSetFlags", 0, 4), ("cuDevicePrimaryCtxGetState", 0), ("cuDevicePrimaryCtxSetFlags", 0, 3), ("cuPointerGetAttribute", cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 4096),
        ("cuModuleGetLoadingMode",), ("cuDeviceGetDefaultMemPool", 0),
    ):  # fmt: skip
        t(name, *args, step=f"{name}{args[1:] if name.endswith('State') else ''}", quiet=name.endswith("Pool"))


@scenario
def devices(t: Notes) -> None:
    cu = t.cu
    cu.cuInit(0)
    for n in (-1, 0, 99):
        t("cuDeviceGet", n, step=f"get {n}")
    for n in (1, 5, 64):
        t("cuDeviceGetName", n, 0, step=f"name {n}")
    t("cuDeviceComputeCapability", 0)
    p = t("cuDeviceGetProperties", 0, quiet=True)
    for name in (
        "maxThreadsPerBlock",
        "maxThreadsDim",
        "maxGridSize",
        "sharedMemPerBlock",
        "totalConstantMemory",
        "SIMDWidth",
        "memPitch",
        "regsPerBlock",
        "clockRate",
        "textureAlign",
    ):
        t.note(name, getattr(p, name))
    for a in cu.CUdevice_attribute:
        if not a.name.endswith(("_MAX", "_ID")):
            t("cuDeviceGetAttribute", a, 0, step=a.name)
    t("cuDeviceGetAttribute", cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 5, step="attribute of no device")
    t("cuDeviceTotalMem", 5)
    t("cuDeviceCanAccessPeer", 0, 0)
    t("cuDeviceGetP2PAttribute", cu.CUdevice_P2PAttribute.CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0)
    t("cuDeviceGetByPCIBusId", b"ffff:ff:1f.0")
    t("cuDeviceGetPCIBusId", 5, 0)
    t("cuDeviceGetLuid", 0)
    t("cuDevicePrimaryCtxRetain", 9)
    t("cuDeviceGetTexture1DLinearMaxWidth", cu.CUarray_format.CU_AD_FORMAT_FLOAT, 1, 0)


@scenario
def error_words(t: Notes) -> None:
    for e in t.cu.CUresult:
        t("cuGetErrorName", e, step=f"name {e.name}")
        t("cuGetErrorString", e, step=f"string {e.name}")


@scenario
def contexts(t: Notes) -> None:
    cu = t.cu
    first = t.start()
    t("cuDevicePrimaryCtxGetState", 0)
    t("cuCtxGetFlags")
    t("cuCtxSetFlags", 4)
    t("cuCtxGetFlags")
    t("cuCtxSetFlags", 3)
    t("cuCtxGetApiVersion", first)
    t("cuCtxGetId", first, quiet=True)
    mine = t("cuCtxCreate", None, 0, 0)
    t.note("current is the new one", int(cu.cuCtxGetCurrent()[1]) == int(mine))
    t("cuCtxGetApiVersion", mine)
    at = cu.cuMemAlloc(64)[1]
    t.note("popped is the new one", int(t("cuCtxPopCurrent")) == int(mine))
    t.note("then the first", int(cu.cuCtxGetCurrent()[1]) == int(first))
    t("cuMemcpyDtoH", bytearray(8), at, 8, step="copy from the other context's memory")
    t("cuCtxPushCurrent", mine)
    t("cuCtxPushCurrent", mine)
    t("cuCtxDestroy", mine)
    t.note("current is the destroyed one", int(cu.cuCtxGetCurrent()[1]) == int(mine))
    t("cuMemAlloc", 4, step="alloc in what is left")
    t("cuCtxPopCurrent")
    t("cuMemFree", at, step="free memory of the destroyed context")
    t("cuCtxDestroy", first, step="destroy the primary")
    t("cuDevicePrimaryCtxRetain", 0)
    t("cuDevicePrimaryCtxRelease", 0)
    t("cuDevicePrimaryCtxReset", 0)
    t("cuCtxSynchronize", step="after the reset")
    t("cuMemAlloc", 4, step="alloc after the reset")
    t("cuDevicePrimaryCtxGetState", 0)
    t("cuCtxSetCurrent", cu.cuDevicePrimaryCtxRetain(0)[1])
    t("cuMemAlloc", 4, step="alloc with the new one")
    t("cuDevicePrimaryCtxRelease", 0)
    t("cuDevicePrimaryCtxRelease", 0)
    t("cuDevicePrimaryCtxRelease", 0)
    t("cuCtxCreate", None, 7, 0, step="bad flags")
    t("cuCtxCreate", None, 0, 9, step="bad device")


@scenario
def peers(t: Notes) -> None:
    first = t.start()
    t("cuCtxEnablePeerAccess", first, 0, step="itself")
    mine = t.cu.cuCtxCreate(None, 0, 0)[1]
    t("cuCtxEnablePeerAccess", first, 0, step="of one device")
    t("cuCtxEnablePeerAccess", first, 1, step="flags")
    t("cuCtxDisablePeerAccess", first)
    a = t.cu.cuMemAlloc(16)[1]
    t("cuCtxPopCurrent")
    b = t.cu.cuMemAlloc(16)[1]
    t("cuMemcpyPeer", b, first, a, mine, 16)
    t("cuMemcpyPeerAsync", b, first, a, mine, 16, 0)


@scenario
def limits(t: Notes) -> None:
    cu = t.cu
    t.start()
    for which in cu.CUlimit:
        if which.name.endswith("_MAX"):
            continue
        t("cuCtxGetLimit", which, step=f"{which.name} at first")
        for value in (0, 1, 63, 100, 128, 129, 2000, 600_000, 5_000_000, 100_000_000):
            t("cuCtxSetLimit", which, value, step=f"{which.name} = {value}")
            t("cuCtxGetLimit", which, step=f"{which.name} then")
    for c in cu.CUfunc_cache:
        t("cuCtxSetCacheConfig", c)
        t("cuCtxGetCacheConfig")
    for c in cu.CUsharedconfig:
        t("cuCtxSetSharedMemConfig", c)
        t("cuCtxGetSharedMemConfig")
    t("cuCtxGetStreamPriorityRange")
    t("cuCtxResetPersistingL2Cache")
    t("cuProfilerStart")
    t("cuProfilerStop")


@scenario
def limits_in_use(t: Notes) -> None:
    cu = t.cu
    t.start()
    f = t.function("k", PRINTS)
    t("cuCtxSetLimit", cu.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20, step="printf before")
    t.launch(f, 1, 1, ((0,), (U32,)))
    t("cuCtxSynchronize")
    t("cuCtxSetLimit", cu.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE, 2 << 20, step="printf after")
    t("cuCtxSetLimit", cu.CUlimit.CU_LIMIT_MALLOC_HEAP_SIZE, 16 << 20, step="heap after another kernel")
    t("cuCtxSetLimit", cu.CUlimit.CU_LIMIT_STACK_SIZE, 4096, step="stack after")
    t("cuCtxGetLimit", cu.CUlimit.CU_LIMIT_STACK_SIZE)
