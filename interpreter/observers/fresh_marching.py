"""Which of the accesses that waited march, on lines that nobody else uses: then the first warp tells for all."""

from __future__ import annotations

import numpy as np

from .fresh_tables import Stretch, stretches_of
from .marching import Marching
from .sectors import LINE
from .touch import WARP
from .uses import Waiting

ENOUGH = 4  # accesses
Kind = tuple[int, object, object]


def leaders(waiting: list[Waiting], l1_lines: int, l2_lines: int) -> tuple[list[Waiting], list[list[Waiting]]]:
    """Those that have to be followed as a whole, and what the first warps of the others do, those that stand for as many warps together.

    Where a cache may have no room for all, it matters what everybody does.
    """
    if sum(isinstance(w.f, Marching) for w in waiting) < ENOUGH:
        return waiting, []
    stretches, where = stretches_of(waiting)
    some: dict[int, list[Waiting]] = {s.low: [] for s in stretches}
    for turn, s in where.items():
        some[s.low].append(waiting[turn])
    if sum([s.lines for s in stretches]) > l2_lines:
        return waiting, []
    kinds = {s.low: kind for s in stretches if (kind := _kind(some[s.low])) is not None}
    if sum([_lines(s, some[s.low], marching=s.low in kinds) for s in stretches]) > l1_lines:
        return waiting, []
    rest: list[Waiting] = []
    found: dict[Kind, list[Waiting]] = {}
    for turn, w in enumerate(waiting):
        kind = kinds.get(where[turn].low) if turn in where else None
        if kind is None or not isinstance(w.f, Marching):
            rest.append(w)
        else:
            as_it_was = w.start, w.rows, w.sink, w.silent, w.there, w.again, w.other_words
            found.setdefault(kind, []).append(Waiting(w.way, w.f.leader, *as_it_was, w, w.f.full))
            if w.f.count % WARP:
                rest.append(Waiting(w.way, w.f.tail, *as_it_was))
    return rest, list(found.values())


def _kind(some: list[Waiting]) -> Kind | None:
    """What those have in common that use some lines; None unless each line is used by just one warp."""
    kinds = {w.f.kind if isinstance(w.f, Marching) else None for w in some}
    if len(kinds) > 1:
        return None
    kind = kinds.pop()
    return kind if kind is not None and _of_a_warp(some) * LINE <= kind[0] else None


def _of_a_warp(some: list[Waiting]) -> int:
    """Lines from the first one to the last one that a warp uses."""
    spans = [w.f.span for w in some if isinstance(w.f, Marching)]
    return max([high for _, high in spans]) // LINE - min([low for low, _ in spans]) // LINE + 1


def _lines(s: Stretch, some: list[Waiting], *, marching: bool) -> int:
    """The most that one cache may be asked for."""
    if marching:
        places = np.concatenate([w.f.leader.place for w in some if isinstance(w.f, Marching)])
        return np.unique(places // LINE).size * (some[0].f.crowd(some[0].rows) // WARP)
    return min(s.lines, sum([w.f.most_lines(w.rows) for w in some]))
