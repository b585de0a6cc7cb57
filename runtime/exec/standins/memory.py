"""Numbers in device memory: the types that libraries know them by, vectors and matrices as views, and the numbers that numpy has no type for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...device.memory.allocations import SPACE

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class NumberType:
    """A type of numbers in memory, and the one to compute with."""

    stored: np.dtype[Any]
    computed: np.dtype[Any]
    is_bfloat: bool = False

    def load(self, view: Array) -> Array:
        """The numbers of a view, to compute with."""
        if self.is_bfloat:
            return (np.asarray(view, np.uint32) << np.uint32(16)).view(np.float32)
        return view.astype(self.computed, copy=False)

    def store(self, view: Array, values: Any) -> None:
        """Writes numbers, rounded to nearest even."""
        if self.is_bfloat:
            bits = np.ascontiguousarray(values, np.float32).view(np.uint32)
            rounded = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16)
            view[...] = np.where(np.isnan(values), 0x7FFF, rounded).astype(np.uint16)
        elif self.stored.kind in "iu" and np.asarray(values).dtype.kind == "f":
            view[...] = np.rint(values).astype(np.int64).astype(self.stored)
        else:
            view[...] = np.asarray(values).astype(self.stored, copy=False)


def _type(stored: str, computed: str = "") -> NumberType:
    return NumberType(np.dtype(stored), np.dtype(computed or stored))


S, D, C, Z, H = _type("f4"), _type("f8"), _type("c8"), _type("c16"), _type("f2", "f4")
BF16 = NumberType(np.dtype("u2"), np.dtype("f4"), is_bfloat=True)
I32 = _type("i4", "f8")  # exact: sums of products of bytes stay far below 2**53
LETTERS = {"S": S, "D": D, "C": C, "Z": Z, "H": H}
CUDA_TYPES = {0: S, 1: D, 2: H, 3: _type("i1", "f8"), 4: C, 5: Z, 8: _type("u1", "f8"), 10: I32, 14: BF16}  # by cudaDataType


def vector(address: int, n: int, stride: int, kind: NumberType, writes: bool = True) -> Array:
    """A vector as BLAS counts it: with a negative stride, its first element is the last in memory."""
    size = kind.stored.itemsize
    if n <= 0:
        return np.empty(0, kind.stored)
    if stride == 0:
        raw = SPACE.device_bytes(address, size, writes)
        return np.broadcast_to(raw.view(kind.stored), (n,))
    raw = SPACE.device_bytes(address, ((n - 1) * abs(stride) + 1) * size, writes)
    found: Array = np.ndarray((n,), kind.stored, raw, strides=(abs(stride) * size,))
    return found[::-1] if stride < 0 else found


def matrix(address: int, rows: int, columns: int, distance: int, kind: NumberType, writes: bool = True) -> Array:
    """A matrix whose columns stand `distance` elements from each other."""
    size = kind.stored.itemsize
    if rows <= 0 or columns <= 0:
        return np.empty((max(rows, 0), max(columns, 0)), kind.stored)
    raw = SPACE.device_bytes(address, ((columns - 1) * distance + rows) * size, writes)
    out: Array = np.ndarray((rows, columns), kind.stored, raw, strides=(size, distance * size))
    return out


def addresses(at: int, count: int) -> list[int]:
    """A list of pointers in device memory."""
    return [] if count <= 0 else SPACE.device_bytes(at, 8 * count, False).view(np.uint64).tolist()
