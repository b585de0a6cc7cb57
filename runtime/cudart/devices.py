"""The runtime's calls about devices, errors, limits, functions, libraries, streams and events."""

from __future__ import annotations

from typing import Any

from .. import driver
from ..driver.devices import VERSION
from ..driver.errors import MESSAGES
from ..errors import ApiError
from ..machine import machine
from .api import RUNTIME, api, bare, call, context, device
from .enums import cudaDeviceAttr, cudaError_t, cudaFuncCache, cudaLimit, cudaSharedMemConfig
from .structs import (
    cudaDeviceProp,
    cudaEvent_t,
    cudaFuncAttributes,
    cudaFunction_t,
    cudaKernel_t,
    cudaLibrary_t,
    cudaMemPool_t,
    cudaStream_t,
)

F = driver.CUfunction_attribute

# ---------------------------------------------------------------- errors


@api(quiet=True)
def _last() -> None:
    """What went wrong last."""
    code = RUNTIME.last
    if code:
        raise ApiError(code.name)


def cudaGetLastError() -> tuple[cudaError_t]:
    """What went wrong last; success from then on, unless it sticks."""
    (code,) = _last()
    RUNTIME.last = cudaError_t.cudaSuccess
    return (code,)


def cudaPeekAtLastError() -> tuple[cudaError_t]:
    """What went wrong last."""
    (code,) = _last()
    return (code,)


@api(1, quiet=True)
def cudaGetErrorName(error: object) -> bytes:
    """The name of a code."""
    try:
        return cudaError_t(int(error)).name.encode()  # type: ignore[call-overload]
    except ValueError:
        return b"unrecognized error code"


@api(1, quiet=True)
def cudaGetErrorString(error: object) -> bytes:
    """What a code means, in a few words."""
    number = int(error)  # type: ignore[call-overload]
    own = {
        9: "invalid configuration argument", 12: "invalid pitch argument", 13: "invalid device symbol", 16: "invalid host pointer",
        17: "invalid device pointer", 18: "invalid texture reference", 20: "invalid channel descriptor",
        21: "invalid copy direction for memcpy", 98: "invalid device function", 201: "invalid device context",
    }  # fmt: skip
    if number in own:
        return own[number].encode()
    try:
        return MESSAGES[driver.CUresult(number).name].encode()
    except (ValueError, KeyError):
        return b"unrecognized error code"


@api(1)
def cudaDriverGetVersion() -> int:
    """13000: CUDA 13.0."""
    return VERSION


@api(1)
def cudaRuntimeGetVersion() -> int:
    """13000: CUDA 13.0."""
    return VERSION


# ---------------------------------------------------------------- devices


@api(1)
def cudaGetDeviceCount() -> int:
    """How many devices there are."""
    return len(machine().devices)


@api(1)
def cudaGetDevice() -> int:
    """The thread's device."""
    return RUNTIME.device


@api()
def cudaSetDevice(device: int) -> None:
    """Chooses the thread's device."""
    machine().device(int(device))
    RUNTIME.device = int(device)
    context()


@api()
def cudaInitDevice(device: int, deviceFlags: int, flags: int) -> None:
    """Makes a device's context without choosing the device."""
    machine().device(int(device)).retain()


@api()
def cudaSetDeviceFlags(flags: int) -> None:
    """Sets how host threads would wait."""
    bare(driver.cuDevicePrimaryCtxSetFlags, RUNTIME.device, flags)


@api(1)
def cudaGetDeviceFlags() -> int:
    """The flags of the thread's device; mapped memory is always there."""
    return device().flags | 8


@api()
def cudaDeviceSynchronize() -> None:
    """Waits for all work; tells what went wrong in it."""
    call(driver.cuCtxSynchronize)


@api()
def cudaDeviceReset() -> None:
    """Ends all that the thread's device holds, its error too."""
    d = device()
    d.reset()
    RUNTIME.last = cudaError_t.cudaSuccess


@api(1)
def cudaDeviceGetAttribute(attr: object, device: int) -> int:
    """One attribute of a device: the driver's attributes have the same numbers."""
    cudaDeviceAttr(int(attr))  # type: ignore[call-overload]
    return int(bare(driver.cuDeviceGetAttribute, attr, device))


# Properties whose attribute has another name than the property in capitals.
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
    hostNumaId=HOST_NUMA_ID
""".split()
_LISTS = {
    "maxThreadsDim": ("MAX_BLOCK_DIM_X", "MAX_BLOCK_DIM_Y", "MAX_BLOCK_DIM_Z"),
    "maxGridSize": ("MAX_GRID_DIM_X", "MAX_GRID_DIM_Y", "MAX_GRID_DIM_Z"),
    "maxTexture2D": ("MAXIMUM_TEXTURE2D_WIDTH", "MAXIMUM_TEXTURE2D_HEIGHT"),
    "maxTexture2DLinear": ("MAXIMUM_TEXTURE2D_LINEAR_WIDTH", "MAXIMUM_TEXTURE2D_LINEAR_HEIGHT", "MAXIMUM_TEXTURE2D_LINEAR_PITCH"),
    "maxTexture3D": ("MAXIMUM_TEXTURE3D_WIDTH", "MAXIMUM_TEXTURE3D_HEIGHT", "MAXIMUM_TEXTURE3D_DEPTH"),
    "maxSurface2D": ("MAXIMUM_SURFACE2D_WIDTH", "MAXIMUM_SURFACE2D_HEIGHT"),
    "maxSurface3D": ("MAXIMUM_SURFACE3D_WIDTH", "MAXIMUM_SURFACE3D_HEIGHT", "MAXIMUM_SURFACE3D_DEPTH"),
}


@api(1)
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
    for name, attributes in _LISTS.items():
        setattr(out, name, [d.attribute(a) for a in attributes])
    return out


@api(1)
def cudaChooseDevice(prop: cudaDeviceProp | None) -> int:
    """The device that has most of what is asked for: the capability first, then the memory."""
    if prop is None:
        raise ApiError("CUDA_ERROR_INVALID_VALUE", "the properties are null")
    wanted = (prop.major, prop.minor)
    fit = [d for d in machine().devices if d.profile.capability >= wanted and d.memory >= prop.totalGlobalMem]
    return fit[0].ordinal if fit else 0


@api(1)
def cudaDeviceCanAccessPeer(device: int, peerDevice: int) -> int:
    """1 where a device can reach the memory of another."""
    return int(bare(driver.cuDeviceCanAccessPeer, device, peerDevice))


@api()
def cudaDeviceEnablePeerAccess(peerDevice: int, flags: int) -> None:
    """Kernels of the thread's device may use another's memory."""
    peer = machine().device(int(peerDevice))
    call(driver.cuCtxEnablePeerAccess, bare(driver.cuDevicePrimaryCtxRetain, peer.ordinal), flags)


@api()
def cudaDeviceDisablePeerAccess(peerDevice: int) -> None:
    """Ends what cudaDeviceEnablePeerAccess allowed."""
    peer = bare(driver.cuDevicePrimaryCtxRetain, peerDevice)
    call(driver.cuCtxDisablePeerAccess, peer)


@api(1)
def cudaDeviceGetP2PAttribute(attr: object, srcDevice: int, dstDevice: int) -> int:
    """How two devices reach each other."""
    return int(bare(driver.cuDeviceGetP2PAttribute, attr, srcDevice, dstDevice))


@api(1)
def cudaDeviceGetPCIBusId(length: int, device: int) -> bytes:
    """Where a device would sit on the bus."""
    return bytes(bare(driver.cuDeviceGetPCIBusId, length, device))


@api(1)
def cudaDeviceGetByPCIBusId(pciBusId: bytes) -> int:
    """The device at a place on the bus."""
    return int(bare(driver.cuDeviceGetByPCIBusId, pciBusId))


@api()
def cudaDeviceSetLimit(limit: cudaLimit, value: int) -> None:
    """Sets a limit."""
    call(driver.cuCtxSetLimit, limit, value)


@api(1)
def cudaDeviceGetLimit(limit: cudaLimit) -> int:
    """A limit."""
    return int(call(driver.cuCtxGetLimit, limit))


@api()
def cudaDeviceSetCacheConfig(cacheConfig: cudaFuncCache) -> None:
    """Says how L1 and shared memory should share."""
    call(driver.cuCtxSetCacheConfig, cacheConfig)


@api(1)
def cudaDeviceGetCacheConfig() -> cudaFuncCache:
    """How L1 and shared memory are meant to share."""
    return cudaFuncCache(int(call(driver.cuCtxGetCacheConfig)))


@api()
def cudaDeviceSetSharedMemConfig(config: cudaSharedMemConfig) -> None:
    """Asks for a width of shared memory's banks."""
    call(driver.cuCtxSetSharedMemConfig, config)


@api(1)
def cudaDeviceGetSharedMemConfig() -> cudaSharedMemConfig:
    """The width of shared memory's banks."""
    return cudaSharedMemConfig(int(call(driver.cuCtxGetSharedMemConfig)))


@api(2)
def cudaDeviceGetStreamPriorityRange() -> tuple[int, int]:
    """(least, greatest) priority."""
    least, greatest = call(driver.cuCtxGetStreamPriorityRange)
    return int(least), int(greatest)


@api()
def cudaCtxResetPersistingL2Cache() -> None:
    """Lines that should stay in L2 may go."""
    call(driver.cuCtxResetPersistingL2Cache)


@api(1)
def cudaDeviceGetDefaultMemPool(device: int) -> cudaMemPool_t:
    """The pool that a device begins with."""
    return cudaMemPool_t(bare(driver.cuDeviceGetDefaultMemPool, device))


@api(1)
def cudaDeviceGetMemPool(device: int) -> cudaMemPool_t:
    """The pool that cudaMallocAsync takes from."""
    return cudaMemPool_t(bare(driver.cuDeviceGetMemPool, device))


@api()
def cudaDeviceSetMemPool(device: int, memPool: object) -> None:
    """Sets the pool that cudaMallocAsync takes from."""
    bare(driver.cuDeviceSetMemPool, device, memPool)


@api()
def cudaProfilerStart() -> None:
    """Nothing to start: profiles are made by observing launches."""
    call(driver.cuProfilerStart)


@api()
def cudaProfilerStop() -> None:
    """Nothing to stop."""
    call(driver.cuProfilerStop)


# ---------------------------------------------------------------- functions and libraries


@api(1)
def cudaGetKernel(entryFuncAddr: object) -> cudaKernel_t:
    """A kernel by its entry; here the handle of a function or of a library's kernel stands for it."""
    return cudaKernel_t(entryFuncAddr)


@api(1)
def cudaFuncGetAttributes(func: object) -> cudaFuncAttributes:
    """What is known of a kernel."""
    context()
    out = cudaFuncAttributes()

    def get(which: driver.CUfunction_attribute) -> int:
        return int(bare(driver.cuFuncGetAttribute, which, func))

    out.sharedSizeBytes = get(F.CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
    out.constSizeBytes = get(F.CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
    out.localSizeBytes = get(F.CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
    out.maxThreadsPerBlock = get(F.CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
    out.numRegs = get(F.CU_FUNC_ATTRIBUTE_NUM_REGS)
    out.ptxVersion = get(F.CU_FUNC_ATTRIBUTE_PTX_VERSION)
    out.binaryVersion = get(F.CU_FUNC_ATTRIBUTE_BINARY_VERSION)
    out.maxDynamicSharedSizeBytes = get(F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    out.preferredShmemCarveout = get(F.CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    out.clusterDimMustBeSet = get(F.CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET)
    out.requiredClusterWidth = get(F.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH)
    out.requiredClusterHeight = get(F.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT)
    out.requiredClusterDepth = get(F.CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH)
    out.nonPortableClusterSizeAllowed = get(F.CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    return out


@api()
def cudaFuncSetAttribute(func: object, attr: object, value: int) -> None:
    """Sets an attribute of a kernel: the driver's attributes have the same numbers."""
    call(driver.cuFuncSetAttribute, func, attr, value)


@api()
def cudaKernelSetAttributeForDevice(kernel: object, attr: object, value: int, device: int) -> None:
    """Sets an attribute of a library's kernel."""
    call(driver.cuKernelSetAttribute, attr, value, kernel, device)


@api()
def cudaFuncSetCacheConfig(func: object, cacheConfig: object) -> None:
    """Says how L1 and shared memory should share."""
    call(driver.cuFuncSetCacheConfig, func, cacheConfig)


@api()
def cudaFuncSetSharedMemConfig(func: object, config: object) -> None:
    """Asks for a width of shared memory's banks."""
    call(driver.cuFuncSetSharedMemConfig, func, config)


@api(1)
def cudaFuncGetParamCount(func: object) -> int:
    """How many parameters the kernel takes."""
    return int(call(driver.cuFuncGetParamCount, func))


@api(1)
def cudaOccupancyMaxActiveBlocksPerMultiprocessor(func: object, blockSize: int, dynamicSMemSize: int) -> int:
    """Blocks that one multiprocessor holds."""
    return int(call(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor, func, blockSize, dynamicSMemSize))


@api(1)
def cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(func: object, blockSize: int, dynamicSMemSize: int, flags: int) -> int:
    """As the call without flags."""
    return int(call(driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, func, blockSize, dynamicSMemSize, flags))


@api(1)
def cudaOccupancyAvailableDynamicSMemPerBlock(func: object, numBlocks: int, blockSize: int) -> int:
    """The most dynamic shared memory with which so many blocks fit."""
    return int(call(driver.cuOccupancyAvailableDynamicSMemPerBlock, func, numBlocks, blockSize))


@api(1)
def cudaLibraryLoadData(
    code: object, jitOptions: Any, jitOptionsValues: Any, numJitOptions: int, libraryOptions: Any, libraryOptionValues: Any,
    numLibraryOptions: int,
) -> cudaLibrary_t:  # fmt: skip
    """A library from memory."""
    return cudaLibrary_t(
        call(
            driver.cuLibraryLoadData,
            code,
            jitOptions,
            jitOptionsValues,
            numJitOptions,
            libraryOptions,
            libraryOptionValues,
            numLibraryOptions,
        )
    )


@api(1)
def cudaLibraryLoadFromFile(
    fileName: bytes, jitOptions: Any, jitOptionsValues: Any, numJitOptions: int, libraryOptions: Any, libraryOptionValues: Any,
    numLibraryOptions: int,
) -> cudaLibrary_t:  # fmt: skip
    """A library from a file."""
    rest = (jitOptions, jitOptionsValues, numJitOptions, libraryOptions, libraryOptionValues, numLibraryOptions)
    return cudaLibrary_t(call(driver.cuLibraryLoadFromFile, fileName, *rest))


@api()
def cudaLibraryUnload(library: object) -> None:
    """Unloads a library."""
    call(driver.cuLibraryUnload, library)


@api(1)
def cudaLibraryGetKernel(library: object, name: bytes) -> cudaKernel_t:
    """A kernel by name."""
    return cudaKernel_t(call(driver.cuLibraryGetKernel, library, name))


@api(1)
def cudaLibraryGetKernelCount(lib: object) -> int:
    """How many kernels there are."""
    return int(call(driver.cuLibraryGetKernelCount, lib))


@api(1)
def cudaLibraryEnumerateKernels(numKernels: int, lib: object) -> list[cudaKernel_t]:
    """The first so many kernels."""
    return [cudaKernel_t(k) for k in call(driver.cuLibraryEnumerateKernels, numKernels, lib)]


@api(2)
def cudaLibraryGetGlobal(library: object, name: bytes) -> tuple[int, int]:
    """(address, size) of a variable."""
    at, size = call(driver.cuLibraryGetGlobal, library, name)
    return int(at), int(size)


@api(2)
def cudaLibraryGetManaged(library: object, name: bytes) -> tuple[int, int]:
    """(address, size) of a managed variable."""
    at, size = call(driver.cuLibraryGetManaged, library, name)
    return int(at), int(size)


@api(1)
def cudaGetFuncBySymbol(symbolPtr: object) -> cudaFunction_t:
    """The function of a kernel's handle."""
    context()
    return cudaFunction_t(symbolPtr)


# ---------------------------------------------------------------- streams and events


@api(1)
def cudaStreamCreate() -> cudaStream_t:
    """A new stream."""
    return cudaStream_t(call(driver.cuStreamCreate, 0))


@api(1)
def cudaStreamCreateWithFlags(flags: int) -> cudaStream_t:
    """A new stream."""
    return cudaStream_t(call(driver.cuStreamCreate, flags))


@api(1)
def cudaStreamCreateWithPriority(flags: int, priority: int) -> cudaStream_t:
    """A new stream with a priority."""
    return cudaStream_t(call(driver.cuStreamCreateWithPriority, flags, priority))


@api()
def cudaStreamDestroy(stream: object) -> None:
    """Ends a stream."""
    call(driver.cuStreamDestroy, stream)


@api()
def cudaStreamSynchronize(stream: object) -> None:
    """Waits for the stream's work."""
    call(driver.cuStreamSynchronize, stream)


@api()
def cudaStreamQuery(stream: object) -> None:
    """Is the stream's work done?"""
    call(driver.cuStreamQuery, stream)


@api()
def cudaStreamWaitEvent(stream: object, event: object, flags: int) -> None:
    """The stream's later work waits for the event."""
    call(driver.cuStreamWaitEvent, stream, event, flags)


@api(1)
def cudaStreamGetFlags(hStream: object) -> int:
    """The stream's flags."""
    return int(call(driver.cuStreamGetFlags, hStream))


@api(1)
def cudaStreamGetPriority(hStream: object) -> int:
    """The stream's priority."""
    return int(call(driver.cuStreamGetPriority, hStream))


@api(1)
def cudaStreamGetId(hStream: object) -> int:
    """A number that no other stream has."""
    return int(call(driver.cuStreamGetId, hStream))


@api(1)
def cudaStreamGetDevice(hStream: object) -> int:
    """The stream's device."""
    return int(call(driver.cuStreamGetDevice, hStream))


@api()
def cudaStreamCopyAttributes(dst: object, src: object) -> None:
    """Copies all attributes."""
    call(driver.cuStreamCopyAttributes, dst, src)


@api()
def cudaStreamAttachMemAsync(stream: object, devPtr: object, length: int, flags: int) -> None:
    """Says which stream uses managed memory; any may."""
    call(driver.cuStreamAttachMemAsync, stream, devPtr, length, flags)


@api()
def cudaStreamAddCallback(stream: object, callback: object, userData: object, flags: int) -> None:
    """Calls back when the stream's work is done."""
    call(driver.cuStreamAddCallback, stream, callback, userData, flags)


@api()
def cudaLaunchHostFunc(stream: object, fn: object, userData: object) -> None:
    """Calls a function of the host in the stream's order."""
    call(driver.cuLaunchHostFunc, stream, fn, userData)


@api()
def cudaLaunchHostFunc_v2(stream: object, fn: object, userData: object, syncMode: int) -> None:
    """As cudaLaunchHostFunc."""
    call(driver.cuLaunchHostFunc_v2, stream, fn, userData, syncMode)


@api(1)
def cudaEventCreate() -> cudaEvent_t:
    """A new event."""
    return cudaEvent_t(call(driver.cuEventCreate, 0))


@api(1)
def cudaEventCreateWithFlags(flags: int) -> cudaEvent_t:
    """A new event."""
    return cudaEvent_t(call(driver.cuEventCreate, flags))


@api()
def cudaEventDestroy(event: object) -> None:
    """Ends an event."""
    call(driver.cuEventDestroy, event)


@api()
def cudaEventRecord(event: object, stream: object) -> None:
    """Records an event."""
    call(driver.cuEventRecord, event, stream)


@api()
def cudaEventRecordWithFlags(event: object, stream: object, flags: int) -> None:
    """Records an event."""
    call(driver.cuEventRecordWithFlags, event, stream, flags)


@api()
def cudaEventQuery(event: object) -> None:
    """Was the event reached?"""
    call(driver.cuEventQuery, event)


@api()
def cudaEventSynchronize(event: object) -> None:
    """Waits for an event."""
    call(driver.cuEventSynchronize, event)


@api(1)
def cudaEventElapsedTime(start: object, end: object) -> float:
    """Milliseconds between two events."""
    return float(call(driver.cuEventElapsedTime, start, end))
