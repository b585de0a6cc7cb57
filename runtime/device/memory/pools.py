"""Pools of memory for allocations in a stream's order."""

from __future__ import annotations

from dataclasses import dataclass, field


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
        self.reserved = max(self.reserved, self.used)
        self.reserved_high = max(self.reserved_high, self.reserved)

    def give(self, size: int) -> None:
        """An allocation was freed; what lies above the threshold goes back to the device."""
        self.used -= size
        self.reserved = max(self.used, min(self.reserved, self.threshold))

    def trim(self, keep: int) -> None:
        """Gives back what is not used, above so many bytes."""
        self.reserved = max(self.used, min(self.reserved, keep))
