"""Copies of boxes between arrays and memory: rows, each from one place to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from ...clock.figures import MemoryPlace
from ...errors import invalid
from .allocations import SPACE
from .arrays import DeviceArray
from .host import Bytes, host


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
    is_host: bool | None = None  # what the call says of the memory

    @property
    def place(self) -> MemoryPlace:
        """What kind of memory it is."""
        return MemoryPlace("device") if self.array is not None else SPACE.place(self.address, self.is_host)

    def row(self, y: int, z: int, size: int) -> Bytes | int:
        """One row of the box: its bytes, or its address in the host's memory."""
        if self.array is not None:
            return self.array.row(self.x, self.y + y, self.z + z, size)
        at = self.address + self.x + (self.y + y) * self.pitch + (self.z + z) * self.pitch * self.height
        return (
            SPACE.device_bytes(at, size) if SPACE.means_device(self.address, self.is_host) else at
        )  # all of the box, wherever its rows lead


def copy_box(source: Side, target: Side, width: int, height: int, depth: int) -> None:
    """Copies a box of bytes."""
    if not width or not height or not depth:
        return
    for side in (source, target):
        if side.array is None and side.pitch and side.pitch < side.x + width and height > 1:
            raise invalid(f"rows of {width} bytes do not fit a pitch of {side.pitch}")
    ends = [s for s in (source, target) if s.array is None and s.pitch in (0, width)]
    if len(ends) == 2 and depth == 1 and (height == 1 or source.pitch == target.pitch == width):
        width, height = width * height, 1
    places = [(y, z) for z in range(depth) for y in range(height)]
    rows, targets = ([side.row(y, z, width) for y, z in places] for side in (source, target))  # all, before a byte is moved
    move_rows(targets, rows, width)
    if (clock := SPACE.clock) is not None:
        clock.copied(source.place, target.place, width * len(places), len(places))


def move_rows(targets: Sequence[Bytes | int], sources: Sequence[Bytes | int], width: int) -> None:
    """Copies rows, each of which is bytes or an address in the host's memory; all of one side are the same."""
    if isinstance(sources[0], int):
        rows = np.empty((len(sources), width), np.uint8) if isinstance(targets[0], int) else targets
        host().read_rows(cast("Sequence[int]", sources), cast("Sequence[Bytes]", rows))
        if not isinstance(targets[0], int):
            return
    else:
        rows = cast("Sequence[Bytes]", sources)
    if isinstance(targets[0], int):
        host().write_rows(cast("Sequence[int]", targets), cast("Sequence[Bytes]", rows))
        return
    for target, row in zip(cast("Sequence[Bytes]", targets), cast("Sequence[Bytes]", rows), strict=True):
        target[:] = row.copy() if np.may_share_memory(target, row) else row
