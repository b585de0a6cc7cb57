"""The runtime's calls about memory: allocation, copies with their direction, symbols, pools, pointer attributes; and the launch."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from .. import driver
from ..arrays import DeviceArray, Side, copy_box
from ..driver.api import integer, object_of
from ..driver.copies import LAYERED
from ..driver.layout import address_of
from ..driver.memory import copy, fill, later, now
from ..errors import ApiError, invalid
from ..memory import PITCH, SPACE
from .api import api, call, context
from .enums import cudaChannelFormatKind, cudaMemcpyKind, cudaMemoryType
from .structs import (
    cudaArray_t,
    cudaChannelFormatDesc,
    cudaExtent,
    cudaMemAccessDesc,
    cudaMemcpy3DParms,
    cudaMemLocation,
    cudaMemPool_t,
    cudaMemPoolProps,
    cudaPitchedPtr,
    cudaPointerAttributes,
    cudaPos,
    dim3,
)  # fmt: skip

Kind = cudaMemcpyKind
_SIDES: dict[Kind, tuple[bool | None, bool | None]] = {  # (is the source the host's?, is the target?)
    Kind.cudaMemcpyHostToHost: (True, True), Kind.cudaMemcpyHostToDevice: (True, False), Kind.cudaMemcpyDeviceToHost: (False, True),
    Kind.cudaMemcpyDeviceToDevice: (False, False), Kind.cudaMemcpyDefault: (None, None),
}  # fmt: skip
Formats = driver.CUarray_format
_MEMORY_TYPES = {
    "managed": cudaMemoryType.cudaMemoryTypeManaged, "host": cudaMemoryType.cudaMemoryTypeHost,
    "registered": cudaMemoryType.cudaMemoryTypeHost,
}  # fmt: skip


# ---------------------------------------------------------------- allocation


@api(1)
def cudaMalloc(size: int) -> int:
    """Device memory; null for no bytes."""
    return int(call(driver.cuMemAlloc, size)) if int(size) else 0


@api(2)
def cudaMallocPitch(width: int, height: int) -> tuple[int, int]:
    """(address, pitch) of rows."""
    at, pitch = call(driver.cuMemAllocPitch, width, height, 4)
    return int(at), int(pitch)


@api(1)
def cudaMalloc3D(extent: cudaExtent) -> cudaPitchedPtr:
    """Memory for a box, with a pitch."""
    pitch = -(-extent.width // PITCH) * PITCH
    out = cudaPitchedPtr()
    out.ptr = int(call(driver.cuMemAlloc, pitch * extent.height * extent.depth))
    out.pitch, out.xsize, out.ysize = pitch, extent.width, extent.height
    return out


@api()
def cudaFree(devPtr: object) -> None:
    """Gives device memory back; null only makes the context."""
    if integer(devPtr):
        call(driver.cuMemFree, devPtr)
    else:
        context().check()


@api(1)
def cudaMallocHost(size: int) -> int:
    """Pinned host memory."""
    return int(call(driver.cuMemAllocHost, size))


@api(1)
def cudaHostAlloc(size: int, flags: int) -> int:
    """Pinned host memory."""
    return int(call(driver.cuMemHostAlloc, size, flags))


@api()
def cudaFreeHost(ptr: object) -> None:
    """Gives pinned host memory back."""
    call(driver.cuMemFreeHost, ptr)


@api(1)
def cudaMallocManaged(size: int, flags: int) -> int:
    """Memory that host and devices use under one address."""
    return int(call(driver.cuMemAllocManaged, size, flags))


@api()
def cudaHostRegister(ptr: object, size: int, flags: int) -> None:
    """Lets devices see host memory that the program has already."""
    call(driver.cuMemHostRegister, ptr, size, flags)


@api()
def cudaHostUnregister(ptr: object) -> None:
    """Ends what cudaHostRegister began."""
    call(driver.cuMemHostUnregister, ptr)


@api(1)
def cudaHostGetDevicePointer(pHost: object, flags: int) -> int:
    """The device's address of pinned memory."""
    return int(call(driver.cuMemHostGetDevicePointer, pHost, flags))


@api(1)
def cudaHostGetFlags(pHost: object) -> int:
    """The flags of pinned memory."""
    return int(call(driver.cuMemHostGetFlags, pHost))


@api(2)
def cudaMemGetInfo() -> tuple[int, int]:
    """(free, all) bytes of device memory."""
    free, total = call(driver.cuMemGetInfo)
    return int(free), int(total)


@api(1)
def cudaPointerGetAttributes(ptr: object) -> cudaPointerAttributes:
    """What is known of an address; unregistered memory is no error."""
    context()
    out, address = cudaPointerAttributes(), address_of(ptr)
    b, found = SPACE.buffer_at(address), SPACE.find(address)
    out.device = -2
    if found is None:
        out.type = cudaMemoryType.cudaMemoryTypeUnregistered
        out.hostPointer = address
        return out
    out.device = b.context.ordinal if b else context().ordinal
    out.devicePointer = address
    kind = b.kind if b else "device"
    out.type = _MEMORY_TYPES.get(kind, cudaMemoryType.cudaMemoryTypeDevice)
    if found[0] not in SPACE.devices:
        out.hostPointer = address
    return out


# ---------------------------------------------------------------- copies


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
    if not later(stream):
        copy(address_of(dst), address_of(src), int(count), target, source)


@api()
def cudaMemcpyPeer(dst: object, dstDevice: int, src: object, srcDevice: int, count: int) -> None:
    """From one device's memory to another's."""
    now(context())
    copy(address_of(dst), address_of(src), int(count), False, False)


@api()
def cudaMemcpyPeerAsync(dst: object, dstDevice: int, src: object, srcDevice: int, count: int, stream: object) -> None:
    """As cudaMemcpyPeer, in a stream."""
    context()
    if not later(stream):
        copy(address_of(dst), address_of(src), int(count), False, False)


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
    if not later(stream):
        _box(kind, _flat(src, spitch), _flat(dst, dpitch), width, height)


@api()
def cudaMemcpy2DToArray(dst: object, wOffset: int, hOffset: int, src: object, spitch: int, width: int, height: int, kind: object) -> None:
    """A rectangle to an array."""
    now(context())
    _box(kind, _flat(src, spitch), _array(dst, wOffset, hOffset), width, height)


@api()
def cudaMemcpy2DToArrayAsync(
    dst: object, wOffset: int, hOffset: int, src: object, spitch: int, width: int, height: int, kind: object, stream: object
) -> None:
    """A rectangle to an array, in a stream."""
    context()
    if not later(stream):
        _box(kind, _flat(src, spitch), _array(dst, wOffset, hOffset), width, height)


@api()
def cudaMemcpy2DFromArray(dst: object, dpitch: int, src: object, wOffset: int, hOffset: int, width: int, height: int, kind: object) -> None:
    """A rectangle from an array."""
    now(context())
    _box(kind, _array(src, wOffset, hOffset), _flat(dst, dpitch), width, height)


@api()
def cudaMemcpy2DFromArrayAsync(
    dst: object, dpitch: int, src: object, wOffset: int, hOffset: int, width: int, height: int, kind: object, stream: object
) -> None:
    """A rectangle from an array, in a stream."""
    context()
    if not later(stream):
        _box(kind, _array(src, wOffset, hOffset), _flat(dst, dpitch), width, height)


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


def _copy_3d(p: cudaMemcpy3DParms | None) -> None:
    if p is None:
        raise invalid("the copy is null")
    arrays = [object_of(a, DeviceArray) for a in (p.srcArray, p.dstArray) if int(a)]
    texel = arrays[0].texel if arrays else 1

    def side(array: cudaArray_t, at: cudaPos, memory: cudaPitchedPtr) -> Side:
        if int(array):
            return Side(object_of(array, DeviceArray), 0, 0, 0, at.x * texel, at.y, at.z)
        return Side(None, memory.ptr, memory.pitch, memory.ysize, at.x * texel, at.y, at.z)

    e = p.extent
    _box(p.kind, side(p.srcArray, p.srcPos, p.srcPtr), side(p.dstArray, p.dstPos, p.dstPtr), e.width * texel, e.height, e.depth)


@api()
def cudaMemcpy3D(p: cudaMemcpy3DParms | None) -> None:
    """Copies a box."""
    now(context())
    _copy_3d(p)


@api()
def cudaMemcpy3DAsync(p: cudaMemcpy3DParms | None, stream: object) -> None:
    """Copies a box, in a stream."""
    context()
    if not later(stream):
        _copy_3d(p)


# ---------------------------------------------------------------- memset


@api()
def cudaMemset(devPtr: object, value: int, count: int) -> None:
    """Sets bytes."""
    context().check()
    fill(address_of(devPtr), 0, value, 1, int(count), 1)


@api()
def cudaMemsetAsync(devPtr: object, value: int, count: int, stream: object) -> None:
    """Sets bytes, in a stream."""
    context()
    if not later(stream):
        fill(address_of(devPtr), 0, value, 1, int(count), 1)


@api()
def cudaMemset2D(devPtr: object, pitch: int, value: int, width: int, height: int) -> None:
    """Sets rows of bytes."""
    context().check()
    fill(address_of(devPtr), int(pitch), value, 1, int(width), int(height))


@api()
def cudaMemset2DAsync(devPtr: object, pitch: int, value: int, width: int, height: int, stream: object) -> None:
    """Sets rows of bytes, in a stream."""
    context()
    if not later(stream):
        fill(address_of(devPtr), int(pitch), value, 1, int(width), int(height))


@api()
def cudaMemset3D(pitchedDevPtr: cudaPitchedPtr, value: int, extent: cudaExtent) -> None:
    """Sets a box of bytes."""
    context().check()
    p = pitchedDevPtr
    for z in range(extent.depth):
        fill(p.ptr + z * p.pitch * p.ysize, p.pitch, value, 1, extent.width, extent.height)


# ---------------------------------------------------------------- arrays


def make_cudaExtent(w: int, h: int, d: int) -> cudaExtent:
    """An extent."""
    out = cudaExtent()
    out.width, out.height, out.depth = w, h, d
    return out


def make_cudaPos(x: int, y: int, z: int) -> cudaPos:
    """A place."""
    out = cudaPos()
    out.x, out.y, out.z = x, y, z
    return out


def make_cudaPitchedPtr(d: object, p: int, xsz: int, ysz: int) -> cudaPitchedPtr:
    """An address with its pitch."""
    out = cudaPitchedPtr()
    out.ptr, out.pitch, out.xsize, out.ysize = address_of(d), p, xsz, ysz
    return out


@api(1)
def cudaCreateChannelDesc(x: int, y: int, z: int, w: int, f: cudaChannelFormatKind) -> cudaChannelFormatDesc:
    """The format of an array's elements: the bits of each channel."""
    out = cudaChannelFormatDesc()
    out.x, out.y, out.z, out.w, out.f = x, y, z, w, f
    return out


_FORMATS = {
    (8, 0): Formats.CU_AD_FORMAT_SIGNED_INT8, (16, 0): Formats.CU_AD_FORMAT_SIGNED_INT16, (32, 0): Formats.CU_AD_FORMAT_SIGNED_INT32,
    (8, 1): Formats.CU_AD_FORMAT_UNSIGNED_INT8, (16, 1): Formats.CU_AD_FORMAT_UNSIGNED_INT16, (32, 1): Formats.CU_AD_FORMAT_UNSIGNED_INT32,
    (16, 2): Formats.CU_AD_FORMAT_HALF, (32, 2): Formats.CU_AD_FORMAT_FLOAT,
}  # fmt: skip


def _new_array(desc: cudaChannelFormatDesc | None, width: int, height: int, depth: int, flags: int) -> cudaArray_t:
    if desc is None:
        raise invalid("the format is null")
    bits = [b for b in (desc.x, desc.y, desc.z, desc.w) if b]
    found = _FORMATS.get((bits[0] if bits else 0, int(desc.f)))
    if found is None or len(set(bits)) != 1:
        raise ApiError("cudaErrorInvalidChannelDescriptor", f"channels of {bits} bits")
    d = driver.CUDA_ARRAY3D_DESCRIPTOR()
    d.Width, d.Height, d.Depth, d.Format, d.NumChannels, d.Flags = width, height, depth, found, len(bits), int(flags)
    return cudaArray_t(call(driver.cuArray3DCreate, d))


@api(1)
def cudaMallocArray(desc: cudaChannelFormatDesc | None, width: int, height: int, flags: int) -> cudaArray_t:
    """An array of one or two dimensions."""
    return _new_array(desc, width, height, 0, flags)


@api(1)
def cudaMalloc3DArray(desc: cudaChannelFormatDesc | None, extent: cudaExtent, flags: int) -> cudaArray_t:
    """An array of up to three dimensions."""
    return _new_array(desc, extent.width, extent.height, extent.depth, flags)


@api()
def cudaFreeArray(array: object) -> None:
    """Ends an array."""
    call(driver.cuArrayDestroy, array)


@api(3)
def cudaArrayGetInfo(array: object) -> tuple[cudaChannelFormatDesc, cudaExtent, int]:
    """(format, extent, flags) of an array."""
    a = object_of(array, DeviceArray)
    return _format(a), make_cudaExtent(a.width, a.height, a.depth), a.flags & ~LAYERED | a.flags & LAYERED


def _format(a: DeviceArray) -> cudaChannelFormatDesc:
    kind = next(kind for (_, kind), f in _FORMATS.items() if f == a.format)
    out = cudaChannelFormatDesc()
    bits = [8 * a.element] * a.channels + [0] * (4 - a.channels)
    out.x, out.y, out.z, out.w = bits
    out.f = cudaChannelFormatKind(kind)
    return out


@api(1)
def cudaGetChannelDesc(array: object) -> cudaChannelFormatDesc:
    """The format of an array."""
    return _format(object_of(array, DeviceArray))


# ---------------------------------------------------------------- pools


@api(1)
def cudaMallocAsync(size: int, hStream: object) -> int:
    """Memory from the device's pool, in a stream's order."""
    return int(call(driver.cuMemAllocAsync, size, hStream))


@api(1)
def cudaMallocFromPoolAsync(size: int, memPool: object, stream: object) -> int:
    """Memory from a pool."""
    return int(call(driver.cuMemAllocFromPoolAsync, size, memPool, stream))


@api()
def cudaFreeAsync(devPtr: object, hStream: object) -> None:
    """Gives memory back, in a stream's order."""
    call(driver.cuMemFreeAsync, devPtr, hStream)


@api(1)
def cudaMemPoolCreate(poolProps: cudaMemPoolProps | None) -> cudaMemPool_t:
    """A new pool."""
    if poolProps is None:
        raise invalid("the properties are null")
    props = driver.CUmemPoolProps()
    ctypes.memmove(props.getPtr(), poolProps.getPtr(), min(ctypes.sizeof(props.c_type), ctypes.sizeof(poolProps.c_type)))
    return cudaMemPool_t(call(driver.cuMemPoolCreate, props))


@api()
def cudaMemPoolDestroy(memPool: object) -> None:
    """Ends a pool."""
    call(driver.cuMemPoolDestroy, memPool)


@api()
def cudaMemPoolTrimTo(memPool: object, minBytesToKeep: int) -> None:
    """Gives memory that nobody uses back."""
    call(driver.cuMemPoolTrimTo, memPool, minBytesToKeep)


@api(1)
def cudaMemPoolGetAttribute(memPool: object, attr: object) -> int:
    """One attribute of a pool."""
    return int(call(driver.cuMemPoolGetAttribute, memPool, attr))


@api()
def cudaMemPoolSetAttribute(memPool: object, attr: object, value: object) -> None:
    """Sets an attribute of a pool."""
    call(driver.cuMemPoolSetAttribute, memPool, attr, value)


@api()
def cudaMemPoolSetAccess(memPool: object, descList: Sequence[cudaMemAccessDesc] | None, count: int) -> None:
    """Says which devices may use the pool's memory."""
    call(driver.cuMemPoolSetAccess, memPool, descList, count)


@api(1)
def cudaMemPoolGetAccess(memPool: object, location: cudaMemLocation | None) -> int:
    """What a device may do with the pool's memory."""
    return int(call(driver.cuMemPoolGetAccess, memPool, location))


@api()
def cudaMemAdvise(devPtr: object, count: int, advice: object, location: object) -> None:
    """Advice on managed memory."""
    call(driver.cuMemAdvise, devPtr, count, advice, location)


@api()
def cudaMemPrefetchAsync(devPtr: object, count: int, location: object, flags: int, stream: object) -> None:
    """Managed memory is where it is used already."""
    call(driver.cuMemPrefetchAsync, devPtr, count, location, flags, stream)


# ---------------------------------------------------------------- launches


def _three(d: object) -> tuple[int, int, int]:
    if isinstance(d, dim3):
        return d.x, d.y, d.z
    values = tuple(d) if isinstance(d, tuple | list) else (integer(d),)
    x, y, z = (*values, 1, 1)[:3]
    return int(x), int(y), int(z)


def _launch(work: Any, func: object, grid: object, block: object, shared: int, stream: object, args: object, *rest: object) -> None:
    g, b = _three(grid), _three(block)
    profile = context().profile
    wrong = min(*g, *b) < 1 or b[0] * b[1] * b[2] > profile.max_threads_per_block
    if wrong or any(x > m for x, m in zip((*g, *b), (*profile.max_grid, *profile.max_block), strict=True)):
        raise ApiError("cudaErrorInvalidConfiguration", f"grid {g}, block {b}")
    call(work, func, *g, *b, shared, stream, args, *rest)


@api()
def cudaLaunchKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> None:
    """Launches a kernel; func is the handle of a kernel or function, args as in cuLaunchKernel."""
    _launch(driver.cuLaunchKernel, func, gridDim, blockDim, sharedMem, stream, args, 0)


@api()
def cudaLaunchCooperativeKernel(func: object, gridDim: object, blockDim: object, args: object, sharedMem: int, stream: object) -> None:
    """Launches a kernel whose blocks are all resident together."""
    _launch(driver.cuLaunchCooperativeKernel, func, gridDim, blockDim, sharedMem, stream, args)
