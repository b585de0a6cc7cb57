"""Which registers are uniform, one value for all lanes of a wave, and which are varying, a value for each lane, at each place of a plan.

Groups of diverged lanes execute one after another and share a register of one value.  So a register varies if it is written while lanes are diverged
and read where they reconverge, or by lanes on the other side of the branch; or if both sides write it and lanes may wait there while others execute.
In code where lanes pass each other by (`apart`), everything varies that is written behind a branch at which they may diverge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from warplab.assembler.flow.graphs import dominators, natural_loops, post_dominators, postorder, predecessors

from ..plan import plan as P
from ..plan.spinning import PATIENT
from ..plan.uses import leaves, read, set_by, successors, targets, written
from .frame import extent_of

UNIFORM, VARYING = range(2)
Kinds = dict[int, int]  # slot -> kind; a slot that is missing holds one value


class Uniformity:
    """The kinds of a function's registers at the start of each segment; `runs` says which operations are compiled, of the others all varies."""

    def __init__(self, plan: P.PlanFunction, runs: Callable[[P.Op], bool], apart: bool = False) -> None:
        self.plan = plan
        self.always_apart = apart
        self.runs = runs
        self.next = [successors(s.end) for s in plan.segments]
        self.meet, self.loops = _structure(self.next)
        self.apart: list[set[int]] = [set() for _ in plan.segments]  # slots that vary when a segment has written them
        self.targets = [[slot for op in s.ops for slot in written(op)] for s in plan.segments]
        self.waits = {n for n, s in enumerate(plan.segments) if _may_wait(s.end)}
        self.entry: list[Kinds] = [{} for _ in plan.segments]
        self._solve()

    def through(self, n: int, op: P.Op, kinds: Kinds) -> None:
        """What one operation of a segment does to kinds."""
        kind = max((kind_of(s, kinds) for s in op.sources), default=UNIFORM)
        if not self.runs(op) or op.how in ("lanes", "warps", "carry", "effect"):
            kind = VARYING
        if (
            op.how == "load"
            and op.meaning.access is not None
            and (
                op.guard is not None or not (op.meaning.access.space in ("global", "const") or isinstance(op.sources[0], P.ParameterPlace))
            )
        ):
            kind = VARYING
        for slot in targets(op.target):
            own = kind
            if op.guard is not None:
                own = max(own, kinds.get(op.guard.slot, UNIFORM), kinds.get(slot, UNIFORM))
            kinds[slot] = VARYING if slot in self.apart[n] else own
        if op.product is not None:
            self.through(n, op.product, kinds)

    def at_end(self, n: int) -> Kinds:
        """The kinds behind the operations of a segment."""
        kinds = dict(self.entry[n])
        for op in self.plan.segments[n].ops:
            self.through(n, op, kinds)
        return kinds | dict.fromkeys(set_by(self.plan.segments[n].end), VARYING)

    def condition(self, n: int) -> int:
        """The kind of what a segment's end asks."""
        end, kinds = self.plan.segments[n].end, self.at_end(n)
        guard = getattr(end, "guard", None)
        kind = UNIFORM if guard is None else kinds.get(guard.slot, UNIFORM)
        if isinstance(end, P.Call) and end.ways:
            return max(kind, kind_of(end.pointer, kinds))
        return max(kind, kind_of(end.index, kinds)) if isinstance(end, P.Table) else kind

    def _solve(self) -> None:
        while True:
            work = set(range(len(self.plan.segments)))
            while work:
                n = min(work)
                work.discard(n)
                kinds = self.at_end(n)
                for s in self.next[n]:
                    live, entry = self.plan.live_in[s], self.entry[s]
                    for slot, kind in kinds.items():
                        if kind == VARYING and live >> slot & 1 and entry.get(slot, UNIFORM) == UNIFORM:
                            entry[slot] = VARYING
                            work.add(s)
            if not self._part():
                return

    def _part(self) -> bool:
        """Looks at each end where lanes may part; True if more registers vary than were known to."""
        grown = False
        live_in, segments = self.plan.live_in, self.plan.segments
        for n in range(len(segments)):
            if self.condition(n) == UNIFORM:
                continue
            meet, join = self.meet[n], getattr(segments[n].end, "join", P.EXIT)
            ways = [(s, self._apart(s, meet, join)) for s in self.next[n]]
            held: dict[int, int] = {}  # by segment: the slots that may not hold one value when it has written them
            met = (0 if meet is None else live_in[meet]) | (0 if join == P.EXIT else live_in[join])
            for i, (_, region) in enumerate(ways):
                for _, other in ways[:i]:
                    for s in region & other:
                        met |= live_in[s]
            wrote = [self._written(region) for _, region in ways]
            waits = any(s in self.waits for _, region in ways for s in region)
            for i, (_, region) in enumerate(ways):
                others = 0
                for j, (first, _) in enumerate(ways):
                    if j != i:
                        others |= (0 if first == meet else live_in[first]) | (wrote[j] if waits else 0)  # others run while some wait
                for s in region:
                    held[s] = held.get(s, met) | others
            held.update(dict.fromkeys(self._passed_by(n), -1))
            for s, slots in held.items():
                for slot in self.targets[s]:
                    if slots >> slot & 1 and slot not in self.apart[s]:
                        self.apart[s].add(slot)
                        grown = True
        return grown

    def _passed_by(self, n: int) -> set[int]:
        """Segments that lanes may execute after others that part from them at an end, at which these have been, perhaps long since: where lanes
        do not reconverge at the first place to which they all come, but behind it.
        """
        end, following = self.plan.segments[n].end, self.next[n]
        if self.always_apart:
            return set().union(*[self.reach(s, None) for s in following])
        out: set[int] = set()
        for s in following:
            way = getattr(end, "exits", {}).get(s)
            join = getattr(end, "join", P.EXIT) if way is None else way.join
            if join != (P.EXIT if self.meet[n] is None else self.meet[n]) and join not in self.reach(s, self.meet[n]):
                out |= self.reach(s, None if join == P.EXIT else join)
        return out

    def _written(self, region: Iterable[int]) -> int:
        """The slots that segments write, as a mask."""
        out = 0
        for s in region:
            for slot in self.targets[s]:
                out |= 1 << slot
        return out

    def _apart(self, first: int, meet: int | None, join: int) -> set[int]:
        """The segments that lanes execute on their way from one to where they reconverge: at the join, and within a loop, at the latest, at its header;
        or, where they leave the loop, at the post-dominator.
        """
        inside = set() if join == P.EXIT else self.loops[join]
        return self.reach(first, meet) | (self.reach(first, join) & inside)

    def reach(self, first: int, meet: int | None) -> set[int]:
        """The segments that lanes can reach from one without passing another."""
        out: set[int] = set()
        work = [first]
        while work:
            s = work.pop()
            if s != meet and s not in out:
                out.add(s)
                work += self.next[s]
        return out


def _may_wait(end: P.End) -> bool:
    """May lanes stand at the end of a segment while others run?"""
    if isinstance(end, P.Barrier | P.Sync | P.ClusterWait):
        return True
    return any(limit < PATIENT for limit in getattr(end, "turns", {}).values())


def kind_of(s: Any, kinds: Kinds) -> int:
    """The kind of an operand."""
    kind = UNIFORM
    for x in leaves(s):
        if type(x) is int:
            kind = max(kind, kinds.get(x, UNIFORM))
        elif isinstance(x, P.Special):
            kind = max(kind, UNIFORM if extent_of(x.name) == "one" else VARYING)
    return kind


def reads_lanes(op: P.Op, kinds: Kinds) -> bool:
    """Does an operation read what varies?"""
    return any(kinds.get(s, UNIFORM) == VARYING for s in read(op))


def _structure(following: Sequence[Sequence[int]]) -> tuple[list[int | None], list[set[int]]]:
    """The immediate post-dominator of each place, None where ways come together only behind the end; and the places of the innermost loop around it."""
    graph = [tuple(s) for s in following]
    before, order = predecessors(graph), postorder(graph, [0])[::-1]
    inside: list[set[int]] = [set() for _ in graph]
    for loop in natural_loops(graph, order, before, dominators(order, before)):
        for b in loop.own:
            inside[b] = set(loop.blocks)
    return post_dominators(graph, order, before), inside
