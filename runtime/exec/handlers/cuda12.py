"""CUDA 12's runtime, where it does something else than CUDA 13's.

`X@12` of the runtime's table answers what a program that was built with CUDA 12 calls X; all other functions are those of CUDA 13.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from functools import cache

from ... import cudart
from ...cudart.api import context
from ...cudart.enums import cudaDeviceAttr
from ...cudart.structs import cudaDeviceProp
from .abi import write
from .special import HandledCall, advise, handles, prefetch, proc_address

SUFFIX, NEWER = "@12", "@13"
VERSION = 12090
MARKER = "cudaThreadSynchronize"  # a function that CUDA 13 no longer has

# Fields of cudaDeviceProp that CUDA 13 no longer has: (the field before, the field, the attribute that has the value).
DROPPED = [
    ("maxGridSize", "clockRate", "ClockRate"),
    ("texturePitchAlignment", "deviceOverlap", "GpuOverlap"),
    ("multiProcessorCount", "kernelExecTimeoutEnabled", "KernelExecTimeout"),
    ("canMapHostMemory", "computeMode", "ComputeMode"),
    ("maxTexture1DMipmap", "maxTexture1DLinear", "MaxTexture1DLinearWidth"),
    ("unifiedAddressing", "memoryClockRate", "MemoryClockRate"),
    ("hostNativeAtomicSupported", "singleToDoublePrecisionPerfRatio", "SingleToDoublePrecisionPerfRatio"),
    ("cooperativeLaunch", "cooperativeMultiDeviceLaunch", "Reserved96"),
]
LAST, RESERVED = "unifiedFunctionPointers", 63  # the last field of cudaDeviceProp, and the numbers behind it


def exported_names(names: Iterable[str]) -> dict[str, str]:
    """What the library of CUDA 12 calls the functions of ours that have these names."""
    known = set(names)
    return {n: n.removesuffix(SUFFIX) if n.endswith(SUFFIX) else n + NEWER if n + SUFFIX in known else n for n in known}


@cache
def properties_type() -> type[ctypes.Structure]:
    """cudaDeviceProp of CUDA 12."""
    inserted = {before: name for before, name, _ in DROPPED}
    fields: list[tuple[str, type]] = []
    for name, kind in cudaDeviceProp.c_type._fields_:
        fields.append((name, kind))
        if name in inserted:
            fields.append((inserted[name], ctypes.c_int))
        if name == LAST:
            break
    return type("cudaDeviceProp12", (ctypes.Structure,), {"_fields_": [*fields, ("reserved", ctypes.c_int * RESERVED)]})


@handles("cudaGetDeviceProperties@12", "cudaGetDeviceProperties_v2@12")
def properties(c: HandledCall) -> int:
    """The properties of a device."""
    device = c.given["device"]
    result, found = cudart.cudaGetDeviceProperties(device)
    if result:
        return int(result)
    kind = properties_type()
    out, own = kind(), cudaDeviceProp.c_type.from_address(found.getPtr())
    for name, *_ in kind._fields_:
        if name != "reserved" and hasattr(own, name):
            setattr(out, name, getattr(own, name))
    for _, name, attribute in DROPPED:
        setattr(out, name, cudart.cudaDeviceGetAttribute(cudaDeviceAttr[f"cudaDevAttr{attribute}"], device)[1])
    write(c.given["prop"], bytes(out))
    return 0


@handles("cudaRuntimeGetVersion@12")
def version(c: HandledCall) -> int:
    """The version of the runtime that is stood in for."""
    c.out("runtimeVersion", "i32", VERSION)
    return 0


@handles("cudaGetDriverEntryPoint@12")
def entry_point(c: HandledCall) -> int:
    """Where a driver call is, in the form that CUDA 12 knows."""
    c.given["cudaVersion"] = VERSION
    return proc_address(c)


@handles("cudaMemAdvise@12")
def advise_device(c: HandledCall) -> int:
    """Advice that names a device."""
    context()
    return advise(c)


@handles("cudaMemPrefetchAsync@12")
def prefetch_to_device(c: HandledCall) -> int:
    """A prefetch that names a device."""
    context()
    c.given["hStream"] = c.given["stream"]
    return prefetch(c)
