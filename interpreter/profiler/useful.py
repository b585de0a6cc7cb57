"""How much of a launch's floating-point arithmetic is for results that are stored: less, where tiles reach beyond the data.

It is known where each thread keeps its results to itself until it stores them in global memory.  A thread that stores as many results as any does nothing in
vain; one that stores fewer needs no more operations for each than such a thread.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.flow import flow
from warplab.assembler.ir import Address, Instruction

from ..plan.roles import needs_lanes, registers_of
from ..plan.shapes import known
from ..values import Array
from .flops import flops_of
from .tally import SiteTally

if TYPE_CHECKING:
    from ..lanes import Geometry
    from ..observe import ObservedLanes
    from ..program import LoadedKernel


_stores: WeakKeyDictionary[LoadedKernel, frozenset[int]] = WeakKeyDictionary()


class UsefulArithmetic:
    """Operations and stores of each thread of a launch."""

    def __init__(self, results: frozenset[int], threads: int) -> None:
        self.results, self.threads = results, threads  # the stores of results, by identity
        self.operations: dict[int, NDArray[np.float64]] = {}  # by the first block of a wave
        self.stored: dict[int, NDArray[np.float64]] = {}
        self.pending = 0.0  # operations of each of the lanes below, that are not added up
        self._lanes: tuple[int, Geometry, Array | None] | None = None

    def wave(self, first: int, count: int) -> None:
        """Some blocks start."""
        self.operations[first], self.stored[first] = np.zeros(count * self.threads), np.zeros(count * self.threads)

    def enter(self, group: ObservedLanes | None) -> None:
        """Other lanes go on; what the last ones computed is added up."""
        if self.pending and self._lanes is not None:
            _add(self.operations, *self._lanes, self.pending)
        self._lanes = None if group is None else (group.wave.first, group.geometry, group.alive)
        self.pending = 0.0

    def compute(self, group: ObservedLanes, operations: float, mask: Array | None) -> None:
        """The lanes entered last compute, those of a mask if there is one."""
        if mask is None:
            self.pending += operations
        else:
            _add(self.operations, group.wave.first, group.geometry, mask if group.alive is None else mask & group.alive, operations)

    def store(self, group: ObservedLanes, mask: Array | None, elements: int) -> None:
        """Lanes store results."""
        _add(self.stored, group.wave.first, group.geometry, mask, elements)

    def share(self, tallies: Mapping[int, SiteTally]) -> float | None:
        """The part of the arithmetic whose results are stored; None if results go elsewhere, too, or nowhere."""
        self.enter(None)
        spaces = {key for i in self.results if i in tallies for key in tallies[i].accesses}
        operations, stored = (np.concatenate(list(d.values())) for d in (self.operations, self.stored))
        if spaces != {("global", "st")} or not operations.any():
            return None
        most = stored.max()
        each = (operations[stored == most] / most).max()
        return float(np.minimum(operations, stored * each).sum() / operations.sum())


def stores_of_results(kernel: LoadedKernel) -> frozenset[int]:
    """The stores of values that arithmetic has made; none if threads hand such values to each other in registers, or to functions."""
    found = _stores.get(kernel)
    if found is None:
        found = _stores[kernel] = _stores_of_results(kernel)
    return found


def _stores_of_results(kernel: LoadedKernel) -> frozenset[int]:
    instructions = [i for f in kernel.reached if f.body is not None for b in flow(f).blocks for i in b.instructions]
    if any(i.form is not None and i.form.effect == "call" for i in instructions):
        return frozenset()
    made, grows = set[int](), True
    while grows:
        grows = False
        for i in instructions:
            k = known(i)
            if (flops_of(i.opcode, i.modifiers) or not made.isdisjoint(k.read)) and not made.issuperset(k.written):
                made.update(k.written)
                grows = True
    stores = set[int]()
    for i in instructions:
        if needs_lanes(i) and not flops_of(i.opcode, i.modifiers) and not made.isdisjoint(known(i).read):
            return frozenset()
        if i.form is not None and i.form.facts.access in ("store", "atomic", "reduction") and not made.isdisjoint(_values(i)):
            stores.add(id(i))
    return frozenset(stores)


def _values(i: Instruction) -> set[int]:
    """The registers that an instruction stores."""
    return {r.index for o in i.operands if not isinstance(o, Address) for r in registers_of(o)}


def _add(to: dict[int, NDArray[np.float64]], wave: int, g: Geometry, mask: Array | None, n: float) -> None:
    if mask is None:
        to[wave][g.lane.ravel()] += n
    else:
        to[wave][np.broadcast_to(g.lane, g.shape)[np.broadcast_to(mask, g.shape)]] += n
