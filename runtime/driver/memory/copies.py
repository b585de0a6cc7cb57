"""The driver's copies of boxes: 2D, 3D, between arrays and memory."""

from __future__ import annotations

from functools import partial
from typing import Any, TypeAlias

from ...device.graphs.pending import Work
from ...device.memory.boxes import Side, copy_box
from ...errors import invalid
from ..api import integer
from ..tables.enums import CUmemorytype
from ..tables.layout import address_of
from ..tables.structs import CUDA_MEMCPY2D, CUDA_MEMCPY3D, CUDA_MEMCPY3D_PEER
from .arrays import array_of
from .transfers import COPIES

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
        return Side(array_of(getattr(c, which + "Array")), 0, 0, 0, x, y, z)
    device, host = get("Device"), get("Host")
    is_host = {CUmemorytype.CU_MEMORYTYPE_HOST: True, CUmemorytype.CU_MEMORYTYPE_DEVICE: False}.get(kind)
    address = (device or host) if is_host is None else host if is_host else device
    height = get("Height") or c.Height
    if not isinstance(c, CUDA_MEMCPY2D) and c.Depth > 1 and y + c.Height > height:
        raise invalid(f"{c.Height} rows from {y} on do not fit a height of {height}")
    return Side(None, address, get("Pitch") or c.WidthInBytes, height, x, y, z, is_host)


def box_work(c: Copy | None) -> Work:
    """Copies a box, with the ends and the size that a structure has now."""
    if c is None:
        raise invalid("the copy is null")
    depth = 1 if isinstance(c, CUDA_MEMCPY2D) else c.Depth
    return partial(copy_box, _side(c, "src"), _side(c, "dst"), c.WidthInBytes, c.Height, depth)


@COPIES.at_once
def cuMemcpy2D(pCopy: CUDA_MEMCPY2D | None) -> Work:
    """Copies a rectangle."""
    return box_work(pCopy)


@COPIES.at_once
def cuMemcpy3D(pCopy: CUDA_MEMCPY3D | None) -> Work:
    """Copies a box."""
    return box_work(pCopy)


@COPIES.at_once
def cuMemcpy3DPeer(pCopy: CUDA_MEMCPY3D_PEER | None) -> Work:
    """Copies a box between devices."""
    return box_work(pCopy)


cuMemcpy2DUnaligned = cuMemcpy2D
cuMemcpy2DAsync = COPIES.in_stream(cuMemcpy2D)
cuMemcpy3DAsync = COPIES.in_stream(cuMemcpy3D)
cuMemcpy3DPeerAsync = COPIES.in_stream(cuMemcpy3DPeer)


# ---------------------------------------------------------------- arrays and plain memory


def _array(handle: object, offset: object) -> Side:
    return Side(array_of(handle), 0, x=integer(offset))


def _linear(source: Side, target: Side, size: object) -> Work:
    return partial(copy_box, source, target, integer(size), 1, 1)


def _host(address: object) -> Side:
    return Side(None, address_of(address), is_host=True)


def _device(address: object) -> Side:
    return Side(None, address_of(address), is_host=False)


@COPIES.at_once
def cuMemcpyHtoA(dstArray: object, dstOffset: object, srcHost: object, ByteCount: object) -> Work:
    """Host to array."""
    return _linear(_host(srcHost), _array(dstArray, dstOffset), ByteCount)


@COPIES.at_once
def cuMemcpyAtoH(dstHost: object, srcArray: object, srcOffset: object, ByteCount: object) -> Work:
    """Array to host."""
    return _linear(_array(srcArray, srcOffset), _host(dstHost), ByteCount)


@COPIES.at_once
def cuMemcpyDtoA(dstArray: object, dstOffset: object, srcDevice: object, ByteCount: object) -> Work:
    """Device to array."""
    return _linear(_device(srcDevice), _array(dstArray, dstOffset), ByteCount)


@COPIES.at_once
def cuMemcpyAtoD(dstDevice: object, srcArray: object, srcOffset: object, ByteCount: object) -> Work:
    """Array to device."""
    return _linear(_array(srcArray, srcOffset), _device(dstDevice), ByteCount)


@COPIES.at_once
def cuMemcpyAtoA(dstArray: object, dstOffset: object, srcArray: object, srcOffset: object, ByteCount: object) -> Work:
    """Array to array."""
    return _linear(_array(srcArray, srcOffset), _array(dstArray, dstOffset), ByteCount)


cuMemcpyHtoAAsync = COPIES.in_stream(cuMemcpyHtoA)
cuMemcpyAtoHAsync = COPIES.in_stream(cuMemcpyAtoH)
