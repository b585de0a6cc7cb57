"""Register values: plain arrays, and Shifted ones for registers that serve as addresses.

An array's shape tells how far its value varies: (1, 1) for a whole wave, (k, 1) by block, (1, T) by thread, else (k, T).
A Shifted is base + delta with a Python int delta: pointers that walk by a constant cost no array pass, and what an access needs to know
of their base (range, alignment, index) is found once, however many accesses share it.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


MANY = 4096  # below so many lanes a gather costs no more than what would save it


class Repeat:
    """An index array in which each block's row repeats itself: what its lanes address without the repetitions.

    Threads of a tile address it by row or by column: (t, t, t, u, u, u) or (t, u, v, t, u, v).
    """

    __slots__ = ("axis", "index", "times")

    def __init__(self, index: Array, axis: int, times: int) -> None:
        self.index = index
        self.axis = axis  # 2 where neighbours are equal, 1 where the whole row comes again
        self.times = times

    def spread(self, values: Array) -> Array:
        """What all lanes get of the values at the index."""
        return values.repeat(self.times, axis=self.axis).reshape(len(values), -1)


def repeat_of(index: Array) -> Repeat | None:
    """How the rows of an index array of (blocks, threads) repeat, if they do so in one way."""
    if index.size < MANY:
        return None
    blocks, threads = index.shape
    row = index[0]
    changes = np.flatnonzero(row != row[0])
    run = int(changes[0]) if len(changes) else threads
    if run > 3 and threads % run == 0:
        split = index.reshape(blocks, threads // run, run)
        return Repeat(split[:, :, :1].copy(), 2, run) if (split == split[:, :, :1]).all() else None
    again = np.flatnonzero(row[1:] == row[0])
    period = int(again[0]) + 1 if len(again) else threads
    if 7 < period < threads and threads % period == 0:
        split = index.reshape(blocks, threads // period, period)
        return Repeat(split[:, :1].copy(), 1, threads // period) if (split == split[:, :1]).all() else None
    return None


_NEW, _ONCE = (Repeat(np.empty((0, 0, 0)), 1, 0) for _ in range(2))  # what is not known so far


class AddressFacts:
    """What memory accesses need to know of an address array; computed when first asked."""

    __slots__ = ("base", "high", "indices", "low", "low_bits", "notes", "repeats", "runs")

    def __init__(self, base: Array) -> None:
        self.base = base
        if base.size == 1:
            self.low = self.high = self.low_bits = int(base[0, 0])
        else:
            self.low = int(np.minimum.reduce(base, axis=None))
            self.high = int(np.maximum.reduce(base, axis=None))
            self.low_bits = int(np.bitwise_or.reduce(base, axis=None)) if base.flags.forc else int(np.bitwise_or.reduce(base.ravel()))
        self.indices: dict[tuple[int, int], Array] = {}
        self.runs: dict[int, bool] = {}
        self.repeats: dict[tuple[int, int], Repeat | None] = {}  # of index arrays, under their keys
        self.notes: dict[Hashable, Any] = {}  # what observers have found

    def index(self, shift: int, start: int) -> Array:
        """(base - start) >> shift as an index array, for 64-bit addresses."""
        found = self.indices.get((shift, 0))
        if found is None:
            found = self.indices[shift, 0] = (self.base.view(np.int64) - start) >> shift
        return found

    def repeat(self, key: tuple[int, int], index: Array) -> Repeat | None:
        """How an index array repeats that stands under a key; looked at when it is used a second time."""
        found = self.repeats.get(key, _NEW)
        if found is _NEW:
            self.repeats[key] = _ONCE
            return None
        if found is _ONCE:
            found = self.repeats[key] = repeat_of(index)
        return found

    def is_run(self, shift: int) -> bool:
        """Do the lanes, in order, address consecutive elements of 2**shift bytes?"""
        known = self.runs.get(shift)
        if known is None:
            n = self.base.size
            known = self.high - self.low == (n - 1) << shift and n > 1
            if known:
                flat = self.base.ravel()
                known = bool((flat[1:] - flat[:-1] == flat.dtype.type(1 << shift)).all())
            self.runs[shift] = known
        return known


class Shifted:
    """base + delta modulo the width of base's dtype."""

    __slots__ = ("_facts", "base", "delta")

    def __init__(self, base: Array, delta: int = 0, facts: AddressFacts | None = None) -> None:
        self.base = base
        self.delta = delta
        self._facts = facts

    @property
    def facts(self) -> AddressFacts:
        """The facts of the base, shared by all that walk from it."""
        if self._facts is None:
            self._facts = AddressFacts(self.base)
        return self._facts

    def moved(self, by: int) -> Shifted:
        """This value plus a constant."""
        if self._facts is None and self.base.size > 1:
            self._facts = AddressFacts(self.base)  # so that the walkers share them
        return Shifted(self.base, self.delta + by, self._facts)

    def __add__(self, by: int) -> Shifted:
        return self.moved(int(by))

    def array(self) -> Array:
        """The value as a plain array."""
        if self.delta == 0:
            return self.base
        dtype = self.base.dtype
        by = np.asarray(self.delta & ((1 << dtype.itemsize * 8) - 1), dtype=f"u{dtype.itemsize}").astype(dtype)
        out: Array = self.base + by
        return out


@dataclass(slots=True, frozen=True)
class ParameterOffset:
    """A place in the launch's parameters, the same for all lanes."""

    at: int


@dataclass(slots=True, frozen=True)
class LocalPlace:
    """A place in each lane's own stack, the same for all lanes."""

    at: int


Value = Array | Shifted


def plain(value: Value) -> Array:
    """Any register value as an array."""
    return value.array() if type(value) is Shifted else value  # type: ignore[return-value, unused-ignore]
