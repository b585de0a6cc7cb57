"""Lanes come to where they meet others: at a join, at the return from a call, at the end of the kernel."""

from __future__ import annotations

from collections.abc import Sequence

from ..lanes import Geometry, Selection
from ..plan.plan import EXIT, Home
from ..values import Value, plain
from .group import Group, Join


def go(g: Group) -> None:
    """A group that is at its pc, wherever that is."""
    if g.pc == g.stop():
        arrive(g, g.pc)
    elif g.pc == EXIT:
        following = ret(g)
        if following is not None:
            g.pc = following
            if following == g.stop():
                arrive(g, following)
            else:
                g.wave.ready.append(g)
    else:
        g.wave.ready.append(g)


def arrive(g: Group, pc: int) -> None:
    """A whole group has reached the place where it meets its siblings."""
    join = g.parent
    assert join is not None and g.selection is not None
    slots = g.dirty & g.act.function.live_in[pc]
    if g.alive is not None:
        part = Selection.of(g.alive, g.geometry.shape)
        join.absorb(g.selection.then(part), g, slots, part)
    elif g.geometry.n == join.group.geometry.n and join.arrived == 0:
        join.absorb_all(g, slots)
    else:
        join.absorb(g.selection, g, slots)
    g.end()
    settle(join)


def settle(join: Join) -> None:
    """Lets a suspended group go on if no lane below it is left."""
    if join.complete:
        group = join.group
        again = join.resume()
        if again is not group:
            group.end()
        if again is not None and not (join.node_waits and again.wave.waiting.rest(again, again.pc) is None):
            go(again)


def withdraw(joins: Sequence[Join], n: int) -> bool:
    """n lanes will not arrive at joins, of which each stands below the next; False if no lane is left to wait there."""
    for join in joins:
        join.expected -= n
    for join in joins:
        if not join.complete:
            return True
        if join.arrived:
            settle(join)
            return True
        join.group.end()
    return False


# ---------------------------------------------------------------- the end of the kernel


def leave(g: Group) -> None:
    """All lanes of a group end."""
    end_lanes(g, g.geometry)
    n = g.alive_count if g.alive is not None else g.geometry.n
    g.end()
    withdraw(joins_above(g), n)


def end_lanes(g: Group, geometry: Geometry) -> None:
    """Lanes have executed their last instruction."""
    wave = g.wave
    wave.waiting.events += 1
    wave.exited_count += geometry.n
    if wave.exited_count == wave.exited.size:
        wave.exited[...] = True
    else:
        wave.exited[geometry.block, geometry.thread] = True
    if wave.waiting.blocked:
        wave.barriers.recheck(wave)


def joins_above(g: Group) -> list[Join]:
    """Where a group's lanes meet others, from the nearest place on."""
    out: list[Join] = []
    join = g.parent
    while join is not None:
        out.append(join)
        join = join.group.parent
    return out


# ---------------------------------------------------------------- the return from a call


def ret(g: Group) -> int | None:
    """Lanes return from a function: their results go to the caller; from the entry they end."""
    if g.stop() == EXIT:
        return EXIT
    act, join = g.act, g.parent
    if act.caller is None:
        leave(g)
        return None
    assert join is not None and g.selection is not None
    for source, target, size in act.copies:
        g.wave.local.copy(g.geometry, source, target, size)
        announce_passed(g, source, target, size)
    if not join.is_call:
        _return_early(g, join)
    elif g.geometry.n == join.group.geometry.n and join.arrived == 0:
        caller = join.group
        for slot, home in act.returns:
            caller.R[home.slot] = _as_kept(g.R[slot], home)
            caller.dirty |= 1 << home.slot
        join.arrived = g.geometry.n
        settle(join)
    else:
        for slot, home in act.returns:
            join.hand_in(home.slot, g.selection, _as_kept(g.R[slot], home))
        join.arrive(g.selection)
        settle(join)
    g.end()
    return None


def announce_passed(g: Group, source: int | None, target: int, size: int) -> None:
    """See Observer.passed."""
    for o in g.wave.observers:
        o.passed(g, source, target, size)


def _return_early(g: Group, join: Join) -> None:
    """Lanes return from below a join that they will not see: their results go straight to the caller."""
    selection, n = g.selection, g.geometry.n
    assert selection is not None
    passed: list[Join] = []
    while not join.is_call:
        passed.append(join)
        group = join.group
        assert group.selection is not None and group.parent is not None
        selection, join = group.selection.then(selection), group.parent
    for slot, home in g.act.returns:
        join.hand_in(home.slot, selection, _as_kept(selection.conform(g.fetch(slot), g.geometry.shape), home))
    join.arrivals.append(selection)
    join.arrived += n
    if not withdraw(passed, n):
        settle(join)


def _as_kept(value: Value, home: Home) -> Value:
    """A callee's result as the caller keeps the register it goes to."""
    if home.pointer:
        return value
    v = plain(value)
    return v if v.dtype == home.dtype else v.view(home.dtype)
