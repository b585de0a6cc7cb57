"""The handles and structures of the CUDA driver API: a table that tools/derive_api.py writes, in the form that driver/tables/compact.py reads."""

from __future__ import annotations

from .compact import Structs
from .enums import ENUMS

_TABLE = """\
handle CUarray CUasyncCallback CUasyncCallbackHandle CUcheckpointOperationHandle CUcontext CUcoredumpCallbackHandle CUdevResourceDesc
    CUevent CUexternalMemory CUexternalSemaphore CUfunction CUgraph CUgraphDeviceNode CUgraphExec CUgraphNode CUgraphicsResource CUgreenCtx
    CUhostFn CUkernel CUlibrary CUlinkState CUlogsCallbackHandle CUmemoryPool CUmipmappedArray CUmodule CUoccupancyB2DSize CUstream
    CUstreamCallback CUsurfref CUtexref CUuserObject
number i32 CUdevice CUdevice_v1
number u64 CUdeviceptr CUdeviceptr_v2 CUgraphConditionalHandle CUmemGenericAllocationHandle CUmemGenericAllocationHandle_v1 CUsurfObject
    CUsurfObject_v1 CUtexObject CUtexObject_v1 cuuint64_t
number u32 CUlogIterator CUlogicalEndpointId cuuint32_t
struct CUuuid bytes:bytes[16]
struct CUdevprop maxThreadsPerBlock:i32 maxThreadsDim:i32[3] maxGridSize:i32[3] sharedMemPerBlock:i32 totalConstantMemory:i32 SIMDWidth:i32
    memPitch:i32 regsPerBlock:i32 clockRate:i32 textureAlign:i32
struct CUDA_MEMCPY2D srcXInBytes:usize srcY:usize srcMemoryType:CUmemorytype srcHost:pointer srcDevice:CUdeviceptr srcArray:CUarray
    srcPitch:usize dstXInBytes:usize dstY:usize dstMemoryType:CUmemorytype dstHost:pointer dstDevice:CUdeviceptr dstArray:CUarray
    dstPitch:usize WidthInBytes:usize Height:usize
struct CUDA_MEMCPY3D srcXInBytes:usize srcY:usize srcZ:usize srcLOD:usize srcMemoryType:CUmemorytype srcHost:pointer srcDevice:CUdeviceptr
    srcArray:CUarray reserved0:pointer srcPitch:usize srcHeight:usize dstXInBytes:usize dstY:usize dstZ:usize dstLOD:usize
    dstMemoryType:CUmemorytype dstHost:pointer dstDevice:CUdeviceptr dstArray:CUarray reserved1:pointer dstPitch:usize dstHeight:usize
    WidthInBytes:usize Height:usize Depth:usize
struct CUDA_MEMCPY3D_PEER srcXInBytes:usize srcY:usize srcZ:usize srcLOD:usize srcMemoryType:CUmemorytype srcHost:pointer
    srcDevice:CUdeviceptr srcArray:CUarray srcContext:CUcontext srcPitch:usize srcHeight:usize dstXInBytes:usize dstY:usize dstZ:usize
    dstLOD:usize dstMemoryType:CUmemorytype dstHost:pointer dstDevice:CUdeviceptr dstArray:CUarray dstContext:CUcontext dstPitch:usize
    dstHeight:usize WidthInBytes:usize Height:usize Depth:usize
struct CUDA_ARRAY_DESCRIPTOR Width:usize Height:usize Format:CUarray_format NumChannels:u32
struct CUDA_ARRAY3D_DESCRIPTOR Width:usize Height:usize Depth:usize Format:CUarray_format NumChannels:u32 Flags:u32
struct CUDA_ARRAY_MEMORY_REQUIREMENTS size:usize alignment:usize reserved:u32[4]
struct CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent width:u32 height:u32 depth:u32
struct CUDA_ARRAY_SPARSE_PROPERTIES tileExtent:CUDA_ARRAY_SPARSE_PROPERTIES_tileExtent miptailFirstLevel:u32 miptailSize:u64 flags:u32
    reserved:u32[4]
struct CUDA_RESOURCE_DESC_res_array hArray:CUarray
struct CUDA_RESOURCE_DESC_res_mipmap hMipmappedArray:CUmipmappedArray
struct CUDA_RESOURCE_DESC_res_linear devPtr:CUdeviceptr format:CUarray_format numChannels:u32 sizeInBytes:usize
struct CUDA_RESOURCE_DESC_res_pitch2D devPtr:CUdeviceptr format:CUarray_format numChannels:u32 width:usize height:usize pitchInBytes:usize
struct CUDA_RESOURCE_DESC_res_reserved reserved:i32[32]
union CUDA_RESOURCE_DESC_res array:CUDA_RESOURCE_DESC_res_array mipmap:CUDA_RESOURCE_DESC_res_mipmap linear:CUDA_RESOURCE_DESC_res_linear
    pitch2D:CUDA_RESOURCE_DESC_res_pitch2D reserved:CUDA_RESOURCE_DESC_res_reserved
struct CUDA_RESOURCE_DESC resType:CUresourcetype res:CUDA_RESOURCE_DESC_res flags:u32
struct CUDA_TEXTURE_DESC addressMode:CUaddress_mode[3] filterMode:CUfilter_mode flags:u32 maxAnisotropy:u32 mipmapFilterMode:CUfilter_mode
    mipmapLevelBias:f32 minMipmapLevelClamp:f32 maxMipmapLevelClamp:f32 borderColor:f32[4] reserved:i32[12]
struct CUDA_RESOURCE_VIEW_DESC format:CUresourceViewFormat width:usize height:usize depth:usize firstMipmapLevel:u32 lastMipmapLevel:u32
    firstLayer:u32 lastLayer:u32 reserved:u32[16]
struct CUaccessPolicyWindow base_ptr:pointer num_bytes:usize hitRatio:f32 hitProp:CUaccessProperty missProp:CUaccessProperty
struct CUlaunchAttributeValue_clusterDim x:u32 y:u32 z:u32
struct CUlaunchAttributeValue_programmaticEvent event:CUevent flags:i32 triggerAtBlockStart:i32
struct CUlaunchAttributeValue_launchCompletionEvent event:CUevent flags:i32
struct CUlaunchMemSyncDomainMap default_:u8 remote:u8
struct CUlaunchAttributeValue_preferredClusterDim x:u32 y:u32 z:u32
struct CUlaunchAttributeValue_deviceUpdatableKernelNode deviceUpdatable:i32 devNode:CUgraphDeviceNode
union CUlaunchAttributeValue pad:bytes[64] accessPolicyWindow:CUaccessPolicyWindow cooperative:i32 syncPolicy:CUsynchronizationPolicy
    clusterDim:CUlaunchAttributeValue_clusterDim clusterSchedulingPolicyPreference:CUclusterSchedulingPolicy
    programmaticStreamSerializationAllowed:i32 programmaticEvent:CUlaunchAttributeValue_programmaticEvent
    launchCompletionEvent:CUlaunchAttributeValue_launchCompletionEvent priority:i32 memSyncDomainMap:CUlaunchMemSyncDomainMap
    memSyncDomain:CUlaunchMemSyncDomain preferredClusterDim:CUlaunchAttributeValue_preferredClusterDim
    deviceUpdatableKernelNode:CUlaunchAttributeValue_deviceUpdatableKernelNode sharedMemCarveout:u32 nvlinkUtilCentricScheduling:u32
    portableClusterSizeMode:CUlaunchAttributePortableClusterMode sharedMemoryMode:CUsharedMemoryMode
struct CUlaunchAttribute id:CUlaunchAttributeID value:CUlaunchAttributeValue
struct CUlaunchConfig gridDimX:u32 gridDimY:u32 gridDimZ:u32 blockDimX:u32 blockDimY:u32 blockDimZ:u32 sharedMemBytes:u32 hStream:CUstream
    attrs:CUlaunchAttribute* numAttrs:u32
struct CUmemLocation_localized deviceId:u8 localityDomainId:u8
struct CUmemLocation type:CUmemLocationType id:i32 |localized:CUmemLocation_localized
struct CUmemPoolProps allocType:CUmemAllocationType handleTypes:CUmemAllocationHandleType location:CUmemLocation
    win32SecurityAttributes:pointer maxSize:usize usage:u16 gpuDirectRDMACapable:u8 reserved:u8[53]
struct CUmemAccessDesc location:CUmemLocation flags:CUmemAccess_flags
struct CUextent3D width:usize height:usize depth:usize
struct CUoffset3D x:usize y:usize z:usize
struct CUDA_LAUNCH_PARAMS function:CUfunction gridDimX:u32 gridDimY:u32 gridDimZ:u32 blockDimX:u32 blockDimY:u32 blockDimZ:u32
    sharedMemBytes:u32 hStream:CUstream kernelParams:pointer
struct CUmemcpyAttributes srcAccessOrder:CUmemcpySrcAccessOrder srcLocHint:CUmemLocation dstLocHint:CUmemLocation flags:u32
struct CUexecAffinitySmCount val:u32
union CUexecAffinityParam_param smCount:CUexecAffinitySmCount
struct CUexecAffinityParam type:CUexecAffinityType param:CUexecAffinityParam_param
struct CUctxCigParam sharedDataType:CUcigDataType sharedData:pointer
struct CUctxCreateParams execAffinityParams:CUexecAffinityParam* numExecAffinityParams:i32 cigParams:CUctxCigParam*
struct CUmemAllocationProp_allocFlags compressionType:u8 gpuDirectRDMACapable:u8 usage:u16 reserved:u8[4]
struct CUmemAllocationProp type:CUmemAllocationType requestedHandleTypes:CUmemAllocationHandleType location:CUmemLocation
    win32HandleMetaData:pointer allocFlags:CUmemAllocationProp_allocFlags
struct CUmulticastObjectProp numDevices:u32 size:usize handleTypes:u64 flags:u64
struct CUtensorMap opaque:u64[16]
struct CUDA_KERNEL_NODE_PARAMS func:CUfunction gridDimX:u32 gridDimY:u32 gridDimZ:u32 blockDimX:u32 blockDimY:u32 blockDimZ:u32
    sharedMemBytes:u32 kernelParams:pointer extra:pointer kern:CUkernel ctx:CUcontext
struct CUstreamMemOpWaitValueParams_st operation:CUstreamBatchMemOpType address:CUdeviceptr value:u32 |value64:u64 flags:u32
    alias:CUdeviceptr
struct CUstreamMemOpWriteValueParams_st operation:CUstreamBatchMemOpType address:CUdeviceptr value:u32 |value64:u64 flags:u32
    alias:CUdeviceptr
struct CUstreamMemOpFlushRemoteWritesParams_st operation:CUstreamBatchMemOpType flags:u32
struct CUstreamMemOpMemoryBarrierParams_st operation:CUstreamBatchMemOpType flags:u32
struct CUstreamMemOpAtomicReductionParams_st operation:CUstreamBatchMemOpType flags:u32 reductionOp:CUstreamAtomicReductionOpType
    dataType:CUstreamAtomicReductionDataType address:CUdeviceptr value:u64 alias:CUdeviceptr
union CUstreamBatchMemOpParams operation:CUstreamBatchMemOpType waitValue:CUstreamMemOpWaitValueParams_st
    writeValue:CUstreamMemOpWriteValueParams_st flushRemoteWrites:CUstreamMemOpFlushRemoteWritesParams_st
    memoryBarrier:CUstreamMemOpMemoryBarrierParams_st atomicReduction:CUstreamMemOpAtomicReductionParams_st pad:u64[6]
struct CUmemPoolPtrExportData reserved:u8[64]
struct CUDA_MEMSET_NODE_PARAMS dst:CUdeviceptr pitch:usize value:u32 elementSize:u32 width:usize height:usize
struct CUDA_HOST_NODE_PARAMS fn:CUhostFn userData:pointer
struct CUDA_MEM_ALLOC_NODE_PARAMS poolProps:CUmemPoolProps accessDescs:CUmemAccessDesc* accessDescCount:usize bytesize:usize
    dptr:CUdeviceptr
struct CUDA_GRAPH_INSTANTIATE_PARAMS flags:u64 hUploadStream:CUstream hErrNode_out:CUgraphNode result_out:CUgraphInstantiateResult
struct CUgraphEdgeData from_port:u8 to_port:u8 type:u8 reserved:u8[5]
struct CUgraphExecUpdateResultInfo result:CUgraphExecUpdateResult errorNode:CUgraphNode errorFromNode:CUgraphNode
struct CUipcEventHandle reserved:bytes[64]
struct CUipcMemHandle reserved:bytes[64]
struct CUmemcpy3DOperand_op_ptr ptr:CUdeviceptr rowLength:usize layerHeight:usize locHint:CUmemLocation
struct CUmemcpy3DOperand_op_array array:CUarray offset:CUoffset3D
union CUmemcpy3DOperand_op ptr:CUmemcpy3DOperand_op_ptr array:CUmemcpy3DOperand_op_array
struct CUmemcpy3DOperand type:CUmemcpy3DOperandType op:CUmemcpy3DOperand_op
struct CUDA_MEMCPY3D_BATCH_OP src:CUmemcpy3DOperand dst:CUmemcpy3DOperand extent:CUextent3D srcAccessOrder:CUmemcpySrcAccessOrder flags:u32
struct CUdevSmResource smCount:u32 minSmPartitionSize:u32 smCoscheduledAlignment:u32 flags:u32 localityDomainId:u32
struct CUdevWorkqueueConfigResource device:CUdevice wqConcurrencyLimit:u32 sharingScope:CUdevWorkqueueConfigScope
struct CUdevWorkqueueResource reserved:u8[40]
struct CUdevResource type:CUdevResourceType _internal_padding:u8[92] sm:CUdevSmResource |wqConfig:CUdevWorkqueueConfigResource
    |wq:CUdevWorkqueueResource |_oversize:u8[40] nextResource:pointer
struct CU_DEV_SM_RESOURCE_GROUP_PARAMS smCount:u32 coscheduledSmCount:u32 preferredCoscheduledSmCount:u32 flags:u32 localityDomainId:u32
    reserved:u32[11]
ending _st CUDA_ARRAY3D_DESCRIPTOR CUDA_ARRAY_DESCRIPTOR CUDA_ARRAY_MEMORY_REQUIREMENTS CUDA_ARRAY_SPARSE_PROPERTIES
    CUDA_GRAPH_INSTANTIATE_PARAMS CUDA_HOST_NODE_PARAMS CUDA_LAUNCH_PARAMS CUDA_MEMCPY2D CUDA_MEMCPY3D_BATCH_OP CUDA_MEMCPY3D_PEER
    CUDA_MEMCPY3D CUDA_MEMSET_NODE_PARAMS CUDA_RESOURCE_DESC CUDA_RESOURCE_VIEW_DESC CUDA_TEXTURE_DESC CU_DEV_SM_RESOURCE_GROUP_PARAMS
    CUaccessPolicyWindow CUctxCigParam CUctxCreateParams CUdevResource CUdevSmResource CUdevWorkqueueConfigResource CUdevWorkqueueResource
    CUdevprop CUexecAffinityParam CUexecAffinitySmCount CUextent3D CUgraphEdgeData CUgraphExecUpdateResultInfo CUipcEventHandle
    CUipcMemHandle CUlaunchAttribute CUlaunchConfig CUlaunchMemSyncDomainMap CUmemAccessDesc CUmemAllocationProp CUmemLocation
    CUmemPoolProps CUmemPoolPtrExportData CUmemcpy3DOperand CUmemcpyAttributes CUmulticastObjectProp CUoffset3D CUtensorMap CUuuid
ending _v2 CUDA_ARRAY3D_DESCRIPTOR CUDA_ARRAY_DESCRIPTOR CUDA_KERNEL_NODE_PARAMS CUDA_MEMCPY2D CUDA_MEMCPY3D
ending _v1 CUDA_ARRAY_MEMORY_REQUIREMENTS CUDA_ARRAY_SPARSE_PROPERTIES CUDA_HOST_NODE_PARAMS CUDA_LAUNCH_PARAMS CUDA_MEMCPY3D_BATCH_OP
    CUDA_MEMCPY3D_PEER CUDA_MEMSET_NODE_PARAMS CUDA_MEM_ALLOC_NODE_PARAMS CUDA_RESOURCE_DESC CUDA_RESOURCE_VIEW_DESC CUDA_TEXTURE_DESC
    CUaccessPolicyWindow CUdevResource CUdevprop CUexecAffinityParam CUexecAffinitySmCount CUextent3D CUgraphExecUpdateResultInfo
    CUipcEventHandle CUipcMemHandle CUmemAccessDesc CUmemAllocationProp CUmemLocation CUmemPoolProps CUmemPoolPtrExportData
    CUmemcpy3DOperand CUmemcpyAttributes CUmulticastObjectProp CUoffset3D CUstreamBatchMemOpParams
ending _v2_st CUDA_KERNEL_NODE_PARAMS
ending _v1_st CUDA_MEM_ALLOC_NODE_PARAMS
ending _union CUlaunchAttributeValue CUstreamBatchMemOpParams
alias CUkernelNodeAttrValue=CUlaunchAttributeValue CUkernelNodeAttrValue_v1=CUlaunchAttributeValue CUstreamAttrValue=CUlaunchAttributeValue
    CUstreamAttrValue_v1=CUlaunchAttributeValue
"""
STRUCTS = Structs(__name__, _TABLE, ENUMS.get)
__getattr__ = STRUCTS.attribute
__dir__ = STRUCTS.names
