"""What a host program is told, step by step: scenarios over the driver API, the runtime API and cuda.core, whichever package provides them.

    python tests/runtime/scenarios.py real OUT.json       on a machine with a GPU, with cuda.bindings and cuda.core
    python -m tests.runtime.scenarios model OUT.json      on warplab

Every scenario runs in a process of its own, since a fault ends more than one call; what it notes is [step, code, results...].
Addresses and handles are noted as such, without their numbers.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import re
import struct
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

if __package__:
    from .ptx import ASSERTS, BOTH, CALLS_TWICE, HEAD, KERNELS, PRINTS, TWICE, ends_with
else:
    sys.path.insert(0, os.path.dirname(__file__))
    from ptx import ASSERTS, BOTH, CALLS_TWICE, HEAD, KERNELS, PRINTS, TWICE, ends_with  # type: ignore[import-not-found, no-redef]

PACKAGES = {"real": ("cuda.bindings.driver", "cuda.bindings.runtime", "cuda.core"),
            "model": ("warplab.runtime.driver", "warplab.runtime.cudart", "warplab.runtime")}  # fmt: skip
POINTER, U32 = ctypes.c_void_p, ctypes.c_uint32


def plain(value: Any) -> Any:
    """A result without what differs from run to run."""
    if isinstance(value, bool | float | str) or value is None:
        return value
    name = getattr(value, "name", None)
    if isinstance(name, str) and hasattr(value, "value"):
        return name
    if isinstance(value, int):
        return int(value)
    if isinstance(value, bytes | bytearray):
        return bytes(value).split(b"\0")[0].decode(errors="replace")
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if type(value).__name__ == "CUdeviceptr":
        return "address" if int(value) else "null"
    if hasattr(value, "__int__"):
        return "handle" if int(value) else "null"
    return type(value).__name__


class Notes:
    """A scenario's steps."""

    def __init__(self, packages: tuple[str, str, str]) -> None:
        self.packages = packages
        self.steps: list[list[Any]] = []
        self.cu: Any = importlib.import_module(packages[0])
        self.emit: Callable[[list[Any]], None] = self.steps.append

    @property
    def rt(self) -> Any:
        """The runtime API."""
        return importlib.import_module(self.packages[1])

    @property
    def core(self) -> Any:
        """cuda.core."""
        return importlib.import_module(self.packages[2])

    def note(self, step: str, *what: Any) -> None:
        """One step."""
        self.emit([step, *map(plain, what)])

    def __call__(self, name: str, *args: Any, step: str = "", quiet: bool = False) -> Any:
        """A call, noted with its results, or only with its code; its results."""
        try:
            code, *values = getattr(self.rt if name.startswith("cuda") else self.cu, name)(*args)
        except Exception as e:
            self.note(step or name, "raises", type(e).__name__)
            return None
        self.note(step or name, code, *(() if quiet else values))
        return values[0] if len(values) == 1 else tuple(values)

    def pause(self, seconds: float) -> None:
        """Gives a real device time to get on."""
        if self.packages == PACKAGES["real"]:
            time.sleep(seconds)

    def start(self) -> Any:
        """A current primary context."""
        self.cu.cuInit(0)
        c = self.cu.cuDevicePrimaryCtxRetain(0)[1]
        self.cu.cuCtxSetCurrent(c)
        return c

    def module(self, text: str = BOTH) -> Any:
        """A module, loaded without a note."""
        code, m = self.cu.cuModuleLoadData(text.encode() + b"\0")
        assert code == 0, code
        return m

    def function(self, name: str, text: str = BOTH) -> Any:
        """A kernel, without a note."""
        code, f = self.cu.cuModuleGetFunction(self.module(text), name.encode())
        assert code == 0, code
        return f

    def memory(self, size: int) -> int:
        """Device memory of zeros, without a note."""
        code, at = self.cu.cuMemAlloc(size)
        assert code == 0, code
        self.cu.cuMemsetD8(at, 0, size)
        return int(at)

    def launch(self, f: Any, grid: Any, block: Any, params: Any, shared: int = 0, stream: Any = 0, step: str = "launch") -> None:
        """A launch, noted with its code."""
        g, b = ((*x, 1, 1)[:3] if isinstance(x, tuple) else (x, 1, 1) for x in (grid, block))
        self("cuLaunchKernel", f, *g, *b, shared, stream, params, 0, step=step)

    def config(self, grid: Any, block: Any, shared: int = 0, **attributes: Any) -> Any:
        """A launch configuration."""
        cu, c = self.cu, self.cu.CUlaunchConfig()
        g, b = ((*x, 1, 1)[:3] if isinstance(x, tuple) else (x, 1, 1) for x in (grid, block))
        c.gridDimX, c.gridDimY, c.gridDimZ = g
        c.blockDimX, c.blockDimY, c.blockDimZ = b
        c.sharedMemBytes, c.hStream = shared, 0
        out = []
        for name, value in attributes.items():
            a = cu.CUlaunchAttribute()
            a.id = getattr(cu.CUlaunchAttributeID, f"CU_LAUNCH_ATTRIBUTE_{name.upper()}")
            if name.endswith("cluster_dimension"):
                d = a.value.clusterDim
                d.x, d.y, d.z = value
            elif name == "cooperative":
                a.value.cooperative = value
            elif name == "priority":
                a.value.priority = value
            out.append(a)
        c.attrs, c.numAttrs = out, len(out)
        return c


SCENARIOS: dict[str, Callable[[Notes], None]] = {}


def scenario(work: Callable[[Notes], None]) -> Callable[[Notes], None]:
    """Enters a scenario under its name."""
    SCENARIOS[work.__name__] = work
    return work


NONE: Any = ((), ())

# ---------------------------------------------------------------- before a context


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


# ---------------------------------------------------------------- memory


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
        t(args[0], *args[1:], step=name)
    t("cuCtxSynchronize")
    host[:] = np.arange(1024)
    cu.cuMemcpyHtoD(a, at, 4096)
    cu.cuMemsetD8(a, 200, 3)
    cu.cuMemsetD16(a + 4, 0x2345, 2)
    cu.cuMemsetD2D8(a + 64, 16, 7, 4, 3)
    cu.cuMemcpyDtoH(at, a, 4096)
    t.note("what stands there", [int(x) for x in host[:32]])


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


# ---------------------------------------------------------------- code


@scenario
def loading(t: Notes) -> None:
    cu = t.cu
    t.start()
    v = ".version 8.0\n.target {}\n.address_size 64\n.visible .entry k() {{ ret; }}"
    texts = {
        "nothing": "", "words": "hello", "a comment": "// c\n" + KERNELS, "new version": ".version 9.9\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }", "sm_100": v.format("sm_100").replace("8.0", "8.7"),
        "sm_90a": v.format("sm_90a"), "sm_80": v.format("sm_80"), "sm_89": v.format("sm_89"), "sm_50": v.format("sm_50"), "sm_35": v.format("sm_35"), "sm_20": v.format("sm_20"), "sm_10": v.format("sm_10"), "bad instruction": HEAD + ".visible .entry k() { add.nonsense %r, %r, 1; ret; }",
        "unresolved function": HEAD + ".extern .func f();\n.visible .entry k() { call f; ret; }", "unresolved variable": HEAD + ".extern .global .u32 x;\n.visible .entry k() { .reg .b32 %r; ld.global.u32 %r, [x]; ret; }",
        "unused extern": HEAD + ".extern .func f();\n.visible .entry k() { ret; }", "no kernels": HEAD + ".global .u32 x;", "unclosed": HEAD + ".visible .entry k() { ret;", "no target": ".version 8.0\n.visible .entry k() { ret; }",
        "too much shared": HEAD + ".visible .entry k() { .shared .b8 s[300000]; .reg .b64 %rd; mov.u64 %rd, s; ret; }", "shared above 48 K": HEAD + ".visible .entry k() { .shared .align 4 .b8 s[60000]; .reg .b32 %r; st.shared.u32 [s], 1; ret; }",
        "too much constant": HEAD + ".const .b8 c[70000];\n.visible .entry k() { ret; }", "parameters too large": HEAD + ".visible .entry k(.param .b8 p[5000]) { ret; }", "not ascii": HEAD + "// \xe9\n.visible .entry k() { ret; }",
        "debug": v.format("sm_90, debug"), "no address size": ".version 8.0\n.target sm_90\n.visible .entry k() { ret; }", "32 bits": v.format("sm_90").replace("64", "32"),
    }  # fmt: skip
    for name, text in texts.items():
        t("cuModuleLoadData", text.encode() + b"\0", step=name)
    t("cuModuleLoad", b"/nowhere/at/all", step="no file")
    t("cuModuleLoadFatBinary", KERNELS.encode() + b"\0", step="text as fat binary")
    t("cuLibraryLoadFromFile", b"/nowhere/at/all", [], [], 0, [], [], 0, step="library of no file")
    t("cuLibraryLoadData", b"hello\0", [], [], 0, [], [], 0, step="library of words")
    t("cuLibraryLoadData", texts["bad instruction"].encode() + b"\0", [], [], 0, [], [], 0, step="library of a bad instruction")
    t("cuModuleGetLoadingMode")
    option = cu.CUjit_option
    for step, text in (("good", KERNELS), ("bad", texts["bad instruction"])):
        info, errors = bytearray(4000), bytearray(4000)
        t("cuModuleLoadDataEx", text.encode() + b"\0", 4, [option.CU_JIT_INFO_LOG_BUFFER, option.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
          [info, 4000, errors, 4000], step=f"logs of {step}")  # fmt: skip
        t.note("error log is written", bool(errors.strip(b"\0")))
    t(
        "cuModuleLoadDataEx",
        KERNELS.encode() + b"\0",
        2,
        [option.CU_JIT_MAX_REGISTERS, option.CU_JIT_OPTIMIZATION_LEVEL],
        [32, 0],
        step="other options",
    )


@scenario
def modules(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    for name in (b"add", b"nothing", b"", b"counter"):
        t("cuModuleGetFunction", m, name, step=f"function {name.decode()}")
    for name in (b"counter", b"factor", b"both", b"nothing", b"", b"add"):
        found = t("cuModuleGetGlobal", m, name, step=f"global {name.decode()}", quiet=True)
        t.note("size", found[1] if found else None)
    t("cuModuleGetFunctionCount", m)
    t.note("functions", len(cu.cuModuleEnumerateFunctions(20, m)[1] or []))
    f = cu.cuModuleGetFunction(m, b"mixed")[1]
    for n in range(6):
        t("cuFuncGetParamInfo", f, n, step=f"param {n}")
    t("cuFuncGetParamCount", f)
    t("cuFuncGetName", f)
    t("cuFuncIsLoaded", f)
    t("cuFuncLoad", f)
    t("cuFuncIsLoaded", f)
    t.note("its module", int(cu.cuFuncGetModule(f)[1]) == int(m))
    t("cuModuleUnload", m)


ATTRIBUTES = ("MAX_THREADS_PER_BLOCK SHARED_SIZE_BYTES CONST_SIZE_BYTES LOCAL_SIZE_BYTES NUM_REGS PTX_VERSION BINARY_VERSION CACHE_MODE_CA "
              "MAX_DYNAMIC_SHARED_SIZE_BYTES PREFERRED_SHARED_MEMORY_CARVEOUT CLUSTER_SIZE_MUST_BE_SET REQUIRED_CLUSTER_WIDTH "
              "REQUIRED_CLUSTER_HEIGHT REQUIRED_CLUSTER_DEPTH NON_PORTABLE_CLUSTER_SIZE_ALLOWED CLUSTER_SCHEDULING_POLICY_PREFERENCE")  # fmt: skip


@scenario
def functions(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    which = cu.CUfunction_attribute
    for name in ("add", "poke", "bounded", "fixed", "shared_size", "clustered", "ranked", "least", "local", "mixed", "barred"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for a in ATTRIBUTES.split():
            t("cuFuncGetAttribute", getattr(which, f"CU_FUNC_ATTRIBUTE_{a}"), f, step=f"{name} {a}")
    for name in ("shared_size", "clustered", "bounded"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for a in ATTRIBUTES.split():
            for value in (-2, -1, 0, 1, 2, 101, 48 << 10, 231424, 232448, 232449):
                t("cuFuncSetAttribute", f, getattr(which, f"CU_FUNC_ATTRIBUTE_{a}"), value, step=f"{name} {a} = {value}")
            t("cuFuncGetAttribute", getattr(which, f"CU_FUNC_ATTRIBUTE_{a}"), f, step="then")
    f = cu.cuModuleGetFunction(m, b"add")[1]
    for c in cu.CUfunc_cache:
        t("cuFuncSetCacheConfig", f, c)
    for c in cu.CUsharedconfig:
        t("cuFuncSetSharedMemConfig", f, c)


@scenario
def libraries(t: Notes) -> None:
    cu = t.cu
    t.start()
    code = cu.CUfunction_attribute
    library = t("cuLibraryLoadData", BOTH.encode() + b"\0", [], [], 0, [], [], 0)
    k = t("cuLibraryGetKernel", library, b"add")
    t("cuLibraryGetKernel", library, b"nothing", step="no kernel")
    t("cuLibraryGetKernelCount", library)
    t.note("kernels", len(cu.cuLibraryEnumerateKernels(3, library)[1]))
    t("cuLibraryGetModule", library)
    for name in (b"counter", b"factor", b"nothing", b"both"):
        for call in ("cuLibraryGetGlobal", "cuLibraryGetManaged"):
            found = t(call, library, name, step=f"{call} {name.decode()}", quiet=True)
            t.note("size", found[1] if found else None)
    t("cuKernelGetFunction", k)
    t("cuKernelGetName", k)
    t.note("library", int(cu.cuKernelGetLibrary(k)[1]) == int(library))
    t("cuKernelGetParamInfo", k, 3)
    t("cuKernelGetParamInfo", k, 4)
    t("cuKernelGetParamCount", k)
    t("cuKernelGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 0)
    t("cuKernelGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, k, 9, step="of no device")
    t("cuKernelSetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100_000, k, 0)
    t("cuKernelGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, k, 0)
    t("cuFuncGetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, cu.cuKernelGetFunction(k)[1])
    t("cuKernelSetAttribute", code.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300_000, k, 0, step="too much")
    t("cuKernelSetCacheConfig", k, cu.CUfunc_cache.CU_FUNC_CACHE_PREFER_L1, 0)
    t.launch(k, 1, 32, ((0, 0, 0, 0), (POINTER, POINTER, POINTER, U32)))
    t("cuCtxSynchronize")
    t("cuLibraryUnload", library)


@scenario
def linking(t: Notes) -> None:
    cu = t.cu
    t.start()
    kinds = cu.CUjitInputType
    at = t.memory(64)

    def add(state: Any, text: str | bytes, step: str, kind: Any = kinds.CU_JIT_INPUT_PTX) -> None:
        raw = (text.encode() if isinstance(text, str) else text) + b"\0"
        t("cuLinkAddData", state, kind, raw, len(raw), b"input", 0, [], [], step=step)

    s = t("cuLinkCreate", 0, [], [])
    add(s, CALLS_TWICE, "caller")
    add(s, TWICE, "callee")
    image = t("cuLinkComplete", s, quiet=True)
    m = t("cuModuleLoadData", ctypes.string_at(int(image[0]), image[1]))
    t("cuLinkComplete", s, step="complete again", quiet=True)
    f = cu.cuModuleGetFunction(m, b"k")[1]
    t.launch(f, 1, 1, ((at,), (POINTER,)))
    out = np.zeros(1, np.uint32)
    t("cuMemcpyDtoH", out.ctypes.data, at, 4)
    t.note("result", int(out[0]))
    t("cuLinkDestroy", s)
    for step, texts in {"unresolved": (CALLS_TWICE,), "twice the same": (TWICE, TWICE), "nothing": (), "a bad one": (HEAD + ".visible .entry k() { nonsense; }",), "words": ("hello",), "newer target": (TWICE.replace("sm_90", "sm_100").replace("8.0", "8.7"),)}.items():  # fmt: skip
        log, option = bytearray(4000), cu.CUjit_option
        s = t(
            "cuLinkCreate",
            2,
            [option.CU_JIT_ERROR_LOG_BUFFER, option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES],
            [log, 4000],
            step=f"{step}: create",
        )
        for text in texts:
            add(s, text, f"{step}: add")
        t("cuLinkComplete", s, step=f"{step}: complete", quiet=True)
        t.note(f"{step}: log is written", bool(log.strip(b"\0")))
    s = cu.cuLinkCreate(0, [], [])[1]
    add(s, b"\x7fELFrubbish" + bytes(80), "rubbish object", kinds.CU_JIT_INPUT_CUBIN)
    t("cuLinkAddFile", s, kinds.CU_JIT_INPUT_PTX, b"/nowhere", 0, [], [], step="no file")


# ---------------------------------------------------------------- launches


@scenario
def launch_shapes(t: Notes) -> None:
    t.start()
    m = t.module()
    one = ((0,), (POINTER,))

    def get(name: str) -> Any:
        return t.cu.cuModuleGetFunction(m, name.encode())[1]

    for name, params in (("bounded", one), ("fixed", NONE), ("least", NONE), ("barred", NONE), ("clustered", NONE), ("ranked", NONE)):
        f = get(name)
        for grid, block, shared in ((1, 1, 0), (1, 32, 0), (1, 128, 0), (1, 129, 0), (1, 256, 0), (1, 257, 0), (1, 1024, 0), (1, 1025, 0), (0, 32, 0), (1, 0, 0), ((1, 65535), 1, 0), ((1, 65536), 1, 0), ((1, 1, 65536), 1, 0),
                                    (2, (1, 1, 64), 0), (2, (1, 1, 65), 0), (2, (32, 2), 0), (2, (2, 32), 0), (2, (16, 4), 0), (2, 32, 48 << 10), (2, 32, (48 << 10) + 1), (2, 32, 240_000), (3, 32, 0), (4, 32, 0), (2**31 - 1, 0, 0), (2**31, 1, 0)):  # fmt: skip
            t.launch(f, grid, block, params, shared, step=f"{name} {grid} {block} {shared}")
    t("cuCtxSynchronize")


@scenario
def launch_parameters(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    add, fixed = (cu.cuModuleGetFunction(m, n)[1] for n in (b"add", b"fixed"))
    at = [t.memory(400) for _ in range(3)]
    keep = [ctypes.c_uint64(x) for x in at] + [ctypes.c_uint32(100)]
    table = (ctypes.c_void_p * 4)(*[ctypes.addressof(k) for k in keep])
    t.launch(add, 1, 32, ctypes.addressof(table), step="table")
    t.launch(fixed, 1, (32, 2), 0, step="no table needed")
    t.launch(fixed, 1, (32, 2), ctypes.addressof(table), step="table not needed")
    raw = ctypes.create_string_buffer(struct.pack("<QQQI", *at, 100), 64)

    def extra(size: int | None, step: str, words: tuple[int, ...] = ()) -> None:
        n = ctypes.c_size_t(size or 0)
        w = words or (1, ctypes.addressof(raw), 2, ctypes.addressof(n), 0)
        x = (ctypes.c_void_p * 6)(*w)
        t("cuLaunchKernel", add, 1, 1, 1, 32, 1, 1, 0, 0, 0, ctypes.addressof(x), step=step)

    extra(28, "extra")
    extra(32, "extra, padded")
    extra(64, "extra, too long")
    extra(24, "extra, too short")
    extra(27, "extra, one short")
    n = ctypes.c_size_t(28)
    extra(0, "extra, size first", (2, ctypes.addressof(n), 1, ctypes.addressof(raw), 0))
    extra(0, "extra, no size", (1, ctypes.addressof(raw), 0))
    extra(0, "extra, nothing", (0,))
    extra(0, "extra, unknown", (9, ctypes.addressof(raw), 0))
    x = (ctypes.c_void_p * 5)(1, ctypes.addressof(raw), 2, ctypes.addressof(n), 0)
    t("cuLaunchKernel", add, 1, 1, 1, 32, 1, 1, 0, 0, ctypes.addressof(table), ctypes.addressof(x), step="both")
    t.launch(add, 1, 32, ((*map(cu.CUdeviceptr, at), 100), (None, None, None, U32)), step="handles")
    t.launch(add, 1, 32, np.array([ctypes.addressof(k) for k in keep], np.uint64), step="array of addresses")
    t("cuCtxSynchronize")


@scenario
def launch_attributes(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()

    def get(name: str) -> Any:
        return cu.cuModuleGetFunction(m, name.encode())[1]

    one = ((0,), (POINTER,))
    f = get("bounded")
    for size, grid in (
        ((1, 1, 1), 8),
        ((2, 1, 1), 8),
        ((8, 1, 1), 8),
        ((16, 1, 1), 16),
        ((3, 1, 1), 8),
        ((0, 1, 1), 8),
        ((2, 2, 1), (4, 4)),
        ((2, 2, 2), (4, 4)),
        ((32, 1, 1), 32),
    ):
        t("cuLaunchKernelEx", t.config(grid, 32, cluster_dimension=size), f, one, 0, step=f"cluster {size} of {grid}")
    which = cu.CUfunction_attribute
    t("cuFuncSetAttribute", f, which.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
    for n in (9, 16, 17):
        t("cuLaunchKernelEx", t.config(2 * n, 32, cluster_dimension=(n, 1, 1)), f, one, 0, step=f"large cluster {n}")
    for size in ((2, 1, 1), (4, 1, 1), (1, 2, 1)):
        t("cuLaunchKernelEx", t.config((4, 4), 32, cluster_dimension=size), get("clustered"), NONE, 0, step=f"required, {size}")
    for size in ((2, 1, 1), (4, 1, 1), (8, 1, 1)):
        t("cuLaunchKernelEx", t.config(8, 32, cluster_dimension=size), get("ranked"), NONE, 0, step=f"at most 4, {size}")
    t("cuLaunchKernelEx", t.config(4, 32), get("clustered"), NONE, 0, step="required, none given")
    t("cuLaunchKernelEx", t.config(3, 32), get("clustered"), NONE, 0, step="required, grid of 3")
    t("cuLaunchKernelEx", t.config(4, 32, cooperative=1), f, one, 0, step="cooperative")
    t("cuLaunchKernelEx", t.config(132 * 32 + 1, 32, cooperative=1), f, one, 0, step="cooperative, too large")
    t("cuLaunchKernelEx", t.config(132 * 32, 32, cooperative=1), f, one, 0, step="cooperative, as large as can be")
    t("cuLaunchKernelEx", t.config(8, 32, cooperative=1, cluster_dimension=(2, 1, 1)), f, one, 0, step="cooperative clusters")
    for p in (0, -5, -6, 1):
        t("cuLaunchKernelEx", t.config(8, 32, priority=p), f, one, 0, step=f"priority {p}")
    t("cuLaunchCooperativeKernel", f, 4, 1, 1, 32, 1, 1, 0, 0, one)
    t("cuLaunchCooperativeKernel", f, 132 * 32 + 1, 1, 1, 32, 1, 1, 0, 0, one, step="too large")
    t("cuLaunchKernelEx", None, f, one, 0, step="no configuration")
    t("cuCtxSynchronize")
    f = get("add")
    t("cuFuncSetAttribute", f, which.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4)
    for a in ("WIDTH", "HEIGHT", "DEPTH"):
        t("cuFuncGetAttribute", getattr(which, f"CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_{a}"), f)
    t.launch(f, 8, 32, ((0, 0, 0, 0), (POINTER, POINTER, POINTER, U32)), step="cluster from the attribute")
    t.launch(f, 6, 32, ((0, 0, 0, 0), (POINTER, POINTER, POINTER, U32)), step="cluster that does not fit")
    t("cuCtxSynchronize")


@scenario
def occupancy(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    which = cu.CUfunction_attribute
    for name in ("add", "bounded", "shared_size", "fixed", "local", "barred", "least"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for block in (0, 1, 32, 65, 128, 256, 512, 1024, 1025):
            for shared in (0, 1000, 48 << 10, 100_000):
                t("cuOccupancyMaxActiveBlocksPerMultiprocessor", f, block, shared, step=f"{name} {block} {shared}")
        for limit in (0, 32, 100, 128, 2000):
            t("cuOccupancyMaxPotentialBlockSize", f, 0, 0, limit, step=f"{name} potential {limit}")
        for blocks, block in ((1, 32), (2, 64), (4, 128), (8, 256), (32, 32), (33, 32), (0, 32), (1, 0)):
            t("cuOccupancyAvailableDynamicSMemPerBlock", f, blocks, block, step=f"{name} available {blocks} {block}")
        t("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", f, 128, 0, 1, step=f"{name} flags 1")
        t("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", f, 128, 0, 2, step=f"{name} flags 2")
    for name in ("bounded", "shared_size", "clustered", "ranked"):
        f = cu.cuModuleGetFunction(m, name.encode())[1]
        for round in range(2):
            if round:
                cu.cuFuncSetAttribute(f, which.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1)
                cu.cuFuncSetAttribute(f, which.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200_000)
            for block in (32, 128, 1024):
                for shared in (0, 40_000, 200_000):
                    t(
                        "cuOccupancyMaxPotentialClusterSize",
                        f,
                        t.config(512, block, shared),
                        step=f"{name} {round} potential cluster {block} {shared}",
                    )
                    for n in (1, 2, 3, 4, 8, 16):
                        c = t.config(48 * n, block, shared, cluster_dimension=(n, 1, 1))
                        t("cuOccupancyMaxActiveClusters", f, c, step=f"{name} {round} clusters of {n} {block} {shared}")


# ---------------------------------------------------------------- streams and events


@scenario
def streams(t: Notes) -> None:
    cu = t.cu
    t.start()
    for flags in (0, 1, 2):
        t("cuStreamCreate", flags, step=f"create {flags}")
    for p in (0, -1, -5, -6, 1, 100):
        s = t("cuStreamCreateWithPriority", 1, p, step=f"priority {p}")
        t("cuStreamGetPriority", s)
    for name, s in (("new", cu.cuStreamCreate(1)[1]), ("null", 0), ("legacy", cu.CUstream(1)), ("per thread", cu.CUstream(2))):
        for call in (
            "cuStreamGetFlags",
            "cuStreamGetPriority",
            "cuStreamIsCapturing",
            "cuStreamQuery",
            "cuStreamSynchronize",
            "cuStreamGetCtx",
            "cuStreamGetDevice",
        ):
            t(call, s, step=f"{name} {call}")
        t("cuStreamGetId", s, step=f"{name} id", quiet=True)
        for a in ("PRIORITY", "MEM_SYNC_DOMAIN"):
            v = t("cuStreamGetAttribute", s, getattr(cu.CUstreamAttrID, f"CU_LAUNCH_ATTRIBUTE_{a}"), step=f"{name} {a}", quiet=True)
            if v is not None:
                t.note("value", v.priority if a == "PRIORITY" else v.memSyncDomain)
    t.note("legacy id is null's", int(cu.cuStreamGetId(0)[1]) == int(cu.cuStreamGetId(cu.CUstream(1))[1]))
    s, e = cu.cuStreamCreate(0)[1], cu.cuEventCreate(0)[1]
    t("cuStreamWaitEvent", s, e, 0, step="wait for an event that was never recorded")
    t("cuStreamWaitEvent", s, e, 2, step="bad flags")
    v = cu.CUlaunchAttributeValue()
    v.syncPolicy = cu.CUsynchronizationPolicy.CU_SYNC_POLICY_YIELD
    t("cuStreamSetAttribute", s, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, v)
    v = t("cuStreamGetAttribute", s, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, quiet=True)
    t.note("policy", v.syncPolicy)
    t("cuStreamCopyAttributes", cu.cuStreamCreate(0)[1], s)
    t("cuStreamSetAttribute", s, cu.CUstreamAttrID.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, v, step="an attribute of launches")
    at = t.memory(64)
    t("cuStreamWriteValue32", s, at, 7, 0)
    t("cuStreamWaitValue32", s, at, 7, 1)
    t("cuStreamWriteValue64", s, at + 8, 9, 0)
    t("cuStreamWaitValue64", s, at + 8, 8, 0)
    t("cuStreamWriteValue32", s, at + 2, 7, 0, step="write misaligned")
    t("cuStreamWriteValue32", s, 0, 7, 0, step="write null")
    t("cuStreamSynchronize", s)
    out = np.zeros(4, np.uint32)
    cu.cuMemcpyDtoH(out.ctypes.data, at, 16)
    t.note("written", [int(x) for x in out])
    t("cuStreamDestroy", s)
    t("cuStreamDestroy", 0, step="destroy null")
    t("cuStreamDestroy", cu.CUstream(1), step="destroy legacy")
    t("cuThreadExchangeStreamCaptureMode", cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED)
    t("cuThreadExchangeStreamCaptureMode", cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL)


@scenario
def null_source(t: Notes) -> None:
    t.start()
    t("cuMemcpyHtoD", t.memory(64), 0, 4)


@scenario
def null_rows(t: Notes) -> None:
    t.start()
    c = t.cu.CUDA_MEMCPY2D()
    c.srcMemoryType, c.dstMemoryType = t.cu.CUmemorytype.CU_MEMORYTYPE_HOST, t.cu.CUmemorytype.CU_MEMORYTYPE_DEVICE
    c.dstDevice, c.srcPitch, c.dstPitch, c.WidthInBytes, c.Height = t.cu.CUdeviceptr(t.memory(64)), 8, 8, 8, 2
    t("cuMemcpy2D", c)


@scenario
def no_parameters(t: Notes) -> None:
    t.start()
    t.launch(t.function("add"), 1, 32, 0)


@scenario
def rubbish_object(t: Notes) -> None:
    t.start()
    t("cuModuleLoadData", b"\x7fELFrubbish" + bytes(4000))


@scenario
def gone_event(t: Notes) -> None:
    t.start()
    e = t.cu.cuEventCreate(0)[1]
    t.cu.cuEventDestroy(e)
    t("cuEventSynchronize", e)


@scenario
def gone_module(t: Notes) -> None:
    t.start()
    m = t.module()
    t("cuModuleUnload", m)
    t("cuModuleUnload", m)


@scenario
def gone_function(t: Notes) -> None:
    t.start()
    m = t.module()
    f = t.cu.cuModuleGetFunction(m, b"fixed")[1]
    t("cuModuleUnload", m)
    t.launch(f, 1, (32, 2), NONE)


@scenario
def events(t: Notes) -> None:
    cu = t.cu
    c = t.start()
    for flags in (0, 1, 2, 3, 4, 6, 8):
        t("cuEventCreate", flags, step=f"create {flags}")
    a, b, silent = (cu.cuEventCreate(f)[1] for f in (0, 0, 2))
    s = cu.cuStreamCreate(0)[1]
    t("cuEventQuery", a, step="query, never recorded")
    t("cuEventSynchronize", a, step="wait, never recorded")
    t("cuEventElapsedTime", a, b, step="elapsed, never recorded", quiet=True)
    t("cuEventRecord", a, s)
    t("cuEventElapsedTime", a, b, step="elapsed, one recorded", quiet=True)
    t("cuEventRecord", b, 0)
    t("cuEventRecord", silent, 0)
    t("cuEventRecordWithFlags", b, 0, 1, step="record external")
    t("cuEventRecordWithFlags", b, 0, 2, step="record, bad flags")
    cu.cuCtxSynchronize()
    t("cuEventQuery", a)
    t.note("positive", t("cuEventElapsedTime", a, b, quiet=True) > 0)
    t("cuEventElapsedTime", a, a, step="elapsed, itself")
    t("cuEventElapsedTime", a, silent, step="elapsed, without timing", quiet=True)
    t("cuCtxRecordEvent", c, a)
    t("cuCtxWaitEvent", c, a)
    other = cu.cuCtxCreate(None, 0, 0)[1]
    t("cuEventRecord", a, 0, step="record in another context")
    t("cuEventQuery", a, step="query in another context")
    t("cuStreamWaitEvent", 0, a, 0, step="wait in another context")
    t("cuEventSynchronize", a, step="synchronize in another context")
    mine = cu.cuEventCreate(0)[1]
    cu.cuEventRecord(mine, 0)
    cu.cuCtxSynchronize()
    t("cuEventElapsedTime", a, mine, step="elapsed across contexts", quiet=True)
    del other


@scenario
def other_context(t: Notes) -> None:
    cu = t.cu
    t.start()
    m = t.module()
    f, s = cu.cuModuleGetFunction(m, b"fixed")[1], cu.cuStreamCreate(0)[1]
    cu.cuCtxCreate(None, 0, 0)
    t.launch(f, 1, (32, 2), NONE, step="function of the other, null stream")
    t.launch(f, 1, (32, 2), NONE, stream=s, step="function and stream of the other")
    own = t.function("fixed")
    t.launch(own, 1, (32, 2), NONE, stream=s, step="own function, stream of the other")
    t("cuStreamSynchronize", s)
    t("cuModuleGetGlobal", m, b"counter", quiet=True)
    t("cuMemAllocAsync", 64, s, quiet=True)
    t("cuModuleUnload", m)


@scenario
def host_functions(t: Notes) -> None:
    t.start()
    seen: list[int] = []
    kind = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
    call = kind(lambda data: seen.append(int(data or 0)))
    at = ctypes.cast(call, ctypes.c_void_p).value
    t("cuLaunchHostFunc", 0, at, 5)
    t("cuStreamSynchronize", 0)
    t.note("seen", seen)
    full = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)
    other = full(lambda stream, code, data: seen.append(code * 1000 + int(data or 0)))
    t("cuStreamAddCallback", 0, ctypes.cast(other, ctypes.c_void_p).value, 7, 0)
    t("cuStreamAddCallback", 0, ctypes.cast(other, ctypes.c_void_p).value, 7, 1, step="flags")
    t("cuStreamSynchronize", 0)
    t.note("seen", seen)
    f = t.function("k", ends_with("trap;"))
    t.launch(f, 1, 1, ((0,), (POINTER,)))
    t("cuLaunchHostFunc", 0, at, 6, step="behind a trap")
    t("cuStreamAddCallback", 0, ctypes.cast(other, ctypes.c_void_p).value, 8, 0, step="callback behind a trap")
    t("cuStreamSynchronize", 0)
    t.pause(0.2)
    t.note("seen", seen)


@scenario
def capture(t: Notes) -> None:
    cu = t.cu
    t.start()
    f, at = t.function("poke"), t.memory(64)
    modes = cu.CUstreamCaptureMode
    t("cuStreamBeginCapture", 0, modes.CU_STREAM_CAPTURE_MODE_GLOBAL, step="capture the null stream")
    s, e = cu.cuStreamCreate(1)[1], cu.cuEventCreate(0)[1]
    t("cuStreamEndCapture", s, step="end without a begin")
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    t("cuStreamIsCapturing", s)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL, step="begin twice")
    t.launch(f, 1, 1, ((at, 5), (POINTER, U32)), stream=s)
    t("cuMemsetD32Async", at + 4, 6, 2, s)
    t("cuMemcpyDtoDAsync", at + 16, at, 8, s)
    t("cuEventRecord", e, s)
    t("cuEventQuery", e, step="query a captured event")
    graph = t("cuStreamEndCapture", s)
    t("cuStreamIsCapturing", s)
    out = np.zeros(16, np.uint32)
    cu.cuMemcpyDtoH(out.ctypes.data, at, 64)
    t.note("nothing has run", [int(x) for x in out])
    nodes = cu.cuGraphGetNodes(graph, 20)
    t.note("nodes", nodes[0], nodes[2] if len(nodes) > 2 else None)
    kinds = [cu.cuGraphNodeGetType(n)[1] for n in (nodes[1] or [])[: nodes[2] or 0]]
    t.note("kinds", sorted(k.name for k in kinds))
    x = t("cuGraphInstantiate", graph, 0)
    for _ in range(2):
        t("cuGraphLaunch", x, s)
    t("cuStreamSynchronize", s)
    cu.cuMemcpyDtoH(out.ctypes.data, at, 64)
    t.note("now it has", [int(v) for v in out])
    t("cuGraphExecDestroy", x)
    t("cuGraphDestroy", graph)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    t("cuStreamSynchronize", s, step="synchronize while capturing")
    t.launch(f, 1, 1, ((at, 5), (POINTER, U32)), stream=s, step="launch after that")
    t("cuStreamIsCapturing", s)
    t("cuStreamEndCapture", s)
    t("cuStreamIsCapturing", s)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_GLOBAL)
    t("cuMemAlloc", 64, step="alloc while capturing")
    t("cuStreamEndCapture", s)
    t("cuStreamBeginCapture", s, modes.CU_STREAM_CAPTURE_MODE_RELAXED)
    t("cuMemAlloc", 64, step="alloc while capturing, relaxed")
    t.launch(f, 1, 1, ((at, 5), (POINTER, U32)), step="launch elsewhere")
    t("cuCtxSynchronize", step="context synchronize while capturing")
    t("cuStreamEndCapture", s)


# ---------------------------------------------------------------- faults

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


# ---------------------------------------------------------------- output of kernels


def _captured(work: Callable[[], None], number: int = 1) -> str:
    """What a piece of work writes to a file descriptor."""
    sys.stdout.flush()
    with tempfile.TemporaryFile() as file:
        old = os.dup(number)
        os.dup2(file.fileno(), number)
        try:
            work()
            sys.stdout.flush()
            ctypes.CDLL(None).fflush(None)
        finally:
            os.dup2(old, number)
            os.close(old)
        file.seek(0)
        return file.read().decode(errors="replace")


def _flushes(call: str) -> Callable[[Notes], None]:
    def work(t: Notes) -> None:
        cu = t.cu
        t.start()
        f, at = t.function("k", PRINTS), t.memory(64)
        s, e, m = cu.cuStreamCreate(1)[1], cu.cuEventCreate(0)[1], t.module()
        g = cu.cuModuleGetFunction(m, b"fixed")[1]
        host = np.zeros(8, np.uint32)
        pinned = cu.cuMemAllocHost(64)[1]
        args: dict[str, tuple[Any, ...]] = {
            "cuCtxSynchronize": (), "cuStreamSynchronize": (s,), "cuStreamQuery": (s,), "cuEventRecord": (e, 0), "cuEventSynchronize": (e,), "cuEventQuery": (e,), "cuMemcpyHtoD": (at, host.ctypes.data, 8), "cuMemcpyDtoH": (host.ctypes.data, at, 8), "cuMemcpyDtoD": (at, at + 32, 8),
            "cuMemcpyHtoDAsync": (at, host.ctypes.data, 8, s), "cuMemcpyDtoHAsync": (host.ctypes.data, at, 8, s), "cuMemsetD8": (at, 0, 4), "cuModuleLoadData": (KERNELS.encode() + b"\0",), "cuModuleUnload": (m,), "cuMemAlloc": (64,), "cuMemFree": (at,), "cuLaunchKernel": (g, 1, 1, 1, 32, 2, 1, 0, s, 0, 0),
            "cuMemFreeHost": (pinned,), "cuMemHostAlloc": (64, 0), "cuMemGetInfo": (), "cuStreamDestroy": (s,), "cuDevicePrimaryCtxReset": (0,), "cuMemAllocManaged": (64, 1),
        }  # fmt: skip

        def before() -> None:
            t.launch(f, 1, 2, ((0,), (U32,)))
            t.pause(0.05)

        t.note("at the launch", _captured(before))
        if call == "cuEventSynchronize":
            cu.cuEventRecord(e, 0)
        t.note("then", _captured(lambda: t(call, *args[call], quiet=True)))

    return work


for _name in ("cuCtxSynchronize", "cuStreamSynchronize", "cuStreamQuery", "cuEventRecord", "cuEventSynchronize", "cuEventQuery", "cuMemcpyHtoD", "cuMemcpyDtoH", "cuMemcpyDtoD", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemsetD8", "cuModuleLoadData",
              "cuModuleUnload", "cuMemAlloc", "cuMemFree", "cuLaunchKernel", "cuMemFreeHost", "cuMemHostAlloc", "cuMemGetInfo", "cuStreamDestroy", "cuDevicePrimaryCtxReset", "cuMemAllocManaged"):  # fmt: skip
    SCENARIOS[f"printed_by_{_name}"] = _flushes(_name)


@scenario
def printed_over(t: Notes) -> None:
    """More output than the buffer holds: the oldest is gone."""
    t.start()
    t("cuCtxSetLimit", t.cu.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE, 1)
    t("cuCtxGetLimit", t.cu.CUlimit.CU_LIMIT_PRINTF_FIFO_SIZE)
    f = t.function("k", PRINTS)

    def work() -> None:
        for n in range(64):
            t.cu.cuLaunchKernel(f, 1, 1, 1, 1024, 1, 1, 0, 0, ((n * 1024,), (U32,)), 0)
        t.cu.cuCtxSynchronize()

    lines = _captured(work).splitlines()
    t.note("lines", len(lines))
    numbers = sorted(int(x.split()[1]) for x in lines if re.fullmatch(r"hi \d+", x))
    t.note("first, last", numbers[0] if numbers else None, numbers[-1] if numbers else None, len(numbers))


def _asserts(grid: int, block: int, step: int) -> Callable[[Notes], None]:
    def work(t: Notes) -> None:
        t.start()
        f = t.function("k", ASSERTS)

        def launch() -> None:
            t.launch(f, grid, block, ((step,), (U32,)))
            t.pause(0.05)

        t.note("at the launch", _captured(launch, 2))
        lines = _captured(lambda: t("cuCtxSynchronize"), 2).splitlines()
        t.note("lines", len(lines), sorted(set(lines))[:3])
        t.note("threads", sorted(int(re.findall(r"thread: \[(\d+)", x)[0]) for x in lines if "thread: [" in x) if grid == 1 else "some")
        t.note("order", [int(re.findall(r"thread: \[(\d+)", x)[0]) for x in lines if "thread: [" in x][:8] if grid == 1 else "some")
        t("cuCtxSynchronize", step="again")

    return work


SCENARIOS["asserts_one"] = _asserts(1, 1, 1)
SCENARIOS["asserts_warp"] = _asserts(1, 32, 5)
SCENARIOS["asserts_block"] = _asserts(1, 128, 3)
SCENARIOS["asserts_grid"] = _asserts(4, 64, 7)


# ---------------------------------------------------------------- the runtime API


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


# ---------------------------------------------------------------- cuda.core


def _told(t: Notes, step: str, work: Callable[[], Any]) -> Any:
    try:
        found = work()
    except Exception as e:
        base = next(c.__name__ for c in type(e).__mro__ if c.__module__ == "builtins" or c.__name__ in ("CUDAError", "ApiError"))
        t.note(step, "raises", {"ApiError": "CUDAError"}.get(base, base))
        return None
    t.note(step, found if isinstance(found, int | float | str | bytes | tuple | list | bool) or found is None else type(found).__name__)
    return found


@scenario
def core_objects(t: Notes) -> None:
    core = t.core
    d = core.Device(0)
    for name in ("name", "device_id", "compute_capability", "arch"):
        _told(t, name, lambda name=name: getattr(d, name))  # type: ignore[misc]
    _told(t, "context before set_current", lambda: d.context)
    _told(t, "stream before set_current", lambda: d.create_stream())
    _told(t, "set_current", lambda: d.set_current())
    _told(t, "no device", lambda: core.Device(99))
    _told(t, "negative device", lambda: core.Device(-1))
    for name in sorted(n for n in dir(d.properties) if not n.startswith("_") and not n.endswith("_id")):
        _told(t, f"property {name}", lambda name=name: getattr(d.properties, name))  # type: ignore[misc]
    for kw in ({"grid": 4, "block": 32}, {"grid": (4, 2), "block": (8, 4, 2)}, {"grid": 4}, {"block": 4}, {"grid": 0, "block": 1}, {"grid": (1, 2, 3, 4), "block": 1}, {"grid": 2, "block": 1, "cluster": 2},
               {"grid": 1, "block": 1, "shmem_size": 100}, {"grid": "x", "block": 1}, {"grid": 1, "block": 1, "is_cooperative": True}, {"grid": [4, 2], "block": 1}, {"grid": 1, "block": 1, "shmem_size": -1}):  # fmt: skip
        c = _told(t, f"config {kw}", lambda kw=kw: core.LaunchConfig(**kw))  # type: ignore[misc]
        if c is not None:
            t.note("is", list(c.grid), list(c.block), list(c.cluster) if c.cluster else None, c.shmem_size, c.is_cooperative)
    s = d.create_stream()
    for name in ("is_nonblocking", "priority"):
        _told(t, f"stream {name}", lambda name=name: getattr(s, name))  # type: ignore[misc]
    _told(t, "stream of bad priority", lambda: d.create_stream(options=core.StreamOptions(priority=9)))
    e = s.record()
    for name in ("is_done", "is_timing_enabled", "is_ipc_enabled"):
        _told(t, f"event {name}", lambda name=name: getattr(e, name))  # type: ignore[misc]
    s.sync()
    _told(t, "event is_done then", lambda: e.is_done)
    _told(t, "time between events without timing", lambda: e - e)
    _told(t, "event minus nothing", lambda: e - 1)
    b = d.allocate(1024, stream=s)
    for name in ("size", "is_device_accessible", "is_host_accessible", "device_id", "is_mapped"):
        _told(t, f"buffer {name}", lambda name=name: getattr(b, name))  # type: ignore[misc]
    _told(t, "fill", lambda: b.fill(7, stream=s))
    _told(t, "fill too large", lambda: b.fill(256, stream=s))
    _told(t, "fill bytes", lambda: b.fill(b"\1\2", stream=s))
    _told(t, "fill three bytes", lambda: b.fill(b"\1\2\3", stream=s))
    _told(t, "copy of another size", lambda: b.copy_from(d.allocate(512, stream=s), stream=s))
    _told(t, "copy without a stream", lambda: b.copy_from(d.allocate(1024, stream=s)))
    _told(t, "copy_to nothing", lambda: b.copy_to(stream=s))
    _told(t, "dlpack device", lambda: tuple(int(x) for x in b.__dlpack_device__()))
    _told(t, "allocate nothing", lambda: d.allocate(0, stream=s))
    _told(t, "allocate less", lambda: d.allocate(-1, stream=s))
    pinned = core.LegacyPinnedMemoryResource().allocate(64)
    for name in ("is_device_accessible", "is_host_accessible", "device_id"):
        _told(t, f"pinned {name}", lambda name=name: getattr(pinned, name))  # type: ignore[misc]
    _told(t, "numpy of pinned", lambda: len(np.from_dlpack(pinned)))
    _told(t, "buffer constructor", lambda: core.Buffer())
    _told(t, "stream constructor", lambda: core.Stream())
    _told(t, "close", lambda: b.close(s))
    _told(t, "close again", lambda: b.close(s))
    _told(t, "closed size", lambda: b.size)


@scenario
def core_kernels(t: Notes) -> None:
    core = t.core
    d = core.Device(0)
    d.set_current()
    s = d.create_stream()
    code = _told(t, "from_ptx", lambda: core.ObjectCode.from_ptx(BOTH.encode()))
    t.note("type", code.code_type)
    _told(t, "no kernel", lambda: code.get_kernel("nothing"))
    for name in ("add", "mixed", "fixed", "bounded"):
        k = _told(t, f"kernel {name}", lambda name=name: code.get_kernel(name))  # type: ignore[misc]
        _told(t, "arguments", lambda k=k: k.num_arguments)  # type: ignore[misc]
        _told(t, "infos", lambda k=k: [(int(i.offset), int(i.size)) for i in k.arguments_info])  # type: ignore[misc]
        _told(
            t,
            "attributes of it",
            lambda k=k: (
                (k.attributes.max_threads_per_block(), k.attributes.shared_size_bytes())
                if callable(k.attributes.max_threads_per_block)
                else (k.attributes.max_threads_per_block, k.attributes.shared_size_bytes)
            ),
        )  # type: ignore[misc]
        _told(t, "occupancy of it", lambda k=k: k.occupancy.max_active_blocks_per_multiprocessor(128, 0))  # type: ignore[misc]
        _told(t, "block of it", lambda k=k: tuple(int(x) for x in k.occupancy.max_potential_block_size(0, 0)))  # type: ignore[misc]
        _told(t, "room of it", lambda k=k: k.occupancy.available_dynamic_shared_memory_per_block(1, 32))  # type: ignore[misc]
    _told(t, "words", lambda: core.ObjectCode.from_ptx(b"hello").get_kernel("k"))
    _told(t, "program", lambda: core.Program(KERNELS, "ptx").compile("cubin"))
    _told(t, "program of nothing", lambda: core.Program(KERNELS, "nothing"))
    _told(t, "program to nothing", lambda: core.Program(KERNELS, "ptx").compile("nothing"))
    _told(t, "bad program", lambda: core.Program(HEAD + ".visible .entry k() { nonsense; }", "ptx").compile("cubin"))
    linked = _told(
        t,
        "link",
        lambda: core.Linker(core.ObjectCode.from_ptx(TWICE.encode()), core.ObjectCode.from_ptx(CALLS_TWICE.encode())).link("cubin"),
    )
    _told(t, "link, unresolved", lambda: core.Linker(core.ObjectCode.from_ptx(CALLS_TWICE.encode())).link("cubin"))
    at = d.allocate(64, stream=s)
    one = core.LaunchConfig(grid=1, block=1)
    _told(t, "launch linked", lambda: core.launch(s, one, linked.get_kernel("k"), at))
    k = code.get_kernel("poke")
    _told(t, "launch", lambda: core.launch(s, one, k, at, np.uint32(7)))
    _told(t, "launch with a Python int", lambda: core.launch(s, one, k, at, 7))
    _told(t, "launch with a string", lambda: core.launch(s, one, k, at, "x"))
    _told(t, "launch with None", lambda: core.launch(s, one, k, at, None))
    _told(t, "launch, block too large", lambda: core.launch(s, core.LaunchConfig(grid=1, block=2048), k, at, np.uint32(7)))
    _told(t, "sync", lambda: s.sync())
    out = core.LegacyPinnedMemoryResource().allocate(64)
    at.copy_to(out, stream=s)
    s.sync()
    t.note("result", int(np.from_dlpack(out).view(np.uint32)[0]))
    _told(t, "launch at null", lambda: core.launch(s, one, k, 16, np.uint32(7)))
    _told(t, "sync of a fault", lambda: s.sync())


# ---------------------------------------------------------------- running


def run(name: str, packages: tuple[str, str, str]) -> list[list[Any]]:
    """A scenario in a process of its own; what it noted until it ended."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(source)
        out = os.fdopen(sink, "w")
        try:
            t = Notes(packages)

            def emit(line: list[Any]) -> None:
                out.write(json.dumps(line) + "\n")
                out.flush()

            t.emit = emit
            try:
                SCENARIOS[name](t)
            except Exception as e:
                traceback.print_exc()
                t.note("scenario", "raises", type(e).__name__, str(e)[:200])
        finally:
            out.close()
            os._exit(0)
    os.close(sink)
    with os.fdopen(source) as found:
        lines = [json.loads(line) for line in found]
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        lines.append(["scenario", "killed", os.WTERMSIG(status)])
    return lines


def main(which: str, path: str, *names: str) -> None:
    """Runs all scenarios, or those that are named, several at a time."""
    for package in PACKAGES[which][:1]:
        importlib.import_module(package)
    chosen = names or tuple(SCENARIOS)
    with ThreadPoolExecutor(8 if which == "real" else 1) as pool:
        found = dict(zip(chosen, pool.map(lambda n: run(n, PACKAGES[which]), chosen), strict=True))
    text = ",\n".join(f" {json.dumps(n)}: [\n  " + ",\n  ".join(json.dumps(line) for line in lines) + "\n ]" for n, lines in found.items())
    with open(path, "w") as file:
        file.write("{\n" + text + "\n}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
