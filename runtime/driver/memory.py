"""The driver's calls about linear memory: allocation, copies, memset, pointer attributes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..context import Context
from ..errors import ApiError, invalid, unsupported
from ..machine import machine
from ..memory import PITCH, SPACE, Buffer, RegisteredArena, host_bytes
from .api import STATE, api, context_of, current, handle_of, integer, member, stream_of
from .enums import CUmem_advise, CUmem_range_attribute, CUmemLocationType, CUmemorytype, CUpointer_attribute
from .layout import address_of
from .structs import CUcontext, CUdeviceptr

Pointer = CUpointer_attribute
HOST = -1  # CU_DEVICE_CPU


# ---------------------------------------------------------------- allocation


@api(1)
def cuMemAlloc(bytesize: object) -> CUdeviceptr:
    """Device memory."""
    return CUdeviceptr(current().allocate(integer(bytesize)))


@api(2)
def cuMemAllocPitch(WidthInBytes: object, Height: object, ElementSizeBytes: object) -> tuple[CUdeviceptr, int]:
    """(address, pitch) of rows that begin at multiples of the pitch."""
    if integer(ElementSizeBytes) not in (4, 8, 16):
        raise invalid("elements have 4, 8 or 16 bytes")
    pitch = -(-integer(WidthInBytes) // PITCH) * PITCH
    return CUdeviceptr(current().allocate(pitch * integer(Height))), pitch


@api()
def cuMemFree(dptr: object) -> None:
    """Gives device memory back."""
    address = integer(dptr)
    found = SPACE.buffers.get(address)
    if not STATE.stack:  # an address says whose it is
        if found is None:
            raise invalid(f"{address:#x} is not the start of an allocation")
        c = found.context
    else:
        c = current()
    c.synchronize()
    c.free(address)


@api(1)
def cuMemAllocHost(bytesize: object) -> int:
    """Pinned host memory."""
    return current().allocate_host(integer(bytesize)) if integer(bytesize) else 0


@api(1)
def cuMemHostAlloc(bytesize: object, Flags: object) -> int:
    """Pinned host memory, which every device sees under the same address."""
    flags = integer(Flags)
    if flags & ~7:
        raise invalid(f"flags {flags:#x}")
    return current().allocate_host(integer(bytesize), flags) if integer(bytesize) else 0


@api()
def cuMemFreeHost(p: object) -> None:
    """Gives pinned host memory back."""
    c = current()
    c.synchronize()
    if address_of(p):
        SPACE.release(address_of(p), ("host",))


@api(1)
def cuMemAllocManaged(bytesize: object, flags: object) -> CUdeviceptr:
    """Memory that host and devices use under one address."""
    if integer(flags) not in (1, 2):
        raise invalid(f"flags {integer(flags):#x}")
    return CUdeviceptr(current().allocate_managed(integer(bytesize), integer(flags)))


@api()
def cuMemHostRegister(p: object, bytesize: object, Flags: object) -> None:
    """Lets devices see host memory that the program has already."""
    c, address, size = current(), address_of(p), integer(bytesize)
    c.check()
    if not address or size <= 0 or integer(Flags) & ~15:
        raise invalid("a null pointer, no size, or unknown flags")
    for arena in SPACE.host_arenas():
        a = arena.living()
        if any(x.start < address + size and address < x.end for x in a):
            if not isinstance(arena, RegisteredArena):
                raise invalid("a part of it is pinned")
            raise ApiError("CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "a part of it is registered")
    arena = SPACE.registered[address] = RegisteredArena(address, size)
    SPACE.add(arena.living()[0], arena, "registered", c, integer(Flags))


@api()
def cuMemHostUnregister(p: object) -> None:
    """Ends what cuMemHostRegister began."""
    current().synchronize()
    if address_of(p) not in SPACE.registered:
        if SPACE.buffer_at(address_of(p)) is not None:
            raise invalid("the address is not the start of a registration")
        raise ApiError("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "it is not registered")
    SPACE.release(address_of(p), ("registered",))


def _pinned(p: object) -> Buffer:
    b = SPACE.buffer_at(address_of(p))
    if b is None or b.kind not in ("host", "registered"):
        raise invalid("the memory is not pinned")
    return b


@api(1)
def cuMemHostGetDevicePointer(p: object, Flags: object) -> CUdeviceptr:
    """The device's address of pinned memory, which is the host's."""
    if integer(Flags):
        raise invalid("the flags must be 0")
    _pinned(p)
    return CUdeviceptr(address_of(p))


@api(1)
def cuMemHostGetFlags(p: object) -> int:
    """The flags that pinned memory was made with; with one address space it is always mapped."""
    b = SPACE.buffer_at(address_of(p))
    return 2 if b is not None and b.kind == "managed" else _pinned(p).flags | 2


@api(2)
def cuMemGetInfo() -> tuple[int, int]:
    """(free, all) bytes of device memory."""
    c = current()
    c.check()
    return c.free_memory, c.arena.limit


@api(2)
def cuMemGetAddressRange(dptr: object) -> tuple[CUdeviceptr, int]:
    """(start, size) of the allocation that holds an address."""
    current()
    found = SPACE.find(integer(dptr))
    if found is None:
        raise ApiError("CUDA_ERROR_NOT_FOUND", SPACE.explain(integer(dptr)))
    return CUdeviceptr(found[1].start), found[1].size


# ---------------------------------------------------------------- copies


def copy(dst: int, src: int, size: int, to_host: bool | None = None, from_host: bool | None = None) -> None:
    """Moves bytes; each side is device memory, host memory, or either."""
    if size == 0:
        return

    def side(address: int, host: bool | None) -> Any:
        if host is False:
            return SPACE.device_bytes(address, size)
        if host is True and not SPACE.is_device_range(address):
            return host_bytes(address, size)
        return SPACE.bytes_at(address, size)

    source, target = side(src, from_host), side(dst, to_host)
    target[:] = source.copy() if np.shares_memory(source, target) else source


def now(c: Context) -> None:
    """A call that waits for all work before it goes on."""
    c.synchronize()


def later(stream: object) -> bool:
    """Is the stream's work dropped?"""
    return stream_of(stream).context.broken


@api()
def cuMemcpy(dst: object, src: object, ByteCount: object) -> None:
    """Copies between any two places."""
    now(current())
    copy(address_of(dst), address_of(src), integer(ByteCount))


@api()
def cuMemcpyAsync(dst: object, src: object, ByteCount: object, hStream: object) -> None:
    """As cuMemcpy, in a stream."""
    if not later(hStream):
        copy(address_of(dst), address_of(src), integer(ByteCount))


@api()
def cuMemcpyHtoD(dstDevice: object, srcHost: object, ByteCount: object) -> None:
    """Host to device."""
    now(current())
    copy(integer(dstDevice), address_of(srcHost), integer(ByteCount), False, True)


@api()
def cuMemcpyHtoDAsync(dstDevice: object, srcHost: object, ByteCount: object, hStream: object) -> None:
    """Host to device, in a stream."""
    if not later(hStream):
        copy(integer(dstDevice), address_of(srcHost), integer(ByteCount), False, True)


@api()
def cuMemcpyDtoH(dstHost: object, srcDevice: object, ByteCount: object) -> None:
    """Device to host."""
    now(current())
    copy(address_of(dstHost), integer(srcDevice), integer(ByteCount), True, False)


@api()
def cuMemcpyDtoHAsync(dstHost: object, srcDevice: object, ByteCount: object, hStream: object) -> None:
    """Device to host, in a stream."""
    if not later(hStream):
        copy(address_of(dstHost), integer(srcDevice), integer(ByteCount), True, False)


@api()
def cuMemcpyDtoD(dstDevice: object, srcDevice: object, ByteCount: object) -> None:
    """Device to device."""
    now(current())
    copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False)


@api()
def cuMemcpyDtoDAsync(dstDevice: object, srcDevice: object, ByteCount: object, hStream: object) -> None:
    """Device to device, in a stream."""
    if not later(hStream):
        copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False)


@api()
def cuMemcpyPeer(dstDevice: object, dstContext: object, srcDevice: object, srcContext: object, ByteCount: object) -> None:
    """From one device's memory to another's, with peer access or without."""
    for c in (context_of(dstContext), context_of(srcContext)):
        now(c)
    copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False)


@api()
def cuMemcpyPeerAsync(
    dstDevice: object, dstContext: object, srcDevice: object, srcContext: object, ByteCount: object, hStream: object
) -> None:
    """As cuMemcpyPeer, in a stream."""
    context_of(dstContext), context_of(srcContext)
    if not later(hStream):
        copy(integer(dstDevice), integer(srcDevice), integer(ByteCount), False, False)


@api()
def cuMemcpyBatchAsync(
    dsts: Sequence[Any], srcs: Sequence[Any], sizes: Sequence[int], count: object, attrs: object, attrsIdxs: object, numAttrs: object,
    hStream: object,
) -> None:  # fmt: skip
    """Several copies."""
    if not later(hStream):
        for d, s, n in list(zip(dsts, srcs, sizes, strict=True))[: integer(count)]:
            copy(address_of(d), address_of(s), integer(n))


@api()
def cuMemcpyWithAttributesAsync(dst: object, src: object, size: object, attr: object, hStream: object) -> None:
    """As cuMemcpyAsync; what the attributes allow changes no result here."""
    if not later(hStream):
        copy(address_of(dst), address_of(src), integer(size))


# ---------------------------------------------------------------- memset


def fill(address: int, pitch: int, value: object, element: int, width: int, height: int) -> None:
    """Sets elements, row by row."""
    if address % element or (height > 1 and pitch % element):
        raise invalid(f"{address:#x} is not aligned to {element} bytes")
    if not width or not height:
        return
    if height > 1 and pitch < width * element:
        raise invalid(f"rows of {width * element} bytes do not fit a pitch of {pitch}")
    raw = integer(value) & ((1 << 8 * element) - 1)
    for y in range(height):
        SPACE.device_bytes(address + y * pitch, width * element).view(f"u{element}")[:] = raw


def _memset(address: object, value: object, element: int, n: object) -> None:
    _element(value, element)
    current().check()
    fill(integer(address), 0, value, element, integer(n), 1)


def _element(value: object, size: int) -> None:
    if not 0 <= integer(value) < 1 << 8 * size:
        raise OverflowError(f"{value} is no unsigned number of {8 * size} bits")


def _memset_async(address: object, value: object, element: int, n: object, stream: object) -> None:
    _element(value, element)
    if not later(stream):
        fill(integer(address), 0, value, element, integer(n), 1)


def _memset_2d(address: object, pitch: object, value: object, element: int, width: object, height: object) -> None:
    _element(value, element)
    current().check()
    fill(integer(address), integer(pitch), value, element, integer(width), integer(height))


@api()
def cuMemsetD8(dstDevice: object, uc: object, N: object) -> None:
    """Sets N bytes."""
    _memset(dstDevice, uc, 1, N)


@api()
def cuMemsetD16(dstDevice: object, us: object, N: object) -> None:
    """Sets N 16-bit words."""
    _memset(dstDevice, us, 2, N)


@api()
def cuMemsetD32(dstDevice: object, ui: object, N: object) -> None:
    """Sets N 32-bit words."""
    _memset(dstDevice, ui, 4, N)


@api()
def cuMemsetD8Async(dstDevice: object, uc: object, N: object, hStream: object) -> None:
    """Sets N bytes, in a stream."""
    _memset_async(dstDevice, uc, 1, N, hStream)


@api()
def cuMemsetD16Async(dstDevice: object, us: object, N: object, hStream: object) -> None:
    """Sets N 16-bit words, in a stream."""
    _memset_async(dstDevice, us, 2, N, hStream)


@api()
def cuMemsetD32Async(dstDevice: object, ui: object, N: object, hStream: object) -> None:
    """Sets N 32-bit words, in a stream."""
    _memset_async(dstDevice, ui, 4, N, hStream)


@api()
def cuMemsetD2D8(dstDevice: object, dstPitch: object, uc: object, Width: object, Height: object) -> None:
    """Sets rows of bytes."""
    _memset_2d(dstDevice, dstPitch, uc, 1, Width, Height)


@api()
def cuMemsetD2D16(dstDevice: object, dstPitch: object, us: object, Width: object, Height: object) -> None:
    """Sets rows of 16-bit words."""
    _memset_2d(dstDevice, dstPitch, us, 2, Width, Height)


@api()
def cuMemsetD2D32(dstDevice: object, dstPitch: object, ui: object, Width: object, Height: object) -> None:
    """Sets rows of 32-bit words."""
    _memset_2d(dstDevice, dstPitch, ui, 4, Width, Height)


@api()
def cuMemsetD2D8Async(dstDevice: object, dstPitch: object, uc: object, Width: object, Height: object, hStream: object) -> None:
    """Sets rows of bytes, in a stream."""
    if not later(hStream):
        fill(integer(dstDevice), integer(dstPitch), uc, 1, integer(Width), integer(Height))


@api()
def cuMemsetD2D16Async(dstDevice: object, dstPitch: object, us: object, Width: object, Height: object, hStream: object) -> None:
    """Sets rows of 16-bit words, in a stream."""
    if not later(hStream):
        fill(integer(dstDevice), integer(dstPitch), us, 2, integer(Width), integer(Height))


@api()
def cuMemsetD2D32Async(dstDevice: object, dstPitch: object, ui: object, Width: object, Height: object, hStream: object) -> None:
    """Sets rows of 32-bit words, in a stream."""
    if not later(hStream):
        fill(integer(dstDevice), integer(dstPitch), ui, 4, integer(Width), integer(Height))


# ---------------------------------------------------------------- advice and prefetch


def _location(location: Any) -> int:
    """The device that a location means, or -1 for the host."""
    if location is None or location.type != CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE:
        return HOST
    return machine().device(location.id).ordinal


def _managed(address: int, size: int) -> Buffer:
    b = SPACE.buffer_at(address)
    if b is None or b.kind != "managed" or address + size > b.start + b.size:
        raise invalid(f"{size} bytes at {address:#x} are no managed memory")
    return b


@api()
def cuMemAdvise(devPtr: object, count: object, advice: object, location: object) -> None:
    """Advice on managed memory, on which no result depends."""
    current()
    verb, _, what = member(CUmem_advise, advice).name.removeprefix("CU_MEM_ADVISE_").partition("_")
    at = _location(location)
    b = _managed(integer(devPtr), integer(count))
    if not integer(count):
        raise invalid("no bytes")
    if what == "ACCESSED_BY":
        known = b.advice.setdefault(what, set())
        known.add(at) if verb == "SET" else known.discard(at)
    elif verb == "SET":
        b.advice[what] = {1 if what == "READ_MOSTLY" else at}
    else:
        b.advice.pop(what, None)


@api(1)
def cuMemRangeGetAttribute(dataSize: object, attribute: object, devPtr: object, count: object) -> int | list[int]:
    """Advice that was given on managed memory: all of it has the same here, since no result depends on it."""
    which = member(CUmem_range_attribute, attribute)
    b = _managed(integer(devPtr), integer(count))
    name = which.name.removeprefix("CU_MEM_RANGE_ATTRIBUTE_")
    if name == "ACCESSED_BY":
        devices = sorted(b.advice.get(name, ()))
        return [*devices, *(-2 for _ in range(integer(dataSize) // 4 - len(devices)))][: integer(dataSize) // 4]
    if name not in ("READ_MOSTLY", "PREFERRED_LOCATION", "LAST_PREFETCH_LOCATION"):
        raise unsupported(f"{which.name} is not known")
    return next(iter(b.advice.get(name, ())), 0 if name == "READ_MOSTLY" else -2)


@api()
def cuMemPrefetchAsync(devPtr: object, count: object, location: object, flags: object, hStream: object) -> None:
    """Managed memory is where it is used already."""
    stream_of(hStream)
    if integer(flags):
        raise invalid("the flags must be 0")
    at = _location(location)
    _managed(integer(devPtr), integer(count)).advice["LAST_PREFETCH_LOCATION"] = {at}


# ---------------------------------------------------------------- pointer attributes


def pointer_attribute(which: CUpointer_attribute, address: int) -> object:
    """What is known of the memory that an address means."""
    b = SPACE.buffer_at(address)
    found = SPACE.find(address)
    if found is None:
        raise invalid(f"{address:#x}: {SPACE.explain(address)}")
    arena, allocation = found
    on_device = arena in SPACE.devices
    managed = b.kind == "managed" if b is not None else not on_device  # a variable in host memory is a managed one
    owner = b.context if b is not None else current()
    match which:
        case Pointer.CU_POINTER_ATTRIBUTE_CONTEXT:
            if (b is None and managed) or (b is not None and b.pool is not None):
                return CUcontext(0)
            return CUcontext(handle_of(owner))
        case Pointer.CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
            return int(CUmemorytype.CU_MEMORYTYPE_DEVICE if on_device or managed else CUmemorytype.CU_MEMORYTYPE_HOST)
        case Pointer.CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
            return CUdeviceptr(address)
        case Pointer.CU_POINTER_ATTRIBUTE_HOST_POINTER:
            if on_device:
                raise invalid("the host can't reach device memory")
            return address
        case Pointer.CU_POINTER_ATTRIBUTE_BUFFER_ID:
            return b.number if b is not None else 0
        case Pointer.CU_POINTER_ATTRIBUTE_IS_MANAGED:
            return managed
        case Pointer.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
            return owner.ordinal
        case Pointer.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
            return CUdeviceptr(allocation.start)
        case Pointer.CU_POINTER_ATTRIBUTE_RANGE_SIZE:
            return allocation.size
        case Pointer.CU_POINTER_ATTRIBUTE_MAPPED:
            return True
        case Pointer.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
            return managed or (b is not None and b.sync_memops)
        case Pointer.CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
            return handle_of(b.pool) if b is not None and b.pool is not None else 0
        case Pointer.CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
            return 3
        case Pointer.CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE | Pointer.CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
            return False
        case Pointer.CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
            return 0
        case _:
            raise unsupported(f"{which.name} is not known")


@api(1)
def cuPointerGetAttribute(attribute: object, ptr: object) -> object:
    """One attribute of an address."""
    return pointer_attribute(member(Pointer, attribute), integer(ptr))


@api(1)
def cuPointerGetAttributes(numAttributes: object, attributes: Sequence[Any], ptr: object) -> list[object]:
    """Several attributes; zero where the address is no device's."""
    out: list[object] = []
    for a in attributes[: integer(numAttributes)]:
        try:
            out.append(pointer_attribute(member(Pointer, a), integer(ptr)))
        except ApiError:
            out.append(0)
    return out


@api()
def cuPointerSetAttribute(value: object, attribute: object, ptr: object) -> None:
    """Sets SYNC_MEMOPS, the one that can be set."""
    b = SPACE.buffer_at(integer(ptr))
    if member(Pointer, attribute) is not Pointer.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS or b is None:
        raise invalid("only SYNC_MEMOPS of an allocation can be set")
    b.sync_memops = bool(value)
