"""Where lanes of a kernel with loops meet again: at the immediate post-dominator of a branch, past ways on which they only leave the kernel.

A return within a loop would else keep all lanes of the loop apart: no place but the kernel's end lies on all ways from its branches, so each
turn would part them further.  Hardware counts lanes that have left no more, and those that stay meet behind the branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from warplab.assembler.flow import Flow
from warplab.assembler.graphs import Loop, post_dominators, predecessors

from .roles import needs_lanes

WAITING = ("bar", "barrier", "call", "mbarrier", "nanosleep", "trap")  # beside what needs the lanes of a warp


def loop_meetings(flow: Flow) -> Sequence[int | None]:
    """For each block the place where lanes that part at its end meet; None for the kernel's end."""
    aside = [edge for loop in flow.loops for edge in _side_exits(flow, loop)] if flow.function.is_entry else []
    if not aside:
        return flow.ipdom
    gone = set(aside)
    staying = [tuple(s for s in b.successors if (b.index, s) not in gone) for b in flow.blocks]
    past = post_dominators(staying, flow.depth_first, predecessors(staying))
    turning = {b for loop in flow.loops for b in loop.blocks}
    return [past[b] if b in turning else met for b, met in enumerate(flow.ipdom)]


def _side_exits(flow: Flow, loop: Loop) -> list[tuple[int, int]]:
    """The branches out of a loop on which lanes only end, if they keep apart who stays in it; one way out is left to the loop."""
    inside = set(loop.blocks)
    ways = {b: set(flow.blocks[b].successors) for b in loop.blocks}
    if not any(len(w) > 1 and w <= inside and _meet_nowhere(flow, b) for b, w in ways.items()):
        return []
    exits = [(b, s) for b, w in ways.items() for s in w - inside]
    side = [(b, s) for b, s in exits if b in loop.own and _meet_nowhere(flow, b) and _ends_soon(flow, s)]
    if len(side) == len(exits):  # those who stay to the last turn meet behind the loop
        rank = {b: n for n, b in enumerate(flow.depth_first)}
        side.remove(max(side, key=lambda edge: (edge[0] in loop.latches, edge[0] == loop.header, rank[edge[0]])))
    return side


def _meet_nowhere(flow: Flow, b: int) -> bool:
    met = flow.ipdom[b]
    return met is None or _bare(flow, met)


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
