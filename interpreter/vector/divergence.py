"""Lanes that leave a loop from below places in it where others of the loop will meet: a node behind the loop takes them in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..plan.plan import Terminator
from .group import Group
from .lanes import Selection

if TYPE_CHECKING:
    from ..plan.lower import Lowering
    from .wave import Wave


class Exit(NamedTuple):
    """A way out of loops, in places: where those who take it meet the others, and the places in the outermost loop that they leave."""

    join: int
    inside: frozenset[int]


Exits = Mapping[int, Exit]  # by the place to which each leads
NO_EXITS: Exits = {}


class Fork(NamedTuple):
    """What becomes of lanes that disagree on a branch."""

    join: int
    exits: Exits
    lazy: bool  # those who leave may ride along
    first: int | None  # who goes there goes before the others


def exits_of(low: Lowering, b: int) -> Exits:
    """The ways out of loops at the end of a block, where there is anything to leave."""
    first = low.plan.first
    found = low.meetings.departures.get(b)
    if not found:
        return NO_EXITS
    return {first[s]: Exit(low.place_of(d.meeting), frozenset(first[x] for x in d.inside)) for s, d in found.items()}


def departing(low: Lowering, b: int, go: Terminator) -> Terminator:
    """What a block does at its end; a whole group that goes out of a loop there departs."""
    exits = exits_of(low, b)
    if not exits:
        return go

    def gone(g: Group) -> int | None:
        pc = go(g)
        if pc is None or pc not in exits or not is_below(g, exits[pc]):
            return pc
        if g.alive is not None:
            g = g.wave.compact(g, pc)
        g.pc = pc
        g.wave.go(depart(g.wave, g, exits[pc]))
        return None

    return gone


def is_below(g: Group, way: Exit) -> bool:
    """Do others wait for a group in the loop that it leaves?"""
    p = g.parent
    return p is not None and not p.node_return and p.join in way.inside


def depart(wave: Wave, g: Group, way: Exit) -> Group:
    """A group that leaves loops, out of the nodes in them and below one whose lanes meet behind; g itself is no more."""
    if not is_below(g, way):
        return g
    passed: list[Group] = []
    p, place, dirty = g.parent, g.selection, g.dirty
    while p is not None and not p.node_return and p.join in way.inside:
        if passed:
            assert place is not None and passed[-1].selection is not None
            place = passed[-1].selection.then(place)
        passed.append(p)
        dirty |= p.dirty
        p = p.parent
    assert place is not None
    top = passed[-1]
    if p is not None and not p.node_return and p.join == way.join:
        assert top.selection is not None
        node, place = p, top.selection.then(place)
    else:
        node = _above(wave, top, way.join)
    live = g.act.function.live_in[g.pc]
    out = Group(wave, node.geometry.select(place), g.act, g.act.function.fresh_registers(), g.pc)
    out.parent, out.selection, out.dirty, out.cc = node, place, dirty & live, g.cc
    g.keep(out, _all_of(g), place, live)
    g.end()
    wave.withdraw(passed, out.geometry.n)
    return out


def _above(wave: Wave, top: Group, join: int) -> Group:
    """A node in the place of another one, which comes to stand below it."""
    node = Group(wave, top.geometry, top.act, list(top.R), join)
    node.parent, node.selection, node.dirty, node.cc = top.parent, top.selection, top.dirty, top.cc
    node.join, node.expected = join, top.expected
    top.parent, top.selection, top.dirty = node, _all_of(top), 0
    return node


def _all_of(g: Group) -> Selection:
    return Selection(g.geometry.shape, "rows", np.arange(g.geometry.shape[0]))
