"""Where a segment ends: branches, tables, calls, returns, barriers, and the instructions whose effect the engine itself performs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from warplab.assembler.ir import Arguments, Instruction, Label, Prototype, Targets
from warplab.isa.types import TYPES

from ..faults import Fault
from ..plan.operands import as_get
from ..plan.plan import Terminator
from ..plan.roles import needs_lanes, uses
from ..plan.spinning import counting, is_pure_loop, turn_of
from .calls import Callee, call_group
from .divergence import Fork, departing, exits_of
from .group import EXIT, Group
from .lanes import Selection
from .returning import ret
from .waits import barrier, condition_of, guard_only, under_guard, wait_for_lanes

if TYPE_CHECKING:
    from ..plan.lower import Lowering


def terminator(low: Lowering, pc: int, b: int, last: Instruction | None) -> Terminator | None:
    """What a segment does at its end; None: it goes on with the next one."""
    cut, plan = low.cut, low.plan
    if last is None or not (last.form is not None and (last.form.effect or needs_lanes(last))):
        if pc + 1 < len(cut) and cut[pc + 1][0] == b:
            return _always(pc + 1)
        nexts = plan.flow.blocks[b].successors
        return counting(low, b, _always(plan.first[nexts[0]])) if nexts else _return(low)
    effect = last.form.effect
    if not effect:
        return wait_for_lanes(low, last, pc + 1)
    if effect == "branch":
        return departing(low, b, _branch(low, b, last))
    if effect == "branch_table":
        return departing(low, b, counting(low, b, _branch_table(low, b, last)))
    if effect == "call":
        return _call(low, pc, b, last)
    if effect == "return":
        return counting(low, b, _leave(low, b, last, _return(low)))
    if effect in ("exit", "trap"):
        return counting(low, b, _leave(low, b, last, _exit if effect == "exit" else _trap))
    if effect == "barrier":
        return barrier(low, last, pc + 1)
    if effect == "warp_barrier":
        return wait_for_lanes(low, last, pc + 1)
    if effect == "cluster_wait":
        return guard_only(low, last, lambda g: g.wave.barriers.cluster_wait(g, pc + 1), pc + 1)
    raise AssertionError(effect)


def _always(pc: int) -> Terminator:
    return lambda g: pc


def join_of(low: Lowering, b: int) -> int:
    """The place where lanes that part at the end of a block meet again."""
    return low.place_of(low.meetings.of[b])


def block_of(low: Lowering, label: Label) -> int:
    """The first place of a label."""
    return low.plan.first[low.labels[id(label)]]


def _branch(low: Lowering, b: int, i: Instruction) -> Terminator:
    plan = low.plan
    label = i.operands[0]
    assert isinstance(label, Label)
    target = block_of(low, label)
    turn = turn_of(low, b, low.labels[id(label)])
    if i.guard is None:
        if turn is None:
            return _always(target)
        return lambda g: turn(g, target)
    others = [x for x in plan.flow.blocks[b].successors if plan.first[x] != target]
    fall = plan.first[others[0]] if others else target if plan.flow.blocks[b].successors else EXIT
    first = low.meetings.leavers.get(b)
    fork = Fork(join_of(low, b), exits_of(low, b), is_pure_loop(low, b, target), None if first is None else plan.first[first])
    return two_way(plan.homes[i.guard.index].slot, i.guard_negated, target, fall, fork, turn)


def two_way(p: int, negated: bool, taken: int, fall: int, fork: Fork, turn: Callable[[Group, int], int | None] | None) -> Terminator:
    """A conditional branch on slot p."""
    if negated:
        taken, fall = fall, taken

    def go(g: Group) -> int | None:
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
                g.wave.diverge(g, condition, taken, fall, fork)
                return None
            if alive is not None and pc != g.pc:
                return g.wave.leave_loop(g, pc)
        if turn is not None:
            return turn(g, pc)
        return pc

    return go


def _branch_table(low: Lowering, b: int, i: Instruction) -> Terminator:
    index = as_get(low.operands.source(i.operands[0], TYPES["u32"]))
    targets = i.operands[1]
    assert isinstance(targets, Targets)
    pcs = [block_of(low, t) for t in targets.targets if isinstance(t, Label)]
    join, exits = join_of(low, b), exits_of(low, b)
    others = [x for x in low.plan.flow.blocks[b].successors if low.plan.first[x] not in pcs]
    fall = low.plan.first[others[0]] if others else EXIT

    def go(g: Group) -> int | None:
        at = np.minimum(index(g.R), len(pcs) - 1)
        if i.guard is not None:
            taken = condition_of(low, i)(g.R)
            if taken.size == 1:
                if not taken[0, 0]:
                    return fall
            else:
                at = np.where(taken, at, len(pcs))
        if at.size == 1:
            return pcs[int(at[0, 0])]
        ways: dict[int, list[int]] = {}
        for value in np.unique(at).tolist():
            ways.setdefault(fall if value == len(pcs) else pcs[value], []).append(value)
        if len(ways) == 1:
            return next(iter(ways))
        g.wave.part_ways(g, [(Selection.of(np.isin(at, values), g.geometry.shape), pc) for pc, values in ways.items()], join, exits)
        return None

    return go


def _leave(low: Lowering, b: int, i: Instruction, leave: Terminator) -> Terminator:
    """ret, exit and trap, perhaps for some lanes only."""
    if i.guard is None:
        return leave
    condition = condition_of(low, i)
    nexts = low.plan.flow.blocks[b].successors
    fall = low.plan.first[nexts[-1]] if nexts else EXIT
    join = join_of(low, b)
    is_exit = leave is _exit
    is_return = i.form is not None and i.form.effect == "return"

    def go(g: Group) -> int | None:
        c = condition(g.R)
        if c.size == 1:
            return leave(g) if c[0, 0] else fall
        count = np.count_nonzero(c)
        if count == 0:
            return fall
        if count == c.size:
            return leave(g)
        if not is_exit and not is_return:
            g.active = c
            return leave(g)
        gone, stay = Selection.of(c, g.geometry.shape), Selection.of(~c, g.geometry.shape)
        if is_exit or g.act.caller is None:
            g.wave.leave_some(g, gone, stay, fall)
        elif join == EXIT:
            g.wave.part_ways(g, [(gone, EXIT), (stay, fall)], EXIT)
        else:
            returning, others = g.wave.divide(g, [(gone, EXIT), (stay, fall)])
            g.wave.go(others)
            g.wave.go(returning)
        return None

    return go


def _return(low: Lowering) -> Terminator:
    def go(g: Group) -> int | None:
        return ret(g.wave, g)

    return go


def _exit(g: Group) -> int | None:
    g.wave.exit(g)
    return None


def _trap(g: Group) -> int | None:
    raise g.blame(Fault("trap", "trap instruction"), g.active)


def _call(low: Lowering, pc: int, b: int, i: Instruction) -> Terminator:
    nexts = low.plan.flow.blocks[b].successors
    after = pc + 1 if low.cut[pc + 1 : pc + 2] and low.cut[pc + 1][0] == b else low.plan.first[nexts[0]] if nexts else EXIT
    ops = list(i.operands)
    returns = None
    if isinstance(ops[0], Arguments) and len(ops) > 1:
        returns, ops = ops[0], ops[1:]
    callee = ops.pop(0)
    args = next((o for o in ops if isinstance(o, Arguments)), None)
    signature = next((o for o in ops if isinstance(o, Prototype | Targets)), None)
    plan = Callee(low, i, callee, args, returns, signature)

    def go(g: Group) -> int | None:
        return call_group(g, plan, after)

    if i.guard is None:
        return go

    def part(g: Group, calls: Selection, past: Selection) -> None:
        for child in g.split([(calls, pc), (past, after)], after):
            if child.pc != pc:
                g.wave.ready.append(child)
                continue
            child.fetch_all(g.act.function.live_in[pc] | _read_slots(low, i))
            following = go(child)
            if following is not None:
                g.wave.arrive(child, following) if following == child.stop() else g.wave.ready.append(child)

    return under_guard(low, i, go, after, part)


def _read_slots(low: Lowering, i: Instruction) -> int:
    out = 0
    for r in uses(i)[0]:
        home = low.plan.homes[r.index]
        out |= ((1 << home.width) - 1) << home.slot
    return out
