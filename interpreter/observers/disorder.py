"""Do the lanes of an access stand in disorder?  Some of them tell, before anything is worked out for all."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..vector.lanes import Geometry
from ..vector.values import Array
from .sectors import SECTOR, SECTOR_SHIFT
from .touch import WARP

MANY = 1024  # lanes
ROWS = 8  # of which some lanes tell whether all are in disorder
FEW = 2  # one lane of so many takes part
APART = 3  # of so many lanes one has another sector than the one before
SOME = 40  # lanes
OFTEN = 8  # of so many lanes one may begin a section
SAMPLE = 8  # lanes


def is_scattered(g: Geometry, address: Array, width: int) -> bool:
    """Do neighbouring lanes often address different sectors?  Some of the first ones tell.

    Few lanes with less than a word each are left to those who look at all that is touched.
    """
    if address.size < g.n or g.n == 1 or (width < 4 and g.n < MANY):
        return False
    rows = address if len(address) > 1 else address[0, : address.size // WARP * WARP].reshape(-1, WARP)
    return are_in_disorder(rows[:: max(1, len(rows) // ROWS), :WARP])


def are_in_disorder(address: Array) -> bool:
    """Do these, in rows, often address other sectors than their neighbours?"""
    sector = address >> address.dtype.type(SECTOR_SHIFT)
    return bool(3 * int(np.count_nonzero(sector[:, 1:] != sector[:, :-1])) > sector.size)


def are_few(g: Geometry, mask: Array | None) -> bool:
    """Do few lanes of their warps take part, or is that not easy to say?"""
    return not g.warps.dense or (mask is not None and FEW * int(np.count_nonzero(mask)) * (g.n // mask.size) <= g.n)


def are_apart(place: NDArray[Any]) -> bool:
    """Do neighbours often use different sectors?  Some of them tell."""
    many = place.size // 2
    some = np.concatenate([place[:WARP], place[many : many + WARP]]) >> place.dtype.type(SECTOR_SHIFT)
    changes = int(np.count_nonzero(some[1:] != some[:-1]))
    return APART * changes > 2 * WARP


def goes_on(place: Array) -> bool:
    """Does it seem as if warps had few sections?  Some lanes tell."""
    some = place[0, :SOME]
    steps = some[1:] - some[:-1]
    return int(np.count_nonzero(steps.view(f"u{steps.itemsize}") > SECTOR)) * OFTEN < SOME


def goes_up(sectors: NDArray[Any]) -> bool:
    """Does it seem as if each lane's sector comes behind that of the one before?"""
    some: list[int] = sectors[:SAMPLE].tolist()
    return some == sorted(some)
