"""Who else wants to know what each access asks of memory: the model of time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from ..values import Array
from .stream import Way
from .touch import Touch

if TYPE_CHECKING:
    from ..observe import TexelAccess
    from .tally import Operation

Index = NDArray[np.int64]


class AccessListener(Protocol):
    """Hears of each access what the profiler has found."""

    def asks(self, op: Operation, touch: Touch, start: int, way: Way, lanes: Index, units: Index | None) -> None:
        """What warps touch of global memory, `start` lines further on; `units`: of each warp, if a rule of its own gives them."""

    def near(self, op: Operation, space: str, units: Index) -> None:
        """Passes of each warp of a group in another memory, or of each warp of a block, which are those of all blocks."""

    def fetched(self, access: TexelAccess, touch: Touch, lanes: Index) -> None:
        """What warps touch of textures and surfaces; `lanes` of each warp."""

    def bulk(self, op: Operation, address: Array, touch: Touch, first: bool) -> None:
        """Pieces of bulk copies, of each of which the `first` one comes first."""
