"""An all-reduce over all devices: memory of each is bound to one multicast object, through whose address kernels read and write all of it.

WARPLAB_DEVICES=sm_90,sm_90 python samples/host/all_reduce.py     on warplab, with two devices
python samples/host/all_reduce.py --gpu                           on GPUs that NVLink connects: nothing but the import changes
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

N, BLOCK = 1 << 16, 256
MULTICAST = cu.CUdevice_attribute.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED


def check(result: tuple[Any, ...]) -> Any:
    """The results of a call, or its error as an exception."""
    code, *values = result
    if code != cu.CUresult.CUDA_SUCCESS:
        raise RuntimeError(cu.cuGetErrorName(code)[1].decode())
    return values[0] if len(values) == 1 else tuple(values)


def memory_on(device: int) -> Any:
    """What physical memory of a device is made with."""
    p = cu.CUmemAllocationProp()
    p.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    p.location.type, p.location.id = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, device
    return p


def access_by(device: int) -> Any:
    """Reading and writing by a device."""
    d = cu.CUmemAccessDesc()
    d.location.type, d.location.id = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, device
    d.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return d


def mapped(handle: Any, size: int, devices: list[int]) -> int:
    """An address for all of some memory, or of a multicast object, which these devices reach."""
    address = check(cu.cuMemAddressReserve(size, 0, 0, 0))
    check(cu.cuMemMap(address, size, 0, handle, 0))
    check(cu.cuMemSetAccess(address, size, [access_by(d) for d in devices], len(devices)))
    return int(address)


def main() -> None:
    """Each device holds numbers of its own; in the end all hold the sums."""
    check(cu.cuInit(0))
    devices = [d for d in range(check(cu.cuDeviceGetCount())) if check(cu.cuDeviceGetAttribute(MULTICAST, d))]
    if not devices:
        print("no device here has multicast; WARPLAB_DEVICES=sm_90,sm_90 makes two that have")
        return
    p = cu.CUmulticastObjectProp()
    p.numDevices, p.size = len(devices), 4 * N
    step = check(cu.cuMulticastGetGranularity(p, cu.CUmulticastGranularity_flags.CU_MULTICAST_GRANULARITY_MINIMUM))
    size = p.size = -(-4 * N // step) * step
    shared = check(cu.cuMulticastCreate(p))
    contexts = [check(cu.cuDevicePrimaryCtxRetain(d)) for d in devices]
    for d in devices:
        check(cu.cuMulticastAddDevice(shared, d))
    parts = [check(cu.cuMemCreate(size, memory_on(d), 0)) for d in devices]
    for part in parts:
        check(cu.cuMulticastBindMem(shared, 0, part, 0, size, 0))
    own = [mapped(part, size, [d]) for d, part in zip(devices, parts, strict=True)]
    everywhere = mapped(shared, size, devices)

    numbers = [np.arange(N, dtype=np.float32) % 100 * (d + 1) for d in range(len(devices))]
    for context, address, mine in zip(contexts, own, numbers, strict=True):
        check(cu.cuCtxSetCurrent(context))
        check(cu.cuMemcpyHtoD(address, mine.ctypes.data, mine.nbytes))
    text = (Path(__file__).parent / "all_reduce.ptx").read_bytes() + b"\0"
    count = N // len(devices) // 4 * 4
    for i, context in enumerate(contexts):
        check(cu.cuCtxSetCurrent(context))
        kernel = check(cu.cuModuleGetFunction(check(cu.cuModuleLoadData(text)), b"all_reduce"))
        n = count if i < len(devices) - 1 else N - i * count
        arguments = ((everywhere, i * count, n), (ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint))
        check(cu.cuLaunchKernel(kernel, -(-n // 4 // BLOCK), 1, 1, BLOCK, 1, 1, 0, 0, arguments, 0))
    for context in contexts:
        check(cu.cuCtxSetCurrent(context))
        check(cu.cuCtxSynchronize())

    want, found = sum(numbers), np.zeros(N, np.float32)
    for context, address in zip(contexts, own, strict=True):
        check(cu.cuCtxSetCurrent(context))
        check(cu.cuMemcpyDtoH(found.ctypes.data, address, found.nbytes))
        assert (found == want).all()
    print(f"{N} sums over {len(devices)} devices, right in each")
    for address, handle in zip([*own, everywhere], [*parts, shared], strict=True):
        check(cu.cuMemUnmap(address, size))
        check(cu.cuMemAddressFree(address, size))
        check(cu.cuMemRelease(handle))


if __name__ == "__main__":
    main()
