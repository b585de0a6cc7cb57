"""What ends a kernel, which call tells of it, and what every call answers then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ptx import KERNELS, ends_with
from .notes import POINTER, SCENARIOS, Notes

BODIES = {
    "null": "mov.u64 %rd2, 0; st.global.u32 [%rd2], 1;", "low": "mov.u64 %rd2, 64; st.global.u32 [%rd2], 1;", "misaligned": "add.u64 %rd1, %rd1, 2; st.global.u32 [%rd1], 1;", "far": "add.u64 %rd1, %rd1, 1099511627776; st.global.u32 [%rd1], 1;",
    "trap": "trap;", "breakpoint": "brkpt;", "shared beyond": "mov.u32 %r2, 300000; st.shared.u32 [%r2], 1;", "shared misaligned": ".shared .align 8 .b8 s[16]; mov.u32 %r2, s; st.shared.u32 [%r2+2], 1;",
    "local beyond": ".local .align 8 .b8 l[16]; mov.u64 %rd2, l; add.u64 %rd2, %rd2, 100000000; st.local.u32 [%rd2], 1;", "generic null": "mov.u64 %rd2, 0; ld.u32 %r2, [%rd2]; st.global.u32 [%rd1], %r2;",
    "atomic misaligned": "add.u64 %rd1, %rd1, 2; atom.global.add.u32 %r2, [%rd1], 1;", "atomic null": "mov.u64 %rd2, 0; atom.global.add.u32 %r2, [%rd2], 1;",
    "vector misaligned": "add.u64 %rd1, %rd1, 4; mov.u32 %r2, 1; st.global.v4.u32 [%rd1], {%r2, %r2, %r2, %r2};", "constant store": "mov.u64 %rd2, 16; st.u32 [%rd2], 1;",
    "global as shared": "cvta.to.shared.u64 %rd2, %rd1; st.shared.u32 [%rd2], 1;", "nothing": "",
}  # fmt: skip


def _after(t: Notes, stream: Any) -> None:
    cu = t.cu
    out = np.zeros(4, np.uint32)
    s, e, m = t.kept  # type: ignore[attr-defined]
    for name, *args in (
        ("cuMemAlloc", 4), ("cuMemFree", t.spare), ("cuMemcpyDtoH", out.ctypes.data, t.at, 16), ("cuMemcpyDtoHAsync", out.ctypes.data, t.at, 16, 0), ("cuMemsetD8", t.at, 0, 4), ("cuMemGetInfo",), ("cuMemHostAlloc", 4, 0),  # type: ignore[attr-defined]
        ("cuMemAllocAsync", 4, 0), ("cuStreamQuery", s), ("cuStreamSynchronize", s), ("cuEventQuery", e), ("cuEventSynchronize", e), ("cuEventRecord", e, s), ("cuStreamCreate", 0), ("cuEventCreate", 0),
        ("cuModuleLoadData", KERNELS.encode() + b"\0"), ("cuModuleGetFunction", m, b"fixed"), ("cuModuleGetGlobal", m, b"counter"), ("cuCtxGetLimit", cu.CUlimit.CU_LIMIT_STACK_SIZE), ("cuCtxSetLimit", cu.CUlimit.CU_LIMIT_STACK_SIZE, 2048), ("cuCtxGetDevice",), ("cuCtxGetFlags",),
        ("cuPointerGetAttribute", cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, t.at), ("cuMemGetAddressRange", t.at), ("cuDeviceGetAttribute", cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), ("cuFuncGetAttribute", cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, t.f),  # type: ignore[attr-defined]
        ("cuStreamWaitEvent", s, e, 0), ("cuStreamIsCapturing", s), ("cuStreamGetFlags", s), ("cuMemHostGetFlags", t.pinned), ("cuLinkCreate", 0, [], []), ("cuOccupancyMaxActiveBlocksPerMultiprocessor", t.f, 32, 0), ("cuCtxGetCacheConfig",), ("cuCtxGetStreamPriorityRange",),  # type: ignore[attr-defined]
        ("cuMemFreeHost", t.pinned), ("cuEventDestroy", e), ("cuStreamDestroy", s), ("cuModuleUnload", m), ("cuCtxSynchronize",),  # type: ignore[attr-defined]
    ):  # fmt: skip
        t(name, *args, quiet=True)


def _fault(body: str, full: bool) -> Callable[[Notes], None]:
    def work(t: Notes) -> None:
        cu = t.cu
        first = t.start()
        t.f, t.at, t.spare = t.function("k", ends_with(body)), t.memory(64), t.memory(64)  # type: ignore[attr-defined]
        t.kept = (cu.cuStreamCreate(1)[1], cu.cuEventCreate(0)[1], t.module())  # type: ignore[attr-defined]
        t.pinned = cu.cuMemAllocHost(64)[1]  # type: ignore[attr-defined]
        cu.cuEventRecord(t.kept[1], 0)  # type: ignore[attr-defined]
        cu.cuCtxSynchronize()
        t.launch(t.f, 1, 1, ((t.at,), (POINTER,)))  # type: ignore[attr-defined]
        t("cuCtxSynchronize")
        t("cuCtxSynchronize", step="again")
        if full:
            _after(t, 0)
            t("cuDevicePrimaryCtxGetState", 0)
            t("cuCtxCreate", None, 0, 0, step="another context")
            t("cuMemAlloc", 4, step="in another context")
            t("cuCtxPopCurrent")
            t("cuDevicePrimaryCtxReset", 0)
            t("cuCtxSetCurrent", cu.cuDevicePrimaryCtxRetain(0)[1])
            t("cuMemAlloc", 4, step="after the reset")
        del first

    return work


for _name, _body in BODIES.items():
    SCENARIOS[f"fault_{_name.replace(' ', '_')}"] = _fault(_body, _name in ("low", "trap"))


def _tells(call: str) -> Callable[[Notes], None]:
    def work(t: Notes) -> None:
        """Which call is the first to tell of a fault?"""
        cu = t.cu
        t.start()
        f, at = t.function("k", ends_with("trap;")), t.memory(64)
        s, e, m = cu.cuStreamCreate(1)[1], cu.cuEventCreate(0)[1], t.module()
        g = cu.cuModuleGetFunction(m, b"fixed")[1]
        cu.cuCtxSynchronize()
        t.launch(f, 1, 1, ((at,), (POINTER,)))
        t.pause(0.05)
        args: dict[str, tuple[Any, ...]] = {
            "cuMemAlloc": (64,), "cuMemFree": (at,), "cuStreamQuery": (s,), "cuEventRecord": (e, s), "cuMemcpyHtoD": (at, np.zeros(4).ctypes.data, 8), "cuMemsetD8": (at, 0, 4), "cuModuleLoadData": (KERNELS.encode() + b"\0",), "cuMemGetInfo": (), "cuStreamCreate": (0,), "cuStreamSynchronize": (s,),
            "cuLaunchKernel": (g, 1, 1, 1, 32, 2, 1, 0, s, 0, 0), "cuMemcpyHtoDAsync": (at, np.zeros(4).ctypes.data, 8, s), "cuModuleUnload": (m,), "cuEventCreate": (0,), "cuMemHostAlloc": (64, 0), "cuCtxGetLimit": (cu.CUlimit.CU_LIMIT_STACK_SIZE,),
            "cuEventSynchronize": (e,), "cuEventQuery": (e,), "cuStreamDestroy": (s,), "cuMemAllocAsync": (64, s), "cuMemAllocManaged": (64, 1),
        }  # fmt: skip
        t(call, *args[call], quiet=True)
        t("cuCtxSynchronize")

    return work


for _name in ("cuMemAlloc", "cuMemFree", "cuStreamQuery", "cuEventRecord", "cuMemcpyHtoD", "cuMemsetD8", "cuModuleLoadData", "cuMemGetInfo", "cuStreamCreate", "cuStreamSynchronize", "cuLaunchKernel", "cuMemcpyHtoDAsync", "cuModuleUnload",
              "cuEventCreate", "cuMemHostAlloc", "cuCtxGetLimit", "cuEventSynchronize", "cuEventQuery", "cuStreamDestroy", "cuMemAllocAsync", "cuMemAllocManaged"):  # fmt: skip
    SCENARIOS[f"told_by_{_name}"] = _tells(_name)
