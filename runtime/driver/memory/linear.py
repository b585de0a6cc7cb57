"""The driver's calls that give linear memory and take it back."""

from __future__ import annotations

from ...device.graphs.resources import graph_memory_at
from ...device.memory.allocations import PITCH, SPACE, AddressRange, RegisteredArena
from ...errors import ApiError, invalid
from ..api import STATE, api, current, integer
from ..tables.layout import address_of
from ..tables.structs import CUdeviceptr


@api
def cuMemAlloc(bytesize: object) -> CUdeviceptr:
    """Device memory."""
    return CUdeviceptr(current().allocate(integer(bytesize)))


@api
def cuMemAllocPitch(WidthInBytes: object, Height: object, ElementSizeBytes: object) -> tuple[CUdeviceptr, int]:
    """(address, pitch) of rows that begin at multiples of the pitch."""
    if integer(ElementSizeBytes) not in (4, 8, 16):
        raise invalid("elements have 4, 8 or 16 bytes")
    pitch = -(-integer(WidthInBytes) // PITCH) * PITCH
    return CUdeviceptr(current().allocate(pitch * integer(Height))), pitch


@api
def cuMemFree(dptr: object) -> None:
    """Gives device memory back."""
    address = integer(dptr)
    found = SPACE.buffers.get(address)
    if not STATE.stack:  # an address says whose it is
        if found is None:
            raise invalid(f"{address:#x} is not the start of an allocation")
        c = found.owner
    else:
        c = current()
    c.synchronize()
    if (m := graph_memory_at(address)) is not None:
        m.end()
    else:
        c.free(address)


@api
def cuMemAllocHost(bytesize: object) -> int:
    """Pinned host memory."""
    return current().allocate_host(integer(bytesize)) if integer(bytesize) else 0


@api
def cuMemHostAlloc(bytesize: object, Flags: object) -> int:
    """Pinned host memory, which every device sees under the same address."""
    flags = integer(Flags)
    if flags & ~7:
        raise invalid(f"flags {flags:#x}")
    return current().allocate_host(integer(bytesize), flags) if integer(bytesize) else 0


@api
def cuMemFreeHost(p: object) -> None:
    """Gives pinned host memory back."""
    c = current()
    c.synchronize()
    if address_of(p):
        SPACE.release(address_of(p), ("host",))


@api
def cuMemAllocManaged(bytesize: object, flags: object) -> CUdeviceptr:
    """Memory that host and devices use under one address."""
    if integer(flags) not in (1, 2):
        raise invalid(f"flags {integer(flags):#x}")
    return CUdeviceptr(current().allocate_managed(integer(bytesize), integer(flags)))


@api
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


@api
def cuMemHostUnregister(p: object) -> None:
    """Ends what cuMemHostRegister began."""
    current().synchronize()
    if address_of(p) not in SPACE.registered:
        if SPACE.buffer_at(address_of(p)) is not None:
            raise invalid("the address is not the start of a registration")
        raise ApiError("CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "it is not registered")
    SPACE.release(address_of(p), ("registered",))


def _pinned(p: object) -> AddressRange:
    b = SPACE.buffer_at(address_of(p))
    if b is None or b.kind not in ("host", "registered"):
        raise invalid("the memory is not pinned")
    return b


@api
def cuMemHostGetDevicePointer(p: object, Flags: object) -> CUdeviceptr:
    """The device's address of pinned memory, which is the host's."""
    if integer(Flags):
        raise invalid("the flags must be 0")
    _pinned(p)
    return CUdeviceptr(address_of(p))


@api
def cuMemHostGetFlags(p: object) -> int:
    """The flags that pinned memory was made with; with one address space it is always mapped."""
    b = SPACE.buffer_at(address_of(p))
    return 2 if b is not None and b.kind == "managed" else _pinned(p).flags | 2


@api
def cuMemGetInfo() -> tuple[int, int]:
    """(free, all) bytes of device memory."""
    c = current()
    c.check()
    return c.free_memory, c.arena.limit


@api
def cuMemGetAddressRange(dptr: object) -> tuple[CUdeviceptr, int]:
    """(start, size) of the allocation that holds an address."""
    current()
    found = SPACE.find(integer(dptr))
    if found is None:
        raise ApiError("CUDA_ERROR_NOT_FOUND", SPACE.explain(integer(dptr)))
    return CUdeviceptr(found[1].start), found[1].size
