"""Driver API style: y = a * x + y, and a sum in shared memory, then an error on purpose.

python samples/host/saxpy_driver.py         on warplab
python samples/host/saxpy_driver.py --gpu   on a GPU, with cuda.bindings: nothing but the import changes
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

N, BLOCK = 100_000, 256


def check(result: tuple[Any, ...]) -> Any:
    """The results of a call, or its error as an exception."""
    code, *values = result
    if code != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(cu.cuGetErrorName(code)[1].decode())
    return values[0] if len(values) == 1 else tuple(values)


def main() -> None:
    """Runs both kernels, checks their results, and shows how the driver reports a fault."""
    check(cu.cuInit(0))
    device = check(cu.cuDeviceGet(0))
    context = check(cu.cuDevicePrimaryCtxRetain(device))
    check(cu.cuCtxSetCurrent(context))
    major = check(cu.cuDeviceGetAttribute(cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    print(f"{check(cu.cuDeviceGetName(64, device)).decode().rstrip(chr(0))}, compute capability {major}.x")

    text = (Path(__file__).parent / "saxpy.ptx").read_bytes() + b"\0"
    module = check(cu.cuModuleLoadData(text))
    saxpy, total = (check(cu.cuModuleGetFunction(module, name)) for name in (b"saxpy", b"total"))

    x, y, result = (np.arange(N) % 7).astype(np.float32), np.ones(N, np.float32), np.zeros(1, np.float32)
    stream = check(cu.cuStreamCreate(0))
    at = [check(cu.cuMemAlloc(a.nbytes)) for a in (x, y, result)]
    for address, array in zip(at, (x, y, result), strict=True):
        check(cu.cuMemcpyHtoDAsync(address, array.ctypes.data, array.nbytes, stream))

    grid = -(-N // BLOCK)
    arguments: tuple[Any, ...] = ((2.0, at[0], at[1], N), (ctypes.c_float, None, None, ctypes.c_uint))
    check(cu.cuLaunchKernel(saxpy, grid, 1, 1, BLOCK, 1, 1, 0, stream, arguments, 0))
    arguments = ((at[1], at[2], N), (None, None, ctypes.c_uint))
    check(cu.cuLaunchKernel(total, grid, 1, 1, BLOCK, 1, 1, 0, stream, arguments, 0))
    want = 2 * x + 1
    for address, array in zip(at[1:], (y, result), strict=True):
        check(cu.cuMemcpyDtoHAsync(array.ctypes.data, address, array.nbytes, stream))
    check(cu.cuStreamSynchronize(stream))
    assert (y == want).all()
    assert result[0] == want.sum(dtype=np.float64)
    print(f"y[:8] = {y[:8].tolist()}, sum {result[0]:.0f}, right")

    # A block that the kernel's own bound forbids is refused at the launch, a wrong address when the host waits.
    print("too big a block:", cu.cuLaunchKernel(total, 1, 1, 1, 512, 1, 1, 0, stream, arguments, 0)[0].name)
    arguments = ((2.0, 16, at[1], N), (ctypes.c_float, ctypes.c_void_p, None, ctypes.c_uint))
    print("a bad pointer, launch:", cu.cuLaunchKernel(saxpy, grid, 1, 1, BLOCK, 1, 1, 0, stream, arguments, 0)[0].name)
    print("a bad pointer, wait:", cu.cuStreamSynchronize(stream)[0].name)
    print("from then on:", cu.cuCtxSynchronize()[0].name)


if __name__ == "__main__":
    main()
