"""Where lanes of a kernel with loops meet again: at the immediate post-dominator of a branch, past ways on which they only leave the kernel.
Those who leave a loop that spins on memory go ahead for good.

A return within a loop would else keep all lanes of the loop apart: no place but the kernel's end lies on all ways from its branches, so each
turn would part them further.  Hardware counts lanes that have left no more, and those that stay meet behind the branch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from warplab.assembler.flow import Flow
from warplab.assembler.graphs import post_dominators, predecessors

from .roles import needs_lanes
from .spins import last_spins

WAITING = ("bar", "barrier", "call", "mbarrier", "nanosleep", "trap")  # beside what needs the lanes of a warp


def loop_meetings(flow: Flow, leavers: Collection[int]) -> Sequence[int | None]:
    """For each block the place where lanes that part at its end meet; None for the kernel's end, also for `leavers`."""
    met = _past_returns(flow)
    return [None if b in leavers else m for b, m in enumerate(met)] if leavers else met


def spin_exits(flow: Flow) -> dict[int, int | None]:
    """The blocks from which lanes leave a loop that spins on memory, and the first place outside of it: they do not wait for the others."""
    out: dict[int, int | None] = {}
    for loop in last_spins(flow):
        inside = set(loop.blocks)
        for b in loop.blocks:
            outside = [s for s in flow.blocks[b].successors if s not in inside]
            if outside or flow.ipdom[b] not in inside:
                out[b] = outside[0] if outside else None
    return out


def _past_returns(flow: Flow) -> Sequence[int | None]:
    aside = _ways_aside(flow) if flow.function.is_entry else set()
    if not aside:
        return flow.ipdom
    staying = [tuple(s for s in b.successors if (b.index, s) not in aside) for b in flow.blocks]
    past = post_dominators(staying, flow.depth_first, predecessors(staying))
    turning = {b for loop in flow.loops for b in loop.blocks}
    return [past[b] if b in turning and (met is None or _bare(flow, met)) else met for b, met in enumerate(flow.ipdom)]


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
        if exits and aside.issuperset(exits):  # those who stay to the last turn meet behind the loop
            aside.remove(max(exits, key=lambda edge: (edge[0] in loop.latches, edge[0] == loop.header, rank[edge[0]])))
    return aside


def _bare(flow: Flow, b: int) -> bool:
    """Does a block do nothing but end the kernel?"""
    return not flow.blocks[b].successors and all(i.opcode in ("ret", "exit") and i.guard is None for i in flow.blocks[b].instructions)


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
