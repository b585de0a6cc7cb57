"""The lanes that executed something together, by their numbers in the launch: block * threads of a block + thread."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry
from ..values import Array

Number = NDArray[np.int64]


class LaneSet:
    """A set of lanes in the shape of their values: rows are blocks and columns threads, or all stand in one row, or in one column.

    Where a lane rides along in a loop that it has left (see vector/divergence.py), `alive` is False: its values are not its own.
    """

    def __init__(self, block: Array, thread: Array, shape: tuple[int, int], threads: int, alive: Array | None) -> None:
        self.block = block  # of the launch
        self.thread = thread
        self.shape = shape
        self.threads = threads  # of a block
        self.alive = alive

    @staticmethod
    def of(geometry: Geometry, first: int) -> LaneSet:
        """The lanes of a group in a wave that begins with a block."""
        block = (geometry.block + first).astype(np.int32)
        return LaneSet(block, geometry.thread.astype(np.int32), geometry.shape, geometry.threads, None)

    @property
    def bytes(self) -> int:
        """What it costs to keep."""
        return int(self.block.nbytes + self.thread.nbytes if self.alive is None else 0) + 300

    @cached_property
    def count(self) -> int:
        """How many lanes."""
        return self.shape[0] * self.shape[1] if self.alive is None else int(np.count_nonzero(self.full(self.alive)))

    @property
    def numbers(self) -> Number:
        """The lanes' numbers in the order of their values, those that ride along included."""
        n = self.block.astype(np.int64) * self.threads + self.thread
        return (n if n.shape == self.shape else np.broadcast_to(n, self.shape)).ravel()

    @cached_property
    def low(self) -> int:
        """The least number."""
        return int(self.block.min()) * self.threads + int(self.thread.min()) if self.is_product else int(self.numbers.min())

    @cached_property
    def high(self) -> int:
        """The greatest number."""
        return int(self.block.max()) * self.threads + int(self.thread.max()) if self.is_product else int(self.numbers.max())

    @property
    def is_product(self) -> bool:
        """Every one of some blocks with every one of some threads?"""
        return self.block.shape[1] == 1 and self.thread.shape[0] == 1 and self.shape == (self.block.shape[0], self.thread.shape[1])

    def full(self, value: Array) -> Array:
        """A value in one row, an element for each lane."""
        return (value if value.shape == self.shape else np.broadcast_to(value, self.shape)).ravel()

    @property
    def active(self) -> NDArray[np.bool_]:
        """Which lanes, in one row, do not merely ride along."""
        return np.ones(self.shape[0] * self.shape[1], np.bool_) if self.alive is None else self.full(self.alive)

    def places(self, wanted: Number) -> NDArray[np.intp]:
        """Where some lanes, given by their numbers, stand in one row; -1 where they are not among these."""
        if self.is_product:
            block, thread = np.divmod(wanted, self.threads)
            rows, columns = self.block[:, 0], self.thread[0]
            r = np.minimum(np.searchsorted(rows, block), rows.size - 1)
            c = np.minimum(np.searchsorted(columns, thread), columns.size - 1)
            out = np.where((rows[r] == block) & (columns[c] == thread), r * self.shape[1] + c, -1)
        else:
            own, order = self._sorted
            at = np.minimum(np.searchsorted(own, wanted), own.size - 1)
            out = np.where(own[at] == wanted, order[at], -1)
        if self.alive is not None:
            out = np.where((out >= 0) & ~self.full(self.alive)[out], -1, out)
        return out.astype(np.intp)

    @cached_property
    def _sorted(self) -> tuple[Number, NDArray[np.intp]]:
        own = self.numbers
        order = np.argsort(own, kind="stable")
        return own[order], order

    def among(self, blocks: NDArray[np.bool_]) -> tuple[LaneSet, Any, Any] | None:
        """The lanes of chosen blocks, and the rows and columns that they take of a value; None where there are none."""
        chosen = blocks[self.block]
        if chosen.all():
            return self, None, None
        if not chosen.any():
            return None
        rows = columns = None
        if self.block.shape[1] == 1:
            rows = np.flatnonzero(chosen[:, 0])
            thread = self.thread[rows] if self.thread.shape[0] > 1 else self.thread
            lanes = LaneSet(self.block[rows], thread, (rows.size, self.shape[1]), self.threads, None)
        else:
            columns = np.flatnonzero(chosen[0])
            lanes = LaneSet(self.block[:, columns], self.thread[:, columns], (1, columns.size), self.threads, None)
        if self.alive is not None:
            lanes.alive = cut(self.alive, rows, columns)
            if not lanes.alive.any():
                return None
        return lanes, rows, columns


def cut(value: Array, rows: Any, columns: Any) -> Array:
    """The chosen rows and columns of a value, of which it has all or one that stands for all."""
    if rows is not None and value.shape[0] > 1:
        value = value[rows]
    if columns is not None and value.ndim > 1 and value.shape[1] > 1:
        value = value[:, columns]
    return value
