"""The runtime's copies: bytes with their direction, symbols, rectangles, boxes, to and from arrays."""

from __future__ import annotations

from functools import partial

from ..device.arrays import DeviceArray, Side, copy_box
from ..device.memory import SPACE
from ..driver.api import integer, object_of
from ..driver.graphs import queue
from ..driver.layout import address_of
from ..driver.transfers import copy, now
from ..errors import ApiError, invalid
from .api import api, context
from .enums import cudaMemcpyKind
from .structs import cudaArray_t, cudaMemcpy3DParms, cudaMemcpy3DPeerParms, cudaPitchedPtr, cudaPos

Kind = cudaMemcpyKind
_SIDES: dict[cudaMemcpyKind, tuple[bool | None, bool | None]] = {  # (is the source the host's?, is the target?)
    Kind.cudaMemcpyHostToHost: (True, True), Kind.cudaMemcpyHostToDevice: (True, False), Kind.cudaMemcpyDeviceToHost: (False, True),
    Kind.cudaMemcpyDeviceToDevice: (False, False), Kind.cudaMemcpyDefault: (None, None),
}  # fmt: skip


def _kind(kind: object) -> tuple[bool | None, bool | None]:
    try:
        return _SIDES[Kind(integer(kind))]
    except ValueError:
        raise ApiError("cudaErrorInvalidMemcpyDirection", f"{kind!r} is no direction") from None


def _box(kind: object, source: Side, target: Side, width: int, height: int, depth: int = 1) -> None:
    _kind(kind)
    copy_box(source, target, int(width), int(height), int(depth))


@api()
def cudaMemcpy(dst: object, src: object, count: int, kind: object) -> None:
    """Copies bytes."""
    source, target = _kind(kind)
    now(context())
    copy(address_of(dst), address_of(src), int(count), target, source)


@api()
def cudaMemcpyAsync(dst: object, src: object, count: int, kind: object, stream: object) -> None:
    """Copies bytes, in a stream."""
    source, target = _kind(kind)
    context()
    queue(stream, "MEMCPY", lambda: copy(address_of(dst), address_of(src), int(count), target, source))


@api()
def cudaMemcpyPeer(dst: object, dstDevice: int, src: object, srcDevice: int, count: int) -> None:
    """From one device's memory to another's."""
    now(context())
    copy(address_of(dst), address_of(src), int(count), False, False)


@api()
def cudaMemcpyPeerAsync(dst: object, dstDevice: int, src: object, srcDevice: int, count: int, stream: object) -> None:
    """As cudaMemcpyPeer, in a stream."""
    context()
    queue(stream, "MEMCPY", lambda: copy(address_of(dst), address_of(src), int(count), False, False))


@api()
def cudaMemcpyToSymbol(symbol: object, src: object, count: int, offset: int, kind: object) -> None:
    """To a variable, which its address stands for (cudaLibraryGetGlobal)."""
    _symbol(symbol, src, count, offset, kind, True)


@api()
def cudaMemcpyFromSymbol(dst: object, symbol: object, count: int, offset: int, kind: object) -> None:
    """From a variable."""
    _symbol(symbol, dst, count, offset, kind, False)


def _symbol(symbol: object, other: object, count: int, offset: int, kind: object, to: bool) -> None:
    source, target = _kind(kind)
    now(context())
    at = address_of(symbol) + int(offset)
    if SPACE.find(address_of(symbol)) is None:
        raise ApiError("cudaErrorInvalidSymbol", "a symbol is the address of a variable")
    copy(*((at, address_of(other)) if to else (address_of(other), at)), int(count), target, source)


def _flat(address: object, pitch: int) -> Side:
    return Side(None, address_of(address), int(pitch))


def _array(array: object, x: int, y: int) -> Side:
    return Side(object_of(array, DeviceArray), 0, x=int(x), y=int(y))


def _pitches(width: int, *pitches: int) -> None:
    if any(int(p) < int(width) for p in pitches):
        raise ApiError("cudaErrorInvalidPitchValue", f"rows of {width} bytes do not fit")


@api()
def cudaMemcpy2D(dst: object, dpitch: int, src: object, spitch: int, width: int, height: int, kind: object) -> None:
    """Copies a rectangle."""
    now(context())
    _pitches(width, dpitch, spitch)
    _box(kind, _flat(src, spitch), _flat(dst, dpitch), width, height)


@api()
def cudaMemcpy2DAsync(dst: object, dpitch: int, src: object, spitch: int, width: int, height: int, kind: object, stream: object) -> None:
    """Copies a rectangle, in a stream."""
    context()
    _pitches(width, dpitch, spitch)
    queue(stream, "MEMCPY", lambda: _box(kind, _flat(src, spitch), _flat(dst, dpitch), width, height))


@api()
def cudaMemcpy2DToArray(dst: object, wOffset: int, hOffset: int, src: object, spitch: int, width: int, height: int, kind: object) -> None:
    """A rectangle to an array."""
    now(context())
    _pitches(width, spitch)
    _box(kind, _flat(src, spitch), _array(dst, wOffset, hOffset), width, height)


@api()
def cudaMemcpy2DToArrayAsync(
    dst: object, wOffset: int, hOffset: int, src: object, spitch: int, width: int, height: int, kind: object, stream: object
) -> None:
    """A rectangle to an array, in a stream."""
    context()
    _pitches(width, spitch)
    queue(stream, "MEMSET", lambda: _box(kind, _flat(src, spitch), _array(dst, wOffset, hOffset), width, height))


@api()
def cudaMemcpy2DFromArray(dst: object, dpitch: int, src: object, wOffset: int, hOffset: int, width: int, height: int, kind: object) -> None:
    """A rectangle from an array."""
    now(context())
    _pitches(width, dpitch)
    _box(kind, _array(src, wOffset, hOffset), _flat(dst, dpitch), width, height)


@api()
def cudaMemcpy2DFromArrayAsync(
    dst: object, dpitch: int, src: object, wOffset: int, hOffset: int, width: int, height: int, kind: object, stream: object
) -> None:
    """A rectangle from an array, in a stream."""
    context()
    _pitches(width, dpitch)
    queue(stream, "MEMSET", lambda: _box(kind, _array(src, wOffset, hOffset), _flat(dst, dpitch), width, height))


@api()
def cudaMemcpy2DArrayToArray(
    dst: object, wOffsetDst: int, hOffsetDst: int, src: object, wOffsetSrc: int, hOffsetSrc: int, width: int, height: int, kind: object
) -> None:
    """A rectangle from array to array."""
    now(context())
    _box(kind, _array(src, wOffsetSrc, hOffsetSrc), _array(dst, wOffsetDst, hOffsetDst), width, height)


@api()
def cudaMemcpyToArray(dst: object, wOffset: int, hOffset: int, src: object, count: int, kind: object) -> None:
    """A row to an array."""
    now(context())
    _box(kind, _flat(src, 0), _array(dst, wOffset, hOffset), count, 1)


@api()
def cudaMemcpyFromArray(dst: object, src: object, wOffset: int, hOffset: int, count: int, kind: object) -> None:
    """A row from an array."""
    now(context())
    _box(kind, _array(src, wOffset, hOffset), _flat(dst, 0), count, 1)


@api()
def cudaMemcpyToArrayAsync(dst: object, wOffset: int, hOffset: int, src: object, count: int, kind: object, stream: object) -> None:
    """A row to an array, in a stream."""
    context()
    queue(stream, "MEMCPY", lambda: _box(kind, _flat(src, 0), _array(dst, wOffset, hOffset), count, 1))


@api()
def cudaMemcpyFromArrayAsync(dst: object, src: object, wOffset: int, hOffset: int, count: int, kind: object, stream: object) -> None:
    """A row from an array, in a stream."""
    context()
    queue(stream, "MEMCPY", lambda: _box(kind, _array(src, wOffset, hOffset), _flat(dst, 0), count, 1))


@api()
def cudaMemcpyArrayToArray(
    dst: object, wOffsetDst: int, hOffsetDst: int, src: object, wOffsetSrc: int, hOffsetSrc: int, count: int, kind: object
) -> None:
    """A row from array to array."""
    now(context())
    _box(kind, _array(src, wOffsetSrc, hOffsetSrc), _array(dst, wOffsetDst, hOffsetDst), count, 1)


def _box_of(p: cudaMemcpy3DParms | cudaMemcpy3DPeerParms | None) -> tuple[object, Side, Side, int, int, int]:
    """(direction, source, target, width, height, depth) as a structure has them now."""
    if p is None:
        raise invalid("the copy is null")
    arrays = [object_of(a, DeviceArray) for a in (p.srcArray, p.dstArray) if int(a)]
    texel = arrays[0].texel if arrays else 1

    def side(array: cudaArray_t, at: cudaPos, memory: cudaPitchedPtr) -> Side:
        if int(array):
            return Side(object_of(array, DeviceArray), 0, 0, 0, at.x * texel, at.y, at.z)
        return Side(None, memory.ptr, memory.pitch, memory.ysize, at.x * texel, at.y, at.z)

    e = p.extent
    kind = getattr(p, "kind", cudaMemcpyKind.cudaMemcpyDefault)
    return kind, side(p.srcArray, p.srcPos, p.srcPtr), side(p.dstArray, p.dstPos, p.dstPtr), e.width * texel, e.height, e.depth


@api()
def cudaMemcpy3D(p: cudaMemcpy3DParms | None) -> None:
    """Copies a box."""
    now(context())
    _box(*_box_of(p))


@api()
def cudaMemcpy3DAsync(p: cudaMemcpy3DParms | None, stream: object) -> None:
    """Copies a box, in a stream."""
    context()
    queue(stream, "MEMCPY", partial(_box, *_box_of(p)))


@api()
def cudaMemcpy3DPeer(p: cudaMemcpy3DPeerParms | None) -> None:
    """Copies a box between devices."""
    now(context())
    _box(*_box_of(p))


@api()
def cudaMemcpy3DPeerAsync(p: cudaMemcpy3DPeerParms | None, stream: object) -> None:
    """Copies a box between devices, in a stream."""
    context()
    queue(stream, "MEMCPY", partial(_box, *_box_of(p)))
