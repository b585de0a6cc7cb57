"""What the driver knows of an address: attributes, and advice on managed memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...device.machine import machine
from ...device.memory.allocations import SPACE, AddressRange
from ...errors import ApiError, invalid, unsupported
from ..api import api, current, handle_of, integer, member, stream_of
from ..tables.enums import CUmem_advise, CUmem_range_attribute, CUmemLocationType, CUmemorytype, CUpointer_attribute
from ..tables.structs import CUcontext, CUdeviceptr

Pointer = CUpointer_attribute
Where = CUmemLocationType
HOST, NOWHERE = -1, -2  # CU_DEVICE_CPU, CU_DEVICE_INVALID
LOCATED = {HOST: Where.CU_MEM_LOCATION_TYPE_HOST, NOWHERE: Where.CU_MEM_LOCATION_TYPE_INVALID}  # all others are devices


def _location(location: Any) -> int:
    """The device that a location means, or -1 for the host."""
    if location is None or location.type != Where.CU_MEM_LOCATION_TYPE_DEVICE:
        return HOST
    return machine().device(location.id).ordinal


def managed_range(address: int, size: int) -> AddressRange:
    """The managed allocation, or the managed variable, that holds some bytes."""
    b = SPACE.managed_at(address, current())
    if b is None or b.kind != "managed" or address + size > b.start + b.size:
        raise invalid(f"{size} bytes at {address:#x} are not managed memory")
    return b


@api
def cuMemAdvise(devPtr: object, count: object, advice: object, location: object) -> None:
    """Advice on managed memory, on which no result depends."""
    current()
    verb, _, what = member(CUmem_advise, advice).name.removeprefix("CU_MEM_ADVISE_").partition("_")
    at = _location(location)
    b = managed_range(integer(devPtr), integer(count))
    if not integer(count):
        raise invalid("no bytes")
    if what == "ACCESSED_BY":
        known = b.advice.setdefault(what, set())
        known.add(at) if verb == "SET" else known.discard(at)
    elif verb == "SET":
        b.advice[what] = {1 if what == "READ_MOSTLY" else at}
    else:
        b.advice.pop(what, None)


@api
def cuMemRangeGetAttribute(dataSize: object, attribute: object, devPtr: object, count: object) -> int | list[int]:
    """Advice that was given on managed memory: all of it has the same here, since no result depends on it."""
    which = member(CUmem_range_attribute, attribute)
    b = managed_range(integer(devPtr), integer(count))
    name = which.name.removeprefix("CU_MEM_RANGE_ATTRIBUTE_")
    if name == "ACCESSED_BY":
        devices = sorted(b.advice.get(name, ()), key=lambda at: (at == HOST, at))  # the host is last
        return [*devices, *(-2 for _ in range(integer(dataSize) // 4 - len(devices)))][: integer(dataSize) // 4]
    plain, _, part = name.partition("_LOCATION_")
    if part:
        at = next(iter(b.advice.get(f"{plain}_LOCATION", ())), NOWHERE)
        return max(at, 0) if part == "ID" else int(LOCATED.get(at, Where.CU_MEM_LOCATION_TYPE_DEVICE))
    return next(iter(b.advice.get(name, ())), 0 if name == "READ_MOSTLY" else NOWHERE)


@api
def cuMemRangeGetAttributes(
    dataSizes: Sequence[object], attributes: Sequence[object], numAttributes: object, devPtr: object, count: object
) -> list[Any]:
    """Several attributes of a range."""
    out = []
    for size, which in list(zip(dataSizes, attributes, strict=True))[: integer(numAttributes)]:
        code, value = cuMemRangeGetAttribute(size, which, devPtr, count)
        if code:
            raise ApiError(code.name, "one of the attributes can't be had")
        out.append(value)
    return out


@api
def cuMemPrefetchAsync(devPtr: object, count: object, location: object, flags: object, hStream: object) -> None:
    """Managed memory is where it is used already."""
    stream_of(hStream)
    if integer(flags):
        raise invalid("the flags must be 0")
    at = _location(location)
    managed_range(integer(devPtr), integer(count)).advice["LAST_PREFETCH_LOCATION"] = {at}


def _stretches(dptrs: Any, sizes: Any, count: object) -> list[tuple[int, int]]:
    """(address, size) of several stretches of managed memory."""
    n = integer(count)
    out = [(integer(a), integer(s)) for a, s in zip(list(dptrs or ())[:n], list(sizes or ())[:n], strict=True)]
    if len(out) < n or not n:
        raise invalid(f"{n} stretches; {len(out)} are given")
    for address, size in out:
        managed_range(address, size)
    return out


@api
def cuMemPrefetchBatchAsync(
    dptrs: Any, sizes: Any, count: object, prefetchLocs: Any, prefetchLocIdxs: Any, numPrefetchLocs: object, flags: object, hStream: object
) -> None:
    """Several prefetches; each location is that of the stretches from its index on."""
    n, stretches = integer(numPrefetchLocs), _stretches(dptrs, sizes, count)
    firsts = [integer(i) for i in list(prefetchLocIdxs or ())[:n]]
    if not firsts or firsts[0] or firsts != sorted(set(firsts)) or firsts[-1] >= len(stretches):
        raise invalid("the indices of the locations begin with 0, ascend, and are below the number of stretches")
    for i, (address, size) in enumerate(stretches):
        which = max(k for k, first in enumerate(firsts) if first <= i)
        done = cuMemPrefetchAsync(address, size, prefetchLocs[which], flags, hStream)
        if done[0]:
            raise ApiError(done[0].name, f"stretch {i}")


@api
def cuMemDiscardBatchAsync(dptrs: Any, sizes: Any, count: object, flags: object, hStream: object) -> None:
    """The contents of several stretches are no longer needed: nothing is gained by that here."""
    stream_of(hStream)
    _stretches(dptrs, sizes, count)


@api
def cuMemDiscardAndPrefetchBatchAsync(
    dptrs: Any, sizes: Any, count: object, prefetchLocs: Any, prefetchLocIdxs: Any, numPrefetchLocs: object, flags: object, hStream: object
) -> None:
    """Both of the calls above."""
    done = cuMemPrefetchBatchAsync(dptrs, sizes, count, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream)
    if done[0]:
        raise ApiError(done[0].name, "the prefetch can't be had")


def pointer_attribute(which: CUpointer_attribute, address: int) -> object:
    """What is known of the memory that an address means."""
    b = SPACE.buffer_at(address)
    found = SPACE.find(address)
    if found is None:
        raise invalid(f"{address:#x}: {SPACE.explain(address)}")
    arena, allocation = found
    on_device = SPACE.is_device_memory(arena)
    managed = b.kind == "managed" if b is not None else not on_device  # a variable in host memory is a managed one
    owner = b.owner if b is not None else current()
    match which:
        case Pointer.CU_POINTER_ATTRIBUTE_CONTEXT:
            if (b is None and managed) or (b is not None and (b.pool is not None or b.kind == "mapped")):
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
            return managed if b is None or b.sync_memops is None else b.sync_memops
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


@api
def cuPointerGetAttribute(attribute: object, ptr: object) -> object:
    """One attribute of an address."""
    return pointer_attribute(member(Pointer, attribute), integer(ptr))


@api
def cuPointerGetAttributes(numAttributes: object, attributes: Sequence[Any], ptr: object) -> list[object]:
    """Several attributes; zero where the address is not a device's."""
    out: list[object] = []
    for a in attributes[: integer(numAttributes)]:
        try:
            out.append(pointer_attribute(member(Pointer, a), integer(ptr)))
        except ApiError:
            out.append(0)
    return out


@api
def cuPointerSetAttribute(value: object, attribute: object, ptr: object) -> None:
    """Sets SYNC_MEMOPS, the one that can be set."""
    b = SPACE.buffer_at(integer(ptr))
    if member(Pointer, attribute) is not Pointer.CU_POINTER_ATTRIBUTE_SYNC_MEMOPS or b is None:
        raise invalid("only SYNC_MEMOPS of an allocation can be set")
    b.sync_memops = bool(value)
