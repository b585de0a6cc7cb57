"""What barriers order: the ways in which those of one execution may complete.

A barrier completes when enough of its threads have arrived, and lets all of them pass.  One that counts its threads may be reached by
more than it counts; each choice of so many is a way to complete.  Barriers that wait for each other never complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

from .events import MemoryEvent
from .relations import Relation, is_acyclic, of

Completion = tuple[tuple[int, ...], tuple[int, ...]]  # the arrivals that it waits for, and who passes then


def completions(events: Sequence[MemoryEvent], po: Relation) -> Iterator[Relation]:
    """From arrivals to those who wait for them: for each way in which all barriers complete."""
    choices = []
    for places in _by_barrier(events):
        arrivals = [i for i in places if events[i].arrives]
        waiting = tuple(i for i in places if events[i].waits)
        needed = max(events[i].threads for i in places)
        if waiting and len(arrivals) < needed:
            return
        counts = any(events[i].counts for i in places)
        choices.append([(who, waiting) for who in (combinations(arrivals, needed) if counts and waiting else (tuple(arrivals),))])
    for chosen in product(*choices):
        if _can_complete(chosen, po):
            yield of(len(events), [(i, j) for arrivals, waiting in chosen for i in arrivals for j in waiting if i != j])


def _by_barrier(events: Sequence[MemoryEvent]) -> list[list[int]]:
    found: dict[tuple[object, ...], list[int]] = {}
    for i, e in enumerate(events):
        if e.barrier:
            found.setdefault(e.barrier, []).append(i)
    return list(found.values())


def _can_complete(chosen: Sequence[Completion], po: Relation) -> bool:
    """Does each barrier need only what does not wait for it?"""
    first = [sum(1 << i for i in arrivals) for arrivals, _ in chosen]
    later = [(m, n) for m, (_, waiting) in enumerate(chosen) for n in range(len(chosen)) if any(po[w] & first[n] for w in waiting)]
    return is_acyclic(of(len(chosen), later))
