"""Loops whose turns do not fuse the same products: their turns are written out in the plan, too.

Nearly always each turn fuses what the others fuse, and the loop remains as it is.  Otherwise the flow gets a copy of the loop's blocks for each
turn.  Branches stay in the copies, each leads to the next one, so the copies compute what the loop does whatever is known of its turns.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace

from warplab.assembler.flow import BasicBlock, Flow
from warplab.assembler.ir import Instruction

from ..plan.shapes import Known
from .chains import Chain
from .products import Product, Sum, Walk

MOST = 4000  # instructions of the copies in a function; beyond, sums whose turns differ are rounded as they are written


@dataclass(slots=True)
class WrittenOut:
    """Copies of loops."""

    flow: Flow | None = None
    known: dict[int, Known] = field(default_factory=dict)  # by identity of a copy
    origin: dict[int, Instruction] = field(default_factory=dict)
    copies: dict[tuple[int, int], Instruction] = field(default_factory=dict)  # by chain and number in it

    def instruction(self, x: Product | Sum) -> Instruction:
        """What stands for a product or a sum of some turn."""
        return self.copies.get(x.at, x.instruction)


def written_out(walk: Walk, known: Mapping[int, Known]) -> WrittenOut:
    """What must be copied, once the sums have chosen."""
    unequal = _unequal(walk)
    numbers = {n for sums in unequal for s in sums for n in (s.at[0], *([] if s.chosen is None else [s.chosen.at[0]]))}
    if not numbers:
        return WrittenOut()
    blocks = walk.flow.blocks
    if sum(len(blocks[b].instructions) for n in numbers for b in walk.chains[n].blocks) > MOST:
        for sums in unequal:
            for s in sums:
                s.chosen = None
        return WrittenOut()
    return _copied(walk.flow, walk.chains, numbers, known)


def _unequal(walk: Walk) -> list[list[Sum]]:
    """The sums, those of one instruction together, of which turns need something else."""
    if all(len(c.blocks) == len(set(c.blocks)) for c in walk.chains):
        return []
    products: dict[int, list[tuple[int, int]]] = {}  # where each is computed, in order
    for p in walk.products:
        products.setdefault(id(p.instruction), []).append(p.at)
    sums: dict[int, list[Sum]] = {}
    for s in walk.sums:
        sums.setdefault(id(s.instruction), []).append(s)
    return [turns for turns in sums.values() if len({_choice(s) for s in turns}) > 1 or not all(_is_latest(s, products) for s in turns)]


def _choice(s: Sum) -> tuple[int, int, bool] | None:
    return next(((n, id(p.instruction), minus) for n, p, minus in s.products if p is s.chosen), None)


def _is_latest(s: Sum, products: Mapping[int, Sequence[tuple[int, int]]]) -> bool:
    """Is the product that a sum has chosen the last that its instruction computed?"""
    if s.chosen is None:
        return True
    p = s.chosen.at
    end = s.at[1] if s.at[0] == p[0] else 1 << 62
    return not any(chain == p[0] and p[1] < n < end for chain, n in products[id(s.chosen.instruction)])


def _copied(flow: Flow, chains: Sequence[Chain], numbers: Collection[int], known: Mapping[int, Known]) -> WrittenOut:
    made = WrittenOut()
    blocks = list(flow.blocks)
    for number in numbers:
        turns = chains[number].blocks
        places: list[int] = []  # of the blocks of the chain, in `blocks`
        met: set[int] = set()
        start = 0
        for b in turns:
            own = flow.blocks[b]
            if b in met:
                own = _copy(own, len(blocks), made, known)
                blocks.append(own)
                for n, i in enumerate(own.instructions):
                    made.copies[number, start + n] = i
            met.add(b)
            places.append(own.index)
            start += len(own.instructions)
        following: dict[int, int] = {}  # where each block comes next
        for b, at in zip(reversed(turns), reversed(places), strict=True):
            own = blocks[at]
            blocks[at] = replace(own, successors=tuple([following.get(s, s) for s in flow.blocks[b].successors]))
            following[b] = at
    made.flow = replace(flow, blocks=tuple(blocks))
    return made


def _copy(b: BasicBlock, index: int, made: WrittenOut, known: Mapping[int, Known]) -> BasicBlock:
    instructions = tuple(map(copy, b.instructions))
    for i, old in zip(instructions, b.instructions, strict=True):
        made.known[id(i)] = replace(known[id(old)], instruction=i)
        made.origin[id(i)] = old
    return replace(b, index=index, labels=(), instructions=instructions)
