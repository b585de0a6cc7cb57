"""Do the blocks of a launch work for themselves, so that it makes no difference in which order they run, or whether at the same time?

They do if no block accesses what another one writes.  That has to be certain beforehand: all stores to global memory go to addresses that are sums of
the thread's indices, and an address tells which block it belongs to.  Of what is only read, it is enough to know the allocation.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from warplab.isa.spaces import LOCAL_BASE, SHARED_BASE, WINDOW_SIZE

from ...launch import Launch
from ...plan import plan as P
from ...plan.uses import leaves
from ...vector.special import CLOCKS
from ..emit.accesses import space_of
from ..emit.tracing import Tracing
from ..frame import Frame
from ..trace.code import Untraceable
from .linear import Facts, Linear, Unknown, common_step, determined, within
from .states import WalkState
from .values import Origins, SymbolicSum, union
from .walk import PRIVATE, PlanWalk

_WINDOWS = SHARED_BASE, LOCAL_BASE


class GlobalAccess(NamedTuple):
    """A load or store of global memory."""

    write: bool
    size: int
    address: Linear | None  # None: all that is known is where it may lie
    facts: Facts
    origins: Origins  # the starts of the allocations in which it may lie; None: any


class Dependence(Exception):
    """Blocks may depend on each other."""


def independent(launch: Launch, plan: P.PlanFunction, frame: Frame, tracing: Tracing) -> bool:
    """See above; all operations are plain."""
    walk = PlanWalk(launch, plan, frame)
    if not walk.run():
        return False
    try:
        accesses = [a for op, state in walk.operations() for a in _accesses(op, state, walk, tracing)]
    except (Dependence, Untraceable):
        return False
    return _are_apart(accesses, launch)


def is_plain(op: P.Op, tracing: Tracing) -> bool:
    """Is an operation compiled, and does it neither update global memory nor look at a clock?"""
    if any(isinstance(x, P.Special) and x.name in CLOCKS for s in op.sources for x in leaves(s)):
        return False
    return tracing.compiles(op) and (not tracing.updates(op) or str(op.meaning.settled.get("ss")).startswith("shared"))


def _accesses(op: P.Op, state: WalkState, walk: PlanWalk, tracing: Tracing) -> Iterator[GlobalAccess]:
    """What an operation accesses in global memory."""
    if op.how not in ("load", "store"):
        touched = tracing.touches(op)
        if ("global", True) in touched:
            raise Dependence
        if ("global", False) in touched:
            read = [walk.source(s, state) for s in op.sources if isinstance(s, int | P.SlotAs | P.Pointer | P.AddressSource)]
            yield GlobalAccess(False, 0, None, {}, union(v.origins for v in read if isinstance(v, SymbolicSum)))
        return
    if space_of(op) not in ("global", "generic"):
        return
    access, address = op.meaning.access, walk.source(op.sources[0], state)
    assert access is not None and isinstance(address, SymbolicSum)
    size, write = access.type.bytes * access.elements, op.how == "store"
    value = address.proper()
    if value.sum is not None:
        low, high = within(value.sum, state.facts)
        if any(base <= low and high < base + WINDOW_SIZE for base in _WINDOWS):
            return
        found = walk.launch.arena.find(low)
        if found is not None and high + size <= found.end:
            yield GlobalAccess(write, size, value.sum, state.facts, frozenset({found.start}))
            return
    if address.origins == PRIVATE:
        return
    if write or not address.origins:
        raise Dependence
    yield GlobalAccess(False, size, None, {}, address.origins)


def _are_apart(accesses: Sequence[GlobalAccess], launch: Launch) -> bool:
    """Does each block access what no other block writes?"""
    written = {start for a in accesses if a.write for start in a.origins or ()}
    of: dict[int, list[tuple[Linear, GlobalAccess]]] = defaultdict(list)
    for a in accesses:
        if a.origins is None:
            return not written
        for start in a.origins & written:
            if a.address is None:
                return False
            of[start].append((a.address, a))
    axes = {f"ctaid.{axis}" for axis, n in zip("xyz", launch.grid, strict=True) if n > 1}
    return all(axes <= _told(some) for some in of.values())


def _told(accesses: Sequence[tuple[Linear, GlobalAccess]]) -> set[str]:
    """What is equal in all threads that access the same bytes of an allocation."""
    factors: dict[Unknown, int] = {}
    for address, _ in accesses:
        for symbol, factor in address.terms:
            if factors.setdefault(symbol, factor) != factor:
                return set()
    missing = [[s for s in factors if not address.factor(s.name)] for address, _ in accesses]
    if len({s.name for s in factors}) < len(factors) or any(s.least or s.is_place for some in missing for s in some):
        return set()  # but what is no place may be taken for 0 where it is missing
    whole = Linear(tuple(sorted(factors.items())))
    facts = {}
    for sum_ in dict.fromkeys(k for _, a in accesses for k in a.facts):
        ranges = []
        for (_, a), some in zip(accesses, missing, strict=True):
            own = sum_
            for s in some:
                own = own.without(s.name)
            ranges.append(within(own, a.facts))
        facts[sum_] = min(low for low, _ in ranges), max(high for _, high in ranges)
    step, steps = common_step(address.constant for address, _ in accesses)
    return determined(whole, facts, max(a.size for _, a in accesses), step, steps)
