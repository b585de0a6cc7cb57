"""What tex and tld4 read: from coordinates to the four channels of each lane, bit for bit as the texture unit of sm_90 has it.

Coordinates and all else that differs by lane are arrays (lanes), as far as they differ.  A channel is 32 bits: of a float32 or an integer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from . import cubes
from .anisotropy import samples
from .footprints import TexelFootprint, TexturePlace, footprint, sizes
from .gradients import Level, level_of_gradients, level_on_cube
from .levels import chosen, in_256ths
from .positions import Array, clean, low_bits
from .request import CUBE, LINE, VOLUME, Request
from .resources import LINEAR, Image, Texture
from .values import colours, filtered_values, plain_values

NOTHING = np.zeros(1, np.uint32)
CHANNELS = 4
NO_DIGITS = np.zeros(1, np.int64)
GATHERED = ((1, 0), (1, 1), (0, 1), (0, 0))  # row and column of the texels that tld4 returns
MOST_LAYERS = 1 << 16


@dataclass(frozen=True, slots=True)
class Fetched:
    """The four channels, and the texels that they are made of."""

    channels: Sequence[Array]
    parts: Sequence[TexelFootprint]


def fetch(texture: Texture, request: Request) -> Fetched:
    """What tex reads."""
    image, sampler = texture.image, texture.sampler
    if not suits(image, request.geometry):
        return Fetched([NOTHING] * CHANNELS, [])
    if request.coordinates[0].dtype.kind == "i":
        return by_number(texture, request)
    if image.linear:
        return Fetched([NOTHING] * CHANNELS, [])
    place = _place(image, request)
    count = len(image.levels)
    asked = _level(texture, request)
    chosen_levels = chosen(None if asked is None else asked.number, sampler, count)
    read = list(_samples(place, chosen_levels, asked))
    parts = [footprint(image, sampler, where, level, weight) for where, level, weight, _ in read]
    texels = [part.read(image, sampler) for part in parts]
    if len(parts) == 1 and sampler.filter != LINEAR and (sampler.mip_filter != LINEAR or count == 1):
        return Fetched(_padded(plain_values(texels[0][:, 0, 0, 0], image.format, sampler)), parts)
    shape = texels[0].shape[1:]

    def touched() -> Array:
        if sampler.filter != LINEAR:
            return np.concatenate([np.broadcast_to(np.asarray(weight) != 0, shape) for _, _, weight, _ in read])
        return np.concatenate([np.broadcast_to(p.touched(np.asarray(r[2])), shape) for p, r in zip(parts, read, strict=True)])

    weights = [np.broadcast_to(part.weights, shape) for part in parts if part.weights is not None]
    one = len(parts) == 1
    extra = np.stack(np.broadcast_arrays(*[r[3] for r in read])) if asked is not None and asked.axis is not None else None
    values = filtered_values(
        texels[0] if one else np.concatenate(texels, axis=1), weights[0] if one else np.concatenate(weights), touched, image.format, sampler,
        extra,
    )  # fmt: skip
    return Fetched(_padded(values), parts)


def _samples(
    place: TexturePlace, chosen_levels: Sequence[tuple[Array, Any]], asked: Level | None
) -> Iterator[tuple[TexturePlace, Array, Any, Array]]:
    """Where each sample lies, its level, its weight and how many digits beyond 256ths that has."""
    for n, (level, weight) in enumerate(chosen_levels):
        if asked is None or asked.axis is None:
            yield place, level, weight, NO_DIGITS
            continue
        farther = np.asarray(chosen_levels[1][1] if len(chosen_levels) > 1 else 0)
        for s in samples(asked.axis, np.asarray(weight), farther, far=n > 0):
            yield replace(place, moved=s.moved), level, s.weight, s.extra


def gather(texture: Texture, request: Request, component: int) -> Fetched:
    """What tld4 reads: one component of the four texels that a linear filter would mix."""
    image, sampler = texture.image, texture.sampler
    if image.linear or component >= image.format.channels or not suits(image, request.geometry):
        return Fetched([NOTHING] * CHANNELS, [])
    level = np.zeros(1, np.int64)
    part = footprint(image, sampler, _place(image, request), level, 256, gathers=True)
    texels = part.read(image, sampler)[component]  # (1, rows, columns, lanes)
    n = texels.shape[-1]
    shape = 1, 2, 2, CHANNELS, n
    texels = np.broadcast_to(texels[:, :, :, None], shape).reshape(1, 1, 2, 2, CHANNELS * n)
    weights = np.zeros(shape, np.int64)
    for k, (row, column) in enumerate(GATHERED):
        weights[:, row, column, k] = 256
    weights = weights.reshape(1, 2, 2, CHANNELS * n)
    if part.missing is not None:
        weights = cubes.share_weights(weights, np.broadcast_to(part.missing[..., None, :], shape).reshape(weights.shape))
    alone = replace(sampler, srgb=component < colours(image.format, sampler))
    values = filtered_values(texels, weights, lambda: weights != 0, replace(image.format, channels=1), alone)
    return Fetched(list(values.reshape(CHANNELS, n)), [part])


def by_number(texture: Texture, request: Request) -> Fetched:
    """Texels by number, without a filter.  Outside there are zeros; of a level that is named, the nearest texel."""
    image = texture.image
    if request.geometry == LINE and request.layer is None and not image.linear:
        return Fetched([NOTHING] * CHANNELS, [])  # arrays of one dimension cannot be read in this way
    named = request.level is not None
    level = np.zeros(1, np.int64) if request.level is None else request.level.astype(np.int64)
    there = (level >= 0) & (level < len(image.levels))
    if request.sample is not None:
        there = there & (request.sample == 0)
    level = np.where(there, level, 0)
    numbers = [c.astype(np.int64) for c in request.coordinates]
    numbers = [i + low_bits(d, 4) for i, d in zip(numbers, request.offset, strict=False)] + numbers[len(request.offset) :]
    nearest = [np.clip(i, 0, size - 1) for i, size in zip(numbers, sizes(image, level), strict=False)]
    if request.layer is not None:
        numbers.append(request.layer.astype(np.int64))
        nearest.append(np.minimum(numbers[-1], layers(image, request.geometry) - 1))
    if not named:
        for i, near in zip(numbers, nearest, strict=True):
            there = there & (i == near)
    x, *others = nearest
    nothing = np.zeros(1, np.int64)
    z = others.pop() if len(others) == 2 or request.layer is not None else nothing
    y = others.pop() if others else nothing
    part = TexelFootprint(level, *(a[None, None, None] for a in (z, y, x, ~there)))
    values = plain_values(part.read(image, texture.sampler)[:, 0, 0, 0], image.format, texture.sampler)
    return Fetched(_padded(np.where(there, values, np.uint32(0))), [part])


def suits(image: Image, geometry: str) -> bool:
    """Can an image be read by coordinates of a geometry?  Volumes and cubes by their own alone; all else is layers of rows."""
    volume = image.depth > 0 and not image.layered and not image.cube
    return (geometry == VOLUME) == volume and (geometry != CUBE or image.cube)


def layers(image: Image, geometry: str) -> int:
    """How many layers, or cubes, an image has."""
    slices = len(image.levels[0])
    return max(slices // 6, 1) if geometry == CUBE else slices


def _place(image: Image, request: Request) -> TexturePlace:
    coordinates = request.coordinates
    slice = np.zeros(1, np.int64)
    if request.layer is not None:
        slice = np.minimum(request.layer, min(MOST_LAYERS, layers(image, request.geometry)) - 1).astype(np.int64)
    if request.geometry == CUBE:
        face, coordinates = cubes.projected([clean(c) for c in coordinates])
        slice = slice * 6 + face
    return TexturePlace(request.geometry, slice, coordinates, request.offset)


def _level(texture: Texture, request: Request) -> Level | None:
    if request.gradients is not None:
        first, second = request.gradients
        extents = [int(n) for n in sizes(texture.image, np.zeros(1, np.int64))[:, 0]]
        degree = texture.sampler.anisotropy
        if request.geometry == CUBE:
            direction = [clean(c) for c in request.coordinates]
            return level_on_cube(direction, [clean(x) for x in first], [clean(x) for x in second], extents[0], degree)
        if request.geometry == LINE and request.layer is not None:
            degree = 0
        return level_of_gradients(first, second, extents, degree)
    return None if request.level is None else Level(in_256ths(request.level))


def _padded(values: Array) -> list[Array]:
    """The channels that a format lacks are 0."""
    return [*values, *[NOTHING] * (CHANNELS - len(values))]
