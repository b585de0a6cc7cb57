"""A function as this engine runs it: the segments of its plan as steps, and what each does at its end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..plan.plan import Call, Home, PlanFunction, Segment
from ..poison import Poison
from ..values import Value

Step = Callable[[list[Any]], None]  # of the registers
Terminator = Callable[[Any], "int | None"]  # of the group; the place where it goes on, None where it does not


@dataclass(slots=True, eq=False)
class VectorSegment:
    """Steps that run without a stop."""

    steps: tuple[Step, ...]
    terminate: Terminator
    reads: tuple[int, ...]  # slots that it reads before it writes them
    writes: int  # slots that it writes, as a mask
    exchange: Any  # its first operation, where that works across the lanes of a warp
    plan: Segment


class Segments(dict[int, VectorSegment]):
    """The segments of a function by their places, made when lanes first come there."""

    def __init__(self, plan: PlanFunction, make: Callable[[Segment, int], VectorSegment]) -> None:
        self.plan = plan
        self.make = make

    def __missing__(self, pc: int) -> VectorSegment:
        made = self[pc] = self.make(self.plan.segments[pc], pc)
        return made


class VectorFunction:
    """A function, ready to run."""

    __slots__ = ("frame_size", "live_in", "name", "plan", "segments", "template", "zeros")

    def __init__(self, plan: PlanFunction, make: Callable[[Segment, int], VectorSegment]) -> None:
        self.plan = plan
        self.name = plan.name
        self.live_in = plan.live_in
        self.frame_size = plan.frame_size
        self.template: list[Value | None] = [*[None] * plan.first_constant, *plan.constants]
        self.zeros: dict[int, Value] = {slot: np.zeros((1, 1), dtype) for slot, dtype in plan.zeros.items()}
        self.segments = Segments(plan, make)

    def fresh_registers(self) -> list[Any]:
        """Registers of a part of a group: constants in place, the rest to be fetched."""
        return self.template.copy()

    def enter(self, g: Any, call: Call, registers: list[Any], base: int) -> list[tuple[int, Home]]:
        """Lanes of g call it: an observed function may take along more than arguments, and give more than results.

        These are (callee's slot, caller's register).
        """
        return []

    def entry_registers(self, poison: Poison | None, shape: tuple[int, int]) -> list[Any]:
        """Registers at the start of the function: those read before they are written hold zeros, or poison."""
        registers = self.template.copy()
        for slot, zero in self.zeros.items():
            registers[slot] = zero
        if poison is not None:
            poison.registers(registers, self.zeros, shape)
        return registers
