"""Functions of the CUDA driver API without code of their own: name, number of results, parameters; written by tools/derive_api.py."""

SIGNATURES = """\
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
cuCtxDetach 0 ctx
cuCtxFromGreenCtx 1 hCtx
cuCtxGetDevResource 1 hCtx, typename
cuCtxGetExecAffinity 1 typename
cuDestroyExternalMemory 0 extMem
cuDestroyExternalSemaphore 0 extSem
cuDevResourceGenerateDesc 1 resources, nbResources
cuDevSmResourceSplit 2 nbGroups, input_, flags, groupParams
cuDevSmResourceSplitByCount 3 nbGroups, input_, flags, minCount
cuDeviceGetCliqueCount 1 dev
cuDeviceGetCliqueInfo 2 count, dev
cuDeviceGetDevResource 1 device, typename
cuDeviceGetExecAffinitySupport 1 typename, dev
cuDeviceGetFabricClusterUuid 1 dev
cuDeviceGetGraphMemAttribute 1 device, attr
cuDeviceGetHostAtomicCapabilities 1 operations, count, dev
cuDeviceGetNvSciSyncAttributes 0 nvSciSyncAttrList, dev, flags
cuDeviceGetP2PAtomicCapabilities 1 operations, count, srcDevice, dstDevice
cuDeviceGetTexture1DLinearMaxWidth 1 pformat, numChannels, dev
cuDeviceGraphMemTrim 0 device
cuDeviceRegisterAsyncNotification 1 device, callbackFunc, userData
cuDeviceSetGraphMemAttribute 0 device, attr, value
cuDeviceUnregisterAsyncNotification 0 device, callback
cuEGLStreamConsumerAcquireFrame 0 conn, pCudaResource, pStream, timeout
cuEGLStreamConsumerConnect 1 stream
cuEGLStreamConsumerConnectWithFlags 1 stream, flags
cuEGLStreamConsumerDisconnect 0 conn
cuEGLStreamConsumerReleaseFrame 0 conn, pCudaResource, pStream
cuEGLStreamProducerConnect 1 stream, width, height
cuEGLStreamProducerDisconnect 0 conn
cuEGLStreamProducerPresentFrame 0 conn, eglframe, pStream
cuEGLStreamProducerReturnFrame 0 conn, eglframe, pStream
cuEventCreateFromEGLSync 1 eglSync, flags
cuExternalMemoryGetMappedBuffer 1 extMem, bufferDesc
cuExternalMemoryGetMappedMipmappedArray 1 extMem, mipmapDesc
cuFabricCpyBatchAsync 0 numOps, opList, flags, hStream
cuFlushGPUDirectRDMAWrites 0 target, scope
cuFuncSetBlockShape 0 hfunc, x, y, z
cuFuncSetSharedSize 0 hfunc, numbytes
cuGLGetDevices 2 cudaDeviceCount, deviceList
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
cuGraphConditionalHandleCreate 1 hGraph, ctx, defaultLaunchValue, flags
cuGraphDebugDotPrint 0 hGraph, path, flags
cuGraphDestroyNode 0 hNode
cuGraphEventRecordNodeGetEvent 1 hNode
cuGraphEventRecordNodeSetEvent 0 hNode, event
cuGraphEventWaitNodeGetEvent 1 hNode
cuGraphEventWaitNodeSetEvent 0 hNode, event
cuGraphExecBatchMemOpNodeSetParams 0 hGraphExec, hNode, nodeParams
cuGraphExecChildGraphNodeSetParams 0 hGraphExec, hNode, childGraph
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
cuGraphHostNodeGetParams 1 hNode
cuGraphHostNodeSetParams 0 hNode, nodeParams
cuGraphInstantiateWithParams 1 hGraph, instantiateParams
cuGraphKernelNodeCopyAttributes 0 dst, src
cuGraphKernelNodeGetAttribute 1 hNode, attr
cuGraphKernelNodeGetParams 1 hNode
cuGraphKernelNodeSetAttribute 0 hNode, attr, value
cuGraphKernelNodeSetParams 0 hNode, nodeParams
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
cuGraphNodeSetEnabled 0 hGraphExec, hNode, isEnabled
cuGraphNodeSetParams 0 hNode, nodeParams
cuGraphNodeSetParams_v2 0 hNode, nodeParams
cuGraphReleaseUserObject 0 graph, object, count
cuGraphRemoveDependencies 0 hGraph, from_, to, edgeData, numDependencies
cuGraphRetainUserObject 0 graph, object, count, flags
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
cuIpcCloseMemHandle 0 dptr
cuIpcGetEventHandle 1 event
cuIpcGetMemHandle 1 dptr
cuIpcOpenEventHandle 1 handle
cuIpcOpenMemHandle 1 handle, Flags
cuLaunch 0 f
cuLaunchGrid 0 f, grid_width, grid_height
cuLaunchGridAsync 0 f, grid_width, grid_height, hStream
cuLibraryGetUnifiedFunction 1 library, symbol
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
cuMemBatchDecompressAsync 1 paramsArray, count, flags, stream
cuMemCreate 1 size, prop, flags
cuMemDiscardAndPrefetchBatchAsync 0 dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream
cuMemDiscardBatchAsync 0 dptrs, sizes, count, flags, hStream
cuMemExportToShareableHandle 1 handle, handleType, flags
cuMemGetAccess 1 location, ptr
cuMemGetAllocationGranularity 1 prop, option
cuMemGetAllocationPropertiesFromHandle 1 handle
cuMemGetHandleForAddressRange 1 dptr, size, handleType, flags
cuMemGetLocationInfo 0 ptr, size, summaryGranularity, samplingGranularity, location_out
cuMemImportFromShareableHandle 1 osHandle, shHandleType
cuMemMap 0 ptr, size, offset, handle, flags
cuMemMapArrayAsync 0 mapInfoList, count, hStream
cuMemPoolExportPointer 1 ptr
cuMemPoolExportToShareableHandle 1 pool, handleType, flags
cuMemPoolImportFromShareableHandle 1 handle, handleType, flags
cuMemPoolImportPointer 1 pool, shareData
cuMemPrefetchBatchAsync 0 dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream
cuMemRelease 0 handle
cuMemRetainAllocationHandle 1 addr
cuMemSetAccess 0 ptr, size, desc, count
cuMemUnmap 0 ptr, size
cuMemcpy3DBatchAsync 0 numOps, opList, flags, hStream
cuMemcpy3DWithAttributesAsync 0 op, flags, hStream
cuMipmappedArrayCreate 1 pMipmappedArrayDesc, numMipmapLevels
cuMipmappedArrayDestroy 0 hMipmappedArray
cuMipmappedArrayGetLevel 1 hMipmappedArray, level
cuMipmappedArrayGetMemoryRequirements 1 mipmap, device
cuMipmappedArrayGetSparseProperties 1 mipmap
cuModuleGetSurfRef 1 hmod, name
cuModuleGetTexRef 1 hmod, name
cuMulticastAddDevice 0 mcHandle, dev
cuMulticastBindAddr 0 mcHandle, mcOffset, memptr, size, flags
cuMulticastBindAddr_v2 0 mcHandle, dev, mcOffset, memptr, size, flags
cuMulticastBindMem 0 mcHandle, mcOffset, memHandle, memOffset, size, flags
cuMulticastBindMem_v2 0 mcHandle, dev, mcOffset, memHandle, memOffset, size, flags
cuMulticastCreate 1 prop
cuMulticastGetGranularity 1 prop, option
cuMulticastUnbind 0 mcHandle, dev, mcOffset, size
cuParamSetSize 0 hfunc, numbytes
cuParamSetTexRef 0 hfunc, texunit, hTexRef
cuParamSetf 0 hfunc, offset, value
cuParamSeti 0 hfunc, offset, value
cuParamSetv 0 hfunc, offset, ptr, numbytes
cuSignalExternalSemaphoresAsync 0 extSemArray, paramsArray, numExtSems, stream
cuStreamBatchMemOp 0 stream, count, paramArray, flags
cuStreamBeginCaptureToCig 0 hStream, streamCigCaptureParams
cuStreamBeginCaptureToGraph 0 hStream, hGraph, dependencies, dependencyData, numDependencies, mode
cuStreamBeginRecaptureToGraph 0 hStream, mode, hGraph, callbackFunc, userData
cuStreamEndCaptureToCig 0 hStream
cuStreamGetCaptureInfo 6 hStream
cuStreamGetDevResource 1 hStream, typename
cuStreamGetGreenCtx 1 hStream
cuStreamUpdateCaptureDependencies 0 hStream, dependencies, dependencyData, numDependencies, flags
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
cuUserObjectCreate 1 ptr, destroy, initialRefcount, flags
cuUserObjectRelease 0 object, count
cuUserObjectRetain 0 object, count
cuVDPAUCtxCreate 1 flags, device, vdpDevice, vdpGetProcAddress
cuVDPAUGetDevice 1 vdpDevice, vdpGetProcAddress
cuWaitExternalSemaphoresAsync 0 extSemArray, paramsArray, numExtSems, stream
"""  # noqa: E501
