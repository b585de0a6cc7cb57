"""The scheduler, compiled once."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

from ..jit import CompiledLibrary, NativeSource
from . import layout
from .loops import constants_of, translated
from .scheduler import FUNCTIONS


@functools.cache
def scheduler() -> Callable[[int, int], int]:
    """waves() of scheduler.py for the host: takes the addresses of the words and of the frames."""
    library = NativeSource(translated(FUNCTIONS, constants_of(layout), "waves"), ["waves"]).compiled()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(library.addresses["waves"])
    _alive.append(library)
    return function


_alive: list[CompiledLibrary] = []
