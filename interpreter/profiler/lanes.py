"""The warps of a group's access: how arrays of the group's shape become lanes of warps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..flags import any_in_rows
from ..lanes import Geometry
from ..values import Array

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]

WARP = 32


@dataclass(frozen=True, slots=True)
class WarpLanes:
    """Addresses by warp: (warps, 32), or (warps, 1) where each warp has one address; `active` None: all lanes."""

    where: Index
    active: Flags | None
    warps: int

    @property
    def count(self) -> int:
        """Active lanes."""
        return self.warps * WARP if self.active is None else int(np.count_nonzero(self.active))

    @property
    def requests(self) -> int:
        """Warps with an active lane."""
        return self.warps if self.active is None else int(np.count_nonzero(any_in_rows(self.active)))

    @property
    def mask(self) -> Flags:
        """(warps, 32), written out."""
        return np.ones((self.warps, WARP), np.bool_) if self.active is None else self.active

    @property
    def whole_mask(self) -> Flags | None:
        """`active` in memory of its own, for compiled loops: where blocks share a mask, it is one row that stands for all."""
        return None if self.active is None else np.ascontiguousarray(self.active)

    @property
    def full(self) -> Index:
        """(warps, 32), written out."""
        return self.where if self.where.shape == (self.warps, WARP) else np.broadcast_to(self.where, (self.warps, WARP))


def lanes_active(g: Geometry, mask: Array | None) -> NDArray[np.bool_] | None:
    """The active lanes of each warp; None: all lanes."""
    layout = g.warps
    if mask is None:
        return None if layout.aligned else layout.members
    active: NDArray[np.bool_] = layout.spread(mask if mask.shape == g.shape else np.broadcast_to(mask, g.shape))
    return active if layout.aligned else active & layout.members


def _signed(address: Array) -> Index:
    return address.view(np.int64) if address.dtype.itemsize == 8 else address.astype(np.int64)


def lanes_of(g: Geometry, address: Array, mask: Array | None) -> WarpLanes:
    """An access by warps, all of the group's."""
    layout, active = g.warps, lanes_active(g, mask)
    if address.size == 1:
        where = _signed(address).reshape(1, 1)
    elif layout.aligned and address.shape[1] == 1:
        where = np.repeat(_signed(address), g.shape[1] // WARP, axis=0)
    else:
        where = layout.spread(_signed(address), extended=True)
    return WarpLanes(where, active, layout.count)


def few_lanes(g: Geometry, address: Array, mask: Array | None) -> tuple[WarpLanes, int]:
    """An access by warps, and how many blocks repeat it: blocks with equal addresses are counted once."""
    if g.shape[0] > 1 and address.shape[0] == 1 and (mask is None or mask.shape[0] == 1) and g.warps.aligned:
        where = _signed(address).reshape(-1, WARP if address.shape[1] > 1 else 1)
        active = None if mask is None else np.broadcast_to(mask, (1, g.shape[1])).reshape(-1, WARP)
        return WarpLanes(where, active, g.shape[1] // WARP), g.shape[0]
    return lanes_of(g, address, mask), 1
