"""Every function of the CUDA driver API: name, number of results, parameters; written by tools/derive_api.py."""

SIGNATURES = """\
cuArray3DCreate 1 pAllocateArray
cuArray3DGetDescriptor 1 hArray
cuArrayCreate 1 pAllocateArray
cuArrayDestroy 0 hArray
cuArrayGetDescriptor 1 hArray
cuArrayGetMemoryRequirements 1 array, device
cuArrayGetPlane 1 hArray, planeIdx
cuArrayGetSparseProperties 1 array
cuCheckpointOperationComplete 0 handle
cuCheckpointProcessCheckpoint 0 pid, args
cuCheckpointProcessGetRestoreThreadId 1 pid
cuCheckpointProcessGetState 1 pid
cuCheckpointProcessLock 0 pid, args
cuCheckpointProcessRestore 0 pid, args
cuCheckpointProcessUnlock 0 pid, args
cuCoredumpDeregisterCompleteCallback 0 callback
cuCoredumpDeregisterStartCallback 0 callback
cuCoredumpGetAttribute 2 attrib
cuCoredumpGetAttributeGlobal 2 attrib
cuCoredumpRegisterCompleteCallback 1 callback, userData
cuCoredumpRegisterStartCallback 1 callback, userData
cuCoredumpSetAttribute 1 attrib, value
cuCoredumpSetAttributeGlobal 1 attrib, value
cuCtxAttach 1 flags
cuCtxCreate 1 ctxCreateParams, flags, dev
cuCtxDestroy 0 ctx
cuCtxDetach 0 ctx
cuCtxDisablePeerAccess 0 peerContext
cuCtxEnablePeerAccess 0 peerContext, Flags
cuCtxFromGreenCtx 1 hCtx
cuCtxGetApiVersion 1 ctx
cuCtxGetCacheConfig 1
cuCtxGetCurrent 1
cuCtxGetDevResource 1 hCtx, typename
cuCtxGetDevice 1
cuCtxGetDevice_v2 1 ctx
cuCtxGetExecAffinity 1 typename
cuCtxGetFlags 1
cuCtxGetId 1 ctx
cuCtxGetLimit 1 limit
cuCtxGetSharedMemConfig 1
cuCtxGetStreamPriorityRange 2
cuCtxPopCurrent 1
cuCtxPushCurrent 0 ctx
cuCtxRecordEvent 0 hCtx, hEvent
cuCtxResetPersistingL2Cache 0
cuCtxSetCacheConfig 0 config
cuCtxSetCurrent 0 ctx
cuCtxSetFlags 0 flags
cuCtxSetLimit 0 limit, value
cuCtxSetSharedMemConfig 0 config
cuCtxSynchronize 0
cuCtxSynchronize_v2 0 ctx
cuCtxWaitEvent 0 hCtx, hEvent
cuDestroyExternalMemory 0 extMem
cuDestroyExternalSemaphore 0 extSem
cuDevResourceGenerateDesc 1 resources, nbResources
cuDevSmResourceSplit 2 nbGroups, input_, flags, groupParams
cuDevSmResourceSplitByCount 3 nbGroups, input_, flags, minCount
cuDeviceCanAccessPeer 1 dev, peerDev
cuDeviceComputeCapability 2 dev
cuDeviceGet 1 ordinal
cuDeviceGetAttribute 1 attrib, dev
cuDeviceGetByPCIBusId 1 pciBusId
cuDeviceGetCliqueCount 1 dev
cuDeviceGetCliqueInfo 2 count, dev
cuDeviceGetCount 1
cuDeviceGetDefaultMemPool 1 dev
cuDeviceGetDevResource 1 device, typename
cuDeviceGetExecAffinitySupport 1 typename, dev
cuDeviceGetFabricClusterUuid 1 dev
cuDeviceGetGraphMemAttribute 1 device, attr
cuDeviceGetHostAtomicCapabilities 1 operations, count, dev
cuDeviceGetLuid 2 dev
cuDeviceGetMemPool 1 dev
cuDeviceGetName 1 length, dev
cuDeviceGetNvSciSyncAttributes 0 nvSciSyncAttrList, dev, flags
cuDeviceGetP2PAtomicCapabilities 1 operations, count, srcDevice, dstDevice
cuDeviceGetP2PAttribute 1 attrib, srcDevice, dstDevice
cuDeviceGetPCIBusId 1 length, dev
cuDeviceGetProperties 1 dev
cuDeviceGetTexture1DLinearMaxWidth 1 pformat, numChannels, dev
cuDeviceGetUuid 1 dev
cuDeviceGraphMemTrim 0 device
cuDevicePrimaryCtxGetState 2 dev
cuDevicePrimaryCtxRelease 0 dev
cuDevicePrimaryCtxReset 0 dev
cuDevicePrimaryCtxRetain 1 dev
cuDevicePrimaryCtxSetFlags 0 dev, flags
cuDeviceRegisterAsyncNotification 1 device, callbackFunc, userData
cuDeviceSetGraphMemAttribute 0 device, attr, value
cuDeviceSetMemPool 0 dev, pool
cuDeviceTotalMem 1 dev
cuDeviceUnregisterAsyncNotification 0 device, callback
cuDriverGetVersion 1
cuEGLStreamConsumerAcquireFrame 0 conn, pCudaResource, pStream, timeout
cuEGLStreamConsumerConnect 1 stream
cuEGLStreamConsumerConnectWithFlags 1 stream, flags
cuEGLStreamConsumerDisconnect 0 conn
cuEGLStreamConsumerReleaseFrame 0 conn, pCudaResource, pStream
cuEGLStreamProducerConnect 1 stream, width, height
cuEGLStreamProducerDisconnect 0 conn
cuEGLStreamProducerPresentFrame 0 conn, eglframe, pStream
cuEGLStreamProducerReturnFrame 0 conn, eglframe, pStream
cuEventCreate 1 Flags
cuEventCreateFromEGLSync 1 eglSync, flags
cuEventDestroy 0 hEvent
cuEventElapsedTime 1 hStart, hEnd
cuEventQuery 0 hEvent
cuEventRecord 0 hEvent, hStream
cuEventRecordWithFlags 0 hEvent, hStream, flags
cuEventSynchronize 0 hEvent
cuExternalMemoryGetMappedBuffer 1 extMem, bufferDesc
cuExternalMemoryGetMappedMipmappedArray 1 extMem, mipmapDesc
cuFabricCpyBatchAsync 0 numOps, opList, flags, hStream
cuFlushGPUDirectRDMAWrites 0 target, scope
cuFuncGetAttribute 1 attrib, hfunc
cuFuncGetModule 1 hfunc
cuFuncGetName 1 hfunc
cuFuncGetParamCount 1 func
cuFuncGetParamInfo 2 func, paramIndex
cuFuncIsLoaded 1 function
cuFuncLoad 0 function
cuFuncSetAttribute 0 hfunc, attrib, value
cuFuncSetBlockShape 0 hfunc, x, y, z
cuFuncSetCacheConfig 0 hfunc, config
cuFuncSetSharedMemConfig 0 hfunc, config
cuFuncSetSharedSize 0 hfunc, numbytes
cuGLGetDevices 2 cudaDeviceCount, deviceList
cuGetErrorName 1 error
cuGetErrorString 1 error
cuGetExportTable 1 pExportTableId
cuGetProcAddress 2 symbol, cudaVersion, flags
cuGraphAddBatchMemOpNode 1 hGraph, dependencies, numDependencies, nodeParams
cuGraphAddChildGraphNode 1 hGraph, dependencies, numDependencies, childGraph
cuGraphAddDependencies 0 hGraph, from_, to, edgeData, numDependencies
cuGraphAddEmptyNode 1 hGraph, dependencies, numDependencies
cuGraphAddEventRecordNode 1 hGraph, dependencies, numDependencies, event
cuGraphAddEventWaitNode 1 hGraph, dependencies, numDependencies, event
cuGraphAddExternalSemaphoresSignalNode 1 hGraph, dependencies, numDependencies, nodeParams
cuGraphAddExternalSemaphoresWaitNode 1 hGraph, dependencies, numDependencies, nodeParams
cuGraphAddHostNode 1 hGraph, dependencies, numDependencies, nodeParams
cuGraphAddKernelNode 1 hGraph, dependencies, numDependencies, nodeParams
cuGraphAddMemAllocNode 1 hGraph, dependencies, numDependencies, nodeParams
cuGraphAddMemFreeNode 1 hGraph, dependencies, numDependencies, dptr
cuGraphAddMemcpyNode 1 hGraph, dependencies, numDependencies, copyParams, ctx
cuGraphAddMemsetNode 1 hGraph, dependencies, numDependencies, memsetParams, ctx
cuGraphAddNode 1 hGraph, dependencies, dependencyData, numDependencies, nodeParams
cuGraphAddNode_v3 1 hGraph, dependencies, dependencyData, numDependencies, nodeParams
cuGraphBatchMemOpNodeGetParams 1 hNode
cuGraphBatchMemOpNodeSetParams 0 hNode, nodeParams
cuGraphChildGraphNodeGetGraph 1 hNode
cuGraphClone 1 originalGraph
cuGraphConditionalHandleCreate 1 hGraph, ctx, defaultLaunchValue, flags
cuGraphCreate 1 flags
cuGraphDebugDotPrint 0 hGraph, path, flags
cuGraphDestroy 0 hGraph
cuGraphDestroyNode 0 hNode
cuGraphEventRecordNodeGetEvent 1 hNode
cuGraphEventRecordNodeSetEvent 0 hNode, event
cuGraphEventWaitNodeGetEvent 1 hNode
cuGraphEventWaitNodeSetEvent 0 hNode, event
cuGraphExecBatchMemOpNodeSetParams 0 hGraphExec, hNode, nodeParams
cuGraphExecChildGraphNodeSetParams 0 hGraphExec, hNode, childGraph
cuGraphExecDestroy 0 hGraphExec
cuGraphExecEventRecordNodeSetEvent 0 hGraphExec, hNode, event
cuGraphExecEventWaitNodeSetEvent 0 hGraphExec, hNode, event
cuGraphExecExternalSemaphoresSignalNodeSetParams 0 hGraphExec, hNode, nodeParams
cuGraphExecExternalSemaphoresWaitNodeSetParams 0 hGraphExec, hNode, nodeParams
cuGraphExecGetFlags 1 hGraphExec
cuGraphExecGetId 1 hGraphExec
cuGraphExecHostNodeSetParams 0 hGraphExec, hNode, nodeParams
cuGraphExecKernelNodeSetParams 0 hGraphExec, hNode, nodeParams
cuGraphExecMemcpyNodeSetParams 0 hGraphExec, hNode, copyParams, ctx
cuGraphExecMemsetNodeSetParams 0 hGraphExec, hNode, memsetParams, ctx
cuGraphExecNodeSetParams 0 hGraphExec, hNode, nodeParams
cuGraphExecUpdate 1 hGraphExec, hGraph
cuGraphExternalSemaphoresSignalNodeGetParams 1 hNode
cuGraphExternalSemaphoresSignalNodeSetParams 0 hNode, nodeParams
cuGraphExternalSemaphoresWaitNodeGetParams 1 hNode
cuGraphExternalSemaphoresWaitNodeSetParams 0 hNode, nodeParams
cuGraphGetEdges 4 hGraph, numEdges=0
cuGraphGetId 1 hGraph
cuGraphGetNodes 2 hGraph, numNodes=0
cuGraphGetRootNodes 2 hGraph, numRootNodes=0
cuGraphHostNodeGetParams 1 hNode
cuGraphHostNodeSetParams 0 hNode, nodeParams
cuGraphInstantiate 1 hGraph, flags
cuGraphInstantiateWithParams 1 hGraph, instantiateParams
cuGraphKernelNodeCopyAttributes 0 dst, src
cuGraphKernelNodeGetAttribute 1 hNode, attr
cuGraphKernelNodeGetParams 1 hNode
cuGraphKernelNodeSetAttribute 0 hNode, attr, value
cuGraphKernelNodeSetParams 0 hNode, nodeParams
cuGraphLaunch 0 hGraphExec, hStream
cuGraphMemAllocNodeGetParams 1 hNode
cuGraphMemFreeNodeGetParams 1 hNode
cuGraphMemcpyNodeGetParams 1 hNode
cuGraphMemcpyNodeSetParams 0 hNode, nodeParams
cuGraphMemsetNodeGetParams 1 hNode
cuGraphMemsetNodeSetParams 0 hNode, nodeParams
cuGraphNodeFindInClone 1 hOriginalNode, hClonedGraph
cuGraphNodeGetContainingGraph 1 hNode
cuGraphNodeGetDependencies 3 hNode, numDependencies=0
cuGraphNodeGetDependentNodes 3 hNode, numDependentNodes=0
cuGraphNodeGetEnabled 1 hGraphExec, hNode
cuGraphNodeGetLocalId 1 hNode
cuGraphNodeGetParams 1 hNode
cuGraphNodeGetToolsId 1 hNode
cuGraphNodeGetType 1 hNode
cuGraphNodeSetEnabled 0 hGraphExec, hNode, isEnabled
cuGraphNodeSetParams 0 hNode, nodeParams
cuGraphNodeSetParams_v2 0 hNode, nodeParams
cuGraphReleaseUserObject 0 graph, object, count
cuGraphRemoveDependencies 0 hGraph, from_, to, edgeData, numDependencies
cuGraphRetainUserObject 0 graph, object, count, flags
cuGraphUpload 0 hGraphExec, hStream
cuGraphicsEGLRegisterImage 1 image, flags
cuGraphicsGLRegisterBuffer 1 buffer, Flags
cuGraphicsGLRegisterImage 1 image, target, Flags
cuGraphicsMapResources 0 count, resources, hStream
cuGraphicsResourceGetMappedEglFrame 1 resource, index, mipLevel
cuGraphicsResourceGetMappedMipmappedArray 1 resource
cuGraphicsResourceGetMappedPointer 2 resource
cuGraphicsResourceSetMapFlags 0 resource, flags
cuGraphicsSubResourceGetMappedArray 1 resource, arrayIndex, mipLevel
cuGraphicsUnmapResources 0 count, resources, hStream
cuGraphicsUnregisterResource 0 resource
cuGraphicsVDPAURegisterOutputSurface 1 vdpSurface, flags
cuGraphicsVDPAURegisterVideoSurface 1 vdpSurface, flags
cuGreenCtxCreate 1 desc, dev, flags
cuGreenCtxDestroy 0 hCtx
cuGreenCtxGetDevResource 1 hCtx, typename
cuGreenCtxGetId 1 greenCtx
cuGreenCtxRecordEvent 0 hCtx, hEvent
cuGreenCtxStreamCreate 1 greenCtx, flags, priority
cuGreenCtxWaitEvent 0 hCtx, hEvent
cuImportExternalMemory 1 memHandleDesc
cuImportExternalSemaphore 1 semHandleDesc
cuInit 0 Flags
cuIpcCloseMemHandle 0 dptr
cuIpcGetEventHandle 1 event
cuIpcGetMemHandle 1 dptr
cuIpcOpenEventHandle 1 handle
cuIpcOpenMemHandle 1 handle, Flags
cuKernelGetAttribute 1 attrib, kernel, dev
cuKernelGetFunction 1 kernel
cuKernelGetLibrary 1 kernel
cuKernelGetName 1 hfunc
cuKernelGetParamCount 1 kernel
cuKernelGetParamInfo 2 kernel, paramIndex
cuKernelSetAttribute 0 attrib, val, kernel, dev
cuKernelSetCacheConfig 0 kernel, config, dev
cuLaunch 0 f
cuLaunchCooperativeKernel 0 f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams
cuLaunchCooperativeKernelMultiDevice 0 launchParamsList, numDevices, flags
cuLaunchGrid 0 f, grid_width, grid_height
cuLaunchGridAsync 0 f, grid_width, grid_height, hStream
cuLaunchHostFunc 0 hStream, fn, userData
cuLaunchHostFunc_v2 0 hStream, fn, userData, syncMode
cuLaunchKernel 0 f, gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes, hStream, kernelParams, extra
cuLaunchKernelEx 0 config, f, kernelParams, extra
cuLibraryEnumerateKernels 1 numKernels, lib
cuLibraryGetGlobal 2 library, name
cuLibraryGetKernel 1 library, name
cuLibraryGetKernelCount 1 lib
cuLibraryGetManaged 2 library, name
cuLibraryGetModule 1 library
cuLibraryGetUnifiedFunction 1 library, symbol
cuLibraryLoadData 1 code, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions
cuLibraryLoadFromFile 1 fileName, jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions
cuLibraryUnload 0 library
cuLinkAddData 0 state, typename, data, size, name, numOptions, options, optionValues
cuLinkAddFile 0 state, typename, path, numOptions, options, optionValues
cuLinkComplete 2 state
cuLinkCreate 1 numOptions, options, optionValues
cuLinkDestroy 0 state
cuLogicalEndpointAddDevice 0 leId, dev
cuLogicalEndpointBindAddr 0 leId, dev, offset, ptr, size, flags
cuLogicalEndpointBindMem 0 leId, dev, offset, memHandle, memOffset, size, flags
cuLogicalEndpointCreate 0 leId, prop
cuLogicalEndpointDestroy 0 leId
cuLogicalEndpointExport 1 leId, handleType
cuLogicalEndpointGetLimits 2 prop
cuLogicalEndpointIdRelease 0 baseLeId, count
cuLogicalEndpointIdReserve 1 count
cuLogicalEndpointImport 0 leId, handle, handleType
cuLogicalEndpointQuery 1 leId, count
cuLogicalEndpointUnbind 0 leId, dev, offset, size
cuLogsCurrent 1 flags
cuLogsDumpToFile 1 iterator, pathToFile, flags
cuLogsDumpToMemory 0 iterator, buffer, size, flags
cuLogsRegisterCallback 1 callbackFunc, userData
cuLogsUnregisterCallback 0 callback
cuMemAddressFree 0 ptr, size
cuMemAddressReserve 1 size, alignment, addr, flags
cuMemAdvise 0 devPtr, count, advice, location
cuMemAlloc 1 bytesize
cuMemAllocAsync 1 bytesize, hStream
cuMemAllocFromPoolAsync 1 bytesize, pool, hStream
cuMemAllocHost 1 bytesize
cuMemAllocManaged 1 bytesize, flags
cuMemAllocPitch 2 WidthInBytes, Height, ElementSizeBytes
cuMemBatchDecompressAsync 1 paramsArray, count, flags, stream
cuMemCreate 1 size, prop, flags
cuMemDiscardAndPrefetchBatchAsync 0 dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream
cuMemDiscardBatchAsync 0 dptrs, sizes, count, flags, hStream
cuMemExportToShareableHandle 1 handle, handleType, flags
cuMemFree 0 dptr
cuMemFreeAsync 0 dptr, hStream
cuMemFreeHost 0 p
cuMemGetAccess 1 location, ptr
cuMemGetAddressRange 2 dptr
cuMemGetAllocationGranularity 1 prop, option
cuMemGetAllocationPropertiesFromHandle 1 handle
cuMemGetDefaultMemPool 1 location, typename
cuMemGetHandleForAddressRange 1 dptr, size, handleType, flags
cuMemGetInfo 2
cuMemGetLocationInfo 0 ptr, size, summaryGranularity, samplingGranularity, location_out
cuMemGetMemPool 1 location, typename
cuMemHostAlloc 1 bytesize, Flags
cuMemHostGetDevicePointer 1 p, Flags
cuMemHostGetFlags 1 p
cuMemHostRegister 0 p, bytesize, Flags
cuMemHostUnregister 0 p
cuMemImportFromShareableHandle 1 osHandle, shHandleType
cuMemMap 0 ptr, size, offset, handle, flags
cuMemMapArrayAsync 0 mapInfoList, count, hStream
cuMemPoolCreate 1 poolProps
cuMemPoolDestroy 0 pool
cuMemPoolExportPointer 1 ptr
cuMemPoolExportToShareableHandle 1 pool, handleType, flags
cuMemPoolGetAccess 1 memPool, location
cuMemPoolGetAttribute 1 pool, attr
cuMemPoolImportFromShareableHandle 1 handle, handleType, flags
cuMemPoolImportPointer 1 pool, shareData
cuMemPoolSetAccess 0 pool, map, count
cuMemPoolSetAttribute 0 pool, attr, value
cuMemPoolTrimTo 0 pool, minBytesToKeep
cuMemPrefetchAsync 0 devPtr, count, location, flags, hStream
cuMemPrefetchBatchAsync 0 dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream
cuMemRangeGetAttribute 1 dataSize, attribute, devPtr, count
cuMemRangeGetAttributes 1 dataSizes, attributes, numAttributes, devPtr, count
cuMemRelease 0 handle
cuMemRetainAllocationHandle 1 addr
cuMemSetAccess 0 ptr, size, desc, count
cuMemSetMemPool 0 location, typename, pool
cuMemUnmap 0 ptr, size
cuMemcpy 0 dst, src, ByteCount
cuMemcpy2D 0 pCopy
cuMemcpy2DAsync 0 pCopy, hStream
cuMemcpy2DUnaligned 0 pCopy
cuMemcpy3D 0 pCopy
cuMemcpy3DAsync 0 pCopy, hStream
cuMemcpy3DBatchAsync 0 numOps, opList, flags, hStream
cuMemcpy3DPeer 0 pCopy
cuMemcpy3DPeerAsync 0 pCopy, hStream
cuMemcpy3DWithAttributesAsync 0 op, flags, hStream
cuMemcpyAsync 0 dst, src, ByteCount, hStream
cuMemcpyAtoA 0 dstArray, dstOffset, srcArray, srcOffset, ByteCount
cuMemcpyAtoD 0 dstDevice, srcArray, srcOffset, ByteCount
cuMemcpyAtoH 0 dstHost, srcArray, srcOffset, ByteCount
cuMemcpyAtoHAsync 0 dstHost, srcArray, srcOffset, ByteCount, hStream
cuMemcpyBatchAsync 0 dsts, srcs, sizes, count, attrs, attrsIdxs, numAttrs, hStream
cuMemcpyDtoA 0 dstArray, dstOffset, srcDevice, ByteCount
cuMemcpyDtoD 0 dstDevice, srcDevice, ByteCount
cuMemcpyDtoDAsync 0 dstDevice, srcDevice, ByteCount, hStream
cuMemcpyDtoH 0 dstHost, srcDevice, ByteCount
cuMemcpyDtoHAsync 0 dstHost, srcDevice, ByteCount, hStream
cuMemcpyHtoA 0 dstArray, dstOffset, srcHost, ByteCount
cuMemcpyHtoAAsync 0 dstArray, dstOffset, srcHost, ByteCount, hStream
cuMemcpyHtoD 0 dstDevice, srcHost, ByteCount
cuMemcpyHtoDAsync 0 dstDevice, srcHost, ByteCount, hStream
cuMemcpyPeer 0 dstDevice, dstContext, srcDevice, srcContext, ByteCount
cuMemcpyPeerAsync 0 dstDevice, dstContext, srcDevice, srcContext, ByteCount, hStream
cuMemcpyWithAttributesAsync 0 dst, src, size, attr, hStream
cuMemsetD16 0 dstDevice, us, N
cuMemsetD16Async 0 dstDevice, us, N, hStream
cuMemsetD2D16 0 dstDevice, dstPitch, us, Width, Height
cuMemsetD2D16Async 0 dstDevice, dstPitch, us, Width, Height, hStream
cuMemsetD2D32 0 dstDevice, dstPitch, ui, Width, Height
cuMemsetD2D32Async 0 dstDevice, dstPitch, ui, Width, Height, hStream
cuMemsetD2D8 0 dstDevice, dstPitch, uc, Width, Height
cuMemsetD2D8Async 0 dstDevice, dstPitch, uc, Width, Height, hStream
cuMemsetD32 0 dstDevice, ui, N
cuMemsetD32Async 0 dstDevice, ui, N, hStream
cuMemsetD8 0 dstDevice, uc, N
cuMemsetD8Async 0 dstDevice, uc, N, hStream
cuMipmappedArrayCreate 1 pMipmappedArrayDesc, numMipmapLevels
cuMipmappedArrayDestroy 0 hMipmappedArray
cuMipmappedArrayGetLevel 1 hMipmappedArray, level
cuMipmappedArrayGetMemoryRequirements 1 mipmap, device
cuMipmappedArrayGetSparseProperties 1 mipmap
cuModuleEnumerateFunctions 1 numFunctions, mod
cuModuleGetFunction 1 hmod, name
cuModuleGetFunctionCount 1 mod
cuModuleGetGlobal 2 hmod, name
cuModuleGetLoadingMode 1
cuModuleGetSurfRef 1 hmod, name
cuModuleGetTexRef 1 hmod, name
cuModuleLoad 1 fname
cuModuleLoadData 1 image
cuModuleLoadDataEx 1 image, numOptions, options, optionValues
cuModuleLoadFatBinary 1 fatCubin
cuModuleUnload 0 hmod
cuMulticastAddDevice 0 mcHandle, dev
cuMulticastBindAddr 0 mcHandle, mcOffset, memptr, size, flags
cuMulticastBindAddr_v2 0 mcHandle, dev, mcOffset, memptr, size, flags
cuMulticastBindMem 0 mcHandle, mcOffset, memHandle, memOffset, size, flags
cuMulticastBindMem_v2 0 mcHandle, dev, mcOffset, memHandle, memOffset, size, flags
cuMulticastCreate 1 prop
cuMulticastGetGranularity 1 prop, option
cuMulticastUnbind 0 mcHandle, dev, mcOffset, size
cuOccupancyAvailableDynamicSMemPerBlock 1 func, numBlocks, blockSize
cuOccupancyMaxActiveBlocksPerMultiprocessor 1 func, blockSize, dynamicSMemSize
cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags 1 func, blockSize, dynamicSMemSize, flags
cuOccupancyMaxActiveClusters 1 func, config
cuOccupancyMaxPotentialBlockSize 2 func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit
cuOccupancyMaxPotentialBlockSizeWithFlags 2 func, blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, flags
cuOccupancyMaxPotentialClusterSize 1 func, config
cuParamSetSize 0 hfunc, numbytes
cuParamSetTexRef 0 hfunc, texunit, hTexRef
cuParamSetf 0 hfunc, offset, value
cuParamSeti 0 hfunc, offset, value
cuParamSetv 0 hfunc, offset, ptr, numbytes
cuPointerGetAttribute 1 attribute, ptr
cuPointerGetAttributes 1 numAttributes, attributes, ptr
cuPointerSetAttribute 0 value, attribute, ptr
cuProfilerStart 0
cuProfilerStop 0
cuSignalExternalSemaphoresAsync 0 extSemArray, paramsArray, numExtSems, stream
cuStreamAddCallback 0 hStream, callback, userData, flags
cuStreamAttachMemAsync 0 hStream, dptr, length, flags
cuStreamBatchMemOp 0 stream, count, paramArray, flags
cuStreamBeginCapture 0 hStream, mode
cuStreamBeginCaptureToCig 0 hStream, streamCigCaptureParams
cuStreamBeginCaptureToGraph 0 hStream, hGraph, dependencies, dependencyData, numDependencies, mode
cuStreamBeginRecaptureToGraph 0 hStream, mode, hGraph, callbackFunc, userData
cuStreamCopyAttributes 0 dst, src
cuStreamCreate 1 Flags
cuStreamCreateWithPriority 1 flags, priority
cuStreamDestroy 0 hStream
cuStreamEndCapture 1 hStream
cuStreamEndCaptureToCig 0 hStream
cuStreamGetAttribute 1 hStream, attr
cuStreamGetCaptureInfo 6 hStream
cuStreamGetCtx 1 hStream
cuStreamGetCtx_v2 2 hStream
cuStreamGetDevResource 1 hStream, typename
cuStreamGetDevice 1 hStream
cuStreamGetFlags 1 hStream
cuStreamGetGreenCtx 1 hStream
cuStreamGetId 1 hStream
cuStreamGetPriority 1 hStream
cuStreamIsCapturing 1 hStream
cuStreamQuery 0 hStream
cuStreamSetAttribute 0 hStream, attr, value
cuStreamSynchronize 0 hStream
cuStreamUpdateCaptureDependencies 0 hStream, dependencies, dependencyData, numDependencies, flags
cuStreamWaitEvent 0 hStream, hEvent, Flags
cuStreamWaitValue32 0 stream, addr, value, flags
cuStreamWaitValue64 0 stream, addr, value, flags
cuStreamWriteValue32 0 stream, addr, value, flags
cuStreamWriteValue64 0 stream, addr, value, flags
cuSurfObjectCreate 1 pResDesc
cuSurfObjectDestroy 0 surfObject
cuSurfObjectGetResourceDesc 1 surfObject
cuSurfRefGetArray 1 hSurfRef
cuSurfRefSetArray 0 hSurfRef, hArray, Flags
cuTensorMapEncodeIm2col 1 tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, pixelBoxLowerCorner, pixelBoxUpperCorner, channelsPerPixel, pixelsPerColumn, elementStrides, interleave, swizzle, l2Promotion, oobFill
cuTensorMapEncodeIm2colWide 1 tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, pixelBoxLowerCornerWidth, pixelBoxUpperCornerWidth, channelsPerPixel, pixelsPerColumn, elementStrides, interleave, mode, swizzle, l2Promotion, oobFill
cuTensorMapEncodeTiled 1 tensorDataType, tensorRank, globalAddress, globalDim, globalStrides, boxDim, elementStrides, interleave, swizzle, l2Promotion, oobFill
cuTensorMapReplaceAddress 0 tensorMap, globalAddress
cuTensorMapSetAllocationClass 1 tensorMap, allocClass
cuTexObjectCreate 1 pResDesc, pTexDesc, pResViewDesc
cuTexObjectDestroy 0 texObject
cuTexObjectGetResourceDesc 1 texObject
cuTexObjectGetResourceViewDesc 1 texObject
cuTexObjectGetTextureDesc 1 texObject
cuTexRefCreate 1
cuTexRefDestroy 0 hTexRef
cuTexRefGetAddress 1 hTexRef
cuTexRefGetAddressMode 1 hTexRef, dim
cuTexRefGetArray 1 hTexRef
cuTexRefGetBorderColor 1 hTexRef
cuTexRefGetFilterMode 1 hTexRef
cuTexRefGetFlags 1 hTexRef
cuTexRefGetFormat 2 hTexRef
cuTexRefGetMaxAnisotropy 1 hTexRef
cuTexRefGetMipmapFilterMode 1 hTexRef
cuTexRefGetMipmapLevelBias 1 hTexRef
cuTexRefGetMipmapLevelClamp 2 hTexRef
cuTexRefGetMipmappedArray 1 hTexRef
cuTexRefSetAddress 1 hTexRef, dptr, numbytes
cuTexRefSetAddress2D 0 hTexRef, desc, dptr, Pitch
cuTexRefSetAddressMode 0 hTexRef, dim, am
cuTexRefSetArray 0 hTexRef, hArray, Flags
cuTexRefSetBorderColor 0 hTexRef, pBorderColor
cuTexRefSetFilterMode 0 hTexRef, fm
cuTexRefSetFlags 0 hTexRef, Flags
cuTexRefSetFormat 0 hTexRef, fmt, NumPackedComponents
cuTexRefSetMaxAnisotropy 0 hTexRef, maxAniso
cuTexRefSetMipmapFilterMode 0 hTexRef, fm
cuTexRefSetMipmapLevelBias 0 hTexRef, bias
cuTexRefSetMipmapLevelClamp 0 hTexRef, minMipmapLevelClamp, maxMipmapLevelClamp
cuTexRefSetMipmappedArray 0 hTexRef, hMipmappedArray, Flags
cuThreadExchangeStreamCaptureMode 1 mode
cuUserObjectCreate 1 ptr, destroy, initialRefcount, flags
cuUserObjectRelease 0 object, count
cuUserObjectRetain 0 object, count
cuVDPAUCtxCreate 1 flags, device, vdpDevice, vdpGetProcAddress
cuVDPAUGetDevice 1 vdpDevice, vdpGetProcAddress
cuWaitExternalSemaphoresAsync 0 extSemArray, paramsArray, numExtSems, stream
"""  # noqa: E501
