"""Loads and stores of a group of lanes, all of which take part: bounds, alignment, and the array operation that moves the data.

This common case costs three reductions over the addresses, once for each base array however many accesses share it, and one take or put;
lanes that address consecutive elements become slices.  general.py does what is not common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warplab.isa.spaces import LOCAL_BASE
from warplab.isa.types import ScalarType

from ..values import AddressFacts, LocalPlace, Shifted, Value, plain
from .arena import Arena
from .general import GeneralAccess
from .multicast import MulticastRange
from .spaces import AccessingLanes, ArenaSpace, LocalSpace, MemorySpace, SharedSpace

Array = NDArray[Any]


class WaveMemory(GeneralAccess):
    """All memories of one wave, and the accesses of its groups."""

    def __init__(
        self, arena: Arena, others: Sequence[Arena], shared: SharedSpace, local: LocalSpace, cluster_size: int,
        multicasts: Sequence[MulticastRange] = (),
    ) -> None:  # fmt: skip
        self.device = ArenaSpace("global", arena)
        self.origin = arena.base
        self.others = [ArenaSpace("host", a) for a in others]
        self.shared = shared
        self.local = local
        self.cluster_size = cluster_size
        self.multicasts = multicasts
        self.by_name: dict[str, MemorySpace] = {
            "global": self.device, "const": self.device, "shared": shared, "shared::cta": shared, "local": local,
        }  # fmt: skip

    # ------------------------------------------------------------ the common case

    def load(self, g: AccessingLanes, space: str, address: Value | LocalPlace, type: ScalarType, count: int) -> tuple[Array, ...]:
        """Elements at each active lane's address; zeros for the others."""
        if isinstance(address, LocalPlace):
            return self.local.load(g, np.array([[address.at]]), type, count)
        size = type.bytes * count
        if g.active is None and (found := self.common(space, address, size, write=False)) is not None:
            memory, a = found
            if memory is not self.local:
                return self._take(g, memory, a.facts, a.delta, type, count)
            if type.elements == 1:
                return self.local.load(g, a.array().astype(np.int64), type, count)
        return self.general_load(g, space, plain(address), type, count)

    def common(self, space: str, address: Value, size: int, *, write: bool) -> tuple[MemorySpace, Shifted] | None:
        """The one memory that holds all of a group's accesses of a size, which are legal and aligned; None where a closer look is needed."""
        a = address if isinstance(address, Shifted) else Shifted(address)
        facts, delta = a.facts, a.delta
        low, high = facts.low + delta, facts.high + delta
        memory = self.by_name.get(space)
        if memory is None and space == "generic" and low >= 0 and high < LOCAL_BASE:
            memory = self.device
        if (
            memory is not None
            and memory.legal(low, high + size, write)
            and not (memory is self.local and self.local.guarded)
            and not (facts.low_bits | delta) & (size - 1)
            and (memory is not self.device or (delta >= 0 and facts.low >= self.origin))
        ):
            return memory, a
        return None

    def _take(
        self, g: AccessingLanes, memory: MemorySpace, facts: AddressFacts, delta: int, type: ScalarType, count: int
    ) -> tuple[Array, ...]:
        dtype = type.dtype
        if type.elements > 1:  # b128: two halves
            count *= type.elements
        shift = dtype.itemsize.bit_length() - 1
        view = memory.view(dtype)
        start = delta >> shift
        base = facts.base
        if base.size == 1 and memory is self.device:
            at = (facts.low - self.origin >> shift) + start
            return tuple(view[at + i : at + i + 1].reshape(1, 1).copy() for i in range(count))
        if count == 1 and memory is self.device and facts.high - facts.low == (base.size - 1) << shift and facts.is_run(shift):
            at = (facts.low - self.origin >> shift) + start
            return (view[at : at + base.size].reshape(base.shape).copy(),)
        index = memory.index(g, facts, shift)
        if start < 0:
            index = index + start
            start = 0
        if count == 1:  # in bounds already: wrap is the fastest mode
            repeat = facts.repeat((shift, id(g.geometry) if memory is self.shared else 0), index)
            if repeat is not None:
                return (repeat.spread(view[start:].take(repeat.index, mode="wrap")),)
            return (view[start:].take(index, mode="wrap"),)
        return tuple(view[start + i :].take(index, mode="wrap") for i in range(count))

    def store(self, g: AccessingLanes, space: str, address: Value | LocalPlace, type: ScalarType, values: Sequence[Array]) -> None:
        """Stores elements at each active lane's address; the highest lane wins."""
        if isinstance(address, LocalPlace):
            self.local.store(g, np.array([[address.at]]), type, values, g.active)
            return
        size = type.dtype.itemsize * len(values)
        if g.active is None and (found := self.common(space, address, size, write=True)) is not None:
            memory, a = found
            if memory is not self.local:
                return self._put(g, memory, a.facts, a.delta, type, values)
            if type.elements == 1:
                return self.local.store(g, a.array().astype(np.int64), type, values, None)
        self.general_store(g, space, plain(address), type, values)

    def _put(
        self, g: AccessingLanes, memory: MemorySpace, facts: AddressFacts, delta: int, type: ScalarType, values: Sequence[Array]
    ) -> None:
        dtype = type.dtype
        shift = dtype.itemsize.bit_length() - 1
        view = memory.view(dtype)
        start = delta >> shift
        shape = g.geometry.shape
        n = g.geometry.n
        base = facts.base
        if (
            len(values) == 1
            and base.size == n
            and memory is self.device
            and facts.high - facts.low == (n - 1) << shift
            and facts.is_run(shift)
        ):
            at = (facts.low - self.origin >> shift) + start
            view[at : at + n].reshape(shape)[...] = values[0]
            return
        index = memory.index(g, facts, shift)
        if start < 0:
            index = index + start
            start = 0
        if index.size != n and any(v.size > 1 for v in values):
            index = np.broadcast_to(index, shape)
        for i, v in enumerate(values):
            view[start + i :][index] = v if v.shape == index.shape or v.size == 1 else np.broadcast_to(v, index.shape)
