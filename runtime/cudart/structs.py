"""The handles and structures of the CUDA runtime API, with their fields, written by tests/runtime/derive_api.py."""

from typing import Annotated

from ..driver.layout import Handle, Struct, Union, f32, i32, i64, pointer, u8, u16, u32, usize
from .enums import (
    cudaAccessProperty,
    cudaChannelFormatKind,
    cudaClusterSchedulingPolicy,
    cudaLaunchAttributeID,
    cudaLaunchAttributePortableClusterMode,
    cudaLaunchMemSyncDomain,
    cudaMemAccessFlags,
    cudaMemAllocationHandleType,
    cudaMemAllocationType,
    cudaMemcpyKind,
    cudaMemcpySrcAccessOrder,
    cudaMemLocationType,
    cudaMemoryType,
    cudaResourceType,
    cudaResourceViewFormat,
    cudaSharedMemoryMode,
    cudaSynchronizationPolicy,
    cudaTextureAddressMode,
    cudaTextureFilterMode,
    cudaTextureReadMode,
)


class cudaArray_t(Handle):
    __slots__ = ()


class cudaDevResourceDesc_t(Handle):
    __slots__ = ()


class cudaEvent_t(Handle):
    __slots__ = ()


class cudaExecutionContext_t(Handle):
    __slots__ = ()


class cudaExternalMemory_t(Handle):
    __slots__ = ()


class cudaExternalSemaphore_t(Handle):
    __slots__ = ()


class cudaFunction_t(Handle):
    __slots__ = ()


class cudaGraphDeviceNode_t(Handle):
    __slots__ = ()


class cudaGraphExec_t(Handle):
    __slots__ = ()


class cudaGraphNode_t(Handle):
    __slots__ = ()


class cudaGraph_t(Handle):
    __slots__ = ()


class cudaKernel_t(Handle):
    __slots__ = ()


class cudaLibrary_t(Handle):
    __slots__ = ()


class cudaLogsCallbackHandle(Handle):
    __slots__ = ()


class cudaMemPool_t(Handle):
    __slots__ = ()


class cudaMipmappedArray_t(Handle):
    __slots__ = ()


class cudaStream_t(Handle):
    __slots__ = ()


class cudaUserObject_t(Handle):
    __slots__ = ()


class dim3(Struct):
    x: u32
    y: u32
    z: u32


class cudaUUID_t(Struct):
    bytes: Annotated[bytes, 16]


class cudaDeviceProp(Struct):
    name: Annotated[bytes, 256]
    uuid: cudaUUID_t
    luid: Annotated[bytes, 8]
    luidDeviceNodeMask: u32
    totalGlobalMem: usize
    sharedMemPerBlock: usize
    regsPerBlock: i32
    warpSize: i32
    memPitch: usize
    maxThreadsPerBlock: i32
    maxThreadsDim: Annotated[list[i32], 3]
    maxGridSize: Annotated[list[i32], 3]
    totalConstMem: usize
    major: i32
    minor: i32
    textureAlignment: usize
    texturePitchAlignment: usize
    multiProcessorCount: i32
    integrated: i32
    canMapHostMemory: i32
    maxTexture1D: i32
    maxTexture1DMipmap: i32
    maxTexture2D: Annotated[list[i32], 2]
    maxTexture2DMipmap: Annotated[list[i32], 2]
    maxTexture2DLinear: Annotated[list[i32], 3]
    maxTexture2DGather: Annotated[list[i32], 2]
    maxTexture3D: Annotated[list[i32], 3]
    maxTexture3DAlt: Annotated[list[i32], 3]
    maxTextureCubemap: i32
    maxTexture1DLayered: Annotated[list[i32], 2]
    maxTexture2DLayered: Annotated[list[i32], 3]
    maxTextureCubemapLayered: Annotated[list[i32], 2]
    maxSurface1D: i32
    maxSurface2D: Annotated[list[i32], 2]
    maxSurface3D: Annotated[list[i32], 3]
    maxSurface1DLayered: Annotated[list[i32], 2]
    maxSurface2DLayered: Annotated[list[i32], 3]
    maxSurfaceCubemap: i32
    maxSurfaceCubemapLayered: Annotated[list[i32], 2]
    surfaceAlignment: usize
    concurrentKernels: i32
    ECCEnabled: i32
    pciBusID: i32
    pciDeviceID: i32
    pciDomainID: i32
    tccDriver: i32
    asyncEngineCount: i32
    unifiedAddressing: i32
    memoryBusWidth: i32
    l2CacheSize: i32
    persistingL2CacheMaxSize: i32
    maxThreadsPerMultiProcessor: i32
    streamPrioritiesSupported: i32
    globalL1CacheSupported: i32
    localL1CacheSupported: i32
    sharedMemPerMultiprocessor: usize
    regsPerMultiprocessor: i32
    managedMemory: i32
    isMultiGpuBoard: i32
    multiGpuBoardGroupID: i32
    hostNativeAtomicSupported: i32
    pageableMemoryAccess: i32
    concurrentManagedAccess: i32
    computePreemptionSupported: i32
    canUseHostPointerForRegisteredMem: i32
    cooperativeLaunch: i32
    sharedMemPerBlockOptin: usize
    pageableMemoryAccessUsesHostPageTables: i32
    directManagedMemAccessFromHost: i32
    maxBlocksPerMultiProcessor: i32
    accessPolicyMaxWindowSize: i32
    reservedSharedMemPerBlock: usize
    hostRegisterSupported: i32
    sparseCudaArraySupported: i32
    hostRegisterReadOnlySupported: i32
    timelineSemaphoreInteropSupported: i32
    memoryPoolsSupported: i32
    gpuDirectRDMASupported: i32
    gpuDirectRDMAFlushWritesOptions: u32
    gpuDirectRDMAWritesOrdering: i32
    memoryPoolSupportedHandleTypes: u32
    deferredMappingCudaArraySupported: i32
    ipcEventSupported: i32
    clusterLaunch: i32
    unifiedFunctionPointers: i32
    deviceNumaConfig: i32
    deviceNumaId: i32
    mpsEnabled: i32
    hostNumaId: i32
    gpuPciDeviceID: u32
    gpuPciSubsystemID: u32
    hostNumaMultinodeIpcSupported: i32
    reserved: Annotated[list[i32], 56]


class cudaPos(Struct):
    x: usize
    y: usize
    z: usize


class cudaPitchedPtr(Struct):
    ptr: pointer
    pitch: usize
    xsize: usize
    ysize: usize


class cudaExtent(Struct):
    width: usize
    height: usize
    depth: usize


class cudaMemcpy3DParms(Struct):
    srcArray: cudaArray_t
    srcPos: cudaPos
    srcPtr: cudaPitchedPtr
    dstArray: cudaArray_t
    dstPos: cudaPos
    dstPtr: cudaPitchedPtr
    extent: cudaExtent
    kind: cudaMemcpyKind


class cudaMemcpy3DPeerParms(Struct):
    srcArray: cudaArray_t
    srcPos: cudaPos
    srcPtr: cudaPitchedPtr
    srcDevice: i32
    dstArray: cudaArray_t
    dstPos: cudaPos
    dstPtr: cudaPitchedPtr
    dstDevice: i32
    extent: cudaExtent


class cudaChannelFormatDesc(Struct):
    x: i32
    y: i32
    z: i32
    w: i32
    f: cudaChannelFormatKind


class cudaPointerAttributes(Struct):
    type: cudaMemoryType
    device: i32
    devicePointer: pointer
    hostPointer: pointer
    localityDomainOrdinal: i32
    unused: i64
    reserved: Annotated[list[i64], 7]


class cudaFuncAttributes(Struct):
    sharedSizeBytes: usize
    constSizeBytes: usize
    localSizeBytes: usize
    maxThreadsPerBlock: i32
    numRegs: i32
    ptxVersion: i32
    binaryVersion: i32
    cacheModeCA: i32
    maxDynamicSharedSizeBytes: i32
    preferredShmemCarveout: i32
    clusterDimMustBeSet: i32
    requiredClusterWidth: i32
    requiredClusterHeight: i32
    requiredClusterDepth: i32
    clusterSchedulingPolicyPreference: i32
    nonPortableClusterSizeAllowed: i32
    deviceNodeUpdateStatus: i32
    sharedMemoryMode: cudaSharedMemoryMode
    reserved: Annotated[list[i32], 14]


class cudaMemLocation_localized(Struct):
    deviceId: u8
    localityDomainId: u8


class cudaMemLocation(Struct):
    type: cudaMemLocationType
    id: i32
    localized: cudaMemLocation_localized


class cudaMemPoolProps(Struct):
    allocType: cudaMemAllocationType
    handleTypes: cudaMemAllocationHandleType
    location: cudaMemLocation
    win32SecurityAttributes: pointer
    maxSize: usize
    usage: u16
    reserved: Annotated[list[u8], 53]
    reserved1: u8


class cudaMemAccessDesc(Struct):
    location: cudaMemLocation
    flags: cudaMemAccessFlags


class cudaResourceDesc_res_array(Struct):
    array: cudaArray_t


class cudaResourceDesc_res_mipmap(Struct):
    mipmap: cudaMipmappedArray_t


class cudaResourceDesc_res_linear(Struct):
    devPtr: pointer
    desc: cudaChannelFormatDesc
    sizeInBytes: usize


class cudaResourceDesc_res_pitch2D(Struct):
    devPtr: pointer
    desc: cudaChannelFormatDesc
    width: usize
    height: usize
    pitchInBytes: usize


class cudaResourceDesc_res_reserved(Struct):
    reserved: Annotated[list[i32], 32]


class cudaResourceDesc_res(Union):
    array: cudaResourceDesc_res_array
    mipmap: cudaResourceDesc_res_mipmap
    linear: cudaResourceDesc_res_linear
    pitch2D: cudaResourceDesc_res_pitch2D
    reserved: cudaResourceDesc_res_reserved


class cudaResourceDesc(Struct):
    resType: cudaResourceType
    res: cudaResourceDesc_res
    flags: u32


class cudaTextureDesc(Struct):
    addressMode: Annotated[list[cudaTextureAddressMode], 3]
    filterMode: cudaTextureFilterMode
    readMode: cudaTextureReadMode
    sRGB: i32
    borderColor: Annotated[list[f32], 4]
    normalizedCoords: i32
    maxAnisotropy: u32
    mipmapFilterMode: cudaTextureFilterMode
    mipmapLevelBias: f32
    minMipmapLevelClamp: f32
    maxMipmapLevelClamp: f32
    disableTrilinearOptimization: i32
    seamlessCubemap: i32


class cudaResourceViewDesc(Struct):
    format: cudaResourceViewFormat
    width: usize
    height: usize
    depth: usize
    firstMipmapLevel: u32
    lastMipmapLevel: u32
    firstLayer: u32
    lastLayer: u32
    reserved: Annotated[list[u32], 16]


class cudaMemcpyAttributes(Struct):
    srcAccessOrder: cudaMemcpySrcAccessOrder
    srcLocHint: cudaMemLocation
    dstLocHint: cudaMemLocation
    flags: u32


class cudaAccessPolicyWindow(Struct):
    base_ptr: pointer
    num_bytes: usize
    hitRatio: f32
    hitProp: cudaAccessProperty
    missProp: cudaAccessProperty


class cudaLaunchMemSyncDomainMap(Struct):
    default_: u8
    remote: u8


class cudaLaunchAttributeValue_clusterDim(Struct):
    x: u32
    y: u32
    z: u32


class cudaLaunchAttributeValue_programmaticEvent(Struct):
    event: cudaEvent_t
    flags: i32
    triggerAtBlockStart: i32


class cudaLaunchAttributeValue_preferredClusterDim(Struct):
    x: u32
    y: u32
    z: u32


class cudaLaunchAttributeValue_launchCompletionEvent(Struct):
    event: cudaEvent_t
    flags: i32


class cudaLaunchAttributeValue_deviceUpdatableKernelNode(Struct):
    deviceUpdatable: i32
    devNode: cudaGraphDeviceNode_t


class cudaLaunchAttributeValue(Union):
    pad: Annotated[bytes, 64]
    accessPolicyWindow: cudaAccessPolicyWindow
    cooperative: i32
    syncPolicy: cudaSynchronizationPolicy
    clusterDim: cudaLaunchAttributeValue_clusterDim
    clusterSchedulingPolicyPreference: cudaClusterSchedulingPolicy
    programmaticStreamSerializationAllowed: i32
    programmaticEvent: cudaLaunchAttributeValue_programmaticEvent
    priority: i32
    memSyncDomainMap: cudaLaunchMemSyncDomainMap
    memSyncDomain: cudaLaunchMemSyncDomain
    preferredClusterDim: cudaLaunchAttributeValue_preferredClusterDim
    launchCompletionEvent: cudaLaunchAttributeValue_launchCompletionEvent
    deviceUpdatableKernelNode: cudaLaunchAttributeValue_deviceUpdatableKernelNode
    sharedMemCarveout: u32
    nvlinkUtilCentricScheduling: u32
    portableClusterSizeMode: cudaLaunchAttributePortableClusterMode
    sharedMemoryMode: cudaSharedMemoryMode


class cudaLaunchAttribute(Struct):
    id: cudaLaunchAttributeID
    val: cudaLaunchAttributeValue


cudaKernelNodeAttrValue = cudaLaunchAttributeValue
cudaStreamAttrValue = cudaLaunchAttributeValue
