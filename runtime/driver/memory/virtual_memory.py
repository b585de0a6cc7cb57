"""The driver's calls about physical memory, address ranges, and what is mapped where for whom."""

from __future__ import annotations

from collections.abc import Sequence

from ...device.machine import machine
from ...device.memory.sharing import MemoryFile
from ...device.memory.virtual_memory import GRANULARITY, READ_WRITE, VIRTUAL, MulticastObject, PhysicalMemory, Shared, whole
from ...errors import invalid, unsupported
from ..api import api, forget, handle_of, integer, member, object_of
from ..tables.enums import (
    CUmemAccess_flags,
    CUmemAllocationGranularity_flags,
    CUmemAllocationHandleType,
    CUmemAllocationType,
    CUmemLocationType,
)
from ..tables.structs import CUdeviceptr, CUmemAccessDesc, CUmemAllocationProp, CUmemGenericAllocationHandle, CUmemLocation

Where = CUmemLocationType
FILE = CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def memory_of(handle: object) -> PhysicalMemory | MulticastObject:
    """What a handle that is not released stands for."""
    found = object_of(handle, Shared, "CUDA_ERROR_INVALID_VALUE")
    assert isinstance(found, PhysicalMemory | MulticastObject)
    return found


def _device(location: CUmemLocation | None) -> int:
    """The device that a location names."""
    if location is None:
        raise invalid("the location is null")
    if location.type != Where.CU_MEM_LOCATION_TYPE_DEVICE:
        raise unsupported("physical memory of the host")
    return machine().device(location.id).ordinal


def _checked(prop: CUmemAllocationProp | None) -> int:
    """The device of an allocation's properties."""
    if prop is None:
        raise invalid("the properties are null")
    if integer(prop.type) != CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED:
        raise invalid("the type of physical memory is CU_MEM_ALLOCATION_TYPE_PINNED")
    return _device(prop.location)


@api
def cuMemGetAllocationGranularity(prop: CUmemAllocationProp | None, option: object) -> int:
    """What sizes and addresses of physical memory are multiples of."""
    _checked(prop)
    member(CUmemAllocationGranularity_flags, option)
    return GRANULARITY


@api
def cuMemCreate(size: object, prop: CUmemAllocationProp | None, flags: object) -> CUmemGenericAllocationHandle:
    """Physical memory of a device."""
    ordinal = _checked(prop)
    if not whole(integer(size), "the size") or integer(flags):
        raise invalid("no size, or flags that are not 0")
    properties = CUmemAllocationProp()
    assert prop is not None
    properties.type, properties.location, properties.requestedHandleTypes = prop.type, prop.location, prop.requestedHandleTypes
    memory = PhysicalMemory.create(integer(size), ordinal, machine().device(ordinal).arena, properties)
    return CUmemGenericAllocationHandle(handle_of(memory))


@api
def cuMemRelease(handle: object) -> None:
    """Gives a handle back; the memory goes when nothing is mapped or bound any more."""
    memory = memory_of(handle)
    memory.handles -= 1
    if not memory.handles:
        forget(memory)
    memory.settle()


@api
def cuMemRetainAllocationHandle(addr: object) -> CUmemGenericAllocationHandle:
    """One more handle of the memory that is mapped at an address."""
    memory = VIRTUAL.at(integer(addr)).what
    memory.handles += 1
    return CUmemGenericAllocationHandle(handle_of(memory))


@api
def cuMemGetAllocationPropertiesFromHandle(handle: object) -> CUmemAllocationProp:
    """What the memory was made with."""
    memory = memory_of(handle)
    if not isinstance(memory, PhysicalMemory):
        raise invalid("a multicast object is not memory")
    properties = memory.properties
    assert isinstance(properties, CUmemAllocationProp)
    return properties


@api
def cuMemAddressReserve(size: object, alignment: object, addr: object, flags: object) -> CUdeviceptr:
    """A range of addresses, at the given one if it is free; nothing is there yet."""
    if integer(flags):
        raise invalid("the flags must be 0")
    return CUdeviceptr(VIRTUAL.reserve(integer(size), integer(alignment), integer(addr)))


@api
def cuMemAddressFree(ptr: object, size: object) -> None:
    """Gives a range of addresses back, all of it."""
    VIRTUAL.free(integer(ptr), integer(size))


@api
def cuMemMap(ptr: object, size: object, offset: object, handle: object, flags: object) -> None:
    """Gives memory, or a multicast object, an address in a reserved range; cuMemSetAccess then says who reaches it."""
    if integer(offset) or integer(flags):
        raise invalid("the offset and the flags must be 0")
    VIRTUAL.map(integer(ptr), integer(size), memory_of(handle))


@api
def cuMemUnmap(ptr: object, size: object) -> None:
    """Ends the mappings that fill a range."""
    for d in machine().devices:
        if d.primary is not None:
            d.primary.synchronize()
    VIRTUAL.unmap(integer(ptr), integer(size))


@api
def cuMemSetAccess(ptr: object, size: object, desc: Sequence[CUmemAccessDesc] | None, count: object) -> None:
    """Says what devices may do with the mappings that fill a range."""
    given = list(desc or ())[: integer(count)]
    if not given:
        raise invalid("there is no access descriptor")
    asked = [(_device(d.location), integer(member(CUmemAccess_flags, d.flags))) for d in given]
    if any(flags > READ_WRITE for _, flags in asked):
        raise invalid("the flags are not a kind of access")
    for ordinal, flags in asked:
        VIRTUAL.grant(integer(ptr), integer(size), ordinal, flags)


@api
def cuMemGetAccess(location: CUmemLocation | None, ptr: object) -> int:
    """What a device may do at an address: the number of a CUmemAccess_flags."""
    return VIRTUAL.at(integer(ptr)).access.get(_device(location), 0)


def _as_file(kind: object) -> None:
    """Refuses other handles than files."""
    if member(CUmemAllocationHandleType, kind) != FILE:
        raise unsupported(f"{CUmemAllocationHandleType(integer(kind)).name}: other processes receive memory as a file descriptor")


@api
def cuMemExportToShareableHandle(handle: object, handleType: object, flags: object) -> int:
    """A file descriptor that is the memory, for other processes."""
    memory = memory_of(handle)
    _as_file(handleType)
    if not isinstance(memory, PhysicalMemory):
        raise unsupported("multicast objects of several processes")
    if integer(flags) or not integer(memory.properties.requestedHandleTypes) & FILE:
        raise invalid("flags that are not 0, or memory whose requestedHandleTypes do not name this type")
    return memory.exported()


@api
def cuMemImportFromShareableHandle(osHandle: object, shHandleType: object) -> CUmemGenericAllocationHandle:
    """Another process's memory, by a file descriptor that it has exported."""
    _as_file(shHandleType)
    file = MemoryFile.opened(integer(osHandle))
    properties = CUmemAllocationProp()
    properties.type = CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location.type, properties.location.id = Where.CU_MEM_LOCATION_TYPE_DEVICE, file.ordinal
    properties.requestedHandleTypes = CUmemAllocationHandleType(FILE)
    memory = PhysicalMemory.create(file.size, file.ordinal, machine().device(file.ordinal).arena, properties)
    memory.import_from(file)
    return CUmemGenericAllocationHandle(handle_of(memory))
