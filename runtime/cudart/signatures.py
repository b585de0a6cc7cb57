"""Functions of the CUDA runtime API without code of their own, written by tools/derive_api.py: results, parameters, names."""

SIGNATURES = """\
1 array, device: cudaArrayGetMemoryRequirements
1 hArray, planeIdx: cudaArrayGetPlane
1 array: cudaArrayGetSparseProperties
0: cudaCtxResetPersistingL2Cache cudaDeviceSynchronize cudaProfilerStart cudaProfilerStop
0 extMem: cudaDestroyExternalMemory
0 extSem: cudaDestroyExternalSemaphore
0 surfObject: cudaDestroySurfaceObject
0 texObject: cudaDestroyTextureObject
1 resources, nbResources: cudaDevResourceGenerateDesc
2 nbGroups, input_, flags, groupParams: cudaDevSmResourceSplit
3 nbGroups, input_, flags, minCount: cudaDevSmResourceSplitByCount
1 device, peerDevice: cudaDeviceCanAccessPeer
0 target, scope: cudaDeviceFlushGPUDirectRDMAWrites
1 pciBusId: cudaDeviceGetByPCIBusId
1: cudaDeviceGetCacheConfig cudaDeviceGetSharedMemConfig cudaDriverGetVersion cudaGetDeviceCount cudaRuntimeGetVersion
1 device: cudaDeviceGetDefaultMemPool cudaDeviceGetMemPool
1 device, typename: cudaDeviceGetDevResource
1 device, attr: cudaDeviceGetGraphMemAttribute
1 operations, count, device: cudaDeviceGetHostAtomicCapabilities
1 limit: cudaDeviceGetLimit
0 nvSciSyncAttrList, device, flags: cudaDeviceGetNvSciSyncAttributes
1 operations, count, srcDevice, dstDevice: cudaDeviceGetP2PAtomicCapabilities
1 attr, srcDevice, dstDevice: cudaDeviceGetP2PAttribute
1 length, device: cudaDeviceGetPCIBusId
2: cudaDeviceGetStreamPriorityRange cudaMemGetInfo
0 device: cudaDeviceGraphMemTrim
1 device, callbackFunc, userData: cudaDeviceRegisterAsyncNotification
0 cacheConfig: cudaDeviceSetCacheConfig
0 device, attr, value: cudaDeviceSetGraphMemAttribute
0 limit, value: cudaDeviceSetLimit
0 device, memPool: cudaDeviceSetMemPool
0 config: cudaDeviceSetSharedMemConfig
0 device, callback: cudaDeviceUnregisterAsyncNotification
0 conn, pCudaResource, pStream, timeout: cudaEGLStreamConsumerAcquireFrame
1 eglStream: cudaEGLStreamConsumerConnect
1 eglStream, flags: cudaEGLStreamConsumerConnectWithFlags
0 conn: cudaEGLStreamConsumerDisconnect cudaEGLStreamProducerDisconnect
0 conn, pCudaResource, pStream: cudaEGLStreamConsumerReleaseFrame
1 eglStream, width, height: cudaEGLStreamProducerConnect
0 conn, eglframe, pStream: cudaEGLStreamProducerPresentFrame cudaEGLStreamProducerReturnFrame
1 eglSync, flags: cudaEventCreateFromEGLSync
1 flags: cudaEventCreateWithFlags cudaGraphCreate cudaLogsCurrent cudaStreamCreateWithFlags
0 event: cudaEventDestroy cudaEventQuery cudaEventSynchronize
1 start, end: cudaEventElapsedTime
0 event, stream: cudaEventRecord
0 event, stream, flags: cudaEventRecordWithFlags
0 ctx: cudaExecutionCtxDestroy cudaExecutionCtxSynchronize
1 ctx, typename: cudaExecutionCtxGetDevResource
1 ctx: cudaExecutionCtxGetDevice cudaExecutionCtxGetId
0 ctx, event: cudaExecutionCtxRecordEvent cudaExecutionCtxWaitEvent
1 extMem, bufferDesc: cudaExternalMemoryGetMappedBuffer
1 extMem, mipmapDesc: cudaExternalMemoryGetMappedMipmappedArray
0 devPtr, hStream: cudaFreeAsync
0 ptr: cudaFreeHost cudaHostUnregister
1 func: cudaFuncGetParamCount
0 func, attr, value: cudaFuncSetAttribute
0 func, cacheConfig: cudaFuncSetCacheConfig
0 func, config: cudaFuncSetSharedMemConfig
2 cudaDeviceCount, deviceList: cudaGLGetDevices
2 symbol, flags: cudaGetDriverEntryPoint
2 symbol, cudaVersion, flags: cudaGetDriverEntryPointByVersion
0 pExportTableId: cudaGetExportTable
1 mipmappedArray, level: cudaGetMipmappedArrayLevel
1 texObject: cudaGetTextureObjectResourceViewDesc
1 graph, pDependencies, numDependencies, childGraph: cudaGraphAddChildGraphNode
0 graph, from_, to, edgeData, numDependencies: cudaGraphAddDependencies cudaGraphRemoveDependencies
1 graph, pDependencies, numDependencies: cudaGraphAddEmptyNode
1 graph, pDependencies, numDependencies, event: cudaGraphAddEventRecordNode cudaGraphAddEventWaitNode
1 graph, pDependencies, numDependencies, nodeParams: cudaGraphAddExternalSemaphoresSignalNode cudaGraphAddExternalSemaphoresWaitNode
1 graph, pDependencies, numDependencies, dptr: cudaGraphAddMemFreeNode
1 graph, pDependencies, dependencyData, numDependencies, nodeParams: cudaGraphAddNode
1 node: cudaGraphChildGraphNodeGetGraph cudaGraphEventRecordNodeGetEvent cudaGraphEventWaitNodeGetEvent cudaGraphMemFreeNodeGetParams
    cudaGraphNodeGetParams cudaGraphNodeGetType
1 originalGraph: cudaGraphClone
0 graph, path, flags: cudaGraphDebugDotPrint
0 graph: cudaGraphDestroy
0 node: cudaGraphDestroyNode
0 node, event: cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeSetEvent
0 hGraphExec, node, childGraph: cudaGraphExecChildGraphNodeSetParams
0 graphExec: cudaGraphExecDestroy
0 hGraphExec, hNode, event: cudaGraphExecEventRecordNodeSetEvent cudaGraphExecEventWaitNodeSetEvent
0 hGraphExec, hNode, nodeParams: cudaGraphExecExternalSemaphoresSignalNodeSetParams cudaGraphExecExternalSemaphoresWaitNodeSetParams
1 graphExec: cudaGraphExecGetFlags
1 hGraphExec: cudaGraphExecGetId
0 graphExec, node, nodeParams: cudaGraphExecNodeSetParams
1 hGraphExec, hGraph: cudaGraphExecUpdate
1 hNode: cudaGraphExternalSemaphoresSignalNodeGetParams cudaGraphExternalSemaphoresWaitNodeGetParams cudaGraphNodeGetContainingGraph
    cudaGraphNodeGetLocalId cudaGraphNodeGetToolsId
0 hNode, nodeParams: cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeSetParams
4 graph, numEdges=0: cudaGraphGetEdges
1 hGraph: cudaGraphGetId
2 graph, numNodes=0: cudaGraphGetNodes
2 graph, pNumRootNodes=0: cudaGraphGetRootNodes
1 graph, flags: cudaGraphInstantiate cudaGraphInstantiateWithFlags
1 graph, instantiateParams: cudaGraphInstantiateWithParams
0 hDst, hSrc: cudaGraphKernelNodeCopyAttributes
1 hNode, attr: cudaGraphKernelNodeGetAttribute
0 hNode, attr, value: cudaGraphKernelNodeSetAttribute
0 graphExec, stream: cudaGraphLaunch cudaGraphUpload
1 originalNode, clonedGraph: cudaGraphNodeFindInClone
3 node, pNumDependencies=0: cudaGraphNodeGetDependencies
3 node, pNumDependentNodes=0: cudaGraphNodeGetDependentNodes
1 hGraphExec, hNode: cudaGraphNodeGetEnabled
0 hGraphExec, hNode, isEnabled: cudaGraphNodeSetEnabled
0 node, nodeParams: cudaGraphNodeSetParams
0 graph, object, count: cudaGraphReleaseUserObject
0 graph, object, count, flags: cudaGraphRetainUserObject
1 image, flags: cudaGraphicsEGLRegisterImage
1 buffer, flags: cudaGraphicsGLRegisterBuffer
1 image, target, flags: cudaGraphicsGLRegisterImage
0 count, resources, stream: cudaGraphicsMapResources cudaGraphicsUnmapResources
1 resource, index, mipLevel: cudaGraphicsResourceGetMappedEglFrame
1 resource: cudaGraphicsResourceGetMappedMipmappedArray
2 resource: cudaGraphicsResourceGetMappedPointer
0 resource, flags: cudaGraphicsResourceSetMapFlags
1 resource, arrayIndex, mipLevel: cudaGraphicsSubResourceGetMappedArray
0 resource: cudaGraphicsUnregisterResource
1 vdpSurface, flags: cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface
1 desc, device, flags: cudaGreenCtxCreate
1 size, flags: cudaHostAlloc
1 pHost, flags: cudaHostGetDevicePointer
1 pHost: cudaHostGetFlags
0 ptr, size, flags: cudaHostRegister
1 memHandleDesc: cudaImportExternalMemory
1 semHandleDesc: cudaImportExternalSemaphore
0 devPtr: cudaIpcCloseMemHandle
1 event: cudaIpcGetEventHandle
1 devPtr: cudaIpcGetMemHandle
1 handle: cudaIpcOpenEventHandle
1 handle, flags: cudaIpcOpenMemHandle
0 stream, fn, userData: cudaLaunchHostFunc
0 stream, fn, userData, syncMode: cudaLaunchHostFunc_v2
2 library, name: cudaLibraryGetGlobal cudaLibraryGetManaged
1 library, name: cudaLibraryGetKernel
1 lib: cudaLibraryGetKernelCount
1 library, symbol: cudaLibraryGetUnifiedFunction
1 code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions: cudaLibraryLoadData
1 fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions: cudaLibraryLoadFromFile
0 library: cudaLibraryUnload
1 iterator, pathToFile, flags: cudaLogsDumpToFile
0 iterator, buffer, size, flags: cudaLogsDumpToMemory
1 callbackFunc, userData: cudaLogsRegisterCallback
0 callback: cudaLogsUnregisterCallback
1 size, hStream: cudaMallocAsync
1 size, memPool, stream: cudaMallocFromPoolAsync
1 size: cudaMallocHost
0 devPtr, count, advice, location: cudaMemAdvise
0 dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream: cudaMemDiscardAndPrefetchBatchAsync
    cudaMemPrefetchBatchAsync
0 dptrs, sizes, count, flags, stream: cudaMemDiscardBatchAsync
1 location, typename: cudaMemGetDefaultMemPool cudaMemGetMemPool
0 devPtr, size, summaryGranularity, samplingGranularity, location_out: cudaMemGetLocationInfo
0 memPool: cudaMemPoolDestroy
1 ptr: cudaMemPoolExportPointer
1 memPool, handleType, flags: cudaMemPoolExportToShareableHandle
1 memPool, location: cudaMemPoolGetAccess
1 memPool, attr: cudaMemPoolGetAttribute
1 shareableHandle, handleType, flags: cudaMemPoolImportFromShareableHandle
1 memPool, exportData: cudaMemPoolImportPointer
0 memPool, descList, count: cudaMemPoolSetAccess
0 memPool, attr, value: cudaMemPoolSetAttribute
0 memPool, minBytesToKeep: cudaMemPoolTrimTo
0 devPtr, count, location, flags, stream: cudaMemPrefetchAsync
1 dataSize, attribute, devPtr, count: cudaMemRangeGetAttribute
1 dataSizes, attributes, numAttributes, devPtr, count: cudaMemRangeGetAttributes
0 location, typename, memPool: cudaMemSetMemPool
0 numOps, opList, flags, stream: cudaMemcpy3DBatchAsync
0 op, flags, stream: cudaMemcpy3DWithAttributesAsync
0 dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream: cudaMemcpyBatchAsync
0 dst, src, size, attr, stream: cudaMemcpyWithAttributesAsync
1 mipmap, device: cudaMipmappedArrayGetMemoryRequirements
1 mipmap: cudaMipmappedArrayGetSparseProperties
1 func, numBlocks, blockSize: cudaOccupancyAvailableDynamicSMemPerBlock
1 func, blockSize, dynamicSMemSize: cudaOccupancyMaxActiveBlocksPerMultiprocessor
1 func, blockSize, dynamicSMemSize, flags: cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
0 extSemArray, paramsArray, numExtSems, stream: cudaSignalExternalSemaphoresAsync cudaWaitExternalSemaphoresAsync
0 stream, callback, userData, flags: cudaStreamAddCallback
0 stream, devPtr, length, flags: cudaStreamAttachMemAsync
0 stream, mode: cudaStreamBeginCapture
0 stream, graph, dependencies, dependencyData, numDependencies, mode: cudaStreamBeginCaptureToGraph
0 stream, mode, graph, callbackData: cudaStreamBeginRecaptureToGraph
0 dst, src: cudaStreamCopyAttributes
1 flags, priority: cudaStreamCreateWithPriority
0 stream: cudaStreamDestroy cudaStreamQuery cudaStreamSynchronize
1 stream: cudaStreamEndCapture cudaStreamIsCapturing
1 hStream, attr: cudaStreamGetAttribute
6 stream: cudaStreamGetCaptureInfo
1 hStream, typename: cudaStreamGetDevResource
1 hStream: cudaStreamGetDevice cudaStreamGetFlags cudaStreamGetId cudaStreamGetPriority
0 hStream, attr, value: cudaStreamSetAttribute
0 stream, dependencies, dependencyData, numDependencies, flags: cudaStreamUpdateCaptureDependencies
0 stream, event, flags: cudaStreamWaitEvent
1 mode: cudaThreadExchangeStreamCaptureMode
1 ptr, destroy, initialRefcount, flags: cudaUserObjectCreate
0 object, count: cudaUserObjectRelease cudaUserObjectRetain
1 vdpDevice, vdpGetProcAddress: cudaVDPAUGetDevice
0 device, vdpDevice, vdpGetProcAddress: cudaVDPAUSetVDPAUDevice
"""
