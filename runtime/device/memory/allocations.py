"""The memory that host and devices share: one address for each byte, whoever asks, and what is known of every allocation.

Device memory is an Arena for each device; pinned, mapped and managed memory is one Arena whose addresses are the process's own, so that a
kernel and the host use the same pointer.  Host memory that was registered becomes an Arena too.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.memory.address_space import address_space
from warplab.interpreter.memory.arena import FIRST, MOST_SLIPS, SLACK, Allocation, Arena, OutOfMemory

from ...clock.figures import MemoryPlace, PlaceKind
from ...clock.timeline import Timeline
from ...errors import ApiError, invalid
from ..launches.sanitizing import OPEN, Sanitizer
from .host import Bytes, host

HOST_MEMORY = 64 << 30  # address space for pinned and managed memory
HOST_BYTES = HOST_MEMORY + FIRST + SLACK
PITCH = 512
ALIGNMENT = 512  # of an allocation; textures of memory ask for it
GPU_PAGE = 2 << 20  # bytes that a GPU maps together; an allocation of more than half as many begins with such a page
OWN_MEMORY = 32 << 20  # of the driver, in front of the first allocation: an H100 reads zeros there
OF_HOST: dict[str, PlaceKind] = {"host": "pinned", "registered": "pinned", "managed": "managed"}  # by the kind of an allocation
HEAP_BLOCK = "device malloc block"  # what an allocation of a kernel is called


class Owner(Protocol):
    """What an allocation belongs to: a context, or the mapping that gave it its address."""

    @property
    def ordinal(self) -> int:
        """The number of its device."""

    def synchronize(self) -> None:
        """All work is done."""

    def free(self, address: int) -> None:
        """Gives memory back."""


@dataclass(eq=False)
class AddressRange:
    """An allocation that the host made, with its history."""

    allocation: Allocation
    arena: Arena
    kind: str  # device host managed registered variable mapped
    owner: Owner
    number: int
    flags: int = 0
    pool: object = None
    sync_memops: bool | None = None  # as set; before, only managed memory has it
    advice: dict[str, set[int]] = field(default_factory=dict)  # on managed memory
    lent: Arena | None = None  # it alone, for other devices than that which has it

    @property
    def alone(self) -> Arena:
        """The allocation without the rest of its device's memory."""
        if self.lent is None:
            begin = self.start - self.arena.base
            self.lent = Window(self.start, self.arena.bytes[begin : begin + self.size], self.allocation)
        return self.lent

    @property
    def start(self) -> int:
        return self.allocation.start

    @property
    def size(self) -> int:
        return self.allocation.size


@dataclass(slots=True)
class GraphMarks:
    """The most bytes that graphs have used, and reserved, on a device."""

    used: int = 0
    reserved: int = 0

    def note(self, used: int, reserved: int) -> None:
        """So many are now."""
        self.used, self.reserved = max(self.used, used), max(self.reserved, reserved)


class DeviceArena(Arena):
    """A device's memory: far more address space than the machine has memory."""

    def __init__(self, size: int, base: int = 0, by_pages: bool = False) -> None:
        room = size + size // 4  # allocations that begin with a page leave gaps
        super().__init__(room, base, address_space(room + OWN_MEMORY + SLACK))
        if base:
            self._top = OWN_MEMORY
        self.limit = size
        self.by_pages = by_pages  # an access outside of allocations passes, as on a GPU, where one lies on the same page
        self.of_graphs = GraphMarks()
        self.slips: list[str] = []  # such accesses, in words: the first that each check finds

    def holds_each(self, low: Any, size: int, write: bool) -> Any:
        """See Arena."""
        out = super().holds_each(low, size, write)
        if self.by_pages and not out.all():
            for i in np.flatnonzero(~out).tolist():
                out[i] = self._passes(int(low[i]), int(low[i]) + size, write)
        return out

    def _passes(self, low: int, end: int, write: bool) -> bool:
        """Does every page of a stretch that no allocation holds belong to one that lives?  What is read-only stays so."""
        inside = self.find(low)
        if low < self.base or end > self.base + self.reserved or (inside is not None and write and not inside.writable):
            return False
        if (write or end > self.base + OWN_MEMORY) and not all(
            self._has_living(page) for page in range(low // GPU_PAGE, (end - 1) // GPU_PAGE + 1)
        ):
            return False
        if len(self.slips) < MOST_SLIPS and (inside is None or inside.freed or end > inside.end):
            at = inside.end if inside is not None and not inside.freed else low
            self.slips.append(f"{'writes' if write else 'reads'} up to {end - at} bytes at {at:#x}, {self.nearest(at)}")
        return True

    def _has_living(self, page: int) -> bool:
        first = bisect_left(self._starts, page * GPU_PAGE)
        for i in range(max(first - 1, 0), len(self._starts)):
            a = self._by_start[self._starts[i]]
            if a.start >= (page + 1) * GPU_PAGE:
                break
            if a.end > page * GPU_PAGE and not a.freed:
                return True
        return False


class Window(Arena):
    """Bytes of some memory at an address of their own: one allocation."""

    def __init__(self, base: int, content: Bytes, allocation: Allocation) -> None:
        self.base = base
        self.bytes = content
        self.size = self.limit = self.reserved = content.size
        self.host_address = int(content.ctypes.data)
        self._views = {}
        self._hold(allocation)
        self.used = allocation.size

    def view(self, dtype: np.dtype[np.generic]) -> NDArray[np.generic]:
        """All of the memory as elements of a dtype; a last part that is none is left out."""
        found = self._views.get(dtype.char)
        if found is None:
            found = self._views[dtype.char] = self.bytes[: self.reserved // dtype.itemsize * dtype.itemsize].view(dtype)
        return found


class Unreachable(Arena):
    """Addresses at which an access faults, and why."""

    def __init__(self, base: int, size: int, why: str) -> None:
        self.base = base
        self.reserved = size
        self.why = why
        self._hold()

    def nearest(self, address: int, size: int = 0) -> str:
        """See Arena."""
        return self.why


class RegisteredArena(Window):
    """Host memory that another library owns."""

    def __init__(self, address: int, size: int) -> None:
        base = address & -256
        super().__init__(base, host().view(base, address + size - base), Allocation(address, size, "registered host memory"))

    def spans(self, address: int) -> bool:
        """See Arena: around it lies memory of the host's that is not registered."""
        return self.find(address) is not None


class AddressSpace:
    """Every memory of the process that a device address may mean."""

    def __init__(self) -> None:
        self.own_sanitizer: Sanitizer | None = None  # in place of that of an open block
        self.clock: Timeline | None = None  # where the time of the program is modelled
        self.clear()

    def clear(self) -> None:
        """There is no memory."""
        self._host: Arena | None = None
        self.registered: dict[int, Window] = {}  # host memory, and what a run puts at addresses of its own
        self.mapped: dict[int, Window] = {}  # device memory at addresses that the program chose
        self.devices: list[Arena] = []
        self.buffers: dict[int, AddressRange] = {}
        self.lent: dict[object, dict[int, int]] = {}  # pools to which other devices have access: what each device may do
        self.variables: dict[int, AddressRange] = {}  # managed ones, of which something was said
        self._numbers = 0

    @property
    def has_host(self) -> bool:
        """Was pinned or managed memory ever needed?"""
        return self._host is not None

    @property
    def sanitizer(self) -> Sanitizer | None:
        """What looks at launches, and hears of device memory that is made and written."""
        return self.own_sanitizer or (OPEN[-1] if OPEN else None)

    @property
    def host(self) -> Arena:
        """Pinned and managed memory."""
        if self._host is None:
            base, memory = host().shared_memory(HOST_BYTES)
            self._host = Arena(HOST_MEMORY, base, memory)
        return self._host

    def host_arenas(self) -> list[Arena]:
        """Host memory that kernels can reach."""
        return [*self.registered.values()] if self._host is None else [self._host, *self.registered.values()]

    def add(self, allocation: Allocation, arena: Arena, kind: str, owner: Owner, flags: int = 0) -> AddressRange:
        """Enters an allocation."""
        self._numbers += 1
        b = self.buffers[allocation.start] = AddressRange(allocation, arena, kind, owner, self._numbers, flags)
        return b

    def allocate(self, arena: Arena, size: int, kind: str, owner: Owner, flags: int = 0, align: int = ALIGNMENT) -> AddressRange:
        """New memory."""
        if size <= 0:
            raise invalid("the size must be positive")
        what = {"device": "allocation", "host": "pinned host allocation", "managed": "managed allocation"}.get(kind, kind)
        try:
            a = arena.allocate(size, what, max(align, GPU_PAGE) if size > GPU_PAGE // 2 else align)
        except OutOfMemory:
            raise ApiError(
                "CUDA_ERROR_OUT_OF_MEMORY", f"out of memory: {size} bytes are requested, and {arena.used} of {arena.limit} are in use"
            ) from None
        if kind == "device" and (sanitizer := self.sanitizer) is not None:
            sanitizer.unset(arena, a.start, a.size)
        return self.add(a, arena, kind, owner, flags)

    def release(self, address: int, kinds: tuple[str, ...]) -> AddressRange:
        """Gives an allocation back."""
        b = self.buffers.get(address)
        if b is None or b.kind not in kinds:
            raise invalid(f"{address:#x} is not the start of an allocation: {self.explain(address)}")
        del self.buffers[address]
        if b.kind == "registered":
            del self.registered[address]
            host().end_view(address, b.size)
        else:
            b.arena.free(b.allocation)
        return b

    def explain(self, address: int) -> str:
        """What lies at an address, in words."""
        return next((arena.nearest(address) for arena in self.arenas() if arena.spans(address)), "no memory of a device")

    def arenas(self) -> Iterator[Arena]:
        """All memories; the devices' last, since that of a run begins at zero."""
        yield from self.host_arenas()
        yield from self.mapped.values()
        yield from self.devices

    def find(self, address: int) -> tuple[Arena, Allocation] | None:
        """The living allocation at an address; what a kernel's malloc gave is not memory for the host's calls, as CUDA has it."""
        for arena in self.arenas():
            if arena.spans(address):
                a = arena.find(address)
                if a is not None and not a.freed and a.what != HEAP_BLOCK:
                    return arena, a
        return None

    def buffer_at(self, address: int) -> AddressRange | None:
        """The host's allocation that holds an address."""
        found = self.find(address)
        return self.buffers.get(found[1].start) if found else None

    def managed_at(self, address: int, owner: Owner) -> AddressRange | None:
        """The host's allocation, or the managed variable, that holds an address."""
        b, found = self.buffer_at(address), self.find(address)
        if b is not None or found is None or self.is_device_memory(found[0]):
            return b
        arena, allocation = found
        known = self.variables.get(allocation.start)
        if known is None or known.allocation is not allocation:
            known = self.variables[allocation.start] = AddressRange(allocation, arena, "managed", owner, 0)
        return known

    def device_bytes(self, address: int, size: int, writes: bool = True) -> Bytes:
        """A view of memory that a device can reach; to read, or also to write."""
        whole = self.buffers.get(address)
        found = self.find(address) if whole is None else (whole.arena, whole.allocation)
        if found is None or address + size > found[1].end:
            raise invalid(f"{size} bytes at {address:#x}: {self.explain(address)}")
        arena = found[0]
        if (sanitizer := self.sanitizer) is not None:
            (sanitizer.written if writes else sanitizer.read)(arena, address, size)
        return arena.bytes[address - arena.base : address - arena.base + size]

    def pieces(self, size: int, *addresses: int) -> Iterator[tuple[int, int]]:
        """Offsets and sizes of the parts of stretches at some addresses, each of which lies within one mapping."""
        cuts = {0, size}
        for window in self.mapped.values():
            cuts.update(cut for a in addresses for cut in (window.base - a, window.base + window.size - a) if 0 < cut < size)
        yield from ((start, end - start) for start, end in pairwise(sorted(cuts)))

    def is_device_memory(self, arena: Arena) -> bool:
        """Is it memory of a device, at its own address or at one that the program chose?"""
        return arena in self.devices or arena in self.mapped.values()

    def means_device(self, address: int, is_host: bool | None) -> bool:
        """Is a side of a copy memory of this space?  `is_host`: what the call says of it; a device's allocation is one whatever it says."""
        if is_host is None:
            return self.is_device_range(address)
        return not is_host or self.find(address) is not None

    def place(self, address: int, is_host: bool | None) -> MemoryPlace:
        """What kind of memory a side of a copy is; see means_device."""
        if not self.means_device(address, is_host):
            return MemoryPlace("pageable")
        b = self.buffer_at(address)
        if b is None:
            return MemoryPlace("device")
        return MemoryPlace(OF_HOST.get(b.kind, "device"), b.owner.ordinal)

    def bytes_at(self, address: int, size: int, writes: bool = True) -> Bytes:
        """A view of any memory: a device's where the address is one, else the process's own; to read, or also to write."""
        if size == 0:
            return np.zeros(0, np.uint8)
        if address == 0:
            raise invalid("a null pointer")
        if self.is_device_range(address):
            return self.device_bytes(address, size, writes)
        return host().view(address, size)

    def is_device_range(self, address: int) -> bool:
        """Does the address belong to a memory that devices own or that was registered?"""
        return any(arena.spans(address) for arena in self.arenas())


SPACE = AddressSpace()
