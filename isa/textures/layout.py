"""Where texels lie in memory, as far as caches can tell: rows of linear memory one after the other, arrays in tiles.

How a device lays out an array is its own affair.  The tiles here are those of NVIDIA's block-linear surfaces: 64 bytes by 8 rows, of which a
sector holds 16 bytes of two rows and a line of 128 bytes is 32 bytes by 4 rows; so neighbours in both directions share sectors.
"""

from __future__ import annotations

import numpy as np

from .positions import Array
from .resources import Image

TILE_BYTES, TILE_ROWS, TILE = 64, 8, 512


class TexelLayout:
    """The offsets of an image's texels from its start."""

    def __init__(self, image: Image) -> None:
        self.texel = image.format.bytes
        self.tiled = [level.shape[1] > 1 and not image.pitched for level in image.levels]
        tiles = [-(-level.shape[2] * self.texel // TILE_BYTES) for level in image.levels]
        rows = [t * TILE if tiled else level.strides[1] for t, tiled, level in zip(tiles, self.tiled, image.levels, strict=True)]
        slices = [
            row * (-(-level.shape[1] // TILE_ROWS) if tiled else level.shape[1])
            for row, tiled, level in zip(rows, self.tiled, image.levels, strict=True)
        ]
        sizes = [-(-size * level.shape[0] // TILE) * TILE for size, level in zip(slices, image.levels, strict=True)]
        self.bytes = sum(sizes)
        self._starts, self._slices, self._rows = np.cumsum([0, *sizes[:-1]]), np.array(slices), np.array(rows)
        self._tiled = np.array(self.tiled)

    def offsets(self, level: Array, slice: Array, row: Array, column: Array) -> Array:
        """Of each texel, in bytes."""
        x = column * self.texel
        start: Array = self._starts[level] + slice * self._slices[level]
        inside = (x >> 6) * TILE + (x >> 5 & 1) * 256 + (row >> 1 & 3) * 64 + (x >> 4 & 1) * 32 + (row & 1) * 16 + (x & 15)
        tiled: Array = start + (row >> 3) * self._rows[level] + inside
        return np.where(self._tiled[level], tiled, start + row * self._rows[level] + x)
