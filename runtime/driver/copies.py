"""The driver's calls about arrays, and its copies of boxes: 2D, 3D, between arrays and memory."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

from ..device.arrays import DeviceArray, Side, copy_box
from ..device.machine import SimulatedDevice, machine
from ..errors import invalid, unsupported
from .api import api, current, device_of, forget, handle_of, integer, object_of
from .enums import CUarray_format, CUmemorytype
from .layout import address_of
from .structs import (
    CUDA_ARRAY3D_DESCRIPTOR,
    CUDA_ARRAY_DESCRIPTOR,
    CUDA_MEMCPY2D,
    CUDA_MEMCPY3D,
    CUDA_MEMCPY3D_PEER,
    CUarray,
)  # fmt: skip
from .transfers import COPIES, Work

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


def _box(c: Copy | None) -> Work:
    """Copies a box, with the ends and the size that a structure has now."""
    if c is None:
        raise invalid("the copy is null")
    depth = 1 if isinstance(c, CUDA_MEMCPY2D) else c.Depth
    return partial(copy_box, _side(c, "src"), _side(c, "dst"), c.WidthInBytes, c.Height, depth)


@COPIES.at_once
def cuMemcpy2D(pCopy: CUDA_MEMCPY2D | None) -> Work:
    """Copies a rectangle."""
    return _box(pCopy)


@COPIES.at_once
def cuMemcpy3D(pCopy: CUDA_MEMCPY3D | None) -> Work:
    """Copies a box."""
    return _box(pCopy)


@COPIES.at_once
def cuMemcpy3DPeer(pCopy: CUDA_MEMCPY3D_PEER | None) -> Work:
    """Copies a box between devices."""
    return _box(pCopy)


cuMemcpy2DUnaligned = cuMemcpy2D
cuMemcpy2DAsync = COPIES.in_stream(cuMemcpy2D)
cuMemcpy3DAsync = COPIES.in_stream(cuMemcpy3D)
cuMemcpy3DPeerAsync = COPIES.in_stream(cuMemcpy3DPeer)


# ---------------------------------------------------------------- arrays and plain memory


def _array(handle: object, offset: object) -> Side:
    return Side(object_of(handle, DeviceArray), 0, x=integer(offset))


def _linear(source: Side, target: Side, size: object) -> Work:
    return partial(copy_box, source, target, integer(size), 1, 1)


def _at(address: object) -> Side:
    return Side(None, address_of(address))


@COPIES.at_once
def cuMemcpyHtoA(dstArray: object, dstOffset: object, srcHost: object, ByteCount: object) -> Work:
    """Host to array."""
    return _linear(_at(srcHost), _array(dstArray, dstOffset), ByteCount)


@COPIES.at_once
def cuMemcpyAtoH(dstHost: object, srcArray: object, srcOffset: object, ByteCount: object) -> Work:
    """Array to host."""
    return _linear(_array(srcArray, srcOffset), _at(dstHost), ByteCount)


@COPIES.at_once
def cuMemcpyDtoA(dstArray: object, dstOffset: object, srcDevice: object, ByteCount: object) -> Work:
    """Device to array."""
    return _linear(_at(srcDevice), _array(dstArray, dstOffset), ByteCount)


@COPIES.at_once
def cuMemcpyAtoD(dstDevice: object, srcArray: object, srcOffset: object, ByteCount: object) -> Work:
    """Array to device."""
    return _linear(_array(srcArray, srcOffset), _at(dstDevice), ByteCount)


@COPIES.at_once
def cuMemcpyAtoA(dstArray: object, dstOffset: object, srcArray: object, srcOffset: object, ByteCount: object) -> Work:
    """Array to array."""
    return _linear(_array(srcArray, srcOffset), _array(dstArray, dstOffset), ByteCount)


cuMemcpyHtoAAsync = COPIES.in_stream(cuMemcpyHtoA)
cuMemcpyAtoHAsync = COPIES.in_stream(cuMemcpyAtoH)
