"""The handles and structures of the CUDA runtime API: a table that tools/derive_api.py writes, in the form that driver/tables/compact.py reads."""

from __future__ import annotations

from ..driver.tables.compact import Structs
from ..driver.tables.structs import STRUCTS
from .enums import OWN as ENUMS

_TABLE = """\
handle cudaArray_t cudaAsyncCallback cudaDevResourceDesc_t cudaEvent_t cudaExecutionContext_t cudaExternalMemory_t cudaExternalSemaphore_t
    cudaFunction_t cudaGraphDeviceNode_t cudaGraphExec_t cudaGraphNode_t cudaGraph_t cudaHostFn_t cudaKernel_t cudaLibrary_t
    cudaLogsCallbackHandle cudaMemPool_t cudaMipmappedArray_t cudaStreamCallback_t cudaStream_t cudaUserObject_t
number u64 cudaGraphConditionalHandle cudaSurfaceObject_t cudaTextureObject_t
number u32 cudaLogIterator
struct dim3 x:u32 y:u32 z:u32
struct cudaUUID_t bytes:bytes[16]
struct cudaDeviceProp name:bytes[256] uuid:cudaUUID_t luid:bytes[8] luidDeviceNodeMask:u32 totalGlobalMem:usize sharedMemPerBlock:usize
    regsPerBlock:i32 warpSize:i32 memPitch:usize maxThreadsPerBlock:i32 maxThreadsDim:i32[3] maxGridSize:i32[3] totalConstMem:usize
    major:i32 minor:i32 textureAlignment:usize texturePitchAlignment:usize multiProcessorCount:i32 integrated:i32 canMapHostMemory:i32
    maxTexture1D:i32 maxTexture1DMipmap:i32 maxTexture2D:i32[2] maxTexture2DMipmap:i32[2] maxTexture2DLinear:i32[3]
    maxTexture2DGather:i32[2] maxTexture3D:i32[3] maxTexture3DAlt:i32[3] maxTextureCubemap:i32 maxTexture1DLayered:i32[2]
    maxTexture2DLayered:i32[3] maxTextureCubemapLayered:i32[2] maxSurface1D:i32 maxSurface2D:i32[2] maxSurface3D:i32[3]
    maxSurface1DLayered:i32[2] maxSurface2DLayered:i32[3] maxSurfaceCubemap:i32 maxSurfaceCubemapLayered:i32[2] surfaceAlignment:usize
    concurrentKernels:i32 ECCEnabled:i32 pciBusID:i32 pciDeviceID:i32 pciDomainID:i32 tccDriver:i32 asyncEngineCount:i32
    unifiedAddressing:i32 memoryBusWidth:i32 l2CacheSize:i32 persistingL2CacheMaxSize:i32 maxThreadsPerMultiProcessor:i32
    streamPrioritiesSupported:i32 globalL1CacheSupported:i32 localL1CacheSupported:i32 sharedMemPerMultiprocessor:usize
    regsPerMultiprocessor:i32 managedMemory:i32 isMultiGpuBoard:i32 multiGpuBoardGroupID:i32 hostNativeAtomicSupported:i32
    pageableMemoryAccess:i32 concurrentManagedAccess:i32 computePreemptionSupported:i32 canUseHostPointerForRegisteredMem:i32
    cooperativeLaunch:i32 sharedMemPerBlockOptin:usize pageableMemoryAccessUsesHostPageTables:i32 directManagedMemAccessFromHost:i32
    maxBlocksPerMultiProcessor:i32 accessPolicyMaxWindowSize:i32 reservedSharedMemPerBlock:usize hostRegisterSupported:i32
    sparseCudaArraySupported:i32 hostRegisterReadOnlySupported:i32 timelineSemaphoreInteropSupported:i32 memoryPoolsSupported:i32
    gpuDirectRDMASupported:i32 gpuDirectRDMAFlushWritesOptions:u32 gpuDirectRDMAWritesOrdering:i32 memoryPoolSupportedHandleTypes:u32
    deferredMappingCudaArraySupported:i32 ipcEventSupported:i32 clusterLaunch:i32 unifiedFunctionPointers:i32 deviceNumaConfig:i32
    deviceNumaId:i32 mpsEnabled:i32 hostNumaId:i32 gpuPciDeviceID:u32 gpuPciSubsystemID:u32 hostNumaMultinodeIpcSupported:i32
    reserved:i32[56]
struct cudaPos x:usize y:usize z:usize
struct cudaPitchedPtr ptr:pointer pitch:usize xsize:usize ysize:usize
struct cudaExtent width:usize height:usize depth:usize
struct cudaMemcpy3DParms srcArray:cudaArray_t srcPos:cudaPos srcPtr:cudaPitchedPtr dstArray:cudaArray_t dstPos:cudaPos dstPtr:cudaPitchedPtr
    extent:cudaExtent kind:cudaMemcpyKind
struct cudaMemcpy3DPeerParms srcArray:cudaArray_t srcPos:cudaPos srcPtr:cudaPitchedPtr srcDevice:i32 dstArray:cudaArray_t dstPos:cudaPos
    dstPtr:cudaPitchedPtr dstDevice:i32 extent:cudaExtent
struct cudaChannelFormatDesc x:i32 y:i32 z:i32 w:i32 f:cudaChannelFormatKind
struct cudaArraySparseProperties_tileExtent width:u32 height:u32 depth:u32
struct cudaArraySparseProperties tileExtent:cudaArraySparseProperties_tileExtent miptailFirstLevel:u32 miptailSize:u64 flags:u32
    reserved:u32[4]
struct cudaPointerAttributes type:cudaMemoryType device:i32 devicePointer:pointer hostPointer:pointer localityDomainOrdinal:i32 |unused:i64
    reserved:i64[7]
struct cudaFuncAttributes sharedSizeBytes:usize constSizeBytes:usize localSizeBytes:usize maxThreadsPerBlock:i32 numRegs:i32 ptxVersion:i32
    binaryVersion:i32 cacheModeCA:i32 maxDynamicSharedSizeBytes:i32 preferredShmemCarveout:i32 clusterDimMustBeSet:i32
    requiredClusterWidth:i32 requiredClusterHeight:i32 requiredClusterDepth:i32 clusterSchedulingPolicyPreference:i32
    nonPortableClusterSizeAllowed:i32 deviceNodeUpdateStatus:i32 sharedMemoryMode:cudaSharedMemoryMode reserved:i32[14]
struct cudaMemLocation_localized deviceId:u8 localityDomainId:u8
struct cudaMemLocation type:cudaMemLocationType id:i32 |localized:cudaMemLocation_localized
struct cudaMemPoolProps allocType:cudaMemAllocationType handleTypes:cudaMemAllocationHandleType location:cudaMemLocation
    win32SecurityAttributes:pointer maxSize:usize usage:u16 reserved:u8[53] reserved1:u8
struct cudaMemAccessDesc location:cudaMemLocation flags:cudaMemAccessFlags
struct cudaResourceDesc_res_array array:cudaArray_t
struct cudaResourceDesc_res_mipmap mipmap:cudaMipmappedArray_t
struct cudaResourceDesc_res_linear devPtr:pointer desc:cudaChannelFormatDesc sizeInBytes:usize
struct cudaResourceDesc_res_pitch2D devPtr:pointer desc:cudaChannelFormatDesc width:usize height:usize pitchInBytes:usize
struct cudaResourceDesc_res_reserved reserved:i32[32]
union cudaResourceDesc_res array:cudaResourceDesc_res_array mipmap:cudaResourceDesc_res_mipmap linear:cudaResourceDesc_res_linear
    pitch2D:cudaResourceDesc_res_pitch2D reserved:cudaResourceDesc_res_reserved
struct cudaResourceDesc resType:cudaResourceType res:cudaResourceDesc_res flags:u32
struct cudaTextureDesc addressMode:cudaTextureAddressMode[3] filterMode:cudaTextureFilterMode readMode:cudaTextureReadMode sRGB:i32
    borderColor:f32[4] normalizedCoords:i32 maxAnisotropy:u32 mipmapFilterMode:cudaTextureFilterMode mipmapLevelBias:f32
    minMipmapLevelClamp:f32 maxMipmapLevelClamp:f32 disableTrilinearOptimization:i32 seamlessCubemap:i32
struct cudaResourceViewDesc format:cudaResourceViewFormat width:usize height:usize depth:usize firstMipmapLevel:u32 lastMipmapLevel:u32
    firstLayer:u32 lastLayer:u32 reserved:u32[16]
struct cudaMemcpyAttributes srcAccessOrder:cudaMemcpySrcAccessOrder srcLocHint:cudaMemLocation dstLocHint:cudaMemLocation flags:u32
struct cudaAccessPolicyWindow base_ptr:pointer num_bytes:usize hitRatio:f32 hitProp:cudaAccessProperty missProp:cudaAccessProperty
struct cudaLaunchMemSyncDomainMap default_:u8 remote:u8
struct cudaLaunchAttributeValue_clusterDim x:u32 y:u32 z:u32
struct cudaLaunchAttributeValue_programmaticEvent event:cudaEvent_t flags:i32 triggerAtBlockStart:i32
struct cudaLaunchAttributeValue_preferredClusterDim x:u32 y:u32 z:u32
struct cudaLaunchAttributeValue_launchCompletionEvent event:cudaEvent_t flags:i32
struct cudaLaunchAttributeValue_deviceUpdatableKernelNode deviceUpdatable:i32 devNode:cudaGraphDeviceNode_t
union cudaLaunchAttributeValue pad:bytes[64] accessPolicyWindow:cudaAccessPolicyWindow cooperative:i32 syncPolicy:cudaSynchronizationPolicy
    clusterDim:cudaLaunchAttributeValue_clusterDim clusterSchedulingPolicyPreference:cudaClusterSchedulingPolicy
    programmaticStreamSerializationAllowed:i32 programmaticEvent:cudaLaunchAttributeValue_programmaticEvent priority:i32
    memSyncDomainMap:cudaLaunchMemSyncDomainMap memSyncDomain:cudaLaunchMemSyncDomain
    preferredClusterDim:cudaLaunchAttributeValue_preferredClusterDim launchCompletionEvent:cudaLaunchAttributeValue_launchCompletionEvent
    deviceUpdatableKernelNode:cudaLaunchAttributeValue_deviceUpdatableKernelNode sharedMemCarveout:u32 nvlinkUtilCentricScheduling:u32
    portableClusterSizeMode:cudaLaunchAttributePortableClusterMode sharedMemoryMode:cudaSharedMemoryMode
struct cudaLaunchAttribute id:cudaLaunchAttributeID val:cudaLaunchAttributeValue
struct cudaLaunchConfig_t gridDim:dim3 blockDim:dim3 dynamicSmemBytes:usize stream:cudaStream_t attrs:cudaLaunchAttribute* numAttrs:u32
struct cudaKernelNodeParams func:pointer gridDim:dim3 blockDim:dim3 sharedMemBytes:u32 kernelParams:pointer extra:pointer
struct cudaMemsetParams dst:pointer pitch:usize value:u32 elementSize:u32 width:usize height:usize
struct cudaHostNodeParams fn:cudaHostFn_t userData:pointer
struct cudaMemAllocNodeParams poolProps:cudaMemPoolProps accessDescs:cudaMemAccessDesc* accessDescCount:usize bytesize:usize dptr:pointer
struct cudaGraphInstantiateParams flags:u64 uploadStream:cudaStream_t errNode_out:cudaGraphNode_t result_out:cudaGraphInstantiateResult
struct cudaGraphEdgeData from_port:u8 to_port:u8 type:u8 reserved:u8[5]
struct cudaGraphExecUpdateResultInfo result:cudaGraphExecUpdateResult errorNode:cudaGraphNode_t errorFromNode:cudaGraphNode_t
struct cudaIpcEventHandle_t reserved:bytes[64]
struct cudaIpcMemHandle_t reserved:bytes[64]
struct cudaArrayMemoryRequirements size:usize alignment:usize reserved:u32[4]
struct cudaMemPoolPtrExportData reserved:u8[64]
struct cudaMemcpy3DOperand_op_ptr ptr:pointer rowLength:usize layerHeight:usize locHint:cudaMemLocation
struct cudaOffset3D x:usize y:usize z:usize
struct cudaMemcpy3DOperand_op_array array:cudaArray_t offset:cudaOffset3D
union cudaMemcpy3DOperand_op ptr:cudaMemcpy3DOperand_op_ptr array:cudaMemcpy3DOperand_op_array
struct cudaMemcpy3DOperand type:cudaMemcpy3DOperandType op:cudaMemcpy3DOperand_op
struct cudaMemcpy3DBatchOp src:cudaMemcpy3DOperand dst:cudaMemcpy3DOperand extent:cudaExtent srcAccessOrder:cudaMemcpySrcAccessOrder
    flags:u32
struct cudaDevSmResource smCount:u32 minSmPartitionSize:u32 smCoscheduledAlignment:u32 flags:u32 localityDomainId:u32
struct cudaDevWorkqueueConfigResource device:i32 wqConcurrencyLimit:u32 sharingScope:cudaDevWorkqueueConfigScope
struct cudaDevWorkqueueResource reserved:u8[40]
struct cudaDevResource type:cudaDevResourceType _internal_padding:u8[92] sm:cudaDevSmResource |wqConfig:cudaDevWorkqueueConfigResource
    |wq:cudaDevWorkqueueResource |_oversize:u8[40] nextResource:pointer
struct cudaDevSmResourceGroupParams smCount:u32 coscheduledSmCount:u32 preferredCoscheduledSmCount:u32 flags:u32 localityDomainId:u32
    reserved:u32[11]
ending _st cudaDevResource cudaDevSmResourceGroupParams cudaGraphEdgeData cudaGraphExecUpdateResultInfo cudaGraphInstantiateParams
    cudaLaunchAttribute cudaLaunchMemSyncDomainMap
alias CUuuid_st=cudaUUID_t cudaIpcEventHandle_st=cudaIpcEventHandle_t cudaIpcMemHandle_st=cudaIpcMemHandle_t
    cudaKernelNodeAttrValue=cudaLaunchAttributeValue cudaStreamAttrValue=cudaLaunchAttributeValue
"""
OWN = Structs(__name__, _TABLE, lambda name: ENUMS.get(name) or STRUCTS.get(name))
__getattr__ = OWN.attribute
__dir__ = OWN.names
