"""Functions of isa/ that the host has instructions for, or that are written for arrays of values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import warplab.isa.sfu as sfu
from warplab.isa.floats import binary32, binary64
from warplab.isa.primitives import look_up
from warplab.isa.sfu import single as unit

from .code import VectorCode, scalar_type
from .symbol import PRIMITIVES, SymbolicArray, lift
from .ufuncs import numbers, select, suffix


def _look_up(code: VectorCode, index: SymbolicArray, table: NDArray[Any]) -> SymbolicArray:
    i = index.astype(np.int64)
    one, out = scalar_type(table.dtype), SymbolicArray(code, "", table.dtype, i.lanes)
    places = code.emit(f"getelementptr inbounds {one}, ptr {code.module.table(table)}, {i.type} {i.value}")
    all_lanes = "<" + ", ".join(["i1 true"] * i.lanes) + ">"
    value = code.call(
        f"llvm.masked.gather.{suffix(out)}.v{i.lanes}p0", out.type, f"<{i.lanes} x ptr> {places}", f"i32 {table.dtype.itemsize}",
        f"<{i.lanes} x i1> {all_lanes}", f"{out.type} poison",
    )  # fmt: skip
    return SymbolicArray(code, value, table.dtype, i.lanes)


def _fma(code: VectorCode, a: Any, b: Any, c: Any, dtype: type) -> SymbolicArray:
    lanes = max(x.lanes for x in (a, b, c) if isinstance(x, SymbolicArray))
    x, y, z = (numbers(lift(code, v, np.dtype(dtype), lanes)) for v in (a, b, c))
    return SymbolicArray(code, code.call(f"llvm.fma.{suffix(x)}", x.type, *[f"{v.type} {v.value}" for v in (x, y, z)]), x.dtype, lanes)


def hardware_nan(code: VectorCode, r: SymbolicArray) -> SymbolicArray:
    """Numbers of which each NaN is the one that the hardware gives."""
    found = select(np.isnan(r), lift(code, binary32.NAN16 if r.itemsize == 2 else binary32.NAN32, r.dtype, r.lanes), r)  # type: ignore[arg-type]
    found.raw = r
    return found


PRIMITIVES[look_up] = _look_up
PRIMITIVES[binary32.canonical] = hardware_nan
PRIMITIVES[binary32.fma_nearest] = lambda code, a, b, c: binary32.canonical(_fma(code, a, b, c, np.float32))  # type: ignore[arg-type]
PRIMITIVES[binary64.fma64_nearest] = lambda code, a, b, c: _fma(code, a, b, c, np.float64)
for _name in ("cos", "div_approx", "div_full", "ex2", "lg2", "rcp", "rsqrt", "sin", "sqrt", "tanh"):  # without the short ways
    _whole = getattr(unit, _name)
    PRIMITIVES[getattr(sfu, _name)] = lambda code, *arguments, f=_whole, **modes: f(*arguments, **modes)
