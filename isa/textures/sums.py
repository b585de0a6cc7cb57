"""The weighted sums of filtering, bit for bit as the texture unit of sm_90 forms them.

Texels come as (channels, quads, rows, columns, lanes), weights as (quads, rows, columns, lanes) in 256ths that add up to 256 for each lane.
A quad is up to four neighbours of one slice of one level.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .positions import Array

MOST_EXTRA = 2
LEAST_SINGLE, LEAST_HALF = 2.0**-126, 2.0**-14  # the smallest normal numbers


def nearest_256th(x: Array) -> Array:
    """x / 256, rounded half up."""
    return (x + 128) >> 8


def quad_weights(whole: Any, a: Array, b: Array) -> Array:
    """The weights (rows, columns, lanes) of a quad of weight `whole`; a and b say how far right and down the point lies."""
    right = a if isinstance(whole, int) else nearest_256th(whole * a)  # a number is the weight of all: 256
    sides = np.stack(np.broadcast_arrays(whole - right, right))
    part = nearest_256th(sides * np.stack([256 - b, b]))  # upper left, lower right
    rest = sides - part  # lower left, upper right
    return np.stack([np.stack([part[0], rest[1]]), np.stack([rest[0], part[1]])])


def sum_of_codes(texels: Array, weights: Array, extra: Array | None = None) -> tuple[Array, int]:
    """The sum of weight times code, (channels, lanes), and how many binary digits it has beyond 256ths; a quad's weights have `extra` ones."""
    quads: Array = (texels.astype(np.int64) * weights).sum(axis=(2, 3))
    if extra is None:
        return quads.sum(axis=1), 0
    return (quads << MOST_EXTRA - extra).sum(axis=1), MOST_EXTRA


def sum_of_floats(texels: Array, magnitudes: Array, weights: Array, guard: int, digits: int, extra: Array | None = None) -> Array:
    """The sum of weight times texel as float64 of `digits` digits, (channels, lanes).

    Each quad is a block with one exponent, that of the largest of the magnitudes, and `guard` bits below it; quads meet on a common grid.
    """
    counts = weights != 0
    largest = np.where(counts, magnitudes, 0.0).max(axis=(2, 3), initial=LEAST_SINGLE if digits == 24 else LEAST_HALF)
    top = power_below(largest)  # (channels, quads, lanes)
    cut = np.trunc(np.where(counts, texels, -0.0) * (2.0**guard / top)[:, :, None, None])
    products = cut * weights
    rows = products[:, :, 0] if products.shape[2] == 1 else products[:, :, 0] + products[:, :, 1]
    totals = rows[:, :, 0] if rows.shape[2] == 1 else rows[:, :, 0] + rows[:, :, 1]  # term by term: zeros keep their sign
    unit = top * 2.0 ** -(guard + 8)
    if totals.shape[1] == 1:
        return rounded(totals[:, 0] * unit[:, 0], digits)
    if extra is not None:
        unit = unit * 2.0**-extra
    coarsest = every_fourth(top).max(axis=1, keepdims=True) * 2.0 ** -(guard + 8)
    totals = np.floor(totals * (unit / coarsest))
    total = totals[:, 0]
    for quad in range(1, totals.shape[1]):
        total = total + totals[:, quad]
    return rounded(total * coarsest[:, 0], digits)


def power_below(x: Array) -> Array:
    """The largest power of two that is not larger."""
    bits: Array = x.view(np.int64) & -(1 << 52)
    return bits.view(np.float64)


def every_fourth(power: Array) -> Array:
    """The largest power of two that is not larger, of those with the exponents ... -3, 1, 5, ..."""
    exponent = (power.view(np.int64) >> 52) - 1023
    bits: Array = ((exponent - 1 & -4) + 1 + 1023) << 52
    return bits.view(np.float64)


def rounded(x: Array, digits: int) -> Array:
    """float64 values rounded half away from zero to 24 or 11 digits, to what singles or halves hold; singles have no subnormal numbers."""
    dropped = 53 - digits
    bits = (x.view(np.int64) + (1 << dropped - 1)) & -(1 << dropped)
    near: Array = bits.view(np.float64)
    if digits == 24:
        small = np.abs(near) < LEAST_SINGLE
        return np.where(small & (near != 0), 0.0, near) if small.any() else near
    in_steps = np.copysign(np.floor(np.abs(x) * 2.0**24 + 0.5) * 2.0**-24, x)
    return np.where(np.abs(near) < LEAST_HALF, in_steps, near)
