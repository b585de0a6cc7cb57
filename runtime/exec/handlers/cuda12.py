"""CUDA 12's runtime: the functions that have other names or parameters there than in CUDA 13.

`X@12` answers what a program that was built with CUDA 12 calls X; all other functions are those of CUDA 13.  Structures that have grown
since then are followed by their size in CUDA 12.
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
from .special import HandledCall, advise, done, handles, prefetch, proc_address

SUFFIX, NEWER = "@12", "@13"
VERSION = 12090
MARKER = "cudaThreadSynchronize"  # a function that CUDA 13 no longer has

CALLS = """\
ms:f32* start:ptr end:ptr | cudaEventElapsedTime_v2@12
prop:ptr device:i32 | cudaGetDeviceProperties@12 cudaGetDeviceProperties_v2@12
attributes:cudaPointerAttributes/24* ptr:ptr | cudaPointerGetAttributes@12
runtimeVersion:i32* | cudaRuntimeGetVersion@12
symbol:str funcPtr:ptr* flags:u64 driverStatus:i32* | cudaGetDriverEntryPoint@12 cudaGetDriverEntryPoint_ptsz@12
graph:ptr from_:ptr& to:ptr& numDependencies:u64 | cudaGraphAddDependencies@12 cudaGraphRemoveDependencies@12
graph:ptr from_:ptr& to:ptr& edgeData:cudaGraphEdgeData& numDependencies:u64 | cudaGraphAddDependencies_v2@12 cudaGraphRemoveDependencies_v2@12
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 nodeParams:cudaGraphNodeParams* | cudaGraphAddNode@12
pGraphNode:ptr* graph:ptr pDependencies:ptr& dependencyData:cudaGraphEdgeData& numDependencies:u64 nodeParams:cudaGraphNodeParams*
    | cudaGraphAddNode_v2@12
graph:ptr from_:ptr* to:ptr* numEdges:u64* | cudaGraphGetEdges@12
graph:ptr from_:ptr* to:ptr* edgeData:cudaGraphEdgeData* numEdges:u64* | cudaGraphGetEdges_v2@12
node:ptr pDependencies:ptr* pNumDependencies:u64* | cudaGraphNodeGetDependencies@12
node:ptr pDependencies:ptr* edgeData:cudaGraphEdgeData* pNumDependencies:u64* | cudaGraphNodeGetDependencies_v2@12
node:ptr pDependentNodes:ptr* pNumDependentNodes:u64* | cudaGraphNodeGetDependentNodes@12
node:ptr pDependentNodes:ptr* edgeData:cudaGraphEdgeData* pNumDependentNodes:u64* | cudaGraphNodeGetDependentNodes_v2@12
src:ptr dst:ptr | cudaGraphKernelNodeCopyAttributes@12
devPtr:ptr count:u64 advice:i32 device:i32 | cudaMemAdvise@12
devPtr:ptr count:u64 advice:i32 location:cudaMemLocation | cudaMemAdvise_v2@12
devPtr:ptr count:u64 dstDevice:i32 stream:ptr | cudaMemPrefetchAsync@12 cudaMemPrefetchAsync_ptsz@12
devPtr:ptr count:u64 location:cudaMemLocation flags:u32 stream:ptr | cudaMemPrefetchAsync_v2@12 cudaMemPrefetchAsync_v2_ptsz@12
dsts:ptr& srcs:ptr& sizes:u64& count:u64 attrs:cudaMemcpyAttributes* attrsIdxs:u64* numAttrs:u64 failIdx:u64* stream:ptr
    | cudaMemcpyBatchAsync@12 cudaMemcpyBatchAsync_ptsz@12
stream:ptr captureStatus_out:i32* id_out:u64* | cudaStreamGetCaptureInfo@12 cudaStreamGetCaptureInfo_ptsz@12
stream:ptr captureStatus_out:i32* id_out:u64* graph_out:ptr* dependencies_out:ptr* numDependencies_out:u64*
    | cudaStreamGetCaptureInfo_v2@12 cudaStreamGetCaptureInfo_v2_ptsz@12
stream:ptr captureStatus_out:i32* id_out:u64* graph_out:ptr* dependencies_out:ptr* edgeData_out:ptr* numDependencies_out:u64*
    | cudaStreamGetCaptureInfo_v3@12 cudaStreamGetCaptureInfo_v3_ptsz@12
stream:ptr dependencies:ptr* numDependencies:u64 flags:u32 | cudaStreamUpdateCaptureDependencies@12 cudaStreamUpdateCaptureDependencies_ptsz@12
stream:ptr dependencies:ptr* dependencyData:cudaGraphEdgeData& numDependencies:u64 flags:u32
    | cudaStreamUpdateCaptureDependencies_v2@12 cudaStreamUpdateCaptureDependencies_v2_ptsz@12
pTexObject:u64* pResDesc:cudaResourceDesc/64& pTexDesc:cudaTextureDesc& pResViewDesc:cudaResourceViewDesc/48& | cudaCreateTextureObject@12
pSurfObject:u64* pResDesc:cudaResourceDesc/64& | cudaCreateSurfaceObject@12
pResDesc:cudaResourceDesc/64* surfObject:u64 | cudaGetSurfaceObjectResourceDesc@12
pResDesc:cudaResourceDesc/64* texObject:u64 | cudaGetTextureObjectResourceDesc@12
pResViewDesc:cudaResourceViewDesc/48* texObject:u64 | cudaGetTextureObjectResourceViewDesc@12
 | cudaThreadExit@12 cudaThreadSynchronize@12
pCacheConfig:i32* | cudaThreadGetCacheConfig@12
cacheConfig:i32 | cudaThreadSetCacheConfig@12
pValue:u64* limit:i32 | cudaThreadGetLimit@12
limit:i32 value:u64 | cudaThreadSetLimit@12
- | cudaLaunchCooperativeKernelMultiDevice@12 cudaMemcpy3DBatchAsync@12 cudaMemcpy3DBatchAsync_ptsz@12 cudaSetDoubleForDevice@12
    cudaSetDoubleForHost@12 cudaSignalExternalSemaphoresAsync@12 cudaSignalExternalSemaphoresAsync_ptsz@12
    cudaSignalExternalSemaphoresAsync_v2@12 cudaSignalExternalSemaphoresAsync_v2_ptsz@12 cudaWaitExternalSemaphoresAsync@12
    cudaWaitExternalSemaphoresAsync_ptsz@12 cudaWaitExternalSemaphoresAsync_v2@12 cudaWaitExternalSemaphoresAsync_v2_ptsz@12
"""
# Fields of cudaDeviceProp that CUDA 13 no longer has: (the field before, the field, the attribute that has the value if any has).
DROPPED = [
    ("maxGridSize", "clockRate", "ClockRate"),
    ("texturePitchAlignment", "deviceOverlap", "GpuOverlap"),
    ("multiProcessorCount", "kernelExecTimeoutEnabled", "KernelExecTimeout"),
    ("canMapHostMemory", "computeMode", "ComputeMode"),
    ("maxTexture1DMipmap", "maxTexture1DLinear", "MaxTexture1DLinearWidth"),
    ("unifiedAddressing", "memoryClockRate", "MemoryClockRate"),
    ("hostNativeAtomicSupported", "singleToDoublePrecisionPerfRatio", "SingleToDoublePrecisionPerfRatio"),
    ("cooperativeLaunch", "cooperativeMultiDeviceLaunch", ""),
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


@handles("cudaThreadExit@12")
def reset(c: HandledCall) -> int:
    """An older name."""
    return done(cudart.cudaDeviceReset())


@handles("cudaThreadSynchronize@12")
def synchronize(c: HandledCall) -> int:
    """An older name."""
    return done(cudart.cudaDeviceSynchronize())


@handles("cudaThreadGetCacheConfig@12")
def cache_config(c: HandledCall) -> int:
    """An older name."""
    result, value = cudart.cudaDeviceGetCacheConfig()
    c.out("pCacheConfig", "i32", value)
    return int(result)


@handles("cudaThreadSetCacheConfig@12")
def set_cache_config(c: HandledCall) -> int:
    """An older name."""
    return done(cudart.cudaDeviceSetCacheConfig(c.given["cacheConfig"]))


@handles("cudaThreadGetLimit@12")
def limit(c: HandledCall) -> int:
    """An older name."""
    result, value = cudart.cudaDeviceGetLimit(c.given["limit"])
    if not result:
        c.out("pValue", "u64", value)
    return int(result)


@handles("cudaThreadSetLimit@12")
def set_limit(c: HandledCall) -> int:
    """An older name."""
    return done(cudart.cudaDeviceSetLimit(c.given["limit"], c.given["value"]))


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
        if attribute:
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
