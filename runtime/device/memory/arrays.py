"""CUDA arrays: texels in device memory that only copies, textures and surfaces see, level by level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from warplab.interpreter.memory.arena import Arena, OutOfMemory
from warplab.isa.textures.resources import TexelFormat

from ...errors import ApiError, invalid
from .allocations import AddressRange, AddressSpace, Owner
from .host import Bytes

LAYERED, SURFACE, CUBEMAP, GATHER, SPARSE = 1, 2, 4, 8, 64  # flags of an array
# The formats of channels by CUarray_format's numbers.
CHANNELS = {1: ("u", 8), 2: ("u", 16), 3: ("u", 32), 8: ("s", 8), 9: ("s", 16), 10: ("s", 32), 16: ("f", 16), 32: ("f", 32)}
LEVEL_ALIGNMENT = 512


@dataclass(frozen=True, slots=True)
class ArrayShape:
    """What an array is made as."""

    width: int
    height: int  # 0: one dimension
    depth: int  # 0: at most two; else planes, layers, or faces of all cubes
    format: int
    channels: int
    flags: int = 0

    @property
    def texel(self) -> TexelFormat:
        """The format of its texels."""
        kind, bits = CHANNELS[self.format]
        return TexelFormat(kind, bits, self.channels)

    @property
    def rows(self) -> tuple[int, int, int]:
        """(slices, rows, bytes of a row)."""
        return max(self.depth, 1), max(self.height, 1), self.width * self.texel.bytes

    @property
    def size(self) -> int:
        """Bytes of all texels."""
        slices, rows, width = self.rows
        return slices * rows * width

    @property
    def most_levels(self) -> int:
        """How many levels halve the largest side down to one texel."""
        planes = 0 if self.flags & (LAYERED | CUBEMAP) else self.depth
        return max(self.width, self.height, planes).bit_length()

    def level(self, k: int) -> ArrayShape:
        """A level: each side is halved, layers and faces stay."""
        height = self.height and max(self.height >> k, 1)
        halved = self.depth and max(self.depth >> k, 1)
        depth = self.depth if self.flags & (LAYERED | CUBEMAP) else halved
        return ArrayShape(max(self.width >> k, 1), height, depth, self.format, self.channels, self.flags)


@dataclass(eq=False)
class DeviceArray:
    """An array, or one level of a mipmapped array."""

    shape: ArrayShape
    memory: AddressRange  # of all levels; without bytes where the array is sparse, as nothing is mapped to it
    start: int = 0  # where its texels begin in the memory
    of_mipmap: bool = False
    contents: NDArray[np.uint8] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if not self.resident:
            self.contents = np.broadcast_to(np.zeros(1, np.uint8), self.shape.rows)
            return
        arena, at = self.memory.arena, self.memory.start + self.start
        self.contents = arena.bytes[at - arena.base :][: self.shape.size].reshape(self.shape.rows)

    @property
    def resident(self) -> bool:
        """Is there memory behind its texels?"""
        return self.memory.size > 0

    def gone(self) -> str:
        """Why the array can't be used any more; "" while it can."""
        return "the array was destroyed" if self.memory.allocation.freed else ""

    def row(self, x: int, y: int, z: int, size: int) -> Bytes:
        """Bytes x.. of a row."""
        if self.gone():
            raise invalid(self.gone())
        depth, height, width = self.contents.shape
        if x + size > width or y >= height or z >= depth:
            raise invalid(f"{size} bytes at ({x}, {y}, {z}) of an array of {width} x {height} x {depth} bytes")
        return self.contents[z, y, x : x + size] if self.resident else np.zeros(size, np.uint8)


@dataclass(eq=False)
class DeviceMipmap:
    """An array with levels, each of which is an array."""

    shape: ArrayShape
    levels: tuple[DeviceArray, ...]

    @property
    def memory(self) -> AddressRange:
        """The memory of all levels."""
        return self.levels[0].memory

    def gone(self) -> str:
        """Why the array can't be used any more; "" while it can."""
        return self.levels[0].gone()

    def level(self, k: int) -> DeviceArray:
        """One level."""
        if not 0 <= k < len(self.levels):
            raise invalid(f"level {k}; the array has {len(self.levels)}")
        return self.levels[k]


def _starts(shapes: Sequence[ArrayShape]) -> list[int]:
    """Where each level begins, and behind them the size of all."""
    out = [0]
    for s in shapes:
        out.append(out[-1] + -(-s.size // LEVEL_ALIGNMENT) * LEVEL_ALIGNMENT)
    return out


def array_memory(shape: ArrayShape, levels: int = 1) -> int:
    """The bytes that an array and its levels take."""
    return _starts([shape.level(k) for k in range(levels)])[-1]


def new_array(space: AddressSpace, arena: Arena, owner: Owner, shape: ArrayShape, levels: int = 1) -> tuple[DeviceArray, ...]:
    """An array's levels in new memory."""
    shapes = [shape.level(k) for k in range(levels)]
    *starts, size = _starts(shapes)
    try:
        found = arena.allocate(0 if shape.flags & SPARSE else size, "array", LEVEL_ALIGNMENT)
    except OutOfMemory:
        raise ApiError(
            "CUDA_ERROR_OUT_OF_MEMORY", f"out of memory: an array needs {size} bytes, and {arena.used} of {arena.limit} are in use"
        ) from None
    memory = space.add(found, arena, "array", owner)
    return tuple(DeviceArray(s, memory, at, levels > 1) for s, at in zip(shapes, starts, strict=True))
