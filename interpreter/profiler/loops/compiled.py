"""The door to the loops: hands them out where llvmlite is installed and the work is worth loading it; None means that numpy does the work.

Both ways give the same numbers.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...native.choice import missing
from ...native.schedule.loops import constants_of, translated
from . import caches, touch, words

Loop = Callable[..., int]  # takes numbers and arrays

WORTH = 1 << 17  # uses of lines that take numpy as long as it takes to load the compiler


@dataclass(frozen=True, slots=True)
class Loops:
    """The loops that Python calls."""

    touch: Loop
    cover: Loop
    follow: Loop
    empty: Loop


FUNCTIONS = caches.FUNCTIONS + touch.FUNCTIONS
_loaded: list[Loops | None] = [None]
_done = [0]  # uses that numpy has followed


def loops() -> Loops | None:
    """The loops, where they are loaded."""
    return _loaded[0]


def load(uses: int, engine: str) -> Loops | None:
    """The loops, for a launch on an engine; they are loaded once so many more uses of lines make it worth while, or the launch asks for compiled code."""
    if engine == "numpy":
        return None
    if _loaded[0] is None:
        _done[0] += uses
        if (_done[0] >= WORTH or engine == "native") and not missing():
            _loaded[0] = _compiled()
    return _loaded[0]


def _compiled() -> Loops:
    from ...native.jit import NativeSource  # here, since it loads llvmlite

    names = [f.name for f in fields(Loops)]
    library = NativeSource(translated(FUNCTIONS, constants_of(words)), names).compiled()
    texts = {f.__name__: f for f in FUNCTIONS}
    return Loops(*[_callable(library, name, texts[name]) for name in names])


def _callable(library: Any, name: str, text: Callable[..., int]) -> Loop:
    """A compiled function; `library` stays alive with it."""
    kinds = [ctypes.c_int64 if p.annotation == "int" else ctypes.c_void_p for p in inspect.signature(text).parameters.values()]
    function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(library.addresses[name])

    def loop(*arguments: int | NDArray[Any] | None) -> int:
        found: int = function(*[a.ctypes.data if isinstance(a, np.ndarray) else a for a in arguments])
        return found

    loop.library = library
    return loop
