"""The simulation as a function: compiled where llvmlite is installed, else as Python; both give the same numbers."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..native.schedule.loops import constants_of, texts_of, translated
from ..native.tiering import missing
from . import multiprocessor, words

Arrays = Sequence[NDArray[np.int64]]


def is_compiled(engine: str) -> bool:
    """Is the simulation compiled?"""
    return engine != "numpy" and not missing()


def simulation(engine: str) -> Callable[[Arrays], int]:
    """`simulate` of multiprocessor.py, which changes the arrays."""
    return _compiled() if is_compiled(engine) else _plain


@cache
def _compiled() -> Callable[[Arrays], int]:
    from ..native.jit import NativeSource  # here, since it loads llvmlite

    name, functions, constants = multiprocessor.simulate.__name__, multiprocessor.FUNCTIONS, constants_of(words)
    library = NativeSource(lambda: translated(functions, constants, name), [name], texts_of(functions, constants, [])).compiled()
    count = len(multiprocessor.simulate.__annotations__) - 1
    function: Any = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_void_p] * count)(library.addresses[name])

    def run(arrays: Arrays) -> int:
        found: int = function(*[np.require(a, requirements="C").ctypes.data for a in arrays])
        return found

    run.library = library  # type: ignore[attr-defined]  # which must stay alive
    return run


def _plain(arrays: Arrays) -> int:
    lists = [a.reshape(-1).tolist() for a in arrays]  # whose elements Python reads faster than those of arrays
    end = multiprocessor.simulate(*lists)
    for array, values in zip(arrays, lists, strict=True):
        array.reshape(-1)[:] = values
    return end
