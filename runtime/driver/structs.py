"""The handles and structures of the CUDA driver API, with their fields, written by tests/runtime/derive_api.py."""

import ctypes
from typing import Annotated

from .enums import (
    CUaccessProperty,
    CUaddress_mode,
    CUarray_format,
    CUcigDataType,
    CUclusterSchedulingPolicy,
    CUexecAffinityType,
    CUfilter_mode,
    CUlaunchAttributeID,
    CUlaunchAttributePortableClusterMode,
    CUlaunchMemSyncDomain,
    CUmemAccess_flags,
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemcpySrcAccessOrder,
    CUmemLocationType,
    CUmemorytype,
    CUresourcetype,
    CUresourceViewFormat,
    CUsharedMemoryMode,
    CUstreamAtomicReductionDataType,
    CUstreamAtomicReductionOpType,
    CUstreamBatchMemOpType,
    CUsynchronizationPolicy,
)
from .layout import Handle, Number, Struct, Union, f32, i32, pointer, u8, u16, u32, u64, usize


class CUarray(Handle):
    __slots__ = ()


class CUasyncCallbackHandle(Handle):
    __slots__ = ()


class CUcheckpointOperationHandle(Handle):
    __slots__ = ()


class CUcontext(Handle):
    __slots__ = ()


class CUcoredumpCallbackHandle(Handle):
    __slots__ = ()


class CUdevResourceDesc(Handle):
    __slots__ = ()


class CUdevice(Number):
    __slots__ = ()
    c_type = ctypes.c_int


class CUdeviceptr(Number):
    __slots__ = ()
    c_type = ctypes.c_ulonglong


class CUevent(Handle):
    __slots__ = ()


class CUexternalMemory(Handle):
    __slots__ = ()


class CUexternalSemaphore(Handle):
    __slots__ = ()


class CUfunction(Handle):
    __slots__ = ()


class CUgraph(Handle):
    __slots__ = ()


class CUgraphDeviceNode(Handle):
    __slots__ = ()


class CUgraphExec(Handle):
    __slots__ = ()


class CUgraphNode(Handle):
    __slots__ = ()


class CUgraphicsResource(Handle):
    __slots__ = ()


class CUgreenCtx(Handle):
    __slots__ = ()


class CUkernel(Handle):
    __slots__ = ()


class CUlibrary(Handle):
    __slots__ = ()


class CUlinkState(Handle):
    __slots__ = ()


class CUlogsCallbackHandle(Handle):
    __slots__ = ()


class CUmemoryPool(Handle):
    __slots__ = ()


class CUmipmappedArray(Handle):
    __slots__ = ()


class CUmodule(Handle):
    __slots__ = ()


class CUstream(Handle):
    __slots__ = ()


class CUsurfref(Handle):
    __slots__ = ()


class CUtexref(Handle):
    __slots__ = ()


class CUuserObject(Handle):
    __slots__ = ()


class CUuuid(Struct):
    bytes: Annotated[bytes, 16]


class CUdevprop(Struct):
    maxThreadsPerBlock: i32
    maxThreadsDim: Annotated[list[i32], 3]
    maxGridSize: Annotated[list[i32], 3]
    sharedMemPerBlock: i32
    totalConstantMemory: i32
    SIMDWidth: i32
    memPitch: i32
    regsPerBlock: i32
    clockRate: i32
    textureAlign: i32


class CUDA_MEMCPY2D(Struct):
    srcXInBytes: usize
    srcY: usize
    srcMemoryType: CUmemorytype
    srcHost: pointer
    srcDevice: CUdeviceptr
    srcArray: CUarray
    srcPitch: usize
    dstXInBytes: usize
    dstY: usize
    dstMemoryType: CUmemorytype
    dstHost: pointer
    dstDevice: CUdeviceptr
    dstArray: CUarray
    dstPitch: usize
    WidthInBytes: usize
    Height: usize


class CUDA_MEMCPY3D(Struct):
    srcXInBytes: usize
    srcY: usize
    srcZ: usize
    srcLOD: usize
    srcMemoryType: CUmemorytype
    srcHost: pointer
    srcDevice: CUdeviceptr
    srcArray: CUarray
    reserved0: pointer
    srcPitch: usize
    srcHeight: usize
    dstXInBytes: usize
    dstY: usize
    dstZ: usize
    dstLOD: usize
    dstMemoryType: CUmemorytype
    dstHost: pointer
    dstDevice: CUdeviceptr
    dstArray: CUarray
    reserved1: pointer
    dstPitch: usize
    dstHeight: usize
    WidthInBytes: usize
    Height: usize
    Depth: usize


class CUDA_MEMCPY3D_PEER(Struct):
    srcXInBytes: usize
    srcY: usize
    srcZ: usize
    srcLOD: usize
    srcMemoryType: CUmemorytype
    srcHost: pointer
    srcDevice: CUdeviceptr
    srcArray: CUarray
    srcContext: CUcontext
    srcPitch: usize
    srcHeight: usize
    dstXInBytes: usize
    dstY: usize
    dstZ: usize
    dstLOD: usize
    dstMemoryType: CUmemorytype
    dstHost: pointer
    dstDevice: CUdeviceptr
    dstArray: CUarray
    dstContext: CUcontext
    dstPitch: usize
    dstHeight: usize
    WidthInBytes: usize
    Height: usize
    Depth: usize


class CUDA_ARRAY_DESCRIPTOR(Struct):
    Width: usize
    Height: usize
    Format: CUarray_format
    NumChannels: u32


class CUDA_ARRAY3D_DESCRIPTOR(Struct):
    Width: usize
    Height: usize
    Depth: usize
    Format: CUarray_format
    NumChannels: u32
    Flags: u32


class CUDA_ARRAY_MEMORY_REQUIREMENTS(Struct):
    size: usize
    alignment: usize
    reserved: Annotated[list[u32], 4]


class CUDA_RESOURCE_DESC_res_array(Struct):
    hArray: CUarray


class CUDA_RESOURCE_DESC_res_mipmap(Struct):
    hMipmappedArray: CUmipmappedArray


class CUDA_RESOURCE_DESC_res_linear(Struct):
    devPtr: CUdeviceptr
    format: CUarray_format
    numChannels: u32
    sizeInBytes: usize


class CUDA_RESOURCE_DESC_res_pitch2D(Struct):
    devPtr: CUdeviceptr
    format: CUarray_format
    numChannels: u32
    width: usize
    height: usize
    pitchInBytes: usize


class CUDA_RESOURCE_DESC_res_reserved(Struct):
    reserved: Annotated[list[i32], 32]


class CUDA_RESOURCE_DESC_res(Union):
    array: CUDA_RESOURCE_DESC_res_array
    mipmap: CUDA_RESOURCE_DESC_res_mipmap
    linear: CUDA_RESOURCE_DESC_res_linear
    pitch2D: CUDA_RESOURCE_DESC_res_pitch2D
    reserved: CUDA_RESOURCE_DESC_res_reserved


class CUDA_RESOURCE_DESC(Struct):
    resType: CUresourcetype
    res: CUDA_RESOURCE_DESC_res
    flags: u32


class CUDA_TEXTURE_DESC(Struct):
    addressMode: Annotated[list[CUaddress_mode], 3]
    filterMode: CUfilter_mode
    flags: u32
    maxAnisotropy: u32
    mipmapFilterMode: CUfilter_mode
    mipmapLevelBias: f32
    minMipmapLevelClamp: f32
    maxMipmapLevelClamp: f32
    borderColor: Annotated[list[f32], 4]
    reserved: Annotated[list[i32], 12]


class CUDA_RESOURCE_VIEW_DESC(Struct):
    format: CUresourceViewFormat
    width: usize
    height: usize
    depth: usize
    firstMipmapLevel: u32
    lastMipmapLevel: u32
    firstLayer: u32
    lastLayer: u32
    reserved: Annotated[list[u32], 16]


class CUaccessPolicyWindow(Struct):
    base_ptr: pointer
    num_bytes: usize
    hitRatio: f32
    hitProp: CUaccessProperty
    missProp: CUaccessProperty


class CUlaunchAttributeValue_clusterDim(Struct):
    x: u32
    y: u32
    z: u32


class CUlaunchAttributeValue_programmaticEvent(Struct):
    event: CUevent
    flags: i32
    triggerAtBlockStart: i32


class CUlaunchAttributeValue_launchCompletionEvent(Struct):
    event: CUevent
    flags: i32


class CUlaunchMemSyncDomainMap(Struct):
    default_: u8
    remote: u8


class CUlaunchAttributeValue_preferredClusterDim(Struct):
    x: u32
    y: u32
    z: u32


class CUlaunchAttributeValue_deviceUpdatableKernelNode(Struct):
    deviceUpdatable: i32
    devNode: CUgraphDeviceNode


class CUlaunchAttributeValue(Union):
    pad: Annotated[bytes, 64]
    accessPolicyWindow: CUaccessPolicyWindow
    cooperative: i32
    syncPolicy: CUsynchronizationPolicy
    clusterDim: CUlaunchAttributeValue_clusterDim
    clusterSchedulingPolicyPreference: CUclusterSchedulingPolicy
    programmaticStreamSerializationAllowed: i32
    programmaticEvent: CUlaunchAttributeValue_programmaticEvent
    launchCompletionEvent: CUlaunchAttributeValue_launchCompletionEvent
    priority: i32
    memSyncDomainMap: CUlaunchMemSyncDomainMap
    memSyncDomain: CUlaunchMemSyncDomain
    preferredClusterDim: CUlaunchAttributeValue_preferredClusterDim
    deviceUpdatableKernelNode: CUlaunchAttributeValue_deviceUpdatableKernelNode
    sharedMemCarveout: u32
    nvlinkUtilCentricScheduling: u32
    portableClusterSizeMode: CUlaunchAttributePortableClusterMode
    sharedMemoryMode: CUsharedMemoryMode


class CUlaunchAttribute(Struct):
    id: CUlaunchAttributeID
    value: CUlaunchAttributeValue


class CUlaunchConfig(Struct):
    gridDimX: u32
    gridDimY: u32
    gridDimZ: u32
    blockDimX: u32
    blockDimY: u32
    blockDimZ: u32
    sharedMemBytes: u32
    hStream: CUstream
    attrs: Annotated[list[CUlaunchAttribute], "pointer"]
    numAttrs: u32


class CUmemLocation_localized(Struct):
    deviceId: u8
    localityDomainId: u8


class CUmemLocation(Struct):
    type: CUmemLocationType
    id: i32
    localized: CUmemLocation_localized


class CUmemPoolProps(Struct):
    allocType: CUmemAllocationType
    handleTypes: CUmemAllocationHandleType
    location: CUmemLocation
    win32SecurityAttributes: pointer
    maxSize: usize
    usage: u16
    gpuDirectRDMACapable: u8
    reserved: Annotated[list[u8], 53]


class CUmemAccessDesc(Struct):
    location: CUmemLocation
    flags: CUmemAccess_flags


class CUextent3D(Struct):
    width: usize
    height: usize
    depth: usize


class CUoffset3D(Struct):
    x: usize
    y: usize
    z: usize


class CUDA_LAUNCH_PARAMS(Struct):
    function: CUfunction
    gridDimX: u32
    gridDimY: u32
    gridDimZ: u32
    blockDimX: u32
    blockDimY: u32
    blockDimZ: u32
    sharedMemBytes: u32
    hStream: CUstream
    kernelParams: pointer


class CUmemcpyAttributes(Struct):
    srcAccessOrder: CUmemcpySrcAccessOrder
    srcLocHint: CUmemLocation
    dstLocHint: CUmemLocation
    flags: u32


class CUexecAffinitySmCount(Struct):
    val: u32


class CUexecAffinityParam_param(Union):
    smCount: CUexecAffinitySmCount


class CUexecAffinityParam(Struct):
    type: CUexecAffinityType
    param: CUexecAffinityParam_param


class CUctxCigParam(Struct):
    sharedDataType: CUcigDataType
    sharedData: pointer


class CUctxCreateParams(Struct):
    execAffinityParams: Annotated[list[CUexecAffinityParam], "pointer"]
    numExecAffinityParams: i32
    cigParams: Annotated[list[CUctxCigParam], "pointer"]


class CUmemAllocationProp_allocFlags(Struct):
    compressionType: u8
    gpuDirectRDMACapable: u8
    usage: u16
    reserved: Annotated[list[u8], 4]


class CUmemAllocationProp(Struct):
    type: CUmemAllocationType
    requestedHandleTypes: CUmemAllocationHandleType
    location: CUmemLocation
    win32HandleMetaData: pointer
    allocFlags: CUmemAllocationProp_allocFlags


class CUtensorMap(Struct):
    opaque: Annotated[list[u64], 16]


class CUDA_KERNEL_NODE_PARAMS(Struct):
    func: CUfunction
    gridDimX: u32
    gridDimY: u32
    gridDimZ: u32
    blockDimX: u32
    blockDimY: u32
    blockDimZ: u32
    sharedMemBytes: u32
    kernelParams: pointer
    extra: pointer
    kern: CUkernel
    ctx: CUcontext


class CUstreamMemOpWaitValueParams_st(Struct):
    operation: CUstreamBatchMemOpType
    address: CUdeviceptr
    value: u32
    value64: u64
    flags: u32
    alias: CUdeviceptr


class CUstreamMemOpWriteValueParams_st(Struct):
    operation: CUstreamBatchMemOpType
    address: CUdeviceptr
    value: u32
    value64: u64
    flags: u32
    alias: CUdeviceptr


class CUstreamMemOpFlushRemoteWritesParams_st(Struct):
    operation: CUstreamBatchMemOpType
    flags: u32


class CUstreamMemOpMemoryBarrierParams_st(Struct):
    operation: CUstreamBatchMemOpType
    flags: u32


class CUstreamMemOpAtomicReductionParams_st(Struct):
    operation: CUstreamBatchMemOpType
    flags: u32
    reductionOp: CUstreamAtomicReductionOpType
    dataType: CUstreamAtomicReductionDataType
    address: CUdeviceptr
    value: u64
    alias: CUdeviceptr


class CUstreamBatchMemOpParams(Union):
    operation: CUstreamBatchMemOpType
    waitValue: CUstreamMemOpWaitValueParams_st
    writeValue: CUstreamMemOpWriteValueParams_st
    flushRemoteWrites: CUstreamMemOpFlushRemoteWritesParams_st
    memoryBarrier: CUstreamMemOpMemoryBarrierParams_st
    atomicReduction: CUstreamMemOpAtomicReductionParams_st
    pad: Annotated[list[u64], 6]


class CUmemPoolPtrExportData(Struct):
    reserved: Annotated[list[u8], 64]


CUkernelNodeAttrValue = CUlaunchAttributeValue
CUkernelNodeAttrValue_v1 = CUlaunchAttributeValue
CUstreamAttrValue = CUlaunchAttributeValue
CUstreamAttrValue_v1 = CUlaunchAttributeValue
