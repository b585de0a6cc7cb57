"""What a fused product hands on to its sums, as functions of arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa import sfu

from ..plan.plan import Meaning


@functools.cache
def factors_of(meaning: Meaning) -> Callable[..., Any]:
    """What a product hands on to the sums that fuse it: its operands; of an approximate quotient the dividend and a reciprocal."""
    if meaning.form.opcode != "div":
        return lambda a, b: (a, b)
    full, ftz = bool(meaning.settled.get("full")), bool(meaning.settled.get("ftz"))

    def split(a: NDArray[Any], b: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        size, one = np.abs(b), np.float32(1)
        scale = np.where(size > 2.0**126, np.float32(0.25), one) if full else one  # what is far from 1 is scaled first
        if not ftz:
            scale = np.where(size < 2.0**-126, np.float32(2.0**24), scale)
        return a * scale, sfu.rcp(b * scale, True)

    return split
