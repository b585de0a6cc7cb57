"""The runtime's copies: bytes with their direction, symbols, rectangles, boxes, to and from arrays."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from ..device.graphs.pending import Work
from ..device.memory.allocations import SPACE
from ..device.memory.boxes import Side, copy_box
from ..driver.api import integer
from ..driver.memory.arrays import array_of
from ..driver.memory.transfers import Twins, copy
from ..driver.tables.layout import address_of
from ..errors import ApiError, invalid
from .api import api, context
from .enums import cudaMemcpyKind
from .structs import cudaArray_t, cudaMemcpy3DParms, cudaMemcpy3DPeerParms, cudaPitchedPtr, cudaPos

COPIES = Twins(api, context, "stream", "MEMCPY")
Kind = cudaMemcpyKind
_SIDES: dict[cudaMemcpyKind, tuple[bool | None, bool | None]] = {  # (is the source the host's?, is the target?)
    Kind.cudaMemcpyHostToHost: (True, True), Kind.cudaMemcpyHostToDevice: (True, False), Kind.cudaMemcpyDeviceToHost: (False, True),
    Kind.cudaMemcpyDeviceToDevice: (False, False), Kind.cudaMemcpyDefault: (None, None),
}  # fmt: skip


def sides(kind: object) -> tuple[bool | None, bool | None]:
    try:
        return _SIDES[Kind(integer(kind))]
    except ValueError:
        raise ApiError("cudaErrorInvalidMemcpyDirection", f"{kind!r} is not a direction") from None


def direction(from_host: bool | None, to_host: bool | None) -> cudaMemcpyKind:
    """The direction between two sides."""
    return next(kind for kind, ends in _SIDES.items() if ends == (from_host, to_host))


def _box(kind: object, source: Side, target: Side, width: int, height: int, depth: int = 1) -> None:
    from_host, to_host = sides(kind)
    copy_box(replace(source, is_host=from_host), replace(target, is_host=to_host), int(width), int(height), int(depth))


def _run(kind: object, begin: Side, address: int, count: int, to: bool) -> None:
    """Copies bytes between memory and an array whose rows they fill: the rest of the first row, whole rows, and a part of the last."""
    assert begin.array is not None
    _, rows, width = begin.array.shape.rows
    if begin.x >= width or int(count) > (rows - begin.y) * width - begin.x:
        raise invalid(f"{count} bytes do not fit in the array")
    left, x, y = int(count), begin.x, begin.y
    while left:
        size = width if not x and left >= width else min(left, width - x)
        height = left // width if size == width else 1
        ends = Side(None, address, size), replace(begin, x=x, y=y)
        _box(kind, *(ends if to else ends[::-1]), size, height)
        left, x, y, address = left - size * height, 0, y + height, address + size * height


def _rows(kind: object, source: Side, target: Side, width: int, height: int) -> Work:
    """Copies rows, where they fit the pitches."""
    if any(side.array is None and side.pitch < int(width) for side in (source, target)):
        raise ApiError("cudaErrorInvalidPitchValue", f"rows of {width} bytes do not fit")
    return partial(_box, kind, source, target, width, height)


@COPIES.at_once
def cudaMemcpy(dst: object, src: object, count: int, kind: object) -> Work:
    """Copies bytes."""
    source, target = sides(kind)
    return partial(copy, address_of(dst), address_of(src), int(count), target, source)


@COPIES.at_once
def cudaMemcpyPeer(dst: object, dstDevice: int, src: object, srcDevice: int, count: int) -> Work:
    """From one device's memory to another's."""
    return partial(copy, address_of(dst), address_of(src), int(count), False, False)


cudaMemcpyAsync = COPIES.in_stream(cudaMemcpy)
cudaMemcpyPeerAsync = COPIES.in_stream(cudaMemcpyPeer)


@api
def cudaMemcpyToSymbol(symbol: object, src: object, count: int, offset: int, kind: object) -> None:
    """To a variable, which its address stands for (cudaLibraryGetGlobal)."""
    context().synchronize()
    copy_symbol(symbol, src, count, offset, kind, True)


@api
def cudaMemcpyFromSymbol(dst: object, symbol: object, count: int, offset: int, kind: object) -> None:
    """From a variable."""
    context().synchronize()
    copy_symbol(symbol, dst, count, offset, kind, False)


def copy_symbol(symbol: object, other: object, count: int, offset: int, kind: object, to: bool) -> None:
    source, target = sides(kind)
    at = address_of(symbol) + int(offset)
    if SPACE.find(address_of(symbol)) is None:
        raise ApiError("cudaErrorInvalidSymbol", "a symbol is the address of a variable")
    copy(*((at, address_of(other)) if to else (address_of(other), at)), int(count), target, source)


def _flat(address: object, pitch: int) -> Side:
    return Side(None, address_of(address), int(pitch))


def _array(array: object, x: int, y: int) -> Side:
    return Side(array_of(array), 0, x=int(x), y=int(y))


@COPIES.at_once
def cudaMemcpy2D(dst: object, dpitch: int, src: object, spitch: int, width: int, height: int, kind: object) -> Work:
    """Copies a rectangle."""
    return _rows(kind, _flat(src, spitch), _flat(dst, dpitch), width, height)


@COPIES.at_once
def cudaMemcpy2DToArray(dst: object, wOffset: int, hOffset: int, src: object, spitch: int, width: int, height: int, kind: object) -> Work:
    """A rectangle to an array."""
    return _rows(kind, _flat(src, spitch), _array(dst, wOffset, hOffset), width, height)


@COPIES.at_once
def cudaMemcpy2DFromArray(dst: object, dpitch: int, src: object, wOffset: int, hOffset: int, width: int, height: int, kind: object) -> Work:
    """A rectangle from an array."""
    return _rows(kind, _array(src, wOffset, hOffset), _flat(dst, dpitch), width, height)


@COPIES.at_once
def cudaMemcpy2DArrayToArray(
    dst: object, wOffsetDst: int, hOffsetDst: int, src: object, wOffsetSrc: int, hOffsetSrc: int, width: int, height: int, kind: object
) -> Work:
    """A rectangle from array to array."""
    return _rows(kind, _array(src, wOffsetSrc, hOffsetSrc), _array(dst, wOffsetDst, hOffsetDst), width, height)


@COPIES.at_once
def cudaMemcpyToArray(dst: object, wOffset: int, hOffset: int, src: object, count: int, kind: object) -> Work:
    """Bytes to an array, from a place on, row after row."""
    return partial(_run, kind, _array(dst, wOffset, hOffset), address_of(src), count, True)


@COPIES.at_once
def cudaMemcpyFromArray(dst: object, src: object, wOffset: int, hOffset: int, count: int, kind: object) -> Work:
    """Bytes from an array, from a place on, row after row."""
    return partial(_run, kind, _array(src, wOffset, hOffset), address_of(dst), count, False)


@COPIES.at_once
def cudaMemcpyArrayToArray(
    dst: object, wOffsetDst: int, hOffsetDst: int, src: object, wOffsetSrc: int, hOffsetSrc: int, count: int, kind: object
) -> Work:
    """A row from array to array."""
    return partial(_box, kind, _array(src, wOffsetSrc, hOffsetSrc), _array(dst, wOffsetDst, hOffsetDst), count, 1)


cudaMemcpy2DAsync = COPIES.in_stream(cudaMemcpy2D)
cudaMemcpy2DToArrayAsync = COPIES.in_stream(cudaMemcpy2DToArray)
cudaMemcpy2DFromArrayAsync = COPIES.in_stream(cudaMemcpy2DFromArray)
cudaMemcpyToArrayAsync = COPIES.in_stream(cudaMemcpyToArray)
cudaMemcpyFromArrayAsync = COPIES.in_stream(cudaMemcpyFromArray)


def box_work(p: cudaMemcpy3DParms | cudaMemcpy3DPeerParms | None) -> Work:
    """Copies a box, with the ends and the size that a structure has now."""
    if p is None:
        raise invalid("the copy is null")
    arrays = [array_of(a) for a in (p.srcArray, p.dstArray) if int(a)]
    texel = arrays[0].shape.texel.bytes if arrays else 1

    def side(array: cudaArray_t, at: cudaPos, memory: cudaPitchedPtr) -> Side:
        if int(array):
            return Side(array_of(array), 0, 0, 0, at.x * texel, at.y, at.z)
        if memory.pitch < (at.x + e.width) * texel:
            raise invalid(f"{e.width} elements from element {at.x} on, of {texel} bytes each, do not fit a pitch of {memory.pitch}")
        return Side(None, memory.ptr, memory.pitch, memory.ysize, at.x * texel, at.y, at.z)

    e = p.extent
    kind = getattr(p, "kind", cudaMemcpyKind.cudaMemcpyDefault)
    ends = side(p.srcArray, p.srcPos, p.srcPtr), side(p.dstArray, p.dstPos, p.dstPtr)
    return partial(_box, kind, *ends, e.width * texel, e.height, e.depth)


@COPIES.at_once
def cudaMemcpy3D(p: cudaMemcpy3DParms | None) -> Work:
    """Copies a box."""
    return box_work(p)


@COPIES.at_once
def cudaMemcpy3DPeer(p: cudaMemcpy3DPeerParms | None) -> Work:
    """Copies a box between devices."""
    return box_work(p)


cudaMemcpy3DAsync = COPIES.in_stream(cudaMemcpy3D)
cudaMemcpy3DPeerAsync = COPIES.in_stream(cudaMemcpy3DPeer)
