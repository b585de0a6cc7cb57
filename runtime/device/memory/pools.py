"""Pools of memory for allocations in a stream's order."""

from __future__ import annotations

from dataclasses import dataclass, field

CHUNK = 32 << 20  # a pool takes memory from the device, and gives it back, in pieces of so many bytes: measured on an H200


@dataclass(eq=False)
class Pool:
    """A pool of memory for allocations in a stream's order."""

    ordinal: int
    kind: str = "device"  # or host, managed
    default: bool = False
    reserved: int = 0
    reserved_high: int = 0
    used: int = 0
    used_high: int = 0
    threshold: int = 0
    maximum: int = 0
    settings: dict[int, int] = field(default_factory=lambda: {1: 1, 2: 1, 3: 1})  # CU_MEMPOOL_ATTR_REUSE_* by their numbers
    access: dict[int, int] = field(default_factory=dict)

    def take(self, size: int) -> None:
        """An allocation was made."""
        self.used += size
        self.used_high = max(self.used_high, self.used)
        self.reserved = max(self.reserved, self.least)
        self.reserved_high = max(self.reserved_high, self.reserved)

    def give(self, size: int) -> None:
        """An allocation was freed; what lies above the threshold goes back to the device."""
        self.used -= size
        self.trim(self.threshold)

    def trim(self, keep: int) -> None:
        """Gives back what is not used, above so many bytes."""
        self.reserved = max(self.least, min(self.reserved, chunks(keep)))

    @property
    def least(self) -> int:
        """What it must have for its allocations."""
        return chunks(self.used)


def chunks(size: int) -> int:
    """So many bytes in whole chunks."""
    return -(-size // CHUNK) * CHUNK
