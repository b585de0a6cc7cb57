"""Answers that need code of their own: C functions whose results have a size that an argument decides, whose parameters mean something else than
those of the Python call, or that only C has.  All others are marshalled by abi.py.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ... import cudart, driver
from ...api.table import ApiCall, CForm
from ...cudart import from_c
from ...cudart.api import RUNTIME, code_of
from ...cudart.enums import cudaError_t
from ...cudart.registration import REGISTRY
from ...device.memory.host import host
from ...driver.tables.enums import CUresult
from ...errors import ApiError, invalid, unsupported
from ..binaries import maps
from ..binaries.elf import MACHINE
from ..binaries.registration import KERNEL as REGISTERS
from ..binaries.unnamed import unnamed
from ..process import HostProgram, KeptMemory
from ..wire import WireRequest
from .abi import Values, read_array, read_structure, write, write_result


@dataclass(frozen=True, slots=True)
class HandledCall:
    """One call that is answered."""

    strings: KeptMemory
    request: WireRequest
    given: Values
    per_thread: bool = False  # stream 0 is the thread's own
    is_runtime: bool = False

    def stream(self, name: str = "stream") -> int:
        """The stream that an argument means."""
        return 2 if self.per_thread and self.given[name] == 0 else int(self.given[name])

    def out(self, name: str, kind: str, value: Any) -> None:
        """Writes a result."""
        write_result(kind, self.given[name], value)


Handler = Callable[[HandledCall], int]
HANDLERS: dict[str, Handler] = {}
# Parameters of the runtime's calls that are functions or variables of the host.
TRANSLATED: dict[str, Callable[[int], int]] = {"symbol": lambda symbol: REGISTRY.variable(symbol)[0]}
NO_KERNEL, NO_HANDLE = "cudaErrorInvalidDeviceFunction", "CUDA_ERROR_INVALID_HANDLE"


def handles(*names: str) -> Callable[[Handler], Handler]:
    """Enters a handler of some functions."""

    def enter(work: Handler) -> Handler:
        HANDLERS.update(dict.fromkeys(names, work))
        return work

    return enter


def python_call(call: ApiCall, is_runtime: bool) -> Any:
    """The Python function that does the work of a call; None where there is none."""
    name = call.forward if "C" in call.words and call.forward else call.name
    if not is_runtime:
        return getattr(driver, name, None)
    return getattr(cudart, name, None) or getattr(from_c, name, None)


def handler_of(form: CForm) -> Handler | None:
    """The answer to a C function that has one of its own."""
    return HANDLERS.get(re.sub(r"_pt[ds][sz](?=@|$)", "", form.name))


def code(e: ApiError, is_runtime: bool) -> int:
    """The number of an error; the runtime remembers it."""
    if not is_runtime:
        return int(CUresult[e.name])
    out = code_of(e)
    if out is not cudaError_t.cudaErrorNotReady:
        RUNTIME.last = out
    return int(out)


def done(result: tuple[Any, ...]) -> int:
    """The code of a call without results."""
    return int(result[0])


# ---------------------------------------------------------------- what nvcc's host code calls


@handles("__cudaRegisterFatBinary")
def register_fat_binary(c: HandledCall) -> int:
    """A handle for a fat binary."""
    return REGISTRY.add(c.given["wrapper"])


@handles("__cudaRegisterFatBinaryEnd", "__cudaRegisterHostVar", "__cudaRegisterUnifiedTable")
def nothing(c: HandledCall) -> int:
    """Nothing is to be done."""
    return 0


@handles("__cudaUnregisterFatBinary")
def unregister_fat_binary(c: HandledCall) -> int:
    """The program ends: what kernels printed is shown."""
    from ...device.machine import machine

    REGISTRY.remove(c.given["handle"])
    for d in machine().devices:
        if d.primary is not None:
            d.primary.ring.flush()
    return 0


def _name(address: int) -> str:
    return host().string(address).decode(errors="replace")


@handles("__cudaRegisterFunction")
def register_function(c: HandledCall) -> int:
    """A function of the host stands for a kernel."""
    REGISTRY.add_function(c.given["handle"], c.given["hostFun"], _name(c.given["deviceName"]))
    return 0


@handles("__cudaRegisterVar")
def register_variable(c: HandledCall) -> int:
    """A variable of the host stands for one of the device."""
    REGISTRY.add_variable(c.given["handle"], c.given["hostVar"], _name(c.given["deviceName"]))
    return 0


@handles("__cudaRegisterManagedVar")
def register_managed(c: HandledCall) -> int:
    """A pointer of the host is to hold the address of a managed variable."""
    name = _name(c.given["deviceName"])
    REGISTRY.add_variable(c.given["handle"], c.given["hostVarPtrAddress"], name).managed[c.given["hostVarPtrAddress"]] = name
    return 0


@handles("__cudaInitModule")
def init_module(c: HandledCall) -> int:
    """Managed variables are about to be used."""
    REGISTRY.place_managed(c.given["handle"])
    return 1


@handles("__cudaPushCallConfiguration")
def push_configuration(c: HandledCall) -> int:
    """The shape of the launch that follows."""
    RUNTIME.configurations.append((c.given["gridDim"], c.given["blockDim"], c.given["sharedMem"], c.given["stream"]))
    return 0


@handles("__cudaPopCallConfiguration")
def pop_configuration(c: HandledCall) -> int:
    """The shape that was pushed last."""
    if not RUNTIME.configurations:
        raise ApiError("cudaErrorMissingConfiguration", "no launch configuration was pushed")
    grid, block, shared, stream = RUNTIME.configurations.pop()
    c.out("gridDim", "dim3", grid)
    c.out("blockDim", "dim3", block)
    c.out("sharedMem", "u64", shared)
    c.out("stream", "ptr", stream)
    return 0


@handles("__cudaGetKernel")
def get_kernel_to_launch(c: HandledCall) -> int:
    """The same, before a launch: what is wrong with the kernel is told then."""
    c.out("kernel", "ptr", c.given["entryFuncAddr"])
    return 0


@handles("__cudaLaunchKernel")
def launch_kernel(c: HandledCall) -> int:
    """Launches a kernel."""
    g = c.given
    return done(cudart.cudaLaunchKernel(REGISTRY.kernel(g["kernel"]), g["gridDim"], g["blockDim"], g["args"], g["sharedMem"], c.stream()))


# ---------------------------------------------------------------- symbols


@handles("cudaGetSymbolAddress")
def symbol_address(c: HandledCall) -> int:
    """Where a variable is."""
    c.out("devPtr", "ptr", REGISTRY.variable(c.given["symbol"])[0])
    return 0


@handles("cudaGetSymbolSize")
def symbol_size(c: HandledCall) -> int:
    """How large a variable is."""
    c.out("size", "u64", REGISTRY.variable(c.given["symbol"])[1])
    return 0


# ---------------------------------------------------------------- strings and structures that are returned


@handles("cudaGetErrorName")
def error_name(c: HandledCall) -> int:
    """The name of a code."""
    return c.strings.string(cudart.cudaGetErrorName(c.given["error"])[1])


@handles("cudaGetErrorString")
def error_string(c: HandledCall) -> int:
    """What a code means."""
    return c.strings.string(cudart.cudaGetErrorString(c.given["error"])[1])


@handles("cudaCreateChannelDesc")
def channel_desc(c: HandledCall) -> int:
    """A structure that is returned where the caller says."""
    r = c.request.registers
    at, values = (r[0], r[1:6]) if MACHINE == "x86_64" else (c.request.result, r[:5])
    write(at, struct.pack("<5I", *(v & 0xFFFF_FFFF for v in values)))
    return at


# ---------------------------------------------------------------- results whose size an attribute decides

# The attributes of an address that are not 32 bits wide.
_WIDE = frozenset(
    "CONTEXT DEVICE_POINTER HOST_POINTER P2P_TOKENS BUFFER_ID RANGE_START_ADDR RANGE_SIZE ALLOWED_HANDLE_TYPES MEMPOOL_HANDLE MAPPING_SIZE "
    "MAPPING_BASE_ADDR MEMORY_BLOCK_ID".split()
)
_BOOLEAN = frozenset("IS_MANAGED MAPPED IS_LEGACY_CUDA_IPC_CAPABLE IS_GPU_DIRECT_RDMA_CAPABLE IS_HW_DECOMPRESS_CAPABLE".split())


def _pointer_kind(which: int) -> str:
    name = driver.CUpointer_attribute(which).name.removeprefix("CU_POINTER_ATTRIBUTE_")
    return "u64" if name in _WIDE else "u8" if name in _BOOLEAN else "u32"


@handles("cuPointerGetAttribute")
def pointer_attribute(c: HandledCall) -> int:
    """One attribute of an address."""
    g = c.given
    result, value = driver.cuPointerGetAttribute(g["attribute"], g["ptr"])
    if not result:
        c.out("data", _pointer_kind(g["attribute"]), value)
    return int(result)


@handles("cuPointerGetAttributes")
def pointer_attributes(c: HandledCall) -> int:
    """Several attributes, each to its own place."""
    g = c.given
    which = read_array("i32", g["attributes"], g["numAttributes"])
    result, values = driver.cuPointerGetAttributes(len(which), which, g["ptr"])
    if not result:
        for at, one, value in zip(read_array("ptr", g["data"], len(which)), which, values, strict=True):
            write_result(_pointer_kind(one), at, value)
    return int(result)


@handles("cuDevSmResourceSplitByCount", "cudaDevSmResourceSplitByCount")
def split_by_count(c: HandledCall) -> int:
    """Groups of multiprocessors: as many as there is room for."""
    g = c.given
    (room,) = read_array("u32", g["nbGroups"], 1)
    source, flags = read_structure("CUdevResource", g["input_"]), g["flags"]
    result, groups, made, rest = driver.cuDevSmResourceSplitByCount(room if g["result"] else 0, source, flags, g["minCount"])
    if not result:
        c.out("nbGroups", "u32", made)
        write_result("CUdevResource", g["result"], groups)
        write_result("CUdevResource", g["remaining"], rest)
    return int(result)


@handles("cuMemPoolGetAttribute", "cudaMemPoolGetAttribute")
def pool_attribute(c: HandledCall) -> int:
    """One attribute of a pool: the first three are ints, the others 64 bits wide."""
    g = c.given
    pool = g.get("pool", g.get("memPool"))
    result, value = driver.cuMemPoolGetAttribute(pool, g["attr"])
    if not result:
        c.out("value", "u32" if g["attr"] <= 3 else "u64", value)
    return int(result)


@handles("cuMemPoolSetAttribute", "cudaMemPoolSetAttribute")
def set_pool_attribute(c: HandledCall) -> int:
    """Sets an attribute of a pool."""
    g = c.given
    (value,) = read_array("u32" if g["attr"] <= 3 else "u64", g["value"], 1)
    return done(driver.cuMemPoolSetAttribute(g.get("pool", g.get("memPool")), g["attr"], value))


@handles("cuMemRangeGetAttribute", "cudaMemRangeGetAttribute")
def range_attribute(c: HandledCall) -> int:
    """One attribute of a range: numbers of 32 bits."""
    g = c.given
    result, value = driver.cuMemRangeGetAttribute(g["dataSize"], g["attribute"], g["devPtr"], g["count"])
    if not result:
        c.out("data", "i32", value)
    return int(result)


@handles("cuMemRangeGetAttributes", "cudaMemRangeGetAttributes")
def range_attributes(c: HandledCall) -> int:
    """Several attributes of a range, each to its own place."""
    g, n = c.given, c.given["numAttributes"]
    which, sizes = read_array("i32", g["attributes"], n), read_array("u64", g["dataSizes"], n)
    result, values = driver.cuMemRangeGetAttributes(sizes, which, n, g["devPtr"], g["count"])
    if not result:
        for at, value in zip(read_array("ptr", g["data"], n), values, strict=True):
            write_result("i32", at, value)
    return int(result)


@handles("cuStreamEndCapture", "cudaStreamEndCapture")
def end_capture(c: HandledCall) -> int:
    """The graph of a capture; null where it has come to none."""
    if c.is_runtime:
        result, graph = cudart.cudaStreamEndCapture(c.stream())
    else:
        result, graph = driver.cuStreamEndCapture(c.stream("hStream"))
    c.out("pGraph" if c.is_runtime else "phGraph", "ptr", 0 if result else graph)
    return int(result)


# ---------------------------------------------------------------- several versions of one call


@handles("cuCtxCreate_v4")
def create_context_of_parts(c: HandledCall) -> int:
    """A context; its parameters must ask for nothing but a whole device."""
    g = c.given
    wanted = g["ctxCreateParams"] and any(host().read(g["ctxCreateParams"], 24))
    result, context = driver.cuCtxCreate(True if wanted else None, g["flags"], g["dev"])
    if not result:
        c.out("pctx", "ptr", context)
    return int(result)


def _device_location(device: int) -> Any:
    out = driver.CUmemLocation()
    out.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_HOST if device < 0 else driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    out.id = max(device, 0)
    return out


@handles("cuMemAdvise")
def advise(c: HandledCall) -> int:
    """Advice that names a device."""
    g = c.given
    return done(driver.cuMemAdvise(g["devPtr"], g["count"], g["advice"], _device_location(g["device"])))


@handles("cuMemPrefetchAsync")
def prefetch(c: HandledCall) -> int:
    """A prefetch that names a device."""
    g = c.given
    return done(driver.cuMemPrefetchAsync(g["devPtr"], g["count"], _device_location(g["dstDevice"]), 0, c.stream("hStream")))


# ---------------------------------------------------------------- entry points


def _entry(c: HandledCall, symbol: bytes, version: int, per_thread: bool) -> int:
    """The address of a driver call's newest form that a version knows; 0 where there is none."""
    forms = [e for e in ENTRY_POINTS.get(symbol.decode(errors="replace"), ()) if e.version <= version]
    own = [e for e in forms if e.per_thread]
    chosen = max(own if per_thread and own else [e for e in forms if not e.per_thread], key=lambda e: e.version, default=None)
    return 0 if chosen is None else ADDRESSES[0](c.request, chosen.name)


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """One form of a driver call."""

    name: str
    version: int
    per_thread: bool


ENTRY_POINTS: dict[str, list[EntryPoint]] = {}
ADDRESSES: list[Callable[[WireRequest, str], int]] = []  # where an exported function is in the program
FOUND, NO_SUCH, TOO_OLD = 0, 1, 2


@handles("cuGetProcAddress", "cuGetProcAddress_v2", "cudaGetDriverEntryPoint", "cudaGetDriverEntryPointByVersion")
def proc_address(c: HandledCall) -> int:
    """Where a driver call is."""
    g = c.given
    symbol = host().string(g["symbol"])
    version = int(g.get("cudaVersion") or g.get("driverVersion") or 13000)
    at = _entry(c, symbol, version, bool(g["flags"] & 2) or c.per_thread)
    status = FOUND if at else TOO_OLD if symbol.decode(errors="replace") in ENTRY_POINTS else NO_SUCH
    c.out("pfn" if "pfn" in g else "funcPtr", "ptr", at)
    for name in ("symbolFound", "driverStatus"):
        if name in g:
            c.out(name, "i32", status)
    if "pfn" in g:
        return 0 if at else int(CUresult.CUDA_ERROR_NOT_FOUND)
    return 0 if at or g.get("driverStatus") else int(cudaError_t.cudaErrorSymbolNotFound)


@handles("cuGetExportTable", "cudaGetExportTable")
def export_table(c: HandledCall) -> int:
    """Private tables are not there.  A runtime that was linked in and could not be redirected ends with this answer: that is explained.

    What else asks, such as a compiler that was linked in, does without them.
    """
    program = host()
    if MACHINE == "x86_64" and isinstance(program, HostProgram):
        (back,) = read_array("u64", c.request.stack - 8, 1)
        path = maps.path_at(program.pid, back)
        if path.startswith("/memfd:") or os.path.basename(path).startswith(("libnv", "libcuda")):
            return 1
        if (found := maps.object_at(program.pid, back)) is None or not unnamed(found):
            raise unsupported(unserved(path))
    return 1


def unserved(path: str) -> str:
    """Why the kernels of an object cannot run that holds a runtime without its symbols."""
    if ".so" in os.path.basename(path):
        return (
            f"{path} is machine code, with a CUDA runtime of its own: its kernels cannot run here "
            "(those of a library that you build can: link it with -cudart shared, or do not strip it)"
        )
    return (
        f"{path} holds NVIDIA's CUDA runtime without its symbols, so nothing can stand in for it: link it with -cudart shared, "
        "or do not strip it"
    )


def _kernel(function: int) -> int:
    """The kernel for which a function of the host stands; those of an object without symbols were registered with NVIDIA's runtime."""
    try:
        return REGISTRY.kernel(function)
    except ApiError as e:
        program = host()
        if e.name == NO_HANDLE and isinstance(program, HostProgram):
            found = maps.object_at(program.pid, function)
            names = unnamed(found) if found is not None and not maps.symbols(found, REGISTERS) else {}
            if found is not None and names and REGISTERS not in names:
                raise unsupported(unserved(found.path.partition("/root")[2])) from None
        raise


def _symbol(function: int) -> int:
    """The kernel of a function of the host, for calls that take nothing else: they tell of all others as of null."""
    try:
        return _kernel(function)
    except ApiError as e:
        raise ApiError(NO_KERNEL, e.message) if e.name == NO_HANDLE else e from None


TRANSLATED.update({"func": _kernel, "symbolPtr": _symbol, "entryFuncAddr": _symbol})


@handles("cuDriverGetVersion", "cudaDriverGetVersion")
def driver_version(c: HandledCall) -> int:
    """The version of CUDA that the driver is for: as new as any compiler that a program brings."""
    if not c.given["driverVersion"]:
        raise invalid("driverVersion is null")
    c.out("driverVersion", "i32", DRIVER_VERSION)
    return 0


DRIVER_VERSION = 13050


@handles("cuDeviceGetLuid")
def luid(c: HandledCall) -> int:
    """Devices have no LUID on Linux."""
    return int(CUresult.CUDA_ERROR_NOT_SUPPORTED)
