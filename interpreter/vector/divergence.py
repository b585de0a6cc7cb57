"""Lanes part: on a branch, into a called function, out of a loop in which others go on."""

from __future__ import annotations

import numpy as np

from ..lanes import Selection
from ..plan.plan import EXIT, Branch, Exits, LoopExit
from ..values import Array
from .convergence import end_lanes, go, joins_above, settle, withdraw
from .group import Group, Join

COMPACT_BELOW = 0.75  # of its lanes are left in a loop: a group closes its ranks
NO_EXITS: Exits = {}
Ways = list[tuple[Selection, int]]


# ---------------------------------------------------------------- parting


def diverge(g: Group, condition: Array, taken: int, fall: int, branch: Branch) -> None:
    """A conditional branch on which the lanes of g disagree."""
    shape, wave = g.geometry.shape, g.wave
    for o in wave.observers:
        o.branch(wave.current, g, condition, (taken, fall))
    if branch.rides and (taken == g.pc or fall == g.pc) and _let_leave(g, condition, taken, fall, branch.join):
        return
    other = ~condition if g.alive is None else g.alive & ~condition
    ways = [(Selection.of(other, shape), fall), (Selection.of(condition, shape), taken)]
    if branch.first is not None:
        ways.sort(key=lambda way: way[1] != branch.first)
    else:  # on a GPU each warp runs the side that has fewer lanes first
        ways.sort(key=lambda way: way[0].count)
    part_ways(g, ways, branch.join, branch.exits)


def part_ways(g: Group, ways: Ways, pc: int, exits: Exits = NO_EXITS) -> None:
    """Sends the lanes of g to several places; they reconverge at pc, those that leave loops where their exit says."""
    below = bool(exits) and any(to in exits and is_below(g, exits[to]) for _, to in ways)
    staying = sum(to not in exits for _, to in ways)
    if (g.act.function.name, pc) in g.wave.waiting.joins_not_waited_for or (below and staying < 2):
        for part in divide(g, ways):
            go(depart(part, exits[part.pc]) if below and part.pc in exits else part)
        return
    children, join = split(g, ways, pc)
    departing = [c for c in children if c.pc in exits] if staying > 1 else []
    for c in departing:
        go(depart(c, exits[c.pc]))
    g.wave.ready.extend([c for c in reversed(children) if c not in departing] if departing else reversed(children))
    if not children:
        settle(join)


def split(g: Group, ways: Ways, pc: int) -> tuple[list[Group], Join]:
    """Parts the lanes of g, which reconverge at pc; gives the groups that have somewhere to go before that, and their join."""
    if g.parent is not None and not g.parent.is_call and g.parent.pc == pc:
        return _split_beside(g, g.parent, ways), g.parent
    join = Join(g, pc, sum(s.count for s, _ in ways))
    out = []
    for selection, to in ways:
        if to == pc:
            join.absorb(selection, None, 0)
        else:
            out.append(_child(join, selection, to))
    return out, join


def _split_beside(g: Group, join: Join, ways: Ways) -> list[Group]:
    """As split, but the parts become siblings of g, which is no more: they meet where it would have met them."""
    own = g.selection
    assert own is not None
    live_in = g.act.function.live_in
    out = []
    for selection, to in ways:
        place = own.then(selection)
        if to == join.pc:
            join.absorb(place, g, g.dirty & live_in[to], selection)
            continue
        child = _child(join, place, to)
        child.dirty = g.dirty
        keep = g.dirty & live_in[to]
        while keep:
            low = keep & -keep
            s = low.bit_length() - 1
            child.R[s] = place.conform(selection.take(g.R[s]), selection.shape_out)
            keep ^= low
        out.append(child)
    g.end()
    return out


def _child(join: Join, selection: Selection, pc: int) -> Group:
    """A part of a suspended group's lanes, at pc."""
    group = join.group
    child = Group(group.wave, group.geometry.select(selection), group.act, group.act.function.fresh_registers(), pc)
    child.parent, child.selection = join, selection
    return child


def divide(g: Group, ways: Ways) -> list[Group]:
    """Parts g for good: each part takes its own place below g's parent."""
    parts = [g.part(s, pc) for s, pc in ways]
    g.end()
    return parts


def leave_some(g: Group, gone: Selection, stay: Selection, pc: int) -> None:
    """Some lanes end here, the others go on at pc."""
    a, b = divide(g, [(gone, EXIT), (stay, pc)])
    end_lanes(a, a.geometry)
    a.end()
    for join in joins_above(a):
        join.expected -= a.geometry.n
    go(b)


# ---------------------------------------------------------------- loops of pure instructions


def _let_leave(g: Group, condition: Array, taken: int, fall: int, pc: int) -> bool:
    """In a loop of pure instructions the lanes that leave hand their results in and ride along; True if that was done."""
    join = g.parent
    out = fall if taken == g.pc else taken
    if out != pc or join is None or join.is_call or join.pc != pc or pc == EXIT:
        return False
    if (g.act.function.name, pc) in g.wave.waiting.joins_not_waited_for:
        return False
    shape = g.geometry.shape
    staying = condition if taken == g.pc else ~condition
    if staying.shape != shape:
        return False
    if g.alive is None:
        leaving = ~staying
        g.alive = staying
    else:
        leaving = g.alive & ~staying
        g.alive = g.alive & staying
    gone = Selection.of(leaving, shape)
    g.alive_count -= gone.count
    assert g.selection is not None
    join.absorb(g.selection.then(gone), g, g.dirty & g.act.function.live_in[pc], gone)
    g.turns = 0
    if g.alive_count == 0:
        g.end()
        settle(join)
    elif g.alive_count < COMPACT_BELOW * g.geometry.n:
        g.wave.ready.append(compact(g))
    else:
        g.wave.ready.append(g)
    return True


def compact(g: Group, pc: int | None = None) -> Group:
    """The lanes of g that have not left, as a group of their own."""
    assert g.alive is not None
    smaller = g.part(Selection.of(g.alive, g.geometry.shape), g.pc if pc is None else pc)
    smaller.turns = g.turns
    g.end()
    return smaller


def leave_loop(g: Group, pc: int) -> int | None:
    """The last lanes of a loop leave it; those that rode along have left before."""
    if pc == g.stop():
        return pc
    go(compact(g, pc))
    return None


# ---------------------------------------------------------------- out of loops in which others wait


def is_below(g: Group, way: LoopExit) -> bool:
    """Do others wait for a group in the loop that it leaves?"""
    join = g.parent
    return join is not None and not join.is_call and join.pc in way.inside


def depart(g: Group, way: LoopExit) -> Group:
    """A group that leaves loops, from below joins in them to one behind them; g itself is no more."""
    if not is_below(g, way):
        return g
    passed: list[Join] = []
    join, place, dirty = g.parent, g.selection, g.dirty
    assert place is not None
    while join is not None and not join.is_call and join.pc in way.inside:
        if passed:
            place = _selection(passed[-1]).then(place)
        passed.append(join)
        dirty |= join.group.dirty
        join = join.group.parent
    top = passed[-1]
    if join is not None and not join.is_call and join.pc == way.join:
        place = _selection(top).then(place)
    else:
        join = _above(top, way.join)
    live = g.act.function.live_in[g.pc]
    out = Group(g.wave, join.group.geometry.select(place), g.act, g.act.function.fresh_registers(), g.pc)
    out.parent, out.selection, out.dirty, out.cc = join, place, dirty & live, g.cc
    g.keep(out, _all_of(g), place, live)
    g.end()
    withdraw(passed, out.geometry.n)
    return out


def _above(top: Join, pc: int) -> Join:
    """A join in the place of another one, which comes to stand below it."""
    inner = top.group
    outer = Group(inner.wave, inner.geometry, inner.act, list(inner.R), pc)
    outer.parent, outer.selection, outer.dirty, outer.cc = inner.parent, inner.selection, inner.dirty, inner.cc
    join = Join(outer, pc, top.expected)
    inner.parent, inner.selection, inner.dirty = join, _all_of(inner), 0
    return join


def _selection(join: Join) -> Selection:
    assert join.group.selection is not None
    return join.group.selection


def _all_of(g: Group) -> Selection:
    return Selection(g.geometry.shape, "rows", np.arange(g.geometry.shape[0]))
