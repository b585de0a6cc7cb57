"""Variables of .local that ptxas keeps in registers: all that is done with them are loads and stores at constant places.

Each place becomes a register of its own, behind those of the function, while it is asked which products are fused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise

from warplab.assembler.flow import Flow
from warplab.assembler.ir import Address, Instruction, Operand, Register, Variable, Vector
from warplab.isa.types import TYPES

from ..plan.shapes import Known
from .constants import Constants, Place
from .interruptions import LOOKING_ANEW

Copies = dict[int, list[tuple[int, int]]]  # what an instruction moves between registers, by its identity: (to, from)
FOLLOWED = 16  # instructions between a variable and an access through a register


@dataclass(frozen=True, slots=True)
class LocalAccess:
    """A load or store at a constant place of a variable."""

    instruction: Instruction
    variable: Variable
    offset: int
    size: int  # bytes of each element
    elements: tuple[Operand, ...]


def in_registers(flow: Flow, known: Mapping[int, Known], constants: Constants) -> tuple[Mapping[int, Known], Copies]:
    """What is known of the instructions once such places are registers, and what the loads and stores among them copy."""
    if not any(_is_local(k.instruction) for k in known.values()):
        return known, {}
    accesses: list[LocalAccess] = []
    pointed: set[int] = set()  # variables of which more is done, by identity
    for b in flow.depth_first:
        for n, i in enumerate(flow.blocks[b].instructions):
            found = _access(i, constants, (b, n))
            if found is None and _is_local(i):
                return known, {}  # it may mean any of them
            if found is not None:
                accesses.append(found)
            elif not _moves_address(i, constants, (b, n)):
                pointed |= {id(v) for v in _variables(i, constants, (b, n))}
    pointed |= set(_overlapping(accesses))
    kept = [a for a in accesses if id(a.variable) not in pointed]
    return _renamed(kept, known, len(flow.function.registers)) if kept else (known, {})


def _is_local(i: Instruction) -> bool:
    return i.opcode in ("ld", "st") and "local" in i.modifiers


def _place(op: object, constants: Constants, at: Place) -> tuple[Variable, int] | None:
    """A variable of .local and an offset, as the text tells it of an operand."""
    offset = 0
    for _ in range(FOLLOWED):
        if isinstance(op, Variable):
            return (op, offset) if op.space == "local" else None
        place = constants.only(op.index, at) if isinstance(op, Register) else None
        if place is None:
            return None
        i = constants.instruction(place)
        if i.opcode == "add" and len(i.operands) == 3 and i.modifiers[-1] in TYPES:
            added = constants.value(i.operands[2], TYPES[i.modifiers[-1]], place)
            if added is None:
                return None
            offset += added
        elif i.opcode != "mov":
            return None
        op, at = i.operands[1], place
    return None


def _access(i: Instruction, constants: Constants, at: Place) -> LocalAccess | None:
    if not _is_local(i) or i.guard is not None or not LOOKING_ANEW.isdisjoint(i.modifiers) or i.settled is None:
        return None
    value, address = i.operands[:2] if i.opcode == "ld" else i.operands[1::-1]
    found = _place(address.base, constants, at) if isinstance(address, Address) else None
    if found is None or not isinstance(address, Address):
        return None
    elements = value.elements if isinstance(value, Vector) else (value,)
    return LocalAccess(i, found[0], found[1] + address.offset, TYPES[str(i.settled["type"])].bytes, elements)


def _moves_address(i: Instruction, constants: Constants, at: Place) -> bool:
    """Does an instruction only make another register of an address, whose accesses are met on their own?"""
    return (
        i.opcode in ("mov", "add")
        and isinstance(i.operands[0], Register)
        and _place(i.operands[0], constants, (at[0], at[1] + 1)) is not None
    )


def _variables(i: Instruction, constants: Constants, at: Place) -> Iterator[Variable]:
    """The variables of .local of which an instruction has the address."""
    for op in i.operands:
        for part in op.elements if isinstance(op, Vector) else [op.base if isinstance(op, Address) else op]:
            found = _place(part, constants, at)
            if found is not None:
                yield found[0]


def _overlapping(accesses: list[LocalAccess]) -> Iterator[int]:
    """Variables of which the same bytes are accessed as different elements."""
    parts: dict[int, set[tuple[int, int]]] = {}
    for a in accesses:
        parts.setdefault(id(a.variable), set()).update([(a.offset + n * a.size, a.size) for n in range(len(a.elements))])
    for v, found in parts.items():
        ordered = sorted(found)
        if any(first + size > second for (first, size), (second, _) in pairwise(ordered)):
            yield v


def _renamed(accesses: list[LocalAccess], known: Mapping[int, Known], registers: int) -> tuple[Mapping[int, Known], Copies]:
    cells: dict[tuple[int, int], int] = {}
    made = dict(known)
    copies: Copies = {}
    for a in accesses:
        own = [cells.setdefault((id(a.variable), a.offset + n * a.size), registers + len(cells)) for n in range(len(a.elements))]
        named = [(cell, r) for cell, r in zip(own, a.elements, strict=True) if isinstance(r, Register)]
        whole = [(cell, r.index) for cell, r in named if r.type.bits == 8 * a.size and r.vector == 1]
        k = known[id(a.instruction)]
        if a.instruction.opcode == "ld":
            read, written = own, [r.index for _, r in named]
            copies[id(a.instruction)] = [(index, cell) for cell, index in whole]
        else:
            read, written = [r.index for _, r in named], own
            copies[id(a.instruction)] = whole
        made[id(a.instruction)] = Known(k.instruction, replace(k.facts, kills=True), k.registers, read, written)
    return made, copies
