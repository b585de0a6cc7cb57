"""How a segment ends, for a group: the next place, or None where the group parts, waits or is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...faults import Fault
from ...lanes import Selection
from ...plan.plan import EXIT, Barrier, Branch, Call, ClusterWait, End, Exits, Guard, Jump, Leave, Reduction, Sync, Table, Turns
from ...values import Array, plain
from ..convergence import arrive, go, leave, ret
from ..divergence import compact, depart, diverge, divide, is_below, leave_loop, leave_some, part_ways, split
from ..group import Group
from .calls import Callee, call_group
from .operands import Get, Set, condition_of, get_of, set_of

Terminator = Callable[[Group], "int | None"]
Turn = Callable[[Group, int], "int | None"]
Part = Callable[[Group, Selection, Selection], None]  # what becomes of the lanes that do it, and of the others


def terminator(end: End, pc: int) -> Terminator:
    """What a segment at pc does at its end."""
    return _TERMINATORS[type(end)](end, pc)


# ---------------------------------------------------------------- ways back to the heads of loops, ways out of loops


def _turn(turns: Turns) -> Turn | None:
    """Counts turns, so that a group that only spins lets others run."""
    if not turns:
        return None

    def turn(g: Group, pc: int) -> int | None:
        limit = turns.get(pc)
        if limit is None:
            return pc
        if pc == g.stop():  # its siblings meet it at the head: it is the suspended group that turns
            join = g.parent
            assert join is not None
            join.group.turns += 1
            join.node_waits |= join.group.turns >= limit
            return pc
        g.turns += 1
        if g.turns >= limit:
            return g.wave.waiting.rest(g, pc)
        return pc

    return turn


def _counting(end: Terminator, turns: Turns) -> Terminator:
    turn = _turn(turns)
    if turn is None:
        return end

    def counted(g: Group) -> int | None:
        pc = end(g)
        return None if pc is None else turn(g, pc)

    return counted


def _departing(end: Terminator, exits: Exits) -> Terminator:
    """A whole group that goes out of a loop there departs."""
    if not exits:
        return end

    def gone(g: Group) -> int | None:
        pc = end(g)
        if pc is None or pc not in exits or not is_below(g, exits[pc]):
            return pc
        if g.alive is not None:
            g = compact(g, pc)
        g.pc = pc
        go(depart(g, exits[pc]))
        return None

    return gone


# ---------------------------------------------------------------- ways on


def _jump(end: Jump, _: int) -> Terminator:
    to, turn = end.to, _turn(end.turns)
    if turn is None:
        return _departing(lambda g: to, end.exits)
    return _departing(lambda g: turn(g, to), end.exits)


def _branch(end: Branch, _: int) -> Terminator:
    (p, negated), taken, fall = end.guard, end.taken, end.fall
    if negated:
        taken, fall = fall, taken
    turn = _turn(end.turns)

    def run(g: Group) -> int | None:
        condition = g.R[p]
        if condition.size == 1:
            pc = taken if condition[0, 0] else fall
        else:
            alive = g.alive
            if alive is not None:
                condition = condition & alive
                n = g.alive_count
            else:
                n = condition.size
            count = np.count_nonzero(condition)
            if count == n:
                pc = taken
            elif count == 0:
                pc = fall
            else:
                diverge(g, condition, taken, fall, end)
                return None
            if alive is not None and pc != g.pc:
                return leave_loop(g, pc)
        if turn is not None:
            return turn(g, pc)
        return pc

    return _departing(run, end.exits)


def _table(end: Table, _: int) -> Terminator:
    index, ways = get_of(end.index), end.ways
    way_of: Array = np.array([ways.index(pc) for pc in end.targets])
    condition = None if end.guard is None else condition_of(end.guard)
    if condition is not None and end.fall not in ways:
        ways.append(end.fall)

    def run(g: Group) -> int | None:
        way = way_of[np.minimum(index(g.R), len(way_of) - 1)]
        if condition is not None:
            way = np.where(condition(g.R), way, ways.index(end.fall))
        taken: list[int] = np.unique(way).tolist()
        if len(taken) == 1:
            return ways[taken[0]]
        part_ways(g, [(Selection.of(way == n, g.geometry.shape), ways[n]) for n in taken], end.join, end.exits)
        return None

    return _departing(_counting(run, end.turns), end.exits)


# ---------------------------------------------------------------- ways out


def _trap(g: Group) -> int | None:
    raise g.blame(Fault("trap", "trap instruction"), g.active)


def _exit(g: Group) -> int | None:
    leave(g)
    return None


_LEAVE: dict[str, Terminator] = {"ret": ret, "exit": _exit, "trap": _trap}


def _leave(end: Leave, _: int) -> Terminator:
    """ret, exit and trap, perhaps for some lanes only."""
    run = _LEAVE[end.what]
    if end.guard is None:
        return run
    condition, fall, join, what = condition_of(end.guard), end.fall, end.join, end.what

    def some(g: Group) -> int | None:
        c = condition(g.R)
        if c.size == 1:
            return run(g) if c[0, 0] else fall
        count = np.count_nonzero(c)
        if count == 0:
            return fall
        if count == c.size:
            return run(g)
        if what == "trap":
            g.active = c
            return run(g)
        gone, stay = Selection.of(c, g.geometry.shape), Selection.of(~c, g.geometry.shape)
        if what == "exit" or g.act.caller is None:
            leave_some(g, gone, stay, fall)
        elif join == EXIT:
            part_ways(g, [(gone, EXIT), (stay, fall)], EXIT)
        else:
            returning, others = divide(g, [(gone, EXIT), (stay, fall)])
            go(others)
            go(returning)
        return None

    return _counting(some, end.turns)


# ---------------------------------------------------------------- under guards


def _under_guard(guard: Guard | None, run: Terminator, past: int, part: Part) -> Terminator:
    """run where the guard holds for all lanes, on to the next place where it holds for none; else the lanes diverge."""
    if guard is None:
        return run
    condition = condition_of(guard)

    def guarded(g: Group) -> int | None:
        c = condition(g.R)
        count = np.count_nonzero(c)
        if count == c.size:
            return run(g)
        if count == 0:
            return past
        part(g, Selection.of(c, g.geometry.shape), Selection.of(~c, g.geometry.shape))
        return None

    return guarded


def _call(end: Call, pc: int) -> Terminator:
    callee, after = Callee(end), end.after

    def run(g: Group) -> int | None:
        return call_group(g, callee, after)

    def part(g: Group, calls: Selection, past: Selection) -> None:
        children, _ = split(g, [(calls, pc), (past, after)], after)
        for child in children:
            if child.pc != pc:
                g.wave.ready.append(child)
                continue
            child.fetch_all(g.act.function.live_in[pc])
            following = run(child)
            if following is not None:
                arrive(child, following) if following == child.stop() else g.wave.ready.append(child)

    return _under_guard(end.guard, run, after, part)


# ---------------------------------------------------------------- waiting


def _stop(guard: Guard | None, run: Terminator, past: int) -> Terminator:
    """A stop that may be guarded: by a uniform predicate, or for some lanes."""

    def part(g: Group, here: Selection, there: Selection) -> None:
        a, b = divide(g, [(here, g.pc), (there, past)])
        g.wave.ready.append(b)
        a.fetch_all(g.act.function.live_in[g.pc])
        following = run(a)
        if following is not None:
            a.pc = following
            g.wave.ready.append(a)

    return _under_guard(guard, run, past, part)


def _sync(end: Sync, _: int) -> Terminator:
    get, key, past = None if end.mask is None else get_of(end.mask), end.key, end.past

    def run(g: Group) -> int | None:
        if get is not None:
            for o in g.wave.observers:
                o.members(g.wave.current, g, get(g.R))
        if g.geometry.whole_warps and g.active is None:
            return past
        return g.wave.waiting.wait_for_lanes(g, None if get is None else get(g.R), past, key)

    if end.parts or end.guard is None:
        return _stop(end.guard, run, past)
    condition = condition_of(end.guard)

    def guarded(g: Group) -> int | None:  # the instruction's own step applies the guard: lanes that miss nobody stay together
        c = condition(g.R)
        if bool(c.all()):
            return run(g)
        masks = None if get is None else np.broadcast_to(plain(get(g.R)), g.geometry.shape)
        if g.geometry.whole_warps or not c.any() or not g.wave.waiting.missing(g, masks, c).any():
            return past
        holds = Selection.of(np.broadcast_to(c, g.geometry.shape), g.geometry.shape)
        rest = Selection.of(~np.broadcast_to(c, g.geometry.shape), g.geometry.shape)
        waiting, free = divide(g, [(holds, past), (rest, past)])
        g.wave.ready.append(free)
        following = g.wave.waiting.wait_for_lanes(waiting, None if masks is None else holds.take_array(masks), past, key)
        if following is not None:
            g.wave.ready.append(waiting)
        return None

    return guarded


def result_of(reduction: Reduction) -> Set:
    """Writes what a barrier has reduced, whichever of its instructions the last lanes have executed: a count, or whether it is not 0."""
    put, dtype = set_of(reduction.target), np.dtype(np.uint32 if reduction.operation == "popc" else np.bool_)
    return lambda R, result: put(R, result.astype(dtype))


def _barrier(end: Barrier, _: int) -> Terminator:
    number, past, waits = get_of(end.number), end.past, end.waits
    count = None if end.count is None else get_of(end.count)
    value: Get | None = None
    put: Set | None = None
    operation = ""
    if end.reduction is not None:
        value, operation, put = get_of(end.reduction.value), end.reduction.operation, result_of(end.reduction)

    def run(g: Group) -> int | None:
        n = None if count is None else int(count(g.R).ravel()[0])
        return g.wave.barriers.arrive(g, number(g.R), n, waits, past, None if value is None else (value(g.R), operation, put))

    return _stop(end.guard, run, past)


def _cluster_wait(end: ClusterWait, _: int) -> Terminator:
    past = end.past
    return _stop(end.guard, lambda g: g.wave.barriers.cluster_wait(g, past), past)


_TERMINATORS: dict[type, Callable[[Any, int], Terminator]] = {
    Jump: _jump, Branch: _branch, Table: _table, Call: _call, Leave: _leave, Barrier: _barrier, Sync: _sync, ClusterWait: _cluster_wait,
}  # fmt: skip
