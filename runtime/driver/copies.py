"""The driver's calls about arrays, and its copies of boxes: 2D, 3D, between arrays and memory."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

from ..device.arrays import DeviceArray, Side, copy_box
from ..device.machine import SimulatedDevice, machine
from ..errors import invalid, unsupported
from .api import api, current, device_of, forget, handle_of, integer, object_of
from .enums import CUarray_format, CUmemorytype
from .graphs import queue
from .layout import address_of
from .structs import (
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_MEMCPY2D,
    CUDA_MEMCPY3D,
    CUDA_MEMCPY3D_PEER,
    CUarray,
)  # fmt: skip
from .transfers import now

_F = CUarray_format
_BYTES = {
    _F.CU_AD_FORMAT_UNSIGNED_INT8: 1, _F.CU_AD_FORMAT_UNSIGNED_INT16: 2, _F.CU_AD_FORMAT_UNSIGNED_INT32: 4, _F.CU_AD_FORMAT_SIGNED_INT8: 1,
    _F.CU_AD_FORMAT_SIGNED_INT16: 2, _F.CU_AD_FORMAT_SIGNED_INT32: 4, _F.CU_AD_FORMAT_HALF: 2, _F.CU_AD_FORMAT_FLOAT: 4,
}  # fmt: skip
LAYERED, SURFACE, CUBEMAP, GATHER = 1, 2, 4, 8


def new_array(width: int, height: int, depth: int, format: CUarray_format, channels: int, flags: int) -> CUarray:
    """A new array, zero at first."""
    c = current()
    c.check()
    if format not in _BYTES:
        raise unsupported(f"arrays of {format.name}")
    if channels not in (1, 2, 4) or width < 1:
        raise invalid(f"{channels} channels, width {width}")
    if flags & ~(LAYERED | SURFACE | CUBEMAP | GATHER):
        raise invalid(f"array flags {flags:#x}")
    check_extent(machine().device(c.ordinal), width, height, depth, flags)
    return CUarray(handle_of(DeviceArray(width, height, depth, int(format), channels, _BYTES[format], flags)))


def check_extent(d: SimulatedDevice, width: int, height: int, depth: int, flags: int) -> None:
    """Refuses an array that the device's attributes do not allow, or that is no shape of its kind."""
    if flags & CUBEMAP:
        layers = depth // 6
        if width != height or depth % 6 or not layers or (layers > 1 and not flags & LAYERED):
            raise invalid(f"{width} x {height} x {depth} is no cube map: six square faces a layer")
        kind, have = "TEXTURECUBEMAP", {"WIDTH": width}
    elif flags & LAYERED:
        kind, have = ("TEXTURE2D_LAYERED", {"WIDTH": width, "HEIGHT": height}) if height else ("TEXTURE1D_LAYERED", {"WIDTH": width})
        have["LAYERS"] = depth
    elif depth:
        if not height:
            raise invalid("an array with a depth has a height")
        wide = any(n > d.attribute(f"MAXIMUM_TEXTURE3D_{a}") for a, n in (("WIDTH", width), ("HEIGHT", height), ("DEPTH", depth)))
        other = "_ALTERNATE" if wide else ""
        kind, have = "TEXTURE3D", {f"WIDTH{other}": width, f"HEIGHT{other}": height, f"DEPTH{other}": depth}
    elif height:
        kind, have = "TEXTURE2D", {"WIDTH": width, "HEIGHT": height}
    else:
        kind, have = "TEXTURE1D", {"WIDTH": width}
    for axis, n in have.items():
        if n > d.attribute(f"MAXIMUM_{kind}_{axis}"):
            raise invalid(f"{n} is more than MAXIMUM_{kind}_{axis} of the device")


@api(1)
def cuArrayCreate(pAllocateArray: CUDA_ARRAY_DESCRIPTOR | None) -> CUarray:
    """An array of one or two dimensions."""
    d = pAllocateArray
    if d is None:
        raise invalid("the descriptor is null")
    return new_array(d.Width, d.Height, 0, d.Format, d.NumChannels, 0)


@api(1)
def cuArray3DCreate(pAllocateArray: CUDA_ARRAY3D_DESCRIPTOR | None) -> CUarray:
    """An array of up to three dimensions."""
    d = pAllocateArray
    if d is None:
        raise invalid("the descriptor is null")
    return new_array(d.Width, d.Height, d.Depth, d.Format, d.NumChannels, d.Flags)


@api()
def cuArrayDestroy(hArray: object) -> None:
    """Ends an array."""
    forget(object_of(hArray, DeviceArray))


@api(1)
def cuArrayGetDescriptor(hArray: object) -> CUDA_ARRAY_DESCRIPTOR:
    """What an array was made as."""
    a, d = object_of(hArray, DeviceArray), CUDA_ARRAY_DESCRIPTOR()
    d.Width, d.Height, d.Format, d.NumChannels = a.width, a.height, CUarray_format(a.format), a.channels
    return d


@api(1)
def cuArray3DGetDescriptor(hArray: object) -> CUDA_ARRAY3D_DESCRIPTOR:
    """What an array was made as."""
    a, d = object_of(hArray, DeviceArray), CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth, d.Format, d.NumChannels, d.Flags = a.width, a.height, a.depth, CUarray_format(a.format), a.channels, a.flags
    return d


@api(1)
def cuArrayGetMemoryRequirements(array: object, device: object) -> None:
    """The memory that an array takes whose memory is mapped later, which none here is."""
    device_of(device)
    object_of(array, DeviceArray)
    raise invalid("the array is not one whose memory is mapped later")


@api(1)
def cuArrayGetSparseProperties(array: object) -> None:
    """How a sparse array lies in memory, which none here is."""
    object_of(array, DeviceArray)
    raise invalid("the array is not sparse")


@api(1)
def cuArrayGetPlane(hArray: object, planeIdx: object) -> None:
    """A plane of a planar array, which none here is."""
    object_of(hArray, DeviceArray)
    raise invalid("the array has no planes")


# ---------------------------------------------------------------- boxes

Copy: TypeAlias = Any  # one of the CUDA_MEMCPY structures


def _side(c: Copy, which: str) -> Side:
    """One end of a copy: the fields that begin with src or dst."""

    def get(name: str, default: int = 0) -> int:
        return integer(getattr(c, which + name, default))

    try:
        kind = CUmemorytype(get("MemoryType"))
    except ValueError as e:
        raise invalid(str(e)) from None
    x, y, z = get("XInBytes"), get("Y"), get("Z")
    if kind == CUmemorytype.CU_MEMORYTYPE_ARRAY:
        return Side(object_of(getattr(c, which + "Array"), DeviceArray), 0, 0, 0, x, y, z)
    device, host = get("Device"), get("Host")
    address = host if kind == CUmemorytype.CU_MEMORYTYPE_HOST else device if kind == CUmemorytype.CU_MEMORYTYPE_DEVICE else device or host
    height = get("Height") or c.Height
    if not isinstance(c, CUDA_MEMCPY2D) and c.Depth > 1 and y + c.Height > height:
        raise invalid(f"{c.Height} rows from {y} on do not fit a height of {height}")
    return Side(None, address, get("Pitch") or c.WidthInBytes, height, x, y, z)


def _box(c: Copy | None) -> tuple[Side, Side, int, int, int]:
    """(source, target, width, height, depth) as a structure has them now."""
    if c is None:
        raise invalid("the copy is null")
    return _side(c, "src"), _side(c, "dst"), c.WidthInBytes, c.Height, 1 if isinstance(c, CUDA_MEMCPY2D) else c.Depth


@api()
def cuMemcpy2D(pCopy: CUDA_MEMCPY2D | None) -> None:
    """Copies a rectangle."""
    now(current())
    copy_box(*_box(pCopy))


@api()
def cuMemcpy2DUnaligned(pCopy: CUDA_MEMCPY2D | None) -> None:
    """Copies a rectangle of any pitch."""
    now(current())
    copy_box(*_box(pCopy))


@api()
def cuMemcpy2DAsync(pCopy: CUDA_MEMCPY2D | None, hStream: object) -> None:
    """Copies a rectangle, in a stream."""
    queue(hStream, "MEMCPY", partial(copy_box, *_box(pCopy)))


@api()
def cuMemcpy3D(pCopy: CUDA_MEMCPY3D | None) -> None:
    """Copies a box."""
    now(current())
    copy_box(*_box(pCopy))


@api()
def cuMemcpy3DAsync(pCopy: CUDA_MEMCPY3D | None, hStream: object) -> None:
    """Copies a box, in a stream."""
    queue(hStream, "MEMCPY", partial(copy_box, *_box(pCopy)))


@api()
def cuMemcpy3DPeer(pCopy: CUDA_MEMCPY3D_PEER | None) -> None:
    """Copies a box between devices."""
    now(current())
    copy_box(*_box(pCopy))


@api()
def cuMemcpy3DPeerAsync(pCopy: CUDA_MEMCPY3D_PEER | None, hStream: object) -> None:
    """Copies a box between devices, in a stream."""
    queue(hStream, "MEMCPY", partial(copy_box, *_box(pCopy)))


# ---------------------------------------------------------------- arrays and plain memory


def _array(handle: object, offset: object) -> Side:
    a = object_of(handle, DeviceArray)
    return Side(a, 0, x=integer(offset))


def _linear(source: Side, target: Side, size: object) -> None:
    copy_box(source, target, integer(size), 1, 1)


def _at(address: object) -> Side:
    return Side(None, address_of(address))


@api()
def cuMemcpyHtoA(dstArray: object, dstOffset: object, srcHost: object, ByteCount: object) -> None:
    """Host to array."""
    now(current())
    _linear(_at(srcHost), _array(dstArray, dstOffset), ByteCount)


@api()
def cuMemcpyHtoAAsync(dstArray: object, dstOffset: object, srcHost: object, ByteCount: object, hStream: object) -> None:
    """Host to array, in a stream."""
    queue(hStream, "MEMSET", lambda: _linear(_at(srcHost), _array(dstArray, dstOffset), ByteCount))


@api()
def cuMemcpyAtoH(dstHost: object, srcArray: object, srcOffset: object, ByteCount: object) -> None:
    """Array to host."""
    now(current())
    _linear(_array(srcArray, srcOffset), _at(dstHost), ByteCount)


@api()
def cuMemcpyAtoHAsync(dstHost: object, srcArray: object, srcOffset: object, ByteCount: object, hStream: object) -> None:
    """Array to host, in a stream."""
    queue(hStream, "MEMSET", lambda: _linear(_array(srcArray, srcOffset), _at(dstHost), ByteCount))


@api()
def cuMemcpyDtoA(dstArray: object, dstOffset: object, srcDevice: object, ByteCount: object) -> None:
    """Device to array."""
    now(current())
    _linear(_at(srcDevice), _array(dstArray, dstOffset), ByteCount)


@api()
def cuMemcpyAtoD(dstDevice: object, srcArray: object, srcOffset: object, ByteCount: object) -> None:
    """Array to device."""
    now(current())
    _linear(_array(srcArray, srcOffset), _at(dstDevice), ByteCount)


@api()
def cuMemcpyAtoA(dstArray: object, dstOffset: object, srcArray: object, srcOffset: object, ByteCount: object) -> None:
    """Array to array."""
    now(current())
    _linear(_array(srcArray, srcOffset), _array(dstArray, dstOffset), ByteCount)
