"""The level that gradients ask for, bit for bit as the texture unit of sm_90 has it: the lengths of vectors in numbers of ten digits.

The numbers are float64, cut where the unit cuts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from . import cubes
from .anisotropy import Axis, axis, limit
from .digits import cut, floor_to, in_texels, last_digit, part, product, total
from .levels import MOST
from .positions import Array, clean
from .tables import LOG2

# The parts of a vector's components that make its length, largest first: numerator, denominator and what is added to the product.
ALONE = (1, 1, 0), (11, 32, 4), (8, 32, 4)
OF_SUM = (11, 16, 4), (121, 512, 32), (88, 512, 32)  # 11/16 of those
NOWHERE = np.zeros(1, np.bool_)


def length(vector: Sequence[Array], parts: Sequence[tuple[int, int, int]] = ALONE) -> Array:
    """About the length of a vector: parts of its largest component, of the second and the third."""
    components = np.sort(np.abs(np.stack(np.broadcast_arrays(*vector))), axis=0)[::-1]
    largest, *others = (part(x, *p) for x, p in zip(components, parts, strict=False))
    unit = last_digit(largest)
    total = largest
    for other in others:
        total = total + floor_to(other, unit * 2.0**-6)
    return cut(floor_to(total, unit))


def area(first: Sequence[Array], second: Sequence[Array]) -> Array:
    """The area that two gradients span."""
    found: Array = np.abs(total(product(first[0], second[1]), -product(first[1], second[0])))
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
    return _of_vectors([first, second], _sums(first, second), anisotropy if len(first) < 3 else 0)


def level_on_cube(direction: Sequence[Array], first: Sequence[Array], second: Sequence[Array], extent: int, anisotropy: int = 0) -> Level:
    """The level of a cube map: how far each gradient moves the point on the unfolded cube.

    Where a gradient leads to another face, sum and difference do not count, and one sample is taken.
    """
    moved, leaves = [], NOWHERE
    for gradient in (first, second):
        steps, elsewhere = cubes.moved(direction, gradient, extent)
        moved.append(steps)
        leaves = leaves | elsewhere
    sums = [[np.where(leaves, 0.0, x) for x in v] for v in _sums(*moved)]
    return _of_vectors(moved, sums, anisotropy, alone=leaves)


def _of_vectors(vectors: Sequence[Sequence[Array]], sums: Sequence[Sequence[Array]], anisotropy: int, alone: Array = NOWHERE) -> Level:
    """The level of both gradients, their sum and their difference; `alone` where anisotropic filtering takes one sample."""
    lengths = np.stack(np.broadcast_arrays(*[length(v) for v in vectors], *[length(v, OF_SUM) for v in sums]))
    level = level_of_length(lengths.max(axis=0))
    most = limit(anisotropy)
    if not most:
        return Level(level)
    scaled = [[np.copysign(part(np.abs(x), *OF_SUM[0]), x) for x in v] for v in sums]
    planar = [[*v, np.zeros(1)][:2] for v in (*vectors, *scaled)]
    across = np.clip(level_of_length(area(planar[0], planar[1])) - level, level - most, level)
    which = lengths.argmax(axis=0)
    away = np.where((which == 3) & (lengths[1] > lengths[0]), -1.0, 1.0)  # the difference is that of the longer and the shorter gradient
    longest = [away * np.choose(which, np.broadcast_arrays(*[v[k] for v in planar], lengths[0])[:-1]) for k in (0, 1)]
    ratio = np.where(alone, 0, np.minimum(level - np.maximum(across, 0), most))
    return Level(np.where(alone, level, across), axis(longest, ratio))


def _sums(first: Sequence[Array], second: Sequence[Array]) -> list[list[Array]]:
    """The sum and the difference of two vectors."""
    return [[total(x, sign * y) for x, y in zip(first, second, strict=True)] for sign in (1.0, -1.0)]


def level_of_length(longest: Array) -> Array:
    """log2 in 256ths."""
    bits = longest.view(np.int64)
    return np.where(longest > 0, ((bits >> 52) - 1023 << 8) + LOG2[bits >> 44 & 255], -MOST)
