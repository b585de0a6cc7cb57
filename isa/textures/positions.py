"""Where a coordinate lies: which texels it falls between and how far, in 256ths, bit for bit as the texture unit of sm_90 has it.

Arrays may have any shape; `size` is a number of texels, or an array that broadcasts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .resources import BORDER, CLAMP, MIRROR, WRAP

Array = NDArray[Any]

FAR = float(1 << 24)  # further out there is no texel of any texture
WIDE = np.array([8192, 65536])  # a normalized coordinate has 21 fraction bits; in textures wider than these 22, and 23
ENDLESS = ""  # no address mode: texels beyond the edge keep their numbers


def clean(coordinate: Array) -> Array:
    """A coordinate as float64; NaN and subnormal numbers are 0."""
    return np.where(np.abs(coordinate) >= np.float32(2**-126), coordinate, np.float32(0)).astype(np.float64)


def by_mode(function: Callable[..., Array], modes: Sequence[str], *arrays: Array) -> Array:
    """function(*arrays, mode) for each axis, the second from the last of the arrays; in one go where all have one mode."""
    if len(set(modes)) == 1:
        together: Array = function(*arrays, modes[0])
        return together
    return np.stack([function(*(a[..., k, :] for a in arrays), mode) for k, mode in enumerate(modes)], axis=-2)


def effective(mode: str, normalized: bool) -> str:
    """The address mode that counts: only normalized coordinates repeat."""
    return mode if normalized or mode == BORDER else CLAMP


def folded(coordinate: Array, mode: str) -> Array:
    """A coordinate where the texture lies: with wrap in it, with mirror in it or in the mirror image behind it, else at a finite place."""
    if mode not in (WRAP, MIRROR):
        return np.clip(coordinate, -FAR, FAR)
    rest = coordinate - np.floor(coordinate) if mode == WRAP else coordinate - np.floor(coordinate * 0.5) * 2.0
    inside: Array = np.fmax(rest, 0.0)  # NaN, which infinities make, becomes 0
    return inside


def in_texels(coordinate: Array, size: Array, modes: Sequence[str], scaled: bool) -> Array:
    """Coordinates along axes in texels, exactly; `scaled` where 1 is the texture's size."""
    if not scaled:
        return by_mode(folded, modes, coordinate)
    steps = 2.0 ** (21 + np.searchsorted(WIDE, size))
    return by_mode(folded, modes, np.floor(coordinate * steps) / steps) * size


def in_256ths(t: Array) -> Array:
    """How far right of the middle of texel 0 a point lies, rounded half up."""
    return np.floor(t * 256.0 - 127.5)


def limited(q: Array, size: Array, mode: str) -> Array:
    """With clamp the point lies between the middles of the first and the last texel."""
    return np.clip(q, 0.0, (size - 1) * 256.0) if mode == CLAMP else q


def addressed(i: Array, size: Array, mode: str) -> Array:
    """The texels that stand for texels i of a line that goes on in both directions."""
    if mode == ENDLESS:
        return i
    if mode == WRAP:
        inside: Array = i % size
    elif mode == MIRROR:
        i = i % (2 * size)
        inside = np.minimum(i, 2 * size - 1 - i)
    else:
        inside = np.clip(i, 0, size - 1)
    return inside


def low_bits(x: Array, bits: int) -> Array:
    """The low bits of whole numbers as a number with a sign: what fits into the field of an offset."""
    half = 1 << bits - 1
    found: Array = ((x.astype(np.int64) + half) & (2 * half - 1)) - half
    return found
