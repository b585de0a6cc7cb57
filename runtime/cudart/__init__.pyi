"""Written by tools/api_types.py for type checkers; the code is beside it."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any, Final, Generic, TypeVar

from ..driver.tables.layout import Handle, NumberHandle, Struct, Union

T = TypeVar("T")

class Field(Generic[T]):
    """A structure's field: read as a T, set with whatever can be made one."""
    def __get__(self, owner: Any, kind: Any = None) -> T: ...
    def __set__(self, owner: Any, value: Any) -> None: ...


CUDART_VERSION: Final = 13000
CUDA_EGL_MAX_PLANES: Final = 3
CUDA_IPC_HANDLE_SIZE: Final = 64
cudaArrayColorAttachment: Final = 32
cudaArrayCubemap: Final = 4
cudaArrayDefault: Final = 0
cudaArrayDeferredMapping: Final = 128
cudaArrayLayered: Final = 1
cudaArraySparse: Final = 64
cudaArraySparsePropertiesSingleMipTail: Final = 1
cudaArraySurfaceLoadStore: Final = 2
cudaArrayTextureGather: Final = 8
cudaCpuDeviceId: Final = -1
cudaDevSmResourceGroupLocalityDomainIdAny: Final = 4294967295
cudaDeviceBlockingSync: Final = 4
cudaDeviceLmemResizeToMax: Final = 16
cudaDeviceMapHost: Final = 8
cudaDeviceMask: Final = 255
cudaDeviceScheduleAuto: Final = 0
cudaDeviceScheduleBlockingSync: Final = 4
cudaDeviceScheduleMask: Final = 7
cudaDeviceScheduleSpin: Final = 1
cudaDeviceScheduleYield: Final = 2
cudaDeviceSyncMemops: Final = 128
cudaEventBlockingSync: Final = 1
cudaEventDefault: Final = 0
cudaEventDisableTiming: Final = 2
cudaEventInterprocess: Final = 4
cudaEventRecordDefault: Final = 0
cudaEventRecordExternal: Final = 1
cudaEventWaitDefault: Final = 0
cudaEventWaitExternal: Final = 1
cudaExternalMemoryDedicated: Final = 1
cudaExternalSemaphoreSignalSkipNvSciBufMemSync: Final = 1
cudaExternalSemaphoreWaitSkipNvSciBufMemSync: Final = 2
cudaGraphKernelNodePortDefault: Final = 0
cudaGraphKernelNodePortLaunchCompletion: Final = 2
cudaGraphKernelNodePortProgrammatic: Final = 1
cudaHostAllocDefault: Final = 0
cudaHostAllocMapped: Final = 2
cudaHostAllocPortable: Final = 1
cudaHostAllocWriteCombined: Final = 4
cudaHostRegisterDefault: Final = 0
cudaHostRegisterIoMemory: Final = 4
cudaHostRegisterMapped: Final = 2
cudaHostRegisterPortable: Final = 1
cudaHostRegisterReadOnly: Final = 8
cudaInitDeviceFlagsAreValid: Final = 1
cudaInvalidDeviceId: Final = -2
cudaIpcMemLazyEnablePeerAccess: Final = 1
cudaKernelNodeAttributeAccessPolicyWindow: Final = 1
cudaKernelNodeAttributeClusterDimension: Final = 4
cudaKernelNodeAttributeClusterSchedulingPolicyPreference: Final = 5
cudaKernelNodeAttributeCooperative: Final = 2
cudaKernelNodeAttributeDeviceUpdatableKernelNode: Final = 13
cudaKernelNodeAttributeMemSyncDomain: Final = 10
cudaKernelNodeAttributeMemSyncDomainMap: Final = 9
cudaKernelNodeAttributeNvlinkUtilCentricScheduling: Final = 16
cudaKernelNodeAttributePreferredSharedMemoryCarveout: Final = 14
cudaKernelNodeAttributePriority: Final = 8
cudaMemAttachGlobal: Final = 1
cudaMemAttachHost: Final = 2
cudaMemAttachSingle: Final = 4
cudaMemPoolCreateUsageHwDecompress: Final = 2
cudaNvSciSyncAttrSignal: Final = 1
cudaNvSciSyncAttrWait: Final = 2
cudaOccupancyDefault: Final = 0
cudaOccupancyDisableCachingOverride: Final = 1
cudaPeerAccessDefault: Final = 0
cudaStreamAttributeAccessPolicyWindow: Final = 1
cudaStreamAttributeMemSyncDomain: Final = 10
cudaStreamAttributeMemSyncDomainMap: Final = 9
cudaStreamAttributePriority: Final = 8
cudaStreamAttributeSynchronizationPolicy: Final = 3
cudaStreamDefault: Final = 0
cudaStreamLegacy: Final = 1
cudaStreamNonBlocking: Final = 1
cudaStreamPerThread: Final = 2
cudaSurfaceType1D: Final = 1
cudaSurfaceType1DLayered: Final = 241
cudaSurfaceType2D: Final = 2
cudaSurfaceType2DLayered: Final = 242
cudaSurfaceType3D: Final = 3
cudaSurfaceTypeCubemap: Final = 12
cudaSurfaceTypeCubemapLayered: Final = 252
cudaTextureType1D: Final = 1
cudaTextureType1DLayered: Final = 241
cudaTextureType2D: Final = 2
cudaTextureType2DLayered: Final = 242
cudaTextureType3D: Final = 3
cudaTextureTypeCubemap: Final = 12
cudaTextureTypeCubemapLayered: Final = 252
class CUaddress_mode(IntEnum):
    CU_TR_ADDRESS_MODE_WRAP = 0
    CU_TR_ADDRESS_MODE_CLAMP = 1
    CU_TR_ADDRESS_MODE_MIRROR = 2
    CU_TR_ADDRESS_MODE_BORDER = 3

class CUfilter_mode(IntEnum):
    CU_TR_FILTER_MODE_POINT = 0
    CU_TR_FILTER_MODE_LINEAR = 1

class CUresourcetype(IntEnum):
    CU_RESOURCE_TYPE_ARRAY = 0
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1
    CU_RESOURCE_TYPE_LINEAR = 2
    CU_RESOURCE_TYPE_PITCH2D = 3

class CUresult(IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_NOT_INITIALIZED = 3
    CUDA_ERROR_DEINITIALIZED = 4
    CUDA_ERROR_PROFILER_DISABLED = 5
    CUDA_ERROR_PROFILER_NOT_INITIALIZED = 6
    CUDA_ERROR_PROFILER_ALREADY_STARTED = 7
    CUDA_ERROR_PROFILER_ALREADY_STOPPED = 8
    CUDA_ERROR_STUB_LIBRARY = 34
    CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER = 36
    CUDA_ERROR_DEVICE_UNAVAILABLE = 46
    CUDA_ERROR_MULTICAST_RESOURCE_FULL = 47
    CUDA_ERROR_NO_DEVICE = 100
    CUDA_ERROR_INVALID_DEVICE = 101
    CUDA_ERROR_DEVICE_NOT_LICENSED = 102
    CUDA_ERROR_INVALID_IMAGE = 200
    CUDA_ERROR_INVALID_CONTEXT = 201
    CUDA_ERROR_CONTEXT_ALREADY_CURRENT = 202
    CUDA_ERROR_MAP_FAILED = 205
    CUDA_ERROR_UNMAP_FAILED = 206
    CUDA_ERROR_ARRAY_IS_MAPPED = 207
    CUDA_ERROR_ALREADY_MAPPED = 208
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209
    CUDA_ERROR_ALREADY_ACQUIRED = 210
    CUDA_ERROR_NOT_MAPPED = 211
    CUDA_ERROR_NOT_MAPPED_AS_ARRAY = 212
    CUDA_ERROR_NOT_MAPPED_AS_POINTER = 213
    CUDA_ERROR_ECC_UNCORRECTABLE = 214
    CUDA_ERROR_UNSUPPORTED_LIMIT = 215
    CUDA_ERROR_CONTEXT_ALREADY_IN_USE = 216
    CUDA_ERROR_PEER_ACCESS_UNSUPPORTED = 217
    CUDA_ERROR_INVALID_PTX = 218
    CUDA_ERROR_INVALID_GRAPHICS_CONTEXT = 219
    CUDA_ERROR_NVLINK_UNCORRECTABLE = 220
    CUDA_ERROR_JIT_COMPILER_NOT_FOUND = 221
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222
    CUDA_ERROR_JIT_COMPILATION_DISABLED = 223
    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY = 224
    CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC = 225
    CUDA_ERROR_CONTAINED = 226
    CUDA_ERROR_INSUFFICIENT_LOADER_VERSION = 227
    CUDA_ERROR_INVALID_SOURCE = 300
    CUDA_ERROR_FILE_NOT_FOUND = 301
    CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND = 302
    CUDA_ERROR_SHARED_OBJECT_INIT_FAILED = 303
    CUDA_ERROR_OPERATING_SYSTEM = 304
    CUDA_ERROR_INVALID_HANDLE = 400
    CUDA_ERROR_ILLEGAL_STATE = 401
    CUDA_ERROR_LOSSY_QUERY = 402
    CUDA_ERROR_NOT_FOUND = 500
    CUDA_ERROR_NOT_READY = 600
    CUDA_ERROR_ILLEGAL_ADDRESS = 700
    CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
    CUDA_ERROR_LAUNCH_TIMEOUT = 702
    CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING = 703
    CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED = 704
    CUDA_ERROR_PEER_ACCESS_NOT_ENABLED = 705
    CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE = 708
    CUDA_ERROR_CONTEXT_IS_DESTROYED = 709
    CUDA_ERROR_ASSERT = 710
    CUDA_ERROR_TOO_MANY_PEERS = 711
    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED = 712
    CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED = 713
    CUDA_ERROR_HARDWARE_STACK_ERROR = 714
    CUDA_ERROR_ILLEGAL_INSTRUCTION = 715
    CUDA_ERROR_MISALIGNED_ADDRESS = 716
    CUDA_ERROR_INVALID_ADDRESS_SPACE = 717
    CUDA_ERROR_INVALID_PC = 718
    CUDA_ERROR_LAUNCH_FAILED = 719
    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE = 720
    CUDA_ERROR_TENSOR_MEMORY_LEAK = 721
    CUDA_ERROR_NOT_PERMITTED = 800
    CUDA_ERROR_NOT_SUPPORTED = 801
    CUDA_ERROR_SYSTEM_NOT_READY = 802
    CUDA_ERROR_SYSTEM_DRIVER_MISMATCH = 803
    CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE = 804
    CUDA_ERROR_MPS_CONNECTION_FAILED = 805
    CUDA_ERROR_MPS_RPC_FAILURE = 806
    CUDA_ERROR_MPS_SERVER_NOT_READY = 807
    CUDA_ERROR_MPS_MAX_CLIENTS_REACHED = 808
    CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED = 809
    CUDA_ERROR_MPS_CLIENT_TERMINATED = 810
    CUDA_ERROR_CDP_NOT_SUPPORTED = 811
    CUDA_ERROR_CDP_VERSION_MISMATCH = 812
    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900
    CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901
    CUDA_ERROR_STREAM_CAPTURE_MERGE = 902
    CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903
    CUDA_ERROR_STREAM_CAPTURE_UNJOINED = 904
    CUDA_ERROR_STREAM_CAPTURE_ISOLATION = 905
    CUDA_ERROR_STREAM_CAPTURE_IMPLICIT = 906
    CUDA_ERROR_CAPTURED_EVENT = 907
    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD = 908
    CUDA_ERROR_TIMEOUT = 909
    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE = 910
    CUDA_ERROR_EXTERNAL_DEVICE = 911
    CUDA_ERROR_INVALID_CLUSTER_SIZE = 912
    CUDA_ERROR_FUNCTION_NOT_LOADED = 913
    CUDA_ERROR_INVALID_RESOURCE_TYPE = 914
    CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION = 915
    CUDA_ERROR_KEY_ROTATION = 916
    CUDA_ERROR_STREAM_DETACHED = 917
    CUDA_ERROR_GRAPH_RECAPTURE_FAILURE = 918
    CUDA_ERROR_FABRIC_NOT_READY = 919
    CUDA_ERROR_UNKNOWN = 999

CUuuid_st = cudaUUID_t
class cudaAccessPolicyWindow(Struct):
    base_ptr: Field[int]
    num_bytes: Field[int]
    hitRatio: Field[float]
    hitProp: Field[cudaAccessProperty]
    missProp: Field[cudaAccessProperty]

class cudaAccessProperty(IntEnum):
    cudaAccessPropertyNormal = 0
    cudaAccessPropertyStreaming = 1
    cudaAccessPropertyPersisting = 2

class cudaArrayMemoryRequirements(Struct):
    size: Field[int]
    alignment: Field[int]
    reserved: Field[list[int]]

class cudaArraySparseProperties(Struct):
    tileExtent: Field[cudaArraySparseProperties_tileExtent]
    miptailFirstLevel: Field[int]
    miptailSize: Field[int]
    flags: Field[int]
    reserved: Field[list[int]]

class cudaArraySparseProperties_tileExtent(Struct):
    width: Field[int]
    height: Field[int]
    depth: Field[int]

class cudaArray_t(Handle): ...
class cudaAsyncCallback(Handle): ...
class cudaAsyncNotificationType(IntEnum):
    cudaAsyncNotificationTypeOverBudget = 1

class cudaAtomicOperation(IntEnum):
    cudaAtomicOperationIntegerAdd = 0
    cudaAtomicOperationIntegerMin = 1
    cudaAtomicOperationIntegerMax = 2
    cudaAtomicOperationIntegerIncrement = 3
    cudaAtomicOperationIntegerDecrement = 4
    cudaAtomicOperationAnd = 5
    cudaAtomicOperationOr = 6
    cudaAtomicOperationXOR = 7
    cudaAtomicOperationExchange = 8
    cudaAtomicOperationCAS = 9
    cudaAtomicOperationFloatAdd = 10
    cudaAtomicOperationFloatMin = 11
    cudaAtomicOperationFloatMax = 12

class cudaAtomicOperationCapability(IntEnum):
    cudaAtomicCapabilitySigned = 1
    cudaAtomicCapabilityUnsigned = 2
    cudaAtomicCapabilityReduction = 4
    cudaAtomicCapabilityScalar32 = 8
    cudaAtomicCapabilityScalar64 = 16
    cudaAtomicCapabilityScalar128 = 32
    cudaAtomicCapabilityVector32x4 = 64

class cudaCGScope(IntEnum):
    cudaCGScopeInvalid = 0
    cudaCGScopeGrid = 1
    cudaCGScopeReserved = 2

class cudaChannelFormatDesc(Struct):
    x: Field[int]
    y: Field[int]
    z: Field[int]
    w: Field[int]
    f: Field[cudaChannelFormatKind]

class cudaChannelFormatKind(IntEnum):
    cudaChannelFormatKindSigned = 0
    cudaChannelFormatKindUnsigned = 1
    cudaChannelFormatKindFloat = 2
    cudaChannelFormatKindNone = 3
    cudaChannelFormatKindNV12 = 4
    cudaChannelFormatKindUnsignedNormalized8X1 = 5
    cudaChannelFormatKindUnsignedNormalized8X2 = 6
    cudaChannelFormatKindUnsignedNormalized8X4 = 7
    cudaChannelFormatKindUnsignedNormalized16X1 = 8
    cudaChannelFormatKindUnsignedNormalized16X2 = 9
    cudaChannelFormatKindUnsignedNormalized16X4 = 10
    cudaChannelFormatKindSignedNormalized8X1 = 11
    cudaChannelFormatKindSignedNormalized8X2 = 12
    cudaChannelFormatKindSignedNormalized8X4 = 13
    cudaChannelFormatKindSignedNormalized16X1 = 14
    cudaChannelFormatKindSignedNormalized16X2 = 15
    cudaChannelFormatKindSignedNormalized16X4 = 16
    cudaChannelFormatKindUnsignedBlockCompressed1 = 17
    cudaChannelFormatKindUnsignedBlockCompressed1SRGB = 18
    cudaChannelFormatKindUnsignedBlockCompressed2 = 19
    cudaChannelFormatKindUnsignedBlockCompressed2SRGB = 20
    cudaChannelFormatKindUnsignedBlockCompressed3 = 21
    cudaChannelFormatKindUnsignedBlockCompressed3SRGB = 22
    cudaChannelFormatKindUnsignedBlockCompressed4 = 23
    cudaChannelFormatKindSignedBlockCompressed4 = 24
    cudaChannelFormatKindUnsignedBlockCompressed5 = 25
    cudaChannelFormatKindSignedBlockCompressed5 = 26
    cudaChannelFormatKindUnsignedBlockCompressed6H = 27
    cudaChannelFormatKindSignedBlockCompressed6H = 28
    cudaChannelFormatKindUnsignedBlockCompressed7 = 29
    cudaChannelFormatKindUnsignedBlockCompressed7SRGB = 30
    cudaChannelFormatKindUnsignedNormalized1010102 = 31
    cudaChannelFormatKindUnsigned8Packed422 = 32
    cudaChannelFormatKindUnsigned8Packed444 = 33
    cudaChannelFormatKindUnsigned8SemiPlanar420 = 34
    cudaChannelFormatKindUnsigned16SemiPlanar420 = 35
    cudaChannelFormatKindUnsigned8SemiPlanar422 = 36
    cudaChannelFormatKindUnsigned16SemiPlanar422 = 37
    cudaChannelFormatKindUnsigned8SemiPlanar444 = 38
    cudaChannelFormatKindUnsigned16SemiPlanar444 = 39
    cudaChannelFormatKindUnsigned8Planar420 = 40
    cudaChannelFormatKindUnsigned16Planar420 = 41
    cudaChannelFormatKindUnsigned8Planar422 = 42
    cudaChannelFormatKindUnsigned16Planar422 = 43
    cudaChannelFormatKindUnsigned8Planar444 = 44
    cudaChannelFormatKindUnsigned16Planar444 = 45

class cudaClusterSchedulingPolicy(IntEnum):
    cudaClusterSchedulingPolicyDefault = 0
    cudaClusterSchedulingPolicySpread = 1
    cudaClusterSchedulingPolicyLoadBalancing = 2
    cudaClusterSchedulingPolicyRubinDsmemLocality = 3

class cudaComputeMode(IntEnum):
    cudaComputeModeDefault = 0
    cudaComputeModeExclusive = 1
    cudaComputeModeProhibited = 2
    cudaComputeModeExclusiveProcess = 3

class cudaDataType(IntEnum):
    CUDA_R_32F = 0
    CUDA_R_64F = 1
    CUDA_R_16F = 2
    CUDA_R_8I = 3
    CUDA_C_32F = 4
    CUDA_C_64F = 5
    CUDA_C_16F = 6
    CUDA_C_8I = 7
    CUDA_R_8U = 8
    CUDA_C_8U = 9
    CUDA_R_32I = 10
    CUDA_C_32I = 11
    CUDA_R_32U = 12
    CUDA_C_32U = 13
    CUDA_R_16BF = 14
    CUDA_C_16BF = 15
    CUDA_R_4I = 16
    CUDA_C_4I = 17
    CUDA_R_4U = 18
    CUDA_C_4U = 19
    CUDA_R_16I = 20
    CUDA_C_16I = 21
    CUDA_R_16U = 22
    CUDA_C_16U = 23
    CUDA_R_64I = 24
    CUDA_C_64I = 25
    CUDA_R_64U = 26
    CUDA_C_64U = 27
    CUDA_R_8F_E4M3 = 28
    CUDA_R_8F_UE4M3 = 28
    CUDA_R_8F_E5M2 = 29
    CUDA_R_8F_UE8M0 = 30
    CUDA_R_6F_E2M3 = 31
    CUDA_R_6F_E3M2 = 32
    CUDA_R_4F_E2M1 = 33
    CUDA_R_8F_UE5M3 = 34

class cudaDevResource(Struct):
    type: Field[cudaDevResourceType]
    _internal_padding: Field[list[int]]
    sm: Field[cudaDevSmResource]
    wqConfig: Field[cudaDevWorkqueueConfigResource]
    wq: Field[cudaDevWorkqueueResource]
    _oversize: Field[list[int]]
    nextResource: Field[int]

class cudaDevResourceDesc_t(Handle): ...
class cudaDevResourceType(IntEnum):
    cudaDevResourceTypeInvalid = 0
    cudaDevResourceTypeSm = 1
    cudaDevResourceTypeWorkqueueConfig = 1000
    cudaDevResourceTypeWorkqueue = 10000

cudaDevResource_st = cudaDevResource
class cudaDevSmResource(Struct):
    smCount: Field[int]
    minSmPartitionSize: Field[int]
    smCoscheduledAlignment: Field[int]
    flags: Field[int]
    localityDomainId: Field[int]

class cudaDevSmResourceGroupParams(Struct):
    smCount: Field[int]
    coscheduledSmCount: Field[int]
    preferredCoscheduledSmCount: Field[int]
    flags: Field[int]
    localityDomainId: Field[int]
    reserved: Field[list[int]]

cudaDevSmResourceGroupParams_st = cudaDevSmResourceGroupParams
class cudaDevSmResourceGroup_flags(IntEnum):
    cudaDevSmResourceGroupDefault = 0
    cudaDevSmResourceGroupBackfill = 1
    cudaDevSmResourceGroupLocalityDomainId = 2
    cudaDevSmResourceGroupLocalityDomainSupplementalSms = 4

class cudaDevSmResourceSplitByCount_flags(IntEnum):
    cudaDevSmResourceSplitIgnoreSmCoscheduling = 1
    cudaDevSmResourceSplitMaxPotentialClusterSize = 2

class cudaDevWorkqueueConfigResource(Struct):
    device: Field[int]
    wqConcurrencyLimit: Field[int]
    sharingScope: Field[cudaDevWorkqueueConfigScope]

class cudaDevWorkqueueConfigScope(IntEnum):
    cudaDevWorkqueueConfigScopeDeviceCtx = 0
    cudaDevWorkqueueConfigScopeGreenCtxBalanced = 1

class cudaDevWorkqueueResource(Struct):
    reserved: Field[list[int]]

class cudaDeviceAttr(IntEnum):
    cudaDevAttrMaxThreadsPerBlock = 1
    cudaDevAttrMaxBlockDimX = 2
    cudaDevAttrMaxBlockDimY = 3
    cudaDevAttrMaxBlockDimZ = 4
    cudaDevAttrMaxGridDimX = 5
    cudaDevAttrMaxGridDimY = 6
    cudaDevAttrMaxGridDimZ = 7
    cudaDevAttrMaxSharedMemoryPerBlock = 8
    cudaDevAttrTotalConstantMemory = 9
    cudaDevAttrWarpSize = 10
    cudaDevAttrMaxPitch = 11
    cudaDevAttrMaxRegistersPerBlock = 12
    cudaDevAttrClockRate = 13
    cudaDevAttrTextureAlignment = 14
    cudaDevAttrGpuOverlap = 15
    cudaDevAttrMultiProcessorCount = 16
    cudaDevAttrKernelExecTimeout = 17
    cudaDevAttrIntegrated = 18
    cudaDevAttrCanMapHostMemory = 19
    cudaDevAttrComputeMode = 20
    cudaDevAttrMaxTexture1DWidth = 21
    cudaDevAttrMaxTexture2DWidth = 22
    cudaDevAttrMaxTexture2DHeight = 23
    cudaDevAttrMaxTexture3DWidth = 24
    cudaDevAttrMaxTexture3DHeight = 25
    cudaDevAttrMaxTexture3DDepth = 26
    cudaDevAttrMaxTexture2DLayeredWidth = 27
    cudaDevAttrMaxTexture2DLayeredHeight = 28
    cudaDevAttrMaxTexture2DLayeredLayers = 29
    cudaDevAttrSurfaceAlignment = 30
    cudaDevAttrConcurrentKernels = 31
    cudaDevAttrEccEnabled = 32
    cudaDevAttrPciBusId = 33
    cudaDevAttrPciDeviceId = 34
    cudaDevAttrTccDriver = 35
    cudaDevAttrMemoryClockRate = 36
    cudaDevAttrGlobalMemoryBusWidth = 37
    cudaDevAttrL2CacheSize = 38
    cudaDevAttrMaxThreadsPerMultiProcessor = 39
    cudaDevAttrAsyncEngineCount = 40
    cudaDevAttrUnifiedAddressing = 41
    cudaDevAttrMaxTexture1DLayeredWidth = 42
    cudaDevAttrMaxTexture1DLayeredLayers = 43
    cudaDevAttrMaxTexture2DGatherWidth = 45
    cudaDevAttrMaxTexture2DGatherHeight = 46
    cudaDevAttrMaxTexture3DWidthAlt = 47
    cudaDevAttrMaxTexture3DHeightAlt = 48
    cudaDevAttrMaxTexture3DDepthAlt = 49
    cudaDevAttrPciDomainId = 50
    cudaDevAttrTexturePitchAlignment = 51
    cudaDevAttrMaxTextureCubemapWidth = 52
    cudaDevAttrMaxTextureCubemapLayeredWidth = 53
    cudaDevAttrMaxTextureCubemapLayeredLayers = 54
    cudaDevAttrMaxSurface1DWidth = 55
    cudaDevAttrMaxSurface2DWidth = 56
    cudaDevAttrMaxSurface2DHeight = 57
    cudaDevAttrMaxSurface3DWidth = 58
    cudaDevAttrMaxSurface3DHeight = 59
    cudaDevAttrMaxSurface3DDepth = 60
    cudaDevAttrMaxSurface1DLayeredWidth = 61
    cudaDevAttrMaxSurface1DLayeredLayers = 62
    cudaDevAttrMaxSurface2DLayeredWidth = 63
    cudaDevAttrMaxSurface2DLayeredHeight = 64
    cudaDevAttrMaxSurface2DLayeredLayers = 65
    cudaDevAttrMaxSurfaceCubemapWidth = 66
    cudaDevAttrMaxSurfaceCubemapLayeredWidth = 67
    cudaDevAttrMaxSurfaceCubemapLayeredLayers = 68
    cudaDevAttrMaxTexture1DLinearWidth = 69
    cudaDevAttrMaxTexture2DLinearWidth = 70
    cudaDevAttrMaxTexture2DLinearHeight = 71
    cudaDevAttrMaxTexture2DLinearPitch = 72
    cudaDevAttrMaxTexture2DMipmappedWidth = 73
    cudaDevAttrMaxTexture2DMipmappedHeight = 74
    cudaDevAttrComputeCapabilityMajor = 75
    cudaDevAttrComputeCapabilityMinor = 76
    cudaDevAttrMaxTexture1DMipmappedWidth = 77
    cudaDevAttrStreamPrioritiesSupported = 78
    cudaDevAttrGlobalL1CacheSupported = 79
    cudaDevAttrLocalL1CacheSupported = 80
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81
    cudaDevAttrMaxRegistersPerMultiprocessor = 82
    cudaDevAttrManagedMemory = 83
    cudaDevAttrIsMultiGpuBoard = 84
    cudaDevAttrMultiGpuBoardGroupID = 85
    cudaDevAttrHostNativeAtomicSupported = 86
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87
    cudaDevAttrPageableMemoryAccess = 88
    cudaDevAttrConcurrentManagedAccess = 89
    cudaDevAttrComputePreemptionSupported = 90
    cudaDevAttrCanUseHostPointerForRegisteredMem = 91
    cudaDevAttrReserved92 = 92
    cudaDevAttrReserved93 = 93
    cudaDevAttrReserved94 = 94
    cudaDevAttrCooperativeLaunch = 95
    cudaDevAttrReserved96 = 96
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
    cudaDevAttrCanFlushRemoteWrites = 98
    cudaDevAttrHostRegisterSupported = 99
    cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100
    cudaDevAttrDirectManagedMemAccessFromHost = 101
    cudaDevAttrMaxBlocksPerMultiprocessor = 106
    cudaDevAttrMaxPersistingL2CacheSize = 108
    cudaDevAttrMaxAccessPolicyWindowSize = 109
    cudaDevAttrReservedSharedMemoryPerBlock = 111
    cudaDevAttrSparseCudaArraySupported = 112
    cudaDevAttrHostRegisterReadOnlySupported = 113
    cudaDevAttrTimelineSemaphoreInteropSupported = 114
    cudaDevAttrMemoryPoolsSupported = 115
    cudaDevAttrGPUDirectRDMASupported = 116
    cudaDevAttrGPUDirectRDMAFlushWritesOptions = 117
    cudaDevAttrGPUDirectRDMAWritesOrdering = 118
    cudaDevAttrMemoryPoolSupportedHandleTypes = 119
    cudaDevAttrClusterLaunch = 120
    cudaDevAttrDeferredMappingCudaArraySupported = 121
    cudaDevAttrReserved122 = 122
    cudaDevAttrReserved123 = 123
    cudaDevAttrReserved124 = 124
    cudaDevAttrIpcEventSupport = 125
    cudaDevAttrMemSyncDomainCount = 126
    cudaDevAttrReserved127 = 127
    cudaDevAttrReserved128 = 128
    cudaDevAttrReserved129 = 129
    cudaDevAttrNumaConfig = 130
    cudaDevAttrNumaId = 131
    cudaDevAttrReserved132 = 132
    cudaDevAttrMpsEnabled = 133
    cudaDevAttrHostNumaId = 134
    cudaDevAttrD3D12CigSupported = 135
    cudaDevAttrVulkanCigSupported = 138
    cudaDevAttrGpuPciDeviceId = 139
    cudaDevAttrGpuPciSubsystemId = 140
    cudaDevAttrReserved141 = 141
    cudaDevAttrHostNumaMemoryPoolsSupported = 142
    cudaDevAttrHostNumaMultinodeIpcSupported = 143
    cudaDevAttrHostMemoryPoolsSupported = 144
    cudaDevAttrReserved145 = 145
    cudaDevAttrOnlyPartialHostNativeAtomicSupported = 147
    cudaDevAttrAtomicReductionSupported = 148
    cudaDevAttrLocalityDomainCount = 149
    cudaDevAttrOversizedSharedMemoryPerBlock = 150
    cudaDevAttrCigStreamsSupported = 151
    cudaDevAttrLocalityDomainMultiprocessorCount = 157
    cudaDevAttrTensorMapLargeTensorMinSize = 160
    cudaDevAttrMax = 161

class cudaDeviceNumaConfig(IntEnum):
    cudaDeviceNumaConfigNone = 0
    cudaDeviceNumaConfigNumaNode = 1

class cudaDeviceP2PAttr(IntEnum):
    cudaDevP2PAttrPerformanceRank = 1
    cudaDevP2PAttrAccessSupported = 2
    cudaDevP2PAttrNativeAtomicSupported = 3
    cudaDevP2PAttrCudaArrayAccessSupported = 4
    cudaDevP2PAttrOnlyPartialNativeAtomicSupported = 5

class cudaDeviceProp(Struct):
    name: Field[bytes]
    uuid: Field[cudaUUID_t]
    luid: Field[bytes]
    luidDeviceNodeMask: Field[int]
    totalGlobalMem: Field[int]
    sharedMemPerBlock: Field[int]
    regsPerBlock: Field[int]
    warpSize: Field[int]
    memPitch: Field[int]
    maxThreadsPerBlock: Field[int]
    maxThreadsDim: Field[list[int]]
    maxGridSize: Field[list[int]]
    totalConstMem: Field[int]
    major: Field[int]
    minor: Field[int]
    textureAlignment: Field[int]
    texturePitchAlignment: Field[int]
    multiProcessorCount: Field[int]
    integrated: Field[int]
    canMapHostMemory: Field[int]
    maxTexture1D: Field[int]
    maxTexture1DMipmap: Field[int]
    maxTexture2D: Field[list[int]]
    maxTexture2DMipmap: Field[list[int]]
    maxTexture2DLinear: Field[list[int]]
    maxTexture2DGather: Field[list[int]]
    maxTexture3D: Field[list[int]]
    maxTexture3DAlt: Field[list[int]]
    maxTextureCubemap: Field[int]
    maxTexture1DLayered: Field[list[int]]
    maxTexture2DLayered: Field[list[int]]
    maxTextureCubemapLayered: Field[list[int]]
    maxSurface1D: Field[int]
    maxSurface2D: Field[list[int]]
    maxSurface3D: Field[list[int]]
    maxSurface1DLayered: Field[list[int]]
    maxSurface2DLayered: Field[list[int]]
    maxSurfaceCubemap: Field[int]
    maxSurfaceCubemapLayered: Field[list[int]]
    surfaceAlignment: Field[int]
    concurrentKernels: Field[int]
    ECCEnabled: Field[int]
    pciBusID: Field[int]
    pciDeviceID: Field[int]
    pciDomainID: Field[int]
    tccDriver: Field[int]
    asyncEngineCount: Field[int]
    unifiedAddressing: Field[int]
    memoryBusWidth: Field[int]
    l2CacheSize: Field[int]
    persistingL2CacheMaxSize: Field[int]
    maxThreadsPerMultiProcessor: Field[int]
    streamPrioritiesSupported: Field[int]
    globalL1CacheSupported: Field[int]
    localL1CacheSupported: Field[int]
    sharedMemPerMultiprocessor: Field[int]
    regsPerMultiprocessor: Field[int]
    managedMemory: Field[int]
    isMultiGpuBoard: Field[int]
    multiGpuBoardGroupID: Field[int]
    hostNativeAtomicSupported: Field[int]
    pageableMemoryAccess: Field[int]
    concurrentManagedAccess: Field[int]
    computePreemptionSupported: Field[int]
    canUseHostPointerForRegisteredMem: Field[int]
    cooperativeLaunch: Field[int]
    sharedMemPerBlockOptin: Field[int]
    pageableMemoryAccessUsesHostPageTables: Field[int]
    directManagedMemAccessFromHost: Field[int]
    maxBlocksPerMultiProcessor: Field[int]
    accessPolicyMaxWindowSize: Field[int]
    reservedSharedMemPerBlock: Field[int]
    hostRegisterSupported: Field[int]
    sparseCudaArraySupported: Field[int]
    hostRegisterReadOnlySupported: Field[int]
    timelineSemaphoreInteropSupported: Field[int]
    memoryPoolsSupported: Field[int]
    gpuDirectRDMASupported: Field[int]
    gpuDirectRDMAFlushWritesOptions: Field[int]
    gpuDirectRDMAWritesOrdering: Field[int]
    memoryPoolSupportedHandleTypes: Field[int]
    deferredMappingCudaArraySupported: Field[int]
    ipcEventSupported: Field[int]
    clusterLaunch: Field[int]
    unifiedFunctionPointers: Field[int]
    deviceNumaConfig: Field[int]
    deviceNumaId: Field[int]
    mpsEnabled: Field[int]
    hostNumaId: Field[int]
    gpuPciDeviceID: Field[int]
    gpuPciSubsystemID: Field[int]
    hostNumaMultinodeIpcSupported: Field[int]
    reserved: Field[list[int]]

class cudaDriverEntryPointQueryResult(IntEnum):
    cudaDriverEntryPointSuccess = 0
    cudaDriverEntryPointSymbolNotFound = 1
    cudaDriverEntryPointVersionNotSufficent = 2

class cudaEglColorFormat(IntEnum):
    cudaEglColorFormatYUV420Planar = 0
    cudaEglColorFormatYUV420SemiPlanar = 1
    cudaEglColorFormatYUV422Planar = 2
    cudaEglColorFormatYUV422SemiPlanar = 3
    cudaEglColorFormatARGB = 6
    cudaEglColorFormatRGBA = 7
    cudaEglColorFormatL = 8
    cudaEglColorFormatR = 9
    cudaEglColorFormatYUV444Planar = 10
    cudaEglColorFormatYUV444SemiPlanar = 11
    cudaEglColorFormatYUYV422 = 12
    cudaEglColorFormatUYVY422 = 13
    cudaEglColorFormatABGR = 14
    cudaEglColorFormatBGRA = 15
    cudaEglColorFormatA = 16
    cudaEglColorFormatRG = 17
    cudaEglColorFormatAYUV = 18
    cudaEglColorFormatYVU444SemiPlanar = 19
    cudaEglColorFormatYVU422SemiPlanar = 20
    cudaEglColorFormatYVU420SemiPlanar = 21
    cudaEglColorFormatY10V10U10_444SemiPlanar = 22
    cudaEglColorFormatY10V10U10_420SemiPlanar = 23
    cudaEglColorFormatY12V12U12_444SemiPlanar = 24
    cudaEglColorFormatY12V12U12_420SemiPlanar = 25
    cudaEglColorFormatVYUY_ER = 26
    cudaEglColorFormatUYVY_ER = 27
    cudaEglColorFormatYUYV_ER = 28
    cudaEglColorFormatYVYU_ER = 29
    cudaEglColorFormatYUVA_ER = 31
    cudaEglColorFormatAYUV_ER = 32
    cudaEglColorFormatYUV444Planar_ER = 33
    cudaEglColorFormatYUV422Planar_ER = 34
    cudaEglColorFormatYUV420Planar_ER = 35
    cudaEglColorFormatYUV444SemiPlanar_ER = 36
    cudaEglColorFormatYUV422SemiPlanar_ER = 37
    cudaEglColorFormatYUV420SemiPlanar_ER = 38
    cudaEglColorFormatYVU444Planar_ER = 39
    cudaEglColorFormatYVU422Planar_ER = 40
    cudaEglColorFormatYVU420Planar_ER = 41
    cudaEglColorFormatYVU444SemiPlanar_ER = 42
    cudaEglColorFormatYVU422SemiPlanar_ER = 43
    cudaEglColorFormatYVU420SemiPlanar_ER = 44
    cudaEglColorFormatBayerRGGB = 45
    cudaEglColorFormatBayerBGGR = 46
    cudaEglColorFormatBayerGRBG = 47
    cudaEglColorFormatBayerGBRG = 48
    cudaEglColorFormatBayer10RGGB = 49
    cudaEglColorFormatBayer10BGGR = 50
    cudaEglColorFormatBayer10GRBG = 51
    cudaEglColorFormatBayer10GBRG = 52
    cudaEglColorFormatBayer12RGGB = 53
    cudaEglColorFormatBayer12BGGR = 54
    cudaEglColorFormatBayer12GRBG = 55
    cudaEglColorFormatBayer12GBRG = 56
    cudaEglColorFormatBayer14RGGB = 57
    cudaEglColorFormatBayer14BGGR = 58
    cudaEglColorFormatBayer14GRBG = 59
    cudaEglColorFormatBayer14GBRG = 60
    cudaEglColorFormatBayer20RGGB = 61
    cudaEglColorFormatBayer20BGGR = 62
    cudaEglColorFormatBayer20GRBG = 63
    cudaEglColorFormatBayer20GBRG = 64
    cudaEglColorFormatYVU444Planar = 65
    cudaEglColorFormatYVU422Planar = 66
    cudaEglColorFormatYVU420Planar = 67
    cudaEglColorFormatBayerIspRGGB = 68
    cudaEglColorFormatBayerIspBGGR = 69
    cudaEglColorFormatBayerIspGRBG = 70
    cudaEglColorFormatBayerIspGBRG = 71
    cudaEglColorFormatBayerBCCR = 72
    cudaEglColorFormatBayerRCCB = 73
    cudaEglColorFormatBayerCRBC = 74
    cudaEglColorFormatBayerCBRC = 75
    cudaEglColorFormatBayer10CCCC = 76
    cudaEglColorFormatBayer12BCCR = 77
    cudaEglColorFormatBayer12RCCB = 78
    cudaEglColorFormatBayer12CRBC = 79
    cudaEglColorFormatBayer12CBRC = 80
    cudaEglColorFormatBayer12CCCC = 81
    cudaEglColorFormatY = 82
    cudaEglColorFormatYUV420SemiPlanar_2020 = 83
    cudaEglColorFormatYVU420SemiPlanar_2020 = 84
    cudaEglColorFormatYUV420Planar_2020 = 85
    cudaEglColorFormatYVU420Planar_2020 = 86
    cudaEglColorFormatYUV420SemiPlanar_709 = 87
    cudaEglColorFormatYVU420SemiPlanar_709 = 88
    cudaEglColorFormatYUV420Planar_709 = 89
    cudaEglColorFormatYVU420Planar_709 = 90
    cudaEglColorFormatY10V10U10_420SemiPlanar_709 = 91
    cudaEglColorFormatY10V10U10_420SemiPlanar_2020 = 92
    cudaEglColorFormatY10V10U10_422SemiPlanar_2020 = 93
    cudaEglColorFormatY10V10U10_422SemiPlanar = 94
    cudaEglColorFormatY10V10U10_422SemiPlanar_709 = 95
    cudaEglColorFormatY_ER = 96
    cudaEglColorFormatY_709_ER = 97
    cudaEglColorFormatY10_ER = 98
    cudaEglColorFormatY10_709_ER = 99
    cudaEglColorFormatY12_ER = 100
    cudaEglColorFormatY12_709_ER = 101
    cudaEglColorFormatYUVA = 102
    cudaEglColorFormatYVYU = 104
    cudaEglColorFormatVYUY = 105
    cudaEglColorFormatY10V10U10_420SemiPlanar_ER = 106
    cudaEglColorFormatY10V10U10_420SemiPlanar_709_ER = 107
    cudaEglColorFormatY10V10U10_444SemiPlanar_ER = 108
    cudaEglColorFormatY10V10U10_444SemiPlanar_709_ER = 109
    cudaEglColorFormatY12V12U12_420SemiPlanar_ER = 110
    cudaEglColorFormatY12V12U12_420SemiPlanar_709_ER = 111
    cudaEglColorFormatY12V12U12_444SemiPlanar_ER = 112
    cudaEglColorFormatY12V12U12_444SemiPlanar_709_ER = 113
    cudaEglColorFormatUYVY709 = 114
    cudaEglColorFormatUYVY709_ER = 115
    cudaEglColorFormatUYVY2020 = 116

class cudaEglFrameType(IntEnum):
    cudaEglFrameTypeArray = 0
    cudaEglFrameTypePitch = 1

class cudaEglResourceLocationFlags(IntEnum):
    cudaEglResourceLocationSysmem = 0
    cudaEglResourceLocationVidmem = 1

class cudaEmulationMantissaControl(IntEnum):
    CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC = 0
    CUDA_EMULATION_MANTISSA_CONTROL_FIXED = 1

class cudaEmulationSpecialValuesSupport(IntEnum):
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NONE = 0
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_INFINITY = 1
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_NAN = 2
    CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT = 65535

class cudaEmulationStrategy(IntEnum):
    CUDA_EMULATION_STRATEGY_DEFAULT = 0
    CUDA_EMULATION_STRATEGY_PERFORMANT = 1
    CUDA_EMULATION_STRATEGY_EAGER = 2

class cudaError_t(IntEnum):
    cudaSuccess = 0
    cudaErrorInvalidValue = 1
    cudaErrorMemoryAllocation = 2
    cudaErrorInitializationError = 3
    cudaErrorCudartUnloading = 4
    cudaErrorProfilerDisabled = 5
    cudaErrorProfilerNotInitialized = 6
    cudaErrorProfilerAlreadyStarted = 7
    cudaErrorProfilerAlreadyStopped = 8
    cudaErrorInvalidConfiguration = 9
    cudaErrorVersionTranslation = 10
    cudaErrorInvalidPitchValue = 12
    cudaErrorInvalidSymbol = 13
    cudaErrorInvalidHostPointer = 16
    cudaErrorInvalidDevicePointer = 17
    cudaErrorInvalidTexture = 18
    cudaErrorInvalidTextureBinding = 19
    cudaErrorInvalidChannelDescriptor = 20
    cudaErrorInvalidMemcpyDirection = 21
    cudaErrorAddressOfConstant = 22
    cudaErrorTextureFetchFailed = 23
    cudaErrorTextureNotBound = 24
    cudaErrorSynchronizationError = 25
    cudaErrorInvalidFilterSetting = 26
    cudaErrorInvalidNormSetting = 27
    cudaErrorMixedDeviceExecution = 28
    cudaErrorNotYetImplemented = 31
    cudaErrorMemoryValueTooLarge = 32
    cudaErrorStubLibrary = 34
    cudaErrorInsufficientDriver = 35
    cudaErrorCallRequiresNewerDriver = 36
    cudaErrorInvalidSurface = 37
    cudaErrorDuplicateVariableName = 43
    cudaErrorDuplicateTextureName = 44
    cudaErrorDuplicateSurfaceName = 45
    cudaErrorDevicesUnavailable = 46
    cudaErrorIncompatibleDriverContext = 49
    cudaErrorMissingConfiguration = 52
    cudaErrorPriorLaunchFailure = 53
    cudaErrorLaunchMaxDepthExceeded = 65
    cudaErrorLaunchFileScopedTex = 66
    cudaErrorLaunchFileScopedSurf = 67
    cudaErrorSyncDepthExceeded = 68
    cudaErrorLaunchPendingCountExceeded = 69
    cudaErrorInvalidDeviceFunction = 98
    cudaErrorNoDevice = 100
    cudaErrorInvalidDevice = 101
    cudaErrorDeviceNotLicensed = 102
    cudaErrorSoftwareValidityNotEstablished = 103
    cudaErrorStartupFailure = 127
    cudaErrorInvalidKernelImage = 200
    cudaErrorDeviceUninitialized = 201
    cudaErrorMapBufferObjectFailed = 205
    cudaErrorUnmapBufferObjectFailed = 206
    cudaErrorArrayIsMapped = 207
    cudaErrorAlreadyMapped = 208
    cudaErrorNoKernelImageForDevice = 209
    cudaErrorAlreadyAcquired = 210
    cudaErrorNotMapped = 211
    cudaErrorNotMappedAsArray = 212
    cudaErrorNotMappedAsPointer = 213
    cudaErrorECCUncorrectable = 214
    cudaErrorUnsupportedLimit = 215
    cudaErrorDeviceAlreadyInUse = 216
    cudaErrorPeerAccessUnsupported = 217
    cudaErrorInvalidPtx = 218
    cudaErrorInvalidGraphicsContext = 219
    cudaErrorNvlinkUncorrectable = 220
    cudaErrorJitCompilerNotFound = 221
    cudaErrorUnsupportedPtxVersion = 222
    cudaErrorJitCompilationDisabled = 223
    cudaErrorUnsupportedExecAffinity = 224
    cudaErrorUnsupportedDevSideSync = 225
    cudaErrorContained = 226
    cudaErrorInsufficientLoaderVersion = 227
    cudaErrorInvalidSource = 300
    cudaErrorFileNotFound = 301
    cudaErrorSharedObjectSymbolNotFound = 302
    cudaErrorSharedObjectInitFailed = 303
    cudaErrorOperatingSystem = 304
    cudaErrorInvalidResourceHandle = 400
    cudaErrorIllegalState = 401
    cudaErrorLossyQuery = 402
    cudaErrorSymbolNotFound = 500
    cudaErrorNotReady = 600
    cudaErrorIllegalAddress = 700
    cudaErrorLaunchOutOfResources = 701
    cudaErrorLaunchTimeout = 702
    cudaErrorLaunchIncompatibleTexturing = 703
    cudaErrorPeerAccessAlreadyEnabled = 704
    cudaErrorPeerAccessNotEnabled = 705
    cudaErrorSetOnActiveProcess = 708
    cudaErrorContextIsDestroyed = 709
    cudaErrorAssert = 710
    cudaErrorTooManyPeers = 711
    cudaErrorHostMemoryAlreadyRegistered = 712
    cudaErrorHostMemoryNotRegistered = 713
    cudaErrorHardwareStackError = 714
    cudaErrorIllegalInstruction = 715
    cudaErrorMisalignedAddress = 716
    cudaErrorInvalidAddressSpace = 717
    cudaErrorInvalidPc = 718
    cudaErrorLaunchFailure = 719
    cudaErrorCooperativeLaunchTooLarge = 720
    cudaErrorTensorMemoryLeak = 721
    cudaErrorNotPermitted = 800
    cudaErrorNotSupported = 801
    cudaErrorSystemNotReady = 802
    cudaErrorSystemDriverMismatch = 803
    cudaErrorCompatNotSupportedOnDevice = 804
    cudaErrorMpsConnectionFailed = 805
    cudaErrorMpsRpcFailure = 806
    cudaErrorMpsServerNotReady = 807
    cudaErrorMpsMaxClientsReached = 808
    cudaErrorMpsMaxConnectionsReached = 809
    cudaErrorMpsClientTerminated = 810
    cudaErrorCdpNotSupported = 811
    cudaErrorCdpVersionMismatch = 812
    cudaErrorStreamCaptureUnsupported = 900
    cudaErrorStreamCaptureInvalidated = 901
    cudaErrorStreamCaptureMerge = 902
    cudaErrorStreamCaptureUnmatched = 903
    cudaErrorStreamCaptureUnjoined = 904
    cudaErrorStreamCaptureIsolation = 905
    cudaErrorStreamCaptureImplicit = 906
    cudaErrorCapturedEvent = 907
    cudaErrorStreamCaptureWrongThread = 908
    cudaErrorTimeout = 909
    cudaErrorGraphExecUpdateFailure = 910
    cudaErrorExternalDevice = 911
    cudaErrorInvalidClusterSize = 912
    cudaErrorFunctionNotLoaded = 913
    cudaErrorInvalidResourceType = 914
    cudaErrorInvalidResourceConfiguration = 915
    cudaErrorStreamDetached = 917
    cudaErrorGraphRecaptureFailure = 918
    cudaErrorFabricNotReady = 919
    cudaErrorUnknown = 999
    cudaErrorApiFailureBase = 10000

class cudaEvent_t(Handle): ...
class cudaExecutionContext_t(Handle): ...
class cudaExtent(Struct):
    width: Field[int]
    height: Field[int]
    depth: Field[int]

class cudaExternalMemoryHandleType(IntEnum):
    cudaExternalMemoryHandleTypeOpaqueFd = 1
    cudaExternalMemoryHandleTypeOpaqueWin32 = 2
    cudaExternalMemoryHandleTypeOpaqueWin32Kmt = 3
    cudaExternalMemoryHandleTypeD3D12Heap = 4
    cudaExternalMemoryHandleTypeD3D12Resource = 5
    cudaExternalMemoryHandleTypeD3D11Resource = 6
    cudaExternalMemoryHandleTypeD3D11ResourceKmt = 7
    cudaExternalMemoryHandleTypeNvSciBuf = 8

class cudaExternalMemory_t(Handle): ...
class cudaExternalSemaphoreHandleType(IntEnum):
    cudaExternalSemaphoreHandleTypeOpaqueFd = 1
    cudaExternalSemaphoreHandleTypeOpaqueWin32 = 2
    cudaExternalSemaphoreHandleTypeOpaqueWin32Kmt = 3
    cudaExternalSemaphoreHandleTypeD3D12Fence = 4
    cudaExternalSemaphoreHandleTypeD3D11Fence = 5
    cudaExternalSemaphoreHandleTypeNvSciSync = 6
    cudaExternalSemaphoreHandleTypeKeyedMutex = 7
    cudaExternalSemaphoreHandleTypeKeyedMutexKmt = 8
    cudaExternalSemaphoreHandleTypeTimelineSemaphoreFd = 9
    cudaExternalSemaphoreHandleTypeTimelineSemaphoreWin32 = 10

class cudaExternalSemaphore_t(Handle): ...
class cudaFabricOpStatusInfo(IntEnum):
    cudaFabricOpStatusInfoSuccess = 0
    cudaFabricOpStatusInfoLast = 0
    cudaFabricOpStatusInfoMax = 2147483647

class cudaFabricOpStatusSource(IntEnum):
    cudaFabricOpStatusSourceMbarrierV1 = 0
    cudaFabricOpStatusSourceMax = 2147483647

class cudaFlushGPUDirectRDMAWritesOptions(IntEnum):
    cudaFlushGPUDirectRDMAWritesOptionHost = 1
    cudaFlushGPUDirectRDMAWritesOptionMemOps = 2

class cudaFlushGPUDirectRDMAWritesScope(IntEnum):
    cudaFlushGPUDirectRDMAWritesToOwner = 100
    cudaFlushGPUDirectRDMAWritesToAllDevices = 200

class cudaFlushGPUDirectRDMAWritesTarget(IntEnum):
    cudaFlushGPUDirectRDMAWritesTargetCurrentDevice = 0

class cudaFuncAttribute(IntEnum):
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
    cudaFuncAttributeClusterDimMustBeSet = 10
    cudaFuncAttributeRequiredClusterWidth = 11
    cudaFuncAttributeRequiredClusterHeight = 12
    cudaFuncAttributeRequiredClusterDepth = 13
    cudaFuncAttributeNonPortableClusterSizeAllowed = 14
    cudaFuncAttributeClusterSchedulingPolicyPreference = 15
    cudaFuncAttributeSharedMemoryMode = 16
    cudaFuncAttributeMax = 17

class cudaFuncAttributes(Struct):
    sharedSizeBytes: Field[int]
    constSizeBytes: Field[int]
    localSizeBytes: Field[int]
    maxThreadsPerBlock: Field[int]
    numRegs: Field[int]
    ptxVersion: Field[int]
    binaryVersion: Field[int]
    cacheModeCA: Field[int]
    maxDynamicSharedSizeBytes: Field[int]
    preferredShmemCarveout: Field[int]
    clusterDimMustBeSet: Field[int]
    requiredClusterWidth: Field[int]
    requiredClusterHeight: Field[int]
    requiredClusterDepth: Field[int]
    clusterSchedulingPolicyPreference: Field[int]
    nonPortableClusterSizeAllowed: Field[int]
    deviceNodeUpdateStatus: Field[int]
    sharedMemoryMode: Field[cudaSharedMemoryMode]
    reserved: Field[list[int]]

class cudaFuncCache(IntEnum):
    cudaFuncCachePreferNone = 0
    cudaFuncCachePreferShared = 1
    cudaFuncCachePreferL1 = 2
    cudaFuncCachePreferEqual = 3

class cudaFunction_t(Handle): ...
class cudaGLDeviceList(IntEnum):
    cudaGLDeviceListAll = 1
    cudaGLDeviceListCurrentFrame = 2
    cudaGLDeviceListNextFrame = 3

class cudaGLMapFlags(IntEnum):
    cudaGLMapFlagsNone = 0
    cudaGLMapFlagsReadOnly = 1
    cudaGLMapFlagsWriteDiscard = 2

class cudaGPUDirectRDMAWritesOrdering(IntEnum):
    cudaGPUDirectRDMAWritesOrderingNone = 0
    cudaGPUDirectRDMAWritesOrderingOwner = 100
    cudaGPUDirectRDMAWritesOrderingAllDevices = 200

class cudaGetDriverEntryPointFlags(IntEnum):
    cudaEnableDefault = 0
    cudaEnableLegacyStream = 1
    cudaEnablePerThreadDefaultStream = 2

class cudaGraphChildGraphNodeOwnership(IntEnum):
    cudaGraphChildGraphOwnershipInvalid = -1
    cudaGraphChildGraphOwnershipClone = 0
    cudaGraphChildGraphOwnershipMove = 1

class cudaGraphConditionalHandle(NumberHandle): ...
class cudaGraphConditionalHandleFlags(IntEnum):
    cudaGraphCondAssignDefault = 1

class cudaGraphConditionalNodeType(IntEnum):
    cudaGraphCondTypeIf = 0
    cudaGraphCondTypeWhile = 1
    cudaGraphCondTypeSwitch = 2

class cudaGraphDebugDotFlags(IntEnum):
    cudaGraphDebugDotFlagsVerbose = 1
    cudaGraphDebugDotFlagsKernelNodeParams = 4
    cudaGraphDebugDotFlagsMemcpyNodeParams = 8
    cudaGraphDebugDotFlagsMemsetNodeParams = 16
    cudaGraphDebugDotFlagsHostNodeParams = 32
    cudaGraphDebugDotFlagsEventNodeParams = 64
    cudaGraphDebugDotFlagsExtSemasSignalNodeParams = 128
    cudaGraphDebugDotFlagsExtSemasWaitNodeParams = 256
    cudaGraphDebugDotFlagsKernelNodeAttributes = 512
    cudaGraphDebugDotFlagsHandles = 1024
    cudaGraphDebugDotFlagsConditionalNodeParams = 32768
    cudaGraphDebugDotFlagsMemcpyBatchNodeParams = 65536

class cudaGraphDependencyType(IntEnum):
    cudaGraphDependencyTypeDefault = 0
    cudaGraphDependencyTypeProgrammatic = 1

class cudaGraphDeviceNode_t(Handle): ...
class cudaGraphEdgeData(Struct):
    from_port: Field[int]
    to_port: Field[int]
    type: Field[int]
    reserved: Field[list[int]]

cudaGraphEdgeData_st = cudaGraphEdgeData
class cudaGraphExecUpdateResult(IntEnum):
    cudaGraphExecUpdateSuccess = 0
    cudaGraphExecUpdateError = 1
    cudaGraphExecUpdateErrorTopologyChanged = 2
    cudaGraphExecUpdateErrorNodeTypeChanged = 3
    cudaGraphExecUpdateErrorFunctionChanged = 4
    cudaGraphExecUpdateErrorParametersChanged = 5
    cudaGraphExecUpdateErrorNotSupported = 6
    cudaGraphExecUpdateErrorUnsupportedFunctionChange = 7
    cudaGraphExecUpdateErrorAttributesChanged = 8

class cudaGraphExecUpdateResultInfo(Struct):
    result: Field[cudaGraphExecUpdateResult]
    errorNode: Field[cudaGraphNode_t]
    errorFromNode: Field[cudaGraphNode_t]

cudaGraphExecUpdateResultInfo_st = cudaGraphExecUpdateResultInfo
class cudaGraphExec_t(Handle): ...
class cudaGraphInstantiateFlags(IntEnum):
    cudaGraphInstantiateFlagAutoFreeOnLaunch = 1
    cudaGraphInstantiateFlagUpload = 2
    cudaGraphInstantiateFlagDeviceLaunch = 4
    cudaGraphInstantiateFlagUseNodePriority = 8

class cudaGraphInstantiateParams(Struct):
    flags: Field[int]
    uploadStream: Field[cudaStream_t]
    errNode_out: Field[cudaGraphNode_t]
    result_out: Field[cudaGraphInstantiateResult]

cudaGraphInstantiateParams_st = cudaGraphInstantiateParams
class cudaGraphInstantiateResult(IntEnum):
    cudaGraphInstantiateSuccess = 0
    cudaGraphInstantiateError = 1
    cudaGraphInstantiateInvalidStructure = 2
    cudaGraphInstantiateNodeOperationNotSupported = 3
    cudaGraphInstantiateMultipleDevicesNotSupported = 4
    cudaGraphInstantiateConditionalHandleUnused = 5

class cudaGraphKernelNodeField(IntEnum):
    cudaGraphKernelNodeFieldInvalid = 0
    cudaGraphKernelNodeFieldGridDim = 1
    cudaGraphKernelNodeFieldParam = 2
    cudaGraphKernelNodeFieldEnabled = 3

class cudaGraphMemAttributeType(IntEnum):
    cudaGraphMemAttrUsedMemCurrent = 0
    cudaGraphMemAttrUsedMemHigh = 1
    cudaGraphMemAttrReservedMemCurrent = 2
    cudaGraphMemAttrReservedMemHigh = 3

class cudaGraphNodeType(IntEnum):
    cudaGraphNodeTypeKernel = 0
    cudaGraphNodeTypeMemcpy = 1
    cudaGraphNodeTypeMemset = 2
    cudaGraphNodeTypeHost = 3
    cudaGraphNodeTypeGraph = 4
    cudaGraphNodeTypeEmpty = 5
    cudaGraphNodeTypeWaitEvent = 6
    cudaGraphNodeTypeEventRecord = 7
    cudaGraphNodeTypeExtSemaphoreSignal = 8
    cudaGraphNodeTypeExtSemaphoreWait = 9
    cudaGraphNodeTypeMemAlloc = 10
    cudaGraphNodeTypeMemFree = 11
    cudaGraphNodeTypeConditional = 13
    cudaGraphNodeTypeMemcpyBatch = 14
    cudaGraphNodeTypeReserved16 = 16
    cudaGraphNodeTypeExternalEngine = 17
    cudaGraphNodeTypeCount = 18

class cudaGraphNode_t(Handle): ...
class cudaGraphRecaptureStatus(IntEnum):
    cudaGraphRecaptureEligibleForUpdate = 0
    cudaGraphRecaptureIneligibleForUpdate = 1
    cudaGraphRecaptureError = 2

class cudaGraph_t(Handle): ...
class cudaGraphicsCubeFace(IntEnum):
    cudaGraphicsCubeFacePositiveX = 0
    cudaGraphicsCubeFaceNegativeX = 1
    cudaGraphicsCubeFacePositiveY = 2
    cudaGraphicsCubeFaceNegativeY = 3
    cudaGraphicsCubeFacePositiveZ = 4
    cudaGraphicsCubeFaceNegativeZ = 5

class cudaGraphicsMapFlags(IntEnum):
    cudaGraphicsMapFlagsNone = 0
    cudaGraphicsMapFlagsReadOnly = 1
    cudaGraphicsMapFlagsWriteDiscard = 2

class cudaGraphicsRegisterFlags(IntEnum):
    cudaGraphicsRegisterFlagsNone = 0
    cudaGraphicsRegisterFlagsReadOnly = 1
    cudaGraphicsRegisterFlagsWriteDiscard = 2
    cudaGraphicsRegisterFlagsSurfaceLoadStore = 4
    cudaGraphicsRegisterFlagsTextureGather = 8

class cudaHostFn_t(Handle): ...
class cudaHostNodeParams(Struct):
    fn: Field[cudaHostFn_t]
    userData: Field[int]

class cudaHostTaskSyncMode(IntEnum):
    cudaHostTaskBlocking = 0
    cudaHostTaskSpinWait = 1

cudaIpcEventHandle_st = cudaIpcEventHandle_t
class cudaIpcEventHandle_t(Struct):
    reserved: Field[bytes]

cudaIpcMemHandle_st = cudaIpcMemHandle_t
class cudaIpcMemHandle_t(Struct):
    reserved: Field[bytes]

class cudaJitOption(IntEnum):
    cudaJitMaxRegisters = 0
    cudaJitThreadsPerBlock = 1
    cudaJitWallTime = 2
    cudaJitInfoLogBuffer = 3
    cudaJitInfoLogBufferSizeBytes = 4
    cudaJitErrorLogBuffer = 5
    cudaJitErrorLogBufferSizeBytes = 6
    cudaJitOptimizationLevel = 7
    cudaJitFallbackStrategy = 10
    cudaJitGenerateDebugInfo = 11
    cudaJitLogVerbose = 12
    cudaJitGenerateLineInfo = 13
    cudaJitCacheMode = 14
    cudaJitPositionIndependentCode = 30
    cudaJitMinCtaPerSm = 31
    cudaJitMaxThreadsPerBlock = 32
    cudaJitOverrideDirectiveValues = 33

class cudaJit_CacheMode(IntEnum):
    cudaJitCacheOptionNone = 0
    cudaJitCacheOptionCG = 1
    cudaJitCacheOptionCA = 2

class cudaJit_Fallback(IntEnum):
    cudaPreferPtx = 0
    cudaPreferBinary = 1

class cudaKernelFunctionType(IntEnum):
    cudaKernelFunctionTypeUnspecified = 0
    cudaKernelFunctionTypeDeviceEntry = 1
    cudaKernelFunctionTypeKernel = 2
    cudaKernelFunctionTypeFunction = 3

class cudaKernelNodeAttrID(IntEnum):
    cudaLaunchAttributeIgnore = 0
    cudaLaunchAttributeAccessPolicyWindow = 1
    cudaLaunchAttributeCooperative = 2
    cudaLaunchAttributeSynchronizationPolicy = 3
    cudaLaunchAttributeClusterDimension = 4
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
    cudaLaunchAttributeProgrammaticEvent = 7
    cudaLaunchAttributePriority = 8
    cudaLaunchAttributeMemSyncDomainMap = 9
    cudaLaunchAttributeMemSyncDomain = 10
    cudaLaunchAttributePreferredClusterDimension = 11
    cudaLaunchAttributeLaunchCompletionEvent = 12
    cudaLaunchAttributeDeviceUpdatableKernelNode = 13
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14
    cudaLaunchAttributeNvlinkUtilCentricScheduling = 16
    cudaLaunchAttributePortableClusterSizeMode = 17
    cudaLaunchAttributeSharedMemoryMode = 18

cudaKernelNodeAttrValue = cudaLaunchAttributeValue
class cudaKernelNodeParams(Struct):
    func: Field[int]
    gridDim: Field[dim3]
    blockDim: Field[dim3]
    sharedMemBytes: Field[int]
    kernelParams: Field[int]
    extra: Field[int]

class cudaKernel_t(Handle): ...
class cudaLaunchAttribute(Struct):
    id: Field[cudaLaunchAttributeID]
    val: Field[cudaLaunchAttributeValue]

class cudaLaunchAttributeID(IntEnum):
    cudaLaunchAttributeIgnore = 0
    cudaLaunchAttributeAccessPolicyWindow = 1
    cudaLaunchAttributeCooperative = 2
    cudaLaunchAttributeSynchronizationPolicy = 3
    cudaLaunchAttributeClusterDimension = 4
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
    cudaLaunchAttributeProgrammaticEvent = 7
    cudaLaunchAttributePriority = 8
    cudaLaunchAttributeMemSyncDomainMap = 9
    cudaLaunchAttributeMemSyncDomain = 10
    cudaLaunchAttributePreferredClusterDimension = 11
    cudaLaunchAttributeLaunchCompletionEvent = 12
    cudaLaunchAttributeDeviceUpdatableKernelNode = 13
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14
    cudaLaunchAttributeNvlinkUtilCentricScheduling = 16
    cudaLaunchAttributePortableClusterSizeMode = 17
    cudaLaunchAttributeSharedMemoryMode = 18

class cudaLaunchAttributePortableClusterMode(IntEnum):
    cudaLaunchPortableClusterModeDefault = 0
    cudaLaunchPortableClusterModeRequirePortable = 1
    cudaLaunchPortableClusterModeAllowNonPortable = 2

class cudaLaunchAttributeValue(Union):
    pad: Field[bytes]
    accessPolicyWindow: Field[cudaAccessPolicyWindow]
    cooperative: Field[int]
    syncPolicy: Field[cudaSynchronizationPolicy]
    clusterDim: Field[cudaLaunchAttributeValue_clusterDim]
    clusterSchedulingPolicyPreference: Field[cudaClusterSchedulingPolicy]
    programmaticStreamSerializationAllowed: Field[int]
    programmaticEvent: Field[cudaLaunchAttributeValue_programmaticEvent]
    priority: Field[int]
    memSyncDomainMap: Field[cudaLaunchMemSyncDomainMap]
    memSyncDomain: Field[cudaLaunchMemSyncDomain]
    preferredClusterDim: Field[cudaLaunchAttributeValue_preferredClusterDim]
    launchCompletionEvent: Field[cudaLaunchAttributeValue_launchCompletionEvent]
    deviceUpdatableKernelNode: Field[cudaLaunchAttributeValue_deviceUpdatableKernelNode]
    sharedMemCarveout: Field[int]
    nvlinkUtilCentricScheduling: Field[int]
    portableClusterSizeMode: Field[cudaLaunchAttributePortableClusterMode]
    sharedMemoryMode: Field[cudaSharedMemoryMode]

class cudaLaunchAttributeValue_clusterDim(Struct):
    x: Field[int]
    y: Field[int]
    z: Field[int]

class cudaLaunchAttributeValue_deviceUpdatableKernelNode(Struct):
    deviceUpdatable: Field[int]
    devNode: Field[cudaGraphDeviceNode_t]

class cudaLaunchAttributeValue_launchCompletionEvent(Struct):
    event: Field[cudaEvent_t]
    flags: Field[int]

class cudaLaunchAttributeValue_preferredClusterDim(Struct):
    x: Field[int]
    y: Field[int]
    z: Field[int]

class cudaLaunchAttributeValue_programmaticEvent(Struct):
    event: Field[cudaEvent_t]
    flags: Field[int]
    triggerAtBlockStart: Field[int]

cudaLaunchAttribute_st = cudaLaunchAttribute
class cudaLaunchConfig_t(Struct):
    gridDim: Field[dim3]
    blockDim: Field[dim3]
    dynamicSmemBytes: Field[int]
    stream: Field[cudaStream_t]
    attrs: Field[list[cudaLaunchAttribute]]
    numAttrs: Field[int]

class cudaLaunchMemSyncDomain(IntEnum):
    cudaLaunchMemSyncDomainDefault = 0
    cudaLaunchMemSyncDomainRemote = 1

class cudaLaunchMemSyncDomainMap(Struct):
    default_: Field[int]
    remote: Field[int]

cudaLaunchMemSyncDomainMap_st = cudaLaunchMemSyncDomainMap
class cudaLibraryOption(IntEnum):
    cudaLibraryHostUniversalFunctionAndDataTable = 0
    cudaLibraryBinaryIsPreserved = 1

class cudaLibrary_t(Handle): ...
class cudaLimit(IntEnum):
    cudaLimitStackSize = 0
    cudaLimitPrintfFifoSize = 1
    cudaLimitMallocHeapSize = 2
    cudaLimitDevRuntimeSyncDepth = 3
    cudaLimitDevRuntimePendingLaunchCount = 4
    cudaLimitMaxL2FetchGranularity = 5
    cudaLimitPersistingL2CacheSize = 6
    cudaLimitPerBlockMemorySize = 10

class cudaLogIterator(NumberHandle): ...
class cudaLogLevel(IntEnum):
    cudaLogLevelError = 0
    cudaLogLevelWarning = 1

class cudaLogsCallbackHandle(Handle): ...
class cudaMemAccessDesc(Struct):
    location: Field[cudaMemLocation]
    flags: Field[cudaMemAccessFlags]

class cudaMemAccessFlags(IntEnum):
    cudaMemAccessFlagsProtNone = 0
    cudaMemAccessFlagsProtRead = 1
    cudaMemAccessFlagsProtReadWrite = 3

class cudaMemAllocNodeParams(Struct):
    poolProps: Field[cudaMemPoolProps]
    accessDescs: Field[list[cudaMemAccessDesc]]
    accessDescCount: Field[int]
    bytesize: Field[int]
    dptr: Field[int]

class cudaMemAllocationHandleType(IntEnum):
    cudaMemHandleTypeNone = 0
    cudaMemHandleTypePosixFileDescriptor = 1
    cudaMemHandleTypeWin32 = 2
    cudaMemHandleTypeWin32Kmt = 4
    cudaMemHandleTypeFabric = 8

class cudaMemAllocationType(IntEnum):
    cudaMemAllocationTypeInvalid = 0
    cudaMemAllocationTypePinned = 1
    cudaMemAllocationTypeManaged = 2
    cudaMemAllocationTypeMax = 2147483647

class cudaMemLocation(Struct):
    type: Field[cudaMemLocationType]
    id: Field[int]
    localized: Field[cudaMemLocation_localized]

class cudaMemLocationType(IntEnum):
    cudaMemLocationTypeInvalid = 0
    cudaMemLocationTypeNone = 0
    cudaMemLocationTypeDevice = 1
    cudaMemLocationTypeHost = 2
    cudaMemLocationTypeHostNuma = 3
    cudaMemLocationTypeHostNumaCurrent = 4
    cudaMemLocationTypeInvisible = 5
    cudaMemLocationTypeDeviceLocalityDomain = 6

class cudaMemLocation_localized(Struct):
    deviceId: Field[int]
    localityDomainId: Field[int]

class cudaMemPoolAttr(IntEnum):
    cudaMemPoolReuseFollowEventDependencies = 1
    cudaMemPoolReuseAllowOpportunistic = 2
    cudaMemPoolReuseAllowInternalDependencies = 3
    cudaMemPoolAttrReleaseThreshold = 4
    cudaMemPoolAttrReservedMemCurrent = 5
    cudaMemPoolAttrReservedMemHigh = 6
    cudaMemPoolAttrUsedMemCurrent = 7
    cudaMemPoolAttrUsedMemHigh = 8
    cudaMemPoolAttrAllocationType = 9
    cudaMemPoolAttrExportHandleTypes = 10
    cudaMemPoolAttrLocationId = 11
    cudaMemPoolAttrLocationType = 12
    cudaMemPoolAttrMaxPoolSize = 13
    cudaMemPoolAttrHwDecompressEnabled = 14
    cudaMemPoolAttrLocalityDomainId = 15

class cudaMemPoolProps(Struct):
    allocType: Field[cudaMemAllocationType]
    handleTypes: Field[cudaMemAllocationHandleType]
    location: Field[cudaMemLocation]
    win32SecurityAttributes: Field[int]
    maxSize: Field[int]
    usage: Field[int]
    reserved: Field[list[int]]
    reserved1: Field[int]

class cudaMemPoolPtrExportData(Struct):
    reserved: Field[list[int]]

class cudaMemPool_t(Handle): ...
class cudaMemRangeAttribute(IntEnum):
    cudaMemRangeAttributeReadMostly = 1
    cudaMemRangeAttributePreferredLocation = 2
    cudaMemRangeAttributeAccessedBy = 3
    cudaMemRangeAttributeLastPrefetchLocation = 4
    cudaMemRangeAttributePreferredLocationType = 5
    cudaMemRangeAttributePreferredLocationId = 6
    cudaMemRangeAttributeLastPrefetchLocationType = 7
    cudaMemRangeAttributeLastPrefetchLocationId = 8

class cudaMemcpy3DBatchOp(Struct):
    src: Field[cudaMemcpy3DOperand]
    dst: Field[cudaMemcpy3DOperand]
    extent: Field[cudaExtent]
    srcAccessOrder: Field[cudaMemcpySrcAccessOrder]
    flags: Field[int]

class cudaMemcpy3DOperand(Struct):
    type: Field[cudaMemcpy3DOperandType]
    op: Field[cudaMemcpy3DOperand_op]

class cudaMemcpy3DOperandType(IntEnum):
    cudaMemcpyOperandTypePointer = 1
    cudaMemcpyOperandTypeArray = 2
    cudaMemcpyOperandTypeMax = 2147483647

class cudaMemcpy3DOperand_op(Union):
    ptr: Field[cudaMemcpy3DOperand_op_ptr]
    array: Field[cudaMemcpy3DOperand_op_array]

class cudaMemcpy3DOperand_op_array(Struct):
    array: Field[cudaArray_t]
    offset: Field[cudaOffset3D]

class cudaMemcpy3DOperand_op_ptr(Struct):
    ptr: Field[int]
    rowLength: Field[int]
    layerHeight: Field[int]
    locHint: Field[cudaMemLocation]

class cudaMemcpy3DParms(Struct):
    srcArray: Field[cudaArray_t]
    srcPos: Field[cudaPos]
    srcPtr: Field[cudaPitchedPtr]
    dstArray: Field[cudaArray_t]
    dstPos: Field[cudaPos]
    dstPtr: Field[cudaPitchedPtr]
    extent: Field[cudaExtent]
    kind: Field[cudaMemcpyKind]

class cudaMemcpy3DPeerParms(Struct):
    srcArray: Field[cudaArray_t]
    srcPos: Field[cudaPos]
    srcPtr: Field[cudaPitchedPtr]
    srcDevice: Field[int]
    dstArray: Field[cudaArray_t]
    dstPos: Field[cudaPos]
    dstPtr: Field[cudaPitchedPtr]
    dstDevice: Field[int]
    extent: Field[cudaExtent]

class cudaMemcpyAttributes(Struct):
    srcAccessOrder: Field[cudaMemcpySrcAccessOrder]
    srcLocHint: Field[cudaMemLocation]
    dstLocHint: Field[cudaMemLocation]
    flags: Field[int]

class cudaMemcpyFlags(IntEnum):
    cudaMemcpyFlagDefault = 0
    cudaMemcpyFlagPreferOverlapWithCompute = 1

class cudaMemcpyKind(IntEnum):
    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4

class cudaMemcpySrcAccessOrder(IntEnum):
    cudaMemcpySrcAccessOrderInvalid = 0
    cudaMemcpySrcAccessOrderStream = 1
    cudaMemcpySrcAccessOrderDuringApiCall = 2
    cudaMemcpySrcAccessOrderAny = 3
    cudaMemcpySrcAccessOrderMax = 2147483647

class cudaMemoryAdvise(IntEnum):
    cudaMemAdviseSetReadMostly = 1
    cudaMemAdviseUnsetReadMostly = 2
    cudaMemAdviseSetPreferredLocation = 3
    cudaMemAdviseUnsetPreferredLocation = 4
    cudaMemAdviseSetAccessedBy = 5
    cudaMemAdviseUnsetAccessedBy = 6

class cudaMemoryType(IntEnum):
    cudaMemoryTypeUnregistered = 0
    cudaMemoryTypeHost = 1
    cudaMemoryTypeDevice = 2
    cudaMemoryTypeManaged = 3

class cudaMemsetParams(Struct):
    dst: Field[int]
    pitch: Field[int]
    value: Field[int]
    elementSize: Field[int]
    width: Field[int]
    height: Field[int]

class cudaMipmappedArray_t(Handle): ...
class cudaOffset3D(Struct):
    x: Field[int]
    y: Field[int]
    z: Field[int]

class cudaPitchedPtr(Struct):
    ptr: Field[int]
    pitch: Field[int]
    xsize: Field[int]
    ysize: Field[int]

class cudaPointerAttributes(Struct):
    type: Field[cudaMemoryType]
    device: Field[int]
    devicePointer: Field[int]
    hostPointer: Field[int]
    localityDomainOrdinal: Field[int]
    unused: Field[int]
    reserved: Field[list[int]]

class cudaPos(Struct):
    x: Field[int]
    y: Field[int]
    z: Field[int]

class cudaResourceDesc(Struct):
    resType: Field[cudaResourceType]
    res: Field[cudaResourceDesc_res]
    flags: Field[int]

class cudaResourceDesc_res(Union):
    array: Field[cudaResourceDesc_res_array]
    mipmap: Field[cudaResourceDesc_res_mipmap]
    linear: Field[cudaResourceDesc_res_linear]
    pitch2D: Field[cudaResourceDesc_res_pitch2D]
    reserved: Field[cudaResourceDesc_res_reserved]

class cudaResourceDesc_res_array(Struct):
    array: Field[cudaArray_t]

class cudaResourceDesc_res_linear(Struct):
    devPtr: Field[int]
    desc: Field[cudaChannelFormatDesc]
    sizeInBytes: Field[int]

class cudaResourceDesc_res_mipmap(Struct):
    mipmap: Field[cudaMipmappedArray_t]

class cudaResourceDesc_res_pitch2D(Struct):
    devPtr: Field[int]
    desc: Field[cudaChannelFormatDesc]
    width: Field[int]
    height: Field[int]
    pitchInBytes: Field[int]

class cudaResourceDesc_res_reserved(Struct):
    reserved: Field[list[int]]

class cudaResourceType(IntEnum):
    cudaResourceTypeArray = 0
    cudaResourceTypeMipmappedArray = 1
    cudaResourceTypeLinear = 2
    cudaResourceTypePitch2D = 3

class cudaResourceViewDesc(Struct):
    format: Field[cudaResourceViewFormat]
    width: Field[int]
    height: Field[int]
    depth: Field[int]
    firstMipmapLevel: Field[int]
    lastMipmapLevel: Field[int]
    firstLayer: Field[int]
    lastLayer: Field[int]
    reserved: Field[list[int]]

class cudaResourceViewFormat(IntEnum):
    cudaResViewFormatNone = 0
    cudaResViewFormatUnsignedChar1 = 1
    cudaResViewFormatUnsignedChar2 = 2
    cudaResViewFormatUnsignedChar4 = 3
    cudaResViewFormatSignedChar1 = 4
    cudaResViewFormatSignedChar2 = 5
    cudaResViewFormatSignedChar4 = 6
    cudaResViewFormatUnsignedShort1 = 7
    cudaResViewFormatUnsignedShort2 = 8
    cudaResViewFormatUnsignedShort4 = 9
    cudaResViewFormatSignedShort1 = 10
    cudaResViewFormatSignedShort2 = 11
    cudaResViewFormatSignedShort4 = 12
    cudaResViewFormatUnsignedInt1 = 13
    cudaResViewFormatUnsignedInt2 = 14
    cudaResViewFormatUnsignedInt4 = 15
    cudaResViewFormatSignedInt1 = 16
    cudaResViewFormatSignedInt2 = 17
    cudaResViewFormatSignedInt4 = 18
    cudaResViewFormatHalf1 = 19
    cudaResViewFormatHalf2 = 20
    cudaResViewFormatHalf4 = 21
    cudaResViewFormatFloat1 = 22
    cudaResViewFormatFloat2 = 23
    cudaResViewFormatFloat4 = 24
    cudaResViewFormatUnsignedBlockCompressed1 = 25
    cudaResViewFormatUnsignedBlockCompressed2 = 26
    cudaResViewFormatUnsignedBlockCompressed3 = 27
    cudaResViewFormatUnsignedBlockCompressed4 = 28
    cudaResViewFormatSignedBlockCompressed4 = 29
    cudaResViewFormatUnsignedBlockCompressed5 = 30
    cudaResViewFormatSignedBlockCompressed5 = 31
    cudaResViewFormatUnsignedBlockCompressed6H = 32
    cudaResViewFormatSignedBlockCompressed6H = 33
    cudaResViewFormatUnsignedBlockCompressed7 = 34

class cudaRoundMode(IntEnum):
    cudaRoundNearest = 0
    cudaRoundZero = 1
    cudaRoundPosInf = 2
    cudaRoundMinInf = 3

class cudaSharedCarveout(IntEnum):
    cudaSharedmemCarveoutDefault = -1
    cudaSharedmemCarveoutMaxL1 = 0
    cudaSharedmemCarveoutMaxShared = 100

class cudaSharedMemConfig(IntEnum):
    cudaSharedMemBankSizeDefault = 0
    cudaSharedMemBankSizeFourByte = 1
    cudaSharedMemBankSizeEightByte = 2

class cudaSharedMemoryMode(IntEnum):
    cudaSharedMemoryModeDefault = 0
    cudaSharedMemoryModeRequirePortable = 1
    cudaSharedMemoryModeAllowNonPortable = 2
    cudaSharedMemoryModeAllowOversizedSharedMemory = 3
    cudaSharedMemoryModePreferOversizedSharedMemory = 4

class cudaStreamAttrID(IntEnum):
    cudaLaunchAttributeIgnore = 0
    cudaLaunchAttributeAccessPolicyWindow = 1
    cudaLaunchAttributeCooperative = 2
    cudaLaunchAttributeSynchronizationPolicy = 3
    cudaLaunchAttributeClusterDimension = 4
    cudaLaunchAttributeClusterSchedulingPolicyPreference = 5
    cudaLaunchAttributeProgrammaticStreamSerialization = 6
    cudaLaunchAttributeProgrammaticEvent = 7
    cudaLaunchAttributePriority = 8
    cudaLaunchAttributeMemSyncDomainMap = 9
    cudaLaunchAttributeMemSyncDomain = 10
    cudaLaunchAttributePreferredClusterDimension = 11
    cudaLaunchAttributeLaunchCompletionEvent = 12
    cudaLaunchAttributeDeviceUpdatableKernelNode = 13
    cudaLaunchAttributePreferredSharedMemoryCarveout = 14
    cudaLaunchAttributeNvlinkUtilCentricScheduling = 16
    cudaLaunchAttributePortableClusterSizeMode = 17
    cudaLaunchAttributeSharedMemoryMode = 18

cudaStreamAttrValue = cudaLaunchAttributeValue
class cudaStreamCallback_t(Handle): ...
class cudaStreamCaptureMode(IntEnum):
    cudaStreamCaptureModeGlobal = 0
    cudaStreamCaptureModeThreadLocal = 1
    cudaStreamCaptureModeRelaxed = 2

class cudaStreamCaptureStatus(IntEnum):
    cudaStreamCaptureStatusNone = 0
    cudaStreamCaptureStatusActive = 1
    cudaStreamCaptureStatusInvalidated = 2

class cudaStreamUpdateCaptureDependenciesFlags(IntEnum):
    cudaStreamAddCaptureDependencies = 0
    cudaStreamSetCaptureDependencies = 1

class cudaStream_t(Handle): ...
class cudaSurfaceBoundaryMode(IntEnum):
    cudaBoundaryModeZero = 0
    cudaBoundaryModeClamp = 1
    cudaBoundaryModeTrap = 2

class cudaSurfaceFormatMode(IntEnum):
    cudaFormatModeForced = 0
    cudaFormatModeAuto = 1

class cudaSurfaceObject_t(NumberHandle): ...
class cudaSynchronizationPolicy(IntEnum):
    cudaSyncPolicyAuto = 1
    cudaSyncPolicySpin = 2
    cudaSyncPolicyYield = 3
    cudaSyncPolicyBlockingSync = 4

class cudaTextureAddressMode(IntEnum):
    cudaAddressModeWrap = 0
    cudaAddressModeClamp = 1
    cudaAddressModeMirror = 2
    cudaAddressModeBorder = 3

class cudaTextureDesc(Struct):
    addressMode: Field[list[cudaTextureAddressMode]]
    filterMode: Field[cudaTextureFilterMode]
    readMode: Field[cudaTextureReadMode]
    sRGB: Field[int]
    borderColor: Field[list[float]]
    normalizedCoords: Field[int]
    maxAnisotropy: Field[int]
    mipmapFilterMode: Field[cudaTextureFilterMode]
    mipmapLevelBias: Field[float]
    minMipmapLevelClamp: Field[float]
    maxMipmapLevelClamp: Field[float]
    disableTrilinearOptimization: Field[int]
    seamlessCubemap: Field[int]

class cudaTextureFilterMode(IntEnum):
    cudaFilterModePoint = 0
    cudaFilterModeLinear = 1

class cudaTextureObject_t(NumberHandle): ...
class cudaTextureReadMode(IntEnum):
    cudaReadModeElementType = 0
    cudaReadModeNormalizedFloat = 1

class cudaUUID_t(Struct):
    bytes: Field[bytes]

class cudaUserObjectFlags(IntEnum):
    cudaUserObjectNoDestructorSync = 1

class cudaUserObjectRetainFlags(IntEnum):
    cudaGraphUserObjectMove = 1

class cudaUserObject_t(Handle): ...
class dim3(Struct):
    x: Field[int]
    y: Field[int]
    z: Field[int]

class libraryPropertyType(IntEnum):
    MAJOR_VERSION = 0
    MINOR_VERSION = 1
    PATCH_LEVEL = 2

def cudaArrayGetInfo(array: object) -> tuple[cudaError_t, cudaChannelFormatDesc, cudaExtent, int]: ...
def cudaArrayGetMemoryRequirements(array: object, device: object) -> tuple[cudaError_t, Any]: ...
def cudaArrayGetPlane(hArray: object, planeIdx: object) -> tuple[cudaError_t, Any]: ...
def cudaArrayGetSparseProperties(array: object) -> tuple[cudaError_t, cudaArraySparseProperties]: ...
def cudaBindSurfaceToArray(surfref: Any, array: object, desc: cudaChannelFormatDesc | None) -> tuple[cudaError_t]: ...
def cudaBindTexture(texref: Any, devPtr: object, desc: cudaChannelFormatDesc | None, size: int) -> tuple[cudaError_t, int]: ...
def cudaBindTexture2D(texref: Any, devPtr: object, desc: cudaChannelFormatDesc | None, width: int, height: int, pitch: int) -> tuple[cudaError_t, int]: ...
def cudaBindTextureToArray(texref: Any, array: object, desc: cudaChannelFormatDesc | None) -> tuple[cudaError_t]: ...
def cudaBindTextureToMipmappedArray(texref: Any, mipmappedArray: object, desc: cudaChannelFormatDesc | None) -> tuple[cudaError_t]: ...
def cudaChooseDevice(prop: cudaDeviceProp | None) -> tuple[cudaError_t, int]: ...
def cudaCreateChannelDesc(x: int, y: int, z: int, w: int, f: cudaChannelFormatKind) -> tuple[cudaError_t, cudaChannelFormatDesc]: ...
def cudaCreateSurfaceObject(pResDesc: cudaResourceDesc | None) -> tuple[cudaError_t, cudaSurfaceObject_t]: ...
def cudaCreateTextureObject(pResDesc: cudaResourceDesc | None, pTexDesc: cudaTextureDesc | None, pResViewDesc: cudaResourceViewDesc | None) -> tuple[cudaError_t, cudaTextureObject_t]: ...
def cudaCtxResetPersistingL2Cache() -> tuple[cudaError_t]: ...
def cudaDestroyExternalMemory(extMem: object) -> tuple[cudaError_t]: ...
def cudaDestroyExternalSemaphore(extSem: object) -> tuple[cudaError_t]: ...
def cudaDestroySurfaceObject(surfObject: object) -> tuple[cudaError_t]: ...
def cudaDestroyTextureObject(texObject: object) -> tuple[cudaError_t]: ...
def cudaDevResourceGenerateDesc(resources: object, nbResources: object) -> tuple[cudaError_t, Any]: ...
def cudaDevSmResourceSplit(nbGroups: object, input_: object, flags: object, groupParams: object) -> tuple[cudaError_t, Any, Any]: ...
def cudaDevSmResourceSplitByCount(nbGroups: object, input_: object, flags: object, minCount: object) -> tuple[cudaError_t, Any, int, cudaDevResource]: ...
def cudaDeviceCanAccessPeer(device: object, peerDevice: object) -> tuple[cudaError_t, int]: ...
def cudaDeviceDisablePeerAccess(peerDevice: int) -> tuple[cudaError_t]: ...
def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> tuple[cudaError_t]: ...
def cudaDeviceFlushGPUDirectRDMAWrites(target: object, scope: object) -> tuple[cudaError_t]: ...
def cudaDeviceGetAttribute(attr: object, device: int) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetByPCIBusId(pciBusId: object) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetCacheConfig() -> tuple[cudaError_t, cudaFuncCache]: ...
def cudaDeviceGetDefaultMemPool(device: object) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaDeviceGetDevResource(device: object, typename: object) -> tuple[cudaError_t, cudaDevResource]: ...
def cudaDeviceGetExecutionCtx(device: int) -> tuple[cudaError_t, cudaExecutionContext_t]: ...
def cudaDeviceGetGraphMemAttribute(device: object, attr: object) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetHostAtomicCapabilities(operations: object, count: object, device: object) -> tuple[cudaError_t, Any]: ...
def cudaDeviceGetLimit(limit: object) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetMemPool(device: object) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaDeviceGetNvSciSyncAttributes(nvSciSyncAttrList: object, device: object, flags: object) -> tuple[cudaError_t]: ...
def cudaDeviceGetP2PAtomicCapabilities(operations: object, count: object, srcDevice: object, dstDevice: object) -> tuple[cudaError_t, Any]: ...
def cudaDeviceGetP2PAttribute(attr: object, srcDevice: object, dstDevice: object) -> tuple[cudaError_t, int]: ...
def cudaDeviceGetPCIBusId(length: object, device: object) -> tuple[cudaError_t, bytes]: ...
def cudaDeviceGetSharedMemConfig() -> tuple[cudaError_t, cudaSharedMemConfig]: ...
def cudaDeviceGetStreamPriorityRange() -> tuple[cudaError_t, int, int]: ...
def cudaDeviceGetTexture1DLinearMaxWidth(fmtDesc: cudaChannelFormatDesc | None, device: int) -> tuple[cudaError_t, int]: ...
def cudaDeviceGraphMemTrim(device: object) -> tuple[cudaError_t]: ...
def cudaDeviceRegisterAsyncNotification(device: object, callbackFunc: object, userData: object) -> tuple[cudaError_t, Any]: ...
def cudaDeviceReset() -> tuple[cudaError_t]: ...
def cudaDeviceSetCacheConfig(cacheConfig: object) -> tuple[cudaError_t]: ...
def cudaDeviceSetGraphMemAttribute(device: object, attr: object, value: object) -> tuple[cudaError_t]: ...
def cudaDeviceSetLimit(limit: object, value: object) -> tuple[cudaError_t]: ...
def cudaDeviceSetMemPool(device: object, memPool: object) -> tuple[cudaError_t]: ...
def cudaDeviceSetSharedMemConfig(config: object) -> tuple[cudaError_t]: ...
def cudaDeviceSynchronize() -> tuple[cudaError_t]: ...
def cudaDeviceUnregisterAsyncNotification(device: object, callback: object) -> tuple[cudaError_t]: ...
def cudaDriverGetVersion() -> tuple[cudaError_t, int]: ...
def cudaEGLStreamConsumerAcquireFrame(conn: object, pCudaResource: object, pStream: object, timeout: object) -> tuple[cudaError_t]: ...
def cudaEGLStreamConsumerConnect(eglStream: object) -> tuple[cudaError_t, Any]: ...
def cudaEGLStreamConsumerConnectWithFlags(eglStream: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaEGLStreamConsumerDisconnect(conn: object) -> tuple[cudaError_t]: ...
def cudaEGLStreamConsumerReleaseFrame(conn: object, pCudaResource: object, pStream: object) -> tuple[cudaError_t]: ...
def cudaEGLStreamProducerConnect(eglStream: object, width: object, height: object) -> tuple[cudaError_t, Any]: ...
def cudaEGLStreamProducerDisconnect(conn: object) -> tuple[cudaError_t]: ...
def cudaEGLStreamProducerPresentFrame(conn: object, eglframe: object, pStream: object) -> tuple[cudaError_t]: ...
def cudaEGLStreamProducerReturnFrame(conn: object, eglframe: object, pStream: object) -> tuple[cudaError_t]: ...
def cudaEventCreate() -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaEventCreateFromEGLSync(eglSync: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaEventCreateWithFlags(flags: object) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaEventDestroy(event: object) -> tuple[cudaError_t]: ...
def cudaEventElapsedTime(start: object, end: object) -> tuple[cudaError_t, float]: ...
def cudaEventQuery(event: object) -> tuple[cudaError_t]: ...
def cudaEventRecord(event: object, stream: object) -> tuple[cudaError_t]: ...
def cudaEventRecordWithFlags(event: object, stream: object, flags: object) -> tuple[cudaError_t]: ...
def cudaEventSynchronize(event: object) -> tuple[cudaError_t]: ...
def cudaExecutionCtxDestroy(ctx: object) -> tuple[cudaError_t]: ...
def cudaExecutionCtxGetDevResource(ctx: object, typename: object) -> tuple[cudaError_t, cudaDevResource]: ...
def cudaExecutionCtxGetDevice(ctx: object) -> tuple[cudaError_t, int]: ...
def cudaExecutionCtxGetId(ctx: object) -> tuple[cudaError_t, int]: ...
def cudaExecutionCtxRecordEvent(ctx: object, event: object) -> tuple[cudaError_t]: ...
def cudaExecutionCtxStreamCreate(ctx: object, flags: object, priority: object) -> tuple[cudaError_t, cudaStream_t]: ...
def cudaExecutionCtxSynchronize(ctx: object) -> tuple[cudaError_t]: ...
def cudaExecutionCtxWaitEvent(ctx: object, event: object) -> tuple[cudaError_t]: ...
def cudaExternalMemoryGetMappedBuffer(extMem: object, bufferDesc: object) -> tuple[cudaError_t, Any]: ...
def cudaExternalMemoryGetMappedMipmappedArray(extMem: object, mipmapDesc: object) -> tuple[cudaError_t, Any]: ...
def cudaFree(devPtr: object) -> tuple[cudaError_t]: ...
def cudaFreeArray(array: object) -> tuple[cudaError_t]: ...
def cudaFreeAsync(devPtr: object, hStream: object) -> tuple[cudaError_t]: ...
def cudaFreeHost(ptr: object) -> tuple[cudaError_t]: ...
def cudaFreeMipmappedArray(mipmappedArray: object) -> tuple[cudaError_t]: ...
def cudaFuncGetAttributes(func: object) -> tuple[cudaError_t, cudaFuncAttributes]: ...
def cudaFuncGetParamCount(func: object) -> tuple[cudaError_t, int]: ...
def cudaFuncSetAttribute(func: object, attr: object, value: object) -> tuple[cudaError_t]: ...
def cudaFuncSetCacheConfig(func: object, cacheConfig: object) -> tuple[cudaError_t]: ...
def cudaFuncSetSharedMemConfig(func: object, config: object) -> tuple[cudaError_t]: ...
def cudaGLGetDevices(cudaDeviceCount: object, deviceList: object) -> tuple[cudaError_t, Any, Any]: ...
def cudaGetChannelDesc(array: object) -> tuple[cudaError_t, cudaChannelFormatDesc]: ...
def cudaGetDevice() -> tuple[cudaError_t, int]: ...
def cudaGetDeviceCount() -> tuple[cudaError_t, int]: ...
def cudaGetDeviceFlags() -> tuple[cudaError_t, int]: ...
def cudaGetDeviceProperties(device: int) -> tuple[cudaError_t, cudaDeviceProp]: ...
def cudaGetDriverEntryPoint(symbol: object, flags: object) -> tuple[cudaError_t, Any, Any]: ...
def cudaGetDriverEntryPointByVersion(symbol: object, cudaVersion: object, flags: object) -> tuple[cudaError_t, Any, Any]: ...
def cudaGetErrorName(error: object) -> tuple[cudaError_t, bytes]: ...
def cudaGetErrorString(error: object) -> tuple[cudaError_t, bytes]: ...
def cudaGetExportTable(pExportTableId: object) -> tuple[cudaError_t]: ...
def cudaGetFuncBySymbol(symbolPtr: object) -> tuple[cudaError_t, cudaFunction_t]: ...
def cudaGetKernel(entryFuncAddr: object) -> tuple[cudaError_t, cudaKernel_t]: ...
def cudaGetLastError() -> tuple[cudaError_t]: ...
def cudaGetMipmappedArrayLevel(mipmappedArray: object, level: object) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaGetSurfaceObjectResourceDesc(surfObject: object) -> tuple[cudaError_t, cudaResourceDesc]: ...
def cudaGetSurfaceReference(library: object, name: object) -> tuple[cudaError_t, Any]: ...
def cudaGetTextureAlignmentOffset(texref: Any) -> tuple[cudaError_t, int]: ...
def cudaGetTextureObjectResourceDesc(texObject: object) -> tuple[cudaError_t, cudaResourceDesc]: ...
def cudaGetTextureObjectResourceViewDesc(texObject: object) -> tuple[cudaError_t, cudaResourceViewDesc]: ...
def cudaGetTextureObjectTextureDesc(texObject: object) -> tuple[cudaError_t, cudaTextureDesc]: ...
def cudaGetTextureReference(library: object, name: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddChildGraphNode(graph: object, pDependencies: object, numDependencies: object, childGraph: object) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphAddDependencies(graph: object, from_: object, to: object, edgeData: object, numDependencies: object) -> tuple[cudaError_t]: ...
def cudaGraphAddEmptyNode(graph: object, pDependencies: object, numDependencies: object) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphAddEventRecordNode(graph: object, pDependencies: object, numDependencies: object, event: object) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphAddEventWaitNode(graph: object, pDependencies: object, numDependencies: object, event: object) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphAddExternalSemaphoresSignalNode(graph: object, pDependencies: object, numDependencies: object, nodeParams: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddExternalSemaphoresWaitNode(graph: object, pDependencies: object, numDependencies: object, nodeParams: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddHostNode(graph: object, pDependencies: object, numDependencies: object, pNodeParams: Any) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddKernelNode(graph: object, pDependencies: object, numDependencies: object, pNodeParams: Any) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddMemAllocNode(graph: object, pDependencies: object, numDependencies: object, nodeParams: Any) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddMemFreeNode(graph: object, pDependencies: object, numDependencies: object, dptr: object) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphAddMemcpyNode(graph: object, pDependencies: object, numDependencies: object, pCopyParams: Any) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddMemcpyNode1D(graph: object, pDependencies: object, numDependencies: object, dst: Any, src: Any, count: int, kind: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddMemsetNode(graph: object, pDependencies: object, numDependencies: object, pMemsetParams: Any) -> tuple[cudaError_t, Any]: ...
def cudaGraphAddNode(graph: object, pDependencies: object, dependencyData: object, numDependencies: object, nodeParams: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphChildGraphNodeGetGraph(node: object) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaGraphClone(originalGraph: object) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaGraphConditionalHandleCreate(graph: object, defaultLaunchValue: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphConditionalHandleCreate_v2(graph: object, ctx: object, defaultLaunchValue: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphCreate(flags: object) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaGraphDebugDotPrint(graph: object, path: object, flags: object) -> tuple[cudaError_t]: ...
def cudaGraphDestroy(graph: object) -> tuple[cudaError_t]: ...
def cudaGraphDestroyNode(node: object) -> tuple[cudaError_t]: ...
def cudaGraphEventRecordNodeGetEvent(node: object) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaGraphEventRecordNodeSetEvent(node: object, event: object) -> tuple[cudaError_t]: ...
def cudaGraphEventWaitNodeGetEvent(node: object) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaGraphEventWaitNodeSetEvent(node: object, event: object) -> tuple[cudaError_t]: ...
def cudaGraphExecChildGraphNodeSetParams(hGraphExec: object, node: object, childGraph: object) -> tuple[cudaError_t]: ...
def cudaGraphExecDestroy(graphExec: object) -> tuple[cudaError_t]: ...
def cudaGraphExecEventRecordNodeSetEvent(hGraphExec: object, hNode: object, event: object) -> tuple[cudaError_t]: ...
def cudaGraphExecEventWaitNodeSetEvent(hGraphExec: object, hNode: object, event: object) -> tuple[cudaError_t]: ...
def cudaGraphExecExternalSemaphoresSignalNodeSetParams(hGraphExec: object, hNode: object, nodeParams: object) -> tuple[cudaError_t]: ...
def cudaGraphExecExternalSemaphoresWaitNodeSetParams(hGraphExec: object, hNode: object, nodeParams: object) -> tuple[cudaError_t]: ...
def cudaGraphExecGetFlags(graphExec: object) -> tuple[cudaError_t, int]: ...
def cudaGraphExecGetId(hGraphExec: object) -> tuple[cudaError_t, int]: ...
def cudaGraphExecHostNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphExecKernelNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphExecMemcpyNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphExecMemcpyNodeSetParams1D(hGraphExec: object, node: object, dst: Any, src: Any, count: int, kind: object) -> tuple[cudaError_t]: ...
def cudaGraphExecMemsetNodeSetParams(hGraphExec: object, node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphExecNodeSetParams(graphExec: object, node: object, nodeParams: object) -> tuple[cudaError_t]: ...
def cudaGraphExecUpdate(hGraphExec: object, hGraph: object) -> tuple[cudaError_t, cudaGraphExecUpdateResultInfo]: ...
def cudaGraphExternalSemaphoresSignalNodeGetParams(hNode: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphExternalSemaphoresSignalNodeSetParams(hNode: object, nodeParams: object) -> tuple[cudaError_t]: ...
def cudaGraphExternalSemaphoresWaitNodeGetParams(hNode: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphExternalSemaphoresWaitNodeSetParams(hNode: object, nodeParams: object) -> tuple[cudaError_t]: ...
def cudaGraphGetEdges(graph: object, numEdges: object = ...) -> tuple[cudaError_t, Any, Any, Any, int]: ...
def cudaGraphGetId(hGraph: object) -> tuple[cudaError_t, int]: ...
def cudaGraphGetNodes(graph: object, numNodes: object = ...) -> tuple[cudaError_t, Any, int]: ...
def cudaGraphGetRootNodes(graph: object, pNumRootNodes: object = ...) -> tuple[cudaError_t, Any, int]: ...
def cudaGraphHostNodeGetParams(node: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphHostNodeSetParams(node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphInstantiate(graph: object, flags: object) -> tuple[cudaError_t, cudaGraphExec_t]: ...
def cudaGraphInstantiateWithFlags(graph: object, flags: object) -> tuple[cudaError_t, cudaGraphExec_t]: ...
def cudaGraphInstantiateWithParams(graph: object, instantiateParams: object) -> tuple[cudaError_t, cudaGraphExec_t]: ...
def cudaGraphKernelNodeCopyAttributes(hDst: object, hSrc: object) -> tuple[cudaError_t]: ...
def cudaGraphKernelNodeGetAttribute(hNode: object, attr: object) -> tuple[cudaError_t, cudaLaunchAttributeValue]: ...
def cudaGraphKernelNodeGetParams(node: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphKernelNodeSetAttribute(hNode: object, attr: object, value: object) -> tuple[cudaError_t]: ...
def cudaGraphKernelNodeSetParams(node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphLaunch(graphExec: object, stream: object) -> tuple[cudaError_t]: ...
def cudaGraphMemAllocNodeGetParams(node: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphMemFreeNodeGetParams(node: object) -> tuple[cudaError_t, int]: ...
def cudaGraphMemcpyNodeGetParams(node: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphMemcpyNodeSetParams(node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphMemcpyNodeSetParams1D(node: object, dst: Any, src: Any, count: int, kind: object) -> tuple[cudaError_t]: ...
def cudaGraphMemsetNodeGetParams(node: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphMemsetNodeSetParams(node: object, pNodeParams: Any) -> tuple[cudaError_t]: ...
def cudaGraphNodeFindInClone(originalNode: object, clonedGraph: object) -> tuple[cudaError_t, cudaGraphNode_t]: ...
def cudaGraphNodeGetContainingGraph(hNode: object) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaGraphNodeGetDependencies(node: object, pNumDependencies: object = ...) -> tuple[cudaError_t, Any, Any, int]: ...
def cudaGraphNodeGetDependentNodes(node: object, pNumDependentNodes: object = ...) -> tuple[cudaError_t, Any, Any, int]: ...
def cudaGraphNodeGetEnabled(hGraphExec: object, hNode: object) -> tuple[cudaError_t, int]: ...
def cudaGraphNodeGetLocalId(hNode: object) -> tuple[cudaError_t, int]: ...
def cudaGraphNodeGetParams(node: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphNodeGetToolsId(hNode: object) -> tuple[cudaError_t, int]: ...
def cudaGraphNodeGetType(node: object) -> tuple[cudaError_t, cudaGraphNodeType]: ...
def cudaGraphNodeSetEnabled(hGraphExec: object, hNode: object, isEnabled: object) -> tuple[cudaError_t]: ...
def cudaGraphNodeSetParams(node: object, nodeParams: object) -> tuple[cudaError_t]: ...
def cudaGraphReleaseUserObject(graph: object, object: object, count: object) -> tuple[cudaError_t]: ...
def cudaGraphRemoveDependencies(graph: object, from_: object, to: object, edgeData: object, numDependencies: object) -> tuple[cudaError_t]: ...
def cudaGraphRetainUserObject(graph: object, object: object, count: object, flags: object) -> tuple[cudaError_t]: ...
def cudaGraphUpload(graphExec: object, stream: object) -> tuple[cudaError_t]: ...
def cudaGraphicsEGLRegisterImage(image: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphicsGLRegisterBuffer(buffer: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphicsGLRegisterImage(image: object, target: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphicsMapResources(count: object, resources: object, stream: object) -> tuple[cudaError_t]: ...
def cudaGraphicsResourceGetMappedEglFrame(resource: object, index: object, mipLevel: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphicsResourceGetMappedMipmappedArray(resource: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphicsResourceGetMappedPointer(resource: object) -> tuple[cudaError_t, Any, Any]: ...
def cudaGraphicsResourceSetMapFlags(resource: object, flags: object) -> tuple[cudaError_t]: ...
def cudaGraphicsSubResourceGetMappedArray(resource: object, arrayIndex: object, mipLevel: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphicsUnmapResources(count: object, resources: object, stream: object) -> tuple[cudaError_t]: ...
def cudaGraphicsUnregisterResource(resource: object) -> tuple[cudaError_t]: ...
def cudaGraphicsVDPAURegisterOutputSurface(vdpSurface: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaGraphicsVDPAURegisterVideoSurface(vdpSurface: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaGreenCtxCreate(desc: object, device: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaHostAlloc(size: object, flags: object) -> tuple[cudaError_t, int]: ...
def cudaHostGetDevicePointer(pHost: object, flags: object) -> tuple[cudaError_t, int]: ...
def cudaHostGetFlags(pHost: object) -> tuple[cudaError_t, int]: ...
def cudaHostRegister(ptr: object, size: object, flags: object) -> tuple[cudaError_t]: ...
def cudaHostUnregister(ptr: object) -> tuple[cudaError_t]: ...
def cudaImportExternalMemory(memHandleDesc: object) -> tuple[cudaError_t, Any]: ...
def cudaImportExternalSemaphore(semHandleDesc: object) -> tuple[cudaError_t, Any]: ...
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> tuple[cudaError_t]: ...
def cudaIpcCloseMemHandle(devPtr: object) -> tuple[cudaError_t]: ...
def cudaIpcGetEventHandle(event: object) -> tuple[cudaError_t, cudaIpcEventHandle_t]: ...
def cudaIpcGetMemHandle(devPtr: object) -> tuple[cudaError_t, cudaIpcMemHandle_t]: ...
def cudaIpcOpenEventHandle(handle: object) -> tuple[cudaError_t, cudaEvent_t]: ...
def cudaIpcOpenMemHandle(handle: object, flags: object) -> tuple[cudaError_t, int]: ...
def cudaKernelSetAttributeForDevice(kernel: object, attr: object, value: int, device: int) -> tuple[cudaError_t]: ...
def cudaLaunchCooperativeKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> tuple[cudaError_t]: ...
def cudaLaunchHostFunc(stream: object, fn: object, userData: object) -> tuple[cudaError_t]: ...
def cudaLaunchHostFunc_v2(stream: object, fn: object, userData: object, syncMode: object) -> tuple[cudaError_t]: ...
def cudaLaunchKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> tuple[cudaError_t]: ...
def cudaLibraryEnumerateKernels(numKernels: int, lib: object) -> tuple[cudaError_t, list[cudaKernel_t]]: ...
def cudaLibraryGetGlobal(library: object, name: object) -> tuple[cudaError_t, int, int]: ...
def cudaLibraryGetKernel(library: object, name: object) -> tuple[cudaError_t, cudaKernel_t]: ...
def cudaLibraryGetKernelCount(lib: object) -> tuple[cudaError_t, int]: ...
def cudaLibraryGetManaged(library: object, name: object) -> tuple[cudaError_t, int, int]: ...
def cudaLibraryGetUnifiedFunction(library: object, symbol: object) -> tuple[cudaError_t, Any]: ...
def cudaLibraryLoadData(code: object, jitOptions: object, jitOptionsValues: object, numJitOptions: object, libraryOptions: object, libraryOptionValues: object, numLibraryOptions: object) -> tuple[cudaError_t, cudaLibrary_t]: ...
def cudaLibraryLoadFromFile(fileName: object, jitOptions: object, jitOptionsValues: object, numJitOptions: object, libraryOptions: object, libraryOptionValues: object, numLibraryOptions: object) -> tuple[cudaError_t, cudaLibrary_t]: ...
def cudaLibraryUnload(library: object) -> tuple[cudaError_t]: ...
def cudaLogsCurrent(flags: object) -> tuple[cudaError_t, Any]: ...
def cudaLogsDumpToFile(iterator: object, pathToFile: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaLogsDumpToMemory(iterator: object, buffer: object, size: object, flags: object) -> tuple[cudaError_t]: ...
def cudaLogsRegisterCallback(callbackFunc: object, userData: object) -> tuple[cudaError_t, Any]: ...
def cudaLogsUnregisterCallback(callback: object) -> tuple[cudaError_t]: ...
def cudaMalloc(size: int) -> tuple[cudaError_t, int]: ...
def cudaMalloc3D(extent: cudaExtent) -> tuple[cudaError_t, cudaPitchedPtr]: ...
def cudaMalloc3DArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, flags: int) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaMallocArray(desc: cudaChannelFormatDesc | None, width: int, height: int, flags: int) -> tuple[cudaError_t, cudaArray_t]: ...
def cudaMallocAsync(size: object, hStream: object) -> tuple[cudaError_t, int]: ...
def cudaMallocFromPoolAsync(size: object, memPool: object, stream: object) -> tuple[cudaError_t, int]: ...
def cudaMallocHost(size: object) -> tuple[cudaError_t, int]: ...
def cudaMallocManaged(size: int, flags: int) -> tuple[cudaError_t, int]: ...
def cudaMallocMipmappedArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, numLevels: int, flags: int) -> tuple[cudaError_t, cudaMipmappedArray_t]: ...
def cudaMallocPitch(width: int, height: int) -> tuple[cudaError_t, int, int]: ...
def cudaMemAdvise(devPtr: object, count: object, advice: object, location: object) -> tuple[cudaError_t]: ...
def cudaMemDiscardAndPrefetchBatchAsync(dptrs: object, sizes: object, count: object, prefetchLocs: object, prefetchLocIdxs: object, numPrefetchLocs: object, flags: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemDiscardBatchAsync(dptrs: object, sizes: object, count: object, flags: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemGetDefaultMemPool(location: object, typename: object) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaMemGetInfo() -> tuple[cudaError_t, int, int]: ...
def cudaMemGetLocationInfo(devPtr: object, size: object, summaryGranularity: object, samplingGranularity: object, location_out: object) -> tuple[cudaError_t]: ...
def cudaMemGetMemPool(location: object, typename: object) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaMemPoolCreate(poolProps: cudaMemPoolProps | None) -> tuple[cudaError_t, cudaMemPool_t]: ...
def cudaMemPoolDestroy(memPool: object) -> tuple[cudaError_t]: ...
def cudaMemPoolExportPointer(ptr: object) -> tuple[cudaError_t, Any]: ...
def cudaMemPoolExportToShareableHandle(memPool: object, handleType: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaMemPoolGetAccess(memPool: object, location: object) -> tuple[cudaError_t, cudaMemAccessFlags]: ...
def cudaMemPoolGetAttribute(memPool: object, attr: object) -> tuple[cudaError_t, int]: ...
def cudaMemPoolImportFromShareableHandle(shareableHandle: object, handleType: object, flags: object) -> tuple[cudaError_t, Any]: ...
def cudaMemPoolImportPointer(memPool: object, exportData: object) -> tuple[cudaError_t, Any]: ...
def cudaMemPoolSetAccess(memPool: object, descList: object, count: object) -> tuple[cudaError_t]: ...
def cudaMemPoolSetAttribute(memPool: object, attr: object, value: object) -> tuple[cudaError_t]: ...
def cudaMemPoolTrimTo(memPool: object, minBytesToKeep: object) -> tuple[cudaError_t]: ...
def cudaMemPrefetchAsync(devPtr: object, count: object, location: object, flags: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemPrefetchBatchAsync(dptrs: object, sizes: object, count: object, prefetchLocs: object, prefetchLocIdxs: object, numPrefetchLocs: object, flags: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemRangeGetAttribute(dataSize: object, attribute: object, devPtr: object, count: object) -> tuple[cudaError_t, Any]: ...
def cudaMemRangeGetAttributes(dataSizes: object, attributes: object, numAttributes: object, devPtr: object, count: object) -> tuple[cudaError_t, Any]: ...
def cudaMemSetMemPool(location: object, typename: object, memPool: object) -> tuple[cudaError_t]: ...
def cudaMemcpy(dst: object, src: object, count: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpy2D(dst: object, dpitch: int, src: object, spitch: int, width: int, height: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpy2DArrayToArray(dst: object, wOffsetDst: int, hOffsetDst: int, src: object, wOffsetSrc: int, hOffsetSrc: int, width: int, height: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpy2DAsync(dst: object, dpitch: int, src: object, spitch: int, width: int, height: int, kind: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpy2DFromArray(dst: object, dpitch: int, src: object, wOffset: int, hOffset: int, width: int, height: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpy2DFromArrayAsync(dst: object, dpitch: int, src: object, wOffset: int, hOffset: int, width: int, height: int, kind: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpy2DToArray(dst: object, wOffset: int, hOffset: int, src: object, spitch: int, width: int, height: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpy2DToArrayAsync(dst: object, wOffset: int, hOffset: int, src: object, spitch: int, width: int, height: int, kind: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpy3D(p: cudaMemcpy3DParms | None) -> tuple[cudaError_t]: ...
def cudaMemcpy3DAsync(p: cudaMemcpy3DParms | None, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpy3DBatchAsync(numOps: object, opList: object, flags: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpy3DPeer(p: cudaMemcpy3DPeerParms | None) -> tuple[cudaError_t]: ...
def cudaMemcpy3DPeerAsync(p: cudaMemcpy3DPeerParms | None, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpy3DWithAttributesAsync(op: object, flags: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpyArrayToArray(dst: object, wOffsetDst: int, hOffsetDst: int, src: object, wOffsetSrc: int, hOffsetSrc: int, count: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpyAsync(dst: object, src: object, count: int, kind: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpyBatchAsync(dsts: object, srcs: object, sizes: object, count: object, attrs: object, attrsIdxs: object, numAttrs: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpyFromArray(dst: object, src: object, wOffset: int, hOffset: int, count: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpyFromArrayAsync(dst: object, src: object, wOffset: int, hOffset: int, count: int, kind: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpyFromSymbol(dst: object, symbol: object, count: int, offset: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpyPeer(dst: object, dstDevice: int, src: object, srcDevice: int, count: int) -> tuple[cudaError_t]: ...
def cudaMemcpyPeerAsync(dst: object, dstDevice: int, src: object, srcDevice: int, count: int, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpyToArray(dst: object, wOffset: int, hOffset: int, src: object, count: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpyToArrayAsync(dst: object, wOffset: int, hOffset: int, src: object, count: int, kind: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemcpyToSymbol(symbol: object, src: object, count: int, offset: int, kind: object) -> tuple[cudaError_t]: ...
def cudaMemcpyWithAttributesAsync(dst: object, src: object, size: object, attr: object, stream: object) -> tuple[cudaError_t]: ...
def cudaMemset(devPtr: object, value: int, count: int) -> tuple[cudaError_t]: ...
def cudaMemset2D(devPtr: object, pitch: int, value: int, width: int, height: int) -> tuple[cudaError_t]: ...
def cudaMemset2DAsync(devPtr: object, pitch: int, value: int, width: int, height: int, stream: object) -> tuple[cudaError_t]: ...
def cudaMemset3D(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent) -> tuple[cudaError_t]: ...
def cudaMemset3DAsync(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent, stream: object) -> tuple[cudaError_t]: ...
def cudaMemsetAsync(devPtr: object, value: int, count: int, stream: object) -> tuple[cudaError_t]: ...
def cudaMipmappedArrayGetMemoryRequirements(mipmap: object, device: object) -> tuple[cudaError_t, Any]: ...
def cudaMipmappedArrayGetSparseProperties(mipmap: object) -> tuple[cudaError_t, cudaArraySparseProperties]: ...
def cudaOccupancyAvailableDynamicSMemPerBlock(func: object, numBlocks: object, blockSize: object) -> tuple[cudaError_t, int]: ...
def cudaOccupancyMaxActiveBlocksPerMultiprocessor(func: object, blockSize: object, dynamicSMemSize: object) -> tuple[cudaError_t, int]: ...
def cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(func: object, blockSize: object, dynamicSMemSize: object, flags: object) -> tuple[cudaError_t, int]: ...
def cudaPeekAtLastError() -> tuple[cudaError_t]: ...
def cudaPointerGetAttributes(ptr: object) -> tuple[cudaError_t, cudaPointerAttributes]: ...
def cudaProfilerStart() -> tuple[cudaError_t]: ...
def cudaProfilerStop() -> tuple[cudaError_t]: ...
def cudaRuntimeGetVersion() -> tuple[cudaError_t, int]: ...
def cudaSetDevice(device: int) -> tuple[cudaError_t]: ...
def cudaSetDeviceFlags(flags: int) -> tuple[cudaError_t]: ...
def cudaSignalExternalSemaphoresAsync(extSemArray: object, paramsArray: object, numExtSems: object, stream: object) -> tuple[cudaError_t]: ...
def cudaStreamAddCallback(stream: object, callback: object, userData: object, flags: object) -> tuple[cudaError_t]: ...
def cudaStreamAttachMemAsync(stream: object, devPtr: object, length: object, flags: object) -> tuple[cudaError_t]: ...
def cudaStreamBeginCapture(stream: object, mode: object) -> tuple[cudaError_t]: ...
def cudaStreamBeginCaptureToGraph(stream: object, graph: object, dependencies: object, dependencyData: object, numDependencies: object, mode: object) -> tuple[cudaError_t]: ...
def cudaStreamBeginRecaptureToGraph(stream: object, mode: object, graph: object, callbackData: object) -> tuple[cudaError_t]: ...
def cudaStreamCopyAttributes(dst: object, src: object) -> tuple[cudaError_t]: ...
def cudaStreamCreate() -> tuple[cudaError_t, cudaStream_t]: ...
def cudaStreamCreateWithFlags(flags: object) -> tuple[cudaError_t, cudaStream_t]: ...
def cudaStreamCreateWithPriority(flags: object, priority: object) -> tuple[cudaError_t, cudaStream_t]: ...
def cudaStreamDestroy(stream: object) -> tuple[cudaError_t]: ...
def cudaStreamEndCapture(stream: object) -> tuple[cudaError_t, cudaGraph_t]: ...
def cudaStreamGetAttribute(hStream: object, attr: object) -> tuple[cudaError_t, cudaLaunchAttributeValue]: ...
def cudaStreamGetCaptureInfo(stream: object) -> tuple[cudaError_t, cudaStreamCaptureStatus, int, cudaGraph_t, Any, Any, int]: ...
def cudaStreamGetDevResource(hStream: object, typename: object) -> tuple[cudaError_t, cudaDevResource]: ...
def cudaStreamGetDevice(hStream: object) -> tuple[cudaError_t, int]: ...
def cudaStreamGetFlags(hStream: object) -> tuple[cudaError_t, int]: ...
def cudaStreamGetId(hStream: object) -> tuple[cudaError_t, int]: ...
def cudaStreamGetPriority(hStream: object) -> tuple[cudaError_t, int]: ...
def cudaStreamIsCapturing(stream: object) -> tuple[cudaError_t, cudaStreamCaptureStatus]: ...
def cudaStreamQuery(stream: object) -> tuple[cudaError_t]: ...
def cudaStreamSetAttribute(hStream: object, attr: object, value: object) -> tuple[cudaError_t]: ...
def cudaStreamSynchronize(stream: object) -> tuple[cudaError_t]: ...
def cudaStreamUpdateCaptureDependencies(stream: object, dependencies: object, dependencyData: object, numDependencies: object, flags: object) -> tuple[cudaError_t]: ...
def cudaStreamWaitEvent(stream: object, event: object, flags: object) -> tuple[cudaError_t]: ...
def cudaThreadExchangeStreamCaptureMode(mode: object) -> tuple[cudaError_t, cudaStreamCaptureMode]: ...
def cudaUnbindTexture(texref: Any) -> tuple[cudaError_t]: ...
def cudaUserObjectCreate(ptr: object, destroy: object, initialRefcount: object, flags: object) -> tuple[cudaError_t, cudaUserObject_t]: ...
def cudaUserObjectRelease(object: object, count: object) -> tuple[cudaError_t]: ...
def cudaUserObjectRetain(object: object, count: object) -> tuple[cudaError_t]: ...
def cudaVDPAUGetDevice(vdpDevice: object, vdpGetProcAddress: object) -> tuple[cudaError_t, Any]: ...
def cudaVDPAUSetVDPAUDevice(device: object, vdpDevice: object, vdpGetProcAddress: object) -> tuple[cudaError_t]: ...
def cudaWaitExternalSemaphoresAsync(extSemArray: object, paramsArray: object, numExtSems: object, stream: object) -> tuple[cudaError_t]: ...
def make_cudaExtent(w: int, h: int, d: int) -> cudaExtent: ...
def make_cudaPitchedPtr(d: object, p: int, xsz: int, ysz: int) -> cudaPitchedPtr: ...
def make_cudaPos(x: int, y: int, z: int) -> cudaPos: ...
