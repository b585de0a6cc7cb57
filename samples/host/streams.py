"""Streams and events: two streams copy and compute in turn, a third waits for both with events, and events measure time.

python samples/host/streams.py         on warplab
python samples/host/streams.py --gpu   on a GPU, with cuda.bindings: nothing but the import changes
"""

import ctypes
import sys
from pathlib import Path
from typing import Any

import numpy as np

if "--gpu" in sys.argv:
    from cuda.bindings import driver as cu
else:
    from warplab.runtime import driver as cu

N, PARTS, BLOCK = 1 << 16, 4, 256


def check(result: tuple[Any, ...]) -> Any:
    """The results of a call, or its error as an exception."""
    code, *values = result
    if code != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(cu.cuGetErrorName(code)[1].decode())
    return values[0] if len(values) == 1 else tuple(values)


def pinned(count: int) -> tuple[Any, Any]:
    """Numbers in host memory that the device can copy from while the host does something else, and their address."""
    address = int(check(cu.cuMemHostAlloc(4 * count, 0)))
    return address, np.ctypeslib.as_array(ctypes.cast(address, ctypes.POINTER(ctypes.c_float)), (count,))


def main() -> None:
    """y = 2 * x + y in parts on two streams, then the sum of y on a third."""
    check(cu.cuInit(0))
    device = check(cu.cuDeviceGet(0))
    check(cu.cuCtxSetCurrent(check(cu.cuDevicePrimaryCtxRetain(device))))
    module = check(cu.cuModuleLoadData((Path(__file__).parent / "saxpy.ptx").read_bytes() + b"\0"))
    saxpy, total = (check(cu.cuModuleGetFunction(module, name)) for name in (b"saxpy", b"total"))

    # A stream that doesn't wait for the default stream: copies and kernels of different streams may overlap.
    streams = [check(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING)) for _ in range(2)]
    last = check(cu.cuStreamCreate(cu.CUstream_flags.CU_STREAM_NON_BLOCKING))
    begin, end = (check(cu.cuEventCreate(cu.CUevent_flags.CU_EVENT_DEFAULT)) for _ in range(2))
    done = [check(cu.cuEventCreate(cu.CUevent_flags.CU_EVENT_DISABLE_TIMING)) for _ in streams]

    (at_x, x), (at_y, y), (at_sum, result) = pinned(N), pinned(N), pinned(1)
    x[:], y[:], result[:] = np.arange(N) % 5, 1, 0
    want = 2 * x + y
    on_x, on_y, on_sum = (int(check(cu.cuMemAlloc(size))) for size in (4 * N, 4 * N, 4))

    check(cu.cuEventRecord(begin, last))
    for s in streams:  # nothing starts before the clock does
        check(cu.cuStreamWaitEvent(s, begin, 0))
    check(cu.cuMemsetD32Async(on_sum, 0, 1, last))
    count = N // PARTS
    for part in range(PARTS):
        stream, offset = streams[part % 2], 4 * count * part
        check(cu.cuMemcpyHtoDAsync(on_x + offset, at_x + offset, 4 * count, stream))
        check(cu.cuMemcpyHtoDAsync(on_y + offset, at_y + offset, 4 * count, stream))
        types = (ctypes.c_float, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint)
        arguments: tuple[Any, ...] = ((2.0, on_x + offset, on_y + offset, count), types)
        check(cu.cuLaunchKernel(saxpy, count // BLOCK, 1, 1, BLOCK, 1, 1, 0, stream, arguments, 0))
        check(cu.cuMemcpyDtoHAsync(at_y + offset, on_y + offset, 4 * count, stream))
    for event, s in zip(done, streams, strict=True):  # the sum needs all parts
        check(cu.cuEventRecord(event, s))
        check(cu.cuStreamWaitEvent(last, event, 0))
    arguments = ((on_y, on_sum, N), (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint))
    check(cu.cuLaunchKernel(total, N // BLOCK, 1, 1, BLOCK, 1, 1, 0, last, arguments, 0))
    check(cu.cuMemcpyDtoHAsync(at_sum, on_sum, 4, last))
    check(cu.cuEventRecord(end, last))

    check(cu.cuEventSynchronize(end))
    assert cu.cuEventQuery(end)[0] == cu.CUresult.CUDA_SUCCESS
    assert (y == want).all()
    assert result[0] == want.sum(dtype=np.float64), (result[0], want.sum(dtype=np.float64))
    assert check(cu.cuEventElapsedTime(begin, end)) >= 0
    # An event made without a clock marks a place, and has no time.
    untimed = cu.cuEventElapsedTime(begin, done[0])[0].name
    print(f"{PARTS} parts on {len(streams)} streams: sum {result[0]:.0f}, right; time of an event without a clock: {untimed}")

    for event in (begin, end, *done):
        check(cu.cuEventDestroy(event))
    for s in (*streams, last):
        check(cu.cuStreamDestroy(s))
    for address in (on_x, on_y, on_sum):
        check(cu.cuMemFree(address))
    del x, y, result
    for address in (at_x, at_y, at_sum):
        check(cu.cuMemFreeHost(address))


if __name__ == "__main__":
    main()
