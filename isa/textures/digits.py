"""Numbers of ten digits, in which the texture unit calculates with gradients: float64 values, cut where the unit cuts them."""

from __future__ import annotations

import numpy as np

from .positions import Array

DIGITS = 10
LEAST = 2.0**-400  # below every unit that is not 0


def cut(x: Array) -> Array:
    """A float64 cut to ten digits."""
    bits: Array = x.view(np.int64) & -(1 << 53 - DIGITS)
    return bits.view(np.float64)


def last_digit(x: Array) -> Array:
    """What the last of a number's ten digits is worth."""
    bits: Array = np.maximum(np.abs(x), LEAST).view(np.int64) & -(1 << 52)
    return bits.view(np.float64) * 2.0**-9


def floor_to(x: Array, unit: Array) -> Array:
    """A number cut to a multiple of a unit, towards zero."""
    return np.trunc(x / unit) * unit


def total(x: Array, y: Array) -> Array:
    """x + y; both are cut one bit below the last digit of the larger."""
    unit = np.maximum(last_digit(x), last_digit(y)) * 0.5
    return cut(floor_to(x, unit) + floor_to(y, unit))


def product(a: Array, b: Array) -> Array:
    """The product of two numbers of ten digits, cut.

    The multiplier has no adders for the six lowest of the 20 columns; seven units of the seventh stand for what they would carry.
    """
    x, y = (np.abs(v / last_digit(v)).astype(np.int64) for v in (a, b))
    columns = sum((y >> row & 1) * (x << row >> 6) for row in range(DIGITS))
    whole = np.where((x == 0) | (y == 0), 0, columns + 7) * 64.0
    found: Array = np.copysign(cut(whole * (last_digit(a) * last_digit(b))), a * b)
    return found


def part(x: Array, numerator: int, denominator: int, added: int) -> Array:
    """A part of a number that is not negative; `added` to the whole product before it is cut."""
    unit = last_digit(x)
    return cut(x / unit * numerator + added) * (unit / denominator)


def in_texels(x: Array, extent: int) -> Array:
    """A component times the extent of level 0."""
    return product(cut(x), cut(np.full(1, float(extent))))
