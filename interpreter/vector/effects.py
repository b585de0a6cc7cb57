"""Instructions whose effect the engine itself performs without ending a segment, and those that it does not execute."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from warplab.assembler.ir import Immediate, Instruction
from warplab.isa.types import TYPES

from ..faults import Fault
from ..plan.operands import as_get, as_set
from ..plan.plan import Step

if TYPE_CHECKING:
    from ..plan.ops import InstructionSteps
    from .group import Group


def _halt(R: list[Any]) -> None:
    g: Group = R[0]
    if g.active is None or g.active.any():
        raise g.blame(Fault("trap", "breakpoint without a debugger"), g.active)


def unsupported(i: Instruction) -> Step:
    """An instruction that is assembled and not executed says so when it is reached."""

    def step(R: list[Any]) -> None:
        name = ".".join((i.opcode, *i.modifiers))
        raise R[0].blame(Fault("unsupported", f"{name} is assembled, but not executed by this model"), R[0].active)

    return step


def effect_step(low: InstructionSteps, i: Instruction) -> tuple[Step, list[int]] | None:
    """The step of an instruction with an effect that does not end the segment; None where there is nothing to do."""
    assert i.form is not None and i.settled is not None
    match i.form.effect:
        case "cluster_arrive":
            return (lambda R: R[0].wave.barriers.cluster_arrive(R[0])), []
        case "alloca":
            t = TYPES[str(i.settled["type"])]
            put = as_set(low.operands.target(i.operands[0], t))
            size = as_get(low.operands.source(i.operands[1], t))
            third = i.operands[2] if len(i.operands) > 2 else None
            align = int(third.value) if isinstance(third, Immediate) else 8
            return (lambda R: put(R, R[0].allocate_stack(size(R), align, t.dtype))), low.written(i)
        case "stacksave":
            t = TYPES[str(i.settled["type"])]
            put = as_set(low.operands.target(i.operands[0], t))
            return (lambda R: put(R, np.array([[R[0].act.top]], t.dtype))), low.written(i)
        case "stackrestore":
            source = as_get(low.operands.source(i.operands[0], TYPES[str(i.settled["type"])]))
            return (lambda R: R[0].restore_stack(source(R))), []
        case "yield":
            return (lambda R: R[0].pause()), []
        case "breakpoint":
            return _halt, []
        case "barrier" | "warp_barrier" | "cluster_wait":
            return None
        case other:
            raise AssertionError(other)
