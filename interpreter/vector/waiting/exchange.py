"""Cross-lane instructions as steps, and what several groups do that meet at equal ones in different places of the program.

Lanes of one warp that wait at the same `.sync` instruction exchange values wherever they stand (an H200 does so): the arguments of all
groups are laid out as one set of lanes, the meaning runs once, and every group finds its part when it takes the step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from warplab.isa.ports import NotYet

from ...faults import Fault
from ...lanes import Geometry
from ...values import Array, plain
from ..group import Group


class Exchange:
    """One cross-lane instruction; a step."""

    __slots__ = ("finish", "gets", "meaning")

    def __init__(
        self, meaning: Callable[..., Any], finish: Callable[[list[Any], Any], None], gets: list[Callable[[list[Any]], Any]]
    ) -> None:
        self.meaning = meaning
        self.finish = finish
        self.gets = gets

    def __call__(self, R: list[Any]) -> None:
        g: Group = R[0]
        if g.exchanged is not None:  # taken together with others while it waited
            exchanged, g.exchanged = g.exchanged, None
            self.finish(R, exchanged)
            return
        view = g.warp_view()
        self.finish(R, view.collect(self.meaning(view, *[view.spread(get(R)) for get in self.gets])))


def together(groups: Sequence[Group], exchanges: Sequence[Exchange]) -> None:
    """Groups that wait at equal instructions take them as one; each keeps its part of the result."""
    shapes = [g.geometry.shape for g in groups]
    lanes = np.concatenate([np.broadcast_to(g.geometry.lane, s).ravel() for g, s in zip(groups, shapes, strict=True)])
    order = np.argsort(lanes, kind="stable")
    first = groups[0]
    threads = first.wave.launch.threads
    block, thread = np.divmod(lanes[order], threads)
    whole = Group(first.wave, Geometry(block[None, :], thread[None, :], threads), first.act, [None], first.pc)
    view = whole.warp_view()
    arguments = []
    for gets in zip(*[e.gets for e in exchanges], strict=True):
        values = [np.broadcast_to(plain(get(g.R)), s).ravel() for get, g, s in zip(gets, groups, shapes, strict=True)]
        arguments.append(view.spread(np.concatenate(values)[order][None, :]))
    try:
        result = view.collect(exchanges[0].meaning(view, *arguments))
    except NotYet:
        text = "the lanes of a warp wait at different places for an instruction that all of them execute together"
        raise whole.blame(Fault("illegal-instruction", text), None) from None
    whole.end()
    back = np.empty_like(order)
    back[order] = np.arange(order.size)
    start = 0
    for g, shape in zip(groups, shapes, strict=True):
        place = back[start : start + g.geometry.n]
        start += g.geometry.n
        g.exchanged = tuple(_cut(r, place, shape) for r in result) if isinstance(result, tuple) else _cut(result, place, shape)


def _cut(result: Array, place: Array, shape: tuple[int, int]) -> Array:
    return result if result.size == 1 else result[0, place].reshape(shape)
