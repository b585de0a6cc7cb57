"""The C functions of the runtime library, written by tools/derive_abi.py: parameters, then the names of those that have them.

A parameter is name:type; type* is written or read through a pointer, type& only read; after a name stands the first version that has it.
"""

CALLS = """\
| cudaCtxResetPersistingL2Cache cudaDeviceReset cudaDeviceSynchronize cudaGetLastError cudaPeekAtLastError cudaProfilerStart
    cudaProfilerStop
- | cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect
    cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect cudaEGLStreamProducerPresentFrame
    cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync cudaGLGetDevices cudaGLMapBufferObject cudaGLMapBufferObjectAsync
    cudaGLRegisterBufferObject cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync
    cudaGLUnregisterBufferObject cudaGraphicsEGLRegisterImage cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage
    cudaGraphicsResourceGetMappedEglFrame cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface cudaSubgridCreate
    cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate cudaVDPAUGetDevice cudaVDPAUSetVDPAUDevice
array:ptr | cudaFreeArray
array:ptr* desc:cudaChannelFormatDesc& extent:cudaExtent flags:u32 | cudaMalloc3DArray
array:ptr* desc:cudaChannelFormatDesc& width:u64 height:u64 flags:u32 | cudaMallocArray
array:ptr* resource:ptr arrayIndex:u32 mipLevel:u32 | cudaGraphicsSubResourceGetMappedArray
attr:cudaFuncAttributes* func:ptr | cudaFuncGetAttributes
attributes:cudaPointerAttributes* ptr:ptr | cudaPointerGetAttributes
cacheConfig:i32 | cudaDeviceSetCacheConfig
callback:ptr | cudaLogsUnregisterCallback
callbackFunc:ptr userData:ptr callback_out:ptr* | cudaLogsRegisterCallback
canAccessPeer:i32* device:i32 peerDevice:i32 | cudaDeviceCanAccessPeer
capabilities:u32* operations:i32& count:u32 device:i32 | cudaDeviceGetHostAtomicCapabilities
capabilities:u32* operations:i32& count:u32 srcDevice:i32 dstDevice:i32 | cudaDeviceGetP2PAtomicCapabilities
clusterSize:i32* func:ptr launchConfig:cudaLaunchConfig_t& | cudaOccupancyMaxPotentialClusterSize
config:cudaLaunchConfig_t& func:ptr args:ptr* | cudaLaunchKernelExC cudaLaunchKernelExC_ptsz
config:i32 | cudaDeviceSetSharedMemConfig
count:i32 resources:ptr* stream:ptr | cudaGraphicsMapResources cudaGraphicsUnmapResources
count:i32* | cudaGetDeviceCount
count:u32* lib:ptr | cudaLibraryGetKernelCount
ctx:ptr | cudaExecutionCtxDestroy cudaExecutionCtxSynchronize
ctx:ptr ctxId:u64* | cudaExecutionCtxGetId
ctx:ptr event:ptr | cudaExecutionCtxRecordEvent cudaExecutionCtxWaitEvent
ctx:ptr resource:cudaDevResource* type:i32 | cudaExecutionCtxGetDevResource
ctx:ptr* device:i32 | cudaDeviceGetExecutionCtx
data:ptr dataSize:u64 attribute:i32 devPtr:ptr count:u64 | cudaMemRangeGetAttribute
data:ptr* dataSizes:u64* attributes:i32* numAttributes:u64 devPtr:ptr count:u64 | cudaMemRangeGetAttributes
desc:cudaChannelFormatDesc* array:ptr | cudaGetChannelDesc
desc:cudaChannelFormatDesc* extent:cudaExtent* flags:u32* array:ptr | cudaArrayGetInfo
devPtr:ptr | cudaFree cudaIpcCloseMemHandle
devPtr:ptr count:u64 advice:i32 location:cudaMemLocation | cudaMemAdvise
devPtr:ptr count:u64 location:cudaMemLocation flags:u32 stream:ptr | cudaMemPrefetchAsync cudaMemPrefetchAsync_ptsz
devPtr:ptr hStream:ptr | cudaFreeAsync cudaFreeAsync_ptsz
devPtr:ptr pitch:u64 value:i32 width:u64 height:u64 | cudaMemset2D cudaMemset2D_ptds
devPtr:ptr pitch:u64 value:i32 width:u64 height:u64 stream:ptr | cudaMemset2DAsync cudaMemset2DAsync_ptsz
devPtr:ptr size:u64 summaryGranularity:u64 samplingGranularity:u64 location_out:cudaMemLocation* | cudaMemGetLocationInfo
devPtr:ptr value:i32 count:u64 | cudaMemset cudaMemset_ptds
devPtr:ptr value:i32 count:u64 stream:ptr | cudaMemsetAsync cudaMemsetAsync_ptsz
devPtr:ptr* extMem:ptr bufferDesc:cudaExternalMemoryBufferDesc& | cudaExternalMemoryGetMappedBuffer
devPtr:ptr* handle:cudaIpcMemHandle_t flags:u32 | cudaIpcOpenMemHandle
devPtr:ptr* pitch:u64* width:u64 height:u64 | cudaMallocPitch
devPtr:ptr* size:u64 | cudaMalloc
devPtr:ptr* size:u64 flags:u32 | cudaMallocManaged
devPtr:ptr* size:u64 hStream:ptr | cudaMallocAsync cudaMallocAsync_ptsz
devPtr:ptr* size:u64* resource:ptr | cudaGraphicsResourceGetMappedPointer
devPtr:ptr* symbol:ptr | cudaGetSymbolAddress
device:i32 | cudaDeviceGraphMemTrim cudaSetDevice
device:i32 attr:i32 value:ptr | cudaDeviceGetGraphMemAttribute cudaDeviceSetGraphMemAttribute
device:i32 callback:ptr | cudaDeviceUnregisterAsyncNotification
device:i32 callbackFunc:ptr userData:ptr callback:ptr* | cudaDeviceRegisterAsyncNotification
device:i32 deviceFlags:u32 flags:u32 | cudaInitDevice
device:i32 memPool:ptr | cudaDeviceSetMemPool
device:i32 resource:cudaDevResource* type:i32 | cudaDeviceGetDevResource
device:i32* | cudaGetDevice
device:i32* ctx:ptr | cudaExecutionCtxGetDevice
device:i32* pciBusId:str | cudaDeviceGetByPCIBusId
device:i32* prop:cudaDeviceProp& | cudaChooseDevice
device_arr:i32* len:i32 | cudaSetValidDevices
dptr:ptr* bytes:u64* library:ptr name:str | cudaLibraryGetGlobal cudaLibraryGetManaged
dptrs:ptr* sizes:u64* count:u64 flags:u64 stream:ptr | cudaMemDiscardBatchAsync cudaMemDiscardBatchAsync_ptsz
dptrs:ptr* sizes:u64* count:u64 prefetchLocs:cudaMemLocation* prefetchLocIdxs:u64* numPrefetchLocs:u64 flags:u64 stream:ptr |
    cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardAndPrefetchBatchAsync_ptsz cudaMemPrefetchBatchAsync cudaMemPrefetchBatchAsync_ptsz
driverVersion:i32* | cudaDriverGetVersion
dst:ptr dpitch:u64 src:ptr spitch:u64 width:u64 height:u64 kind:i32 | cudaMemcpy2D cudaMemcpy2D_ptds
dst:ptr dpitch:u64 src:ptr spitch:u64 width:u64 height:u64 kind:i32 stream:ptr | cudaMemcpy2DAsync cudaMemcpy2DAsync_ptsz
dst:ptr dpitch:u64 src:ptr wOffset:u64 hOffset:u64 width:u64 height:u64 kind:i32 | cudaMemcpy2DFromArray cudaMemcpy2DFromArray_ptds
dst:ptr dpitch:u64 src:ptr wOffset:u64 hOffset:u64 width:u64 height:u64 kind:i32 stream:ptr | cudaMemcpy2DFromArrayAsync
    cudaMemcpy2DFromArrayAsync_ptsz
dst:ptr dstDevice:i32 src:ptr srcDevice:i32 count:u64 | cudaMemcpyPeer
dst:ptr dstDevice:i32 src:ptr srcDevice:i32 count:u64 stream:ptr | cudaMemcpyPeerAsync
dst:ptr src:ptr | cudaStreamCopyAttributes cudaStreamCopyAttributes_ptsz
dst:ptr src:ptr count:u64 kind:i32 | cudaMemcpy cudaMemcpy_ptds
dst:ptr src:ptr count:u64 kind:i32 stream:ptr | cudaMemcpyAsync cudaMemcpyAsync_ptsz
dst:ptr src:ptr size:u64 attr:cudaMemcpyAttributes* stream:ptr | cudaMemcpyWithAttributesAsync cudaMemcpyWithAttributesAsync_ptsz
dst:ptr src:ptr wOffset:u64 hOffset:u64 count:u64 kind:i32 | cudaMemcpyFromArray cudaMemcpyFromArray_ptds
dst:ptr src:ptr wOffset:u64 hOffset:u64 count:u64 kind:i32 stream:ptr | cudaMemcpyFromArrayAsync cudaMemcpyFromArrayAsync_ptsz
dst:ptr symbol:ptr count:u64 offset:u64 kind:i32 | cudaMemcpyFromSymbol cudaMemcpyFromSymbol_ptds
dst:ptr symbol:ptr count:u64 offset:u64 kind:i32 stream:ptr | cudaMemcpyFromSymbolAsync cudaMemcpyFromSymbolAsync_ptsz
dst:ptr wOffset:u64 hOffset:u64 src:ptr count:u64 kind:i32 | cudaMemcpyToArray cudaMemcpyToArray_ptds
dst:ptr wOffset:u64 hOffset:u64 src:ptr count:u64 kind:i32 stream:ptr | cudaMemcpyToArrayAsync cudaMemcpyToArrayAsync_ptsz
dst:ptr wOffset:u64 hOffset:u64 src:ptr spitch:u64 width:u64 height:u64 kind:i32 | cudaMemcpy2DToArray cudaMemcpy2DToArray_ptds
dst:ptr wOffset:u64 hOffset:u64 src:ptr spitch:u64 width:u64 height:u64 kind:i32 stream:ptr | cudaMemcpy2DToArrayAsync
    cudaMemcpy2DToArrayAsync_ptsz
dst:ptr wOffsetDst:u64 hOffsetDst:u64 src:ptr wOffsetSrc:u64 hOffsetSrc:u64 count:u64 kind:i32 | cudaMemcpyArrayToArray
    cudaMemcpyArrayToArray_ptds
dst:ptr wOffsetDst:u64 hOffsetDst:u64 src:ptr wOffsetSrc:u64 hOffsetSrc:u64 width:u64 height:u64 kind:i32 | cudaMemcpy2DArrayToArray
    cudaMemcpy2DArrayToArray_ptds
dsts:ptr& srcs:ptr& sizes:u64& count:u64 attrs:cudaMemcpyAttributes* attrsIdxs:u64* numAttrs:u64 stream:ptr | cudaMemcpyBatchAsync
    cudaMemcpyBatchAsync_ptsz
dynamicSmemSize:u64* func:ptr numBlocks:i32 blockSize:i32 | cudaOccupancyAvailableDynamicSMemPerBlock
error:i32 | cudaGetErrorName cudaGetErrorString
event:ptr | cudaEventDestroy cudaEventQuery cudaEventSynchronize
event:ptr stream:ptr | cudaEventRecord cudaEventRecord_ptsz
event:ptr stream:ptr flags:u32 | cudaEventRecordWithFlags cudaEventRecordWithFlags_ptsz
event:ptr* | cudaEventCreate
event:ptr* flags:u32 | cudaEventCreateWithFlags
event:ptr* handle:cudaIpcEventHandle_t | cudaIpcOpenEventHandle
exportData:cudaMemPoolPtrExportData* ptr:ptr | cudaMemPoolExportPointer
extMem:ptr | cudaDestroyExternalMemory
extMem_out:ptr* memHandleDesc:cudaExternalMemoryHandleDesc& | cudaImportExternalMemory
extSem:ptr | cudaDestroyExternalSemaphore
extSemArray:ptr& paramsArray:cudaExternalSemaphoreSignalParams& numExtSems:u32 stream:ptr | cudaSignalExternalSemaphoresAsync
    cudaSignalExternalSemaphoresAsync_ptsz
extSemArray:ptr& paramsArray:cudaExternalSemaphoreWaitParams& numExtSems:u32 stream:ptr | cudaWaitExternalSemaphoresAsync
    cudaWaitExternalSemaphoresAsync_ptsz
extSem_out:ptr* semHandleDesc:cudaExternalSemaphoreHandleDesc& | cudaImportExternalSemaphore
flags:i32* memPool:ptr location:cudaMemLocation* | cudaMemPoolGetAccess
flags:u32 | cudaSetDeviceFlags
flags:u32* | cudaGetDeviceFlags
fptr:ptr* library:ptr symbol:str | cudaLibraryGetUnifiedFunction
free:u64* total:u64* | cudaMemGetInfo
func:ptr attr:i32 value:i32 | cudaFuncSetAttribute
func:ptr cacheConfig:i32 | cudaFuncSetCacheConfig
func:ptr config:i32 | cudaFuncSetSharedMemConfig
func:ptr gridDim:dim3 blockDim:dim3 args:ptr* sharedMem:u64 stream:ptr | cudaLaunchCooperativeKernel cudaLaunchCooperativeKernel_ptsz
    cudaLaunchKernel cudaLaunchKernel_ptsz
func:ptr paramCount:u64* | cudaFuncGetParamCount
func:ptr paramIndex:u64 paramOffset:u64* paramSize:u64* | cudaFuncGetParamInfo
functionPtr:ptr* symbolPtr:ptr | cudaGetFuncBySymbol
graph:ptr | cudaGraphDestroy
graph:ptr from_:ptr& to:ptr& edgeData:cudaGraphEdgeData& numDependencies:u64 | cudaGraphAddDependencies cudaGraphRemoveDependencies
graph:ptr from_:ptr* to:ptr* edgeData:cudaGraphEdgeData* numEdges:u64* | cudaGraphGetEdges
graph:ptr nodes:ptr* numNodes:u64* | cudaGraphGetNodes
graph:ptr object:ptr count:u32 | cudaGraphReleaseUserObject
graph:ptr object:ptr count:u32 flags:u32 | cudaGraphRetainUserObject
graph:ptr pRootNodes:ptr* pNumRootNodes:u64* | cudaGraphGetRootNodes
graph:ptr path:str flags:u32 | cudaGraphDebugDotPrint
graphExec:ptr | cudaGraphExecDestroy
graphExec:ptr flags:u64* | cudaGraphExecGetFlags
graphExec:ptr node:ptr nodeParams:cudaGraphNodeParams* | cudaGraphExecNodeSetParams
graphExec:ptr stream:ptr | cudaGraphLaunch cudaGraphLaunch_ptsz cudaGraphUpload cudaGraphUpload_ptsz
gridDim:dim3 blockDim:dim3 sharedMem:u64 stream:ptr | __cudaPushCallConfiguration
gridDim:dim3* blockDim:dim3* sharedMem:u64* stream:ptr* | __cudaPopCallConfiguration
hDst:ptr hSrc:ptr | cudaGraphKernelNodeCopyAttributes
hGraph:ptr graphID:u32* | cudaGraphGetId
hGraphExec:ptr graphID:u32* | cudaGraphExecGetId
hGraphExec:ptr hGraph:ptr resultInfo:cudaGraphExecUpdateResultInfo* | cudaGraphExecUpdate
hGraphExec:ptr hNode:ptr event:ptr | cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
hGraphExec:ptr hNode:ptr isEnabled:u32 | cudaGraphNodeSetEnabled
hGraphExec:ptr hNode:ptr isEnabled:u32* | cudaGraphNodeGetEnabled
hGraphExec:ptr hNode:ptr nodeParams:cudaExternalSemaphoreSignalNodeParams& | cudaGraphExecExternalSemaphoresSignalNodeSetParams
hGraphExec:ptr hNode:ptr nodeParams:cudaExternalSemaphoreWaitNodeParams& | cudaGraphExecExternalSemaphoresWaitNodeSetParams
hGraphExec:ptr node:ptr childGraph:ptr | cudaGraphExecChildGraphNodeSetParams
hGraphExec:ptr node:ptr dst:ptr src:ptr count:u64 kind:i32 | cudaGraphExecMemcpyNodeSetParams1D
hGraphExec:ptr node:ptr dst:ptr symbol:ptr count:u64 offset:u64 kind:i32 | cudaGraphExecMemcpyNodeSetParamsFromSymbol
hGraphExec:ptr node:ptr pNodeParams:cudaHostNodeParams& | cudaGraphExecHostNodeSetParams
hGraphExec:ptr node:ptr pNodeParams:cudaKernelNodeParams& | cudaGraphExecKernelNodeSetParams
hGraphExec:ptr node:ptr pNodeParams:cudaMemcpy3DParms& | cudaGraphExecMemcpyNodeSetParams
hGraphExec:ptr node:ptr pNodeParams:cudaMemsetParams& | cudaGraphExecMemsetNodeSetParams
hGraphExec:ptr node:ptr symbol:ptr src:ptr count:u64 offset:u64 kind:i32 | cudaGraphExecMemcpyNodeSetParamsToSymbol
hNode:ptr attr:i32 value:cudaLaunchAttributeValue& | cudaGraphKernelNodeSetAttribute
hNode:ptr attr:i32 value_out:cudaLaunchAttributeValue* | cudaGraphKernelNodeGetAttribute
hNode:ptr nodeId:u32* | cudaGraphNodeGetLocalId
hNode:ptr nodeParams:cudaExternalSemaphoreSignalNodeParams& | cudaGraphExternalSemaphoresSignalNodeSetParams
hNode:ptr nodeParams:cudaExternalSemaphoreWaitNodeParams& | cudaGraphExternalSemaphoresWaitNodeSetParams
hNode:ptr params_out:cudaExternalSemaphoreSignalNodeParams* | cudaGraphExternalSemaphoresSignalNodeGetParams
hNode:ptr params_out:cudaExternalSemaphoreWaitNodeParams* | cudaGraphExternalSemaphoresWaitNodeGetParams
hNode:ptr phGraph:ptr* | cudaGraphNodeGetContainingGraph
hNode:ptr toolsNodeId:u64* | cudaGraphNodeGetToolsId
hStream:ptr attr:i32 value:cudaLaunchAttributeValue& | cudaStreamSetAttribute cudaStreamSetAttribute_ptsz
hStream:ptr attr:i32 value_out:cudaLaunchAttributeValue* | cudaStreamGetAttribute cudaStreamGetAttribute_ptsz
hStream:ptr device:i32* | cudaStreamGetDevice cudaStreamGetDevice_ptsz
hStream:ptr flags:u32* | cudaStreamGetFlags cudaStreamGetFlags_ptsz
hStream:ptr priority:i32* | cudaStreamGetPriority cudaStreamGetPriority_ptsz
hStream:ptr resource:cudaDevResource* type:i32 | cudaStreamGetDevResource cudaStreamGetDevResource_ptsz
hStream:ptr streamId:u64* | cudaStreamGetId cudaStreamGetId_ptsz
handle:cudaIpcEventHandle_t* event:ptr | cudaIpcGetEventHandle
handle:cudaIpcMemHandle_t* devPtr:ptr | cudaIpcGetMemHandle
handle:ptr | __cudaInitModule __cudaRegisterFatBinaryEnd __cudaUnregisterFatBinary
handle:ptr deviceName:str hostVar:ptr size:u64 | __cudaRegisterHostVar
handle:ptr hostFun:ptr deviceFun:str deviceName:str | __cudaRegisterFunction
handle:ptr hostVar:ptr deviceAddress:str deviceName:str ext:i32 size:u64 constant:i32 global_:i32 | __cudaRegisterVar
handle:ptr hostVarPtrAddress:ptr deviceAddress:str deviceName:str ext:i32 size:u64 constant:i32 global_:i32 | __cudaRegisterManagedVar
handle:ptr table:ptr | __cudaRegisterUnifiedTable
iterator:u32* buffer:chars size:u64* flags:u32 | cudaLogsDumpToMemory
iterator:u32* pathToFile:str flags:u32 | cudaLogsDumpToFile
iterator_out:u32* flags:u32 | cudaLogsCurrent
kernel:ptr attr:i32 value:i32 device:i32 | cudaKernelSetAttributeForDevice
kernel:ptr gridDim:dim3 blockDim:dim3 args:ptr sharedMem:u64 stream:ptr | __cudaLaunchKernel __cudaLaunchKernel_ptsz
kernel:ptr* entryFuncAddr:ptr | __cudaGetKernel
kernelPtr:ptr* entryFuncAddr:ptr | cudaGetKernel
kernels:ptr* numKernels:u32 lib:ptr | cudaLibraryEnumerateKernels
leastPriority:i32* greatestPriority:i32* | cudaDeviceGetStreamPriorityRange
levelArray:ptr* mipmappedArray:ptr level:u32 | cudaGetMipmappedArrayLevel
library:ptr | cudaLibraryUnload
library:ptr* code:ptr jitOptions:i32* jitOptionsValues:ptr* numJitOptions:u32 libraryOptions:i32* libraryOptionValues:ptr*
    numLibraryOptions:u32 | cudaLibraryLoadData
library:ptr* fileName:str jitOptions:i32* jitOptionsValues:ptr* numJitOptions:u32 libraryOptions:i32* libraryOptionValues:ptr*
    numLibraryOptions:u32 | cudaLibraryLoadFromFile
limit:i32 value:u64 | cudaDeviceSetLimit
location:cudaMemLocation* type:i32 memPool:ptr | cudaMemSetMemPool
maxWidthInElements:u64* fmtDesc:cudaChannelFormatDesc& device:i32 | cudaDeviceGetTexture1DLinearMaxWidth
memPool:ptr | cudaMemPoolDestroy
memPool:ptr attr:i32 value:ptr | cudaMemPoolGetAttribute cudaMemPoolSetAttribute
memPool:ptr descList:cudaMemAccessDesc& count:u64 | cudaMemPoolSetAccess
memPool:ptr minBytesToKeep:u64 | cudaMemPoolTrimTo
memPool:ptr* device:i32 | cudaDeviceGetDefaultMemPool cudaDeviceGetMemPool
memPool:ptr* location:cudaMemLocation* type:i32 | cudaMemGetDefaultMemPool cudaMemGetMemPool
memPool:ptr* poolProps:cudaMemPoolProps& | cudaMemPoolCreate
memPool:ptr* shareableHandle:ptr handleType:i32 flags:u32 | cudaMemPoolImportFromShareableHandle
memoryRequirements:cudaArrayMemoryRequirements* array:ptr device:i32 | cudaArrayGetMemoryRequirements
memoryRequirements:cudaArrayMemoryRequirements* mipmap:ptr device:i32 | cudaMipmappedArrayGetMemoryRequirements
mipmap:ptr* extMem:ptr mipmapDesc:cudaExternalMemoryMipmappedArrayDesc& | cudaExternalMemoryGetMappedMipmappedArray
mipmappedArray:ptr | cudaFreeMipmappedArray
mipmappedArray:ptr* desc:cudaChannelFormatDesc& extent:cudaExtent numLevels:u32 flags:u32 | cudaMallocMipmappedArray
mipmappedArray:ptr* resource:ptr | cudaGraphicsResourceGetMappedMipmappedArray
mode:i32* | cudaThreadExchangeStreamCaptureMode
ms:f32* start:ptr end:ptr | cudaEventElapsedTime
name:ptr* func:ptr | cudaFuncGetName
node:ptr | cudaGraphDestroyNode
node:ptr dptr_out:ptr | cudaGraphMemFreeNodeGetParams
node:ptr dst:ptr src:ptr count:u64 kind:i32 | cudaGraphMemcpyNodeSetParams1D
node:ptr dst:ptr symbol:ptr count:u64 offset:u64 kind:i32 | cudaGraphMemcpyNodeSetParamsFromSymbol
node:ptr event:ptr | cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeSetEvent
node:ptr event_out:ptr* | cudaGraphEventRecordNodeGetEvent cudaGraphEventWaitNodeGetEvent
node:ptr nodeParams:cudaGraphNodeParams* | cudaGraphNodeGetParams cudaGraphNodeSetParams
node:ptr pDependencies:ptr* edgeData:cudaGraphEdgeData* pNumDependencies:u64* | cudaGraphNodeGetDependencies
node:ptr pDependentNodes:ptr* edgeData:cudaGraphEdgeData* pNumDependentNodes:u64* | cudaGraphNodeGetDependentNodes
node:ptr pGraph:ptr* | cudaGraphChildGraphNodeGetGraph
node:ptr pNodeParams:cudaHostNodeParams& | cudaGraphHostNodeSetParams
node:ptr pNodeParams:cudaHostNodeParams* | cudaGraphHostNodeGetParams
node:ptr pNodeParams:cudaKernelNodeParams& | cudaGraphKernelNodeSetParams
node:ptr pNodeParams:cudaKernelNodeParams* | cudaGraphKernelNodeGetParams
node:ptr pNodeParams:cudaMemcpy3DParms& | cudaGraphMemcpyNodeSetParams
node:ptr pNodeParams:cudaMemcpy3DParms* | cudaGraphMemcpyNodeGetParams
node:ptr pNodeParams:cudaMemsetParams& | cudaGraphMemsetNodeSetParams
node:ptr pNodeParams:cudaMemsetParams* | cudaGraphMemsetNodeGetParams
node:ptr pType:i32* | cudaGraphNodeGetType
node:ptr params_out:cudaMemAllocNodeParams* | cudaGraphMemAllocNodeGetParams
node:ptr symbol:ptr src:ptr count:u64 offset:u64 kind:i32 | cudaGraphMemcpyNodeSetParamsToSymbol
numBlocks:i32* func:ptr blockSize:i32 dynamicSMemSize:u64 | cudaOccupancyMaxActiveBlocksPerMultiprocessor
numBlocks:i32* func:ptr blockSize:i32 dynamicSMemSize:u64 flags:u32 | cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
numClusters:i32* func:ptr launchConfig:cudaLaunchConfig_t& | cudaOccupancyMaxActiveClusters
numOps:u64 opList:cudaMemcpy3DBatchOp* flags:u64 stream:ptr | cudaMemcpy3DBatchAsync cudaMemcpy3DBatchAsync_ptsz
nvSciSyncAttrList:ptr device:i32 flags:i32 | cudaDeviceGetNvSciSyncAttributes
object:ptr count:u32 | cudaUserObjectRelease cudaUserObjectRetain
object_out:ptr* ptr:ptr destroy:ptr initialRefcount:u32 flags:u32 | cudaUserObjectCreate
op:cudaMemcpy3DBatchOp* flags:u64 stream:ptr | cudaMemcpy3DWithAttributesAsync cudaMemcpy3DWithAttributesAsync_ptsz
p:cudaMemcpy3DParms& | cudaMemcpy3D cudaMemcpy3D_ptds
p:cudaMemcpy3DParms& stream:ptr | cudaMemcpy3DAsync cudaMemcpy3DAsync_ptsz
p:cudaMemcpy3DPeerParms& | cudaMemcpy3DPeer cudaMemcpy3DPeer_ptds
p:cudaMemcpy3DPeerParms& stream:ptr | cudaMemcpy3DPeerAsync cudaMemcpy3DPeerAsync_ptsz
pCacheConfig:i32* | cudaDeviceGetCacheConfig
pConfig:i32* | cudaDeviceGetSharedMemConfig
pDevice:ptr* pHost:ptr flags:u32 | cudaHostGetDevicePointer
pFlags:u32* pHost:ptr | cudaHostGetFlags
pGraph:ptr* flags:u32 | cudaGraphCreate
pGraphClone:ptr* originalGraph:ptr | cudaGraphClone
pGraphExec:ptr* graph:ptr flags:u64 | cudaGraphInstantiate cudaGraphInstantiateWithFlags
pGraphExec:ptr* graph:ptr instantiateParams:cudaGraphInstantiateParams* | cudaGraphInstantiateWithParams cudaGraphInstantiateWithParams_ptsz
pGraphNode:ptr* graph:ptr pDependencies:ptr& dependencyData:cudaGraphEdgeData& numDependencies:u64 nodeParams:cudaGraphNodeParams* |
    cudaGraphAddNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 | cudaGraphAddEmptyNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 childGraph:ptr | cudaGraphAddChildGraphNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 dptr:ptr | cudaGraphAddMemFreeNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 dst:ptr src:ptr count:u64 kind:i32 | cudaGraphAddMemcpyNode1D
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 dst:ptr symbol:ptr count:u64 offset:u64 kind:i32 |
    cudaGraphAddMemcpyNodeFromSymbol
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 event:ptr | cudaGraphAddEventRecordNode cudaGraphAddEventWaitNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 nodeParams:cudaExternalSemaphoreSignalNodeParams& |
    cudaGraphAddExternalSemaphoresSignalNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 nodeParams:cudaExternalSemaphoreWaitNodeParams& |
    cudaGraphAddExternalSemaphoresWaitNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 nodeParams:cudaMemAllocNodeParams* | cudaGraphAddMemAllocNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 pCopyParams:cudaMemcpy3DParms& | cudaGraphAddMemcpyNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 pMemsetParams:cudaMemsetParams& | cudaGraphAddMemsetNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 pNodeParams:cudaHostNodeParams& | cudaGraphAddHostNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 pNodeParams:cudaKernelNodeParams& | cudaGraphAddKernelNode
pGraphNode:ptr* graph:ptr pDependencies:ptr& numDependencies:u64 symbol:ptr src:ptr count:u64 offset:u64 kind:i32 |
    cudaGraphAddMemcpyNodeToSymbol
pHandle_out:u64* graph:ptr ctx:ptr defaultLaunchValue:u32 flags:u32 | cudaGraphConditionalHandleCreate_v2
pHandle_out:u64* graph:ptr defaultLaunchValue:u32 flags:u32 | cudaGraphConditionalHandleCreate
pHost:ptr* size:u64 flags:u32 | cudaHostAlloc
pKernel:ptr* library:ptr name:str | cudaLibraryGetKernel
pNode:ptr* originalNode:ptr clonedGraph:ptr | cudaGraphNodeFindInClone
pPlaneArray:ptr* hArray:ptr planeIdx:u32 | cudaArrayGetPlane
pResDesc:cudaResourceDesc* surfObject:u64 | cudaGetSurfaceObjectResourceDesc
pResDesc:cudaResourceDesc* texObject:u64 | cudaGetTextureObjectResourceDesc
pResViewDesc:cudaResourceViewDesc* texObject:u64 | cudaGetTextureObjectResourceViewDesc
pStream:ptr* | cudaStreamCreate
pStream:ptr* flags:u32 | cudaStreamCreateWithFlags
pStream:ptr* flags:u32 priority:i32 | cudaStreamCreateWithPriority
pSurfObject:u64* pResDesc:cudaResourceDesc& | cudaCreateSurfaceObject
pTexDesc:cudaTextureDesc* texObject:u64 | cudaGetTextureObjectTextureDesc
pTexObject:u64* pResDesc:cudaResourceDesc& pTexDesc:cudaTextureDesc& pResViewDesc:cudaResourceViewDesc& | cudaCreateTextureObject
pValue:u64* limit:i32 | cudaDeviceGetLimit
pciBusId:chars len:i32 device:i32 | cudaDeviceGetPCIBusId
peerDevice:i32 | cudaDeviceDisablePeerAccess
peerDevice:i32 flags:u32 | cudaDeviceEnablePeerAccess
phCtx:ptr* desc:ptr device:i32 flags:u32 | cudaGreenCtxCreate
phDesc:ptr* resources:cudaDevResource* nbResources:u32 | cudaDevResourceGenerateDesc
phStream:ptr* ctx:ptr flags:u32 priority:i32 | cudaExecutionCtxStreamCreate
pitchedDevPtr:cudaPitchedPtr value:i32 extent:cudaExtent | cudaMemset3D cudaMemset3D_ptds
pitchedDevPtr:cudaPitchedPtr value:i32 extent:cudaExtent stream:ptr | cudaMemset3DAsync cudaMemset3DAsync_ptsz
pitchedDevPtr:cudaPitchedPtr* extent:cudaExtent | cudaMalloc3D
ppExportTable:ptr* pExportTableId:cudaUUID_t& | cudaGetExportTable
prop:cudaDeviceProp* device:i32 | cudaGetDeviceProperties
ptr:ptr | cudaFreeHost cudaHostUnregister
ptr:ptr size:u64 flags:u32 | cudaHostRegister
ptr:ptr* memPool:ptr exportData:cudaMemPoolPtrExportData* | cudaMemPoolImportPointer
ptr:ptr* size:u64 | cudaMallocHost
ptr:ptr* size:u64 memPool:ptr stream:ptr | cudaMallocFromPoolAsync cudaMallocFromPoolAsync_ptsz
resource:ptr | cudaGraphicsUnregisterResource
resource:ptr flags:u32 | cudaGraphicsResourceSetMapFlags
result:cudaDevResource* nbGroups:u32 input_:cudaDevResource& remainder:cudaDevResource* flags:u32 groupParams:cudaDevSmResourceGroupParams*
    | cudaDevSmResourceSplit
result:cudaDevResource* nbGroups:u32* input_:cudaDevResource& remaining:cudaDevResource* flags:u32 minCount:u32 |
    cudaDevSmResourceSplitByCount
runtimeVersion:i32* | cudaRuntimeGetVersion
shareableHandle:ptr memPool:ptr handleType:i32 flags:u32 | cudaMemPoolExportToShareableHandle
size:u64* symbol:ptr | cudaGetSymbolSize
sparseProperties:cudaArraySparseProperties* array:ptr | cudaArrayGetSparseProperties
sparseProperties:cudaArraySparseProperties* mipmap:ptr | cudaMipmappedArrayGetSparseProperties
stream:ptr | cudaStreamDestroy cudaStreamQuery cudaStreamQuery_ptsz cudaStreamSynchronize cudaStreamSynchronize_ptsz
stream:ptr callback:ptr userData:ptr flags:u32 | cudaStreamAddCallback cudaStreamAddCallback_ptsz
stream:ptr captureStatus_out:i32* id_out:u64* graph_out:ptr* dependencies_out:ptr* edgeData_out:ptr* numDependencies_out:u64* |
    cudaStreamGetCaptureInfo cudaStreamGetCaptureInfo_ptsz
stream:ptr dependencies:ptr* dependencyData:cudaGraphEdgeData& numDependencies:u64 flags:u32 | cudaStreamUpdateCaptureDependencies
    cudaStreamUpdateCaptureDependencies_ptsz
stream:ptr devPtr:ptr length:u64 flags:u32 | cudaStreamAttachMemAsync cudaStreamAttachMemAsync_ptsz
stream:ptr event:ptr flags:u32 | cudaStreamWaitEvent cudaStreamWaitEvent_ptsz
stream:ptr fn:ptr userData:ptr | cudaLaunchHostFunc cudaLaunchHostFunc_ptsz
stream:ptr fn:ptr userData:ptr syncMode:u32 | cudaLaunchHostFunc_v2 cudaLaunchHostFunc_v2_ptsz
stream:ptr graph:ptr dependencies:ptr& dependencyData:cudaGraphEdgeData& numDependencies:u64 mode:i32 | cudaStreamBeginCaptureToGraph
    cudaStreamBeginCaptureToGraph_ptsz
stream:ptr mode:i32 | cudaStreamBeginCapture cudaStreamBeginCapture_ptsz
stream:ptr mode:i32 graph:ptr callbackData:cudaGraphRecaptureCallbackData* | cudaStreamBeginRecaptureToGraph
    cudaStreamBeginRecaptureToGraph_ptsz
stream:ptr pCaptureStatus:i32* | cudaStreamIsCapturing cudaStreamIsCapturing_ptsz
stream:ptr pGraph:ptr* | cudaStreamEndCapture cudaStreamEndCapture_ptsz
surfObject:u64 | cudaDestroySurfaceObject
symbol:ptr src:ptr count:u64 offset:u64 kind:i32 | cudaMemcpyToSymbol cudaMemcpyToSymbol_ptds
symbol:ptr src:ptr count:u64 offset:u64 kind:i32 stream:ptr | cudaMemcpyToSymbolAsync cudaMemcpyToSymbolAsync_ptsz
symbol:str funcPtr:ptr* cudaVersion:u32 flags:u64 driverStatus:i32* | cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz
symbol:str funcPtr:ptr* flags:u64 driverStatus:i32* | cudaGetDriverEntryPoint cudaGetDriverEntryPoint_ptsz
symbol:str pfn:ptr* version:i32 flags:u64 | __cudaGetProcAddress
target:i32 scope:i32 | cudaDeviceFlushGPUDirectRDMAWrites
texObject:u64 | cudaDestroyTextureObject
value:i32* attr:i32 device:i32 | cudaDeviceGetAttribute
value:i32* attr:i32 srcDevice:i32 dstDevice:i32 | cudaDeviceGetP2PAttribute
wrapper:ptr | __cudaRegisterFatBinary
x:i32 y:i32 z:i32 w:i32 f:i32 | cudaCreateChannelDesc
"""
