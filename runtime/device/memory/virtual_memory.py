"""Physical memory, address ranges and what is mapped where; multicast objects, which stand for memory of several devices.

Physical memory is an allocation in its device's arena.  A mapping shows its bytes at addresses that the program has reserved, to those
devices that were given access; each device sees a window of its own, and a launch takes along the windows of its device.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from warplab.interpreter.memory.arena import Allocation, Arena, OutOfMemory
from warplab.interpreter.memory.multicast import Bound, MulticastRange

from ...errors import ApiError, invalid
from .allocations import SPACE, AddressSpace, DeviceArena, Unreachable, Window
from .host import Bytes
from .sharing import MemoryFile

GRANULARITY = 2 << 20  # of physical memory, address ranges and mappings
MULTICAST_GRANULARITY = 512 << 20  # what is recommended for multicast objects
FIRST, END = 1 << 45, 1 << 46  # the addresses that are given out: above all devices' own, below the host's
READ_WRITE = 3  # of CUmemAccess_flags


def whole(size: int, what: str) -> int:
    """A positive size or place that is a multiple of the granularity."""
    if size < 0 or size % GRANULARITY:
        raise invalid(f"{what} is {size}, which is not a multiple of {GRANULARITY}")
    return size


@dataclass(eq=False)
class Shared:
    """What lives while a handle, a mapping or a binding holds it."""

    size: int
    handles: int = 1
    uses: int = 0

    def hold(self, uses: int = 1) -> None:
        """One more, or one fewer, uses it."""
        self.uses += uses
        self.settle()

    def settle(self) -> None:
        """Ends it when nothing holds it any more."""
        if self.handles <= 0 and self.uses <= 0:
            self.end()

    def end(self) -> None:
        """Gives back what it has."""


@dataclass(eq=False)
class PhysicalMemory(Shared):
    """Memory of one device, without an address until it is mapped."""

    ordinal: int = 0
    arena: DeviceArena | None = None
    allocation: Allocation | None = None
    properties: Any = None
    file: MemoryFile | None = None  # where other processes find it

    @classmethod
    def create(cls, size: int, ordinal: int, arena: DeviceArena, properties: Any) -> PhysicalMemory:
        """New memory."""
        try:
            a = arena.allocate(size, f"physical memory of device {ordinal}", align=GRANULARITY)
        except OutOfMemory:
            raise ApiError(
                "CUDA_ERROR_OUT_OF_MEMORY", f"out of memory: {size} bytes are requested, and {arena.used} of {arena.limit} are in use"
            ) from None
        return cls(size, ordinal=ordinal, arena=arena, allocation=a, properties=properties)

    def exported(self) -> int:
        """A file of the program's that is this memory, for other processes."""
        assert self.arena is not None
        if self.file is None:
            self.file = MemoryFile.of(self.arena, self.start, self.size, self.ordinal)
        return self.file.number()

    def import_from(self, file: MemoryFile) -> None:
        """Becomes the memory that another process has exported."""
        assert self.arena is not None
        self.file = file
        file.show(self.arena, self.start)
        if (sanitizer := SPACE.sanitizer) is not None:
            sanitizer.written(self.arena, self.start, self.size)

    @property
    def start(self) -> int:
        """Its place in the device's arena."""
        assert self.allocation is not None
        return self.allocation.start

    @property
    def content(self) -> Bytes:
        """Its bytes."""
        assert self.arena is not None
        at = self.start - self.arena.base
        return self.arena.bytes[at : at + self.size]

    def end(self) -> None:
        assert self.arena is not None and self.allocation is not None
        if self.file is not None:
            self.file.end(self.arena, self.start)
        self.arena.free(self.allocation)


@dataclass(eq=False)
class Binding:
    """Memory of one device that a part of a multicast object stands for."""

    offset: int
    size: int
    address: int  # in the device's arena
    content: Bytes
    memory: PhysicalMemory | None  # None: an ordinary allocation of the program's


@dataclass(eq=False)
class MulticastObject(Shared):
    """A stretch of addresses for the memory of a team of devices."""

    expected: int = 1  # devices
    team: list[int] = field(default_factory=list)
    bindings: dict[int, list[Binding]] = field(default_factory=dict)  # by device

    def join(self, ordinal: int) -> None:
        """A device becomes a member."""
        if ordinal in self.team:
            raise invalid(f"device {ordinal} is a member already")
        if len(self.team) == self.expected:
            raise invalid(f"the multicast object is for {self.expected} devices, which have all joined")
        self.team.append(ordinal)
        self.bindings[ordinal] = []

    def bind(self, ordinal: int, binding: Binding) -> None:
        """Memory of a member comes to stand behind a part of the object."""
        if len(self.team) < self.expected:
            raise invalid(f"{len(self.team)} of {self.expected} devices have joined: cuMulticastAddDevice comes first, for all of them")
        self._member(ordinal)
        if not binding.size or binding.offset + binding.size > self.size:
            raise invalid(f"{binding.size} bytes at {binding.offset} of a multicast object of {self.size}")
        if any(b.offset < binding.offset + binding.size and binding.offset < b.offset + b.size for b in self.bindings[ordinal]):
            raise invalid(f"device {ordinal} has memory bound to a part of it")
        self.bindings[ordinal].append(binding)
        if binding.memory is not None:
            binding.memory.hold()

    def unbind(self, ordinal: int, offset: int, size: int) -> None:
        """Takes back all that a member has bound within a part of the object."""
        self._member(ordinal)
        inside = [b for b in self.bindings[ordinal] if offset <= b.offset and b.offset + b.size <= offset + size]
        if sum(b.size for b in inside) != size:
            raise invalid(f"what device {ordinal} has bound does not fill {size} bytes at {offset}")
        for b in inside:
            self.bindings[ordinal].remove(b)
            if b.memory is not None:
                b.memory.hold(-1)

    def _member(self, ordinal: int) -> None:
        if ordinal not in self.bindings:
            raise ApiError("CUDA_ERROR_INVALID_DEVICE", f"device {ordinal} has not joined the multicast object")

    def parts(self) -> tuple[tuple[Bound, ...], ...]:
        """What each device has bound, in the order in which they joined."""
        return tuple(tuple(Bound(b.offset, b.size, b.address) for b in self.bindings[ordinal]) for ordinal in self.team)

    def end(self) -> None:
        for ordinal, bound in self.bindings.items():
            for b in list(bound):
                self.unbind(ordinal, b.offset, b.size)


@dataclass(eq=False)
class Mapping:
    """A handle's memory at an address; it owns the address range that the host sees there."""

    start: int
    what: PhysicalMemory | MulticastObject
    access: dict[int, int] = field(default_factory=dict)  # device -> CUmemAccess_flags
    windows: dict[int, Arena] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return self.what.size

    @property
    def end(self) -> int:
        return self.start + self.size

    @property
    def ordinal(self) -> int:
        """The device whose memory it is."""
        return self.what.ordinal if isinstance(self.what, PhysicalMemory) else self.what.team[0]

    def synchronize(self) -> None:
        """See memory.Owner: nothing is ever under way."""

    def free(self, address: int) -> None:
        """See memory.Owner."""
        raise invalid(f"{address:#x} was mapped: cuMemUnmap ends that")

    def window(self, ordinal: int) -> Arena:
        """The memory as a device sees it."""
        found = self.windows.get(ordinal)
        if found is None:
            found = self.windows[ordinal] = self._seen(ordinal)
        return found

    def _seen(self, ordinal: int) -> Arena:
        if isinstance(self.what, MulticastObject):
            return Unreachable(self.start, self.size, "a multicast object is mapped there, which only multimem instructions reach")
        flags = self.access.get(ordinal, 0)
        if not flags:
            return Unreachable(self.start, self.size, f"device {ordinal} has no access there: cuMemSetAccess gives it")
        return _window(self.start, self.what.content, flags == READ_WRITE, "mapping" if flags == READ_WRITE else "read-only mapping")


def _window(start: int, content: Bytes, writable: bool, what: str) -> Window:
    return Window(start, content, Allocation(start, content.size, what, writable))


class VirtualMemory:
    """The address ranges that the program has reserved, and what is mapped there."""

    def __init__(self, space: AddressSpace) -> None:
        self.space = space
        self.clear()

    def clear(self) -> None:
        """Nothing is reserved."""
        self.reserved: dict[int, int] = {}  # start -> size
        self.mappings: dict[int, Mapping] = {}

    # ------------------------------------------------------------ ranges

    def reserve(self, size: int, align: int, wanted: int) -> int:
        """A range of addresses; at the wanted one if it is free."""
        if align & (align - 1):
            raise invalid(f"an alignment of {align} bytes, which is not a power of two")
        align = max(align, GRANULARITY)
        if not whole(size, "the size"):
            raise invalid("the size must be positive")
        taken = sorted((start, start + n) for start, n in self.reserved.items())
        if wanted % align == 0 and FIRST <= wanted <= END - size and all(end <= wanted or start >= wanted + size for start, end in taken):
            self.reserved[wanted] = size
            return wanted
        at = FIRST
        insort(taken, (END, END))
        for start, end in taken:
            if at + size <= start:
                self.reserved[at] = size
                return at
            at = max(at, -(-end // align) * align)
        raise ApiError("CUDA_ERROR_OUT_OF_MEMORY", f"no room for {size} more addresses")

    def free(self, start: int, size: int) -> None:
        """Gives a range back."""
        if self.reserved.get(start) != size:
            raise invalid(f"{start:#x} is not the start of a reserved range of {size} bytes")
        if any(self.within(start, size)):
            raise invalid("a part of the range is mapped: cuMemUnmap comes first")
        del self.reserved[start]

    def within(self, start: int, size: int) -> Iterator[Mapping]:
        """The mappings that lie in a range or reach into it."""
        return (m for m in self.mappings.values() if m.start < start + size and start < m.end)

    def at(self, address: int) -> Mapping:
        """The mapping that holds an address."""
        found = next(self.within(address, 1), None)
        if found is None:
            raise invalid(f"nothing is mapped at {address:#x}")
        return found

    def filled(self, start: int, size: int) -> list[Mapping]:
        """The mappings that together are a range."""
        found = list(self.within(start, size))
        if not size or any(m.start < start or m.end > start + size for m in found) or sum(m.size for m in found) != size:
            raise invalid(f"the {size} bytes at {start:#x} are not just those of some mappings")
        return found

    # ------------------------------------------------------------ mappings

    def map(self, start: int, size: int, what: PhysicalMemory | MulticastObject) -> None:
        """Gives all of some memory an address; nobody has access yet."""
        whole(start, "the address")
        if size != what.size:
            raise invalid(f"{size} bytes of memory that has {what.size}: all of it is mapped")
        if not any(r <= start and start + size <= r + n for r, n in self.reserved.items()):
            raise invalid(f"the {size} bytes at {start:#x} are not reserved: cuMemAddressReserve comes first")
        if any(self.within(start, size)):
            raise invalid(f"something is mapped within the {size} bytes at {start:#x}")
        self.mappings[start] = Mapping(start, what)
        what.hold()

    def unmap(self, start: int, size: int) -> None:
        """Ends the mappings in a range."""
        for m in self.filled(start, size):
            del self.mappings[m.start]
            self._hide(m)
            m.what.hold(-1)

    def _hide(self, m: Mapping) -> None:
        if self.space.mapped.pop(m.start, None) is not None:
            del self.space.buffers[m.start]

    def grant(self, start: int, size: int, ordinal: int, flags: int) -> None:
        """Says what a device may do with a range."""
        for m in self.filled(start, size):
            if isinstance(m.what, MulticastObject) and ordinal not in m.what.team:
                raise ApiError("CUDA_ERROR_INVALID_DEVICE", f"device {ordinal} has not joined the multicast object")
            m.windows.pop(ordinal, None)
            m.access[ordinal] = flags
            self._hide(m)
            if isinstance(m.what, PhysicalMemory) and any(m.access.values()):
                window = self.space.mapped[m.start] = _window(m.start, m.what.content, True, "mapping")
                self.space.add(window.living()[0], window, "mapped", m)

    # ------------------------------------------------------------ launches

    def windows(self, ordinal: int) -> list[Arena]:
        """What a device reaches beside its own memory, and the copies behind the multicast addresses that it reaches."""
        found: list[Arena] = [m.window(ordinal) for m in self.mappings.values()]
        for m in self._multicasts(ordinal):
            assert isinstance(m.what, MulticastObject)
            for member, bindings in m.what.bindings.items():
                found += [_window(b.address, b.content, True, f"memory of device {member}") for b in bindings if member != ordinal]
        return found + [Unreachable(start, size, "nothing is mapped there") for start, size in self.reserved.items()]

    def multicasts(self, ordinal: int) -> list[MulticastRange]:
        """The multicast addresses that a device reaches."""
        return [MulticastRange(m.start, m.size, m.what.parts()) for m in self._multicasts(ordinal) if isinstance(m.what, MulticastObject)]

    def _multicasts(self, ordinal: int) -> list[Mapping]:
        return [m for m in self.mappings.values() if isinstance(m.what, MulticastObject) and m.access.get(ordinal) == READ_WRITE]


VIRTUAL = VirtualMemory(SPACE)
