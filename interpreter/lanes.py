"""Which lanes of a wave a group holds, and how arrays are cut when a part of them goes another way.

A wave has k blocks of T threads.  A group's arrays have the shape (rows, cols): rows are blocks and cols threads as long as the group is a
product of some blocks and some threads; any other set of lanes is flat, shape (1, n).  A Selection cuts a geometry by rows, by columns or
lane by lane, so that a condition on the block or on the thread index alone keeps the product, and uniform values stay uniform.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .flags import numbered
from .values import Shifted, Value, plain

Array = NDArray[Any]
Index = NDArray[np.intp]


def _as_slice(index: Index) -> Index | slice:
    """Consecutive numbers as a slice, whose use is a view and not a copy."""
    n = index.size
    if n and index[-1] - index[0] == n - 1:
        return slice(int(index[0]), int(index[0]) + n)
    return index


class Selection:
    """A subset of the lanes of a geometry of `shape`."""

    __slots__ = ("cols", "flat", "kind", "rows", "shape")

    def __init__(self, shape: tuple[int, int], kind: str, index: Index) -> None:
        self.shape = shape
        self.kind = kind  # rows, cols or flat
        self.flat = index
        if kind == "flat":
            self.rows, self.cols = np.divmod(index, shape[1])

    @staticmethod
    def of(condition: Array, shape: tuple[int, int]) -> Selection:
        """The lanes where a condition of any broadcastable shape holds."""
        r, c = condition.shape
        if (c == 1 and shape[1] > 1) or shape[1] == 1:
            return Selection(shape, "rows", condition.ravel().nonzero()[0])
        if r == 1:
            return Selection(shape, "cols", condition.ravel().nonzero()[0])
        return Selection(shape, "flat", condition.ravel().nonzero()[0])

    @property
    def count(self) -> int:
        """How many lanes."""
        n = self.flat.size
        return n * self.shape[1] if self.kind == "rows" else n * self.shape[0] if self.kind == "cols" else n

    def take(self, value: Value) -> Value:
        """The value of these lanes alone."""
        if type(value) is Shifted:
            return Shifted(self.take_array(value.base), value.delta)
        return self.take_array(value)  # type: ignore[arg-type, unused-ignore]

    def take_array(self, v: Array) -> Array:
        """As take, for a plain array."""
        r, c = v.shape
        if self.kind == "rows":
            return v if r == 1 else v[_as_slice(self.flat)]
        if self.kind == "cols":
            return v if c == 1 else v[:, _as_slice(self.flat)]
        if r == 1:
            return v if c == 1 else v[:, self.cols]
        if c == 1:
            column: Array = v[self.rows, 0]
            return column[None, :]
        return v.ravel().take(self.flat)[None, :]

    def put(self, whole: Array, value: Value) -> None:
        """Writes the value of these lanes into an array of the full shape."""
        v = plain(value)
        if self.kind == "rows":
            whole[_as_slice(self.flat)] = v
        elif self.kind == "cols":
            whole[:, _as_slice(self.flat)] = v
        else:
            whole.reshape(-1)[self.flat] = v[0]

    @property
    def shape_out(self) -> tuple[int, int]:
        """The shape of what take gives, where nothing is uniform."""
        n = self.flat.size
        r, c = self.shape
        return (n, c) if self.kind == "rows" else (r, n) if self.kind == "cols" else (1, n)

    def conform(self, value: Value, shape: tuple[int, int]) -> Value:
        """A value of these lanes that was cut in another way, in `shape`, as take would have given it."""
        if self.kind != "flat" or shape[0] == 1:
            return value
        v = plain(value)
        return v if v.size == 1 else np.broadcast_to(v, shape).reshape(1, -1)

    def grid(self) -> Index:
        """For each selected lane, in the selected shape, its number in the geometry it came from."""
        r, c = self.shape
        if self.kind == "rows":
            return (self.flat[:, None] * c + np.arange(c)[None, :]).astype(np.intp)
        if self.kind == "cols":
            return (np.arange(r)[:, None] * c + self.flat[None, :]).astype(np.intp)
        return self.flat[None, :]

    def then(self, inner: Selection) -> Selection:
        """The lanes that `inner` selects of those selected here, as one selection of the outer geometry."""
        if self.kind == inner.kind and self.kind != "flat":
            return Selection(self.shape, self.kind, self.flat[inner.flat])
        return Selection._ascending(self.shape, inner.take_array(self.grid()).ravel())  # as both do

    @staticmethod
    def of_lanes(shape: tuple[int, int], lanes: Index) -> Selection:
        """A selection by lane numbers, which are put in ascending order."""
        return Selection._ascending(shape, np.sort(lanes))

    @staticmethod
    def _ascending(shape: tuple[int, int], lanes: Index) -> Selection:
        return Selection(shape, "cols" if shape[0] == 1 else "flat", lanes)


def union(selections: list[Selection], shape: tuple[int, int]) -> Selection:
    """Several disjoint selections as one, keeping rows or columns where all agree."""
    if len(selections) == 1:
        return selections[0]
    kind = selections[0].kind
    if kind != "flat" and all(s.kind == kind for s in selections):
        return Selection(shape, kind, np.sort(np.concatenate([s.flat for s in selections])))
    return Selection.of_lanes(shape, np.concatenate([s.grid().ravel() for s in selections]))


class Geometry:
    """The lanes of a group: `block` is each lane's place among the wave's blocks, `thread` its linear index in its block."""

    def __init__(self, block: Index, thread: Index, threads: int) -> None:
        self.block = block  # (rows, 1) or (1, n)
        self.thread = thread  # (1, cols) or (1, n)
        self.threads = threads  # of a block
        self.shape = (block.shape[0], max(block.shape[1], thread.shape[1]))
        self.n = self.shape[0] * self.shape[1]

    @staticmethod
    def whole(blocks: int, threads: int) -> Geometry:
        """All lanes of a wave."""
        return Geometry(np.arange(blocks, dtype=np.intp)[:, None], np.arange(threads, dtype=np.intp)[None, :], threads)

    def select(self, s: Selection) -> Geometry:
        """The geometry of a part."""
        return Geometry(s.take_array(self.block), s.take_array(self.thread), self.threads)

    @cached_property
    def lane(self) -> Index:
        """Each lane's number in the wave."""
        return self.block * self.threads + self.thread

    @cached_property
    def blocks(self) -> Index:
        """The wave's blocks that have lanes here."""
        return self.block[:, 0] if self.block.shape[1] == 1 else np.unique(self.block)

    @cached_property
    def whole_warps(self) -> bool:
        """Does the group hold every existing lane of each warp that it touches?"""
        if self._aligned:
            return True
        counts = np.bincount((self.block * self.warps_per_block + (self.thread >> 5)).ravel())
        full = np.bincount(np.arange(self.threads) >> 5)
        touched = np.flatnonzero(counts)
        return bool((counts[touched] == full[touched % self.warps_per_block]).all())

    def warp_of(self, lane: Index) -> Index:
        """The number in the wave of the warp of each of some lanes."""
        block, thread = np.divmod(lane, self.threads)
        warp: Index = block * self.warps_per_block + (thread >> 5)
        return warp

    @property
    def warps_per_block(self) -> int:
        """Warps of a block."""
        return -(-self.threads // 32)

    @cached_property
    def _aligned(self) -> bool:
        """A product whose columns are whole warps in order."""
        t = self.thread
        c = self.shape[1]
        return (
            self.block.shape[1] == 1 and c % 32 == 0 and int(t[0, 0]) % 32 == 0
            and int(t[0, -1]) - int(t[0, 0]) == c - 1 and bool((t[0, 1:] > t[0, :-1]).all())
        )  # fmt: skip

    @cached_property
    def warps(self) -> WarpLayout:
        """How arrays of this shape become (warps, 32) and back."""
        return WarpLayout(self, self._aligned)


def packed(flags: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Rows of 32 flags as numbers, the first lane as bit 0."""
    return np.packbits(flags.ravel(), bitorder="little").view(np.uint32)


class WarpLayout:
    """The same lanes as (warps, 32)."""

    def __init__(self, g: Geometry, aligned: bool) -> None:
        self.shape = g.shape
        self.aligned = self.dense = aligned  # dense: without gaps but after the last lane, so that lanes stand where they did
        if aligned:
            self.count = g.n // 32
            self.block = np.repeat(g.block, g.shape[1] // 32, axis=0)
            first = g.thread.reshape(-1, 32)[:, :1] >> 5
            self.warp = np.tile(first, (g.shape[0], 1))
            return
        each = g.warps_per_block
        slot = (g.lane if g.threads % 32 == 0 else g.block * (32 * each) + g.thread).ravel()  # ascends
        number = slot >> 5
        new: NDArray[np.bool_] = np.empty(number.size, np.bool_)  # the first lane of each warp
        new[0] = True
        np.not_equal(number[1:], number[:-1], out=new[1:])
        present = number[new]
        self.count = present.size
        self.position: Index = slot
        if present.item(-1) != self.count - 1:  # some warps are missing
            self.position = numbered(new)
            self.position -= 1
            self.position <<= 5
            self.position |= slot & 31
        self.dense = int(self.position[-1]) == g.n - 1
        block = present // each
        self.block = block[:, None]
        self.warp = (present - block * each)[:, None]

    @cached_property
    def members(self) -> NDArray[np.bool_]:
        """Which lanes of each warp the group has."""
        if self.aligned:
            return np.ones((self.count, 32), np.bool_)
        members = np.zeros(self.count * 32, np.bool_)
        members[self.position] = True
        return members.reshape(-1, 32)

    @cached_property
    def bits(self) -> NDArray[np.uint32]:
        """The same as a number for each warp."""
        return packed(self.members)

    def spread(self, v: Array, *, extended: bool = False) -> Array:
        """A group-shaped array as (warps, 32); uniform values stay (1, 1).

        Lanes that the group does not have are 0; `extended`: those after the last one may be like that one.
        """
        r, c = v.shape
        if r == 1 and c == 1:
            return v
        if self.aligned:
            if c == 1:
                return np.repeat(v, self.shape[1] // 32, axis=0)
            if r == 1 and self.shape[0] > 1:
                return np.tile(v.reshape(-1, 32), (self.shape[0], 1))
            return v.reshape(-1, 32)
        out, lanes = np.empty(self.count * 32, v.dtype), (v if v.shape == self.shape else np.broadcast_to(v, self.shape)).ravel()
        if self.dense:
            out[: lanes.size], out[lanes.size :] = lanes, lanes[-1] if extended else 0
        else:
            out[:] = 0
            out[self.position] = lanes
        return out.reshape(-1, 32)

    def gather(self, v: Array) -> Array:
        """A (warps, 32) array, or one that broadcasts to it, in the group's shape."""
        if v.shape == (1, 1):
            return v
        if v.shape != (self.count, 32):
            v = np.broadcast_to(v, (self.count, 32))
        if self.aligned:
            return v.reshape(self.shape)
        lanes = v.ravel()
        return (lanes[: self.position.size] if self.dense else lanes[self.position]).reshape(self.shape)
