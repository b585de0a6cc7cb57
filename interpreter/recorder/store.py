"""Where recorded arrays lie: copies, close together in memory that the system is asked for in large pieces.

A copy costs less than the original would if it were kept: fresh memory for each result of an instruction is expensive, page by page, and the
engine uses the memory of a result that is gone again while the processor's caches hold it.  An array that several records name is copied once.
"""

from __future__ import annotations

import mmap
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..values import Array, Shifted

SMALLEST, LARGEST = 1 << 18, 32 << 20  # bytes that are asked for at once: twice as many each time
FORGET = 4096  # copies that are known at once


class ArrayStore:
    """Copies arrays."""

    def __init__(self) -> None:
        self.size = 0  # bytes of all copies
        self._slab = np.empty(0, np.uint8)
        self._at = 0
        self._known: dict[int, tuple[Any, Array]] = {}  # by id: the array, as long as it lives, and its copy

    def copy(self, array: Array) -> Array:
        """The same values."""
        found = self._known.get(id(array))
        if found is not None and found[0]() is array:
            return found[1]
        n = array.nbytes
        start = self._at
        if start + n > self._slab.size:
            self._slab = _fresh(max(n + 16, min(max(2 * self._slab.size, SMALLEST), LARGEST)))
            start = 0
        self._at = start + n + 15 & ~15
        out: Array = self._slab[start : start + n].view(array.dtype).reshape(array.shape)
        out[...] = array
        self.size += self._at - start
        if len(self._known) >= FORGET:
            self._known = {key: one for key, one in self._known.items() if one[0]() is not None}
            if len(self._known) >= FORGET // 2:
                self._known.clear()
        self._known[id(array)] = weakref.ref(array), out
        return out

    def kept(self, value: Any) -> Any:
        """A value of the engine, or None, as a track keeps it."""
        if value is None:
            return None
        if type(value) is tuple:
            return self.copy(value[0]), value[1]
        if type(value) is Shifted:
            base = self.copy(value.base)
            return (base, value.delta) if value.delta else base
        return self.copy(value)


def _fresh(size: int) -> NDArray[np.uint8]:
    """Memory that will be used soon: where the system can, all of it is made present at once, which is cheaper than page after page."""
    if not hasattr(mmap, "MAP_POPULATE"):
        return np.empty(size, np.uint8)
    try:
        return np.frombuffer(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | mmap.MAP_POPULATE), np.uint8)
    except OSError as e:
        raise MemoryError from e
