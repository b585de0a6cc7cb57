"""From a checked function to what the engine runs: registers to slots, basic blocks to segments of steps.

A segment is a stretch of instructions that a group runs without stopping; it ends where a block ends, and before and after whatever may
make lanes wait.  Places (pcs) number the segments.  The plan says what must happen, in terms of slots and meanings; how arrays are
handled is lower.py's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from warplab.assembler.flow import Flow
from warplab.assembler.ir import (
    Function,
    Instruction,
    Location,
)

from ..vector.values import Value

if TYPE_CHECKING:
    from ..vector.exchange import Exchange
    from ..vector.group import Group

Step = Callable[[list[Any]], None]
Terminator = Callable[["Group"], "int | None"]


@dataclass(frozen=True, slots=True)
class Manner:
    """In which of its ways a function is to run."""

    observed: bool = False  # it announces every instruction
    first_generation: bool = False  # of devices, which calculates otherwise
    lockstep: bool = False  # no lane passes others of its warp by


QUIET = Manner()


@dataclass(slots=True, eq=False)
class Site:
    """One instruction of a plan, as messages and observers name it."""

    instruction: Instruction
    location: Location | None
    function: str

    @property
    def index(self) -> int:
        """Where in the program it stands."""
        return self.instruction.span.start


@dataclass(slots=True, eq=False)
class Segment:
    """Instructions that run without a stop."""

    block: int
    steps: tuple[Step, ...] = ()
    sites: tuple[Site, ...] = ()  # one a step
    terminate: Terminator | None = None
    end: Site | None = None  # of the terminating instruction
    reads: tuple[int, ...] = ()  # slots that it reads before it writes them
    writes: int = 0  # slots that it writes, as a mask
    length: int = 0  # instructions, the terminator included
    exchange: Exchange | None = None  # its first instruction, where that works across the lanes of a warp


@dataclass(slots=True)
class Home:
    """Where a register lives: its first slot, how many, and the dtype its bits are kept in."""

    slot: int
    width: int
    dtype: np.dtype[Any]
    pointer: bool = False  # may hold a Shifted


@dataclass(slots=True, eq=False)
class PlanFunction:
    """A function, ready to run."""

    function: Function
    flow: Flow
    segments: list[Segment] = field(default_factory=list)
    first: list[int] = field(default_factory=list)  # block -> its first segment
    live_in: list[int] = field(default_factory=list)  # segment -> live slots; the last entry is for EXIT
    homes: dict[int, Home] = field(default_factory=dict)  # by Register.index
    template: list[Value | None] = field(default_factory=list)
    zeros: dict[int, Value] = field(default_factory=dict)  # slots that may be read before they are written
    frame: dict[int, int] = field(default_factory=dict)  # id(Variable) -> offset in its frame
    frame_size: int = 0
    wanted: int = 0  # the registers whose value at the start may be read, as a mask of Register.index
    loops_spin: dict[int, int] = field(default_factory=dict)  # block of a loop header -> turns before it counts as spinning

    @property
    def name(self) -> str:
        return self.function.name

    def fresh_registers(self) -> list[Any]:
        """Registers of a part of a group: constants in place, the rest to be fetched."""
        return self.template.copy()

    def entry_registers(self) -> list[Any]:
        """Registers at the start of the function: those read before they are written hold zeros."""
        registers = self.template.copy()
        for slot, zero in self.zeros.items():
            registers[slot] = zero
        return registers
