"""Functions of the CUDA runtime API without code of their own: name, number of results, parameters; written by tools/derive_api.py."""

SIGNATURES = """\
cudaArrayGetMemoryRequirements 1 array, device
cudaArrayGetPlane 1 hArray, planeIdx
cudaArrayGetSparseProperties 1 array
cudaCreateSurfaceObject 1 pResDesc
cudaCreateTextureObject 1 pResDesc, pTexDesc, pResViewDesc
cudaCtxResetPersistingL2Cache 0
cudaDestroyExternalMemory 0 extMem
cudaDestroyExternalSemaphore 0 extSem
cudaDestroySurfaceObject 0 surfObject
cudaDestroyTextureObject 0 texObject
cudaDevResourceGenerateDesc 1 resources, nbResources
cudaDevSmResourceSplit 2 nbGroups, input_, flags, groupParams
cudaDevSmResourceSplitByCount 3 nbGroups, input_, flags, minCount
cudaDeviceCanAccessPeer 1 device, peerDevice
cudaDeviceFlushGPUDirectRDMAWrites 0 target, scope
cudaDeviceGetByPCIBusId 1 pciBusId
cudaDeviceGetCacheConfig 1
cudaDeviceGetDefaultMemPool 1 device
cudaDeviceGetDevResource 1 device, typename
cudaDeviceGetExecutionCtx 1 device
cudaDeviceGetGraphMemAttribute 1 device, attr
cudaDeviceGetHostAtomicCapabilities 1 operations, count, device
cudaDeviceGetLimit 1 limit
cudaDeviceGetMemPool 1 device
cudaDeviceGetNvSciSyncAttributes 0 nvSciSyncAttrList, device, flags
cudaDeviceGetP2PAtomicCapabilities 1 operations, count, srcDevice, dstDevice
cudaDeviceGetP2PAttribute 1 attr, srcDevice, dstDevice
cudaDeviceGetPCIBusId 1 length, device
cudaDeviceGetSharedMemConfig 1
cudaDeviceGetStreamPriorityRange 2
cudaDeviceGetTexture1DLinearMaxWidth 1 fmtDesc, device
cudaDeviceGraphMemTrim 0 device
cudaDeviceRegisterAsyncNotification 1 device, callbackFunc, userData
cudaDeviceSetCacheConfig 0 cacheConfig
cudaDeviceSetGraphMemAttribute 0 device, attr, value
cudaDeviceSetLimit 0 limit, value
cudaDeviceSetMemPool 0 device, memPool
cudaDeviceSetSharedMemConfig 0 config
cudaDeviceSynchronize 0
cudaDeviceUnregisterAsyncNotification 0 device, callback
cudaEGLStreamConsumerAcquireFrame 0 conn, pCudaResource, pStream, timeout
cudaEGLStreamConsumerConnect 1 eglStream
cudaEGLStreamConsumerConnectWithFlags 1 eglStream, flags
cudaEGLStreamConsumerDisconnect 0 conn
cudaEGLStreamConsumerReleaseFrame 0 conn, pCudaResource, pStream
cudaEGLStreamProducerConnect 1 eglStream, width, height
cudaEGLStreamProducerDisconnect 0 conn
cudaEGLStreamProducerPresentFrame 0 conn, eglframe, pStream
cudaEGLStreamProducerReturnFrame 0 conn, eglframe, pStream
cudaEventCreateFromEGLSync 1 eglSync, flags
cudaEventCreateWithFlags 1 flags
cudaEventDestroy 0 event
cudaEventElapsedTime 1 start, end
cudaEventQuery 0 event
cudaEventRecord 0 event, stream
cudaEventRecordWithFlags 0 event, stream, flags
cudaEventSynchronize 0 event
cudaExecutionCtxDestroy 0 ctx
cudaExecutionCtxGetDevResource 1 ctx, typename
cudaExecutionCtxGetDevice 1 ctx
cudaExecutionCtxGetId 1 ctx
cudaExecutionCtxRecordEvent 0 ctx, event
cudaExecutionCtxStreamCreate 1 ctx, flags, priority
cudaExecutionCtxSynchronize 0 ctx
cudaExecutionCtxWaitEvent 0 ctx, event
cudaExternalMemoryGetMappedBuffer 1 extMem, bufferDesc
cudaExternalMemoryGetMappedMipmappedArray 1 extMem, mipmapDesc
cudaFreeAsync 0 devPtr, hStream
cudaFreeHost 0 ptr
cudaFreeMipmappedArray 0 mipmappedArray
cudaFuncGetParamCount 1 func
cudaFuncSetAttribute 0 func, attr, value
cudaFuncSetCacheConfig 0 func, cacheConfig
cudaFuncSetSharedMemConfig 0 func, config
cudaGLGetDevices 2 cudaDeviceCount, deviceList
cudaGetDriverEntryPoint 2 symbol, flags
cudaGetDriverEntryPointByVersion 2 symbol, cudaVersion, flags
cudaGetExportTable 0 pExportTableId
cudaGetMipmappedArrayLevel 1 mipmappedArray, level
cudaGetSurfaceObjectResourceDesc 1 surfObject
cudaGetTextureObjectResourceDesc 1 texObject
cudaGetTextureObjectResourceViewDesc 1 texObject
cudaGetTextureObjectTextureDesc 1 texObject
cudaGraphAddChildGraphNode 1 graph, pDependencies, numDependencies, childGraph
cudaGraphAddDependencies 0 graph, from_, to, edgeData, numDependencies
cudaGraphAddEmptyNode 1 graph, pDependencies, numDependencies
cudaGraphAddEventRecordNode 1 graph, pDependencies, numDependencies, event
cudaGraphAddEventWaitNode 1 graph, pDependencies, numDependencies, event
cudaGraphAddExternalSemaphoresSignalNode 1 graph, pDependencies, numDependencies, nodeParams
cudaGraphAddExternalSemaphoresWaitNode 1 graph, pDependencies, numDependencies, nodeParams
cudaGraphAddHostNode 1 graph, pDependencies, numDependencies, pNodeParams
cudaGraphAddKernelNode 1 graph, pDependencies, numDependencies, pNodeParams
cudaGraphAddMemAllocNode 1 graph, pDependencies, numDependencies, nodeParams
cudaGraphAddMemFreeNode 1 graph, pDependencies, numDependencies, dptr
cudaGraphAddMemcpyNode 1 graph, pDependencies, numDependencies, pCopyParams
cudaGraphAddMemcpyNode1D 1 graph, pDependencies, numDependencies, dst, src, count, kind
cudaGraphAddMemsetNode 1 graph, pDependencies, numDependencies, pMemsetParams
cudaGraphAddNode 1 graph, pDependencies, dependencyData, numDependencies, nodeParams
cudaGraphChildGraphNodeGetGraph 1 node
cudaGraphClone 1 originalGraph
cudaGraphConditionalHandleCreate 1 graph, defaultLaunchValue, flags
cudaGraphConditionalHandleCreate_v2 1 graph, ctx, defaultLaunchValue, flags
cudaGraphCreate 1 flags
cudaGraphDebugDotPrint 0 graph, path, flags
cudaGraphDestroy 0 graph
cudaGraphDestroyNode 0 node
cudaGraphEventRecordNodeGetEvent 1 node
cudaGraphEventRecordNodeSetEvent 0 node, event
cudaGraphEventWaitNodeGetEvent 1 node
cudaGraphEventWaitNodeSetEvent 0 node, event
cudaGraphExecChildGraphNodeSetParams 0 hGraphExec, node, childGraph
cudaGraphExecDestroy 0 graphExec
cudaGraphExecEventRecordNodeSetEvent 0 hGraphExec, hNode, event
cudaGraphExecEventWaitNodeSetEvent 0 hGraphExec, hNode, event
cudaGraphExecExternalSemaphoresSignalNodeSetParams 0 hGraphExec, hNode, nodeParams
cudaGraphExecExternalSemaphoresWaitNodeSetParams 0 hGraphExec, hNode, nodeParams
cudaGraphExecGetFlags 1 graphExec
cudaGraphExecGetId 1 hGraphExec
cudaGraphExecHostNodeSetParams 0 hGraphExec, node, pNodeParams
cudaGraphExecKernelNodeSetParams 0 hGraphExec, node, pNodeParams
cudaGraphExecMemcpyNodeSetParams 0 hGraphExec, node, pNodeParams
cudaGraphExecMemcpyNodeSetParams1D 0 hGraphExec, node, dst, src, count, kind
cudaGraphExecMemsetNodeSetParams 0 hGraphExec, node, pNodeParams
cudaGraphExecNodeSetParams 0 graphExec, node, nodeParams
cudaGraphExecUpdate 1 hGraphExec, hGraph
cudaGraphExternalSemaphoresSignalNodeGetParams 1 hNode
cudaGraphExternalSemaphoresSignalNodeSetParams 0 hNode, nodeParams
cudaGraphExternalSemaphoresWaitNodeGetParams 1 hNode
cudaGraphExternalSemaphoresWaitNodeSetParams 0 hNode, nodeParams
cudaGraphGetEdges 4 graph, numEdges=0
cudaGraphGetId 1 hGraph
cudaGraphGetNodes 2 graph, numNodes=0
cudaGraphGetRootNodes 2 graph, pNumRootNodes=0
cudaGraphHostNodeGetParams 1 node
cudaGraphHostNodeSetParams 0 node, pNodeParams
cudaGraphInstantiate 1 graph, flags
cudaGraphInstantiateWithFlags 1 graph, flags
cudaGraphInstantiateWithParams 1 graph, instantiateParams
cudaGraphKernelNodeCopyAttributes 0 hDst, hSrc
cudaGraphKernelNodeGetAttribute 1 hNode, attr
cudaGraphKernelNodeGetParams 1 node
cudaGraphKernelNodeSetAttribute 0 hNode, attr, value
cudaGraphKernelNodeSetParams 0 node, pNodeParams
cudaGraphLaunch 0 graphExec, stream
cudaGraphMemAllocNodeGetParams 1 node
cudaGraphMemFreeNodeGetParams 1 node
cudaGraphMemcpyNodeGetParams 1 node
cudaGraphMemcpyNodeSetParams 0 node, pNodeParams
cudaGraphMemcpyNodeSetParams1D 0 node, dst, src, count, kind
cudaGraphMemsetNodeGetParams 1 node
cudaGraphMemsetNodeSetParams 0 node, pNodeParams
cudaGraphNodeFindInClone 1 originalNode, clonedGraph
cudaGraphNodeGetContainingGraph 1 hNode
cudaGraphNodeGetDependencies 3 node, pNumDependencies=0
cudaGraphNodeGetDependentNodes 3 node, pNumDependentNodes=0
cudaGraphNodeGetEnabled 1 hGraphExec, hNode
cudaGraphNodeGetLocalId 1 hNode
cudaGraphNodeGetParams 1 node
cudaGraphNodeGetToolsId 1 hNode
cudaGraphNodeGetType 1 node
cudaGraphNodeSetEnabled 0 hGraphExec, hNode, isEnabled
cudaGraphNodeSetParams 0 node, nodeParams
cudaGraphReleaseUserObject 0 graph, object, count
cudaGraphRemoveDependencies 0 graph, from_, to, edgeData, numDependencies
cudaGraphRetainUserObject 0 graph, object, count, flags
cudaGraphUpload 0 graphExec, stream
cudaGraphicsEGLRegisterImage 1 image, flags
cudaGraphicsGLRegisterBuffer 1 buffer, flags
cudaGraphicsGLRegisterImage 1 image, target, flags
cudaGraphicsMapResources 0 count, resources, stream
cudaGraphicsResourceGetMappedEglFrame 1 resource, index, mipLevel
cudaGraphicsResourceGetMappedMipmappedArray 1 resource
cudaGraphicsResourceGetMappedPointer 2 resource
cudaGraphicsResourceSetMapFlags 0 resource, flags
cudaGraphicsSubResourceGetMappedArray 1 resource, arrayIndex, mipLevel
cudaGraphicsUnmapResources 0 count, resources, stream
cudaGraphicsUnregisterResource 0 resource
cudaGraphicsVDPAURegisterOutputSurface 1 vdpSurface, flags
cudaGraphicsVDPAURegisterVideoSurface 1 vdpSurface, flags
cudaGreenCtxCreate 1 desc, device, flags
cudaHostAlloc 1 size, flags
cudaHostGetDevicePointer 1 pHost, flags
cudaHostGetFlags 1 pHost
cudaHostRegister 0 ptr, size, flags
cudaHostUnregister 0 ptr
cudaImportExternalMemory 1 memHandleDesc
cudaImportExternalSemaphore 1 semHandleDesc
cudaIpcCloseMemHandle 0 devPtr
cudaIpcGetEventHandle 1 event
cudaIpcGetMemHandle 1 devPtr
cudaIpcOpenEventHandle 1 handle
cudaIpcOpenMemHandle 1 handle, flags
cudaLaunchHostFunc 0 stream, fn, userData
cudaLaunchHostFunc_v2 0 stream, fn, userData, syncMode
cudaLibraryGetGlobal 2 library, name
cudaLibraryGetKernel 1 library, name
cudaLibraryGetKernelCount 1 lib
cudaLibraryGetManaged 2 library, name
cudaLibraryGetUnifiedFunction 1 library, symbol
cudaLibraryLoadData 1 code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions
cudaLibraryLoadFromFile 1 fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions
cudaLibraryUnload 0 library
cudaLogsCurrent 1 flags
cudaLogsDumpToFile 1 iterator, pathToFile, flags
cudaLogsDumpToMemory 0 iterator, buffer, size, flags
cudaLogsRegisterCallback 1 callbackFunc, userData
cudaLogsUnregisterCallback 0 callback
cudaMallocAsync 1 size, hStream
cudaMallocFromPoolAsync 1 size, memPool, stream
cudaMallocHost 1 size
cudaMallocMipmappedArray 1 desc, extent, numLevels, flags
cudaMemAdvise 0 devPtr, count, advice, location
cudaMemDiscardAndPrefetchBatchAsync 0 dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream
cudaMemDiscardBatchAsync 0 dptrs, sizes, count, flags, stream
cudaMemGetDefaultMemPool 1 location, typename
cudaMemGetInfo 2
cudaMemGetLocationInfo 0 devPtr, size, summaryGranularity, samplingGranularity, location_out
cudaMemGetMemPool 1 location, typename
cudaMemPoolDestroy 0 memPool
cudaMemPoolExportPointer 1 ptr
cudaMemPoolExportToShareableHandle 1 memPool, handleType, flags
cudaMemPoolGetAccess 1 memPool, location
cudaMemPoolGetAttribute 1 memPool, attr
cudaMemPoolImportFromShareableHandle 1 shareableHandle, handleType, flags
cudaMemPoolImportPointer 1 memPool, exportData
cudaMemPoolSetAccess 0 memPool, descList, count
cudaMemPoolSetAttribute 0 memPool, attr, value
cudaMemPoolTrimTo 0 memPool, minBytesToKeep
cudaMemPrefetchAsync 0 devPtr, count, location, flags, stream
cudaMemPrefetchBatchAsync 0 dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, stream
cudaMemRangeGetAttribute 1 dataSize, attribute, devPtr, count
cudaMemRangeGetAttributes 1 dataSizes, attributes, numAttributes, devPtr, count
cudaMemSetMemPool 0 location, typename, memPool
cudaMemcpy3DBatchAsync 0 numOps, opList, flags, stream
cudaMemcpy3DWithAttributesAsync 0 op, flags, stream
cudaMemcpyBatchAsync 0 dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, stream
cudaMemcpyWithAttributesAsync 0 dst, src, size, attr, stream
cudaMipmappedArrayGetMemoryRequirements 1 mipmap, device
cudaMipmappedArrayGetSparseProperties 1 mipmap
cudaOccupancyAvailableDynamicSMemPerBlock 1 func, numBlocks, blockSize
cudaOccupancyMaxActiveBlocksPerMultiprocessor 1 func, blockSize, dynamicSMemSize
cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags 1 func, blockSize, dynamicSMemSize, flags
cudaProfilerStart 0
cudaProfilerStop 0
cudaSignalExternalSemaphoresAsync 0 extSemArray, paramsArray, numExtSems, stream
cudaStreamAddCallback 0 stream, callback, userData, flags
cudaStreamAttachMemAsync 0 stream, devPtr, length, flags
cudaStreamBeginCapture 0 stream, mode
cudaStreamBeginCaptureToGraph 0 stream, graph, dependencies, dependencyData, numDependencies, mode
cudaStreamBeginRecaptureToGraph 0 stream, mode, graph, callbackData
cudaStreamCopyAttributes 0 dst, src
cudaStreamCreateWithFlags 1 flags
cudaStreamCreateWithPriority 1 flags, priority
cudaStreamDestroy 0 stream
cudaStreamEndCapture 1 stream
cudaStreamGetAttribute 1 hStream, attr
cudaStreamGetCaptureInfo 6 stream
cudaStreamGetDevResource 1 hStream, typename
cudaStreamGetDevice 1 hStream
cudaStreamGetFlags 1 hStream
cudaStreamGetId 1 hStream
cudaStreamGetPriority 1 hStream
cudaStreamIsCapturing 1 stream
cudaStreamQuery 0 stream
cudaStreamSetAttribute 0 hStream, attr, value
cudaStreamSynchronize 0 stream
cudaStreamUpdateCaptureDependencies 0 stream, dependencies, dependencyData, numDependencies, flags
cudaStreamWaitEvent 0 stream, event, flags
cudaThreadExchangeStreamCaptureMode 1 mode
cudaUserObjectCreate 1 ptr, destroy, initialRefcount, flags
cudaUserObjectRelease 0 object, count
cudaUserObjectRetain 0 object, count
cudaVDPAUGetDevice 1 vdpDevice, vdpGetProcAddress
cudaVDPAUSetVDPAUDevice 0 device, vdpDevice, vdpGetProcAddress
cudaWaitExternalSemaphoresAsync 0 extSemArray, paramsArray, numExtSems, stream
"""
