"""Which texels a lane reads of a level and with what weights: address modes, slices, faces, borders.

Arrays are (slices, rows, columns, lanes), each as far as it differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import cubes
from .positions import ENDLESS, Array, addressed, by_mode, clean, effective, in_256ths, in_texels, limited, low_bits
from .request import CUBE, LINE
from .resources import BORDER, CLAMP, LINEAR, Image, Sampler
from .sums import nearest_256th, quad_weights
from .values import border

OFFSET_BITS, GATHER_OFFSET_BITS = 4, 6
NONE = np.zeros(1, np.int64)


@dataclass(frozen=True, slots=True)
class TexturePlace:
    """Where lanes read: which geometry, and for each lane the slice, the coordinates from the left, the top and the front, the offset."""

    geometry: str  # 1d, 2d, 3d or cube
    slice: Array  # the layer, for cube maps six times the cube and the face
    coordinates: Sequence[Array]
    offset: Sequence[Array] = ()
    moved: Sequence[Array] = ()  # how far along x and y, in 256ths of a texel of the level


@dataclass(frozen=True, slots=True)
class TexelFootprint:
    """The texels that lanes read of a level."""

    level: Array
    slice: Array
    row: Array
    column: Array
    outside: Array | None = None  # where the border colour stands for the texel
    missing: Array | None = None  # at the corner of a cube
    weights: Array | None = None  # in 256ths
    fractions: Array | None = None  # of the point within the quad, from the left, the top and the front

    def touched(self, part: Array) -> Array:
        """The texels whose weight is not 0 before it is rounded; `part` is the level's weight."""
        assert self.fractions is not None
        near = np.stack([np.ones_like(self.fractions), self.fractions]) != 0  # (2, axes, lanes)
        found = near[None, None, :, 0] & near[None, :, None, 1] & (part != 0)
        if near.shape[1] == 3:
            found = found & near[:, None, None, 2]
        return found if self.missing is None else cubes.share_touch(found, self.missing)

    def read(self, image: Image, sampler: Sampler) -> Array:
        """The texels, (channels, slices, rows, columns, lanes)."""
        if self.level.size == 1:
            texels = image.levels[int(self.level[0])][self.slice, self.row, self.column]
        else:
            z, y, x, k = np.broadcast_arrays(self.slice, self.row, self.column, self.level)
            texels = np.empty((*k.shape, image.format.channels), image.format.dtype)
            for level in np.unique(self.level):
                at = k == level
                texels[at] = image.levels[level][z[at], y[at], x[at]]
        if self.outside is not None:
            texels = np.where(self.outside[..., None], border(image.format, sampler), texels)
        return np.ascontiguousarray(np.moveaxis(texels, -1, 0))


def sizes(image: Image, level: Array) -> Array:
    """Width, height and depth of each lane's level, (3, lanes)."""
    return np.array([t.shape[2::-1] for t in image.levels]).T[:, level]


def footprint(image: Image, sampler: Sampler, place: TexturePlace, level: Array, weight: Any, *, gathers: bool = False) -> TexelFootprint:
    """The texels of a level; `weight` is the level's, in 256ths.  What gathers reads the same texels as a linear filter."""
    linear = gathers or sampler.filter == LINEAR
    seamless = place.geometry == CUBE and sampler.seamless and linear
    c = np.stack(np.broadcast_arrays(*place.coordinates, *([np.zeros(1, np.float32)] if place.geometry == LINE else [])))
    size = sizes(image, level)[: len(c)]
    modes = _modes(image, sampler, place, seamless)
    t = in_texels(clean(c), size, modes, sampler.normalized or place.geometry == CUBE or len(image.levels) > 1)
    offset = _offsets(place, GATHER_OFFSET_BITS if gathers else OFFSET_BITS)
    if offset is not None:
        t = t + offset
    moved = np.stack(np.broadcast_arrays(*place.moved)) if place.moved else 0
    if linear:
        q = in_256ths(t) + moved
        q = q if gathers else by_mode(limited, modes, q, size)
        fixed = q.astype(np.int64)
        i, fraction = np.stack([fixed >> 8, (fixed >> 8) + 1]), fixed & 255
    else:
        i, fraction = np.floor(t + moved * 2.0**-8).astype(np.int64)[None], NONE
    near = by_mode(addressed, modes, i, np.broadcast_to(size, i.shape))
    column, row = near[None, None, :, 0], near[None, :, None, 1]
    slice = near[:, None, None, 2] if len(c) == 3 else place.slice[None, None, None]
    outside = None
    for axis, mode in enumerate(modes):
        if mode == BORDER:
            out = (near != i)[:, axis].reshape(*(-1 if k == 2 - axis else 1 for k in range(3)), near.shape[-1])
            outside = out if outside is None else outside | out
    missing = None
    if seamless:
        face, row, column, missing = cubes.across_edges(slice % 6, row, column, size[0])
        slice, missing = slice - slice % 6 + face, missing if missing.any() else None
    if not linear:
        return TexelFootprint(level, slice, row, column, outside, weights=np.asarray(weight).reshape(1, 1, 1, -1))
    if gathers:
        return TexelFootprint(level, slice, row, column, outside, missing)
    if len(c) == 3:
        near = nearest_256th(weight * (256 - fraction[2]))
        weights = np.stack([quad_weights(w, fraction[0], fraction[1]) for w in (near, weight - near)])
    else:
        weights = quad_weights(weight, fraction[0], fraction[1])[None]
    if missing is not None:
        weights = cubes.share_weights(weights, missing)
    return TexelFootprint(level, slice, row, column, outside, missing, weights, fraction)


def _modes(image: Image, sampler: Sampler, place: TexturePlace, seamless: bool) -> list[str]:
    """The address modes that count, along x, y and z."""
    axes = max(len(place.coordinates), 2)
    if seamless:
        return [ENDLESS] * axes
    modes = [effective(mode, sampler.normalized or place.geometry == CUBE) for mode in sampler.address[:axes]]
    return [modes[0], CLAMP] if place.geometry == LINE and image.layered else modes


def _offsets(place: TexturePlace, bits: int) -> Array | None:
    """The offset along each axis, as it fits into the instruction; on a line its upper bits count as an offset along y."""
    if not place.offset:
        return None
    given = list(place.offset)
    if place.geometry == LINE:
        given.append(given[0] >> bits)
    return np.stack(np.broadcast_arrays(*[low_bits(x, bits) for x in given[: max(len(place.coordinates), 2)]]))
