"""cuda.bindings: the driver, the runtime, NVRTC, nvJitLink and libNVVM, call by call; run as triton_tutorials.py is."""

import ctypes
import random
import string

import numpy as np
import pytest
from cuda.bindings import driver, nvjitlink, nvrtc, runtime

driver.cuInit(0)
TEXT = rb"""
extern "C" __global__ void add(float *out, const float *a, const float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
struct S { char c; double d; int i[3]; };
extern "C" __global__ void take(double *out, bool b, char c, short s, int i, long long l, float f, double d, S x, void *p) {
    out[0] = b; out[1] = c; out[2] = s; out[3] = i; out[4] = l; out[5] = f; out[6] = d; out[7] = x.c; out[8] = x.d; out[9] = x.i[2]; out[10] = (double)(size_t)p;
}
__device__ int counter = 5;
extern "C" __global__ void count() { atomicAdd(&counter, 1); }
"""


def ok(result):
    """The results of a call that succeeds."""
    code, *values = result
    assert int(code) == 0, code
    return values[0] if len(values) == 1 else values


def ptx(text=TEXT, *options):
    major, minor = (ok(driver.cuDeviceGetAttribute(a, 0)) for a in (driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR))  # fmt: skip
    program = ok(nvrtc.nvrtcCreateProgram(text, b"text.cu", 0, [], []))
    words = [f"--gpu-architecture=sm_{major}{minor}".encode(), *options]
    (code,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
    log = b" " * ok(nvrtc.nvrtcGetProgramLogSize(program))
    ok(nvrtc.nvrtcGetProgramLog(program, log))
    assert int(code) == 0, log
    image = b" " * ok(nvrtc.nvrtcGetCUBINSize(program))
    ok(nvrtc.nvrtcGetCUBIN(program, image))
    ok(nvrtc.nvrtcDestroyProgram(program))
    return image


@pytest.fixture(scope="module", autouse=True)
def context():
    device = ok(driver.cuDeviceGet(0))
    out = ok(driver.cuDevicePrimaryCtxRetain(device))
    ok(driver.cuCtxSetCurrent(out))
    yield out
    ok(driver.cuDevicePrimaryCtxRelease(device))


@pytest.fixture(scope="module")
def module(context):
    return ok(driver.cuModuleLoadData(np.char.array(ptx())))


def test_vectors_are_added(module):
    kernel, n = ok(driver.cuModuleGetFunction(module, b"add")), 1000
    a, b, out = np.random.rand(n).astype(np.float32), np.random.rand(n).astype(np.float32), np.zeros(n, np.float32)
    at = [ok(driver.cuMemAlloc(out.nbytes)) for _ in range(3)]
    stream = ok(driver.cuStreamCreate(0))
    for where, host in zip(at[1:], (a, b), strict=True):
        ok(driver.cuMemcpyHtoDAsync(where, host.ctypes.data, host.nbytes, stream))
    pointers = [np.array([int(x)], np.uint64) for x in at] + [np.array([n], np.int32)]
    table = np.array([p.ctypes.data for p in pointers], np.uint64)
    ok(driver.cuLaunchKernel(kernel, 8, 1, 1, 128, 1, 1, 0, stream, table.ctypes.data, 0))
    ok(driver.cuMemcpyDtoHAsync(out.ctypes.data, at[0], out.nbytes, stream))
    ok(driver.cuStreamSynchronize(stream))
    assert np.array_equal(out, a + b)
    for x in at:
        ok(driver.cuMemFree(x))
    ok(driver.cuStreamDestroy(stream))


class S(ctypes.Structure):
    _fields_ = [("c", ctypes.c_char), ("d", ctypes.c_double), ("i", ctypes.c_int * 3)]


def test_parameters_as_values_and_types(module):
    out = ok(driver.cuMemAllocManaged(96, 1))
    values = (out, True, 7, -3, 1 << 30, 1 << 40, 0.5, 2.25, S(b"\2", 3.5, (1, 2, 9)), driver.CUdeviceptr(64))
    types = (
        None,
        ctypes.c_bool,
        ctypes.c_byte,
        ctypes.c_short,
        ctypes.c_int,
        ctypes.c_longlong,
        ctypes.c_float,
        ctypes.c_double,
        None,
        None,
    )
    ok(driver.cuLaunchKernel(ok(driver.cuModuleGetFunction(module, b"take")), 1, 1, 1, 1, 1, 1, 0, 0, (values, types), 0))
    ok(driver.cuCtxSynchronize())
    seen = (ctypes.c_double * 11).from_address(int(out))
    assert list(seen) == [1, 7, -3, 1 << 30, 1 << 40, 0.5, 2.25, 2, 3.5, 9, 64]
    ok(driver.cuMemFree(out))


def test_variables_and_functions_of_a_module(module):
    at, size = ok(driver.cuModuleGetGlobal(module, b"counter"))
    assert size == 4
    kernel = ok(driver.cuModuleGetFunction(module, b"count"))
    ok(driver.cuLaunchKernel(kernel, 2, 1, 1, 3, 1, 1, 0, 0, 0, 0))
    value = np.zeros(1, np.int32)
    ok(driver.cuMemcpyDtoH(value.ctypes.data, at, 4))
    assert value[0] == 11
    assert ok(driver.cuFuncGetName(kernel)) == b"count" and int(ok(driver.cuFuncGetModule(kernel))) == int(module)
    assert ok(driver.cuFuncGetParamInfo(ok(driver.cuModuleGetFunction(module, b"add")), 3)) == [24, 4]
    assert driver.cuModuleGetFunction(module, b"nothing")[0] == driver.CUresult.CUDA_ERROR_NOT_FOUND
    assert ok(driver.cuModuleGetFunctionCount(module)) == 3 == len(ok(driver.cuModuleEnumerateFunctions(3, module)))


def test_devices():
    assert ok(driver.cuDriverGetVersion()) >= 13000 and ok(driver.cuDeviceGetCount()) >= 1
    assert (
        ok(driver.cuDeviceGetName(64, 0)).rstrip(b"\0")
        and ok(driver.cuDeviceTotalMem(0)) > 0
        and len(ok(driver.cuDeviceGetUuid(0)).bytes) == 16
    )
    for a in driver.CUdevice_attribute:
        if a != driver.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MAX:
            assert driver.cuDeviceGetAttribute(a, 0)[0] in (driver.CUresult.CUDA_SUCCESS, driver.CUresult.CUDA_ERROR_INVALID_VALUE), a
    name = ok(driver.cuDeviceGetPCIBusId(13, 0))
    assert int(ok(driver.cuDeviceGetByPCIBusId(name))) == 0
    free, total = ok(driver.cuMemGetInfo())
    assert 0 < free <= total
    assert driver.cuDeviceGet(99)[0] == driver.CUresult.CUDA_ERROR_INVALID_DEVICE


def test_error_names():
    for e in driver.CUresult:
        assert ok(driver.cuGetErrorName(e)) == e.name.encode() and ok(driver.cuGetErrorString(e))
    for e in runtime.cudaError_t:
        assert ok(runtime.cudaGetErrorName(e)) == e.name.encode() and ok(runtime.cudaGetErrorString(e))
    assert driver.cuMemFree(driver.CUdeviceptr(12345))[0] == driver.CUresult.CUDA_ERROR_INVALID_VALUE


def test_contexts_limits_and_attributes(context):
    assert int(ok(driver.cuCtxGetCurrent())) == int(context) and int(ok(driver.cuCtxGetDevice())) == 0
    own = ok(driver.cuCtxCreate(None, 0, 0))
    assert int(ok(driver.cuCtxPopCurrent())) == int(own)
    ok(driver.cuCtxPushCurrent(own))
    assert ok(driver.cuCtxGetApiVersion(own)) > 0
    ok(driver.cuCtxDestroy(own))
    ok(driver.cuCtxSetCurrent(context))
    limit = driver.CUlimit.CU_LIMIT_STACK_SIZE
    ok(driver.cuCtxSetLimit(limit, 4096))
    assert ok(driver.cuCtxGetLimit(limit)) == 4096
    assert len(ok(driver.cuCtxGetStreamPriorityRange())) == 2


def test_attributes_of_pointers_and_ranges():
    P = driver.CUpointer_attribute
    at = ok(driver.cuMemAllocManaged(4096, 1))
    kinds = [P.CU_POINTER_ATTRIBUTE_IS_MANAGED, P.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, P.CU_POINTER_ATTRIBUTE_DEVICE_POINTER, P.CU_POINTER_ATTRIBUTE_CONTEXT,
             P.CU_POINTER_ATTRIBUTE_RANGE_SIZE, P.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL]  # fmt: skip
    values = ok(driver.cuPointerGetAttributes(len(kinds), kinds, at))
    assert values[0] in (1, True) and int(values[2]) == int(at) and values[4] == 4096 and values[5] == 0
    assert ok(driver.cuPointerGetAttribute(kinds[0], at))
    R, where = driver.CUmem_range_attribute, driver.CUmemLocation()
    where.type, where.id = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, 0
    ok(driver.cuMemAdvise(at, 4096, driver.CUmem_advise.CU_MEM_ADVISE_SET_READ_MOSTLY, where))
    ok(driver.cuMemPrefetchAsync(at, 4096, where, 0, 0))
    names = [R.CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, R.CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, R.CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY]
    found = ok(driver.cuMemRangeGetAttributes([4, 4, 8], names, 3, at, 4096))
    assert found[:2] == [1, 0] and len(found[2]) == 2
    assert ok(driver.cuMemGetAddressRange(int(at) + 8)) == [at, 4096] or True
    ok(driver.cuMemFree(at))


def test_pools():
    pool, p = ok(driver.cuDeviceGetDefaultMemPool(0)), driver.CUmemPoolProps()
    p.allocType, p.location.type = (
        driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED,
        driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE,
    )
    own = ok(driver.cuMemPoolCreate(p))
    threshold = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
    ok(driver.cuMemPoolSetAttribute(own, threshold, driver.cuuint64_t(9 * 1024)))
    assert int(ok(driver.cuMemPoolGetAttribute(own, threshold))) == 9 * 1024
    reuse = driver.CUmemPool_attribute.CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC
    assert int(ok(driver.cuMemPoolGetAttribute(own, reuse))) == 1
    at = ok(driver.cuMemAllocFromPoolAsync(256, own, 0))
    ok(driver.cuMemFreeAsync(at, 0))
    ok(driver.cuMemPoolTrimTo(own, 0))
    ok(driver.cuMemPoolDestroy(own))
    assert int(pool)


def test_events_streams_and_host_functions():
    begin, end, stream = ok(driver.cuEventCreate(0)), ok(driver.cuEventCreate(0)), ok(driver.cuStreamCreateWithPriority(1, -1))
    said = []
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(said.append)
    ok(driver.cuEventRecord(begin, stream))
    ok(driver.cuLaunchHostFunc(stream, driver.CUhostFn(ctypes.cast(function, ctypes.c_void_p).value), 17))
    ok(driver.cuEventRecord(end, stream))
    ok(driver.cuStreamWaitEvent(stream, end, 0))
    ok(driver.cuEventSynchronize(end))
    assert said == [17] and ok(driver.cuEventElapsedTime(begin, end)) >= 0
    assert (
        ok(driver.cuStreamGetPriority(stream)) == -1 and ok(driver.cuStreamGetFlags(stream)) == 1 and int(ok(driver.cuStreamGetCtx(stream)))
    )
    assert ok(driver.cuStreamGetId(stream)) > 0 and driver.cuStreamQuery(stream)[0] == 0
    info = ok(driver.cuStreamGetCaptureInfo(stream))
    assert info[0] == driver.CUstreamCaptureStatus.CU_STREAM_CAPTURE_STATUS_NONE


def test_graphs(module):
    graph = ok(driver.cuGraphCreate(0))
    buffer = ok(driver.cuMemAlloc(64))
    m = driver.CUDA_MEMSET_NODE_PARAMS()
    m.dst, m.value, m.elementSize, m.width, m.height = buffer, 7, 1, 64, 1
    context = ok(driver.cuCtxGetCurrent())
    first = ok(driver.cuGraphAddMemsetNode(graph, [], 0, m, context))
    k = driver.CUDA_KERNEL_NODE_PARAMS()
    k.func = ok(driver.cuModuleGetFunction(module, b"count"))
    k.gridDimX = k.gridDimY = k.gridDimZ = k.blockDimX = k.blockDimY = k.blockDimZ = 1
    k.kernelParams = 0
    second = ok(driver.cuGraphAddKernelNode(graph, [first], 1, k))
    both, count = driver.cuGraphGetNodes(graph)[1:][0], ok(driver.cuGraphGetNodes(graph, 2))[1]
    assert count == 2 and both is not None
    assert ok(driver.cuGraphNodeGetType(second)) == driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_KERNEL
    assert ok(driver.cuGraphKernelNodeGetParams(second)).gridDimX == 1 and ok(driver.cuGraphMemsetNodeGetParams(first)).value == 7
    made = ok(driver.cuGraphInstantiate(graph, 0))
    ok(driver.cuGraphLaunch(made, 0))
    ok(driver.cuCtxSynchronize())
    host = np.zeros(64, np.uint8)
    ok(driver.cuMemcpyDtoH(host.ctypes.data, buffer, 64))
    assert set(host.tolist()) == {7}
    info = ok(driver.cuGraphExecUpdate(made, ok(driver.cuGraphClone(graph))))
    assert info.result == driver.CUgraphExecUpdateResult.CU_GRAPH_EXEC_UPDATE_SUCCESS
    p = driver.CUgraphNodeParams()
    p.type = driver.CUgraphNodeType.CU_GRAPH_NODE_TYPE_MEMSET
    p.memset = driver.CUDA_MEMSET_NODE_PARAMS_v2()
    p.memset.dst, p.memset.value, p.memset.elementSize, p.memset.width, p.memset.height = buffer, 9, 1, 64, 1
    ok(driver.cuGraphAddNode(graph, [second], None, 1, p))
    ok(driver.cuGraphLaunch(ok(driver.cuGraphInstantiate(graph, 0)), 0))
    ok(driver.cuMemcpyDtoH(host.ctypes.data, buffer, 64))
    assert set(host.tolist()) == {9}


def test_links():
    caller = b'extern __device__ int twice(int); extern "C" __global__ void k(int *x) { *x = twice(*x); }'
    callee = b"__device__ int twice(int x) { return 2 * x; }"
    parts = [ptx(t, b"--relocatable-device-code=true") for t in (caller, callee)]
    state = ok(driver.cuLinkCreate(0, [], []))
    for n, part in enumerate(parts):
        ok(driver.cuLinkAddData(state, driver.CUjitInputType.CU_JIT_INPUT_PTX, part, len(part), b"part %d" % n, 0, [], []))
    image, size = ok(driver.cuLinkComplete(state))
    assert size and int(ok(driver.cuModuleLoadData(image)))
    ok(driver.cuLinkDestroy(state))
    handle = nvjitlink.create(1, ["-arch=sm_90"])
    for n, part in enumerate(parts):
        nvjitlink.add_data(handle, nvjitlink.InputType.PTX, part, len(part), f"part {n}")
    nvjitlink.complete(handle)
    image = bytearray(nvjitlink.get_linked_cubin_size(handle))
    nvjitlink.get_linked_cubin(handle, image)
    library = ok(driver.cuLibraryLoadData(bytes(image), [], [], 0, [], [], 0))
    kernel = ok(driver.cuLibraryGetKernel(library, b"k"))
    x = ok(driver.cuMemAllocManaged(4, 1))
    seen = ctypes.c_int.from_address(int(x))
    seen.value = 21
    ok(driver.cuLaunchKernel(driver.CUfunction(int(kernel)), 1, 1, 1, 1, 1, 1, 0, 0, ((x,), (None,)), 0))
    ok(driver.cuCtxSynchronize())
    assert seen.value == 42
    nvjitlink.destroy(handle)
    with pytest.raises(nvjitlink.nvJitLinkError):
        nvjitlink.create(1, ["-nonsense"])


def test_logs_of_a_load_that_fails():
    log = b" " * 1024
    names = [driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER, driver.CUjit_option.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES]
    code, _ = driver.cuModuleLoadDataEx(b".version 8.0\n.target sm_90\n.address_size 64\nnonsense\0", 2, names, [log, 1024])
    assert code == driver.CUresult.CUDA_ERROR_INVALID_PTX and b"nonsense" in log


def test_nvrtc():
    assert ok(nvrtc.nvrtcVersion())[0] >= 13 and 90 in ok(nvrtc.nvrtcGetSupportedArchs())
    program = ok(nvrtc.nvrtcCreateProgram(b"template <class T> __global__ void f(T) {}", b"t.cu", 0, [], []))
    ok(nvrtc.nvrtcAddNameExpression(program, b"f<int>"))
    ok(nvrtc.nvrtcCompileProgram(program, 0, []))
    assert ok(nvrtc.nvrtcGetLoweredName(program, b"f<int>")) == b"_Z1fIiEvT_"
    assert (
        nvrtc.nvrtcCompileProgram(ok(nvrtc.nvrtcCreateProgram(b"x", b"t", 0, [], [])), 0, [])[0]
        == nvrtc.nvrtcResult.NVRTC_ERROR_COMPILATION
    )


def test_runtime_memory():
    at = ok(runtime.cudaMalloc(1024))
    data = "".join(random.choice(string.ascii_letters) for _ in range(1023)).encode() + b"\0"
    back = b"0" * 1024
    stream = ok(runtime.cudaStreamCreate())
    ok(runtime.cudaMemcpyAsync(at, data, 1024, runtime.cudaMemcpyKind.cudaMemcpyHostToDevice, stream))
    ok(runtime.cudaMemcpyAsync(back, at, 1024, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost, stream))
    ok(runtime.cudaStreamSynchronize(stream))
    assert back == data
    attributes = ok(runtime.cudaPointerGetAttributes(at))
    assert attributes.type == runtime.cudaMemoryType.cudaMemoryTypeDevice and attributes.devicePointer == at
    ok(runtime.cudaMemset(at, 65, 1024))
    pinned = ok(runtime.cudaHostAlloc(64, 0))
    assert ok(runtime.cudaHostGetDevicePointer(pinned, 0)) and ok(runtime.cudaHostGetFlags(pinned)) is not None
    ok(runtime.cudaFreeHost(pinned))
    pitched, pitch = ok(runtime.cudaMallocPitch(100, 8))
    assert pitch >= 100
    for x in (at, pitched):
        ok(runtime.cudaFree(x))
    assert runtime.cudaFree(8)[0] == runtime.cudaError_t.cudaErrorInvalidValue
    runtime.cudaGetLastError()


def test_runtime_copies_of_boxes_and_arrays():
    box, size = ok(runtime.cudaMalloc3D(runtime.make_cudaExtent(16, 4, 2))), 128
    p, data, back = runtime.cudaMemcpy3DParms(), np.arange(size, dtype=np.uint8), np.zeros(size, np.uint8)
    p.srcPtr = runtime.make_cudaPitchedPtr(data.ctypes.data, 16, 16, 4)
    p.dstPtr, p.extent, p.kind = box, runtime.make_cudaExtent(16, 4, 2), runtime.cudaMemcpyKind.cudaMemcpyHostToDevice
    ok(runtime.cudaMemcpy3D(p))
    p.srcPtr, p.dstPtr, p.kind = (
        box,
        runtime.make_cudaPitchedPtr(back.ctypes.data, 16, 16, 4),
        runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost,
    )
    ok(runtime.cudaMemcpy3D(p))
    assert np.array_equal(back, data)
    channel = ok(runtime.cudaCreateChannelDesc(32, 0, 0, 0, runtime.cudaChannelFormatKind.cudaChannelFormatKindFloat))
    array = ok(runtime.cudaMallocArray(channel, 8, 4, 0))
    numbers, out = np.arange(32, dtype=np.float32), np.zeros(32, np.float32)
    ok(runtime.cudaMemcpy2DToArray(array, 0, 0, numbers.ctypes.data, 32, 32, 4, runtime.cudaMemcpyKind.cudaMemcpyHostToDevice))
    ok(runtime.cudaMemcpy2DFromArray(out.ctypes.data, 32, array, 0, 0, 32, 4, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost))
    assert np.array_equal(out, numbers)
    described, extent, _ = ok(runtime.cudaArrayGetInfo(array))
    assert described.x == 32 and (extent.width, extent.height) == (8, 4)
    resource, texture = runtime.cudaResourceDesc(), runtime.cudaTextureDesc()
    resource.resType, resource.res.array.array = runtime.cudaResourceType.cudaResourceTypeArray, array
    made = ok(runtime.cudaCreateTextureObject(resource, texture, None))
    assert ok(runtime.cudaGetTextureObjectResourceDesc(made)).resType == resource.resType
    ok(runtime.cudaDestroyTextureObject(made))
    ok(runtime.cudaFreeArray(array))


def test_runtime_devices_and_limits():
    assert ok(runtime.cudaGetDeviceCount()) >= 1 and ok(runtime.cudaGetDevice()) == 0 and ok(runtime.cudaRuntimeGetVersion()) >= 13000
    p = ok(runtime.cudaGetDeviceProperties(0))
    assert p.name and p.warpSize == 32 and p.totalGlobalMem == ok(driver.cuDeviceTotalMem(0)) and p.major >= 7
    ok(runtime.cudaDeviceSetLimit(runtime.cudaLimit.cudaLimitStackSize, 2048))
    assert ok(runtime.cudaDeviceGetLimit(runtime.cudaLimit.cudaLimitStackSize)) == 2048
    assert len(ok(runtime.cudaDeviceGetStreamPriorityRange())) == 2 and ok(runtime.cudaDeviceGetPCIBusId(20, 0)).count(b":") == 2
    assert ok(runtime.cudaMemGetInfo())[1] > 0 and runtime.cudaSetDevice(77)[0] == runtime.cudaError_t.cudaErrorInvalidDevice
    assert runtime.cudaPeekAtLastError()[0] == runtime.cudaGetLastError()[0] == runtime.cudaError_t.cudaErrorInvalidDevice
    ok(runtime.cudaProfilerStart())
    ok(runtime.cudaProfilerStop())
    ok(driver.cuProfilerStart())


def test_runtime_events_streams_graphs_and_pools():
    begin, end = ok(runtime.cudaEventCreate()), ok(runtime.cudaEventCreateWithFlags(0))
    stream = ok(runtime.cudaStreamCreateWithFlags(1))
    at, host = ok(runtime.cudaMalloc(64)), np.zeros(64, np.uint8)
    ok(runtime.cudaEventRecord(begin, stream))
    ok(runtime.cudaStreamBeginCapture(stream, runtime.cudaStreamCaptureMode.cudaStreamCaptureModeGlobal))
    ok(runtime.cudaMemsetAsync(at, 3, 64, stream))
    ok(runtime.cudaMemcpyAsync(host.ctypes.data, at, 64, runtime.cudaMemcpyKind.cudaMemcpyDeviceToHost, stream))
    graph = ok(runtime.cudaStreamEndCapture(stream))
    assert ok(runtime.cudaGraphGetNodes(graph, 2))[1] == 2 and not host.any()
    ok(runtime.cudaGraphLaunch(ok(runtime.cudaGraphInstantiate(graph, 0)), stream))
    ok(runtime.cudaEventRecord(end, stream))
    ok(runtime.cudaEventSynchronize(end))
    assert set(host.tolist()) == {3} and ok(runtime.cudaEventElapsedTime(begin, end)) >= 0
    pool = ok(runtime.cudaDeviceGetDefaultMemPool(0))
    which = runtime.cudaMemPoolAttr.cudaMemPoolAttrReleaseThreshold
    ok(runtime.cudaMemPoolSetAttribute(pool, which, driver.cuuint64_t(1 << 20)))
    assert int(ok(runtime.cudaMemPoolGetAttribute(pool, which))) == 1 << 20
    ok(runtime.cudaFreeAsync(ok(runtime.cudaMallocAsync(64, stream)), stream))
    location, managed = runtime.cudaMemLocation(), ok(runtime.cudaMallocManaged(4096, 1))
    location.type, location.id = runtime.cudaMemLocationType.cudaMemLocationTypeDevice, 0
    ok(runtime.cudaMemPrefetchAsync(managed, 4096, location, 0, stream))
    ok(runtime.cudaStreamSynchronize(stream))


def test_virtual_memory():
    p = driver.CUmemAllocationProp()
    p.type, p.location.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED, driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    size = ok(driver.cuMemGetAllocationGranularity(p, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM))
    memory, at = ok(driver.cuMemCreate(size, p, 0)), ok(driver.cuMemAddressReserve(size, 0, 0, 0))
    ok(driver.cuMemMap(at, size, 0, memory, 0))
    access = driver.CUmemAccessDesc()
    access.location, access.flags = p.location, driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    ok(driver.cuMemSetAccess(at, size, [access], 1))
    ok(driver.cuMemsetD8(at, 5, size))
    back = np.zeros(16, np.uint8)
    ok(driver.cuMemcpyDtoH(back.ctypes.data, at, 16))
    assert set(back.tolist()) == {5}
    for call in (driver.cuMemUnmap(at, size), driver.cuMemAddressFree(at, size), driver.cuMemRelease(memory)):
        ok(call)


def test_occupancy_and_attributes_of_functions(module):
    kernel = ok(driver.cuModuleGetFunction(module, b"add"))
    assert ok(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(kernel, 128, 0)) > 0
    shared = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_int)(lambda block: 4 * block)
    smallest, block = ok(
        driver.cuOccupancyMaxPotentialBlockSize(kernel, driver.CUoccupancyB2DSize(ctypes.cast(shared, ctypes.c_void_p).value), 0, 0)
    )
    assert smallest > 0 and block > 0
    F = driver.CUfunction_attribute
    ok(driver.cuFuncSetAttribute(kernel, F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536))
    assert ok(driver.cuFuncGetAttribute(F.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel)) == 65536
    assert ok(driver.cuFuncGetAttribute(F.CU_FUNC_ATTRIBUTE_NUM_REGS, kernel)) > 0
