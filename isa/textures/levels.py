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


def chosen(level: Array | None, sampler: Sampler, count: int) -> list[tuple[Array, Any]]:
    """Which of the `count` levels are read, each with its weight in 256ths, at a level in 256ths; None: the sampler's least.

    Anisotropic filtering blends two levels only around their middle: by a steeper line.  What the line lies lower is part of the bias, which
    is cut to 256ths thereafter.  The clamps hold for the result.
    """
    steepness = _steepness(sampler)
    least, largest = (fixed(x) for x in sampler.clamp)
    biased = np.full(1, -MOST) if level is None else level + in_256ths(sampler.bias - (0.5 - 2 / steepness))
    steeper = (biased & -256) + np.minimum((biased & 255) * steepness >> 2, 256)
    at = np.clip(np.maximum(np.minimum(steeper, largest), least), 0, (count - 1) * 256)
    if sampler.mip_filter != LINEAR:
        return [(np.minimum((at + 128) >> 8, count - 1), 256)]
    near, far = at >> 8, at & 255
    if not far.any():
        return [(near, 256)]
    return [(near, 256 - far), (np.minimum(near + 1, count - 1), far)]


def _steepness(sampler: Sampler) -> int:
    """By how many quarters the weight of the farther level grows with the level."""
    if sampler.mip_filter != LINEAR or sampler.blends_evenly or sampler.anisotropy < 2:
        return 4
    return 6 if sampler.anisotropy < 4 else 7 if sampler.anisotropy < 8 else 8
