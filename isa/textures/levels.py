"""Which mipmap levels a fetch reads, in 256ths, bit for bit as the texture unit of sm_90 has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .positions import Array
from .resources import LINEAR, Sampler

MOST = 1 << 16  # there are far fewer levels


def in_256ths(level: Any) -> Array:
    """A number of levels cut towards zero; NaN is 0."""
    level = np.asarray(level, np.float64)
    return np.trunc(np.clip(np.where(level == level, level, 0.0) * 256.0, -MOST, MOST)).astype(np.int64)


def fixed(clamp: float) -> int:
    """A sampler's least or largest level in 256ths."""
    return int(np.floor(np.clip(clamp, 0, MOST >> 8) * 256))


def clamped(level: Array | None, sampler: Sampler, count: int) -> Array:
    """A level in 256ths with the sampler's bias, between its clamps and among the `count` levels that there are; None: the least."""
    least, largest = (fixed(x) for x in sampler.clamp)
    biased = np.full(1, -MOST) if level is None else level + in_256ths(sampler.bias)
    found: Array = np.clip(np.maximum(np.minimum(biased, largest), least), 0, (count - 1) * 256)
    return found


def sharpened(fraction: Array, anisotropy: int) -> Array:
    """How much the farther of two levels counts: anisotropic filtering blends only where the fraction is near to one half."""
    if anisotropy < 2:
        return fraction
    steeper: Array = 2 * fraction - 128
    if anisotropy < 8:
        steeper = (7 * fraction - 378) >> 2
    if anisotropy < 4:
        steeper = (6 * fraction - 252) >> 2
    return steeper.clip(0, 256)


def chosen(level: Array, sampler: Sampler, count: int) -> list[tuple[Array, Any]]:
    """The levels that are read, each with its weight in 256ths."""
    if sampler.mip_filter != LINEAR:
        return [(np.minimum((level + 128) >> 8, count - 1), 256)]
    near, far = level >> 8, sharpened(level & 255, 0 if sampler.blends_evenly else sampler.anisotropy)
    if not far.any():
        return [(near, 256)]
    return [(near, 256 - far), (np.minimum(near + 1, count - 1), far)]
