"""What suld, sust and sured reach and store, bit for bit as the H200 does it.

Lanes that access one image come as arrays (lanes).  What is read and written are bytes, (lanes, size of the access).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .positions import Array
from .resources import Image, TexelFormat
from .values import cut_to_halves

LARGEST_UNIT = 8  # bytes that numpy moves as one
COORDINATES = {"1d": 1, "2d": 2, "3d": 3, "a1d": 2, "a2d": 3}  # that count: a fourth is there for the form alone
LAYER_BITS = 0xFFFF  # of the register that holds a layer

REDUCTIONS: Mapping[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "or": np.bitwise_or,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BytePlace:
    """Where each lane accesses an image."""

    z: Array  # plane, layer or face
    y: Array
    x: Array  # the first byte of the row
    inside: Array  # where there is such a place


def geometry_of(image: Image) -> str:
    """The geometry that reaches an image: faces of cubes are layers."""
    if image.layered or image.cube:
        return "a2d" if image.height else "a1d"
    return "3d" if image.depth else "2d" if image.height else "1d"


def reaches(geometry: str, image: Image) -> bool:
    """Whether a geometry can access an image: .1d those without rows, .2d those with rows (the first plane of a volume), .3d volumes only."""
    return geometry_of(image) == "3d" if geometry == "3d" else geometry.endswith("1d") == (image.height == 0)


def extent(image: Image, *, in_texels: bool) -> str:
    """The size of an image in words, its rows in texels or bytes."""
    slices, rows, columns, _ = image.levels[0].shape
    texel = image.format.bytes
    words = [f"{columns} texels" if in_texels else f"{columns * texel} bytes ({columns} texels of {texel})"]
    if image.height:
        words.append(f"{rows} rows")
    if image.depth:
        words.append(f"{slices} {'layers' if image.layered or image.cube else 'planes'}")
    return " x ".join(words)


def place(image: Image, geometry: str, coordinates: Sequence[Array], size: int, *, unit: int, clamps: bool) -> BytePlace:
    """The place of `size` bytes at coordinates: an optional layer, then x in units of `unit` bytes, y and z.

    If the geometry cannot access the image, every place is outside.  `clamps` moves an access to the nearest place at a multiple of its size.
    """
    slices, rows, columns, _ = image.levels[0].shape
    numbers = [c.view(np.int32).astype(np.int64) for c in coordinates]
    none = np.zeros(1, np.int64)
    layer = numbers.pop(0) & LAYER_BITS if geometry.startswith("a") else None
    x = numbers[0] * unit
    y = numbers[1] if geometry.endswith(("2d", "3d")) else none
    z = numbers[2] if geometry == "3d" else none if layer is None or geometry_of(image) == "3d" else layer
    last = columns * image.format.bytes // size * size - size
    near = np.clip(x, 0, max(last, 0)), np.clip(y, 0, rows - 1), np.clip(z, 0, slices - 1)
    inside = np.full(1, reaches(geometry, image) and last >= 0)
    if not clamps:
        inside = inside & (x == near[0]) & (y == near[1]) & (z == near[2])
    return BytePlace(near[2], near[1], near[0], inside)


def _units(image: Image, where: BytePlace, size: int) -> tuple[Array, tuple[Array, ...]]:
    """The image in the largest units of which an access and a texel consist, and where in it the units of each lane lie."""
    unit = min(size, image.format.bytes, LARGEST_UNIT)
    contents = image.levels[0].view(f"u{unit}")  # (planes, rows, columns, units of a texel)
    column, part = np.divmod(where.x[:, None] // unit + np.arange(size // unit), contents.shape[3])
    return contents, (where.z[:, None], where.y[:, None], column, part)


def read(image: Image, where: BytePlace, size: int) -> Array:
    """The bytes at places; zeros outside."""
    if not where.inside.any():
        return np.zeros((1, size), np.uint8)
    contents, at = _units(image, where, size)
    return np.where(where.inside[:, None], contents[at], contents.dtype.type(0)).view(np.uint8)


def write(image: Image, where: BytePlace, values: Array) -> None:
    """Stores bytes at places; of several lanes at one place the last wins."""
    if image.resident and where.inside.any():
        contents, at = _units(image, where, values.shape[1])
        units = values.view(contents.dtype)
        inside = np.broadcast_to(where.inside, units.shape[:1])
        contents[tuple(np.broadcast_to(a, units.shape)[inside] for a in at)] = units[inside]


def reduce(image: Image, where: BytePlace, op: str, values: Array) -> None:
    """The values at places are replaced by (value op the given one), which is of the type in which it works."""
    inside = np.broadcast_to(where.inside, values.shape)
    if not image.resident or not inside.any():
        return
    contents, at = _units(image, where, values.dtype.itemsize)
    places = [np.broadcast_to(a, (values.size, at[2].shape[1]))[inside] for a in at]
    _, first, which = np.unique(np.ravel_multi_index([p[:, 0] for p in places], contents.shape), return_index=True, return_inverse=True)
    once = tuple(p[first] for p in places)
    held = contents[once].view(values.dtype)[:, 0]
    REDUCTIONS[op].at(held, which, values[inside])
    contents[once] = held[:, None].view(contents.dtype)


def converted(values: Sequence[Array], texel: TexelFormat) -> Array:
    """Texels of a format, as bytes, from one register a channel: integers saturate, halves are cut towards zero; others are 0."""
    shape = np.broadcast_shapes(*(v.shape for v in values))
    channels = np.zeros((*shape, texel.channels), texel.dtype)
    for k, v in enumerate(values[: texel.channels]):
        channels[..., k] = _channel(v, texel)
    return channels.view(np.uint8).reshape(*shape, texel.bytes)


def _channel(bits: Array, texel: TexelFormat) -> Array:
    if texel.kind == "f":
        return cut_to_halves(bits) if texel.bits == 16 else bits.view(np.float32)
    least, most = np.iinfo(texel.dtype).min, np.iinfo(texel.dtype).max
    return np.clip(bits.view(np.uint32 if texel.kind == "u" else np.int32).astype(np.int64), least, most).astype(texel.dtype)
