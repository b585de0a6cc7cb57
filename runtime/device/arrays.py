"""CUDA arrays and the copies between them and memory: rows of a box, each from one place to another."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..errors import invalid
from .memory import SPACE, Bytes


@dataclass(eq=False)
class DeviceArray:
    """An array in a layout of the device's own, which only copies, textures and surfaces see."""

    width: int
    height: int  # 0: one dimension
    depth: int  # 0: at most two
    format: int
    channels: int
    element: int  # bytes of one channel
    flags: int = 0
    contents: NDArray[np.uint8] = field(init=False)

    def __post_init__(self) -> None:
        self.contents = np.zeros((max(self.depth, 1), max(self.height, 1), self.width * self.texel), np.uint8)

    @property
    def texel(self) -> int:
        """Bytes of one element with all its channels."""
        return self.element * self.channels

    def row(self, x: int, y: int, z: int, size: int) -> Bytes:
        """Bytes x.. of a row."""
        depth, height, width = self.contents.shape
        if x + size > width or y >= height or z >= depth:
            raise invalid(f"{size} bytes at ({x}, {y}, {z}) of an array of {width} x {height} x {depth} bytes")
        return self.contents[z, y, x : x + size]


@dataclass(frozen=True, slots=True)
class Side:
    """One end of a copy: an array, or memory with its pitch; both with the place where the box begins."""

    array: DeviceArray | None
    address: int
    pitch: int = 0
    height: int = 0
    x: int = 0  # in bytes
    y: int = 0
    z: int = 0

    def row(self, y: int, z: int, size: int) -> Bytes:
        """One row of the box."""
        if self.array is not None:
            return self.array.row(self.x, self.y + y, self.z + z, size)
        at = self.address + self.x + (self.y + y) * self.pitch + (self.z + z) * self.pitch * self.height
        return SPACE.bytes_at(at, size)


def copy_box(source: Side, target: Side, width: int, height: int, depth: int) -> None:
    """Copies a box of bytes."""
    if not width or not height or not depth:
        return
    for side in (source, target):
        if side.array is None and side.pitch and side.pitch < side.x + width and height > 1:
            raise invalid(f"rows of {width} bytes do not fit a pitch of {side.pitch}")
    ends = [s for s in (source, target) if s.array is None and s.pitch in (0, width)]
    if len(ends) == 2 and depth == 1 and (height == 1 or source.pitch == target.pitch == width):
        size = width * height
        target.row(0, 0, size)[:] = source.row(0, 0, size).copy()
        return
    for side in (source, target):  # the far corner first: a box that does not fit is not copied in part
        side.row(height - 1, depth - 1, width)
    for z in range(depth):
        for y in range(height):
            target.row(y, z, width)[:] = source.row(y, z, width)


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
