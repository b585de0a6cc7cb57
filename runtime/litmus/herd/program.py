"""A litmus test as a value: threads of few instructions, what registers and locations hold at first, and the condition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from warplab.interpreter.litmus.events import GENERIC, PLAIN, Location, Thread
from warplab.interpreter.order import MemoryOrder

from .conditions import HerdCondition

Operand = int | str  # a number, or the name of a register
Kind = Literal["load", "store", "atomic", "fence", "barrier", "compute", "branch"]
BYTES = 8  # of each location and register


@dataclass(frozen=True, slots=True)
class HerdInstruction:
    """One instruction; what it has none of is empty."""

    kind: Kind
    text: str
    line: int
    order: MemoryOrder = PLAIN
    proxy: str = GENERIC
    name: str = ""  # of the location that is accessed; the instance of a barrier
    result: str = ""  # a register
    operation: str = ""  # of an atomic operation, a computation, the comparison of a branch; sync or arrive
    operands: tuple[Operand, ...] = ()
    target: int = 0  # of a branch: the position of the next instruction

    @property
    def reads(self) -> Iterator[str]:
        """The registers that it reads."""
        return (o for o in self.operands if isinstance(o, str))


@dataclass(frozen=True, slots=True)
class HerdPlace:
    """What a name of the test stands for: a location, and which of its addresses."""

    location: Location
    address: str = ""


@dataclass(frozen=True, slots=True)
class HerdThread:
    """One column of the test."""

    where: Thread
    instructions: tuple[HerdInstruction, ...]
    registers: Mapping[str, int]  # what they hold at first; the others 0


@dataclass(frozen=True, slots=True)
class HerdTest:
    """One .litmus file."""

    name: str
    threads: tuple[HerdThread, ...]
    places: Mapping[str, HerdPlace]
    first: Mapping[Location, int]
    condition: HerdCondition
    shown: tuple[str, ...]  # names that are listed beside those of the condition


def register(thread: int, name: str) -> Location:
    """What stands for a register where outcomes are named by locations."""
    return f"register P{thread}:{name}", 0, BYTES


def signed(bits: int) -> int:
    """The number that a register's bits stand for."""
    return bits - (1 << 64) if bits >> 63 else bits
