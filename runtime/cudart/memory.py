"""The runtime's calls about linear memory: allocation, memset, pools, pointer attributes."""

from __future__ import annotations

import ctypes
from functools import partial

from .. import driver
from ..device.graphs.pending import Work
from ..device.memory.allocations import PITCH, SPACE
from ..driver.api import integer
from ..driver.memory.transfers import Twins, fill
from ..driver.tables.layout import address_of
from ..errors import invalid
from .api import api, call, context
from .enums import cudaMemoryType
from .structs import cudaExtent, cudaMemPool_t, cudaMemPoolProps, cudaPitchedPtr, cudaPointerAttributes

SETS = Twins(api, context, "stream", "MEMSET")
_MEMORY_TYPES = {
    "managed": cudaMemoryType.cudaMemoryTypeManaged, "host": cudaMemoryType.cudaMemoryTypeHost,
    "registered": cudaMemoryType.cudaMemoryTypeHost,
}  # fmt: skip


@api
def cudaMalloc(size: int) -> int:
    """Device memory; null for no bytes."""
    return int(call(driver.cuMemAlloc, size)) if int(size) else 0


@api
def cudaMallocPitch(width: int, height: int) -> tuple[int, int]:
    """(address, pitch) of rows; nothing where there are none."""
    if not int(width) or not int(height):
        return 0, 0
    at, pitch = call(driver.cuMemAllocPitch, width, height, 4)
    return int(at), int(pitch)


@api
def cudaMalloc3D(extent: cudaExtent) -> cudaPitchedPtr:
    """Memory for a box, with a pitch."""
    pitch = -(-extent.width // PITCH) * PITCH
    out = cudaPitchedPtr()
    out.ptr = int(call(driver.cuMemAlloc, pitch * extent.height * extent.depth))
    out.pitch, out.xsize, out.ysize = pitch, extent.width, extent.height
    return out


@api
def cudaFree(devPtr: object) -> None:
    """Gives device memory back; null only makes the context."""
    if integer(devPtr):
        call(driver.cuMemFree, devPtr)
    else:
        context().check()


@api
def cudaMallocManaged(size: int, flags: int) -> int:
    """Memory that host and devices use under one address."""
    if not int(size):
        context().check()
        return 0
    return int(call(driver.cuMemAllocManaged, size, flags))


@api
def cudaPointerGetAttributes(ptr: object) -> cudaPointerAttributes:
    """What is known of an address; unregistered memory is not an error."""
    context()
    out, address = cudaPointerAttributes(), address_of(ptr)
    b, found = SPACE.buffer_at(address), SPACE.find(address)
    out.device = -2
    if found is None:
        out.type = cudaMemoryType.cudaMemoryTypeUnregistered
        out.hostPointer = address
        return out
    out.device = b.owner.ordinal if b else context().ordinal
    out.devicePointer = address
    on_device = SPACE.is_device_memory(found[0])
    kind = b.kind if b else "device" if on_device else "managed"  # a variable in host memory is a managed one
    out.type = _MEMORY_TYPES.get(kind, cudaMemoryType.cudaMemoryTypeDevice)
    if not on_device:
        out.hostPointer = address
    return out


@SETS.at_once
def cudaMemset(devPtr: object, value: int, count: int) -> Work:
    """Sets bytes."""
    return partial(fill, address_of(devPtr), 0, int(value), 1, int(count), 1)


@SETS.at_once
def cudaMemset2D(devPtr: object, pitch: int, value: int, width: int, height: int) -> Work:
    """Sets rows of bytes."""
    return partial(fill, address_of(devPtr), int(pitch), int(value), 1, int(width), int(height))


@SETS.at_once
def cudaMemset3D(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent) -> Work:
    """Sets a box of bytes."""
    return lambda: _fill_box(pitchedDevPtr, value, extent)


cudaMemsetAsync = SETS.in_stream(cudaMemset)
cudaMemset2DAsync = SETS.in_stream(cudaMemset2D)
cudaMemset3DAsync = SETS.in_stream(cudaMemset3D)


def _fill_box(p: cudaPitchedPtr, value: int, extent: cudaExtent) -> None:
    for z in range(extent.depth):
        fill(p.ptr + z * p.pitch * p.ysize, p.pitch, value, 1, extent.width, extent.height)


@api
def cudaMemPoolCreate(poolProps: cudaMemPoolProps | None) -> cudaMemPool_t:
    """A new pool."""
    if poolProps is None:
        raise invalid("the properties are null")
    props = driver.CUmemPoolProps()
    ctypes.memmove(props.getPtr(), poolProps.getPtr(), min(ctypes.sizeof(props.c_type), ctypes.sizeof(poolProps.c_type)))
    return cudaMemPool_t(call(driver.cuMemPoolCreate, props))
