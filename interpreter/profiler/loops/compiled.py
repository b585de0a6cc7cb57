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

from ...native.schedule.loops import constants_of, texts_of, translated
from ...native.tiering import missing
from . import atomics, banks, caches, touch, words

Argument = int | NDArray[Any] | None
_from_buffer: Any = ctypes.c_char.from_buffer  # which takes arrays, too

WORTH = 1 << 17  # uses of lines that take numpy as long as it takes to load the compiler


class CompiledLoop:
    """A function of a library, which takes numbers and arrays."""

    def __init__(self, library: Any, text: Callable[..., int]) -> None:
        kinds = [ctypes.c_int64 if p.annotation == "int" else ctypes.c_void_p for p in inspect.signature(text).parameters.values()]
        self._library = library  # which must stay alive
        self._function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(library.addresses[text.__name__])

    def __call__(self, *arguments: Argument) -> int:
        found: int = self._function(*map(_number, arguments))
        return found


def _number(a: Argument) -> int | None:
    if isinstance(a, np.ndarray):  # ndarray.ctypes takes ten times as long
        assert a.flags.c_contiguous  # loops would go through other memory
        return ctypes.addressof(_from_buffer(a)) if a.flags.writeable and a.size else a.ctypes.data
    return a


@dataclass(frozen=True, slots=True)
class Loops:
    """The loops that Python calls."""

    touch: CompiledLoop
    cover: CompiledLoop
    enter: CompiledLoop
    find_places: CompiledLoop
    follow: CompiledLoop
    contend: CompiledLoop
    take_turns: CompiledLoop
    bank_passes: CompiledLoop


FUNCTIONS = caches.FUNCTIONS + touch.FUNCTIONS + atomics.FUNCTIONS + banks.FUNCTIONS
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

    names, constants = [f.name for f in fields(Loops)], constants_of(words)
    library = NativeSource(lambda: translated(FUNCTIONS, constants), names, texts_of(FUNCTIONS, constants, [])).compiled()
    texts = {f.__name__: f for f in FUNCTIONS}
    return Loops(*[CompiledLoop(library, texts[name]) for name in names])
