"""Proxy-preserved base causality (PTX ISA 8.9): which of it accesses through different proxies and addresses keep.

Accesses through the generic proxy to one address keep all of it; so do those through one other proxy, within a block.  Between two
proxies a proxy fence must stand on the way, in the block of the access that is not generic; between two addresses of one location an
alias fence, and before and behind it accesses must have come to the generic proxy.
"""

from __future__ import annotations

from collections.abc import Sequence

from .events import GENERIC, MemoryEvent, Thread
from .relations import Relation, bits, empty

ALIAS = "alias"  # what a fence between addresses names in the place of a proxy


def preserved(events: Sequence[MemoryEvent], thread: Sequence[Thread | None], base: Relation) -> Relation:
    """Of base causality, what accesses keep."""
    if all(e.proxy == GENERIC and not e.address for e in events):
        return base
    out = empty(len(events))
    for i, a in enumerate(events):
        for j in bits(base[i]):
            b = events[j]
            accesses = a.location is not None and b.location is not None  # of fences and barriers no proxy is asked
            if not accesses or (a.location == b.location and route(events, thread, base, i, j) is not None):
                out[i] |= 1 << j
    return out


def route(events: Sequence[MemoryEvent], thread: Sequence[Thread | None], base: Relation, i: int, j: int) -> tuple[int, ...] | None:
    """The events on the way from one access to another of its location that keep their order, both included; None: nothing does."""
    a, b = events[i], events[j]
    if thread[i] is None or thread[j] is None:  # what memory holds at first is before all
        return i, j
    if a.address == b.address and a.proxy == b.proxy and (a.proxy == GENERIC or _same_block(thread, i, j)):
        return i, j
    ways_out = [i] if a.proxy == GENERIC else [f for f in _fences(events, thread, i) if base[i] >> f & 1]
    ways_in = [j] if b.proxy == GENERIC else [f for f in _fences(events, thread, j) if base[f] >> j & 1]
    aliases = [f for f, e in enumerate(events) if e.order.proxy and e.proxy == ALIAS]
    for p in ways_out:
        for q in ways_in:
            if a.address == b.address and (p == q or base[p] >> q & 1):
                return tuple(dict.fromkeys((i, p, q, j)))
            for f in aliases:
                if base[p] >> f & 1 and base[f] >> q & 1:
                    return tuple(dict.fromkeys((i, p, f, q, j)))
    return None


def _fences(events: Sequence[MemoryEvent], thread: Sequence[Thread | None], i: int) -> list[int]:
    """The fences that bring an access to the generic proxy."""
    return [f for f, e in enumerate(events) if e.order.proxy and e.proxy == events[i].proxy and _same_block(thread, i, f)]


def _same_block(thread: Sequence[Thread | None], i: int, j: int) -> bool:
    s, t = thread[i], thread[j]
    return s is not None and t is not None and s.block == t.block
