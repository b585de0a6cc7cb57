"""What a branch back to a loop's head needs to know of the loop: whether it spins on memory, whether its lanes may ride along."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .group import Group
from .roles import ends_block, works_on

if TYPE_CHECKING:
    from .lower import Lowering

PATIENT = 1 << 20  # turns of an ordinary loop before others may run
SPINNING = 48  # turns of a loop that looks at memory others change


def turn_of(low: Lowering, b: int, target: int) -> Callable[[Group, int], int | None] | None:
    """For a branch back to a loop's head: counts turns, so that a group that only spins lets others run."""
    plan = low.plan
    head = next((h for h, f in enumerate(plan.first) if f == target and f >= 0), None)
    if head is None or low.blocks.index(head) > low.blocks.index(b):
        return None
    limit = SPINNING if _watches_memory(low, head) else PATIENT

    def turn(g: Group, pc: int) -> int | None:
        if pc != target:
            return pc
        g.spins += 1
        if g.spins >= limit:
            return g.wave.room.rest(g, pc)
        return pc

    return turn


def _loop_blocks(low: Lowering, head: int) -> tuple[int, ...]:
    return next((loop.blocks for loop in low.plan.flow.loops if loop.header == head), ())


def _watches_memory(low: Lowering, head: int) -> bool:
    """Does the loop look at memory in a way that only makes sense if somebody else changes it?"""
    for b in _loop_blocks(low, head):
        for i in low.plan.flow.blocks[b].instructions:
            if i.opcode in ("atom", "nanosleep", "mbarrier", "fence", "membar") or (
                i.opcode in ("ld", "mbarrier") and {"volatile", "acquire", "relaxed", "mmio", "test_wait", "try_wait"} & set(i.modifiers)
            ):
                return True
    return False


def is_pure_loop(low: Lowering, b: int, target: int) -> bool:
    """A loop of pure instructions whose lanes may ride along after they left."""
    if not low.looping:
        return False
    loops = [loop for loop in low.plan.flow.loops if b in loop.blocks]
    if not loops:
        return False
    inner = min(loops, key=lambda loop: len(loop.blocks))
    if len(inner.blocks) > 1:
        return False
    for i in low.plan.flow.blocks[b].instructions:
        if ends_block(i) and i.form is not None and i.form.effect == "branch":
            continue
        if i.form is None or i.form.effect or i.form.meaning is None or i.form.carry:
            return False
        if works_on(i.form) in ("lanes", "warps"):
            return False
    return True
