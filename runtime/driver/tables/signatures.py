"""Functions of the CUDA driver API without code of their own, written by tools/derive_api.py: results, parameters, names."""

SIGNATURES = """\
0 handle: cuCheckpointOperationComplete
0 pid, args: cuCheckpointProcessCheckpoint cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock
1 pid: cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState
0 callback: cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback cuLogsUnregisterCallback
2 attrib: cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal
1 callback, userData: cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback
1 attrib, value: cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal
1 flags: cuCtxAttach cuLogsCurrent
0 ctx: cuCtxDetach
1 hCtx: cuCtxFromGreenCtx
1 hCtx, typename: cuCtxGetDevResource cuGreenCtxGetDevResource
1 typename: cuCtxGetExecAffinity
0 extMem: cuDestroyExternalMemory
0 extSem: cuDestroyExternalSemaphore
1 resources, nbResources: cuDevResourceGenerateDesc
2 nbGroups, input_, flags, groupParams: cuDevSmResourceSplit
3 nbGroups, input_, flags, minCount: cuDevSmResourceSplitByCount
1 dev: cuDeviceGetCliqueCount cuDeviceGetFabricClusterUuid
2 count, dev: cuDeviceGetCliqueInfo
1 device, typename: cuDeviceGetDevResource
1 typename, dev: cuDeviceGetExecAffinitySupport
1 operations, count, dev: cuDeviceGetHostAtomicCapabilities
0 nvSciSyncAttrList, dev, flags: cuDeviceGetNvSciSyncAttributes
1 operations, count, srcDevice, dstDevice: cuDeviceGetP2PAtomicCapabilities
1 device, callbackFunc, userData: cuDeviceRegisterAsyncNotification
0 device, callback: cuDeviceUnregisterAsyncNotification
0 conn, pCudaResource, pStream, timeout: cuEGLStreamConsumerAcquireFrame
1 stream: cuEGLStreamConsumerConnect
1 stream, flags: cuEGLStreamConsumerConnectWithFlags
0 conn: cuEGLStreamConsumerDisconnect cuEGLStreamProducerDisconnect
0 conn, pCudaResource, pStream: cuEGLStreamConsumerReleaseFrame
1 stream, width, height: cuEGLStreamProducerConnect
0 conn, eglframe, pStream: cuEGLStreamProducerPresentFrame cuEGLStreamProducerReturnFrame
1 eglSync, flags: cuEventCreateFromEGLSync
1 extMem, bufferDesc: cuExternalMemoryGetMappedBuffer
1 extMem, mipmapDesc: cuExternalMemoryGetMappedMipmappedArray
0 numOps, opList, flags, hStream: cuFabricCpyBatchAsync cuMemcpy3DBatchAsync
0 target, scope: cuFlushGPUDirectRDMAWrites
0 hfunc, x, y, z: cuFuncSetBlockShape
0 hfunc, numbytes: cuFuncSetSharedSize cuParamSetSize
2 cudaDeviceCount, deviceList: cuGLGetDevices
1 pExportTableId: cuGetExportTable
2 symbol, cudaVersion, flags: cuGetProcAddress
1 hGraph, dependencies, numDependencies, nodeParams: cuGraphAddBatchMemOpNode cuGraphAddExternalSemaphoresSignalNode
    cuGraphAddExternalSemaphoresWaitNode
1 hGraph, dependencies, dependencyData, numDependencies, nodeParams: cuGraphAddNode cuGraphAddNode_v3
1 hNode: cuGraphBatchMemOpNodeGetParams cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresWaitNodeGetParams
    cuGraphNodeGetParams
0 hNode, nodeParams: cuGraphBatchMemOpNodeSetParams cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeSetParams
    cuGraphNodeSetParams cuGraphNodeSetParams_v2
0 hGraphExec, hNode, nodeParams: cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
    cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExecNodeSetParams
1 image, flags: cuGraphicsEGLRegisterImage
1 buffer, Flags: cuGraphicsGLRegisterBuffer
1 image, target, Flags: cuGraphicsGLRegisterImage
0 count, resources, hStream: cuGraphicsMapResources cuGraphicsUnmapResources
1 resource, index, mipLevel: cuGraphicsResourceGetMappedEglFrame
1 resource: cuGraphicsResourceGetMappedMipmappedArray
2 resource: cuGraphicsResourceGetMappedPointer
0 resource, flags: cuGraphicsResourceSetMapFlags
1 resource, arrayIndex, mipLevel: cuGraphicsSubResourceGetMappedArray
0 resource: cuGraphicsUnregisterResource
1 vdpSurface, flags: cuGraphicsVDPAURegisterOutputSurface cuGraphicsVDPAURegisterVideoSurface
1 desc, dev, flags: cuGreenCtxCreate
0 hCtx: cuGreenCtxDestroy
1 greenCtx: cuGreenCtxGetId
0 hCtx, hEvent: cuGreenCtxRecordEvent cuGreenCtxWaitEvent
1 greenCtx, flags, priority: cuGreenCtxStreamCreate
1 memHandleDesc: cuImportExternalMemory
1 semHandleDesc: cuImportExternalSemaphore
0 f: cuLaunch
0 f, grid_width, grid_height: cuLaunchGrid
0 f, grid_width, grid_height, hStream: cuLaunchGridAsync
1 library, symbol: cuLibraryGetUnifiedFunction
0 leId, dev: cuLogicalEndpointAddDevice
0 leId, dev, offset, ptr, size, flags: cuLogicalEndpointBindAddr
0 leId, dev, offset, memHandle, memOffset, size, flags: cuLogicalEndpointBindMem
0 leId, prop: cuLogicalEndpointCreate
0 leId: cuLogicalEndpointDestroy
1 leId, handleType: cuLogicalEndpointExport
2 prop: cuLogicalEndpointGetLimits
0 baseLeId, count: cuLogicalEndpointIdRelease
1 count: cuLogicalEndpointIdReserve
0 leId, handle, handleType: cuLogicalEndpointImport
1 leId, count: cuLogicalEndpointQuery
0 leId, dev, offset, size: cuLogicalEndpointUnbind
1 iterator, pathToFile, flags: cuLogsDumpToFile
0 iterator, buffer, size, flags: cuLogsDumpToMemory
1 callbackFunc, userData: cuLogsRegisterCallback
1 paramsArray, count, flags, stream: cuMemBatchDecompressAsync
1 dptr, size, handleType, flags: cuMemGetHandleForAddressRange
0 ptr, size, summaryGranularity, samplingGranularity, location_out: cuMemGetLocationInfo
0 mapInfoList, count, hStream: cuMemMapArrayAsync
1 ptr: cuMemPoolExportPointer
1 pool, handleType, flags: cuMemPoolExportToShareableHandle
1 handle, handleType, flags: cuMemPoolImportFromShareableHandle
1 pool, shareData: cuMemPoolImportPointer
0 op, flags, hStream: cuMemcpy3DWithAttributesAsync
0 hfunc, offset, value: cuParamSetf cuParamSeti
0 hfunc, offset, ptr, numbytes: cuParamSetv
0 extSemArray, paramsArray, numExtSems, stream: cuSignalExternalSemaphoresAsync cuWaitExternalSemaphoresAsync
0 stream, count, paramArray, flags: cuStreamBatchMemOp
0 hStream, streamCigCaptureParams: cuStreamBeginCaptureToCig
0 hStream, mode, hGraph, callbackFunc, userData: cuStreamBeginRecaptureToGraph
0 hStream: cuStreamEndCaptureToCig
1 hStream, typename: cuStreamGetDevResource
1 hStream: cuStreamGetGreenCtx
1 tensorMap, allocClass: cuTensorMapSetAllocationClass
1 flags, device, vdpDevice, vdpGetProcAddress: cuVDPAUCtxCreate
1 vdpDevice, vdpGetProcAddress: cuVDPAUGetDevice
"""
