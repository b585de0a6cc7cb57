"""Dynamic shared memory sized from the device's properties: as much as a block may have at all, after asking for it.

python samples/host/shared_size.py         on warplab
python samples/host/shared_size.py --gpu   on a GPU, with cuda.bindings: nothing but the import changes
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

BLOCKS, BLOCK = 3, 512


def check(result: tuple[Any, ...]) -> Any:
    """The results of a call, or its error as an exception."""
    code, *values = result
    if code != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(cu.cuGetErrorName(code)[1].decode())
    return values[0] if len(values) == 1 else tuple(values)


def main() -> None:
    """Turns segments round that fill a block's shared memory."""
    check(cu.cuInit(0))
    device = check(cu.cuDeviceGet(0))
    check(cu.cuCtxSetCurrent(check(cu.cuDevicePrimaryCtxRetain(device))))
    a = cu.CUdevice_attribute
    usual = check(cu.cuDeviceGetAttribute(a.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, device))
    most = check(cu.cuDeviceGetAttribute(a.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, device))
    print(f"shared memory of a block: {usual} bytes, {most} for kernels that ask")

    module = check(cu.cuModuleLoadData((Path(__file__).parent / "shared_size.ptx").read_bytes() + b"\0"))
    turn = check(cu.cuModuleGetFunction(module, b"turn"))
    n = most // 4
    x = np.arange(BLOCKS * n, dtype=np.uint32).reshape(BLOCKS, n)
    at = check(cu.cuMemAlloc(x.nbytes))
    check(cu.cuMemcpyHtoD(at, x.ctypes.data, x.nbytes))
    arguments = ((at, n), (None, ctypes.c_uint))

    refused = cu.cuLaunchKernel(turn, BLOCKS, 1, 1, BLOCK, 1, 1, 4 * n, 0, arguments, 0)[0]
    print(f"{4 * n} bytes without asking: {refused.name}")
    check(cu.cuFuncSetAttribute(turn, cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 4 * n))
    check(cu.cuLaunchKernel(turn, BLOCKS, 1, 1, BLOCK, 1, 1, 4 * n, 0, arguments, 0))
    got = np.empty_like(x)
    check(cu.cuMemcpyDtoH(got.ctypes.data, at, got.nbytes))
    assert (got == x[:, ::-1]).all()

    # What a block takes, the others of its multiprocessor lack.
    for size in (4 * n, usual, 0):
        blocks = check(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(turn, BLOCK, size))
        print(f"{size:6} bytes: {blocks} blocks of {BLOCK} threads a multiprocessor")
    check(cu.cuMemFree(at))


if __name__ == "__main__":
    main()
