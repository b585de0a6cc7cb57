"""Bulk and tensor copies as the profiler counts them: what they read and write in global memory, past the load-store unit and L1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..rules.coalesce import SECTOR
from ..values import Array, Value, plain
from .lanes import WARP, WarpLanes
from .listener import AccessListener
from .stream import Account, UseStream, Way
from .tally import Operation
from .touch import Footprint

WAYS = {"ld": Way.PASS, "st": Way.PAST, "red": Way.ATOMIC}
SPACE = "bulk"  # of a tally: global memory, as copies reach it


class BulkCopies:
    """The copies of one launch."""

    def __init__(self, stream: UseStream, listener: AccessListener | None) -> None:
        self.stream, self.listener = stream, listener
        self._begun = False  # has the copy that runs been counted for some of its bytes?

    def begin(self) -> None:
        """Another instruction."""
        self._begun = False

    def count(self, op: Operation, address: Value, mask: Array | None, caches: NDArray[np.uint16]) -> None:
        """Elements of some copies; `caches`: the multiprocessor of each block of the wave."""
        g = op.group.geometry
        shape = g.shape
        active = np.broadcast_to(True if mask is None else mask, shape)
        where = np.broadcast_to(plain(address), shape).astype(np.int64)
        new = active & (where % SECTOR < op.width) if self._begun else active  # a sector counts with its first piece
        first, self._begun = not self._begun, True
        a = op.tally.count(SPACE, op.kind, op.width, lanes=int(np.count_nonzero(active)), requests=0, units=0, ideal=0)
        lanes = _by_warps(where, new)
        if lanes.count:
            f = Footprint(lanes, op.width)
            if self.listener is not None and op.kind == "ld":
                self.listener.bulk(op, plain(address), f.touch, first)
            a.units += f.total
            a.moved += SECTOR * f.total
            blocks = np.broadcast_to(g.block, shape).reshape(-1)
            cache = caches[np.resize(blocks, lanes.warps * WARP).reshape(-1, WARP)[:, 0]]
            self.stream.add(WAYS[op.kind], Account(a, (None,), None), cache, f.touch, 0, None)


def _by_warps(where: NDArray[np.int64], active: NDArray[np.bool_]) -> WarpLanes:
    """Addresses as those of warps of 32 lanes, the last of them inactive where there are fewer."""
    n = where.size
    warps = -(-n // WARP)
    flat, flags = np.zeros(warps * WARP, np.int64), np.zeros(warps * WARP, np.bool_)
    flat[:n], flags[:n] = where.reshape(-1), active.reshape(-1)
    flat[n:] = flat[n - 1]
    return WarpLanes(flat.reshape(-1, WARP), flags.reshape(-1, WARP), warps)
