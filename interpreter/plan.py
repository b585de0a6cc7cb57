"""From a checked function to what the engine runs: registers to slots, basic blocks to segments of steps.

A segment is a stretch of instructions that a group runs without stopping; it ends where a block ends, and before and after whatever may
make lanes wait.  Places (pcs) number the segments.  The plan says what must happen, in terms of slots and meanings; how arrays are
handled is lower.py's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from warplab.assembler.flow import READS_ITS_DESTINATION, Flow
from warplab.assembler.ir import (
    Address,
    Arguments,
    Element,
    Function,
    Immediate,
    Instruction,
    Location,
    Minus,
    Negated,
    Operand,
    Pair,
    Register,
    Variable,
    Vector,
)
from warplab.isa.notation import FORMS, Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES, ScalarType

from .values import Value

if TYPE_CHECKING:
    from .exchange import Exchange
    from .group import Group

Step = Callable[[list[Any]], None]
Terminator = Callable[["Group"], "int | None"]

# Integer instructions whose bits do not depend on the sign of their type.
SIGN_FREE = frozenset({"add", "sub", "and", "or", "xor", "not", "mov", "selp", "shl", "neg"})


@dataclass(slots=True, eq=False)
class Site:
    """One instruction of a plan, as messages and observers name it."""

    instruction: Instruction
    location: Location | None
    index: int  # in the program
    function: str


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


# ---------------------------------------------------------------- operands and their roles


def places(form: Form, operands: tuple[Operand, ...]) -> list[Place]:
    """The form's operand places that this instruction fills, in order; optional ones that are missing are left out."""
    have, out = len(operands), list(form.operands)
    for i in reversed(range(len(out))):
        if len(out) <= have:
            break
        if out[i].optional:
            del out[i]
    return out


def fitting(i: Instruction) -> Instruction:
    """The instruction with the row that its operands fit, where several rows share its words."""
    assert i.form is not None
    if fits(i, i.form):
        return i
    for other in FORMS[i.opcode]:
        settled = other.match(i.modifiers) if other is not i.form else None
        if settled is not None and fits(i, other):
            return replace(i, form=other, settled=settled)
    return i


def fits(i: Instruction, form: Form) -> bool:
    """Do an instruction's operands have the number and kinds that a row asks for?"""
    wanted = places(form, i.operands)
    if len(wanted) != len(i.operands):
        return not form.operands  # labels and calls: their rows name no kinds
    for op, place in zip(i.operands, wanted, strict=True):
        if place.address != isinstance(op, Address) or (place.constant and not isinstance(op, Immediate)):
            return False
        if isinstance(place.count, int) and place.count > 1 and not (isinstance(op, Vector) and len(op.elements) == place.count):
            return False
        if place.count == 1 and isinstance(op, Vector) and i.opcode != "mov":
            return False
    return True


def registers_of(op: Operand) -> Iterator[Register]:
    """Every register inside an operand."""
    match op:
        case Register():
            yield op
        case Element() | Negated():
            yield op.register
        case Minus():
            yield from registers_of(op.operand)
        case Pair():
            yield from registers_of(op.first)
            yield from registers_of(op.second)
        case Vector() | Arguments():
            for e in op.elements:
                yield from registers_of(e)
        case Address():
            if isinstance(op.base, Register):
                yield op.base
            elif isinstance(op.base, Element):
                yield op.base.register
            for e in op.parts:
                yield from registers_of(e)
        case Variable() if op.register is not None:
            yield op.register
        case _:
            return


def uses(i: Instruction) -> tuple[list[Register], list[Register], bool]:
    """(registers read, registers written, whether the writes kill what was there)."""
    read: list[Register] = [i.guard] if i.guard else []
    written: list[Register] = []
    kills = i.guard is None
    ops = i.operands
    if i.opcode == "call":
        returns = isinstance(ops[0], Arguments) and len(ops) > 1
        for n, op in enumerate(ops):
            (written if n == 0 and returns else read).extend(registers_of(op))
        return read, written, kills
    if i.opcode in READS_ITS_DESTINATION and ops:
        read.extend(registers_of(ops[0]))
    destination = bool(ops) and i.form is not None and bool(i.form.operands) and places(i.form, ops)[0].is_destination
    for n, op in enumerate(ops):
        if n == 0 and destination:
            written.extend(registers_of(op))
            if isinstance(op, Element) or (isinstance(op, Vector) and any(isinstance(e, Element) for e in op.elements)):
                kills = False
        else:
            read.extend(registers_of(op))
    return read, written, kills


# ---------------------------------------------------------------- homes


def _vote(ballots: dict[int, dict[str, int]], op: Operand, dtype: np.dtype[Any], size: int) -> None:
    for r in registers_of(op):
        if r.type.bytes == size and dtype.itemsize == size:
            tally = ballots.setdefault(r.index, {})
            tally[dtype.name] = tally.get(dtype.name, 0) + 1


def operand_type(i: Instruction, place: Place) -> ScalarType | None:
    """The type that an operand place has in this instruction."""
    assert i.form is not None and i.settled is not None
    return i.form.type_of(place, i.settled)


def is_sign_free(i: Instruction) -> bool:
    """Do the operand's sign and the instruction's bits have nothing to do with each other?"""
    s = i.settled or {}
    if i.opcode in ("mul", "mad"):
        return str(s.get("type", ""))[:1] in ("u", "s") and ("lo" in s or s.get("mode") == "lo" or "lo" in i.modifiers) and "sat" not in s
    return i.opcode in SIGN_FREE and "sat" not in s and "cc" not in i.modifiers and str(s.get("type", ""))[:1] in ("u", "s", "b")


def choose_dtypes(instructions: Iterable[Instruction], pointers: set[int]) -> dict[int, np.dtype[Any]]:
    """For each register the dtype that most of its uses want, so that few need a view."""
    ballots: dict[int, dict[str, int]] = {}
    seen: dict[int, Register] = {}
    for i in instructions:
        for op in i.operands:
            for r in registers_of(op):
                seen[r.index] = r
        if i.guard:
            seen[i.guard.index] = i.guard
        if i.form is None or i.opcode == "call":
            continue
        free = is_sign_free(i)
        for op, place in zip(i.operands, places(i.form, i.operands), strict=False):
            t = operand_type(i, place) if not place.address else None
            if t is not None and t.elements == 1 and not (free and t.is_integer):
                _vote(ballots, op, t.dtype, t.bytes)
    out: dict[int, np.dtype[Any]] = {}
    for index, r in seen.items():
        size = r.type.bytes
        if r.type.name == "pred":
            out[index] = np.dtype(bool)
        elif size > 8:
            out[index] = np.dtype(np.uint64)
        elif index in pointers:
            out[index] = np.dtype(f"u{size}")
        elif tally := ballots.get(index):
            out[index] = np.dtype(max(sorted(tally), key=lambda n: tally[n]))
        else:
            out[index] = r.type.dtype if r.type.elements == 1 and r.type.dtype.itemsize == size else np.dtype(f"u{size}")
    return out


def pointer_registers(instructions: list[Instruction]) -> set[int]:
    """Registers used as addresses, and those that only feed them through add, mov and cvta: they may hold a Shifted."""
    found: set[int] = set()
    for i in instructions:
        for op in i.operands:
            if isinstance(op, Address) and isinstance(op.base, Register) and op.base.type.bytes >= 4:
                found.add(op.base.index)
    changed = True
    while changed:
        changed = False
        for i in instructions:
            if i.guard is None and carries_pointer(i):
                d = i.operands[0]
                assert isinstance(d, Register)
                if d.index in found:
                    for op in i.operands[1:]:
                        if isinstance(op, Register) and op.type.bytes == d.type.bytes and op.index not in found:
                            found.add(op.index)
                            changed = True
    return found


def carries_pointer(i: Instruction) -> bool:
    """add, mov and cvta.global hand an address on."""
    if not i.operands or not isinstance(i.operands[0], Register) or i.settled is None or i.operands[0].type.bytes < 4:
        return False
    t = TYPES.get(str(i.settled.get("type", "")))
    if t is None or not t.is_integer or t.bits < 32:
        return False
    if i.opcode == "add":
        return "sat" not in i.settled and "cc" not in i.modifiers and t.elements == 1
    if i.opcode == "mov":
        return isinstance(i.operands[1], Register)
    return i.opcode == "cvta" and str(i.settled.get("space")) in ("global", "const") and isinstance(i.operands[1], Register)


NDBool = NDArray[np.bool_]
