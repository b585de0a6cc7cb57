"""Numbers of ten digits, in which the texture unit calculates with gradients."""

from __future__ import annotations

import numpy as np

from .positions import Array

DIGITS = 10


def cut(x: Array) -> Array:
    """A float64 cut to ten digits."""
    bits: Array = x.view(np.int64) & -(1 << 53 - DIGITS)
    return bits.view(np.float64)
