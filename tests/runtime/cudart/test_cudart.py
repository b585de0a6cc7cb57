"""The runtime API over the driver's: codes, the last error, copies by direction, symbols, launches."""

import ctypes
from typing import Any

import numpy as np
import pytest

from warplab.runtime import cudart as rt

from ..conftest import KERNELS, POINTER, U32, Host

OK = rt.cudaError_t.cudaSuccess
Kind = rt.cudaMemcpyKind


def good(result: tuple[Any, ...]) -> Any:
    """The results of a call that must succeed."""
    assert result[0] == OK, result
    return result[1] if len(result) == 2 else result[1:]


@pytest.fixture
def kernels(host: Host) -> object:
    """A library with the small kernels, on a fresh device."""
    good(rt.cudaDeviceReset())
    return good(rt.cudaLibraryLoadData(KERNELS.encode(), [], [], 0, [], [], 0))


def test_a_program_from_malloc_to_free(kernels: object) -> None:
    a, b, c = np.arange(100, dtype=np.uint32), np.full(100, 9, np.uint32), np.zeros(100, np.uint32)
    at = [good(rt.cudaMalloc(400)) for _ in range(3)]
    for address, array in zip(at, (a, b), strict=False):
        good(rt.cudaMemcpy(address, array, 400, Kind.cudaMemcpyHostToDevice))
    f = good(rt.cudaLibraryGetKernel(kernels, b"add"))
    good(rt.cudaLaunchKernel(f, 2, 64, ((*at, 100), (POINTER, POINTER, POINTER, U32)), 0, 0))
    good(rt.cudaMemcpy(c, at[2], 400, Kind.cudaMemcpyDeviceToHost))
    assert (c == a + b).all()
    for address in at:
        good(rt.cudaFree(address))
    good(rt.cudaFree(0))
    assert rt.cudaMalloc(0) == (OK, 0)


def test_the_last_error_is_told_once(kernels: object) -> None:
    assert rt.cudaFree(12345)[0] == rt.cudaError_t.cudaErrorInvalidValue
    assert rt.cudaPeekAtLastError()[0] == rt.cudaError_t.cudaErrorInvalidValue
    assert rt.cudaGetLastError()[0] == rt.cudaError_t.cudaErrorInvalidValue
    assert rt.cudaGetLastError()[0] == OK
    assert rt.cudaSetDevice(99)[0] == rt.cudaError_t.cudaErrorInvalidDevice
    assert rt.cudaGetErrorString(rt.cudaError_t.cudaErrorInvalidDevice) == (OK, b"invalid device ordinal")
    assert rt.cudaGetErrorName(9) == (OK, b"cudaErrorInvalidConfiguration")
    rt.cudaGetLastError()


@pytest.mark.parametrize(
    ("grid", "block", "shared", "code"),
    [
        (1, 2048, 0, rt.cudaError_t.cudaErrorInvalidConfiguration),
        (0, 32, 0, rt.cudaError_t.cudaErrorInvalidConfiguration),
        ((1, 70000, 1), 32, 0, rt.cudaError_t.cudaErrorInvalidConfiguration),
        (1, 32, 1 << 20, rt.cudaError_t.cudaErrorInvalidValue),
        (1, 32, 0, OK),
    ],
)
def test_launch_configurations(kernels: object, grid: object, block: object, shared: int, code: int) -> None:
    f = good(rt.cudaLibraryGetKernel(kernels, b"bounded"))
    assert rt.cudaLaunchKernel(f, grid, block, ((0,), (POINTER,)), shared, 0)[0] == code
    rt.cudaGetLastError()


def test_a_fault_sticks_until_the_device_is_reset(kernels: object) -> None:
    f = good(rt.cudaLibraryGetKernel(kernels, b"poke"))
    good(rt.cudaLaunchKernel(f, 1, 1, ((4, 1), (POINTER, U32)), 0, 0))
    assert rt.cudaDeviceSynchronize()[0] == rt.cudaError_t.cudaErrorIllegalAddress
    assert rt.cudaMalloc(4) == (rt.cudaError_t.cudaErrorIllegalAddress, None)
    good(rt.cudaDeviceReset())
    good(rt.cudaMalloc(4))
    assert rt.cudaGetLastError()[0] == OK


def test_symbols(kernels: object) -> None:
    at, size = good(rt.cudaLibraryGetGlobal(kernels, b"counter"))
    assert size == 4
    good(rt.cudaMemcpyToSymbol(at, np.array([77], np.uint32), 4, 0, Kind.cudaMemcpyHostToDevice))
    out = np.zeros(1, np.uint32)
    good(rt.cudaMemcpyFromSymbol(out, at, 4, 0, Kind.cudaMemcpyDeviceToHost))
    assert out.tolist() == [77]
    assert rt.cudaMemcpyToSymbol(1, out, 4, 0, Kind.cudaMemcpyHostToDevice)[0] == rt.cudaError_t.cudaErrorInvalidSymbol


def test_directions_are_checked(kernels: object) -> None:
    host, device = np.zeros(4, np.uint8), good(rt.cudaMalloc(4))
    assert rt.cudaMemcpy(device, host, 4, 17)[0] == rt.cudaError_t.cudaErrorInvalidMemcpyDirection
    assert rt.cudaMemcpy(host, host, 4, Kind.cudaMemcpyHostToDevice)[0] == rt.cudaError_t.cudaErrorInvalidValue
    good(rt.cudaMemcpy(device, host, 4, Kind.cudaMemcpyDefault))
    good(rt.cudaMemset(device, 7, 4))
    good(rt.cudaMemcpy(host, device, 4, Kind.cudaMemcpyDefault))
    assert host.tolist() == [7] * 4
    rt.cudaGetLastError()


def test_rectangles_and_arrays(kernels: object) -> None:
    data = np.arange(30, dtype=np.float32).reshape(5, 6)
    at, pitch = good(rt.cudaMallocPitch(24, 5))
    good(rt.cudaMemcpy2D(at, pitch, data, 24, 24, 5, Kind.cudaMemcpyHostToDevice))
    back = np.zeros_like(data)
    good(rt.cudaMemcpy2D(back, 24, at, pitch, 24, 5, Kind.cudaMemcpyDeviceToHost))
    assert (back == data).all()
    assert rt.cudaMemcpy2D(at, 8, data, 24, 24, 5, Kind.cudaMemcpyHostToDevice)[0] == rt.cudaError_t.cudaErrorInvalidPitchValue
    desc = good(rt.cudaCreateChannelDesc(32, 0, 0, 0, rt.cudaChannelFormatKind.cudaChannelFormatKindFloat))
    array = good(rt.cudaMallocArray(desc, 6, 5, 0))
    good(rt.cudaMemcpy2DToArray(array, 0, 0, data, 24, 24, 5, Kind.cudaMemcpyHostToDevice))
    part = np.zeros((2, 3), np.float32)
    good(rt.cudaMemcpy2DFromArray(part, 12, array, 8, 1, 12, 2, Kind.cudaMemcpyDeviceToHost))
    assert (part == data[1:3, 2:5]).all()
    shown, extent, _ = good(rt.cudaArrayGetInfo(array))
    assert (shown.x, extent.width, extent.height) == (32, 6, 5)
    rt.cudaGetLastError()


def test_boxes(kernels: object) -> None:
    data = np.arange(2 * 3 * 8, dtype=np.uint8)
    box = good(rt.cudaMalloc3D(rt.make_cudaExtent(8, 3, 2)))
    p = rt.cudaMemcpy3DParms()
    p.srcPtr = rt.make_cudaPitchedPtr(data.ctypes.data, 8, 8, 3)
    p.dstPtr, p.extent, p.kind = box, rt.make_cudaExtent(8, 3, 2), Kind.cudaMemcpyHostToDevice
    good(rt.cudaMemcpy3D(p))
    out = np.zeros_like(data)
    q = rt.cudaMemcpy3DParms()
    q.srcPtr, q.dstPtr = box, rt.make_cudaPitchedPtr(out.ctypes.data, 8, 8, 3)
    q.extent, q.kind = rt.make_cudaExtent(8, 3, 2), Kind.cudaMemcpyDeviceToHost
    good(rt.cudaMemcpy3D(q))
    assert (out == data).all()


def test_properties_and_attributes() -> None:
    p = good(rt.cudaGetDeviceProperties(0))
    assert isinstance(p, rt.cudaDeviceProp)
    assert (p.name, p.major, p.minor, p.warpSize, p.multiProcessorCount) == (b"NVIDIA H200", 9, 0, 32, 132)
    assert p.maxThreadsDim == [1024, 1024, 64]
    assert good(rt.cudaDeviceGetAttribute(rt.cudaDeviceAttr.cudaDevAttrMaxThreadsPerBlock, 0)) == 1024
    assert rt.cudaDeviceGetAttribute(9999, 0)[0] == rt.cudaError_t.cudaErrorInvalidValue


def test_pointers_streams_and_functions(kernels: object) -> None:
    pinned, device = good(rt.cudaMallocHost(16)), good(rt.cudaMalloc(16))
    types = rt.cudaMemoryType
    kinds = [good(rt.cudaPointerGetAttributes(x)).type for x in (pinned, device, np.zeros(1))]
    assert kinds == [types.cudaMemoryTypeHost, types.cudaMemoryTypeDevice, types.cudaMemoryTypeUnregistered]
    f = good(rt.cudaLibraryGetKernel(kernels, b"bounded"))
    assert good(rt.cudaFuncGetAttributes(f)).maxThreadsPerBlock == 128
    s, e, g = good(rt.cudaStreamCreate()), good(rt.cudaEventCreate()), good(rt.cudaEventCreate())
    good(rt.cudaEventRecord(e, s))
    good(rt.cudaLaunchKernel(f, (2, 2), (32, 2), ((0,), (POINTER,)), 0, s))
    good(rt.cudaEventRecord(g, s))
    good(rt.cudaStreamSynchronize(s))
    assert float(good(rt.cudaEventElapsedTime(e, g))) > 0
    value = ctypes.c_int(0)
    good(rt.cudaLaunchHostFunc(s, lambda data: setattr(value, "value", data), 3))
    assert value.value == 3


def test_what_is_not_supported_says_so() -> None:
    assert rt.cudaGraphicsUnregisterResource(0) == (rt.cudaError_t.cudaErrorNotSupported,)


def test_rows_of_arrays_and_boxes_between_devices(host: Host) -> None:
    kind = rt.cudaMemcpyKind.cudaMemcpyDefault
    desc = rt.cudaCreateChannelDesc(32, 0, 0, 0, rt.cudaChannelFormatKind.cudaChannelFormatKindUnsigned)[1]
    one, two = (rt.cudaMallocArray(desc, 16, 2, 0)[1] for _ in range(2))
    data, out = np.arange(16, dtype=np.uint32), np.zeros(16, np.uint32)
    assert rt.cudaMemcpyToArrayAsync(one, 0, 1, data, 64, kind, 0)[0] == 0
    assert rt.cudaMemcpyArrayToArray(two, 0, 0, one, 32, 1, 32, kind)[0] == 0
    assert rt.cudaMemcpyFromArrayAsync(out, two, 0, 0, 64, kind, 0)[0] == 0
    assert out[:8].tolist() == [8, 9, 10, 11, 12, 13, 14, 15]  # nothing has written the rest
    extent = rt.make_cudaExtent(8, 2, 3)
    source, target = (rt.cudaMalloc3D(extent)[1] for _ in range(2))
    assert rt.cudaMemset3DAsync(source, 3, extent, 0)[0] == 0
    p = rt.cudaMemcpy3DPeerParms()
    p.srcPtr, p.dstPtr, p.extent = source, target, extent
    assert rt.cudaMemcpy3DPeer(p)[0] == 0
    found = np.zeros(8, np.uint8)
    assert rt.cudaMemcpy(found, target.ptr + target.pitch * 5, 8, kind)[0] == 0
    assert set(found.tolist()) == {3}


def test_attributes_of_streams_and_ranges(host: Host) -> None:
    stream, which = rt.cudaStreamCreateWithPriority(1, -2)[1], rt.cudaLaunchAttributeID.cudaLaunchAttributePriority
    value = rt.cudaStreamGetAttribute(stream, which)[1]
    assert (type(value).__name__, value.priority) == ("cudaLaunchAttributeValue", -2)
    value.priority = -1
    assert rt.cudaStreamSetAttribute(stream, which, value)[0] == 0
    assert rt.cudaStreamGetPriority(stream)[1] == -1
    managed, kinds = rt.cudaMallocManaged(64, 1)[1], rt.cudaMemRangeAttribute
    place = rt.cudaMemLocation()
    place.type, place.id = rt.cudaMemLocationType.cudaMemLocationTypeDevice, 0
    assert rt.cudaMemAdvise(managed, 64, rt.cudaMemoryAdvise.cudaMemAdviseSetReadMostly, place)[0] == 0
    asked = [kinds.cudaMemRangeAttributeReadMostly, kinds.cudaMemRangeAttributePreferredLocation]
    assert rt.cudaMemRangeGetAttributes([4, 4], asked, 2, managed, 64)[1] == [1, -2]


def test_an_execution_context_is_the_primary_one() -> None:
    _, c = rt.cudaDeviceGetExecutionCtx(0)
    assert int(rt.cudaDeviceGetExecutionCtx(0)[1]) == int(c)
    assert rt.cudaExecutionCtxGetDevice(c) == (rt.cudaError_t.cudaSuccess, 0)
    assert rt.cudaExecutionCtxGetId(c)[1] > 0
    code, stream = rt.cudaExecutionCtxStreamCreate(c, 0, 0)
    assert (code, rt.cudaStreamGetDevice(stream)[1]) == (rt.cudaError_t.cudaSuccess, 0)
    assert rt.cudaExecutionCtxSynchronize(c) == rt.cudaStreamDestroy(stream) == (rt.cudaError_t.cudaSuccess,)
