"""Lanes of one warp that hand values on through volatile memory, and nothing but lockstep orders them.

Up to sm_62 the lanes of a warp executed together, and code relied on it: a volatile store, then a volatile load of another lane's value.  Such
accesses are strong and so no race, but since sm_70 the other lane need not have come as far.  A load that waits for a value is none of these: it
asks in a loop until the value is there.  Nor is one whose value is only compared: a flag, for which either answer will do.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from warplab.assembler.flow import accesses, flow
from warplab.assembler.ir import Function, Instruction
from warplab.assembler.listing import listing

from ....plan.plan import Site
from ..advice.dataflow import definitions, is_load, origins
from ..context import RaceContext
from .look import Look
from .shadow_memory import HALF, LEVEL_AT, LOW, MIXED, NUMBER, THREAD, WARP, Array

AGAINST = {"strong read": "strong write", "strong write": "strong read"}


class Lockstep:
    """Looks at the volatile accesses of one launch."""

    def __init__(self, context: RaceContext) -> None:
        self.context = context
        self._asking: dict[str, frozenset[int]] = {}

    def check(self, look: Look, i: Array) -> None:
        """Looks at the units that a volatile access touches."""
        launch = self.context.launch
        cells = look.shadow.cells.get(AGAINST.get(look.what, ""))
        if cells is None or look.access.kind not in ("ld", "st") or launch.lowering.lockstep or not is_volatile(look.access.site):
            return
        stamp = cells.stamp[i]
        low, order = (stamp & LOW).astype(np.int64), self.context.order
        level, number = low >> LEVEL_AT, low & NUMBER
        warp = np.where(level == THREAD, number // launch.threads * order.per_block + number % launch.threads // 32, number)
        near = (level <= WARP) & (warp == look.lanes.warp) & ((level != THREAD) | (number != look.lanes.thread))
        index = np.flatnonzero((stamp > look.floor) & ((stamp >> HALF).astype(np.int64) >= order.start) & near)
        if not index.size:
            return
        mask = None if cells.mask is None else cells.mask[i[index]]
        index = index[~order.happens_before(stamp[index], mask, look.lanes.take(index), shared=look.in_shared)]
        sites = cells.site[i[index]] & np.uint16(MIXED - 1)
        for n in np.unique(sites).tolist():
            other = self.context.reporter.sites[n - 1]
            load = look.access.site if look.access.kind == "ld" else other
            if is_volatile(other) and other.instruction is not look.access.site.instruction and not self._asks(load):
                self.context.reporter.lockstep(look, cells, i, index[sites == n], other)

    def _asks(self, load: Site) -> bool:
        """Does a load wait for a value, or ask for a flag?"""
        found = self._asking.get(load.function)
        if found is None:
            found = self._asking[load.function] = frozenset(_asking(self.context.launch.kernel.program.functions[load.function]))
        return id(load.instruction) in found


def is_volatile(site: Site) -> bool:
    """Is it one of the accesses that code which relies on lockstep is made of?"""
    form = site.instruction.form
    return form is not None and form.facts.access in ("load", "store") and "volatile" in site.instruction.modifiers


def _asking(function: Function) -> Iterator[int]:
    graph, defined = flow(function), definitions(function)
    users: dict[int, list[Instruction]] = {}
    for i in listing(function).instructions:
        for r in accesses(i)[0]:
            users.setdefault(r.index, []).append(i)
    for i in listing(function).instructions:
        if is_load(i):
            used = [u for r in accesses(i)[1] for u in users.get(r.index, ())]
            if all(u.form is not None and u.form.facts.compares for u in used):
                yield id(i)
    for loop in graph.loops:
        inside = {id(i) for b in loop.blocks for i in graph.blocks[b].instructions}
        for b in loop.blocks:
            branch = graph.blocks[b].terminator
            if branch is not None and branch.guard is not None and not set(graph.blocks[b].successors) <= set(loop.blocks):
                yield from {id(i) for i in origins([branch.guard.index], defined)} & inside
