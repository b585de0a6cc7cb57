"""The level that gradients ask for, bit for bit as the texture unit of sm_90 has it: the lengths of vectors in numbers of ten digits.

The numbers are float64, cut where the unit cuts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import cubes
from .anisotropy import Axis, axis, limit
from .digits import cut
from .levels import MOST
from .positions import Array, clean
from .tables import LOG2

LEAST = 2.0**-400  # below every unit that is not 0
NOWHERE = np.zeros(1, np.bool_)


def last_digit(x: Array) -> Array:
    """What the last of a number's ten digits is worth."""
    bits: Array = np.maximum(np.abs(x), LEAST).view(np.int64) & -(1 << 52)
    return bits.view(np.float64) * 2.0**-9


def floor_to(x: Array, unit: Array) -> Array:
    """A number cut to a multiple of a unit, towards zero."""
    return np.trunc(x / unit) * unit


def in_texels(x: Array, extent: int) -> Array:
    """A component times the extent of level 0; seven eighths are added to the last digit before the product is cut."""
    digits = cut(x)
    unit = last_digit(digits) * 2.0 ** (extent.bit_length() - 1)
    product = np.floor(np.abs(digits) * extent / unit + 0.875) * unit
    return np.copysign(cut(product), x)


def part(x: Array, eighths: int) -> Array:
    """eighths / 8 of a number that is not negative, rounded to the last digit."""
    unit = last_digit(x)
    return np.floor((x / unit * eighths + 4) * 0.125) * unit


def length(vector: Sequence[Array]) -> Array:
    """About the length of a vector: its largest component, 11/32 of the second and 8/32 of the third."""
    largest, *others = np.sort(np.abs(np.stack(np.broadcast_arrays(*vector))), axis=0)[::-1]
    unit = last_digit(largest)
    total = largest
    for other, eighths in zip(others, (11, 8), strict=False):
        total = total + floor_to(part(other, eighths) * 0.25, unit * 2.0**-6)
    return cut(floor_to(total, unit))


def part_of_sum(x: Array, y: Array) -> Array:
    """11/16 of x + y; both are cut one bit below the last digit of the larger."""
    unit = np.maximum(last_digit(x), last_digit(y)) * 0.5
    total = floor_to(x, unit) + floor_to(y, unit)
    found: Array = np.copysign(cut(part(cut(np.abs(total)), 11) * 0.5), total)
    return found


def area(first: Sequence[Array], second: Sequence[Array]) -> Array:
    """The area that two gradients span: products are cut after 3/4 is added to their last digit, and the smaller one as in a sum."""
    (a, b), (c, d) = (first[0], second[1]), (first[1], second[0])
    one, other = product(a, b), product(c, d)
    unit = np.maximum(last_digit(one), last_digit(other)) * 0.5
    return cut(np.abs(floor_to(one, unit) - floor_to(other, unit)))


def product(a: Array, b: Array) -> Array:
    """The product of two numbers of ten digits, cut."""
    unit = last_digit(a) * last_digit(b) * 2.0**9
    found: Array = np.copysign(cut(np.floor(np.abs(a * b) / unit + 0.75) * unit), a * b)
    return found


@dataclass(frozen=True, slots=True)
class Level:
    """The level in 256ths that gradients ask for, and the axis of its samples with anisotropic filtering."""

    number: Array
    axis: Axis | None = None


def level_of_gradients(first: Sequence[Array], second: Sequence[Array], extents: Sequence[int], anisotropy: int = 0) -> Level:
    """The level: log2 of the longest of both gradients in texels, 11/16 of their sum and of their difference.

    Anisotropic filtering takes several samples along that longest one, so its level is that of the width across, as far as its samples reach.
    """
    first, second = ([in_texels(clean(x), n) for x, n in zip(v, extents, strict=False)] for v in (first, second))
    return _of_vectors([first, second, *_sums(first, second)], anisotropy if len(first) < 3 else 0)


def level_on_cube(direction: Sequence[Array], first: Sequence[Array], second: Sequence[Array], extent: int, anisotropy: int = 0) -> Level:
    """The level of a cube map: how far each gradient moves the point on the unfolded cube.

    Where a gradient leads to another face, sum and difference do not count, and one sample is taken.
    """
    moved, leaves = [], NOWHERE
    for gradient in (first, second):
        steps, elsewhere = cubes.moved(direction, gradient)
        moved.append([in_texels(x.astype(np.float64), extent) for x in steps])
        leaves = leaves | elsewhere
    sums = [[np.where(leaves, 0.0, x) for x in v] for v in _sums(*moved)]
    return _of_vectors([*moved, *sums], anisotropy, alone=leaves)


def _of_vectors(vectors: Sequence[Sequence[Array]], anisotropy: int, alone: Array = NOWHERE) -> Level:
    """The level of both gradients, their sum and their difference; `alone` where anisotropic filtering takes one sample."""
    lengths = np.stack(np.broadcast_arrays(*[length(v) for v in vectors]))
    level = level_of_length(lengths.max(axis=0))
    most = limit(anisotropy)
    if not most:
        return Level(level)
    planar = [[*v, np.zeros(1)][:2] for v in vectors]
    across = np.maximum(level_of_length(area(planar[0], planar[1])) - level, level - most)
    which = lengths.argmax(axis=0)
    away = np.where((which == 3) & (lengths[1] > lengths[0]), -1.0, 1.0)  # the difference is that of the longer and the shorter gradient
    longest = [away * np.choose(which, np.broadcast_arrays(*[v[k] for v in planar], lengths[0])[:-1]) for k in (0, 1)]
    ratio = np.where(alone, 0, np.minimum(level - np.maximum(across, 0), most))
    return Level(np.where(alone, level, across), axis(longest, ratio))


def _sums(first: Sequence[Array], second: Sequence[Array]) -> list[list[Array]]:
    """11/16 of the sum and of the difference of two vectors."""
    return [[part_of_sum(x, sign * y) for x, y in zip(first, second, strict=True)] for sign in (1.0, -1.0)]


def level_of_length(longest: Array) -> Array:
    """log2 in 256ths."""
    bits = longest.view(np.int64)
    return np.where(longest > 0, ((bits >> 52) - 1023 << 8) + LOG2[bits >> 44 & 255], -MOST)
