"""Where lanes that part in a loop meet again.

Lanes that stay in a loop meet where all ways through its body come together, as if those that leave it had never been there; those that leave meet
the others behind it, however many branches of the loop they leave on their way.  A way on which lanes only end the kernel counts nowhere.  Outside
of loops lanes meet at the immediate post-dominator of their branch.  Those who leave a loop that spins on memory go ahead for good.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from warplab.assembler.flow import Flow
from warplab.assembler.flow.graphs import Loop, post_dominators, postorder, predecessors
from warplab.isa.control import EXITS
from warplab.isa.facts import opcodes
from warplab.isa.notation import with_effect

from .roles import needs_lanes
from .spinning import last_spins

WAITING = with_effect("barrier", "call", "trap") | opcodes("pauses")  # beside what needs the lanes of a warp
Ways = Sequence[tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Departure:
    """A way out of loops: where the lanes that take it reconverge with the others, None for the function's end, and the blocks of the outermost loop left."""

    meeting: int | None
    inside: frozenset[int]


@dataclass(slots=True)
class Meetings:
    """For each block the place where lanes that part at its end meet, None for the function's end; what leads out of loops that have such places."""

    of: Sequence[int | None]
    departures: dict[int, dict[int, Departure]] = field(default_factory=dict)  # block -> the next one
    leavers: Mapping[int, int] = field(default_factory=dict)  # blocks at which lanes leave a spinning loop, and where they come then


def meetings(flow: Flow, looping: bool, lockstep: bool) -> Meetings:
    """Of any function."""
    return loop_meetings(flow, lockstep) if looping else Meetings(straight_meetings(flow))


def has_loops(flow: Flow) -> bool:
    """Does a way lead back?"""
    met: set[int] = set()
    for b in flow.depth_first:
        met.add(b)
        if not met.isdisjoint(flow.blocks[b].successors):
            return True
    return False


def straight_meetings(flow: Flow) -> Sequence[int | None]:
    """Where lanes that part at the end of a block meet again, without loops: its immediate post-dominator, None for the function's end."""
    order = flow.depth_first
    place = dict(zip(order, range(len(order)), strict=True))
    out: list[int | None] = [None] * len(flow.blocks)
    for b in reversed(order):
        following = flow.blocks[b].successors
        met: int | None = following[0] if following else None
        for other in following[1:]:
            way: int | None = other
            while met != way:  # without loops what is behind has the greater place
                if way is None or (met is not None and place[met] < place[way]):
                    assert met is not None
                    met = out[met]
                else:
                    way = out[way]
        out[b] = met
    return out


def loop_meetings(flow: Flow, lockstep: bool = False) -> Meetings:
    """Of a function with loops."""
    staying = _without_aside(flow)
    past = flow.ipdom if staying is None else post_dominators(staying, flow.depth_first, predecessors(staying))
    ways: Ways = [b.successors for b in flow.blocks] if staying is None else staying
    out = Meetings([past[b] if met is None or _bare(flow, met) else met for b, met in enumerate(flow.ipdom)])
    _within_loops(flow, ways, out)
    if not lockstep:
        _leave_spins(flow, out)
    return out


# ---------------------------------------------------------------- loops


def _within_loops(flow: Flow, ways: Ways, out: Meetings) -> None:
    """Where lanes that stay in a loop reconverge, and the departures of lanes that leave it."""
    met, behind = list(out.of), out.of
    bodies = [frozenset(loop.blocks) for loop in flow.loops]
    joins = [_body_meetings(ways, loop, body) for loop, body in zip(flow.loops, bodies, strict=True)]
    found: dict[int, dict[int, Departure]] = {}
    for b, n in enumerate(flow.loop_of):
        for s in ways[b] if n is not None else ():
            left = [loop for loop in _around(flow, n) if s not in bodies[loop.index]]
            if left:
                outer = left[-1].parent
                meeting = behind[b] if outer is None else joins[outer][b]
                found.setdefault(b, {})[s] = Departure(meeting, bodies[left[-1].index])
        if n is not None and len({s for s in ways[b] if s in bodies[n]}) > 1:
            met[b] = joins[n][b]
        elif b in found:
            met[b] = max(found[b].values(), key=lambda d: len(d.inside)).meeting
    # Lanes depart only from loops in which other lanes wait at a reconvergence point.
    waits = {
        loop.index for b, n in enumerate(flow.loop_of) for loop in _around(flow, n) if met[b] in bodies[loop.index] and behind[b] != met[b]
    }
    out.departures = {b: d for b, d in found.items() if any(loop.index in waits for loop in _around(flow, flow.loop_of[b]))}
    out.of = met


def _around(flow: Flow, n: int | None) -> Iterator[Loop]:
    """A loop and those around it."""
    while n is not None:
        yield flow.loops[n]
        n = flow.loops[n].parent


def _body_meetings(ways: Ways, loop: Loop, body: frozenset[int]) -> dict[int, int]:
    """For each block of a loop the place where all ways through its body come together; the head, if only the next turn does."""
    blocks = [loop.header, *(body - {loop.header})]
    number = {b: n for n, b in enumerate(blocks)}
    turn = len(blocks)  # what stands for the next one
    inside = [tuple(turn if s == loop.header else number[s] for s in dict.fromkeys(ways[b]) if s in body) for b in blocks] + [()]
    found = post_dominators(inside, postorder(inside, [0])[::-1], predecessors(inside))
    return {b: loop.header if (p := found[n]) is None or p == turn else blocks[p] for n, b in enumerate(blocks)}


def _leave_spins(flow: Flow, out: Meetings) -> None:
    """Who leaves a loop that spins on memory does not wait for the others."""
    met, leavers = list(out.of), {}
    for loop in last_spins(flow):
        inside = frozenset(loop.blocks)
        for b in loop.blocks:
            outside = [s for s in flow.blocks[b].successors if s not in inside]
            if outside:
                leavers[b] = outside[0]
            if met[b] not in inside:
                met[b] = None
            if b in out.departures:
                out.departures[b] = {s: Departure(None, d.inside) for s, d in out.departures[b].items()}
    out.of, out.leavers = met, leavers


# ---------------------------------------------------------------- ways to the kernel's end


def _without_aside(flow: Flow) -> list[tuple[int, ...]] | None:
    """The ways that do not only end the kernel; None if all count."""
    aside = _ways_aside(flow) if flow.function.is_entry else set()
    return [tuple(s for s in b.successors if (b.index, s) not in aside) for b in flow.blocks] if aside else None


def _ways_aside(flow: Flow) -> set[tuple[int, int]]:
    """The branches in loops on which some lanes only end, and others go on."""
    aside = set()
    for b in {b for loop in flow.loops for b in loop.blocks}:
        ways = set(flow.blocks[b].successors)
        ends = {s for s in ways if _ends_soon(flow, s)}
        if ends < ways:
            aside |= {(b, s) for s in ends}
    rank = {b: n for n, b in enumerate(flow.depth_first)}
    for loop in flow.loops:
        inside = set(loop.blocks)
        exits = [(b, s) for b in loop.blocks for s in flow.blocks[b].successors if s not in inside]
        # Lanes that stay to the last iteration reconverge behind the loop, with other lanes that come there.
        if exits and aside.issuperset(exits):
            last = max(exits, key=lambda edge: (edge[0] in loop.latches, edge[0] == loop.header, rank[edge[0]]))
            behind = {b for b in _way_from(flow, last[1]) if not _bare(flow, b)} | {last[1]}
            aside -= {edge for edge in exits if not behind.isdisjoint(_way_from(flow, edge[1]))}
    return aside


def _way_from(flow: Flow, b: int) -> Iterator[int]:
    """The blocks on a straight way to the kernel's end."""
    yield b
    while flow.blocks[b].successors:
        b = flow.blocks[b].successors[0]
        yield b


def _bare(flow: Flow, b: int) -> bool:
    """Does a block do nothing but end the kernel?"""
    return not flow.blocks[b].successors and all(i.opcode in EXITS and i.guard is None for i in flow.blocks[b].instructions)


def _ends_soon(flow: Flow, b: int) -> bool:
    """Does one way lead from a block straight to the kernel's end, with nothing on it that may wait?"""
    for _ in flow.blocks:
        block = flow.blocks[b]
        if any(i.opcode in WAITING or needs_lanes(i) for i in block.instructions):
            return False
        if not block.successors:
            return all(i.guard is None for i in block.instructions[-1:])
        if len(set(block.successors)) > 1:
            return False
        b = block.successors[0]
    return False
