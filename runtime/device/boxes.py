"""Copies of boxes between arrays and memory: rows, each from one place to another."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import invalid
from .arrays import DeviceArray
from .memory import SPACE, Bytes


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
