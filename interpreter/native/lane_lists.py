"""The lanes of a list, as numpy's groups have them and as they lie in frames."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..lanes import Geometry, Selection
from .frame import WIDTH

Array = NDArray[Any]


class ListedLanes:
    """Some lanes of a wave of so many blocks, each of which has so many vectors and threads."""

    def __init__(self, masks: Array, blocks: int, threads: int) -> None:
        lanes = flags(masks).reshape(blocks, -1)[:, :threads]
        whole = Geometry.whole(blocks, threads)
        self.selection = None if lanes.all() else _selection(lanes)
        self.geometry = whole if self.selection is None else whole.select(self.selection)
        self.blocks = blocks
        self._each = len(masks) // blocks
        self.vectors = np.flatnonzero(masks)
        self.masks = masks[self.vectors]

    @property
    def is_whole(self) -> bool:
        """Are these all lanes of the wave?"""
        return self.selection is None

    @cached_property
    def vector(self) -> Array:
        """Of each lane, in the order of the geometry."""
        g = self.geometry
        return (g.block * self._each + g.thread // WIDTH).ravel()

    @cached_property
    def lane(self) -> Array:
        """Of each lane: its place in its vector."""
        return np.broadcast_to(self.geometry.thread % WIDTH, self.geometry.shape).ravel()

    @cached_property
    def place(self) -> Array:
        """Of each lane: its place in all its list's vectors, one after another."""
        return np.searchsorted(self.vectors, self.vector) * WIDTH + self.lane


def _selection(lanes: Array) -> Selection:
    """As numpy's groups are: whole blocks, or the same threads of all."""
    whole: Array = np.asarray(lanes.all(axis=1))
    if (lanes.any(axis=1) == whole).all():
        return Selection.of(whole[:, None], lanes.shape)
    return Selection.of(lanes[:1] if (lanes == lanes[:1]).all() else lanes, lanes.shape)


def flags(masks: Array) -> Array:
    """Numbers of 32 bits as flags."""
    return np.unpackbits(masks.view(np.uint8), bitorder="little").view(np.bool_)


def masks_of(flags: Array) -> Array:
    """Flags as numbers of 32 bits."""
    return np.packbits(flags, axis=-1, bitorder="little").view(np.uint32)
