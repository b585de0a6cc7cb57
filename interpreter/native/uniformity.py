"""Which registers are uniform, one value for all lanes of a wave, and which are varying, a value for each lane, at each place of a plan.

Groups of diverged lanes execute one after another and share a register of one value.  So a register varies if it is written while lanes are diverged
and read where they reconverge, or by lanes on the other side of the branch; or if both sides write it and lanes may wait there while others execute.
In code where lanes pass each other by (`apart`), everything varies that is written behind a branch at which they may diverge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from warplab.assembler.flow.graphs import solve

from ..plan import plan as P
from ..plan.graph import SegmentGraph
from ..plan.spinning import SPIN_LIMIT
from ..plan.uses import leaves, mask_of, set_by, targets, written
from .frame import extent_of

UNIFORM, VARYING = range(2)
Kinds = int  # a mask of the slots whose registers vary; each other one holds one value


def kind_in(kinds: Kinds, slot: int) -> int:
    """The kind of a register."""
    return kinds >> slot & 1


@dataclass(frozen=True, slots=True, eq=False)
class Uniformity:
    """The kinds of a function's registers at each place."""

    plan: P.PlanFunction
    graph: SegmentGraph
    runs: Callable[[P.Op], bool]  # which operations are compiled; of the others all varies
    written_apart: tuple[
        int, ...
    ]  # by segment: slots, as a mask, that vary when it has written them, since lanes execute it while others wait
    entry: tuple[Kinds, ...]  # of the live registers where each segment begins

    def through(self, n: int, op: P.Op, kinds: Kinds) -> Kinds:
        """The kinds behind one operation of a segment, from those before it."""
        always = op.how in ("lanes", "warps", "carry", "effect") or _loads_of_each(op) or not self.runs(op)
        kind = VARYING if always or any(kind_of(s, kinds) for s in op.sources) else UNIFORM
        for slot in targets(op.target):
            own = kind
            if op.guard is not None:
                own = max(own, kind_in(kinds, op.guard.slot), kind_in(kinds, slot))
            own |= kind_in(self.written_apart[n], slot)
            kinds = kinds & ~(1 << slot) | own << slot
        return kinds if op.product is None else self.through(n, op.product, kinds)

    def before(self, n: int, kinds: Kinds) -> list[Kinds]:
        """The kinds before each operation of a segment and behind the last, from those where it begins."""
        out = [kinds]
        for op in self.plan.segments[n].ops:
            out.append(self.through(n, op, out[-1]))
        return out

    def behind(self, n: int, kinds: Kinds) -> Kinds:
        """The kinds behind a segment and its end, from those where it begins."""
        return self.before(n, kinds)[-1] | mask_of(set_by(self.plan.segments[n].end))

    def live_behind(self, n: int, kinds: Kinds) -> Kinds:
        """The same, of the registers that are live where it begins."""
        return self.behind(n, kinds & self.plan.live_in[n])

    def condition(self, n: int) -> int:
        """The kind of what a segment's end asks."""
        end, kinds = self.plan.segments[n].end, self.behind(n, self.entry[n])
        guard = getattr(end, "guard", None)
        kind = UNIFORM if guard is None else kind_in(kinds, guard.slot)
        if isinstance(end, P.Call) and end.ways:
            return max(kind, kind_of(end.pointer, kinds))
        return max(kind, kind_of(end.index, kinds)) if isinstance(end, P.Table) else kind

    def names_apart(self, n: int) -> bool:
        """Do lanes name several barriers at a segment's end, or several masks of lanes for which they wait?"""
        end, kinds = self.plan.segments[n].end, self.behind(n, self.entry[n])
        named = [end.number] if isinstance(end, P.Barrier) else [end.mask] if isinstance(end, P.Sync) else []
        return any(kind_of(x, kinds) == VARYING for x in named if x is not None)


def uniformity(plan: P.PlanFunction, runs: Callable[[P.Op], bool], apart: bool = False) -> Uniformity:
    """The kinds in a plan; `runs`: which operations are compiled; `apart`: lanes may pass each other by at any place."""
    none = (0,) * len(plan.segments)
    found = Uniformity(plan, SegmentGraph.of(plan), runs, none, none)
    order = [*found.graph.order, *sorted(set(range(len(none))) - set(found.graph.order))]
    while True:
        entry = solve(found.graph.following, none, found.live_behind, order)
        found = replace(found, entry=tuple(kinds & plan.live_in[n] for n, kinds in enumerate(entry)))
        written_apart = _written_apart(found, apart)
        if written_apart == found.written_apart:
            return found
        found = replace(found, written_apart=written_apart)


def kind_of(s: Any, kinds: Kinds) -> int:
    """The kind of an operand."""
    for x in leaves(s):
        if kind_in(kinds, x) if type(x) is int else isinstance(x, P.Special) and extent_of(x.name) != "one":
            return VARYING
    return UNIFORM


def _loads_of_each(op: P.Op) -> bool:
    """Does each lane load for itself, also from one address?"""
    if op.how != "load" or op.meaning.access is None:
        return False
    return op.guard is not None or not (op.meaning.access.space in ("global", "const") or isinstance(op.sources[0], P.ParameterPlace))


# ---------------------------------------------------------------- where lanes diverge


def _written_apart(u: Uniformity, apart: bool) -> tuple[int, ...]:
    """By segment, the slots that vary when it has written them: those known before, and more."""
    plan, graph, live_in = u.plan, u.graph, u.plan.live_in
    targets = [mask_of(slot for op in s.ops for slot in written(op)) for s in plan.segments]
    waits = {n for n, s in enumerate(plan.segments) if _may_wait(s.end)}
    out = list(u.written_apart)
    for n, segment in enumerate(plan.segments):
        if u.condition(n) == UNIFORM and not (apart and u.names_apart(n)):
            continue
        meet, join = graph.meet[n], getattr(segment.end, "join", P.EXIT)
        ways = [(s, _apart(graph, s, meet, join)) for s in graph.following[n]]
        held: dict[int, int] = {}  # by segment: the slots that may not hold one value when it has written them
        met = (0 if meet is None else live_in[meet]) | (0 if join == P.EXIT else live_in[join])
        for i, (_, region) in enumerate(ways):
            for _, other in ways[:i]:
                for s in region & other:
                    met |= live_in[s]
        wrote = [_all(targets[s] for s in region) for _, region in ways]
        waiting = any(s in waits for _, region in ways for s in region)
        for i, (_, region) in enumerate(ways):
            others = 0
            for j, (first, _) in enumerate(ways):
                if j != i:
                    others |= (0 if first == meet else live_in[first]) | (wrote[j] if waiting else 0)  # others run while some wait
            for s in region:
                held[s] = held.get(s, met) | others
        held.update(dict.fromkeys(_passed_by(u, n, apart), -1))
        for s, slots in held.items():
            out[s] |= slots & targets[s]
    return tuple(out)


def _all(masks: Iterable[int]) -> int:
    out = 0
    for mask in masks:
        out |= mask
    return out


def _passed_by(u: Uniformity, n: int, apart: bool) -> set[int]:
    """Segments that lanes may execute after others that part from them at an end, at which these have been, perhaps long since: where lanes
    do not reconverge at the first place to which they all come, but behind it.
    """
    graph, end = u.graph, u.plan.segments[n].end
    if apart:
        return set().union(*[graph.reach(s, None) for s in graph.following[n]])
    out: set[int] = set()
    for s in graph.following[n]:
        way = getattr(end, "exits", {}).get(s)
        join = getattr(end, "join", P.EXIT) if way is None else way.join
        if join != (P.EXIT if graph.meet[n] is None else graph.meet[n]) and join not in graph.reach(s, graph.meet[n]):
            out |= graph.reach(s, None if join == P.EXIT else join)
    return out


def _apart(graph: SegmentGraph, first: int, meet: int | None, join: int) -> set[int]:
    """The segments that lanes execute on their way from one to where they reconverge: at the join, and within a loop, at the latest, at its header;
    or, where they leave the loop, at the post-dominator.
    """
    inside = frozenset[int]() if join == P.EXIT else graph.loops[join]
    return graph.reach(first, meet) | (graph.reach(first, join) & inside)


def _may_wait(end: P.End) -> bool:
    """May lanes stand at the end of a segment while others run?"""
    if isinstance(end, P.Barrier | P.Sync | P.ClusterWait):
        return True
    return any(limit < SPIN_LIMIT for limit in getattr(end, "turns", {}).values())
