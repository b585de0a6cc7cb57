"""Where barriers would order the racing accesses of a block: one place for as many pairs as possible, at which all threads come by."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Function, Instruction, Location
from warplab.assembler.listing import listing
from warplab.assembler.verify.uninitialized_reads import uneven_branches

from ...findings import Key


@dataclass(frozen=True, slots=True)
class WantedBarrier:
    """Two accesses of one function, of which the second races with the first."""

    finding: Key
    first: Instruction
    second: Instruction
    in_warp: bool  # all threads that race lie in one warp


@dataclass(frozen=True, slots=True)
class ProposedBarrier:
    """A place for a barrier, and the pairs that it orders."""

    before: Instruction
    location: Location | None  # of the .loc in force there
    of_warp: bool
    pairs: tuple[WantedBarrier, ...]


Position = tuple[int, int]  # a block, and the instruction in it that follows


def proposals(graph: Flow, wanted: Iterable[WantedBarrier]) -> Iterator[ProposedBarrier]:
    """Barriers that order all pairs that barriers can order: first the one that orders the most of them."""
    places = {id(i): (b.index, n) for b in graph.blocks for n, i in enumerate(b.instructions)}
    even = _even_blocks(graph.function, graph)
    cuts = {w: _between(graph, places[id(w.first)], places[id(w.second)]) for w in wanted}
    for of_warp in (False, True):
        while True:
            orders: dict[Position, list[WantedBarrier]] = {}
            for w, between in cuts.items():
                for p in between:
                    if of_warp or p[0] in even:
                        orders.setdefault(p, []).append(w)
            sought = {p: ws for p, ws in orders.items() if of_warp or not all(w.in_warp for w in ws)}
            if not sought:
                break
            best = max(sought, key=lambda p: (len(sought[p]), p))
            for w in sought[best]:
                del cuts[w]
            block, n = graph.blocks[best[0]], best[1]
            yield ProposedBarrier(block.instructions[n], block.locations[n], of_warp, tuple(sought[best]))


def _even_blocks(function: Function, graph: Flow) -> set[int]:
    """The blocks to which all threads come that have not ended: those on no side of a branch that may part the lanes."""
    apart: set[int] = set()
    for branch, meet in uneven_branches(listing(function), graph):
        work = [*graph.blocks[branch].successors]
        while work:
            b = work.pop()
            if b != meet and b not in apart:
                apart.add(b)
                work += graph.blocks[b].successors
    return set(graph.reachable) - apart


def _between(graph: Flow, first: Position, second: Position) -> set[Position]:
    """The positions that each way from one instruction to another passes."""
    (a, n), (b, m) = first, second
    if a == b and n < m:
        return {(a, k) for k in range(n + 1, m + 1)}
    out = {(a, k) for k in range(n + 1, len(graph.blocks[a].instructions))}
    out |= {(b, k) for k in range(m + 1)}
    for block in graph.blocks:
        if block.index not in (a, b) and block.instructions and not _leads(graph, a, b, block.index):
            out |= {(block.index, k) for k in range(len(block.instructions))}
    return out


def _leads(graph: Flow, start: int, end: int, without: int) -> bool:
    """Is there a way from the end of a block to another one that does not pass a third?"""
    seen = {without}
    work = [*graph.blocks[start].successors]
    while work:
        at = work.pop()
        if at == end:
            return True
        if at not in seen:
            seen.add(at)
            work += graph.blocks[at].successors
    return False
