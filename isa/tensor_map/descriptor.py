"""The 128 bytes of a tensor map: sixteen 64-bit words.  Only the driver and tensormap.replace write them, so their layout is ours.
Zeros are not a map, but tensormap.replace makes one of them: it is complete when all its sizes have been written.

A field has some bits of one word.  Word 0 is the tensor's address, word 1 what kind of map it is, then follow the sizes.
"""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .elements import ELEMENT_TYPES, ElementType

WORDS = 16
MAX_RANK = 5
TILED, IM2COL, IM2COL_W, IM2COL_W128 = MODES = ("tiled", "im2col", "im2col::w", "im2col::w::128")
INTERLEAVES = (0, 16, 32)  # bytes of a slice of channels
SWIZZLES = (0, 32, 64, 128, 96)  # bytes that the pattern spans, as tensormap.replace numbers them


class MapField(NamedTuple):
    """Where a number stands; some count from `least` on."""

    word: int
    shift: int
    bits: int
    least: int = 0


_MADE = MapField(1, 0, 8)  # what makes zeros no map
_MADE_MARK = 0xA5
_MODE = MapField(1, 20, 2)
_CORNER_BITS = 16
_LOWER = tuple(MapField(11, _CORNER_BITS * i, _CORNER_BITS) for i in range(3))
_UPPER = tuple(MapField(12, _CORNER_BITS * i, _CORNER_BITS) for i in range(3))
_CHANNELS, _PIXELS = MapField(13, 0, 16), MapField(13, 16, 16)
_PROMOTION = MapField(1, 22, 2)

# By the words of tensormap.replace: a field for each dimension, or the one field.
FIELDS: dict[str, tuple[MapField, ...]] = {
    "global_address": (MapField(0, 0, 64),),
    "rank": (MapField(1, 8, 3),),  # one less than the rank
    "elemtype": (MapField(1, 11, 4),),
    "interleave_layout": (MapField(1, 15, 2),),
    "swizzle_mode": (MapField(1, 26, 3),),
    "fill_mode": (MapField(1, 19, 1),),
    "swizzle_atomicity": (MapField(1, 24, 2),),
    "global_dim": tuple(MapField(2 + i // 2, 32 * (i % 2), 32, 1) for i in range(MAX_RANK)),
    "global_stride": tuple(MapField(5 + i, 0, 64) for i in range(MAX_RANK - 1)),
    "box_dim": (*(MapField(9, 16 * i, 16) for i in range(4)), MapField(10, 0, 16)),
    "element_stride": tuple(MapField(10, 16 + 8 * i, 8) for i in range(MAX_RANK)),
}


@dataclass(frozen=True, slots=True)
class TensorMap:
    """A tensor in global memory, and the box of it that one copy moves.  Dimension 0 is the innermost."""

    type: ElementType
    address: int
    dims: tuple[int, ...]
    strides: tuple[int, ...]  # bytes, from dimension 1 on
    box: tuple[int, ...] = ()  # of a tiled map
    steps: tuple[int, ...] = ()
    mode: str = TILED
    lower: tuple[int, ...] = ()  # corners of the bounding box of an image, w first
    upper: tuple[int, ...] = ()
    channels: int = 0
    pixels: int = 0
    interleave: int = 0
    swizzle: int = 0
    nan_fill: bool = False
    promotion: int = 0
    atomicity: int = 0

    @property
    def rank(self) -> int:
        """How many dimensions."""
        return len(self.dims)

    @property
    def described(self) -> str:
        """The tensor in words, the innermost dimension first."""
        return f"the tensor map describes {' x '.join(map(str, self.dims))} elements of {self.type.name} from {self.address:#x} on"


def encode(m: TensorMap) -> tuple[int, ...]:
    """The words of a map."""
    words = [0] * WORDS

    def put(field: MapField, value: int) -> None:
        words[field.word] |= (value - field.least & (1 << field.bits) - 1) << field.shift

    def put_each(fields: Sequence[MapField], values: Sequence[int]) -> None:
        for field, value in zip(fields, values, strict=False):
            put(field, value)

    put(_MADE, _MADE_MARK)
    put(_MODE, MODES.index(m.mode))
    put(_CHANNELS, m.channels)
    put(_PIXELS, m.pixels)
    put(_PROMOTION, m.promotion)
    for name, value in (
        ("global_address", m.address), ("rank", m.rank - 1), ("elemtype", ELEMENT_TYPES.index(m.type)),
        ("interleave_layout", INTERLEAVES.index(m.interleave)), ("swizzle_mode", SWIZZLES.index(m.swizzle)),
        ("fill_mode", int(m.nan_fill)), ("swizzle_atomicity", m.atomicity),
    ):  # fmt: skip
        put(FIELDS[name][0], value)
    for name, values in (("global_dim", m.dims), ("global_stride", m.strides), ("box_dim", m.box), ("element_stride", m.steps)):
        put_each(FIELDS[name], values)
    put_each(_LOWER, m.lower)
    put_each(_UPPER, m.upper)
    return tuple(words)


@functools.lru_cache(256)
def decode(words: tuple[int, ...]) -> TensorMap | None:
    """The map that sixteen words hold; None where they were not made by an encoder."""

    def get(field: MapField) -> int:
        return (words[field.word] >> field.shift & (1 << field.bits) - 1) + field.least

    def signed(field: MapField) -> int:
        value = get(field)
        return value - (value >> field.bits - 1 << field.bits)

    def kind(name: str) -> int:
        return get(FIELDS[name][0])

    rank = kind("rank") + 1
    known = rank <= MAX_RANK and kind("elemtype") < len(ELEMENT_TYPES) and kind("interleave_layout") < len(INTERLEAVES)
    known = known and kind("swizzle_mode") < len(SWIZZLES)
    if get(_MADE) != _MADE_MARK or not known:
        return None
    mode = MODES[get(_MODE)]
    tiled = mode == TILED
    corners = 0 if tiled else rank - 2 if mode == IM2COL else 1
    return TensorMap(
        ELEMENT_TYPES[kind("elemtype")],
        kind("global_address"),
        tuple(get(f) for f in FIELDS["global_dim"][:rank]),
        tuple(get(f) for f in FIELDS["global_stride"][: rank - 1]),
        tuple(get(f) for f in FIELDS["box_dim"][:rank]) if tiled else (),
        tuple(get(f) for f in FIELDS["element_stride"][:rank]),
        mode,
        tuple(signed(f) for f in _LOWER[:corners]),
        tuple(signed(f) for f in _UPPER[:corners]),
        get(_CHANNELS),
        get(_PIXELS),
        INTERLEAVES[kind("interleave_layout")],
        SWIZZLES[kind("swizzle_mode")],
        bool(kind("fill_mode")),
        get(_PROMOTION),
        kind("swizzle_atomicity"),
    )


def replaced(word: NDArray[np.uint64], field: MapField, value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A word with a new value in one of its fields; zeros become those of a map with the first kind that is written."""
    mask = np.uint64((1 << field.bits) - 1)
    shift = np.uint64(field.shift)
    new: NDArray[np.uint64] = word & ~(mask << shift) | (value - np.uint64(field.least) & mask) << shift
    return new | np.where(word == 0, np.uint64(_MADE_MARK << _MADE.shift), np.uint64(0)) if field.word == _MADE.word else new
