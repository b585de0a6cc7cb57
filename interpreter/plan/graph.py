"""The segments of a plan as a graph: where lanes go on, where those that have diverged come together again, and the loops."""

from __future__ import annotations

from dataclasses import dataclass

from warplab.assembler.flow.graphs import dominators, natural_loops, post_dominators, postorder, predecessors

from .plan import PlanFunction
from .uses import successors


@dataclass(frozen=True, slots=True)
class SegmentGraph:
    """By segment: those to which it leads; its immediate post-dominator, None where ways come together only behind the end; and all of the
    innermost loop around it.
    """

    following: tuple[tuple[int, ...], ...]
    meet: tuple[int | None, ...]
    loops: tuple[frozenset[int], ...]
    order: tuple[int, ...]  # reverse postorder; what no lane reaches is not in it

    @classmethod
    def of(cls, plan: PlanFunction) -> SegmentGraph:
        """That of a plan."""
        graph = [tuple(successors(s.end)) for s in plan.segments]
        before, order = predecessors(graph), postorder(graph, [0])[::-1]
        inside: list[frozenset[int]] = [frozenset()] * len(graph)
        for loop in natural_loops(graph, order, before, dominators(order, before)):
            for b in loop.own:
                inside[b] = frozenset(loop.blocks)
        return cls(tuple(graph), tuple(post_dominators(graph, order, before)), tuple(inside), tuple(order))

    def reach(self, first: int, without: int | None) -> set[int]:
        """The segments that lanes can reach from one without passing another."""
        out: set[int] = set()
        work = [first]
        while work:
            s = work.pop()
            if s != without and s not in out:
                out.add(s)
                work += self.following[s]
        return out
