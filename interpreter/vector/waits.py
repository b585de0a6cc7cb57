"""Where lanes wait: barriers, and cross-lane instructions whose lanes are not all there."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from warplab.assembler.ir import Instruction
from warplab.isa.types import TYPES

from ..plan.operands import as_get, as_set
from ..plan.plan import Terminator
from .group import Group
from .lanes import Selection

if TYPE_CHECKING:
    from ..plan.lower import Lowering

Part = Callable[[Group, Selection, Selection], None]  # what becomes of the lanes that do it, and of the others


def condition_of(low: Lowering, i: Instruction) -> Callable[[list[Any]], Any]:
    """Where the guard of an instruction holds."""
    assert i.guard is not None
    slot, negated = low.plan.homes[i.guard.index].slot, i.guard_negated
    return lambda R: ~R[slot] if negated else R[slot]


def guard_only(low: Lowering, i: Instruction, go: Terminator, pc: int) -> Terminator:
    """A stop that may be guarded: by a uniform predicate, or for some lanes."""
    if i.guard is None:
        return go

    def part(g: Group, here: Selection, past: Selection) -> None:
        a, b = g.wave.divide(g, [(here, g.pc), (past, pc)])
        g.wave.ready.append(b)
        a.fetch_all(g.act.function.live_in[g.pc])
        following = go(a)
        if following is not None:
            a.pc = following
            g.wave.ready.append(a)

    return under_guard(low, i, go, pc, part)


def under_guard(low: Lowering, i: Instruction, go: Terminator, past: int, part: Part) -> Terminator:
    """go where the guard holds for all lanes, on to the next place where it holds for none; else the lanes part."""
    condition = condition_of(low, i)

    def guarded(g: Group) -> int | None:
        c = condition(g.R)
        count = np.count_nonzero(c)
        if count == c.size:
            return go(g)
        if count == 0:
            return past
        part(g, Selection.of(c, g.geometry.shape), Selection.of(~c, g.geometry.shape))
        return None

    return guarded


def wait_for_lanes(low: Lowering, i: Instruction, pc: int) -> Terminator:
    mask_operand = i.operands[-1]
    aligned_only = not _has_mask(i)
    get = None if aligned_only else as_get(low.operands.source(mask_operand, TYPES["u32"]))
    key = None if aligned_only or i.settled is None else (i.opcode, tuple(sorted(i.settled.items())))

    def go(g: Group) -> int | None:
        if g.geometry.whole_warps and g.active is None:
            return pc
        return g.wave.room.wait_for_lanes(g, None if get is None else get(g.R), pc, key)

    return guard_only(low, i, go, pc) if i.form is not None and i.form.effect else _maybe_guarded_wait(low, i, go, pc)


def _maybe_guarded_wait(low: Lowering, i: Instruction, go: Terminator, pc: int) -> Terminator:
    """A guarded .sync instruction waits only where its guard holds for a lane; its own step applies the guard."""
    if i.guard is None:
        return go
    condition = condition_of(low, i)
    return lambda g: go(g) if bool(condition(g.R).all()) else pc


def _has_mask(i: Instruction) -> bool:
    return i.opcode in ("shfl", "vote", "match", "redux", "elect", "bar")


def barrier(low: Lowering, i: Instruction, pc: int) -> Terminator:
    words = set(i.modifiers)
    ops = list(i.operands)
    put = None
    value = None
    if "red" in words:
        d = ops.pop(0)
        c = ops.pop()
        t = TYPES["u32"] if "popc" in words else TYPES["pred"]
        put = as_set(low.operands.target(d, t))
        value = as_get(low.operands.source(c, TYPES["pred"]))
    op = "popc" if "popc" in words else "and" if "and" in words else "or"
    number = as_get(low.operands.source(ops[0], TYPES["u32"]))
    count = as_get(low.operands.source(ops[1], TYPES["u32"])) if len(ops) > 1 else None
    waits = "arrive" not in words

    def go(g: Group) -> int | None:
        n = None if count is None else int(count(g.R).ravel()[0])
        return g.wave.barriers.arrive(g, number(g.R), n, waits, pc, None if value is None else (value(g.R), op, put))

    return guard_only(low, i, go, pc)
