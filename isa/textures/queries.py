"""What txq and suq say of a texture or a surface."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from .positions import Array
from .resources import Image, Surface, Texture

Resource: TypeAlias = Texture | Surface
CODES = {("u", 8): 1, ("u", 16): 2, ("u", 32): 3, ("s", 8): 8, ("s", 16): 9, ("s", 32): 10, ("f", 16): 16, ("f", 32): 32}  # CUarray_format
ADDRESS_MODES = ("wrap", "mirror", "clamp_ogl", "clamp", "border")  # in the order of the PTX manual
FILTERS = ("point", "linear")


def texture_extent(image: Image) -> tuple[int, int, int]:
    """Width, height and depth of the first level: a line is one row, lines in layers are rows, a cube map has no depth."""
    width, height, depth = image.width, image.height, image.depth
    if image.cube:
        return width, height, depth // 6 if image.layered else 0
    if image.layered and not height:
        return width, depth, 0
    return width, max(height, 1), depth


def texture_property(resource: Resource, query: str) -> int:
    """The answer of txq."""
    image = resource.image
    width, height, depth = texture_extent(image)
    match query:
        case "width":
            return width
        case "height":
            return height
        case "depth":
            return depth
        case "num_mipmap_levels":
            return len(image.levels)
        case "num_samples":
            return 0  # multisampled arrays don't exist
    return _sampling(resource, query) if query in SAMPLING else _format(image, query)


SAMPLING = ("normalized_coords", "force_unnormalized_coords", "filter_mode", "addr_mode_0", "addr_mode_1", "addr_mode_2")


def _sampling(resource: Resource, query: str) -> int:
    """How a texture is read; a surface is not."""
    if isinstance(resource, Surface):
        return 0
    sampler = resource.sampler
    match query:
        case "normalized_coords":
            return int(sampler.normalized)
        case "force_unnormalized_coords":
            return 0  # which samplers of their own alone do
        case "filter_mode":
            return FILTERS.index(sampler.filter)
    return ADDRESS_MODES.index(sampler.address[int(query[-1])])


def surface_property(resource: Resource, query: str) -> int:
    """The answer of suq."""
    image = resource.image
    rows_are_layers = image.layered and not image.height
    match query:
        case "width":
            return image.width
        case "height":
            return image.depth if rows_are_layers else image.height
        case "depth":
            return 0 if rows_are_layers else image.depth
        case "memory_layout":
            return int(image.linear)
    return _format(image, query)


def _format(image: Image, query: str) -> int:
    match query:
        case "channel_data_type":
            return CODES[image.format.kind, image.format.bits]
        case "channel_order":
            return image.format.channels
    assert query == "array_size", query
    return image.depth if image.layered else 0


def level_extent(image: Image, query: str, level: Array) -> Array:
    """The width, height or depth of each lane's level; 0 where there is no such level."""
    extents = np.zeros((len(image.levels) + 1, 3), np.uint32)
    first = texture_extent(image)
    fixed = (False, image.layered and not image.height, image.layered or image.cube)  # what counts layers and faces does not shrink
    for k in range(len(image.levels)):
        extents[k] = [n if same or not n else max(n >> k, 1) for n, same in zip(first, fixed, strict=True)]
    found: Array = extents[np.minimum(level, len(image.levels)), ("width", "height", "depth").index(query)]
    return found
