"""The driver's calls about multicast objects: one address for memory of several devices, which multimem instructions reach."""

from __future__ import annotations

from ...device.machine import machine
from ...device.memory.allocations import SPACE, DeviceArena
from ...device.memory.virtual_memory import GRANULARITY, MULTICAST_GRANULARITY, VIRTUAL, Binding, MulticastObject, PhysicalMemory, whole
from ...errors import ApiError, invalid
from ..api import api, device_of, handle_of, integer, member
from ..tables.enums import CUmulticastGranularity_flags
from ..tables.structs import CUmemGenericAllocationHandle, CUmulticastObjectProp
from .virtual_memory import memory_of

Granularity = CUmulticastGranularity_flags


def _checked(prop: CUmulticastObjectProp | None) -> CUmulticastObjectProp:
    if prop is None:
        raise invalid("the properties are null")
    if not 1 <= integer(prop.numDevices) <= len(machine().devices):
        raise invalid(f"a multicast object for {integer(prop.numDevices)} devices; there are {len(machine().devices)}")
    if integer(prop.flags):
        raise invalid("the flags must be 0")
    return prop


def _object(handle: object) -> MulticastObject:
    found = memory_of(handle)
    if not isinstance(found, MulticastObject):
        raise invalid("the handle is one of physical memory, not of a multicast object")
    return found


@api
def cuMulticastGetGranularity(prop: CUmulticastObjectProp | None, option: object) -> int:
    """What sizes of multicast objects and of what is bound are multiples of."""
    _checked(prop)
    least = member(Granularity, option) is Granularity.CU_MULTICAST_GRANULARITY_MINIMUM
    return GRANULARITY if least else MULTICAST_GRANULARITY


@api
def cuMulticastCreate(prop: CUmulticastObjectProp | None) -> CUmemGenericAllocationHandle:
    """A multicast object that no device has joined."""
    p = _checked(prop)
    if not whole(integer(p.size), "the size"):
        raise invalid("no size")
    return CUmemGenericAllocationHandle(handle_of(MulticastObject(integer(p.size), expected=integer(p.numDevices))))


@api
def cuMulticastAddDevice(mcHandle: object, dev: object) -> None:
    """A device joins."""
    d = device_of(dev)
    if not d.attributes["MULTICAST_SUPPORTED"]:
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"{d.name} has no multicast")
    _object(mcHandle).join(d.ordinal)


def _bind(handle: object, offset: object, memory: PhysicalMemory, at: int, size: object, flags: object) -> None:
    if integer(flags):
        raise invalid("the flags must be 0")
    n = whole(integer(size), "the size")
    if whole(at, "the place in the memory") + n > memory.size:
        raise invalid(f"{n} bytes at {at} of memory that has {memory.size}")
    binding = Binding(whole(integer(offset), "the place in the object"), n, memory.start + at, memory.content[at : at + n], memory)
    _object(handle).bind(memory.ordinal, binding)


def _physical(handle: object) -> PhysicalMemory:
    found = memory_of(handle)
    if not isinstance(found, PhysicalMemory):
        raise invalid("the handle is one of a multicast object, not of physical memory")
    return found


@api
def cuMulticastBindMem(mcHandle: object, mcOffset: object, memHandle: object, memOffset: object, size: object, flags: object) -> None:
    """Physical memory of a member comes to stand behind a part of the object."""
    _bind(mcHandle, mcOffset, _physical(memHandle), integer(memOffset), size, flags)


@api
def cuMulticastBindMem_v2(
    mcHandle: object, dev: object, mcOffset: object, memHandle: object, memOffset: object, size: object, flags: object
) -> None:
    """As cuMulticastBindMem, the device being named."""
    memory = _physical(memHandle)
    if device_of(dev).ordinal != memory.ordinal:
        raise invalid(f"the memory is of device {memory.ordinal}")
    _bind(mcHandle, mcOffset, memory, integer(memOffset), size, flags)


def _bind_address(handle: object, offset: object, address: int, size: object, flags: object) -> int:
    """Binds the memory at an address; gives its device."""
    mapping = next(VIRTUAL.within(address, 1), None)
    if mapping is not None:
        if not isinstance(mapping.what, PhysicalMemory):
            raise invalid("a multicast object is mapped there")
        _bind(handle, offset, mapping.what, address - mapping.start, size, flags)
        return mapping.what.ordinal
    found = SPACE.find(address)
    if found is None or not isinstance(found[0], DeviceArena):
        raise invalid(f"{address:#x} is not device memory: {SPACE.explain(address)}")
    n, ordinal = whole(integer(size), "the size"), SPACE.devices.index(found[0])
    content = SPACE.device_bytes(whole(address, "the address"), n)
    if integer(flags):
        raise invalid("the flags must be 0")
    _object(handle).bind(ordinal, Binding(whole(integer(offset), "the place in the object"), n, address, content, None))
    return ordinal


@api
def cuMulticastBindAddr(mcHandle: object, mcOffset: object, memptr: object, size: object, flags: object) -> None:
    """As cuMulticastBindMem, with memory by its address."""
    _bind_address(mcHandle, mcOffset, integer(memptr), size, flags)


@api
def cuMulticastBindAddr_v2(mcHandle: object, dev: object, mcOffset: object, memptr: object, size: object, flags: object) -> None:
    """As cuMulticastBindAddr, the device being named."""
    device_of(dev)
    _bind_address(mcHandle, mcOffset, integer(memptr), size, flags)


@api
def cuMulticastUnbind(mcHandle: object, dev: object, mcOffset: object, size: object) -> None:
    """Takes back what a member has bound to a part of the object."""
    _object(mcHandle).unbind(device_of(dev).ordinal, whole(integer(mcOffset), "the place"), whole(integer(size), "the size"))
