"""Copies of rectangles and boxes, and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .notes import Notes, scenario


@scenario
def boxes(t: Notes) -> None:
    cu = t.cu
    t.start()
    kinds = cu.CUmemorytype
    data = np.arange(64 * 16, dtype=np.uint8)
    at = t.memory(1 << 14)

    def copy(step: str, name: str = "cuMemcpy2D", three: bool = False, back: bool = False, **fields: Any) -> None:
        c = cu.CUDA_MEMCPY3D() if three else cu.CUDA_MEMCPY2D()
        near, far = ("dst", "src") if back else ("src", "dst")
        given = {f"{near}MemoryType": kinds.CU_MEMORYTYPE_HOST, f"{near}Host": data.ctypes.data, f"{near}Pitch": 64, f"{far}MemoryType": kinds.CU_MEMORYTYPE_DEVICE,
                 f"{far}Device": cu.CUdeviceptr(at), f"{far}Pitch": 128, "WidthInBytes": 32, "Height": 4}  # fmt: skip
        if three:
            given |= {f"{near}Height": 4, f"{far}Height": 4, "Depth": 2}
        for k, v in (given | fields).items():
            setattr(c, k, v)
        t(name, c, *((0,) if name.endswith("Async") else ()), step=step)

    copy("plain")
    copy("async", "cuMemcpy2DAsync")
    copy("unaligned", "cuMemcpy2DUnaligned")
    copy("back", back=True)
    copy("no width", WidthInBytes=0)
    copy("no height", Height=0)
    copy("too wide for the source", WidthInBytes=65)
    copy("too wide for the target", srcPitch=256, WidthInBytes=129)
    copy("x and width beyond the pitch", srcXInBytes=40)
    copy("x of the target", dstXInBytes=100)
    copy("y", srcY=2, dstY=3)
    copy("source pitch 0", srcPitch=0)
    copy("target pitch 0", dstPitch=0)
    copy("both pitches 0", srcPitch=0, dstPitch=0)
    copy("one row, wide", srcPitch=0, Height=1, WidthInBytes=64)
    copy("null device", dstDevice=cu.CUdeviceptr(0))
    copy("unified", dstMemoryType=kinds.CU_MEMORYTYPE_UNIFIED)
    copy("box", "cuMemcpy3D", True)
    copy("box async", "cuMemcpy3DAsync", True)
    copy("box without depth", "cuMemcpy3D", True, Depth=0)
    copy("box source height 0", "cuMemcpy3D", True, srcHeight=0)
    copy("box source height too small", "cuMemcpy3D", True, srcHeight=3)
    copy("box target height too small", "cuMemcpy3D", True, dstHeight=3)
    copy("box pitch too small", "cuMemcpy3D", True, srcPitch=16)
    copy("box lod", "cuMemcpy3D", True, srcLOD=1)
    copy("box z", "cuMemcpy3D", True, srcZ=1)
    t("cuMemcpy2D", None, step="null")
    cu.cuCtxSynchronize()
    got = np.zeros(1 << 14, np.uint8)
    cu.cuMemcpyDtoH(got.ctypes.data, at, got.nbytes)
    t.note("sum", int(got.astype(np.uint64) @ (np.arange(got.size, dtype=np.uint64) % 251)))


@scenario
def arrays(t: Notes) -> None:
    cu = t.cu
    t.start()
    formats = cu.CUarray_format
    for width, height, format, channels in (
        (16, 4, formats.CU_AD_FORMAT_FLOAT, 1), (16, 0, formats.CU_AD_FORMAT_UNSIGNED_INT8, 4), (16, 4, formats.CU_AD_FORMAT_HALF, 2), (0, 4, formats.CU_AD_FORMAT_FLOAT, 1),
        (16, 4, formats.CU_AD_FORMAT_FLOAT, 3), (16, 4, formats.CU_AD_FORMAT_FLOAT, 0), (1 << 20, 4, formats.CU_AD_FORMAT_FLOAT, 1), (16, 1 << 20, formats.CU_AD_FORMAT_FLOAT, 1),
        (131072, 0, formats.CU_AD_FORMAT_FLOAT, 1), (131073, 0, formats.CU_AD_FORMAT_FLOAT, 1),
    ):  # fmt: skip
        d = cu.CUDA_ARRAY_DESCRIPTOR()
        d.Width, d.Height, d.Format, d.NumChannels = width, height, format, channels
        a = t("cuArrayCreate", d, step=f"array {width} {height} {format.name[13:]} {channels}")
        if a is not None and int(a):
            e = t("cuArrayGetDescriptor", a, quiet=True)
            t.note("descriptor", e.Width, e.Height, e.Format, e.NumChannels)
            e = t("cuArray3DGetDescriptor", a, quiet=True)
            t.note("descriptor", e.Width, e.Height, e.Depth, e.Format, e.NumChannels, e.Flags)
            t("cuArrayDestroy", a)
    for size, flags in (((8, 4, 2), 0), ((8, 0, 0), 0), ((8, 4, 0), 0), ((8, 0, 6), 1), ((8, 4, 6), 1), ((8, 8, 6), 4), ((8, 4, 6), 4), ((8, 8, 5), 4), ((8, 8, 12), 5), ((8, 4, 2), 2),
                        ((8, 0, 2), 0), ((8, 4, 0), 8), ((8, 4, 2), 1024)):  # fmt: skip
        d = cu.CUDA_ARRAY3D_DESCRIPTOR()
        (d.Width, d.Height, d.Depth), d.Format, d.NumChannels, d.Flags = size, formats.CU_AD_FORMAT_FLOAT, 1, flags
        a = t("cuArray3DCreate", d, step=f"array {size} flags {flags}")
        if a is not None and int(a):
            e = t("cuArray3DGetDescriptor", a, quiet=True)
            t.note("descriptor", e.Width, e.Height, e.Depth, e.Format, e.NumChannels, e.Flags)
            t("cuArrayDestroy", a)
    d = cu.CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = 64, 0, formats.CU_AD_FORMAT_UNSIGNED_INT32, 1
    line = cu.cuArrayCreate(d)[1]
    d.Height = 4
    plane = cu.cuArrayCreate(d)[1]
    at, host = t.memory(1024), np.arange(256, dtype=np.uint32)
    out = np.zeros(256, np.uint32)
    t("cuMemcpyHtoA", line, 0, host.ctypes.data, 256)
    t("cuMemcpyHtoA", line, 4, host.ctypes.data, 256, step="beyond the end")
    t("cuMemcpyHtoA", line, 2, host.ctypes.data, 16, step="between elements")
    t("cuMemcpyAtoD", at, line, 8, 16)
    t("cuMemcpyDtoA", line, 128, at, 16)
    t("cuMemcpyAtoA", line, 64, line, 0, 16)
    t("cuMemcpyAtoH", out.ctypes.data, line, 0, 256)
    t.note("line", [int(x) for x in out[:64]])
    t("cuMemcpyAtoHAsync", out.ctypes.data, line, 0, 16, 0)
    t("cuMemcpyHtoAAsync", line, 0, host.ctypes.data, 16, 0)
    t("cuMemcpyHtoA", plane, 0, host.ctypes.data, 64, step="into a plane")
    t("cuMemcpyHtoA", plane, 0, host.ctypes.data, 1024, step="into a whole plane")
    for step, fields in (("plane", {}), ("plane too high", {"Height": 5}), ("plane too wide", {"WidthInBytes": 260}), ("plane at y", {"dstY": 2, "Height": 2}), ("plane at y too high", {"dstY": 2, "Height": 3}),
                         ("plane between elements", {"dstXInBytes": 2, "WidthInBytes": 16})):  # fmt: skip
        c = cu.CUDA_MEMCPY2D()
        c.srcMemoryType, c.srcHost, c.srcPitch = cu.CUmemorytype.CU_MEMORYTYPE_HOST, host.ctypes.data, 256
        c.dstMemoryType, c.dstArray, c.WidthInBytes, c.Height = cu.CUmemorytype.CU_MEMORYTYPE_ARRAY, plane, 256, 4
        for k, v in fields.items():
            setattr(c, k, v)
        t("cuMemcpy2D", c, step=step)
    r = t("cuArrayGetMemoryRequirements", plane, 0, quiet=True)
    t.note("requirements", type(r).__name__)
    t("cuArrayGetSparseProperties", plane, quiet=True)
    t("cuArrayGetPlane", plane, 0, quiet=True)
