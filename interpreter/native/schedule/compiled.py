"""The scheduler, compiled once."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable

from ..jit import CompiledLibrary, NativeSource
from . import layout, records
from .loops import constants_of, texts_of, translated
from .scheduler import FUNCTIONS


def scheduler_source() -> NativeSource:
    """What is compiled; it takes longer to translate than to load its code, so that code is known by the text in Python."""
    constants = constants_of(layout)
    return NativeSource(lambda: translated(FUNCTIONS, constants, "waves"), ["waves"], texts_of(FUNCTIONS, constants, [layout, records]))


@functools.cache
def scheduler() -> Callable[[int, int], int]:
    """waves() of scheduler.py for the host: takes the addresses of the words and of the frames."""
    library = scheduler_source().compiled()
    function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)(library.addresses["waves"])
    _alive.append(library)
    return function


_alive: list[CompiledLibrary] = []
