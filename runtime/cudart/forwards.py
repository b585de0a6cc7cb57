"""The runtime's calls that are a driver's call under another name: the driver does the work and describes it."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any

from .. import driver
from ..driver.api import results_of
from ..driver.unsupported import signature_of
from . import enums, structs
from .api import api, call
from .signatures import SIGNATURES

# name, the driver's call, and what each of its results becomes; a call of the second table needs no context.
_WITH_CONTEXT = """
    cudaDeviceSynchronize=cuCtxSynchronize cudaDeviceSetLimit=cuCtxSetLimit cudaDeviceGetLimit=cuCtxGetLimit:int
    cudaDeviceSetCacheConfig=cuCtxSetCacheConfig cudaDeviceGetCacheConfig=cuCtxGetCacheConfig:cudaFuncCache
    cudaDeviceSetSharedMemConfig=cuCtxSetSharedMemConfig cudaDeviceGetSharedMemConfig=cuCtxGetSharedMemConfig:cudaSharedMemConfig
    cudaDeviceGetStreamPriorityRange=cuCtxGetStreamPriorityRange:int,int cudaCtxResetPersistingL2Cache=cuCtxResetPersistingL2Cache
    cudaProfilerStart=cuProfilerStart cudaProfilerStop=cuProfilerStop
    cudaFuncSetAttribute=cuFuncSetAttribute cudaFuncSetCacheConfig=cuFuncSetCacheConfig
    cudaFuncSetSharedMemConfig=cuFuncSetSharedMemConfig cudaFuncGetParamCount=cuFuncGetParamCount:int
    cudaOccupancyMaxActiveBlocksPerMultiprocessor=cuOccupancyMaxActiveBlocksPerMultiprocessor:int
    cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags=cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags:int
    cudaOccupancyAvailableDynamicSMemPerBlock=cuOccupancyAvailableDynamicSMemPerBlock:int
    cudaLibraryLoadData=cuLibraryLoadData:cudaLibrary_t cudaLibraryLoadFromFile=cuLibraryLoadFromFile:cudaLibrary_t
    cudaLibraryUnload=cuLibraryUnload cudaLibraryGetKernel=cuLibraryGetKernel:cudaKernel_t
    cudaLibraryGetKernelCount=cuLibraryGetKernelCount:int cudaLibraryGetGlobal=cuLibraryGetGlobal:int,int
    cudaLibraryGetManaged=cuLibraryGetManaged:int,int
    cudaStreamCreateWithFlags=cuStreamCreate:cudaStream_t cudaStreamCreateWithPriority=cuStreamCreateWithPriority:cudaStream_t
    cudaStreamDestroy=cuStreamDestroy cudaStreamSynchronize=cuStreamSynchronize cudaStreamQuery=cuStreamQuery
    cudaStreamWaitEvent=cuStreamWaitEvent cudaStreamGetFlags=cuStreamGetFlags:int cudaStreamGetPriority=cuStreamGetPriority:int
    cudaStreamGetId=cuStreamGetId:int cudaStreamGetDevice=cuStreamGetDevice:int cudaStreamCopyAttributes=cuStreamCopyAttributes
    cudaStreamAttachMemAsync=cuStreamAttachMemAsync cudaStreamAddCallback=cuStreamAddCallback
    cudaStreamBeginCapture=cuStreamBeginCapture cudaStreamEndCapture=cuStreamEndCapture:cudaGraph_t
    cudaGraphCreate=cuGraphCreate:cudaGraph_t cudaGraphClone=cuGraphClone:cudaGraph_t cudaGraphDestroy=cuGraphDestroy
    cudaGraphGetNodes=cuGraphGetNodes:same,int cudaGraphGetRootNodes=cuGraphGetRootNodes:same,int
    cudaGraphNodeGetType=cuGraphNodeGetType:cudaGraphNodeType cudaGraphInstantiate=cuGraphInstantiate:cudaGraphExec_t
    cudaGraphGetEdges=cuGraphGetEdges:same,same,same,int cudaGraphNodeGetDependencies=cuGraphNodeGetDependencies:same,same,int
    cudaGraphNodeGetDependentNodes=cuGraphNodeGetDependentNodes:same,same,int cudaGraphGetId=cuGraphGetId:int
    cudaGraphAddDependencies=cuGraphAddDependencies cudaGraphRemoveDependencies=cuGraphRemoveDependencies
    cudaGraphAddEmptyNode=cuGraphAddEmptyNode:cudaGraphNode_t cudaGraphAddChildGraphNode=cuGraphAddChildGraphNode:cudaGraphNode_t
    cudaGraphAddEventRecordNode=cuGraphAddEventRecordNode:cudaGraphNode_t cudaGraphAddEventWaitNode=cuGraphAddEventWaitNode:cudaGraphNode_t
    cudaGraphChildGraphNodeGetGraph=cuGraphChildGraphNodeGetGraph:cudaGraph_t
    cudaGraphEventRecordNodeGetEvent=cuGraphEventRecordNodeGetEvent:cudaEvent_t
    cudaGraphEventWaitNodeGetEvent=cuGraphEventWaitNodeGetEvent:cudaEvent_t
    cudaGraphEventRecordNodeSetEvent=cuGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeSetEvent=cuGraphEventWaitNodeSetEvent
    cudaGraphExecEventRecordNodeSetEvent=cuGraphExecEventRecordNodeSetEvent
    cudaGraphExecEventWaitNodeSetEvent=cuGraphExecEventWaitNodeSetEvent
    cudaGraphExecChildGraphNodeSetParams=cuGraphExecChildGraphNodeSetParams cudaGraphDestroyNode=cuGraphDestroyNode
    cudaGraphNodeFindInClone=cuGraphNodeFindInClone:cudaGraphNode_t cudaGraphDebugDotPrint=cuGraphDebugDotPrint
    cudaGraphExecUpdate=cuGraphExecUpdate:cudaGraphExecUpdateResultInfo* cudaGraphNodeSetEnabled=cuGraphNodeSetEnabled
    cudaGraphNodeGetEnabled=cuGraphNodeGetEnabled:int cudaGraphExecGetFlags=cuGraphExecGetFlags:int cudaGraphExecGetId=cuGraphExecGetId:int
    cudaGraphNodeGetContainingGraph=cuGraphNodeGetContainingGraph:cudaGraph_t cudaGraphNodeGetLocalId=cuGraphNodeGetLocalId:int
    cudaGraphNodeGetToolsId=cuGraphNodeGetToolsId:int cudaExecutionCtxGetDevice=cuCtxGetDevice_v2:int cudaExecutionCtxGetId=cuCtxGetId:int
    cudaStreamGetDevResource=cuStreamGetDevResource:cudaDevResource*
    cudaExecutionCtxGetDevResource=cuCtxGetDevResource:cudaDevResource*
    cudaExecutionCtxSynchronize=cuCtxSynchronize_v2 cudaExecutionCtxRecordEvent=cuCtxRecordEvent cudaExecutionCtxWaitEvent=cuCtxWaitEvent
    cudaGraphInstantiateWithFlags=cuGraphInstantiate:cudaGraphExec_t
    cudaGraphInstantiateWithParams=cuGraphInstantiateWithParams:cudaGraphExec_t
    cudaStreamGetCaptureInfo=cuStreamGetCaptureInfo:cudaStreamCaptureStatus,int,cudaGraph_t,same,same,int
    cudaStreamUpdateCaptureDependencies=cuStreamUpdateCaptureDependencies cudaStreamBeginCaptureToGraph=cuStreamBeginCaptureToGraph
    cudaGraphAddMemFreeNode=cuGraphAddMemFreeNode:cudaGraphNode_t cudaGraphMemFreeNodeGetParams=cuGraphMemFreeNodeGetParams:int
    cudaDeviceGetGraphMemAttribute=cuDeviceGetGraphMemAttribute:int cudaDeviceSetGraphMemAttribute=cuDeviceSetGraphMemAttribute
    cudaDeviceGraphMemTrim=cuDeviceGraphMemTrim cudaUserObjectCreate=cuUserObjectCreate:cudaUserObject_t
    cudaUserObjectRetain=cuUserObjectRetain cudaUserObjectRelease=cuUserObjectRelease cudaGraphRetainUserObject=cuGraphRetainUserObject
    cudaGraphReleaseUserObject=cuGraphReleaseUserObject
    cudaGraphKernelNodeGetAttribute=cuGraphKernelNodeGetAttribute:cudaLaunchAttributeValue*
    cudaGraphKernelNodeSetAttribute=cuGraphKernelNodeSetAttribute cudaGraphKernelNodeCopyAttributes=cuGraphKernelNodeCopyAttributes
    cudaGraphUpload=cuGraphUpload cudaGraphLaunch=cuGraphLaunch cudaGraphExecDestroy=cuGraphExecDestroy
    cudaStreamIsCapturing=cuStreamIsCapturing:cudaStreamCaptureStatus
    cudaThreadExchangeStreamCaptureMode=cuThreadExchangeStreamCaptureMode:cudaStreamCaptureMode
    cudaLaunchHostFunc=cuLaunchHostFunc cudaLaunchHostFunc_v2=cuLaunchHostFunc_v2
    cudaEventCreateWithFlags=cuEventCreate:cudaEvent_t cudaEventDestroy=cuEventDestroy cudaEventRecord=cuEventRecord
    cudaEventRecordWithFlags=cuEventRecordWithFlags cudaEventQuery=cuEventQuery cudaEventSynchronize=cuEventSynchronize
    cudaEventElapsedTime=cuEventElapsedTime:float
    cudaMallocHost=cuMemAllocHost:int cudaHostAlloc=cuMemHostAlloc:int cudaFreeHost=cuMemFreeHost cudaHostRegister=cuMemHostRegister
    cudaHostUnregister=cuMemHostUnregister cudaHostGetDevicePointer=cuMemHostGetDevicePointer:int cudaHostGetFlags=cuMemHostGetFlags:int
    cudaIpcGetMemHandle=cuIpcGetMemHandle:cudaIpcMemHandle_t* cudaIpcOpenMemHandle=cuIpcOpenMemHandle:int
    cudaIpcCloseMemHandle=cuIpcCloseMemHandle cudaIpcGetEventHandle=cuIpcGetEventHandle:cudaIpcEventHandle_t*
    cudaIpcOpenEventHandle=cuIpcOpenEventHandle:cudaEvent_t
    cudaMemGetInfo=cuMemGetInfo:int,int cudaMallocAsync=cuMemAllocAsync:int cudaMallocFromPoolAsync=cuMemAllocFromPoolAsync:int
    cudaFreeAsync=cuMemFreeAsync cudaMemPoolDestroy=cuMemPoolDestroy cudaMemPoolTrimTo=cuMemPoolTrimTo
    cudaMemPoolGetAttribute=cuMemPoolGetAttribute:int cudaMemPoolSetAttribute=cuMemPoolSetAttribute
    cudaMemPoolSetAccess=cuMemPoolSetAccess cudaMemPoolGetAccess=cuMemPoolGetAccess:cudaMemAccessFlags
    cudaMemGetDefaultMemPool=cuMemGetDefaultMemPool:cudaMemPool_t cudaMemGetMemPool=cuMemGetMemPool:cudaMemPool_t
    cudaMemSetMemPool=cuMemSetMemPool cudaMemAdvise=cuMemAdvise cudaMemPrefetchAsync=cuMemPrefetchAsync
    cudaMemPrefetchBatchAsync=cuMemPrefetchBatchAsync cudaMemDiscardBatchAsync=cuMemDiscardBatchAsync
    cudaMemDiscardAndPrefetchBatchAsync=cuMemDiscardAndPrefetchBatchAsync
    cudaMemRangeGetAttribute=cuMemRangeGetAttribute:same
    cudaMemRangeGetAttributes=cuMemRangeGetAttributes:same cudaStreamGetAttribute=cuStreamGetAttribute:cudaLaunchAttributeValue*
    cudaStreamSetAttribute=cuStreamSetAttribute cudaMemcpyBatchAsync=cuMemcpyBatchAsync
    cudaMemcpyWithAttributesAsync=cuMemcpyWithAttributesAsync
    cudaArrayGetSparseProperties=cuArrayGetSparseProperties:cudaArraySparseProperties* cudaArrayGetPlane=cuArrayGetPlane:same
    cudaArrayGetMemoryRequirements=cuArrayGetMemoryRequirements:same
    cudaMipmappedArrayGetSparseProperties=cuMipmappedArrayGetSparseProperties:cudaArraySparseProperties*
    cudaMipmappedArrayGetMemoryRequirements=cuMipmappedArrayGetMemoryRequirements:same
    cudaGetMipmappedArrayLevel=cuMipmappedArrayGetLevel:cudaArray_t cudaDestroyTextureObject=cuTexObjectDestroy
    cudaDestroySurfaceObject=cuSurfObjectDestroy
    cudaGetTextureObjectResourceViewDesc=cuTexObjectGetResourceViewDesc:cudaResourceViewDesc*
"""
_WITHOUT = """
    cudaDeviceCanAccessPeer=cuDeviceCanAccessPeer:int cudaDeviceGetP2PAttribute=cuDeviceGetP2PAttribute:int
    cudaDeviceGetPCIBusId=cuDeviceGetPCIBusId:bytes cudaDeviceGetByPCIBusId=cuDeviceGetByPCIBusId:int
    cudaDeviceGetDefaultMemPool=cuDeviceGetDefaultMemPool:cudaMemPool_t cudaDeviceGetMemPool=cuDeviceGetMemPool:cudaMemPool_t
    cudaDeviceGetDevResource=cuDeviceGetDevResource:cudaDevResource* cudaDevSmResourceSplitByCount=cuDevSmResourceSplitByCount:same,int,cudaDevResource*
    cudaDeviceSetMemPool=cuDeviceSetMemPool cudaGetDeviceCount=cuDeviceGetCount:int
    cudaDriverGetVersion=cuDriverGetVersion:int cudaRuntimeGetVersion=cuDriverGetVersion:int
"""
_PLAIN: dict[str, Callable[[Any], Any]] = {"int": int, "float": float, "bytes": bytes, "same": lambda value: value}


def _kind(name: str) -> Callable[[Any], Any]:
    if name.endswith("*"):  # a structure that has the same form as the driver's
        struct = getattr(structs, name[:-1])
        return lambda value: _as(struct, value)
    if name in _PLAIN:
        return _PLAIN[name]
    found: Callable[[Any], Any] | None = getattr(structs, name, None)
    if found is not None:
        return found
    enum: Callable[[int], Any] = getattr(enums, name)
    return lambda value: enum(int(value))


def _as(kind: Callable[[], Any], value: Any) -> Any:
    out = kind()
    ctypes.memmove(out.getPtr(), value.getPtr(), ctypes.sizeof(value.c_type))
    return out


def _forward(name: str, work: Callable[..., Any], kinds: list[str], through: Callable[..., Any]) -> Callable[..., tuple[Any, ...]]:
    signature = signature_of(SIGNATURES, name)
    assert signature is not None, name
    become = [_kind(k) for k in kinds]

    def forward(*args: object, **kwargs: object) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        found = through(work, *given.args)
        if len(become) > 1:
            return tuple(f(value) for f, value in zip(become, found, strict=True))
        return become[0](found) if become else None

    forward.__name__ = forward.__qualname__ = name
    forward.__doc__ = inspect.getdoc(work)
    out = api(len(become))(forward)
    out.__signature__ = signature  # type: ignore[attr-defined]
    out.__dict__["kinds"] = kinds
    return out


def forwards() -> dict[str, Callable[..., tuple[Any, ...]]]:
    """Every call of the tables by its name."""
    out = {}
    for table, through in ((_WITH_CONTEXT, call), (_WITHOUT, results_of)):
        for word in table.split():
            name, _, rest = word.partition("=")
            theirs, _, kinds = rest.partition(":")
            out[name] = _forward(name, getattr(driver, theirs), kinds.split(",") if kinds else [], through)
    return out
