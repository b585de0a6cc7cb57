"""For how many cycles a warp's fetch occupies the texture unit of its multiprocessor: recorded on an H100 (tests/interpreter/timing/recorded/textures.json).

The unit takes a quad of lanes a cycle where it interpolates values of 32 bits among four texels or fewer.  Memory without a layout of its own, and surfaces,
pass by the filter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..observe import TexelAccess
from ..ptxas.machine.kinds import gathers

Index = NDArray[np.int64]
QUADS = 8  # of a warp
UNFILTERED = 4  # cycles of a warp
GATHER = 2  # as often as an interpolation
QUAD_LINES = 3  # cycles of a quad whose lanes touch many lines, at most


def fetch_cycles(a: TexelAccess, lines: Index) -> Index:
    """Of each warp, by the lines that it touches: four of them in three cycles up to a limit, two a cycle in surfaces, one a cycle in linear memory."""
    if a.space == "surface":
        return np.maximum(UNFILTERED, lines // 2)
    if a.image.linear:
        return np.maximum(UNFILTERED, lines)
    texels, size = len(a.level), a.image.format.bytes
    if texels == 1:
        quad = max(1, size // 8)
    elif gathers(a.site.instruction):
        quad = GATHER
    else:
        quad = max(1, size // 4) * -(-texels // 4)
    return np.maximum(QUADS * quad, np.minimum(lines * 3 // 4, QUADS * QUAD_LINES))
