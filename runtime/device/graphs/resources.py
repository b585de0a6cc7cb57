"""What graphs may hold beside work: memory that they allocate, objects of the host whose users are counted, and values that decide."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import ApiError, invalid
from ..memory.allocations import SPACE, AddressRange
from ..memory.host import host
from ..memory.pools import chunks

if TYPE_CHECKING:
    from ..context import DeviceContext
    from .graphs import DeviceGraph
    from .pending import Steps


@dataclass(eq=False)
class GraphMemory:
    """An allocation of a graph: its address is known when the graph is built, and is the same at every launch."""

    range: AddressRange
    live: bool = False
    mapped: bool = False  # has it memory behind its address?  Also after it was freed, as long as a graph may be launched that allocates it
    reserved: bool = False  # does the device keep that memory for graphs?

    def begin(self) -> None:
        """The graph allocates it."""
        self.live = self.mapped = self.reserved = True
        note_sizes(self.range.owner)
        if (sanitizer := SPACE.sanitizer) is not None:
            sanitizer.unset(self.range.arena, self.range.start, self.range.size)

    def end(self) -> None:
        """The graph, or the program, frees it."""
        self.live = False

    def unmap(self) -> None:
        """What could be launched and allocates it is destroyed."""
        self.mapped = self.live

    def trim(self) -> None:
        """The device gets back what nobody has allocated now."""
        self.mapped = self.reserved = self.live


def graph_memory(owner: DeviceContext, size: int) -> GraphMemory:
    """Memory for an allocation of a graph."""
    if size <= 0:
        raise invalid("the size must be positive")
    made = GraphMemory(SPACE.allocate(owner.arena, size, "device", owner))
    made.range.pool = made
    note_sizes(owner)
    return made


def note_sizes(owner: Any) -> None:
    """Keeps the most that graphs use, and have reserved, on a context's device."""
    owner.arena.of_graphs.note(*graph_sizes(owner.ordinal))


def graph_sizes(ordinal: int) -> tuple[int, int]:
    """Bytes that graphs use on a device, and that they have reserved there: in chunks, as those of a pool."""
    own = graph_memories(ordinal)
    return chunks(sum(m.range.size for m in own if m.mapped)), chunks(sum(m.range.size for m in own if m.reserved))


def graph_memories(ordinal: int) -> list[GraphMemory]:
    """All that graphs of a device allocate."""
    return [b.pool for b in SPACE.buffers.values() if isinstance(b.pool, GraphMemory) and b.owner.ordinal == ordinal]


def graph_memory_at(address: int) -> GraphMemory | None:
    """What a graph has allocated at an address."""
    b = SPACE.buffers.get(address)
    return b.pool if b is not None and isinstance(b.pool, GraphMemory) else None


@dataclass(eq=False)
class UserObject:
    """An object of the host that is destroyed when nobody uses it any more."""

    pointer: int
    destroy: int  # a function of the host
    users: int

    def retain(self, count: int) -> None:
        """So many more use it."""
        if count < 1:
            raise invalid(f"{count} users")
        self.users += count

    def release(self, count: int) -> None:
        """So many no longer use it."""
        if not 1 <= count <= self.users:
            raise invalid(f"{count} of {self.users} users")
        self.users -= count
        if not self.users:
            host().call(self.destroy, self.pointer)


IF, WHILE, SWITCH = 0, 1, 2  # CUgraphConditionalNodeType
ASSIGN_DEFAULT = 1


@dataclass(eq=False)
class Conditional:
    """A value in device memory, at the address that is its handle; kernels set it by cudaGraphSetConditional."""

    context: DeviceContext
    address: int
    default: int | None  # what a launch of the graph begins with

    def begin(self) -> None:
        """The graph is launched."""
        if self.default is not None:
            self._cell[:] = self.default

    @property
    def _cell(self) -> np.ndarray[tuple[int], np.dtype[np.uint32]]:
        return SPACE.device_bytes(self.address, 4).view(np.uint32)

    @property
    def value(self) -> int:
        """What it is now."""
        return int(self._cell[0])


@dataclass(eq=False)
class ConditionalWork:
    """Graphs that run as a value says."""

    condition: Conditional
    kind: int
    bodies: list[DeviceGraph] = field(default_factory=list)

    def run(self) -> Steps:
        """Runs the one that the value chooses; of a loop as long as the value is not zero."""
        c = self.condition
        if self.kind == WHILE:
            while c.value and not c.context.broken:
                yield from self.bodies[0].run()
            return
        chosen = c.value if self.kind == SWITCH else 0 if c.value else 1
        if chosen < len(self.bodies):
            yield from self.bodies[chosen].run()


def conditional(context: DeviceContext, default: int, flags: int) -> Conditional:
    """A new value."""
    if flags & ~ASSIGN_DEFAULT:
        raise invalid(f"flags {flags:#x}")
    cell = SPACE.allocate(context.arena, 4, "device", context)
    return Conditional(context, cell.start, default if flags & ASSIGN_DEFAULT else None)


def bodies(kind: int, size: int) -> int:
    """How many graphs a node of a kind has."""
    allowed = {IF: (1, 2), WHILE: (1,), SWITCH: range(1, 1 << 16)}.get(kind)
    if allowed is None:
        raise ApiError("CUDA_ERROR_NOT_SUPPORTED", f"conditional nodes of kind {kind}")
    if size not in allowed:
        raise invalid(f"a conditional node of kind {kind} with {size} graphs")
    return size
