"""The binary16 and bfloat16 forms of tanh and ex2: the unit's float32 result, cut to the narrower format.

Each format has but 65536 arguments, so a form is a table of its results, made when first asked for.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ..primitives import look_up
from . import unit
from .unit import F32

U16 = NDArray[np.uint16]

_NAN = np.uint16(0x7FFF)


def _patterns() -> NDArray[np.uint32]:
    return np.arange(1 << 16, dtype=np.uint32)


@cache
def _f16_table(function: Callable[[F32], F32]) -> U16:
    """Results for every binary16 argument; they are cut toward zero, to subnormals too, but overflow to infinity."""
    with np.errstate(all="ignore"):
        x = _patterns().astype(np.uint16).view(np.float16).astype(np.float32)
        y = function(x).astype(np.float64)
        r = y.astype(np.float16)
        r = np.where(np.isfinite(r) & (np.abs(r.astype(np.float64)) > np.abs(y)), np.nextafter(r, np.float16(0)), r)
        r = np.where(np.isinf(r) & (np.abs(y) < 65536.0), np.copysign(np.float16(65504), r), r)
    return np.where(np.isnan(y), _NAN, r.view(np.uint16))


@cache
def _bf16_table(function: Callable[[F32], F32]) -> U16:
    """Results for every bfloat16 argument, cut toward zero."""
    y = function((_patterns() << np.uint32(16)).view(np.float32))
    return np.where(np.isnan(y), _NAN, (y.view(np.uint32) >> np.uint32(16)).astype(np.uint16))


def tanh_f16(x: U16) -> U16:
    """Hyperbolic tangent of binary16 patterns."""
    return look_up(x, _f16_table(unit.tanh))


def ex2_f16(x: U16) -> U16:
    """2**x of binary16 patterns."""
    return look_up(x, _f16_table(unit.ex2))


def tanh_bf16(x: U16) -> U16:
    """Hyperbolic tangent of bfloat16 patterns."""
    return look_up(x, _bf16_table(unit.tanh))


def ex2_bf16(x: U16) -> U16:
    """2**x of bfloat16 patterns."""
    return look_up(x, _bf16_table(unit.ex2))
