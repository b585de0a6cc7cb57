"""The device heap behind malloc and free in kernels: its own limit, memory that outlives the kernel, never handed to cudaFree."""

from __future__ import annotations

from warplab.interpreter.memory.arena import Allocation, Arena, OutOfMemory

from .allocations import HEAP_BLOCK

ALIGN = 16


class DeviceHeap:
    """Allocations that kernels made."""

    def __init__(self, arena: Arena, limit: int) -> None:
        self.arena = arena
        self.limit = limit
        self.used = 0
        self.started = False  # did a kernel ask for memory?
        self._blocks: dict[int, Allocation] = {}

    def allocate(self, size: int) -> int:
        """An address aligned to 16 bytes, or 0 where size is 0 or the heap is full."""
        self.started = True
        room = -(-size // ALIGN) * ALIGN
        if size <= 0 or self.used + room > self.limit:
            return 0
        try:
            a = self.arena.allocate(size, HEAP_BLOCK)
        except OutOfMemory:
            return 0
        self.used += room
        self._blocks[a.start] = a
        return a.start

    def free(self, address: int) -> bool:
        """Gives a block back; False where there is none."""
        a = self._blocks.pop(address, None)
        if a is None:
            return False
        self.used -= -(-a.size // ALIGN) * ALIGN
        self.arena.free(a)
        return True

    def close(self) -> None:
        """Gives all blocks back."""
        for address in list(self._blocks):
            self.free(address)
