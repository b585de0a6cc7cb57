"""The different warps of one access: a rule is evaluated once for all warps that have the same addresses modulo what the rule looks at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .lanes import WARP, WarpLanes

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Patterns:
    """The different warps of an access: a row for each, the number of warps like it, and each warp's row (None if there is one row)."""

    where: Index  # (rows, 32), less a multiple of the alignment
    active: Flags | None
    count: Index
    which: Index | None

    @property
    def mask(self) -> Flags:
        """(rows, 32), written out."""
        return np.ones(self.where.shape, np.bool_) if self.active is None else self.active

    @property
    def key(self) -> tuple[bytes, bytes]:
        """Equal for equal patterns."""
        return self.where.tobytes(), b"" if self.active is None else self.active.tobytes()

    def spread(self, values: Index) -> Index:
        """A value of each row as one of each warp."""
        return values[self.which] if self.which is not None else np.repeat(values, self.count)


_NOWHERE = np.iinfo(np.int64).min  # the address of an inactive lane
_ODD = np.arange(1, 2 * WARP, 2) * np.int64(0x9E3779B97F4A7C1)  # factors of a hash of 32 addresses


def patterns(lanes: WarpLanes, align: int) -> Patterns:
    """The different warps of an access, for rules that depend on addresses modulo `align` only."""
    where, active = lanes.where, lanes.active
    if active is None:
        relative = where - (where[:, :1] & -align)
    else:
        where = lanes.full
        lead = where[np.arange(lanes.warps), active.argmax(axis=1)]
        relative = np.where(active, where - (lead & -align)[:, None], _NOWHERE)
    rows = relative.shape[0]
    if rows == 1 or ((relative[1] == relative[0]).all() and (relative == relative[0]).all()):
        row = relative[:1] if relative.shape[1] == WARP else np.repeat(relative[:1], WARP, axis=1)
        return Patterns(row, None if active is None else active[:1], np.array([lanes.warps]), None)
    if relative.shape[1] == 1:
        _, first, which = np.unique(relative[:, 0], return_index=True, return_inverse=True)
        return Patterns(np.repeat(relative[first], WARP, axis=1), None, np.bincount(which), which)
    each = Patterns(relative, active, np.ones(rows, np.int64), np.arange(rows))
    _, first, which = np.unique(relative @ _ODD, return_index=True, return_inverse=True)
    if first.size == rows or not (relative == relative[first][which]).all():
        return each
    order = np.argsort(first)  # rows in the order of their first warps
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    first, which = first[order], place[which.reshape(-1)]
    return Patterns(relative[first], None if active is None else active[first], np.bincount(which), which)
