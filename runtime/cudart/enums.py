"""The enums of the CUDA runtime API: a table that tests/runtime/derive_api.py writes, in the form that the driver's tables.py reads."""

from __future__ import annotations

from ..driver.enums import ENUMS
from ..driver.tables import Enums

_TABLE = """\
cudaAccessProperty cudaAccessProperty < CUaccessProperty:
cudaAsyncNotificationType cudaAsyncNotificationTypeOver: Budget=1
cudaAtomicOperation cudaAtomicOperation < CUatomicOperation: -Xor -Cas -Max +XOR=7 +CAS=9
cudaAtomicOperationCapability cudaAtomicCapability < CUatomicOperationCapability:
cudaCGScope cudaCGScope: Invalid Grid Reserved
cudaChannelFormatKind cudaChannelFormatKind: Signed Unsigned Float None NV12 UnsignedNormalized8X1 UnsignedNormalized8X2
    UnsignedNormalized8X4 UnsignedNormalized16X1 UnsignedNormalized16X2 UnsignedNormalized16X4 SignedNormalized8X1 SignedNormalized8X2
    SignedNormalized8X4 SignedNormalized16X1 SignedNormalized16X2 SignedNormalized16X4 UnsignedBlockCompressed1 UnsignedBlockCompressed1SRGB
    UnsignedBlockCompressed2 UnsignedBlockCompressed2SRGB UnsignedBlockCompressed3 UnsignedBlockCompressed3SRGB UnsignedBlockCompressed4
    SignedBlockCompressed4 UnsignedBlockCompressed5 SignedBlockCompressed5 UnsignedBlockCompressed6H SignedBlockCompressed6H
    UnsignedBlockCompressed7 UnsignedBlockCompressed7SRGB UnsignedNormalized1010102 Unsigned8Packed422 Unsigned8Packed444
    Unsigned8SemiPlanar420 Unsigned16SemiPlanar420 Unsigned8SemiPlanar422 Unsigned16SemiPlanar422 Unsigned8SemiPlanar444
    Unsigned16SemiPlanar444 Unsigned8Planar420 Unsigned16Planar420 Unsigned8Planar422 Unsigned16Planar422 Unsigned8Planar444
    Unsigned16Planar444
cudaClusterSchedulingPolicy cudaClusterSchedulingPolicy < CUclusterSchedulingPolicy:
cudaComputeMode cudaComputeMode < CUcomputemode: +Exclusive=1
cudaDataType CUDA_: R_32F R_64F R_16F R_8I C_32F C_64F C_16F C_8I R_8U C_8U R_32I C_32I R_32U C_32U R_16BF C_16BF R_4I C_4I R_4U C_4U R_16I
    C_16I R_16U C_16U R_64I C_64I R_64U C_64U R_8F_E4M3 R_8F_UE4M3=28 R_8F_E5M2 R_8F_UE8M0 R_6F_E2M3 R_6F_E3M2 R_4F_E2M1 R_8F_UE5M3
cudaDevResourceType cudaDevResourceType < CUdevResourceType:
cudaDevSmResourceGroup_flags cudaDevSmResourceGroup < CUdevSmResourceGroup_flags:
cudaDevSmResourceSplitByCount_flags cudaDevSmResourceSplit < CUdevSmResourceSplitByCount_flags:
cudaDevWorkqueueConfigScope cudaDevWorkqueueConfigScope: DeviceCtx GreenCtxBalanced
cudaDeviceAttr cudaDevAttr: MaxThreadsPerBlock=1 MaxBlockDimX MaxBlockDimY MaxBlockDimZ MaxGridDimX MaxGridDimY MaxGridDimZ
    MaxSharedMemoryPerBlock TotalConstantMemory WarpSize MaxPitch MaxRegistersPerBlock ClockRate TextureAlignment GpuOverlap
    MultiProcessorCount KernelExecTimeout Integrated CanMapHostMemory ComputeMode MaxTexture1DWidth MaxTexture2DWidth MaxTexture2DHeight
    MaxTexture3DWidth MaxTexture3DHeight MaxTexture3DDepth MaxTexture2DLayeredWidth MaxTexture2DLayeredHeight MaxTexture2DLayeredLayers
    SurfaceAlignment ConcurrentKernels EccEnabled PciBusId PciDeviceId TccDriver MemoryClockRate GlobalMemoryBusWidth L2CacheSize
    MaxThreadsPerMultiProcessor AsyncEngineCount UnifiedAddressing MaxTexture1DLayeredWidth MaxTexture1DLayeredLayers
    MaxTexture2DGatherWidth=45 MaxTexture2DGatherHeight MaxTexture3DWidthAlt MaxTexture3DHeightAlt MaxTexture3DDepthAlt PciDomainId
    TexturePitchAlignment MaxTextureCubemapWidth MaxTextureCubemapLayeredWidth MaxTextureCubemapLayeredLayers MaxSurface1DWidth
    MaxSurface2DWidth MaxSurface2DHeight MaxSurface3DWidth MaxSurface3DHeight MaxSurface3DDepth MaxSurface1DLayeredWidth
    MaxSurface1DLayeredLayers MaxSurface2DLayeredWidth MaxSurface2DLayeredHeight MaxSurface2DLayeredLayers MaxSurfaceCubemapWidth
    MaxSurfaceCubemapLayeredWidth MaxSurfaceCubemapLayeredLayers MaxTexture1DLinearWidth MaxTexture2DLinearWidth MaxTexture2DLinearHeight
    MaxTexture2DLinearPitch MaxTexture2DMipmappedWidth MaxTexture2DMipmappedHeight ComputeCapabilityMajor ComputeCapabilityMinor
    MaxTexture1DMipmappedWidth StreamPrioritiesSupported GlobalL1CacheSupported LocalL1CacheSupported MaxSharedMemoryPerMultiprocessor
    MaxRegistersPerMultiprocessor ManagedMemory IsMultiGpuBoard MultiGpuBoardGroupID HostNativeAtomicSupported
    SingleToDoublePrecisionPerfRatio PageableMemoryAccess ConcurrentManagedAccess ComputePreemptionSupported
    CanUseHostPointerForRegisteredMem Reserved92 Reserved93 Reserved94 CooperativeLaunch Reserved96 MaxSharedMemoryPerBlockOptin
    CanFlushRemoteWrites HostRegisterSupported PageableMemoryAccessUsesHostPageTables DirectManagedMemAccessFromHost
    MaxBlocksPerMultiprocessor=106 MaxPersistingL2CacheSize=108 MaxAccessPolicyWindowSize ReservedSharedMemoryPerBlock=111
    SparseCudaArraySupported HostRegisterReadOnlySupported TimelineSemaphoreInteropSupported MemoryPoolsSupported GPUDirectRDMASupported
    GPUDirectRDMAFlushWritesOptions GPUDirectRDMAWritesOrdering MemoryPoolSupportedHandleTypes ClusterLaunch
    DeferredMappingCudaArraySupported Reserved122 Reserved123 Reserved124 IpcEventSupport MemSyncDomainCount Reserved127 Reserved128
    Reserved129 NumaConfig NumaId Reserved132 MpsEnabled HostNumaId D3D12CigSupported VulkanCigSupported=138 GpuPciDeviceId
    GpuPciSubsystemId Reserved141 HostNumaMemoryPoolsSupported HostNumaMultinodeIpcSupported HostMemoryPoolsSupported Reserved145
    OnlyPartialHostNativeAtomicSupported=147 AtomicReductionSupported LocalityDomainCount OversizedSharedMemoryPerBlock CigStreamsSupported
    LocalityDomainMultiprocessorCount=157 TensorMapLargeTensorMinSize=160 Max
cudaDeviceNumaConfig cudaDeviceNumaConfig: None NumaNode
cudaDeviceP2PAttr cudaDevP2PAttr < CUdevice_P2PAttribute: -AccessAccessSupported
cudaDriverEntryPointQueryResult cudaDriverEntryPoint: Success SymbolNotFound VersionNotSufficent
cudaEglColorFormat cudaEglColorFormat: YUV420Planar YUV420SemiPlanar YUV422Planar YUV422SemiPlanar ARGB=6 RGBA L R YUV444Planar
    YUV444SemiPlanar YUYV422 UYVY422 ABGR BGRA A RG AYUV YVU444SemiPlanar YVU422SemiPlanar YVU420SemiPlanar Y10V10U10_444SemiPlanar
    Y10V10U10_420SemiPlanar Y12V12U12_444SemiPlanar Y12V12U12_420SemiPlanar VYUY_ER UYVY_ER YUYV_ER YVYU_ER YUVA_ER=31 AYUV_ER
    YUV444Planar_ER YUV422Planar_ER YUV420Planar_ER YUV444SemiPlanar_ER YUV422SemiPlanar_ER YUV420SemiPlanar_ER YVU444Planar_ER
    YVU422Planar_ER YVU420Planar_ER YVU444SemiPlanar_ER YVU422SemiPlanar_ER YVU420SemiPlanar_ER BayerRGGB BayerBGGR BayerGRBG BayerGBRG
    Bayer10RGGB Bayer10BGGR Bayer10GRBG Bayer10GBRG Bayer12RGGB Bayer12BGGR Bayer12GRBG Bayer12GBRG Bayer14RGGB Bayer14BGGR Bayer14GRBG
    Bayer14GBRG Bayer20RGGB Bayer20BGGR Bayer20GRBG Bayer20GBRG YVU444Planar YVU422Planar YVU420Planar BayerIspRGGB BayerIspBGGR
    BayerIspGRBG BayerIspGBRG BayerBCCR BayerRCCB BayerCRBC BayerCBRC Bayer10CCCC Bayer12BCCR Bayer12RCCB Bayer12CRBC Bayer12CBRC
    Bayer12CCCC Y YUV420SemiPlanar_2020 YVU420SemiPlanar_2020 YUV420Planar_2020 YVU420Planar_2020 YUV420SemiPlanar_709 YVU420SemiPlanar_709
    YUV420Planar_709 YVU420Planar_709 Y10V10U10_420SemiPlanar_709 Y10V10U10_420SemiPlanar_2020 Y10V10U10_422SemiPlanar_2020
    Y10V10U10_422SemiPlanar Y10V10U10_422SemiPlanar_709 Y_ER Y_709_ER Y10_ER Y10_709_ER Y12_ER Y12_709_ER YUVA YVYU=104 VYUY
    Y10V10U10_420SemiPlanar_ER Y10V10U10_420SemiPlanar_709_ER Y10V10U10_444SemiPlanar_ER Y10V10U10_444SemiPlanar_709_ER
    Y12V12U12_420SemiPlanar_ER Y12V12U12_420SemiPlanar_709_ER Y12V12U12_444SemiPlanar_ER Y12V12U12_444SemiPlanar_709_ER UYVY709 UYVY709_ER
    UYVY2020
cudaEglFrameType cudaEglFrameType: Array Pitch
cudaEglResourceLocationFlags cudaEglResourceLocation: Sysmem Vidmem
cudaEmulationMantissaControl CUDA_EMULATION_MANTISSA_CONTROL_: DYNAMIC FIXED
cudaEmulationSpecialValuesSupport CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_: NONE INFINITY NAN DEFAULT=65535
cudaEmulationStrategy CUDA_EMULATION_STRATEGY_: DEFAULT PERFORMANT EAGER
cudaError_t cuda < CUresult: -ErrorOutOfMemory -ErrorNotInitialized -ErrorDeinitialized -ErrorDeviceUnavailable -ErrorMulticastResourceFull
    -ErrorInvalidImage -ErrorInvalidContext -ErrorContextAlreadyCurrent -ErrorMapFailed -ErrorUnmapFailed -ErrorNoBinaryForGpu
    -ErrorEccUncorrectable -ErrorContextAlreadyInUse -ErrorUnsupportedDevsideSync -ErrorInvalidHandle -ErrorNotFound
    -ErrorPrimaryContextActive -ErrorLaunchFailed -ErrorKeyRotation +ErrorMemoryAllocation=2 +ErrorInitializationError +ErrorCudartUnloading
    +ErrorInvalidConfiguration=9 +ErrorVersionTranslation +ErrorInvalidPitchValue=12 +ErrorInvalidSymbol +ErrorInvalidHostPointer=16
    +ErrorInvalidDevicePointer +ErrorInvalidTexture +ErrorInvalidTextureBinding +ErrorInvalidChannelDescriptor +ErrorInvalidMemcpyDirection
    +ErrorAddressOfConstant +ErrorTextureFetchFailed +ErrorTextureNotBound +ErrorSynchronizationError +ErrorInvalidFilterSetting
    +ErrorInvalidNormSetting +ErrorMixedDeviceExecution +ErrorNotYetImplemented=31 +ErrorMemoryValueTooLarge +ErrorInsufficientDriver=35
    +ErrorInvalidSurface=37 +ErrorDuplicateVariableName=43 +ErrorDuplicateTextureName +ErrorDuplicateSurfaceName +ErrorDevicesUnavailable
    +ErrorIncompatibleDriverContext=49 +ErrorMissingConfiguration=52 +ErrorPriorLaunchFailure +ErrorLaunchMaxDepthExceeded=65
    +ErrorLaunchFileScopedTex +ErrorLaunchFileScopedSurf +ErrorSyncDepthExceeded +ErrorLaunchPendingCountExceeded
    +ErrorInvalidDeviceFunction=98 +ErrorSoftwareValidityNotEstablished=103 +ErrorStartupFailure=127 +ErrorInvalidKernelImage=200
    +ErrorDeviceUninitialized +ErrorMapBufferObjectFailed=205 +ErrorUnmapBufferObjectFailed +ErrorNoKernelImageForDevice=209
    +ErrorECCUncorrectable=214 +ErrorDeviceAlreadyInUse=216 +ErrorUnsupportedDevSideSync=225 +ErrorInvalidResourceHandle=400
    +ErrorSymbolNotFound=500 +ErrorSetOnActiveProcess=708 +ErrorLaunchFailure=719 +ErrorApiFailureBase=10000
cudaExternalMemoryHandleType cudaExternalMemoryHandleType: OpaqueFd=1 OpaqueWin32 OpaqueWin32Kmt D3D12Heap D3D12Resource D3D11Resource
    D3D11ResourceKmt NvSciBuf
cudaExternalSemaphoreHandleType cudaExternalSemaphoreHandleType: OpaqueFd=1 OpaqueWin32 OpaqueWin32Kmt D3D12Fence D3D11Fence NvSciSync
    KeyedMutex KeyedMutexKmt TimelineSemaphoreFd TimelineSemaphoreWin32
cudaFabricOpStatusInfo cudaFabricOpStatusInfo: Success Last=0 Max=2147483647
cudaFabricOpStatusSource cudaFabricOpStatusSource: MbarrierV1 Max=2147483647
cudaFlushGPUDirectRDMAWritesOptions cudaFlushGPUDirectRDMAWritesOption: Host=1 MemOps
cudaFlushGPUDirectRDMAWritesScope cudaFlushGPUDirectRDMAWritesTo: Owner=100 AllDevices=200
cudaFlushGPUDirectRDMAWritesTarget cudaFlushGPUDirectRDMAWritesTargetCurrent: Device
cudaFuncAttribute cudaFuncAttribute: MaxDynamicSharedMemorySize=8 PreferredSharedMemoryCarveout ClusterDimMustBeSet RequiredClusterWidth
    RequiredClusterHeight RequiredClusterDepth NonPortableClusterSizeAllowed ClusterSchedulingPolicyPreference SharedMemoryMode Max
cudaFuncCache cudaFuncCachePrefer < CUfunc_cache:
cudaGLDeviceList cudaGLDeviceList < CUGLDeviceList:
cudaGLMapFlags cudaGLMapFlags < CUGLmap_flags:
cudaGPUDirectRDMAWritesOrdering cudaGPUDirectRDMAWritesOrdering: None Owner=100 AllDevices=200
cudaGetDriverEntryPointFlags cudaEnable < CUdriverProcAddress_flags:
cudaGraphChildGraphNodeOwnership cudaGraphChildGraphOwnership: Invalid=-1 Clone Move
cudaGraphConditionalHandleFlags cudaGraphCondAssign: Default=1
cudaGraphConditionalNodeType cudaGraphCondType: If While Switch
cudaGraphDebugDotFlags cudaGraphDebugDotFlags < CUgraphDebugDot_flags: -RuntimeTypes -MemAllocNodeParams -MemFreeNodeParams
    -BatchMemOpNodeParams -ExtraTopoInfo -FabricCpyBatchNodeParams
cudaGraphDependencyType cudaGraphDependencyType: Default Programmatic
cudaGraphExecUpdateResult cudaGraphExecUpdate < CUgraphExecUpdateResult:
cudaGraphInstantiateFlags cudaGraphInstantiateFlag < CUgraphInstantiate_flags:
cudaGraphInstantiateResult cudaGraphInstantiate < CUgraphInstantiateResult: -MultipleCtxsNotSupported +MultipleDevicesNotSupported=4
cudaGraphKernelNodeField cudaGraphKernelNodeField: Invalid GridDim Param Enabled
cudaGraphMemAttributeType cudaGraphMemAttr < CUgraphMem_attribute:
cudaGraphNodeType cudaGraphNodeType < CUgraphNodeType: -ExtSemasSignal -ExtSemasWait -BatchMemOp -FabricCpyBatch +ExtSemaphoreSignal=8
    +ExtSemaphoreWait +Count=18
cudaGraphRecaptureStatus cudaGraphRecapture < CUgraphRecaptureStatus:
cudaGraphicsCubeFace cudaGraphicsCubeFace < CUarray_cubemap_face:
cudaGraphicsMapFlags cudaGraphicsMapFlags < CUGLmap_flags:
cudaGraphicsRegisterFlags cudaGraphicsRegisterFlags < CUGLmap_flags: +SurfaceLoadStore=4 +TextureGather=8
cudaHostTaskSyncMode cudaHostTask: Blocking SpinWait
cudaJitOption cudaJit: MaxRegisters ThreadsPerBlock WallTime InfoLogBuffer InfoLogBufferSizeBytes ErrorLogBuffer ErrorLogBufferSizeBytes
    OptimizationLevel FallbackStrategy=10 GenerateDebugInfo LogVerbose GenerateLineInfo CacheMode PositionIndependentCode=30 MinCtaPerSm
    MaxThreadsPerBlock OverrideDirectiveValues
cudaJit_CacheMode cudaJitCacheOption: None CG CA
cudaJit_Fallback cudaPrefer: Ptx Binary
cudaKernelFunctionType cudaKernelFunctionType: Unspecified DeviceEntry Kernel Function
cudaKernelNodeAttrID cudaLaunchAttribute < CUstreamAttrID:
cudaLaunchAttributeID cudaLaunchAttribute < CUstreamAttrID:
cudaLaunchAttributePortableClusterMode cudaLaunchPortableClusterMode < CUlaunchAttributePortableClusterMode:
cudaLaunchMemSyncDomain cudaLaunchMemSyncDomain: Default Remote
cudaLibraryOption cudaLibrary < CUlibraryOption: -NumOptions
cudaLimit cudaLimit < CUlimit: -ShmemSize -CigEnabled -CigShmemFallbackEnabled -Max
cudaLogLevel cudaLogLevel < CUlogLevel:
cudaMemAccessFlags cudaMemAccessFlagsProt: None Read ReadWrite=3
cudaMemAllocationHandleType cudaMemHandleType < CUmemAllocationHandleType: -Max
cudaMemAllocationType cudaMemAllocationType < CUmemAllocationType:
cudaMemLocationType cudaMemLocationType: Invalid None=0 Device Host HostNuma HostNumaCurrent Invisible DeviceLocalityDomain
cudaMemPoolAttr cudaMemPool: ReuseFollowEventDependencies=1 ReuseAllowOpportunistic ReuseAllowInternalDependencies AttrReleaseThreshold
    AttrReservedMemCurrent AttrReservedMemHigh AttrUsedMemCurrent AttrUsedMemHigh AttrAllocationType AttrExportHandleTypes AttrLocationId
    AttrLocationType AttrMaxPoolSize AttrHwDecompressEnabled AttrLocalityDomainId
cudaMemRangeAttribute cudaMemRangeAttribute < CUmem_range_attribute:
cudaMemcpy3DOperandType cudaMemcpyOperandType < CUmemcpy3DOperandType:
cudaMemcpyFlags cudaMemcpyFlag < CUmemcpyFlags:
cudaMemcpyKind cudaMemcpy: HostToHost HostToDevice DeviceToHost DeviceToDevice Default
cudaMemcpySrcAccessOrder cudaMemcpySrcAccessOrder < CUmemcpySrcAccessOrder:
cudaMemoryAdvise cudaMemAdvise < CUmem_advise:
cudaMemoryType cudaMemoryType: Unregistered Host Device Managed
cudaResourceType cudaResourceType: Array MipmappedArray Linear Pitch2D
cudaResourceViewFormat cudaResViewFormat: None UnsignedChar1 UnsignedChar2 UnsignedChar4 SignedChar1 SignedChar2 SignedChar4 UnsignedShort1
    UnsignedShort2 UnsignedShort4 SignedShort1 SignedShort2 SignedShort4 UnsignedInt1 UnsignedInt2 UnsignedInt4 SignedInt1 SignedInt2
    SignedInt4 Half1 Half2 Half4 Float1 Float2 Float4 UnsignedBlockCompressed1 UnsignedBlockCompressed2 UnsignedBlockCompressed3
    UnsignedBlockCompressed4 SignedBlockCompressed4 UnsignedBlockCompressed5 SignedBlockCompressed5 UnsignedBlockCompressed6H
    SignedBlockCompressed6H UnsignedBlockCompressed7
cudaRoundMode cudaRound: Nearest Zero PosInf MinInf
cudaSharedCarveout cudaSharedmemCarveout < CUshared_carveout:
cudaSharedMemConfig cudaSharedMemBankSize: Default FourByte EightByte
cudaSharedMemoryMode cudaSharedMemoryMode < CUsharedMemoryMode:
cudaStreamAttrID cudaLaunchAttribute < CUstreamAttrID:
cudaStreamCaptureMode cudaStreamCaptureMode < CUstreamCaptureMode:
cudaStreamCaptureStatus cudaStreamCaptureStatus: None Active Invalidated
cudaStreamUpdateCaptureDependenciesFlags cudaStream < CUstreamUpdateCaptureDependencies_flags:
cudaSurfaceBoundaryMode cudaBoundaryMode: Zero Clamp Trap
cudaSurfaceFormatMode cudaFormatMode: Forced Auto
cudaSynchronizationPolicy cudaSyncPolicy < CUsynchronizationPolicy:
cudaTextureAddressMode cudaAddressMode < CUaddress_mode:
cudaTextureFilterMode cudaFilterMode: Point Linear
cudaTextureReadMode cudaReadMode: ElementType NormalizedFloat
cudaUserObjectFlags cudaUserObjectNoDestructor: Sync=1
cudaUserObjectRetainFlags cudaGraphUserObject: Move=1
libraryPropertyType -: MAJOR_VERSION MINOR_VERSION PATCH_LEVEL
"""
OWN = Enums(__name__, _TABLE, ENUMS)


def __getattr__(name):  # type: ignore[no-untyped-def]  # with types, mypy knows no name here within an import cycle
    """A class of the table."""
    found = OWN.get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found


def __dir__() -> list[str]:
    """Every name of the table."""
    return sorted(OWN.lines)
