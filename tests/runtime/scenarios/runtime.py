"""The runtime API."""

from __future__ import annotations

import numpy as np

from ..ptx import BOTH, HEAD, ends_with
from .notes import POINTER, Notes, scenario


@scenario
def runtime_devices(t: Notes) -> None:
    rt = t.rt
    t("cudaGetDeviceCount", quiet=True)
    t("cudaGetDevice")
    t("cudaSetDevice", 99)
    t("cudaGetLastError")
    t("cudaGetLastError", step="again")
    t("cudaSetDevice", -1)
    t("cudaPeekAtLastError")
    t("cudaSetDevice", 0)
    t("cudaPeekAtLastError", step="still")
    t("cudaGetLastError")
    t("cudaGetDeviceFlags")
    t("cudaSetDeviceFlags", 4)
    t("cudaGetDeviceFlags")
    p = t("cudaGetDeviceProperties", 0, quiet=True)
    for name in sorted(
        n
        for n in dir(p)
        if not n.startswith("_")
        and n not in ("getPtr", "uuid", "luid", "luidDeviceNodeMask", "totalGlobalMem", "reserved")
        and not n.startswith("pci")
        and not n.lower().endswith("numaid")
    ):
        value = getattr(p, name)
        t.note(f"property {name}", value)
    for a in rt.cudaDeviceAttr:
        if not a.name.endswith(("Max", "Id")) and "Reserved" not in a.name:
            t("cudaDeviceGetAttribute", a, 0, step=a.name)
    for which in rt.cudaLimit:
        t("cudaDeviceGetLimit", which, step=which.name)
    t("cudaDeviceSetLimit", rt.cudaLimit.cudaLimitStackSize, 1 << 30)
    t("cudaGetLastError", step="after a bad limit")
    t("cudaDeviceGetStreamPriorityRange")
    t("cudaDeviceGetCacheConfig")
    t("cudaDeviceGetSharedMemConfig")
    t("cudaDeviceCanAccessPeer", 0, 0)
    t("cudaDeviceEnablePeerAccess", 0, 0)
    t("cudaDeviceDisablePeerAccess", 0)
    t("cudaChooseDevice", p)
    t("cudaDeviceGetPCIBusId", 3, 0)
    t("cudaDeviceReset")
    t("cudaDeviceSynchronize")


@scenario
def runtime_words(t: Notes) -> None:
    for e in t.rt.cudaError_t:
        t("cudaGetErrorName", e, step=f"name {e.name}")
        t("cudaGetErrorString", e, step=f"string {e.name}")


@scenario
def runtime_memory(t: Notes) -> None:
    rt = t.rt
    kinds = rt.cudaMemcpyKind
    t("cudaMalloc", 0)
    t("cudaMalloc", 1 << 50, step="malloc, too much")
    t("cudaGetLastError")
    d = t("cudaMalloc", 4096, quiet=True)
    host = np.arange(1024, dtype=np.uint32)
    at = host.ctypes.data
    t("cudaFree", 0)
    t("cudaFree", int(d) + 4, step="free inside")
    t("cudaFree", at, step="free of host memory")
    t("cudaFreeHost", 0)
    t("cudaFreeHost", at, step="host free of plain memory")
    for kind in kinds:
        t("cudaMemcpy", d, at, 64, kind, step=f"to device, {kind.name}")
        t("cudaMemcpy", at, d, 64, kind, step=f"to host, {kind.name}")
        t("cudaMemcpy", at, at + 128, 64, kind, step=f"host to host, {kind.name}")
        t("cudaMemcpy", d, int(d) + 128, 64, kind, step=f"device to device, {kind.name}")
    t("cudaMemcpy", 0, at, 4, kinds.cudaMemcpyHostToDevice, step="to null")
    t("cudaMemcpy", 0, at, 0, kinds.cudaMemcpyHostToDevice, step="nothing to null")
    t("cudaMemcpyAsync", d, at, 64, kinds.cudaMemcpyHostToDevice, 0)
    t("cudaMemset", d, 1, 64)
    t("cudaMemset", 0, 1, 64, step="set null")
    t("cudaMemset", at, 1, 64, step="set host")
    t("cudaMemset2D", d, 64, 1, 32, 4)
    t("cudaMemset2D", d, 16, 1, 32, 4, step="set too wide")
    t("cudaMemcpy2D", d, 64, at, 64, 32, 4, kinds.cudaMemcpyHostToDevice)
    t("cudaMemcpy2D", d, 16, at, 64, 32, 4, kinds.cudaMemcpyHostToDevice, step="target pitch")
    t("cudaMemcpy2D", d, 64, at, 16, 32, 4, kinds.cudaMemcpyHostToDevice, step="source pitch")
    t("cudaMemcpy2D", d, 64, at, 64, 0, 4, kinds.cudaMemcpyHostToDevice, step="no width")
    t("cudaGetLastError")
    for width, height in ((100, 7), (513, 3), (0, 7), (7, 0)):
        found = t("cudaMallocPitch", width, height, step=f"pitch {width} {height}", quiet=True)
        t.note("pitch", found[1] if found else None)
    x = t("cudaMalloc3D", rt.make_cudaExtent(100, 4, 3), quiet=True)
    t.note("pitched", x.pitch, x.xsize, x.ysize)
    t("cudaMemset3D", x, 1, rt.make_cudaExtent(50, 4, 3))
    t("cudaMemset3D", x, 1, rt.make_cudaExtent(600, 4, 3), step="set a box too wide")
    for flags in (0, 1, 2, 4, 7, 8):
        p = t("cudaHostAlloc", 64, flags, step=f"host {flags}", quiet=True)
        if p:
            t("cudaHostGetFlags", p)
            t("cudaHostGetDevicePointer", p, 0, quiet=True)
            t("cudaFreeHost", p)
    t("cudaHostAlloc", 0, 0, quiet=True)
    t("cudaMallocHost", 0, quiet=True)
    t("cudaHostGetFlags", at, step="flags of plain memory")
    t("cudaHostGetDevicePointer", at, 0, step="device pointer of plain memory")
    t("cudaHostRegister", at, 4096, 0)
    t("cudaHostRegister", at, 4096, 0, step="register again")
    t("cudaHostUnregister", at)
    t("cudaHostUnregister", at, step="unregister again")
    t("cudaMallocManaged", 64, 1, quiet=True)
    t("cudaMallocManaged", 64, 9, quiet=True, step="managed, bad flags")
    t("cudaMallocManaged", 0, 1, quiet=True, step="managed, nothing")
    m = rt.cudaMallocManaged(64, 1)[1]
    p = rt.cudaHostAlloc(64, 0)[1]
    for name, where in (("device", d), ("inside", int(d) + 8), ("plain", at), ("managed", m), ("pinned", p), ("null", 0)):
        a = t("cudaPointerGetAttributes", where, step=f"attributes of {name}", quiet=True)
        if a is not None:
            t.note("attributes", a.type, a.device, bool(int(a.devicePointer or 0)), bool(int(a.hostPointer or 0)))
    t("cudaMemGetInfo", quiet=True)
    t("cudaMallocAsync", 64, 0, quiet=True)
    t("cudaMallocAsync", 0, 0, quiet=True, step="async, nothing")
    t("cudaFreeAsync", 0, 0)
    t("cudaFree", d)
    t("cudaFree", d, step="free again")
    t("cudaGetLastError")


@scenario
def runtime_arrays(t: Notes) -> None:
    rt = t.rt
    kinds = rt.cudaMemcpyKind
    d = t("cudaCreateChannelDesc", 32, 0, 0, 0, rt.cudaChannelFormatKind.cudaChannelFormatKindUnsigned, quiet=True)
    a = t("cudaMallocArray", d, 64, 4, 0, quiet=True)
    x = t("cudaGetChannelDesc", a, quiet=True)
    t.note("channels", x.x, x.y, x.z, x.w, x.f)
    found = t("cudaArrayGetInfo", a, quiet=True)
    t.note("info", found[0].x, found[1].width, found[1].height, found[1].depth, found[2])
    t("cudaMallocArray", d, 0, 4, 0, quiet=True, step="no width")
    t("cudaMallocArray", d, 64, 0, 0, quiet=True, step="one dimension")
    host = np.arange(256, dtype=np.uint32)
    out = np.zeros(256, np.uint32)
    t("cudaMemcpy2DToArray", a, 0, 0, host.ctypes.data, 256, 256, 4, kinds.cudaMemcpyHostToDevice)
    t("cudaMemcpy2DToArray", a, 0, 1, host.ctypes.data, 256, 256, 4, kinds.cudaMemcpyHostToDevice, step="too high")
    t("cudaMemcpy2DToArray", a, 0, 0, host.ctypes.data, 128, 256, 4, kinds.cudaMemcpyHostToDevice, step="pitch too small")
    t("cudaMemcpy2DFromArray", out.ctypes.data, 256, a, 0, 0, 256, 4, kinds.cudaMemcpyDeviceToHost)
    t.note("same", bool((host == out).all()))
    b = rt.cudaMallocArray(d, 64, 4, 0)[1]
    t("cudaMemcpy2DArrayToArray", b, 0, 0, a, 0, 0, 128, 2, kinds.cudaMemcpyDeviceToDevice)
    c = t("cudaMalloc3DArray", d, rt.make_cudaExtent(8, 4, 3), 0, quiet=True)
    p = rt.cudaMemcpy3DParms()
    p.srcPtr, p.dstArray, p.extent, p.kind = (
        rt.make_cudaPitchedPtr(host.ctypes.data, 32, 8, 4),
        c,
        rt.make_cudaExtent(8, 4, 2),
        kinds.cudaMemcpyHostToDevice,
    )
    t("cudaMemcpy3D", p)
    p.extent = rt.make_cudaExtent(8, 4, 4)
    t("cudaMemcpy3D", p, step="too deep")
    p.extent = rt.make_cudaExtent(8, 0, 2)
    t("cudaMemcpy3D", p, step="no height")
    t("cudaFreeArray", a)
    t("cudaFreeArray", 0, step="free no array")


@scenario
def runtime_streams(t: Notes) -> None:
    rt = t.rt
    s = t("cudaStreamCreate", quiet=True)
    t("cudaStreamCreateWithFlags", 9, quiet=True)
    t("cudaStreamCreateWithPriority", 1, -9, quiet=True)
    t("cudaStreamGetFlags", s)
    t("cudaStreamGetPriority", s)
    t("cudaStreamQuery", s)
    t("cudaStreamIsCapturing", s)
    a, b = t("cudaEventCreate", quiet=True), t("cudaEventCreateWithFlags", 2, quiet=True)
    t("cudaEventCreateWithFlags", 4, quiet=True, step="event 4")
    t("cudaEventQuery", a)
    t("cudaEventElapsedTime", a, a, step="never recorded", quiet=True)
    t("cudaEventRecord", a, s)
    t("cudaEventRecord", b, s)
    t("cudaEventSynchronize", b)
    t("cudaEventElapsedTime", a, b, step="without timing", quiet=True)
    t("cudaStreamWaitEvent", s, a, 0)
    t("cudaStreamWaitEvent", s, a, 9, step="bad flags")
    t("cudaStreamSynchronize", s)
    t("cudaStreamDestroy", s)
    t("cudaStreamDestroy", 0, step="destroy null")
    t("cudaGetLastError")
    library = t("cudaLibraryLoadData", BOTH.encode() + b"\0", [], [], 0, [], [], 0, quiet=True)
    t("cudaLibraryGetKernel", library, b"nothing", quiet=True, step="no kernel")
    k = t("cudaLibraryGetKernel", library, b"bounded", quiet=True)
    t("cudaLibraryGetKernelCount", library)
    t("cudaLibraryGetGlobal", library, b"nothing", quiet=True, step="no global")
    found = t("cudaLibraryGetGlobal", library, b"counter", quiet=True)
    t.note("size", found[1])
    x = t("cudaFuncGetAttributes", int(k), quiet=True)
    if x is not None:
        for n in (
            "binaryVersion",
            "cacheModeCA",
            "constSizeBytes",
            "localSizeBytes",
            "maxDynamicSharedSizeBytes",
            "maxThreadsPerBlock",
            "numRegs",
            "ptxVersion",
            "sharedSizeBytes",
            "preferredShmemCarveout",
        ):
            t.note(n, getattr(x, n))
    t("cudaOccupancyMaxActiveBlocksPerMultiprocessor", int(k), 128, 0)
    t("cudaFuncSetAttribute", int(k), rt.cudaFuncAttribute.cudaFuncAttributeMaxDynamicSharedMemorySize, 300_000)
    t("cudaLibraryLoadData", b"hello\0", [], [], 0, [], [], 0, quiet=True, step="words")
    t(
        "cudaLibraryLoadData",
        (HEAD + ".visible .entry k() { nonsense; }").encode() + b"\0",
        [],
        [],
        0,
        [],
        [],
        0,
        quiet=True,
        step="bad text",
    )


@scenario
def runtime_fault(t: Notes) -> None:
    rt = t.rt
    d = rt.cudaMalloc(64)[1]
    f = t.function("k", ends_with("mov.u64 %rd2, 64; st.global.u32 [%rd2], 1;"))
    t.launch(f, 1, 1, ((0,), (POINTER,)))
    t("cudaGetLastError", step="before")
    t("cudaDeviceSynchronize")
    t("cudaPeekAtLastError")
    t("cudaGetLastError")
    t("cudaGetLastError", step="again")
    t("cudaMalloc", 4, quiet=True)
    t("cudaMemcpy", d, d, 4, rt.cudaMemcpyKind.cudaMemcpyDefault)
    t("cudaFree", d)
    t("cudaStreamQuery", 0)
    t("cudaGetDevice")
    t("cudaDeviceReset")
    t("cudaMalloc", 4, quiet=True, step="after the reset")
