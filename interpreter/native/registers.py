"""Registers and lists of lanes between compiled code and numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry
from ..values import plain
from .frame import Frame
from .lane_lists import ListedLanes, flags, masks_of
from .uniformity import UNIFORM

Array = NDArray[Any]
KNOWN_LISTS = 16  # that are remembered: in a loop, the same lanes come again


class NativeRegisters:
    """The memory that holds the registers of a wave: the uniforms, then a frame for each vector of lanes."""

    def __init__(self, frame: Frame, blocks: int, threads: int) -> None:
        self.frame = frame
        self.threads = threads  # of a block
        self.each = -(-threads // frame.width)  # vectors of a block
        self.memory = aligned(frame.uniforms + blocks * self.each * frame.size)
        self._rows: dict[tuple[int, int], Array] = {}
        self._flat: dict[int, Array] = {}
        self._lists: dict[tuple[int, bytes], ListedLanes] = {}

    # ------------------------------------------------------------ lists

    def listed(self, entries: Array, blocks: int) -> ListedLanes:
        """The lanes of a list."""
        key = blocks, entries.tobytes()
        found = self._lists.get(key)
        if found is None:
            if len(self._lists) == KNOWN_LISTS:
                self._lists.clear()
            masks = np.zeros(blocks * self.each, np.uint32)
            masks[entries >> 32] = entries & 0xFFFFFFFF
            found = self._lists[key] = ListedLanes(masks, blocks, self.threads)
        return found

    def all_of(self, blocks: int) -> ListedLanes:
        """All lanes of so many blocks."""
        return ListedLanes(self.masks(np.ones((blocks, self.threads), np.bool_)).astype(np.uint32), blocks, self.threads)

    def lanes(self, masks: Array, blocks: int) -> Array:
        """Masks of vectors as flags of (blocks, threads)."""
        return flags(masks.astype(np.uint32)).reshape(blocks, -1)[:, : self.threads]

    def masks(self, lanes: Array) -> Array:
        """Flags of (blocks, threads) as masks of vectors."""
        whole = np.zeros((len(lanes), self.each * self.frame.width), np.bool_)
        whole[:, : self.threads] = lanes
        return masks_of(whole).ravel().astype(np.int64)

    # ------------------------------------------------------------ registers

    def get(self, slot: int, kind: int, lanes: ListedLanes) -> Array:
        """A register of some lanes, as numpy takes it."""
        dtype, g = self.frame.dtypes[slot], lanes.geometry
        if kind == UNIFORM:
            raw = self.memory[8 * slot : 8 * slot + 8]
            value = (raw[:1] & 1).view(np.bool_) if dtype.kind == "b" else raw[: dtype.itemsize].copy().view(dtype)
            return value.reshape(1, 1)
        if lanes.is_whole:
            return self._whole(slot, lanes.blocks)
        v = self._all(slot)
        if dtype.kind == "b":
            v = flags(v[lanes.vectors * (self.frame.size // 4)])[lanes.place]
        else:
            v = v[lanes.vector * (self.frame.size // dtype.itemsize) + lanes.lane]
        return v.reshape(g.shape)

    def put(self, slot: int, kind: int, value: Any, lanes: ListedLanes) -> None:
        """What numpy has found for some lanes."""
        dtype, v = self.frame.dtypes[slot], plain(value)
        v = v if v.dtype == dtype else v.view(dtype)
        if kind == UNIFORM:
            self.memory[8 * slot : 8 * slot + dtype.itemsize] = v.ravel()[:1].view(np.uint8)
            return
        if lanes.is_whole:
            self._write(slot, lanes.blocks, v)
            return
        v, rows = np.broadcast_to(v, lanes.geometry.shape).ravel(), self._all(slot)
        if dtype.kind != "b":
            rows[lanes.vector * (self.frame.size // dtype.itemsize) + lanes.lane] = v
            return
        whole, at = np.zeros(len(lanes.vectors) * self.frame.width, np.bool_), lanes.vectors * (self.frame.size // 4)
        whole[lanes.place] = v
        rows[at] = rows[at] & ~lanes.masks | masks_of(whole)

    def put_lanes(self, slot: int, kind: int, value: Any, geometry: Geometry, lanes: Array) -> None:
        """What a group of these lanes holds, for those of (blocks, threads) that are named."""
        if kind == UNIFORM:
            self.put(slot, kind, value, self.all_of(len(lanes)))
            return
        dtype, v = self.frame.dtypes[slot], plain(value)
        whole = np.zeros(lanes.shape, dtype)
        whole[geometry.block, geometry.thread] = v if v.dtype == dtype else v.view(dtype)
        self._write(slot, len(lanes), np.where(lanes, whole, self._whole(slot, len(lanes))))

    def _whole(self, slot: int, blocks: int) -> Array:
        """A register of all lanes of so many blocks, as numpy takes it."""
        v = self._vectors(slot, blocks).copy()
        if v.dtype == np.uint32 and self.frame.dtypes[slot].kind == "b":
            v = flags(v)
        return np.ascontiguousarray(v.reshape(blocks, -1)[:, : self.threads])

    def _write(self, slot: int, blocks: int, value: Array) -> None:
        dtype, rows = self.frame.dtypes[slot], self._vectors(slot, blocks)
        if dtype.kind != "b" and value.shape[1] == 1:
            rows[...] = value[:, :, None]
        elif dtype.kind != "b" and self.threads % self.frame.width == 0:
            rows[...] = value.reshape(len(value), self.each, self.frame.width)
        else:
            whole = np.zeros((blocks, self.each * self.frame.width), dtype)
            whole[:, : self.threads] = value
            rows[...] = (masks_of(whole) if dtype.kind == "b" else whole).reshape(rows.shape)

    def _vectors(self, slot: int, blocks: int) -> Array:
        """A register of all lanes as it lies in the frames: (blocks, vectors, lanes), flags as numbers of 32 bits."""
        found = self._rows.get((slot, blocks))
        if found is None:
            dtype, size = self.frame.dtypes[slot], self.frame.size
            kept, lanes = (np.dtype(np.uint32), 1) if dtype.kind == "b" else (dtype, self.frame.width)
            shape, strides = (blocks, self.each, lanes), (self.each * size, size, kept.itemsize)
            found = self._rows[slot, blocks] = np.ndarray(shape, kept, self.memory[self._place(slot) :].data, 0, strides)
        return found

    def _all(self, slot: int) -> Array:
        """The frames from a register of the first vector on, in units of what is kept of one lane, or of the flags of a vector."""
        found = self._flat.get(slot)
        if found is None:
            dtype, first = self.frame.dtypes[slot], self._place(slot)
            kept = np.dtype(np.uint32) if dtype.kind == "b" else dtype
            found = self._flat[slot] = self.memory[first : len(self.memory) - (len(self.memory) - first) % kept.itemsize].view(kept)
        return found

    def _place(self, slot: int) -> int:
        return self.frame.uniforms + self.frame.offsets[slot]


def aligned(size: int) -> Array:
    """Zeros at an address that vectors want."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]
