"""What a branch back to a loop's head needs to know of the loop: whether it spins on memory, whether its lanes may ride along."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from warplab.assembler.ir import Function, Instruction
from warplab.assembler.listing import listing

from ..vector.group import Group
from .plan import Terminator
from .roles import ends_block, works_on

if TYPE_CHECKING:
    from .lower import Lowering

PATIENT = 1 << 20  # turns of an ordinary loop before others may run
SPINNING = 48  # turns of a loop that looks at memory others change
CALLING = 8  # and of one that calls functions, whose turns take longer


Turn = Callable[[Group, int], int | None]


def turn_of(low: Lowering, b: int, head: int) -> Turn | None:
    """For a way back from block b to the head of a loop: counts turns, so that a group that only spins lets others run."""
    if low.order[head] > low.order[b]:
        return None
    target = low.plan.first[head]
    limit = _patience(low, head)

    def turn(g: Group, pc: int) -> int | None:
        if pc != target:
            return pc
        if pc == g.stop():  # its siblings meet it at the head: it is their node that turns
            node = g.parent
            assert node is not None
            node.spins += 1
            node.tired |= node.spins >= limit
            return pc
        g.spins += 1
        if g.spins >= limit:
            return g.wave.room.rest(g, pc)
        return pc

    return turn


def counting(low: Lowering, b: int, go: Terminator) -> Terminator:
    """What a block does at its end, with a count of the turns where that leads back to the head of a loop."""
    turns: dict[int, Turn] = {}
    for s in low.plan.flow.blocks[b].successors:
        turn = turn_of(low, b, s)
        if turn is not None:
            turns[low.plan.first[s]] = turn
    if not turns:
        return go

    def counted(g: Group) -> int | None:
        pc = go(g)
        return turns[pc](g, pc) if pc is not None and pc in turns else pc

    return counted


def _loop_blocks(low: Lowering, head: int) -> tuple[int, ...]:
    return next((loop.blocks for loop in low.plan.flow.loops if loop.header == head), ())


def _patience(low: Lowering, head: int) -> int:
    """How often a loop may turn before others run."""
    instructions = [i for b in _loop_blocks(low, head) for i in low.plan.flow.blocks[b].instructions]
    if not _watches(low, instructions):
        return PATIENT
    return CALLING if any(i.opcode == "call" for i in instructions) else SPINNING


def _watches(low: Lowering, instructions: Iterable[Instruction]) -> bool:
    """Do they look at memory in a way that only makes sense if somebody else changes it?"""
    for i in instructions:
        if i.opcode in ("atom", "nanosleep", "mbarrier", "fence", "membar") or (
            i.opcode == "ld" and {"volatile", "acquire", "relaxed", "mmio"} & set(i.modifiers)
        ):
            return True
        if i.opcode == "call":
            callee = next((o for o in i.operands[:2] if isinstance(o, Function)), None)
            if callee is None or _function_watches(low, callee):
                return True
    return False


def _function_watches(low: Lowering, f: Function) -> bool:
    """The same of a function that the loop calls: without optimisation each atomic is one."""
    f = low.operands.symbols.resolve(f)
    if id(f) not in low.watching:
        low.watching[id(f)] = False  # of its calls of itself
        low.watching[id(f)] = f.body is not None and _watches(low, listing(f).instructions)
    return low.watching[id(f)]


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
