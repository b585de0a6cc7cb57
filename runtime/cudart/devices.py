"""The runtime's calls about devices: choosing one, its properties, its peers."""

from __future__ import annotations

import re

from .. import driver
from ..device.machine import machine
from ..driver.api import handle_of, integer, results_of
from ..driver.partitions import MAKES_DEFAULT_STREAM
from ..errors import ApiError, invalid
from .api import RUNTIME, api, call, context, device
from .enums import cudaError_t
from .structs import cudaDeviceProp, cudaEvent_t, cudaExecutionContext_t, cudaStream_t


@api
def cudaGetDevice() -> int:
    """The thread's device."""
    return RUNTIME.device


@api
def cudaSetDevice(device: int) -> None:
    """Chooses the thread's device."""
    machine().device(int(device))
    RUNTIME.device = int(device)
    context()


@api
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> None:
    """Makes a device's context without choosing the device."""
    machine().device(int(device)).retain()


@api
def cudaDeviceGetExecutionCtx(device: int) -> cudaExecutionContext_t:
    """A device's primary context, as what work can be given to."""
    d = machine().device(int(device))
    alive = d.primary is not None and d.primary.alive
    return cudaExecutionContext_t(handle_of(d.primary if alive else d.retain()))


@api
def cudaExecutionCtxStreamCreate(ctx: object, flags: object, priority: object) -> cudaStream_t:
    """A new stream of a context."""
    results_of(driver.cuCtxPushCurrent, ctx)
    try:
        return cudaStream_t(results_of(driver.cuStreamCreateWithPriority, flags, priority))
    finally:
        results_of(driver.cuCtxPopCurrent)


@api
def cudaGreenCtxCreate(desc: object, device: int, flags: int) -> cudaExecutionContext_t:
    """A part of a device, as what work can be given to."""
    if int(flags):
        raise invalid(f"flags {int(flags):#x}")
    return cudaExecutionContext_t(int(results_of(driver.cuGreenCtxCreate, desc, device, MAKES_DEFAULT_STREAM)))


@api
def cudaSetDeviceFlags(flags: int) -> None:
    """Sets how host threads would wait."""
    results_of(driver.cuDevicePrimaryCtxSetFlags, RUNTIME.device, flags)


@api
def cudaGetDeviceFlags() -> int:
    """The flags of the thread's device; mapped memory is always there."""
    return device().flags | 8


@api
def cudaDeviceReset() -> None:
    """Ends all that the thread's device holds, its error too."""
    d = device()
    d.reset()
    RUNTIME.last = cudaError_t.cudaSuccess


@api
def cudaDeviceGetAttribute(attr: object, device: int) -> int:
    """One attribute of a device: the driver's attributes have the same numbers, and those that only the driver names are told, too."""
    return int(results_of(driver.cuDeviceGetAttribute, integer(attr), device))


_PROPERTIES = """
    totalConstMem=TOTAL_CONSTANT_MEMORY regsPerBlock=MAX_REGISTERS_PER_BLOCK sharedMemPerBlock=MAX_SHARED_MEMORY_PER_BLOCK
    warpSize=WARP_SIZE memPitch=MAX_PITCH maxThreadsPerBlock=MAX_THREADS_PER_BLOCK textureAlignment=TEXTURE_ALIGNMENT
    texturePitchAlignment=TEXTURE_PITCH_ALIGNMENT multiProcessorCount=MULTIPROCESSOR_COUNT integrated=INTEGRATED
    canMapHostMemory=CAN_MAP_HOST_MEMORY maxTexture1D=MAXIMUM_TEXTURE1D_WIDTH maxTexture1DMipmap=MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH
    maxTextureCubemap=MAXIMUM_TEXTURECUBEMAP_WIDTH maxSurface1D=MAXIMUM_SURFACE1D_WIDTH
    maxSurfaceCubemap=MAXIMUM_SURFACECUBEMAP_WIDTH surfaceAlignment=SURFACE_ALIGNMENT concurrentKernels=CONCURRENT_KERNELS
    ECCEnabled=ECC_ENABLED pciBusID=PCI_BUS_ID pciDeviceID=PCI_DEVICE_ID pciDomainID=PCI_DOMAIN_ID tccDriver=TCC_DRIVER
    asyncEngineCount=ASYNC_ENGINE_COUNT unifiedAddressing=UNIFIED_ADDRESSING memoryBusWidth=GLOBAL_MEMORY_BUS_WIDTH
    l2CacheSize=L2_CACHE_SIZE persistingL2CacheMaxSize=MAX_PERSISTING_L2_CACHE_SIZE
    maxThreadsPerMultiProcessor=MAX_THREADS_PER_MULTIPROCESSOR streamPrioritiesSupported=STREAM_PRIORITIES_SUPPORTED
    globalL1CacheSupported=GLOBAL_L1_CACHE_SUPPORTED localL1CacheSupported=LOCAL_L1_CACHE_SUPPORTED
    sharedMemPerMultiprocessor=MAX_SHARED_MEMORY_PER_MULTIPROCESSOR regsPerMultiprocessor=MAX_REGISTERS_PER_MULTIPROCESSOR
    managedMemory=MANAGED_MEMORY isMultiGpuBoard=MULTI_GPU_BOARD multiGpuBoardGroupID=MULTI_GPU_BOARD_GROUP_ID
    hostNativeAtomicSupported=HOST_NATIVE_ATOMIC_SUPPORTED pageableMemoryAccess=PAGEABLE_MEMORY_ACCESS
    concurrentManagedAccess=CONCURRENT_MANAGED_ACCESS computePreemptionSupported=COMPUTE_PREEMPTION_SUPPORTED
    canUseHostPointerForRegisteredMem=CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM cooperativeLaunch=COOPERATIVE_LAUNCH
    sharedMemPerBlockOptin=MAX_SHARED_MEMORY_PER_BLOCK_OPTIN maxBlocksPerMultiProcessor=MAX_BLOCKS_PER_MULTIPROCESSOR
    accessPolicyMaxWindowSize=MAX_ACCESS_POLICY_WINDOW_SIZE reservedSharedMemPerBlock=RESERVED_SHARED_MEMORY_PER_BLOCK
    hostRegisterSupported=HOST_REGISTER_SUPPORTED hostRegisterReadOnlySupported=READ_ONLY_HOST_REGISTER_SUPPORTED
    memoryPoolsSupported=MEMORY_POOLS_SUPPORTED memoryPoolSupportedHandleTypes=MEMPOOL_SUPPORTED_HANDLE_TYPES
    clusterLaunch=CLUSTER_LAUNCH unifiedFunctionPointers=UNIFIED_FUNCTION_POINTERS deviceNumaConfig=NUMA_CONFIG deviceNumaId=NUMA_ID
    hostNumaId=HOST_NUMA_ID hostNumaMultinodeIpcSupported=HOST_NUMA_MULTINODE_IPC_SUPPORTED ipcEventSupported=IPC_EVENT_SUPPORTED
    pageableMemoryAccessUsesHostPageTables=PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES mpsEnabled=MPS_ENABLED
    directManagedMemAccessFromHost=DIRECT_MANAGED_MEM_ACCESS_FROM_HOST sparseCudaArraySupported=SPARSE_CUDA_ARRAY_SUPPORTED
    timelineSemaphoreInteropSupported=TIMELINE_SEMAPHORE_INTEROP_SUPPORTED gpuDirectRDMASupported=GPU_DIRECT_RDMA_SUPPORTED
    gpuDirectRDMAFlushWritesOptions=GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS gpuDirectRDMAWritesOrdering=GPU_DIRECT_RDMA_WRITES_ORDERING
    deferredMappingCudaArraySupported=DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED gpuPciDeviceID=GPU_PCI_DEVICE_ID
    gpuPciSubsystemID=GPU_PCI_SUBSYSTEM_ID
""".split()
_LISTS = """
    maxThreadsDim=MAX_BLOCK_DIM_:X,Y,Z maxGridSize=MAX_GRID_DIM_:X,Y,Z maxTexture2D=MAXIMUM_TEXTURE2D_:WIDTH,HEIGHT
    maxTexture2DLinear=MAXIMUM_TEXTURE2D_LINEAR_:WIDTH,HEIGHT,PITCH maxTexture3D=MAXIMUM_TEXTURE3D_:WIDTH,HEIGHT,DEPTH
    maxSurface2D=MAXIMUM_SURFACE2D_:WIDTH,HEIGHT maxTexture1DLayered=MAXIMUM_TEXTURE1D_LAYERED_:WIDTH,LAYERS
    maxTexture2DLayered=MAXIMUM_TEXTURE2D_LAYERED_:WIDTH,HEIGHT,LAYERS maxTexture2DGather=MAXIMUM_TEXTURE2D_GATHER_:WIDTH,HEIGHT
    maxTexture2DMipmap=MAXIMUM_TEXTURE2D_MIPMAPPED_:WIDTH,HEIGHT
    maxTexture3DAlt=MAXIMUM_TEXTURE3D_:WIDTH_ALTERNATE,HEIGHT_ALTERNATE,DEPTH_ALTERNATE
    maxTextureCubemapLayered=MAXIMUM_TEXTURECUBEMAP_LAYERED_:WIDTH,LAYERS maxSurface1DLayered=MAXIMUM_SURFACE1D_LAYERED_:WIDTH,LAYERS
    maxSurface2DLayered=MAXIMUM_SURFACE2D_LAYERED_:WIDTH,HEIGHT,LAYERS
    maxSurfaceCubemapLayered=MAXIMUM_SURFACECUBEMAP_LAYERED_:WIDTH,LAYERS maxSurface3D=MAXIMUM_SURFACE3D_:WIDTH,HEIGHT,DEPTH
""".split()  # name=PREFIX:ENDING,ENDING


@api
def cudaGetDeviceProperties(device: int) -> cudaDeviceProp:
    """All properties of a device."""
    d, out = machine().device(int(device)), cudaDeviceProp()
    out.name = d.name.encode()
    out.uuid.bytes = d.uuid
    out.totalGlobalMem = d.memory
    out.major, out.minor = d.profile.capability
    for pair in _PROPERTIES:
        name, _, attribute = pair.partition("=")
        setattr(out, name, d.attribute(attribute))
    for row in _LISTS:
        name, prefix, endings = re.split("[=:]", row)
        setattr(out, name, [d.attribute(prefix + ending) for ending in endings.split(",")])
    return out


@api
def cudaChooseDevice(prop: cudaDeviceProp | None) -> int:
    """The device that has most of what is asked for: the capability first, then the memory."""
    if prop is None:
        raise ApiError("CUDA_ERROR_INVALID_VALUE", "the properties are null")
    wanted = (prop.major, prop.minor)
    fit = [d for d in machine().devices if d.profile.capability >= wanted and d.memory >= prop.totalGlobalMem]
    return fit[0].ordinal if fit else 0


@api
def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> None:
    """Kernels of the thread's device may use another's memory."""
    peer = machine().device(int(peerDevice))
    call(driver.cuCtxEnablePeerAccess, results_of(driver.cuDevicePrimaryCtxRetain, peer.ordinal), flags)


@api
def cudaDeviceDisablePeerAccess(peerDevice: int) -> None:
    """Ends what cudaDeviceEnablePeerAccess allowed."""
    peer = results_of(driver.cuDevicePrimaryCtxRetain, peerDevice)
    call(driver.cuCtxDisablePeerAccess, peer)


@api
def cudaStreamCreate() -> cudaStream_t:
    """A new stream."""
    return cudaStream_t(call(driver.cuStreamCreate, 0))


@api
def cudaEventCreate() -> cudaEvent_t:
    """A new event."""
    return cudaEvent_t(call(driver.cuEventCreate, 0))
