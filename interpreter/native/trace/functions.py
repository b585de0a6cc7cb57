"""Numpy's other functions that meanings use, on symbols."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .code import DType, Untraceable, VectorCode
from .symbol import FUNCTIONS, SymbolicArray, Whole, lift, stand_in
from .ufuncs import select


def _lanes(*values: Any) -> int:
    return max(x.lanes for x in values if isinstance(x, SymbolicArray))


def _where(code: VectorCode, condition: Any, a: Any = None, b: Any = None) -> SymbolicArray:
    if a is None or not isinstance(condition, SymbolicArray):
        raise Untraceable("np.where of values")
    dtype: DType = np.result_type(*[stand_in(x) for x in (a, b)])
    lanes = _lanes(condition, a, b)
    return select(lift(code, condition, np.dtype(bool), lanes), lift(code, a, dtype, lanes), lift(code, b, dtype, lanes))


def _clip(code: VectorCode, a: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(a, low), high)


def _stack(code: VectorCode, arrays: Iterable[Any], axis: int = 0) -> SymbolicArray:
    """Elements of a packed type, interleaved."""
    a, b, *more = arrays
    if axis != -1 or more or not isinstance(a, SymbolicArray):
        raise Untraceable("np.stack of anything but two elements of a lane")
    n = a.lanes
    mask = ", ".join(f"i32 {i // 2 + i % 2 * n}" for i in range(2 * n))
    b = lift(code, b, a.dtype, n)
    return a.new(f"shufflevector {a.type} {a.value}, {b.type} {b.value}, <{2 * n} x i32> <{mask}>", a.dtype, 2 * n)


def _broadcast_arrays(code: VectorCode, *arrays: Any) -> tuple[SymbolicArray, ...]:
    lanes = _lanes(*arrays)
    return tuple(lift(code, x, x.dtype, lanes) for x in arrays)


def _full_like(code: VectorCode, a: SymbolicArray, value: Any, dtype: Any = None) -> SymbolicArray:
    return lift(code, value, a.dtype if dtype is None else np.dtype(dtype), a.lanes)


def _nan_to_num(code: VectorCode, a: SymbolicArray, copy: bool = True, nan: float = 0.0) -> Any:
    raise Untraceable("np.nan_to_num")


FUNCTIONS.update(
    where=_where,
    clip=_clip,
    stack=_stack,
    broadcast_arrays=_broadcast_arrays,
    broadcast_to=lambda code, x, shape: x,
    ascontiguousarray=lambda code, x: x,
    ravel=lambda code, x: x,
    copy=lambda code, x, order="K": x,
    any=lambda code, x, **k: x.any(**k),
    all=lambda code, x, **k: x.all(**k),
    count_nonzero=lambda code, x: Whole("any"),
    full_like=_full_like,
    zeros_like=lambda code, x, dtype=None: _full_like(code, x, 0, dtype),
    ones_like=lambda code, x, dtype=None: _full_like(code, x, 1, dtype),
)
