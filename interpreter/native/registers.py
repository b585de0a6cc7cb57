"""Registers and lists of lanes between compiled code and numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry, Selection
from ..values import plain
from .frame import Frame
from .uniformity import UNIFORM

Array = NDArray[Any]


class NativeRegisters:
    """The memory that holds the registers of a wave: the uniforms, then a frame for each vector of lanes."""

    def __init__(self, frame: Frame, blocks: int, threads: int) -> None:
        self.frame = frame
        self.threads = threads  # of a block
        self.each = -(-threads // frame.width)  # vectors of a block
        self.memory = aligned(frame.uniforms + blocks * self.each * frame.size)

    def get(self, slot: int, kind: int, blocks: int, selection: Selection | None) -> Array:
        """A register of some lanes of so many blocks, as numpy takes it."""
        dtype = self.frame.dtypes[slot]
        if kind == UNIFORM:
            raw = self.memory[8 * slot : 8 * slot + 8]
            value = (raw[:1] & 1).view(np.bool_) if dtype.kind == "b" else raw[: dtype.itemsize].copy().view(dtype)
            return value.reshape(1, 1).copy()
        v = np.ascontiguousarray(self._rows(slot, blocks))
        if dtype.kind == "b":
            v = flags(v)
        v = np.ascontiguousarray(v.reshape(blocks, -1)[:, : self.threads])
        return v if selection is None else selection.take_array(v)

    def put(self, slot: int, kind: int, blocks: int, value: Any, selection: Selection | None) -> None:
        """What numpy has found for some lanes."""
        dtype, v = self.frame.dtypes[slot], plain(value)
        v = v if v.dtype == dtype else v.view(dtype)
        if kind == UNIFORM:
            self.memory[8 * slot : 8 * slot + dtype.itemsize] = v.ravel()[:1].view(np.uint8)
            return
        if selection is None:
            self._write(slot, blocks, v)
        else:
            lanes = self.get(slot, kind, blocks, None)
            selection.put(lanes, v)
            self._write(slot, blocks, lanes)

    def put_lanes(self, slot: int, kind: int, value: Any, geometry: Geometry, lanes: Array) -> None:
        """What a group of these lanes holds, for those of (blocks, threads) that are named."""
        if kind == UNIFORM:
            self.put(slot, kind, len(lanes), value, None)
            return
        dtype, v = self.frame.dtypes[slot], plain(value)
        whole = np.zeros(lanes.shape, dtype)
        whole[geometry.block, geometry.thread] = v if v.dtype == dtype else v.view(dtype)
        self._write(slot, len(lanes), np.where(lanes, whole, self.get(slot, kind, len(lanes), None)))

    def _write(self, slot: int, blocks: int, value: Array) -> None:
        dtype = self.frame.dtypes[slot]
        whole = np.zeros((blocks, self.each * self.frame.width), dtype)
        whole[:, : self.threads] = value
        rows = self._rows(slot, blocks)
        rows[...] = (np.packbits(whole, axis=1, bitorder="little").view(np.uint32) if dtype.kind == "b" else whole).reshape(rows.shape)

    def _rows(self, slot: int, blocks: int) -> Array:
        """A register of all lanes as it lies in the frames: (blocks, vectors, lanes), flags as numbers of 32 bits."""
        dtype, size = self.frame.dtypes[slot], self.frame.size
        kept, lanes = (np.dtype(np.uint32), 1) if dtype.kind == "b" else (dtype, self.frame.width)
        first = self.memory[self.frame.uniforms + self.frame.offsets[slot] :]
        return np.ndarray((blocks, self.each, lanes), kept, first.data, 0, (self.each * size, size, kept.itemsize))

    def selection(self, entries: Array, blocks: int) -> Selection | None:
        """The lanes of a list; None where these are all."""
        masks = np.zeros(blocks * self.each, np.uint32)
        masks[entries >> 32] = entries & 0xFFFFFFFF
        lanes = self.lanes(masks, blocks)
        if lanes.all():
            return None
        shape = lanes.shape
        whole: Array = np.asarray(lanes.all(axis=1))
        if (lanes.any(axis=1) == whole).all():  # as numpy's groups are: whole blocks, or the same threads of all
            return Selection.of(whole[:, None], shape)
        return Selection.of(lanes[:1] if (lanes == lanes[:1]).all() else lanes, shape)

    def lanes(self, masks: Array, blocks: int) -> Array:
        """Masks of vectors as flags of (blocks, threads)."""
        return flags(masks.astype(np.uint32)).reshape(blocks, -1)[:, : self.threads]

    def masks(self, lanes: Array) -> Array:
        """Flags of (blocks, threads) as masks of vectors."""
        whole = np.zeros((len(lanes), self.each * self.frame.width), np.bool_)
        whole[:, : self.threads] = lanes
        return np.packbits(whole, axis=1, bitorder="little").view(np.uint32).ravel().astype(np.int64)


def flags(masks: Array) -> Array:
    """Numbers of 32 bits as flags."""
    return np.unpackbits(masks.view(np.uint8), bitorder="little").view(np.bool_)


def aligned(size: int) -> Array:
    """Zeros at an address that vectors want."""
    raw = np.zeros(size + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + size]
