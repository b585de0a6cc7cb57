"""Regions: parts of the flow graph with one entry and one exit in which no lane can see what another one does.

A region computes with registers and reads memory; it has no store and no barrier of the block.  So a warp may execute all of it, loops included, before the
next warp begins: the result is that of the lockstep order, and the registers stay in the host's registers.  Where the lanes of a warp stay together, it may
contain instructions across them: nobody waits there as long as all living lanes that their masks name are in the group, which is looked at for each warp.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from warplab.assembler.flow.graphs import dominators, loop_order, natural_loops, postorder, predecessors, solve

from ..plan import plan as P
from ..plan.spinning import SPIN_LIMIT
from ..plan.uses import leaves, mask_of, slots_of, written
from ..vector.special import CLOCKS
from .frame import Frame
from .uniformity import VARYING, Kinds, Uniformity, kind_in

MOST_OPERATIONS = 800  # of a region
FEWEST_SYNCS = 2  # of a region without loops


@dataclass(frozen=True, slots=True, eq=False)
class Region:
    """The segments of a region; all lanes that enter it at `entry` reconverge at `exit`."""

    entry: int
    exit: int
    order: tuple[int, ...]  # each loop is contiguous, its header first; what follows a segment stands behind it
    loops: tuple[tuple[int, ...], ...]  # the headers of the loops that end behind each segment of the order, the innermost first
    before: Kinds  # of the registers as they lie in memory where lanes enter
    kinds: Mapping[int, Kinds]  # of the registers at the start of each segment, and at the exit
    waits: Mapping[int, tuple[int, ...]]  # the loop headers before which lanes may wait while others execute a segment
    diverges: bool  # may the lanes of a warp disagree at one of its branches?


def regions(plan: P.PlanFunction, uniformity: Uniformity, quiet: Callable[[P.Op], bool]) -> dict[int, Region]:
    """The regions of a function by their entries; `quiet`: does an operation leave memory as it is, and the lanes of other warps alone?"""
    if any(
        isinstance(x, P.Special) and x.name in CLOCKS
        for s in plan.segments
        for op in s.ops
        for source in op.sources
        for x in leaves(source)
    ):
        return {}  # a clock shows how many segments have run
    calm = [_ends_calmly(s.end) and all(quiet(op) for op in s.ops) for s in plan.segments]
    place = {n: i for i, n in enumerate(uniformity.graph.order)}
    found: dict[int, Region] = {}
    taken: set[int] = set()
    for entry in range(len(plan.segments)):
        if entry in taken or entry not in place or not calm[entry]:
            continue
        region = _largest(plan, uniformity, calm, place, entry)
        if region is not None:
            found[entry] = region
            taken.update(region.order)
    return found


def results(frame: Frame, plan: P.PlanFunction, region: Region, kind: int) -> list[int]:
    """The registers of a kind that a region sets for what follows it."""
    before, behind = region.before, region.kinds[region.exit]
    changed = {slot for n in region.order for op in plan.segments[n].ops for slot in written(op)}
    found = [slot for slot in slots_of(plan.live_in[region.exit] & (1 << plan.first_constant) - 1) if kind_in(behind, slot) == kind]
    found = [slot for slot in found if slot in changed or kind_in(before, slot) != kind]
    return [*found, frame.carry] if frame.carries and kind == VARYING else found


def saved(frame: Frame, plan: P.PlanFunction, region: Region) -> list[int]:
    """The registers of each lane whose old value is kept until all warps have executed a region: it begins again with them if it fails."""
    return [
        slot
        for slot in results(frame, plan, region, VARYING)
        if slot == frame.carry or (plan.live_in[region.entry] & region.before) >> slot & 1
    ]


def _ends_calmly(end: P.End) -> bool:
    """Do lanes go on at once, and not in a loop that waits for others?"""
    match end:
        case P.Jump():
            targets = [end.to]
        case P.Branch():
            targets = [end.taken, end.fall]
        case P.Sync():
            return end.past != P.EXIT and end.guard is None and end.mask is not None  # matrix instructions gain nothing: they are long
        case _:
            return False
    return P.EXIT not in targets and all(limit == SPIN_LIMIT for limit in end.turns.values())


def _is_sync(plan: P.PlanFunction, n: int) -> bool:
    return isinstance(plan.segments[n].end, P.Sync)


def _begins_with_sync(plan: P.PlanFunction, n: int) -> bool:
    """Is a segment worth to begin a region without loops?  Several loads are better checked together, before it."""
    loads = [op for op in plan.segments[n].ops if op.how == "load" and not isinstance(op.sources[0], P.ParameterPlace)]
    return _is_sync(plan, n) and len(loads) < 2


def _crosses(plan: P.PlanFunction, n: int) -> bool:
    """Does a segment depend on which lanes of a warp stand there?"""
    return _is_sync(plan, n) or any(op.how == "warps" for op in plan.segments[n].ops)


def _largest(plan: P.PlanFunction, uniformity: Uniformity, calm: list[bool], place: dict[int, int], entry: int) -> Region | None:
    """The largest region that begins at a segment; `place`: of each segment, in a reverse postorder."""
    graph = uniformity.graph
    best, inside, operations, loops, syncs = None, set[int](), 0, False, 0
    first, out = entry, graph.meet[entry]
    while out is not None:
        new = graph.reach(first, out)
        operations += sum(len(plan.segments[n].ops) for n in new)
        if not all(calm[n] for n in new) or operations > MOST_OPERATIONS:
            break
        inside |= new
        loops = loops or any(s in inside and place[s] <= place[n] for n in new for s in graph.following[n])
        more = sum(_is_sync(plan, n) for n in new)
        syncs += more
        if loops or (more and syncs >= FEWEST_SYNCS and _begins_with_sync(plan, entry)):
            best = _region(plan, uniformity, entry, out, inside) or best
        first, out = out, graph.meet[out]
    return best


def _region(plan: P.PlanFunction, uniformity: Uniformity, entry: int, out: int, inside: set[int]) -> Region | None:
    """A region of these segments, if it is entered at the first one only and its loops are natural."""
    following, meet = uniformity.graph.following, uniformity.graph.meet
    names = [entry, *sorted(inside - {entry})]
    number = {n: i for i, n in enumerate(names)}
    graph = [tuple(number[s] for s in following[n] if s != out) for n in names]
    if any(s in inside and n not in inside and s != entry for n, leads in enumerate(following) for s in leads):
        return None
    before, order = predecessors(graph), postorder(graph, [0])[::-1]
    loops = natural_loops(graph, order, before, dominators(order, before))
    loop_of: list[int | None] = [None] * len(names)
    for loop in loops:
        for b in loop.own:
            loop_of[b] = loop.index
    order = loop_order(graph, order, loops, loop_of)
    place = {b: i for i, b in enumerate(order)}
    if any(place[s] <= place[b] and not any(loop.header == s and b in loop.latches for loop in loops) for b in order for s in graph[b]):
        return None
    ends: list[list[int]] = [[] for _ in order]
    for loop in reversed(loops):  # inner loops first
        ends[max(place[b] for b in loop.blocks)].append(names[loop.header])
    segments = [names[b] for b in order]
    apart, kinds = _kinds(uniformity, segments, out)
    if kinds[out] & ~uniformity.entry[out] or (apart and any(_crosses(plan, n) for n in segments)):
        return None
    kinds[out] = uniformity.entry[out]
    waits: dict[int, tuple[int, ...]] = {}
    for loop in loops:
        if len(loop.latches) > 1:
            blocks, header = {names[b] for b in loop.blocks}, names[loop.header]
            latches = {names[b] for b in loop.latches}
            if any(meet[n] in blocks - {header} and latches & (apart[n] | {n}) for n in blocks & apart.keys()):
                return None  # two loops that share a header: lanes are not to wait there for those that leave the inner one
            for b in blocks - {header}:
                waits[b] = (*waits.get(b, ()), header)
    return Region(entry, out, tuple(segments), tuple(map(tuple, ends)), uniformity.entry[entry], kinds, waits, bool(apart))


def _kinds(uniformity: Uniformity, order: list[int], out: int) -> tuple[dict[int, set[int]], dict[int, Kinds]]:
    """The branches at which lanes diverge, with the segments that they execute while they are apart; and the kinds of the registers at the start of
    the segments.

    Lanes that have diverged take turns segment by segment, so what a segment writes while they are apart varies.
    """
    plan, graph = uniformity.plan, uniformity.graph
    found: dict[int, set[int]] = {}
    while True:
        apart = set().union(*found.values())
        entry = [0] * len(plan.segments)
        entry[order[0]] = uniformity.entry[order[0]]

        def behind(n: int, kinds: Kinds, apart: set[int] = apart) -> Kinds:
            changed = mask_of(slot for op in plan.segments[n].ops for slot in written(op)) if n in apart else 0
            return uniformity.live_behind(n, kinds) | changed

        solved = solve(graph.following, entry, behind, order)
        known = len(found)
        for n in order:
            end = plan.segments[n].end
            if n not in found and isinstance(end, P.Branch) and kind_in(uniformity.live_behind(n, solved[n]), end.guard.slot) == VARYING:
                found[n] = _apart(uniformity, n, set(order), out)
        if len(found) == known:
            return found, {n: solved[n] & plan.live_in[n] for n in (*order, out)}


def _apart(uniformity: Uniformity, n: int, inside: set[int], out: int) -> set[int]:
    """The segments that lanes execute while they are apart, if they diverge at the end of one."""
    graph = uniformity.graph
    stop = graph.meet[n] if graph.meet[n] in inside else out
    return set().union(*[graph.reach(first, stop) & inside for first in graph.following[n]])
