"""The samples of anisotropic filtering: how many, where and with what weights, bit for bit as the texture unit of sm_90 takes them.

A pair of samples lies on both sides of the point, at odd multiples of a step along the longest gradient.  Where the quotient of that gradient
and the width across is r, pairs of weight 1 / r follow each other a texel apart, and the outermost pair has the rest.  Up to r = 2 there is
one pair, which moves apart as r grows.  The quotient is a log2 in 256ths, the step counts in 128ths of a texel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .positions import Array
from .sums import nearest_256th

# The largest quotient of each degree that the unit knows: its log2 cut to 16ths.
LIMITS = {1: 0, 2: 256, 4: 512, 6: 656, 8: 768, 10: 848, 12: 912, 16: 1024}
STEPS = 64  # of a direction's components
BINS = 8  # in which a gradient's components are told apart, within the power of two of the larger one
LEAST = 1 / 32  # of a component, as against that power
_PARTS = np.arange(256)
INVERSE = np.floor(256 * 2.0 ** (-_PARTS / 256) + 0.5).astype(np.int64)  # 256 / r of a quotient from 1 to 2
STRETCH = np.floor(STEPS * 2.0 ** (np.arange(257) / 256) + 0.25).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Axis:
    """Along which samples lie: the quotient, and the direction's components in 64ths."""

    ratio: Array
    direction: tuple[Array, Array]


@dataclass(frozen=True, slots=True)
class Probe:
    """One sample of each lane: how far from the point it lies, in 256ths, its weight, and the binary digits that weights have beyond 256ths."""

    moved: tuple[Array, Array]
    weight: Array
    extra: Array


def limit(degree: int) -> int:
    """The largest quotient."""
    return LIMITS[max(n for n in LIMITS if n <= max(degree, 1))]


def axis(longest: Sequence[Array], ratio: Array) -> Axis:
    """The axis along a gradient (x, y)."""
    sizes = np.abs(np.stack(np.broadcast_arrays(*longest)))
    larger, smaller = sizes.max(axis=0), sizes.min(axis=0)
    power = np.where(larger > 0, (larger.view(np.int64) & -(1 << 52)).view(np.float64), 1.0)
    x, y = ((np.floor(BINS * c / power) + 0.5) / BINS for c in (larger, smaller))
    y = np.where(smaller < LEAST * power, 0.0, y)
    length = np.hypot(x, y)
    along, across = (np.floor(STEPS * c / length + 0.5).astype(np.int64) for c in (x, y))
    upright = sizes[1] > sizes[0]
    components = np.where(upright, across, along), np.where(upright, along, across)
    first, second = (np.where(v < 0, -d, d) for v, d in zip(longest, components, strict=True))
    return Axis(ratio, (first, second))


def samples(a: Axis, weight: Array, farther: Array, *, far: bool) -> Iterator[Probe]:
    """The samples of a level of this weight.

    Between two levels the farther one's part, in 256ths, draws the samples of the nearer level apart, and takes samples from the farther.
    """
    ratio = np.where(farther < 256, a.ratio + farther - 256, a.ratio) if far else a.ratio
    ratio = ratio + ((ratio & 255) == 255)  # its inverse is rounded to that of the next power of two
    stretch = np.full(1, STEPS) if far else STRETCH[farther]
    several = ratio > 0
    octave = np.clip(ratio, 0, None) >> 8
    inverse = INVERSE[ratio & 255]
    # One pair: 256 each.  More: halves of 256 or 512 that inner pairs share with the outermost one.
    extra = np.where(several, np.clip(octave, 1, 2), 0)
    half = 128 << extra
    inner = np.where(octave > 0, inverse >> np.clip(octave - 2, 0, None), half)
    pairs = -(-half // inner)
    apart = np.where(octave > 0, 128, 256 - inverse)
    steps = [(((apart * d >> 6) + 1) >> 1) * stretch >> 6 for d in a.direction]
    given = (np.zeros(1, np.int64),) * 2
    for pair in range(int(pairs.max())):
        # Both samples have an equal part of what is left; half a 256th goes to the one ahead.
        whole = np.minimum(inner * (pair + 1), half) * weight
        so_far = nearest_256th(whole), nearest_256th(whole - 1)
        ahead, behind = (np.where(several, now - before, 0) for now, before in zip(so_far, given, strict=True))
        given = so_far
        moved = [np.where(several, (2 * pair + 1) * 2 * s, 0) for s in steps]
        yield Probe((moved[0], moved[1]), ahead if pair else np.where(several, ahead, weight), extra)
        yield Probe((-moved[0], -moved[1]), behind, extra)
