"""The C functions of the driver library, written by tools/derive_abi.py: parameters, then the names of those that have them.

A parameter is name:type; type* is written or read through a pointer, type& only read; after a name stands the first version that has it.
"""

CALLS = """\
| cuCtxSynchronize:2000 cuCtxResetPersistingL2Cache:11000 cuProfilerStart:4000 cuProfilerStop:4000 cuGraphicsGLRegisterBuffer:3000
    cuGraphicsGLRegisterImage:3000 cuWGLGetDevice:2020 cuGLGetDevices:4010 cuGLGetDevices_v2:6050 cuGLCtxCreate:2000 cuGLCtxCreate_v2:3020
    cuGLInit:2000 cuGLRegisterBufferObject:2000 cuGLMapBufferObject:2000 cuGLMapBufferObject_v2:3020 cuGLMapBufferObject_v2_ptds:7000
    cuGLUnmapBufferObject:2000 cuGLUnregisterBufferObject:2000 cuGLSetBufferObjectMapFlags:2030 cuGLMapBufferObjectAsync:2030
    cuGLMapBufferObjectAsync_v2:3020 cuGLMapBufferObjectAsync_v2_ptsz:7000 cuGLUnmapBufferObjectAsync:2030 cuGraphicsEGLRegisterImage:7000
    cuEGLStreamConsumerConnect:7000 cuEGLStreamConsumerConnectWithFlags:8000 cuEGLStreamConsumerDisconnect:7000
    cuEGLStreamConsumerAcquireFrame:7000 cuEGLStreamConsumerReleaseFrame:7000 cuEGLStreamProducerConnect:7000
    cuEGLStreamProducerDisconnect:7000 cuEGLStreamProducerPresentFrame:7000 cuEGLStreamProducerReturnFrame:7000
    cuGraphicsResourceGetMappedEglFrame:7000 cuEventCreateFromEGLSync:9000 cuVDPAUGetDevice:3010 cuVDPAUCtxCreate:3010
    cuVDPAUCtxCreate_v2:3020 cuGraphicsVDPAURegisterVideoSurface:3010 cuGraphicsVDPAURegisterOutputSurface:3010
- | cuModuleGetGlobal:2000 cuMemAlloc:2000 cuMemAllocPitch:2000 cuMemFree:2000 cuMemGetAddressRange:2000 cuMemHostGetDevicePointer:2020
    cuMemcpyHtoD:2000 cuMemcpyDtoH:2000 cuMemcpyDtoD:2000 cuMemcpyDtoA:2000 cuMemcpyAtoD:2000 cuMemcpy2D:2000 cuMemcpy2DUnaligned:2000
    cuMemcpy3D:2000 cuMemcpyHtoDAsync:2000 cuMemcpyDtoHAsync:2000 cuMemcpyDtoDAsync:3000 cuMemcpy2DAsync:2000 cuMemcpy3DAsync:2000
    cuMemsetD8:2000 cuMemsetD16:2000 cuMemsetD32:2000 cuMemsetD2D8:2000 cuMemsetD2D16:2000 cuMemsetD2D32:2000 cuArrayCreate:2000
    cuArrayGetDescriptor:2000 cuArray3DCreate:2000 cuArray3DGetDescriptor:2000 cuTexRefSetAddress:2000 cuTexRefSetAddress2D:2020
    cuTexRefGetAddress:2000 cuGraphicsResourceGetMappedPointer:3000
ByteOffset:u64* hTexRef:ptr dptr:u64 bytes:u64 | cuTexRefSetAddress_v2:3020
Flags:u32 | cuInit:2000
attrib:i32 val:i32 kernel:ptr dev:i32 | cuKernelSetAttribute:12000
bindAlignment:u64* maxSize:u64* prop:CUlogicalEndpointProp& | cuLogicalEndpointGetLimits:13030
bytes:u32* dev:i32 | cuDeviceTotalMem:2000
bytes:u64* dev:i32 | cuDeviceTotalMem_v2:3020
callback:ptr | cuLogsUnregisterCallback:12090 cuCoredumpDeregisterStartCallback:13020 cuCoredumpDeregisterCompleteCallback:13020
callback:ptr userData:ptr callbackOut:ptr* | cuCoredumpRegisterStartCallback:13020 cuCoredumpRegisterCompleteCallback:13020
callbackFunc:ptr userData:ptr callback:ptr* | cuLogsRegisterCallback:12090
canAccessPeer:i32* dev:i32 peerDev:i32 | cuDeviceCanAccessPeer:4000
capabilities:u32* operations:i32& count:u32 dev:i32 | cuDeviceGetHostAtomicCapabilities:13000
capabilities:u32* operations:i32& count:u32 srcDevice:i32 dstDevice:i32 | cuDeviceGetP2PAtomicCapabilities:13000
cliqueInfo:CUcliqueInfo* count:u64* dev:i32 | cuDeviceGetCliqueInfo:13040
clusterSize:i32* func:ptr config:CUlaunchConfig& | cuOccupancyMaxPotentialClusterSize:11070
config:CUlaunchConfig& f:ptr kernelParams:ptr* extra:ptr* | cuLaunchKernelEx_ptsz:11060 cuLaunchKernelEx:11060
config:i32 | cuCtxSetCacheConfig:3020 cuCtxSetSharedMemConfig:4020
configFile:str outputFile:str outputMode:i32 | cuProfilerInitialize:4000
count:i32* | cuDeviceGetCount:2000
count:u32 resources:ptr* hStream:ptr | cuGraphicsMapResources:3000 cuGraphicsMapResources_ptsz:7000 cuGraphicsUnmapResources:3000
    cuGraphicsUnmapResources_ptsz:7000
count:u32* hmod:ptr | cuModuleGetFunctionCount:12040
count:u32* lib:ptr | cuLibraryGetKernelCount:12040
count:u64* dev:i32 | cuDeviceGetCliqueCount:13040
ctx:ptr | cuCtxDestroy:2000 cuCtxDestroy_v2:4000 cuCtxPushCurrent:2000 cuCtxPushCurrent_v2:4000 cuCtxSetCurrent:4000
    cuCtxSynchronize_v2:13000 cuCtxDetach:2000
ctx:ptr ctxId:u64* | cuCtxGetId:12000
ctx:ptr version:u32* | cuCtxGetApiVersion:3020
data:ptr attribute:i32 ptr:u64 | cuPointerGetAttribute:4000
data:ptr dataSize:u64 attribute:i32 devPtr:u64 count:u64 | cuMemRangeGetAttribute:8000
data:ptr* dataSizes:u64* attributes:i32* numAttributes:u64 devPtr:u64 count:u64 | cuMemRangeGetAttributes:8000
dev:i32 | cuDevicePrimaryCtxRelease:7000 cuDevicePrimaryCtxRelease_v2:11000 cuDevicePrimaryCtxReset:7000 cuDevicePrimaryCtxReset_v2:11000
dev:i32 flags:u32 | cuDevicePrimaryCtxSetFlags:7000 cuDevicePrimaryCtxSetFlags_v2:11000
dev:i32 flags:u32* active:i32* | cuDevicePrimaryCtxGetState:7000
dev:i32 pool:ptr | cuDeviceSetMemPool:11020
dev:i32 result:CUdevResource* type:i32 | cuDeviceGetDevResource:12040
dev:i32* pciBusId:str | cuDeviceGetByPCIBusId:4010
devPtr:u64 count:u64 advice:i32 device:i32 | cuMemAdvise:8000
devPtr:u64 count:u64 advice:i32 location:CUmemLocation | cuMemAdvise_v2:12020
devPtr:u64 count:u64 dstDevice:i32 hStream:ptr | cuMemPrefetchAsync_ptsz:8000 cuMemPrefetchAsync:8000
devPtr:u64 count:u64 location:CUmemLocation flags:u32 hStream:ptr | cuMemPrefetchAsync_v2_ptsz:12020 cuMemPrefetchAsync_v2:12020
devPtr:u64* extMem:ptr bufferDesc:CUDA_EXTERNAL_MEMORY_BUFFER_DESC& | cuExternalMemoryGetMappedBuffer:10000
device:i32 | cuDeviceGraphMemTrim:11040
device:i32 attr:i32 value:ptr | cuDeviceGetGraphMemAttribute:11040 cuDeviceSetGraphMemAttribute:11040
device:i32 callback:ptr | cuDeviceUnregisterAsyncNotification:12040
device:i32 callbackFunc:ptr userData:ptr callback:ptr* | cuDeviceRegisterAsyncNotification:12040
device:i32* | cuCtxGetDevice:2000
device:i32* ctx:ptr | cuCtxGetDevice_v2:13000
device:i32* ordinal:i32 | cuDeviceGet:2000
dptr:u64 | cuMemFree_v2:3020 cuIpcCloseMemHandle:4010
dptr:u64 hStream:ptr | cuMemFreeAsync_ptsz:11020 cuMemFreeAsync:11020
dptr:u64* bytes:u64* hmod:ptr name:str | cuModuleGetGlobal_v2:3020
dptr:u64* bytes:u64* library:ptr name:str | cuLibraryGetGlobal:12000 cuLibraryGetManaged:12000
dptr:u64* bytesize:u64 | cuMemAlloc_v2:3020
dptr:u64* bytesize:u64 flags:u32 | cuMemAllocManaged:6000
dptr:u64* bytesize:u64 hStream:ptr | cuMemAllocAsync_ptsz:11020 cuMemAllocAsync:11020
dptr:u64* bytesize:u64 pool:ptr hStream:ptr | cuMemAllocFromPoolAsync_ptsz:11020 cuMemAllocFromPoolAsync:11020
dptr:u64* pPitch:u64* WidthInBytes:u64 Height:u64 ElementSizeBytes:u32 | cuMemAllocPitch_v2:3020
dptrs:u64* sizes:u64* count:u64 flags:u64 hStream:ptr | cuMemDiscardBatchAsync_ptsz:13000 cuMemDiscardBatchAsync:13000
dptrs:u64* sizes:u64* count:u64 prefetchLocs:CUmemLocation* prefetchLocIdxs:u64* numPrefetchLocs:u64 flags:u64 hStream:ptr |
    cuMemPrefetchBatchAsync_ptsz:13000 cuMemPrefetchBatchAsync:13000 cuMemDiscardAndPrefetchBatchAsync_ptsz:13000
    cuMemDiscardAndPrefetchBatchAsync:13000
driverVersion:i32* | cuDriverGetVersion:2020
dst:ptr src:ptr | cuStreamCopyAttributes_ptsz:11000 cuGraphKernelNodeCopyAttributes:11000
dst:u64 src:u64 ByteCount:u64 | cuMemcpy:4000 cuMemcpy_ptds:7000
dst:u64 src:u64 ByteCount:u64 hStream:ptr | cuMemcpyAsync:4000 cuMemcpyAsync_ptsz:7000
dst:u64 src:u64 size:u64 attr:CUmemcpyAttributes* hStream:ptr | cuMemcpyWithAttributesAsync_ptsz:13020 cuMemcpyWithAttributesAsync:13020
dstArray:ptr dstOffset:u32 srcArray:ptr srcOffset:u32 ByteCount:u32 | cuMemcpyAtoA:2000
dstArray:ptr dstOffset:u32 srcHost:ptr ByteCount:u32 | cuMemcpyHtoA:2000
dstArray:ptr dstOffset:u32 srcHost:ptr ByteCount:u32 hStream:ptr | cuMemcpyHtoAAsync:2000
dstArray:ptr dstOffset:u64 srcArray:ptr srcOffset:u64 ByteCount:u64 | cuMemcpyAtoA_v2:3020 cuMemcpyAtoA_v2_ptds:7000
dstArray:ptr dstOffset:u64 srcDevice:u64 ByteCount:u64 | cuMemcpyDtoA_v2:3020 cuMemcpyDtoA_v2_ptds:7000
dstArray:ptr dstOffset:u64 srcHost:ptr ByteCount:u64 | cuMemcpyHtoA_v2:3020 cuMemcpyHtoA_v2_ptds:7000
dstArray:ptr dstOffset:u64 srcHost:ptr ByteCount:u64 hStream:ptr | cuMemcpyHtoAAsync_v2:3020 cuMemcpyHtoAAsync_v2_ptsz:7000
dstDevice:u64 dstContext:ptr srcDevice:u64 srcContext:ptr ByteCount:u64 | cuMemcpyPeer:4000 cuMemcpyPeer_ptds:7000
dstDevice:u64 dstContext:ptr srcDevice:u64 srcContext:ptr ByteCount:u64 hStream:ptr | cuMemcpyPeerAsync:4000 cuMemcpyPeerAsync_ptsz:7000
dstDevice:u64 dstPitch:u64 uc:u8 Width:u64 Height:u64 | cuMemsetD2D8_v2:3020 cuMemsetD2D8_v2_ptds:7000
dstDevice:u64 dstPitch:u64 uc:u8 Width:u64 Height:u64 hStream:ptr | cuMemsetD2D8Async:3020 cuMemsetD2D8Async_ptsz:7000
dstDevice:u64 dstPitch:u64 ui:u32 Width:u64 Height:u64 | cuMemsetD2D32_v2:3020 cuMemsetD2D32_v2_ptds:7000
dstDevice:u64 dstPitch:u64 ui:u32 Width:u64 Height:u64 hStream:ptr | cuMemsetD2D32Async:3020 cuMemsetD2D32Async_ptsz:7000
dstDevice:u64 dstPitch:u64 us:u16 Width:u64 Height:u64 | cuMemsetD2D16_v2:3020 cuMemsetD2D16_v2_ptds:7000
dstDevice:u64 dstPitch:u64 us:u16 Width:u64 Height:u64 hStream:ptr | cuMemsetD2D16Async:3020 cuMemsetD2D16Async_ptsz:7000
dstDevice:u64 srcArray:ptr srcOffset:u64 ByteCount:u64 | cuMemcpyAtoD_v2:3020 cuMemcpyAtoD_v2_ptds:7000
dstDevice:u64 srcDevice:u64 ByteCount:u64 | cuMemcpyDtoD_v2:3020 cuMemcpyDtoD_v2_ptds:7000
dstDevice:u64 srcDevice:u64 ByteCount:u64 hStream:ptr | cuMemcpyDtoDAsync_v2:3020 cuMemcpyDtoDAsync_v2_ptsz:7000
dstDevice:u64 srcHost:ptr ByteCount:u64 | cuMemcpyHtoD_v2:3020 cuMemcpyHtoD_v2_ptds:7000
dstDevice:u64 srcHost:ptr ByteCount:u64 hStream:ptr | cuMemcpyHtoDAsync_v2:3020 cuMemcpyHtoDAsync_v2_ptsz:7000
dstDevice:u64 uc:u8 N:u64 | cuMemsetD8_v2:3020 cuMemsetD8_v2_ptds:7000
dstDevice:u64 uc:u8 N:u64 hStream:ptr | cuMemsetD8Async:3020 cuMemsetD8Async_ptsz:7000
dstDevice:u64 ui:u32 N:u64 | cuMemsetD32_v2:3020 cuMemsetD32_v2_ptds:7000
dstDevice:u64 ui:u32 N:u64 hStream:ptr | cuMemsetD32Async:3020 cuMemsetD32Async_ptsz:7000
dstDevice:u64 us:u16 N:u64 | cuMemsetD16_v2:3020 cuMemsetD16_v2_ptds:7000
dstDevice:u64 us:u16 N:u64 hStream:ptr | cuMemsetD16Async:3020 cuMemsetD16Async_ptsz:7000
dstHost:ptr srcArray:ptr srcOffset:u32 ByteCount:u32 | cuMemcpyAtoH:2000
dstHost:ptr srcArray:ptr srcOffset:u32 ByteCount:u32 hStream:ptr | cuMemcpyAtoHAsync:2000
dstHost:ptr srcArray:ptr srcOffset:u64 ByteCount:u64 | cuMemcpyAtoH_v2:3020 cuMemcpyAtoH_v2_ptds:7000
dstHost:ptr srcArray:ptr srcOffset:u64 ByteCount:u64 hStream:ptr | cuMemcpyAtoHAsync_v2:3020 cuMemcpyAtoHAsync_v2_ptsz:7000
dstHost:ptr srcDevice:u64 ByteCount:u64 | cuMemcpyDtoH_v2:3020 cuMemcpyDtoH_v2_ptds:7000
dstHost:ptr srcDevice:u64 ByteCount:u64 hStream:ptr | cuMemcpyDtoHAsync_v2:3020 cuMemcpyDtoHAsync_v2_ptsz:7000
dstStream:ptr srcStream:ptr | cuStreamCopyAttributes:11000
dsts:u64* srcs:u64* sizes:u64* count:u64 attrs:CUmemcpyAttributes* attrIdxs:u64* numAttrs:u64 failIdx:u64* hStream:ptr |
    cuMemcpyBatchAsync_ptsz:12080 cuMemcpyBatchAsync:12080
dsts:u64* srcs:u64* sizes:u64* count:u64 attrs:CUmemcpyAttributes* attrIdxs:u64* numAttrs:u64 hStream:ptr | cuMemcpyBatchAsync_v2_ptsz:13000
    cuMemcpyBatchAsync_v2:13000
dynamicSmemSize:u64* func:ptr numBlocks:i32 blockSize:i32 | cuOccupancyAvailableDynamicSMemPerBlock:10020
error:i32 pStr:ptr* | cuGetErrorString:6000 cuGetErrorName:6000
extMem:ptr | cuDestroyExternalMemory:10000
extMem_out:ptr* memHandleDesc:CUDA_EXTERNAL_MEMORY_HANDLE_DESC& | cuImportExternalMemory:10000
extSem:ptr | cuDestroyExternalSemaphore:10000
extSemArray:ptr& paramsArray:CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS& numExtSems:u32 stream:ptr | cuSignalExternalSemaphoresAsync_ptsz:10000
    cuSignalExternalSemaphoresAsync:10000
extSemArray:ptr& paramsArray:CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS& numExtSems:u32 stream:ptr | cuWaitExternalSemaphoresAsync_ptsz:10000
    cuWaitExternalSemaphoresAsync:10000
extSem_out:ptr* semHandleDesc:CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC& | cuImportExternalSemaphore:10000
f:ptr | cuLaunch:2000
f:ptr gridDimX:u32 gridDimY:u32 gridDimZ:u32 blockDimX:u32 blockDimY:u32 blockDimZ:u32 sharedMemBytes:u32 hStream:ptr kernelParams:ptr* |
    cuLaunchCooperativeKernel_ptsz:9000 cuLaunchCooperativeKernel:9000
f:ptr gridDimX:u32 gridDimY:u32 gridDimZ:u32 blockDimX:u32 blockDimY:u32 blockDimZ:u32 sharedMemBytes:u32 hStream:ptr kernelParams:ptr*
    extra:ptr* | cuLaunchKernel:4000 cuLaunchKernel_ptsz:7000
f:ptr grid_width:i32 grid_height:i32 | cuLaunchGrid:2000
f:ptr grid_width:i32 grid_height:i32 hStream:ptr | cuLaunchGridAsync:2000
flags:i32* memPool:ptr location:CUmemLocation* | cuMemPoolGetAccess:11020
flags:u32 | cuCtxSetFlags:12010
flags:u32* | cuCtxGetFlags:7000
flags:u64* location:CUmemLocation& ptr:u64 | cuMemGetAccess:10020
fptr:ptr* library:ptr symbol:str | cuLibraryGetUnifiedFunction:12000
free:u32* total:u32* | cuMemGetInfo:2000
free:u64* total:u64* | cuMemGetInfo_v2:3020
func:ptr paramCount:u64* | cuFuncGetParamCount:13020
func:ptr paramIndex:u64 paramOffset:u64* paramSize:u64* | cuFuncGetParamInfo:12040
functions:ptr* numFunctions:u32 mod:ptr | cuModuleEnumerateFunctions:12040
get:i32 value:ptr size:u64* | cuCoredumpGetAttribute:12010 cuCoredumpGetAttributeGlobal:12010
granularity:u64* prop:CUmemAllocationProp& option:i32 | cuMemGetAllocationGranularity:10020
granularity:u64* prop:CUmulticastObjectProp& option:i32 | cuMulticastGetGranularity:12010
graph:ptr object:ptr count:u32 | cuGraphReleaseUserObject:11030
graph:ptr object:ptr count:u32 flags:u32 | cuGraphRetainUserObject:11030
graphExec:ptr node:ptr nodeParams:CUDA_BATCH_MEM_OP_NODE_PARAMS& | cuGraphExecBatchMemOpNodeSetParams:11070
greenCtx:ptr greenCtxId:u64* | cuGreenCtxGetId:12090
hArray:ptr | cuArrayDestroy:2000
hCtx:ptr | cuGreenCtxDestroy:12040
hCtx:ptr hEvent:ptr | cuGreenCtxRecordEvent:12040 cuGreenCtxWaitEvent:12040 cuCtxRecordEvent:12050 cuCtxWaitEvent:12050
hCtx:ptr result:CUdevResource* type:i32 | cuCtxGetDevResource:12040 cuGreenCtxGetDevResource:12040
hEvent:ptr | cuEventQuery:2000 cuEventSynchronize:2000 cuEventDestroy:2000 cuEventDestroy_v2:4000
hEvent:ptr hStream:ptr | cuEventRecord:2000 cuEventRecord_ptsz:7000
hEvent:ptr hStream:ptr flags:u32 | cuEventRecordWithFlags_ptsz:11010 cuEventRecordWithFlags:11010
hGraph:ptr | cuGraphDestroy:10000
hGraph:ptr from_:ptr& to:ptr& edgeData:CUgraphEdgeData& numDependencies:u64 | cuGraphAddDependencies_v2:12030
    cuGraphRemoveDependencies_v2:12030
hGraph:ptr from_:ptr& to:ptr& numDependencies:u64 | cuGraphAddDependencies:10000 cuGraphRemoveDependencies:10000
hGraph:ptr from_:ptr* to:ptr* edgeData:CUgraphEdgeData* numEdges:u64* | cuGraphGetEdges_v2:12030
hGraph:ptr from_:ptr* to:ptr* numEdges:u64* | cuGraphGetEdges:10000
hGraph:ptr graphId:u32* | cuGraphGetId:13010
hGraph:ptr hStream:ptr | cuGraphUpload:11010 cuGraphLaunch:10000
hGraph:ptr nodes:ptr* numNodes:u64* | cuGraphGetNodes:10000
hGraph:ptr path:str flags:u32 | cuGraphDebugDotPrint:11030
hGraph:ptr rootNodes:ptr* numRootNodes:u64* | cuGraphGetRootNodes:10000
hGraphExec:ptr | cuGraphExecDestroy:10000
hGraphExec:ptr flags:u64* | cuGraphExecGetFlags:12000
hGraphExec:ptr graphId:u32* | cuGraphExecGetId:13010
hGraphExec:ptr hGraph:ptr hErrorNode_out:ptr* updateResult_out:i32* | cuGraphExecUpdate:10020
hGraphExec:ptr hGraph:ptr resultInfo:CUgraphExecUpdateResultInfo* | cuGraphExecUpdate_v2:12000
hGraphExec:ptr hNode:ptr childGraph:ptr | cuGraphExecChildGraphNodeSetParams:11010
hGraphExec:ptr hNode:ptr copyParams:CUDA_MEMCPY3D& ctx:ptr | cuGraphExecMemcpyNodeSetParams:10020
hGraphExec:ptr hNode:ptr event:ptr | cuGraphExecEventRecordNodeSetEvent:11010 cuGraphExecEventWaitNodeSetEvent:11010
hGraphExec:ptr hNode:ptr isEnabled:u32 | cuGraphNodeSetEnabled:11060
hGraphExec:ptr hNode:ptr isEnabled:u32* | cuGraphNodeGetEnabled:11060
hGraphExec:ptr hNode:ptr memsetParams:CUDA_MEMSET_NODE_PARAMS& ctx:ptr | cuGraphExecMemsetNodeSetParams:10020
hGraphExec:ptr hNode:ptr nodeParams:CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& | cuGraphExecExternalSemaphoresSignalNodeSetParams:11020
hGraphExec:ptr hNode:ptr nodeParams:CUDA_EXT_SEM_WAIT_NODE_PARAMS& | cuGraphExecExternalSemaphoresWaitNodeSetParams:11020
hGraphExec:ptr hNode:ptr nodeParams:CUDA_HOST_NODE_PARAMS& | cuGraphExecHostNodeSetParams:10020
hGraphExec:ptr hNode:ptr nodeParams:CUDA_KERNEL_NODE_PARAMS& | cuGraphExecKernelNodeSetParams:10010 cuGraphExecKernelNodeSetParams_v2:12000
hGraphExec:ptr hNode:ptr nodeParams:CUgraphNodeParams* | cuGraphExecNodeSetParams:12020
hGraphExec:ptr hStream:ptr | cuGraphUpload_ptsz:11010 cuGraphLaunch_ptsz:10000
hMipmappedArray:ptr | cuMipmappedArrayDestroy:5000
hNode:ptr | cuGraphDestroyNode:10000
hNode:ptr attr:i32 value:CUkernelNodeAttrValue& | cuGraphKernelNodeSetAttribute:11000
hNode:ptr attr:i32 value_out:CUkernelNodeAttrValue* | cuGraphKernelNodeGetAttribute:11000
hNode:ptr dependencies:ptr* edgeData:CUgraphEdgeData* numDependencies:u64* | cuGraphNodeGetDependencies_v2:12030
hNode:ptr dependencies:ptr* numDependencies:u64* | cuGraphNodeGetDependencies:10000
hNode:ptr dependentNodes:ptr* edgeData:CUgraphEdgeData* numDependentNodes:u64* | cuGraphNodeGetDependentNodes_v2:12030
hNode:ptr dependentNodes:ptr* numDependentNodes:u64* | cuGraphNodeGetDependentNodes:10000
hNode:ptr dptr_out:u64* | cuGraphMemFreeNodeGetParams:11040
hNode:ptr event:ptr | cuGraphEventRecordNodeSetEvent:11010 cuGraphEventWaitNodeSetEvent:11010
hNode:ptr event_out:ptr* | cuGraphEventRecordNodeGetEvent:11010 cuGraphEventWaitNodeGetEvent:11010
hNode:ptr nodeId:u32* | cuGraphNodeGetLocalId:13010
hNode:ptr nodeId:u64* | cuGraphNodeGetToolsId:13010
hNode:ptr nodeParams:CUDA_BATCH_MEM_OP_NODE_PARAMS& | cuGraphBatchMemOpNodeSetParams:11070
hNode:ptr nodeParams:CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& | cuGraphExternalSemaphoresSignalNodeSetParams:11020
hNode:ptr nodeParams:CUDA_EXT_SEM_WAIT_NODE_PARAMS& | cuGraphExternalSemaphoresWaitNodeSetParams:11020
hNode:ptr nodeParams:CUDA_HOST_NODE_PARAMS& | cuGraphHostNodeSetParams:10000
hNode:ptr nodeParams:CUDA_HOST_NODE_PARAMS* | cuGraphHostNodeGetParams:10000
hNode:ptr nodeParams:CUDA_KERNEL_NODE_PARAMS& | cuGraphKernelNodeSetParams:10000 cuGraphKernelNodeSetParams_v2:12000
hNode:ptr nodeParams:CUDA_KERNEL_NODE_PARAMS* | cuGraphKernelNodeGetParams:10000 cuGraphKernelNodeGetParams_v2:12000
hNode:ptr nodeParams:CUDA_MEMCPY3D& | cuGraphMemcpyNodeSetParams:10000
hNode:ptr nodeParams:CUDA_MEMCPY3D* | cuGraphMemcpyNodeGetParams:10000
hNode:ptr nodeParams:CUDA_MEMSET_NODE_PARAMS& | cuGraphMemsetNodeSetParams:10000
hNode:ptr nodeParams:CUDA_MEMSET_NODE_PARAMS* | cuGraphMemsetNodeGetParams:10000
hNode:ptr nodeParams:CUgraphNodeParams* | cuGraphNodeSetParams:12020 cuGraphNodeSetParams_v2:13040 cuGraphNodeGetParams:13020
hNode:ptr nodeParams_out:CUDA_BATCH_MEM_OP_NODE_PARAMS* | cuGraphBatchMemOpNodeGetParams:11070
hNode:ptr params_out:CUDA_EXT_SEM_SIGNAL_NODE_PARAMS* | cuGraphExternalSemaphoresSignalNodeGetParams:11020
hNode:ptr params_out:CUDA_EXT_SEM_WAIT_NODE_PARAMS* | cuGraphExternalSemaphoresWaitNodeGetParams:11020
hNode:ptr params_out:CUDA_MEM_ALLOC_NODE_PARAMS* | cuGraphMemAllocNodeGetParams:11040
hNode:ptr phGraph:ptr* | cuGraphChildGraphNodeGetGraph:10000 cuGraphNodeGetContainingGraph:13010
hNode:ptr type:i32* | cuGraphNodeGetType:10000
hStream:ptr | cuStreamBeginCapture:10000 cuStreamBeginCapture_ptsz:10000 cuStreamEndCaptureToCig:13010 cuStreamEndCaptureToCig_ptsz:13010
    cuStreamQuery:2000 cuStreamQuery_ptsz:7000 cuStreamSynchronize:2000 cuStreamSynchronize_ptsz:7000 cuStreamDestroy:2000
    cuStreamDestroy_v2:4000
hStream:ptr attr:i32 param:CUstreamAttrValue& | cuStreamSetAttribute:11000
hStream:ptr attr:i32 value:CUstreamAttrValue& | cuStreamSetAttribute_ptsz:11000
hStream:ptr attr:i32 value:CUstreamAttrValue* | cuStreamGetAttribute:11000
hStream:ptr attr:i32 value_out:CUstreamAttrValue* | cuStreamGetAttribute_ptsz:11000
hStream:ptr callback:ptr userData:ptr flags:u32 | cuStreamAddCallback:5000 cuStreamAddCallback_ptsz:7000
hStream:ptr captureStatus:i32* | cuStreamIsCapturing_ptsz:10000 cuStreamIsCapturing:10000
hStream:ptr captureStatus_out:i32* id_out:u64* | cuStreamGetCaptureInfo_ptsz:10010 cuStreamGetCaptureInfo:10010
hStream:ptr captureStatus_out:i32* id_out:u64* graph_out:ptr* dependencies_out:ptr* edgeData_out:ptr* numDependencies_out:u64* |
    cuStreamGetCaptureInfo_v3_ptsz:12030 cuStreamGetCaptureInfo_v3:12030
hStream:ptr captureStatus_out:i32* id_out:u64* graph_out:ptr* dependencies_out:ptr* numDependencies_out:u64* |
    cuStreamGetCaptureInfo_v2_ptsz:11030 cuStreamGetCaptureInfo_v2:11030
hStream:ptr dependencies:ptr* dependencyData:CUgraphEdgeData& numDependencies:u64 flags:u32 |
    cuStreamUpdateCaptureDependencies_v2_ptsz:12030 cuStreamUpdateCaptureDependencies_v2:12030
hStream:ptr dependencies:ptr* numDependencies:u64 flags:u32 | cuStreamUpdateCaptureDependencies_ptsz:11030
    cuStreamUpdateCaptureDependencies:11030
hStream:ptr device:i32* | cuStreamGetDevice:12080 cuStreamGetDevice_ptsz:12080
hStream:ptr dptr:u64 length:u64 flags:u32 | cuStreamAttachMemAsync:6000 cuStreamAttachMemAsync_ptsz:7000
hStream:ptr flags:u32* | cuStreamGetFlags:5050 cuStreamGetFlags_ptsz:7000
hStream:ptr fn:ptr userData:ptr | cuLaunchHostFunc_ptsz:10000 cuLaunchHostFunc:10000
hStream:ptr fn:ptr userData:ptr syncMode:u32 | cuLaunchHostFunc_v2:13010 cuLaunchHostFunc_v2_ptsz:13010
hStream:ptr hEvent:ptr Flags:u32 | cuStreamWaitEvent:3020 cuStreamWaitEvent_ptsz:7000
hStream:ptr hGraph:ptr dependencies:ptr& dependencyData:CUgraphEdgeData& numDependencies:u64 mode:i32 |
    cuStreamBeginCaptureToGraph_ptsz:12030 cuStreamBeginCaptureToGraph:12030
hStream:ptr mode:i32 | cuStreamBeginCapture_v2_ptsz:10010 cuStreamBeginCapture_v2:10010
hStream:ptr mode:i32 hGraph:ptr callbackFunc:ptr userData:ptr | cuStreamBeginRecaptureToGraph_ptsz:13030 cuStreamBeginRecaptureToGraph:13030
hStream:ptr pctx:ptr* | cuStreamGetCtx_ptsz:9020 cuStreamGetCtx:9020
hStream:ptr pctx:ptr* pGreenCtx:ptr* | cuStreamGetCtx_v2:12050 cuStreamGetCtx_v2_ptsz:12050
hStream:ptr phCtx:ptr* | cuStreamGetGreenCtx:12040
hStream:ptr phGraph:ptr* | cuStreamEndCapture_ptsz:10000 cuStreamEndCapture:10000
hStream:ptr priority:i32* | cuStreamGetPriority:5050 cuStreamGetPriority_ptsz:7000
hStream:ptr result:CUdevResource* type:i32 | cuStreamGetDevResource:13010 cuStreamGetDevResource_ptsz:13010
hStream:ptr streamCigCaptureParams:CUstreamCigCaptureParams* | cuStreamBeginCaptureToCig:13010 cuStreamBeginCaptureToCig_ptsz:13010
hStream:ptr streamId:u64* | cuStreamGetId:12000 cuStreamGetId_ptsz:12000
hSurfRef:ptr hArray:ptr Flags:u32 | cuSurfRefSetArray:3000
hTexRef:ptr | cuTexRefDestroy:2000
hTexRef:ptr Flags:u32 | cuTexRefSetFlags:2000
hTexRef:ptr bias:f32 | cuTexRefSetMipmapLevelBias:5000
hTexRef:ptr desc:CUDA_ARRAY_DESCRIPTOR& dptr:u64 Pitch:u64 | cuTexRefSetAddress2D_v2:3020 cuTexRefSetAddress2D_v3:4010
hTexRef:ptr dim:i32 am:i32 | cuTexRefSetAddressMode:2000
hTexRef:ptr fm:i32 | cuTexRefSetFilterMode:2000 cuTexRefSetMipmapFilterMode:5000
hTexRef:ptr fmt:i32 NumPackedComponents:i32 | cuTexRefSetFormat:2000
hTexRef:ptr hArray:ptr Flags:u32 | cuTexRefSetArray:2000
hTexRef:ptr hMipmappedArray:ptr Flags:u32 | cuTexRefSetMipmappedArray:5000
hTexRef:ptr maxAniso:u32 | cuTexRefSetMaxAnisotropy:5000
hTexRef:ptr minMipmapLevelClamp:f32 maxMipmapLevelClamp:f32 | cuTexRefSetMipmapLevelClamp:5000
hTexRef:ptr pBorderColor:f32* | cuTexRefSetBorderColor:8000
handle:ptr | cuCheckpointOperationComplete:13040
handle:ptr dptr:u64 size:u64 handleType:i32 flags:u64 | cuMemGetHandleForAddressRange:11070
handle:ptr leId:u32 handleType:i32 | cuLogicalEndpointExport:13030
handle:u64 | cuMemRelease:10020
handle:u64* addr:ptr | cuMemRetainAllocationHandle:11000
handle:u64* osHandle:ptr shHandleType:i32 | cuMemImportFromShareableHandle:10020
handle:u64* size:u64 prop:CUmemAllocationProp& flags:u64 | cuMemCreate:10020
handle_out:ptr pool:ptr handleType:i32 flags:u64 | cuMemPoolExportToShareableHandle:11020
hfunc:ptr | cuFuncLoad:12040
hfunc:ptr attrib:i32 value:i32 | cuFuncSetAttribute:9000
hfunc:ptr bytes:u32 | cuFuncSetSharedSize:2000
hfunc:ptr config:i32 | cuFuncSetCacheConfig:3000 cuFuncSetSharedMemConfig:4020
hfunc:ptr numbytes:u32 | cuParamSetSize:2000
hfunc:ptr offset:i32 ptr:ptr numbytes:u32 | cuParamSetv:2000
hfunc:ptr offset:i32 value:f32 | cuParamSetf:2000
hfunc:ptr offset:i32 value:u32 | cuParamSeti:2000
hfunc:ptr texunit:i32 hTexRef:ptr | cuParamSetTexRef:2000
hfunc:ptr x:i32 y:i32 z:i32 | cuFuncSetBlockShape:2000
hfunc:ptr* hmod:ptr name:str | cuModuleGetFunction:2000
hmod:ptr | cuModuleUnload:2000
hmod:ptr* hfunc:ptr | cuFuncGetModule:11000
iterator:u32* buffer:chars size:u64* flags:u32 | cuLogsDumpToMemory:12090
iterator:u32* flags:u32 | cuLogsCurrent:12090
iterator:u32* pathToFile:str flags:u32 | cuLogsDumpToFile:12090
kernel:ptr config:i32 dev:i32 | cuKernelSetCacheConfig:12000
kernel:ptr paramCount:u64* | cuKernelGetParamCount:13020
kernel:ptr paramIndex:u64 paramOffset:u64* paramSize:u64* | cuKernelGetParamInfo:12040
kernels:ptr* numKernels:u32 lib:ptr | cuLibraryEnumerateKernels:12040
launchParamsList:CUDA_LAUNCH_PARAMS* numDevices:u32 flags:u32 | cuLaunchCooperativeKernelMultiDevice:9000
leId:u32 | cuLogicalEndpointDestroy:13030
leId:u32 count:u32 | cuLogicalEndpointIdRelease:13030
leId:u32 count:u32 queryStatus:i32* | cuLogicalEndpointQuery:13030
leId:u32 dev:i32 | cuLogicalEndpointAddDevice:13030
leId:u32 dev:i32 offset:u64 memHandle:u64 memOffset:u64 size:u64 flags:u64 | cuLogicalEndpointBindMem:13030
leId:u32 dev:i32 offset:u64 ptr:ptr size:u64 flags:u64 | cuLogicalEndpointBindAddr:13030
leId:u32 dev:i32 offset:u64 size:u64 | cuLogicalEndpointUnbind:13030
leId:u32 handle:ptr handleType:i32 | cuLogicalEndpointImport:13030
leId:u32 prop:CUlogicalEndpointProp& | cuLogicalEndpointCreate:13030
leId:u32* count:u32 | cuLogicalEndpointIdReserve:13030
leastPriority:i32* greatestPriority:i32* | cuCtxGetStreamPriorityRange:5050
library:ptr | cuLibraryUnload:12000
library:ptr* code:ptr jitOptions:i32* jitOptionsValues:ptr* numJitOptions:u32 libraryOptions:i32* libraryOptionValues:ptr*
    numLibraryOptions:u32 | cuLibraryLoadData:12000
library:ptr* fileName:str jitOptions:i32* jitOptionsValues:ptr* numJitOptions:u32 libraryOptions:i32* libraryOptionValues:ptr*
    numLibraryOptions:u32 | cuLibraryLoadFromFile:12000
limit:i32 value:u64 | cuCtxSetLimit:3010
location:CUmemLocation* type:i32 pool:ptr | cuMemSetMemPool:13000
luid:chars deviceNodeMask:u32* dev:i32 | cuDeviceGetLuid:10000
major:i32* minor:i32* dev:i32 | cuDeviceComputeCapability:2000
mapInfoList:CUarrayMapInfo* count:u32 hStream:ptr | cuMemMapArrayAsync_ptsz:11010 cuMemMapArrayAsync:11010
maxWidthInElements:u64* format:i32 numChannels:u32 dev:i32 | cuDeviceGetTexture1DLinearMaxWidth:11010
mcHandle:u64 dev:i32 | cuMulticastAddDevice:12010
mcHandle:u64 dev:i32 mcOffset:u64 memHandle:u64 memOffset:u64 size:u64 flags:u64 | cuMulticastBindMem_v2:13010
mcHandle:u64 dev:i32 mcOffset:u64 memptr:u64 size:u64 flags:u64 | cuMulticastBindAddr_v2:13010
mcHandle:u64 dev:i32 mcOffset:u64 size:u64 | cuMulticastUnbind:12010
mcHandle:u64 mcOffset:u64 memHandle:u64 memOffset:u64 size:u64 flags:u64 | cuMulticastBindMem:12010
mcHandle:u64 mcOffset:u64 memptr:u64 size:u64 flags:u64 | cuMulticastBindAddr:12010
mcHandle:u64* prop:CUmulticastObjectProp& | cuMulticastCreate:12010
memoryRequirements:CUDA_ARRAY_MEMORY_REQUIREMENTS* array:ptr device:i32 | cuArrayGetMemoryRequirements:11060
memoryRequirements:CUDA_ARRAY_MEMORY_REQUIREMENTS* mipmap:ptr device:i32 | cuMipmappedArrayGetMemoryRequirements:11060
minGridSize:i32* blockSize:i32* func:ptr blockSizeToDynamicSMemSize:ptr dynamicSMemSize:u64 blockSizeLimit:i32 |
    cuOccupancyMaxPotentialBlockSize:6050
minGridSize:i32* blockSize:i32* func:ptr blockSizeToDynamicSMemSize:ptr dynamicSMemSize:u64 blockSizeLimit:i32 flags:u32 |
    cuOccupancyMaxPotentialBlockSizeWithFlags:7000
mipmap:ptr* extMem:ptr mipmapDesc:CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC& | cuExternalMemoryGetMappedMipmappedArray:10000
mode:i32* | cuThreadExchangeStreamCaptureMode:10010 cuModuleGetLoadingMode:11070
module:ptr* fatCubin:ptr | cuModuleLoadFatBinary:2000
module:ptr* fname:str | cuModuleLoad:2000
module:ptr* image:ptr | cuModuleLoadData:2000
module:ptr* image:ptr numOptions:u32 options:i32* optionValues:ptr* | cuModuleLoadDataEx:2010
name:chars len:i32 dev:i32 | cuDeviceGetName:2000
name:ptr* hfunc:ptr | cuFuncGetName:12030 cuKernelGetName:12030
numAttributes:u32 attributes:i32* data:ptr* ptr:u64 | cuPointerGetAttributes:7000
numBlocks:i32* func:ptr blockSize:i32 dynamicSMemSize:u64 | cuOccupancyMaxActiveBlocksPerMultiprocessor:6050
numBlocks:i32* func:ptr blockSize:i32 dynamicSMemSize:u64 flags:u32 | cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags:7000
numClusters:i32* func:ptr config:CUlaunchConfig& | cuOccupancyMaxActiveClusters:11070
numOps:u64 opList:CUDA_FABRIC_COPY_BATCH_OP* flags:u64 hStream:ptr | cuFabricCpyBatchAsync_ptsz:13050 cuFabricCpyBatchAsync:13050
numOptions:u32 options:i32* optionValues:ptr* stateOut:ptr* | cuLinkCreate:5050 cuLinkCreate_v2:6050
numParams:u64 opList:CUDA_MEMCPY3D_BATCH_OP* failIdx:u64* flags:u64 hStream:ptr | cuMemcpy3DBatchAsync_ptsz:12080 cuMemcpy3DBatchAsync:12080
numParams:u64 opList:CUDA_MEMCPY3D_BATCH_OP* flags:u64 hStream:ptr | cuMemcpy3DBatchAsync_v2_ptsz:13000 cuMemcpy3DBatchAsync_v2:13000
nvSciSyncAttrList:ptr dev:i32 flags:i32 | cuDeviceGetNvSciSyncAttributes:10020
object:ptr count:u32 | cuUserObjectRetain:11030 cuUserObjectRelease:11030
object_out:ptr* ptr:ptr destroy:ptr initialRefcount:u32 flags:u32 | cuUserObjectCreate:11030
op:CUDA_MEMCPY3D_BATCH_OP* flags:u64 hStream:ptr | cuMemcpy3DWithAttributesAsync_ptsz:13020 cuMemcpy3DWithAttributesAsync:13020
p:ptr | cuMemFreeHost:2000 cuMemHostUnregister:4000
p:ptr bytesize:u64 Flags:u32 | cuMemHostRegister:4000 cuMemHostRegister_v2:6050
pArray:ptr* resource:ptr arrayIndex:u32 mipLevel:u32 | cuGraphicsSubResourceGetMappedArray:3000
pArrayDescriptor:CUDA_ARRAY3D_DESCRIPTOR* hArray:ptr | cuArray3DGetDescriptor_v2:3020
pArrayDescriptor:CUDA_ARRAY_DESCRIPTOR* hArray:ptr | cuArrayGetDescriptor_v2:3020
pBorderColor:f32* hTexRef:ptr | cuTexRefGetBorderColor:8000
pConfig:i32* | cuCtxGetSharedMemConfig:4020
pContext:ptr* hCtx:ptr | cuCtxFromGreenCtx:12040
pCopy:CUDA_MEMCPY2D& | cuMemcpy2D_v2:3020 cuMemcpy2D_v2_ptds:7000 cuMemcpy2DUnaligned_v2:3020 cuMemcpy2DUnaligned_v2_ptds:7000
pCopy:CUDA_MEMCPY2D& hStream:ptr | cuMemcpy2DAsync_v2:3020 cuMemcpy2DAsync_v2_ptsz:7000
pCopy:CUDA_MEMCPY3D& | cuMemcpy3D_v2:3020 cuMemcpy3D_v2_ptds:7000
pCopy:CUDA_MEMCPY3D& hStream:ptr | cuMemcpy3DAsync_v2:3020 cuMemcpy3DAsync_v2_ptsz:7000
pCopy:CUDA_MEMCPY3D_PEER& | cuMemcpy3DPeer:4000 cuMemcpy3DPeer_ptds:7000
pCopy:CUDA_MEMCPY3D_PEER& hStream:ptr | cuMemcpy3DPeerAsync:4000 cuMemcpy3DPeerAsync_ptsz:7000
pDevPtr:u64* pSize:u64* resource:ptr | cuGraphicsResourceGetMappedPointer_v2:3020
pExecAffinity:CUexecAffinityParam* type:i32 | cuCtxGetExecAffinity:11040
pFlags:u32* hTexRef:ptr | cuTexRefGetFlags:2000
pFlags:u32* p:ptr | cuMemHostGetFlags:2030
pFormat:i32* pNumChannels:i32* hTexRef:ptr | cuTexRefGetFormat:2000
pFunc:ptr* kernel:ptr | cuKernelGetFunction:12000
pHandle:CUipcEventHandle* event:ptr | cuIpcGetEventHandle:4010
pHandle:CUipcMemHandle* dptr:u64 | cuIpcGetMemHandle:4010
pHandle:ptr* pAllocateArray:CUDA_ARRAY3D_DESCRIPTOR& | cuArray3DCreate_v2:3020
pHandle:ptr* pAllocateArray:CUDA_ARRAY_DESCRIPTOR& | cuArrayCreate_v2:3020
pHandle:ptr* pMipmappedArrayDesc:CUDA_ARRAY3D_DESCRIPTOR& numMipmapLevels:u32 | cuMipmappedArrayCreate:5000
pHandle_out:u64* hGraph:ptr ctx:ptr defaultLaunchValue:u32 flags:u32 | cuGraphConditionalHandleCreate:12030
pKernel:ptr* library:ptr name:str | cuLibraryGetKernel:12000
pLevelArray:ptr* hMipmappedArray:ptr level:u32 | cuMipmappedArrayGetLevel:5000
pLib:ptr* kernel:ptr | cuKernelGetLibrary:12050
pMilliseconds:f32* hStart:ptr hEnd:ptr | cuEventElapsedTime:2000 cuEventElapsedTime_v2:12080
pMipmappedArray:ptr* resource:ptr | cuGraphicsResourceGetMappedMipmappedArray:5000
pMod:ptr* library:ptr | cuLibraryGetModule:12000
pPlaneArray:ptr* hArray:ptr planeIdx:u32 | cuArrayGetPlane:11020
pResDesc:CUDA_RESOURCE_DESC* surfObject:u64 | cuSurfObjectGetResourceDesc:5000
pResDesc:CUDA_RESOURCE_DESC* texObject:u64 | cuTexObjectGetResourceDesc:5000
pResViewDesc:CUDA_RESOURCE_VIEW_DESC* texObject:u64 | cuTexObjectGetResourceViewDesc:5000
pSurfObject:u64* pResDesc:CUDA_RESOURCE_DESC& | cuSurfObjectCreate:5000
pSurfRef:ptr* hmod:ptr name:str | cuModuleGetSurfRef:3000
pTexDesc:CUDA_TEXTURE_DESC* texObject:u64 | cuTexObjectGetTextureDesc:5000
pTexObject:u64* pResDesc:CUDA_RESOURCE_DESC& pTexDesc:CUDA_TEXTURE_DESC& pResViewDesc:CUDA_RESOURCE_VIEW_DESC& | cuTexObjectCreate:5000
pTexRef:ptr* | cuTexRefCreate:2000
pTexRef:ptr* hmod:ptr name:str | cuModuleGetTexRef:2000
pam:i32* hTexRef:ptr dim:i32 | cuTexRefGetAddressMode:2000
paramsArray:CUmemDecompressParams* count:u64 flags:u32 errorIndex:u64* stream:ptr | cuMemBatchDecompressAsync:12060
    cuMemBatchDecompressAsync_ptsz:12060
pbase:u64* psize:u64* dptr:u64 | cuMemGetAddressRange_v2:3020
pbias:f32* hTexRef:ptr | cuTexRefGetMipmapLevelBias:5000
pciBusId:chars len:i32 dev:i32 | cuDeviceGetPCIBusId:4010
pconfig:i32* | cuCtxGetCacheConfig:3020
pctx:ptr* | cuCtxPopCurrent:2000 cuCtxPopCurrent_v2:4000 cuCtxGetCurrent:4000
pctx:ptr* ctxCreateParams:CUctxCreateParams* flags:u32 dev:i32 | cuCtxCreate_v4:12050
pctx:ptr* dev:i32 | cuDevicePrimaryCtxRetain:7000
pctx:ptr* flags:u32 | cuCtxAttach:2000
pctx:ptr* flags:u32 dev:i32 | cuCtxCreate:2000 cuCtxCreate_v2:3020
pctx:ptr* paramsArray:CUexecAffinityParam* numParams:i32 flags:u32 dev:i32 | cuCtxCreate_v3:11040
pdptr:u64* hTexRef:ptr | cuTexRefGetAddress_v2:3020
pdptr:u64* handle:CUipcMemHandle Flags:u32 | cuIpcOpenMemHandle:4010 cuIpcOpenMemHandle_v2:11000
pdptr:u64* p:ptr Flags:u32 | cuMemHostGetDevicePointer_v2:3020
peerContext:ptr | cuCtxDisablePeerAccess:4000
peerContext:ptr Flags:u32 | cuCtxEnablePeerAccess:4000
pfm:i32* hTexRef:ptr | cuTexRefGetFilterMode:2000 cuTexRefGetMipmapFilterMode:5000
phArray:ptr* hSurfRef:ptr | cuSurfRefGetArray:3000
phArray:ptr* hTexRef:ptr | cuTexRefGetArray:2000
phCtx:ptr* desc:ptr dev:i32 flags:u32 | cuGreenCtxCreate:12040
phDesc:ptr* resources:CUdevResource* nbResources:u32 | cuDevResourceGenerateDesc:12040
phEvent:ptr* Flags:u32 | cuEventCreate:2000
phEvent:ptr* handle:CUipcEventHandle | cuIpcOpenEventHandle:4010
phGraph:ptr* flags:u32 | cuGraphCreate:10000
phGraphClone:ptr* originalGraph:ptr | cuGraphClone:10000
phGraphExec:ptr* hGraph:ptr flags:u64 | cuGraphInstantiateWithFlags:11040
phGraphExec:ptr* hGraph:ptr instantiateParams:CUDA_GRAPH_INSTANTIATE_PARAMS* | cuGraphInstantiateWithParams_ptsz:12000
    cuGraphInstantiateWithParams:12000
phGraphExec:ptr* hGraph:ptr phErrorNode:ptr* logBuffer:chars bufferSize:u64 | cuGraphInstantiate:10000 cuGraphInstantiate_v2:11000
phGraphNode:ptr* hGraph:ptr dependencies:ptr& dependencyData:CUgraphEdgeData& numDependencies:u64 nodeParams:CUgraphNodeParams* |
    cuGraphAddNode_v2:12030 cuGraphAddNode_v3:13040
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 | cuGraphAddEmptyNode:10000
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 childGraph:ptr | cuGraphAddChildGraphNode:10000
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 copyParams:CUDA_MEMCPY3D& ctx:ptr | cuGraphAddMemcpyNode:10000
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 dptr:u64 | cuGraphAddMemFreeNode:11040
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 event:ptr | cuGraphAddEventRecordNode:11010 cuGraphAddEventWaitNode:11010
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 memsetParams:CUDA_MEMSET_NODE_PARAMS& ctx:ptr | cuGraphAddMemsetNode:10000
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 nodeParams:CUDA_BATCH_MEM_OP_NODE_PARAMS& | cuGraphAddBatchMemOpNode:11070
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 nodeParams:CUDA_EXT_SEM_SIGNAL_NODE_PARAMS& |
    cuGraphAddExternalSemaphoresSignalNode:11020
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 nodeParams:CUDA_EXT_SEM_WAIT_NODE_PARAMS& |
    cuGraphAddExternalSemaphoresWaitNode:11020
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 nodeParams:CUDA_HOST_NODE_PARAMS& | cuGraphAddHostNode:10000
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 nodeParams:CUDA_KERNEL_NODE_PARAMS& | cuGraphAddKernelNode:10000
    cuGraphAddKernelNode_v2:12000
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 nodeParams:CUDA_MEM_ALLOC_NODE_PARAMS* | cuGraphAddMemAllocNode:11040
phGraphNode:ptr* hGraph:ptr dependencies:ptr& numDependencies:u64 nodeParams:CUgraphNodeParams* | cuGraphAddNode:12020
phMipmappedArray:ptr* hTexRef:ptr | cuTexRefGetMipmappedArray:5000
phNode:ptr* hOriginalNode:ptr hClonedGraph:ptr | cuGraphNodeFindInClone:10000
phStream:ptr* Flags:u32 | cuStreamCreate:2000
phStream:ptr* flags:u32 priority:i32 | cuStreamCreateWithPriority:5050
phStream:ptr* greenCtx:ptr flags:u32 priority:i32 | cuGreenCtxStreamCreate:12050
pi:i32* attrib:i32 dev:i32 | cuDeviceGetAttribute:2000
pi:i32* attrib:i32 hfunc:ptr | cuFuncGetAttribute:2020
pi:i32* attrib:i32 kernel:ptr dev:i32 | cuKernelGetAttribute:12000
pi:i32* type:i32 dev:i32 | cuDeviceGetExecAffinitySupport:11040
pid:i32 args:CUcheckpointCheckpointArgs* | cuCheckpointProcessCheckpoint:12080
pid:i32 args:CUcheckpointLockArgs* | cuCheckpointProcessLock:12080
pid:i32 args:CUcheckpointRestoreArgs* | cuCheckpointProcessRestore:12080
pid:i32 args:CUcheckpointUnlockArgs* | cuCheckpointProcessUnlock:12080
pid:i32 state:i32* | cuCheckpointProcessGetState:12080
pid:i32 tid:i32* | cuCheckpointProcessGetRestoreThreadId:12080
pmaxAniso:i32* hTexRef:ptr | cuTexRefGetMaxAnisotropy:5000
pminMipmapLevelClamp:f32* pmaxMipmapLevelClamp:f32* hTexRef:ptr | cuTexRefGetMipmapLevelClamp:5000
pool:ptr | cuMemPoolDestroy:11020
pool:ptr attr:i32 value:ptr | cuMemPoolSetAttribute:11020 cuMemPoolGetAttribute:11020
pool:ptr map:CUmemAccessDesc& count:u64 | cuMemPoolSetAccess:11020
pool:ptr minBytesToKeep:u64 | cuMemPoolTrimTo:11020
pool:ptr* dev:i32 | cuDeviceGetMemPool:11020
pool:ptr* poolProps:CUmemPoolProps& | cuMemPoolCreate:11020
pool_out:ptr* dev:i32 | cuDeviceGetDefaultMemPool:11020
pool_out:ptr* handle:ptr handleType:i32 flags:u64 | cuMemPoolImportFromShareableHandle:11020
pool_out:ptr* location:CUmemLocation* type:i32 | cuMemGetDefaultMemPool:13000 cuMemGetMemPool:13000
pp:ptr* bytesize:u32 | cuMemAllocHost:2000
pp:ptr* bytesize:u64 | cuMemAllocHost_v2:3020
pp:ptr* bytesize:u64 Flags:u32 | cuMemHostAlloc:2020
ppExportTable:ptr* pExportTableId:CUuuid& | cuGetExportTable:3000
prop:CUdevprop* dev:i32 | cuDeviceGetProperties:2000
prop:CUmemAllocationProp* handle:u64 | cuMemGetAllocationPropertiesFromHandle:10020
ptr:u64 size:u64 | cuMemAddressFree:10020 cuMemUnmap:10020
ptr:u64 size:u64 desc:CUmemAccessDesc& count:u64 | cuMemSetAccess:10020
ptr:u64 size:u64 offset:u64 handle:u64 flags:u64 | cuMemMap:10020
ptr:u64 size:u64 summaryGranularity:u64 samplingGranularity:u64 location_out:CUmemLocation* | cuMemGetLocationInfo:13040
ptr:u64* size:u64 alignment:u64 addr:u64 flags:u64 | cuMemAddressReserve:10020
ptr_out:u64* pool:ptr shareData:CUmemPoolPtrExportData* | cuMemPoolImportPointer:11020
pvalue:u64* limit:i32 | cuCtxGetLimit:3010
resource:ptr | cuGraphicsUnregisterResource:3000
resource:ptr flags:u32 | cuGraphicsResourceSetMapFlags:3000 cuGraphicsResourceSetMapFlags_v2:6050
result:CUdevResource* nbGroups:u32 input_:CUdevResource& remainder:CUdevResource* flags:u32 groupParams:CU_DEV_SM_RESOURCE_GROUP_PARAMS* |
    cuDevSmResourceSplit:13010
result:CUdevResource* nbGroups:u32* input_:CUdevResource& remaining:CUdevResource* useFlags:u32 minCount:u32 |
    cuDevSmResourceSplitByCount:12040
set:i32 value:ptr size:u64* | cuCoredumpSetAttribute:12010 cuCoredumpSetAttributeGlobal:12010
shareData_out:CUmemPoolPtrExportData* ptr:u64 | cuMemPoolExportPointer:11020
shareableHandle:ptr handle:u64 handleType:i32 flags:u64 | cuMemExportToShareableHandle:10020
sparseProperties:CUDA_ARRAY_SPARSE_PROPERTIES* array:ptr | cuArrayGetSparseProperties:11010
sparseProperties:CUDA_ARRAY_SPARSE_PROPERTIES* mipmap:ptr | cuMipmappedArrayGetSparseProperties:11010
state:i32* hfunc:ptr | cuFuncIsLoaded:12040
state:ptr | cuLinkDestroy:5050
state:ptr cubinOut:ptr* sizeOut:u64* | cuLinkComplete:5050
state:ptr type:i32 data:ptr size:u64 name:str numOptions:u32 options:i32* optionValues:ptr* | cuLinkAddData:5050 cuLinkAddData_v2:6050
state:ptr type:i32 path:str numOptions:u32 options:i32* optionValues:ptr* | cuLinkAddFile:5050 cuLinkAddFile_v2:6050
stream:ptr addr:u64 value:u32 flags:u32 | cuStreamWaitValue32_ptsz:8000 cuStreamWaitValue32:8000 cuStreamWaitValue32_v2_ptsz:11070
    cuStreamWaitValue32_v2:11070 cuStreamWriteValue32_ptsz:8000 cuStreamWriteValue32:8000 cuStreamWriteValue32_v2_ptsz:11070
    cuStreamWriteValue32_v2:11070
stream:ptr addr:u64 value:u64 flags:u32 | cuStreamWaitValue64_ptsz:9000 cuStreamWaitValue64:9000 cuStreamWaitValue64_v2_ptsz:11070
    cuStreamWaitValue64_v2:11070 cuStreamWriteValue64_ptsz:9000 cuStreamWriteValue64:9000 cuStreamWriteValue64_v2_ptsz:11070
    cuStreamWriteValue64_v2:11070
stream:ptr count:u32 paramArray:CUstreamBatchMemOpParams* flags:u32 | cuStreamBatchMemOp_ptsz:8000 cuStreamBatchMemOp:8000
    cuStreamBatchMemOp_v2_ptsz:11070 cuStreamBatchMemOp_v2:11070
surfObject:u64 | cuSurfObjectDestroy:5000
symbol:str pfn:ptr* driverVersion:i32 flags:u64 | cuGetProcAddress:11030
symbol:str pfn:ptr* driverVersion:i32 flags:u64 symbolFound:i32* | cuGetProcAddress_v2:12000
target:i32 scope:i32 | cuFlushGPUDirectRDMAWrites:11030
tensorMap:CUtensorMap* allocClass:i32 outAllocClass:i32* | cuTensorMapSetAllocationClass:13050
tensorMap:CUtensorMap* globalAddress:ptr | cuTensorMapReplaceAddress:12000
tensorMap:CUtensorMap* tensorDataType:i32 tensorRank:u32 globalAddress:ptr globalDim:u64& globalStrides:u64& boxDim:u32& elementStrides:u32&
    interleave:i32 swizzle:i32 l2Promotion:i32 oobFill:i32 | cuTensorMapEncodeTiled:12000
tensorMap:CUtensorMap* tensorDataType:i32 tensorRank:u32 globalAddress:ptr globalDim:u64& globalStrides:u64& pixelBoxLowerCorner:i32&
    pixelBoxUpperCorner:i32& channelsPerPixel:u32 pixelsPerColumn:u32 elementStrides:u32& interleave:i32 swizzle:i32 l2Promotion:i32
    oobFill:i32 | cuTensorMapEncodeIm2col:12000
tensorMap:CUtensorMap* tensorDataType:i32 tensorRank:u32 globalAddress:ptr globalDim:u64& globalStrides:u64& pixelBoxLowerCornerWidth:i32
    pixelBoxUpperCornerWidth:i32 channelsPerPixel:u32 pixelsPerColumn:u32 elementStrides:u32& interleave:i32 mode:i32 swizzle:i32
    l2Promotion:i32 oobFill:i32 | cuTensorMapEncodeIm2colWide:12080
texObject:u64 | cuTexObjectDestroy:5000
uuid:CUuuid* dev:i32 | cuDeviceGetUuid:9020 cuDeviceGetUuid_v2:11040 cuDeviceGetFabricClusterUuid:13040
value:i32* attrib:i32 srcDevice:i32 dstDevice:i32 | cuDeviceGetP2PAttribute:8000
value:ptr attribute:i32 ptr:u64 | cuPointerSetAttribute:6000
"""
