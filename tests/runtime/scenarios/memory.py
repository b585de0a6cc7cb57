"""Allocation, registration, pointer attributes, copies and memset, pools, managed memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .notes import Notes, scenario


@scenario
def allocation(t: Notes) -> None:
    t.start()
    t("cuMemAlloc", 0)
    t("cuMemAlloc", 1 << 50)
    a, b = t("cuMemAlloc", 1), t("cuMemAlloc", 1)
    t.note("aligned", int(a) % 256, int(b) % 256)
    t("cuMemFree", 0)
    t("cuMemFree", int(a) + 1, step="free inside")
    t("cuMemFree", a)
    t("cuMemFree", a, step="free again")
    t("cuMemFree", 0x1234, step="free nonsense")
    for width, height, size in (
        (1, 1, 4),
        (4, 7, 4),
        (100, 7, 4),
        (512, 3, 8),
        (513, 3, 16),
        (5000, 2, 4),
        (1 << 20, 1, 4),
        (100, 7, 5),
        (0, 7, 4),
        (7, 0, 4),
    ):
        found = t("cuMemAllocPitch", width, height, size, step=f"pitch {width} x {height} of {size}")
        del found
    for flags in (0, 1, 2, 3, 4, 7, 8, 16):
        p = t("cuMemHostAlloc", 64, flags, step=f"host {flags}", quiet=True)
        if p:
            t("cuMemHostGetFlags", p, step=f"flags of host {flags}")
            t("cuMemHostGetDevicePointer", p, 0, step="its device pointer")
            t("cuMemHostGetDevicePointer", p + 5, 0, step="inside")
            t("cuMemHostGetDevicePointer", p, 1, step="with a flag")
            t("cuMemFreeHost", p)
    t("cuMemHostAlloc", 0, 0)
    t("cuMemAllocHost", 0)
    p = t("cuMemAllocHost", 100, quiet=True)
    t("cuMemHostGetFlags", p)
    t("cuMemFreeHost", p + 1, step="free host inside")
    t("cuMemFree", p, step="device free of host memory")
    t("cuMemFreeHost", p)
    t("cuMemFreeHost", p, step="host free again")
    t("cuMemFreeHost", int(b), step="host free of device memory")
    t("cuMemFreeHost", 0)
    for flags in (0, 1, 2, 3, 4):
        m = t("cuMemAllocManaged", 64, flags, step=f"managed {flags}")
        if m is not None and int(m):
            t("cuMemHostGetFlags", int(m), step="flags of managed")
            t("cuMemFreeHost", int(m), step="host free of managed")
            t("cuMemFree", m)
    t("cuMemAllocManaged", 0, 1)
    t("cuMemGetInfo", quiet=True)


@scenario
def registered(t: Notes) -> None:
    t.start()
    own = np.zeros(1 << 16, np.uint8)
    at = own.ctypes.data
    t("cuMemHostGetDevicePointer", at, 0, step="device pointer of plain memory")
    t("cuMemHostGetFlags", at, step="flags of plain memory")
    t("cuMemHostUnregister", at, step="unregister plain memory")
    t("cuMemHostRegister", 0, 16, 0, step="null")
    t("cuMemHostRegister", at, 0, 0, step="no size")
    t("cuMemHostRegister", at, 1 << 16, 64, step="bad flags")
    t("cuMemHostRegister", at, 1 << 16, 0)
    t("cuMemHostRegister", at, 16, 0, step="again")
    t("cuMemHostRegister", at + 4096, 1 << 16, 0, step="overlapping")
    t("cuMemHostGetDevicePointer", at + 8, 0, step="device pointer inside")
    t("cuMemHostGetFlags", at)
    t("cuMemFreeHost", at, step="free host of registered")
    t("cuMemHostUnregister", at + 8, step="unregister inside")
    t("cuMemHostUnregister", at)
    t("cuMemHostUnregister", at, step="unregister again")
    t("cuMemHostRegister", at, 1 << 16, 2)
    t("cuMemHostGetFlags", at)
    t("cuMemHostUnregister", at)
    pinned = t.cu.cuMemAllocHost(4096)[1]
    t("cuMemHostRegister", pinned, 4096, 0, step="register pinned")
    t("cuMemHostUnregister", pinned, step="unregister pinned")


@scenario
def pointers(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    own, plain_memory = np.zeros(8192, np.uint8), np.zeros(64, np.uint8)
    cu.cuMemHostRegister(own.ctypes.data, own.nbytes, 0)
    device, managed, pinned = t.memory(1000), int(cu.cuMemAllocManaged(1000, 1)[1]), cu.cuMemAllocHost(1000)[1]
    pooled = int(cu.cuMemAllocAsync(1000, 0)[1])
    symbol = int(cu.cuModuleGetGlobal(m, b"counter")[1])
    shared = int(cu.cuModuleGetGlobal(m, b"both")[1])
    cu.cuStreamSynchronize(0)
    gone = t.memory(64)
    cu.cuMemFree(gone)
    places = {"device": device, "inside": device + 10, "managed": managed, "pinned": pinned, "pooled": pooled, "registered": own.ctypes.data,
              "plain": plain_memory.ctypes.data, "symbol": symbol, "managed symbol": shared, "freed": gone, "null": 0}  # fmt: skip
    which = cu.CUpointer_attribute
    kinds = [getattr(which, f"CU_POINTER_ATTRIBUTE_{n}") for n in (
        "CONTEXT", "MEMORY_TYPE", "DEVICE_POINTER", "HOST_POINTER", "SYNC_MEMOPS", "IS_MANAGED", "DEVICE_ORDINAL", "IS_LEGACY_CUDA_IPC_CAPABLE",
        "RANGE_START_ADDR", "RANGE_SIZE", "MAPPED", "ALLOWED_HANDLE_TYPES", "IS_GPU_DIRECT_RDMA_CAPABLE", "ACCESS_FLAGS", "MEMPOOL_HANDLE")]  # fmt: skip
    for name, at in places.items():
        for kind in kinds:
            value = t("cuPointerGetAttribute", kind, at, step=f"{name} {kind.name[21:]}", quiet=True)
            if (
                kind.name[21:] in ("MEMORY_TYPE", "SYNC_MEMOPS", "IS_MANAGED", "DEVICE_ORDINAL", "MAPPED", "ACCESS_FLAGS")
                and value is not None
            ):
                t.note("value", int(value))
            elif kind.name.endswith(("_POINTER", "START_ADDR")) and value is not None:
                t.note("offset", int(value) - at)
            elif kind.name.endswith(("CONTEXT", "MEMPOOL_HANDLE")) and value is not None:
                t.note("set", bool(int(value)))
        found = t("cuPointerGetAttributes", 4, [kinds[1], kinds[5], kinds[6], kinds[10]], at, step=f"{name} several", quiet=True)
        t.note("values", [int(v) for v in found] if found else None)
        base = t("cuMemGetAddressRange", at, step=f"{name} range", quiet=True)
        if base and base[0] is not None:
            t.note("range", int(base[0]) - at, base[1] if name not in ("symbol", "managed symbol") else "some")
    t("cuPointerSetAttribute", True, which.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device)
    t("cuPointerGetAttribute", which.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, device, quiet=True)


@scenario
def copies(t: Notes) -> None:
    cu = t.cu
    t.start()
    a, b, host = t.memory(4096), t.memory(4096), np.arange(1024, dtype=np.uint32)
    at = host.ctypes.data
    managed, pinned = int(cu.cuMemAllocManaged(4096, 1)[1]), cu.cuMemAllocHost(4096)[1]
    for name, args in {
        "h to d": ("cuMemcpyHtoD", a, at, 4096), "d to h": ("cuMemcpyDtoH", at, a, 4096), "d to d": ("cuMemcpyDtoD", b, a, 4096),
        "any": ("cuMemcpy", b, at, 64), "any h to h": ("cuMemcpy", at, at + 64, 64), "nothing": ("cuMemcpyHtoD", a, at, 0),
        "nothing from null": ("cuMemcpyHtoD", a, 0, 0), "nothing to null": ("cuMemcpyDtoH", 0, a, 0), "null device": ("cuMemcpyHtoD", 0, at, 4),
         "null source": ("cuMemcpyDtoH", at, 0, 4), "host as device": ("cuMemcpyHtoD", at, at + 64, 4),
        "host as source device": ("cuMemcpyDtoH", at, at + 64, 4), "device as host": ("cuMemcpyHtoD", a, b, 64), "to device as host": ("cuMemcpyDtoH", b, a, 64),
        "d to d of host": ("cuMemcpyDtoD", a, at, 4), "d to d of managed": ("cuMemcpyDtoD", a, managed, 4), "d to d of pinned": ("cuMemcpyDtoD", a, pinned, 4),
        "h to d of managed": ("cuMemcpyHtoD", managed, at, 64), "d to h of managed": ("cuMemcpyDtoH", at, managed, 64),
        "nonsense": ("cuMemcpyDtoH", at, 0x7777, 4), "async h to d": ("cuMemcpyHtoDAsync", a, at, 64, 0), "async d to h": ("cuMemcpyDtoHAsync", at, a, 64, 0),
        "async d to d": ("cuMemcpyDtoDAsync", b, a, 64, 0), "async any": ("cuMemcpyAsync", b, at, 64, 0), "async null": ("cuMemcpyHtoDAsync", 0, at, 4, 0),
        "set": ("cuMemsetD8", a, 200, 4096), "set 16": ("cuMemsetD16", a, 1, 100), "set 32": ("cuMemsetD32", a, 1, 100), "set odd 16": ("cuMemsetD16", a + 1, 1, 1),
        "set odd 32": ("cuMemsetD32", a + 2, 1, 1), "set none": ("cuMemsetD32", a, 1, 0), "set none at null": ("cuMemsetD8", 0, 1, 0), "set null": ("cuMemsetD8", 0, 1, 4),
        "set plain host": ("cuMemsetD8", at, 1, 4), "set pinned": ("cuMemsetD8", pinned, 1, 4), "set managed": ("cuMemsetD32", managed, 1, 4),
        "set rows": ("cuMemsetD2D8", a, 64, 1, 32, 4), "set rows too wide": ("cuMemsetD2D8", a, 16, 1, 32, 4), "set one wide row": ("cuMemsetD2D8", a, 16, 1, 32, 1),
        "set rows odd pitch": ("cuMemsetD2D32", a, 66, 1, 8, 4), "set no rows": ("cuMemsetD2D8", a, 64, 1, 32, 0), "set rows no width": ("cuMemsetD2D8", a, 64, 1, 0, 4),
        "set rows 16": ("cuMemsetD2D16", a, 64, 1, 16, 4), "set rows async": ("cuMemsetD2D32Async", a, 64, 1, 8, 4, 0), "set async": ("cuMemsetD32Async", a, 1, 8, 0),
    }.items():  # fmt: skip
        t(str(args[0]), *args[1:], step=name)
    t("cuCtxSynchronize")
    host[:] = np.arange(1024)
    cu.cuMemcpyHtoD(a, at, 4096)
    cu.cuMemsetD8(a, 200, 3)
    cu.cuMemsetD16(a + 4, 0x2345, 2)
    cu.cuMemsetD2D8(a + 64, 16, 7, 4, 3)
    cu.cuMemcpyDtoH(at, a, 4096)
    t.note("what stands there", [int(x) for x in host[:32]])


@scenario
def pools(t: Notes) -> None:
    cu = t.cu
    t.start()
    which = cu.CUmemPool_attribute
    pool = t("cuDeviceGetMemPool", 0)
    t.note("default is current", int(pool) == int(cu.cuDeviceGetDefaultMemPool(0)[1]))
    names = ["REUSE_FOLLOW_EVENT_DEPENDENCIES", "REUSE_ALLOW_OPPORTUNISTIC", "REUSE_ALLOW_INTERNAL_DEPENDENCIES", "RELEASE_THRESHOLD", "RESERVED_MEM_CURRENT",
             "RESERVED_MEM_HIGH", "USED_MEM_CURRENT", "USED_MEM_HIGH"]  # fmt: skip

    def show(step: str, p: Any) -> None:
        for n in names:
            code, value = cu.cuMemPoolGetAttribute(p, getattr(which, f"CU_MEMPOOL_ATTR_{n}"))
            t.note(f"{step} {n}", code, None if value is None else int(value))

    show("first", pool)
    a = t("cuMemAllocAsync", 1000, 0)
    t("cuMemAllocAsync", 0, 0, step="nothing")
    t.note("aligned", int(a) % 256)
    t("cuMemPoolGetAttribute", pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, quiet=True)
    t.note("used", int(cu.cuMemPoolGetAttribute(pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)[1]))
    b = t("cuMemAllocAsync", 1 << 20, 0)
    t.note("used", int(cu.cuMemPoolGetAttribute(pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)[1]))
    t("cuMemFreeAsync", 0, 0, step="free null")
    t("cuMemFreeAsync", int(a) + 4, 0, step="free inside")
    t("cuMemFreeAsync", a, 0)
    t("cuMemFreeAsync", a, 0, step="free again")
    t("cuMemFree", b, step="plain free of pooled")
    d = t.memory(64)
    t("cuMemFreeAsync", d, 0, step="pooled free of plain")
    cu.cuCtxSynchronize()
    t.note("used", int(cu.cuMemPoolGetAttribute(pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT)[1]))
    t("cuMemPoolSetAttribute", pool, which.CU_MEMPOOL_ATTR_USED_MEM_HIGH, cu.cuuint64_t(0), step="high to 0")
    t("cuMemPoolSetAttribute", pool, which.CU_MEMPOOL_ATTR_USED_MEM_HIGH, cu.cuuint64_t(5), step="high to 5")
    t("cuMemPoolSetAttribute", pool, which.CU_MEMPOOL_ATTR_USED_MEM_CURRENT, cu.cuuint64_t(0), step="current to 0")
    t("cuMemPoolSetAttribute", pool, which.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, cu.cuuint64_t(123), step="threshold")
    t("cuMemPoolSetAttribute", pool, which.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, 0, step="reuse")
    t.note(
        "then",
        [
            int(cu.cuMemPoolGetAttribute(pool, getattr(which, f"CU_MEMPOOL_ATTR_{n}"))[1])
            for n in ("RELEASE_THRESHOLD", "REUSE_ALLOW_OPPORTUNISTIC")
        ],
    )
    t("cuMemPoolDestroy", pool, step="destroy the default")
    t("cuMemPoolTrimTo", pool, 0)
    props = cu.CUmemPoolProps()
    t("cuMemPoolCreate", props, step="empty properties")
    props.allocType, props.location.type, props.location.id = (
        cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE,
        9,
    )
    t("cuMemPoolCreate", props, step="no such device")
    props.location.id, props.maxSize = 0, 1 << 20
    mine = t("cuMemPoolCreate", props)
    show("mine", mine)
    location = cu.CUmemLocation()
    location.type, location.id = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 0
    t("cuMemPoolGetAccess", mine, location)
    access = cu.CUmemAccessDesc()
    access.location.type, access.location.id, access.flags = location.type, 0, cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_NONE
    t("cuMemPoolSetAccess", mine, [access], 1, step="none for the owner")
    access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    t("cuMemPoolSetAccess", mine, [access], 1, step="all for the owner")
    t("cuMemAllocFromPoolAsync", 100, mine, 0)
    t("cuMemAllocFromPoolAsync", 1 << 34, mine, 0, step="more than its size")
    t("cuDeviceSetMemPool", 0, mine)
    t.note("is current", int(cu.cuDeviceGetMemPool(0)[1]) == int(mine))
    t("cuMemPoolDestroy", mine)
    t.note("default again", int(cu.cuDeviceGetMemPool(0)[1]) == int(pool))


@scenario
def managed(t: Notes) -> None:
    cu = t.cu
    t.start()
    m, d = cu.cuMemAllocManaged(4096, 1)[1], t.memory(4096)
    location = cu.CUmemLocation()
    location.type, location.id = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 0
    for advice in cu.CUmem_advise:
        t("cuMemAdvise", m, 4096, advice, location, step=advice.name)
    t("cuMemAdvise", d, 4096, cu.CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY, location, step="of device memory")
    t("cuMemAdvise", m, 0, cu.CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY, location, step="of nothing")
    t("cuMemPrefetchAsync", m, 4096, location, 0, 0)
    t("cuMemPrefetchAsync", m, 4096, location, 1, 0, step="flags")
    t("cuMemPrefetchAsync", d, 4096, location, 0, 0, step="prefetch device memory")
    location.id = 9
    t("cuMemPrefetchAsync", m, 4096, location, 0, 0, step="to no device")
    location.type, location.id = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST, 0
    t("cuMemPrefetchAsync", m, 4096, location, 0, 0, step="to the host")
    t("cuStreamAttachMemAsync", 0, m, 0, 1)
    t("cuStreamAttachMemAsync", 0, d, 0, 1, step="attach device memory")
    t("cuMemRangeGetAttribute", 4, cu.CUmem_range_attribute.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, m, 4096)
