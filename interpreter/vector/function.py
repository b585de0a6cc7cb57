"""A function as this engine runs it: the segments of its plan as steps, and what each does at its end, quiet or observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..observe import announced
from ..plan.plan import PlanFunction, Segment
from .ends import Terminator, terminator
from .exchange import Exchange
from .steps import Step, guarded, unguarded
from .values import Value


@dataclass(slots=True, eq=False)
class VectorSegment:
    """Steps that run without a stop."""

    steps: tuple[Step, ...]
    terminate: Terminator
    reads: tuple[int, ...]  # slots that it reads before it writes them
    writes: int  # slots that it writes, as a mask
    exchange: Exchange | None  # its first operation, where that works across the lanes of a warp
    plan: Segment


class Segments(dict[int, VectorSegment]):
    """The segments of a function by their places, made when lanes first come there."""

    def __init__(self, plan: PlanFunction, observed: bool) -> None:
        self.plan = plan
        self.observed = observed

    def __missing__(self, pc: int) -> VectorSegment:
        made = self[pc] = _segment(self.plan.segments[pc], pc, self.observed)
        return made


class VectorFunction:
    """A function, ready to run."""

    __slots__ = ("frame_size", "live_in", "name", "plan", "segments", "template", "zeros")

    def __init__(self, plan: PlanFunction, *, observed: bool) -> None:
        self.plan = plan
        self.name = plan.name
        self.live_in = plan.live_in
        self.frame_size = plan.frame_size
        self.template: list[Value | None] = [*[None] * plan.first_constant, *plan.constants]
        self.zeros: dict[int, Value] = {slot: np.zeros((1, 1), dtype) for slot, dtype in plan.zeros.items()}
        self.segments = Segments(plan, observed)

    def fresh_registers(self) -> list[Any]:
        """Registers of a part of a group: constants in place, the rest to be fetched."""
        return self.template.copy()

    def entry_registers(self) -> list[Any]:
        """Registers at the start of the function: those read before they are written hold zeros."""
        registers = self.template.copy()
        for slot, zero in self.zeros.items():
            registers[slot] = zero
        return registers


def _segment(s: Segment, pc: int, observed: bool) -> VectorSegment:
    steps: list[Step] = []
    exchange = None
    for n, op in enumerate(s.ops):
        inner = unguarded(op)
        if n == 0 and isinstance(inner, Exchange):
            exchange = inner
        steps.append(inner if op.guard is None else guarded(op, op.guard, inner))
    terminate = terminator(s.end, pc)
    if observed:
        steps, terminate = announced(s, steps, terminate)
    return VectorSegment(tuple(steps), terminate, s.reads, s.writes, exchange, s)
