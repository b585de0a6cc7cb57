"""One function's instructions in columns, made once: what many readers ask of all instructions, answered without a loop in Python for each.

Operands are told apart by identity: the parser makes one node of a text in a scope, so the different ones are few.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from warplab.isa.control import CALLS
from warplab.isa.facts import opcodes
from warplab.isa.notation import Form

from .ir import (
    Address,
    Arguments,
    Block,
    Element,
    Function,
    Immediate,
    Instruction,
    Label,
    Location,
    Minus,
    Negated,
    Operand,
    Pair,
    Plus,
    Register,
    Sink,
    SpecialRegister,
    Statement,
    Variable,
    Vector,
)
from .shapes import Shape

# An accumulator that the instruction also reads.
READS_ITS_DESTINATION = opcodes("reads_destination")
_NAMELESS = frozenset({Register, Immediate, SpecialRegister, Label, Sink, Element, Negated})
PLAIN = frozenset({Instruction, Label, Location})


@dataclass(eq=False, repr=False)
class Listing:
    """The statements of a function's body, inner blocks opened, and what they name."""

    body: Block | None
    statements: list[Statement]

    @cached_property
    def instructions(self) -> list[Instruction]:
        """The instructions."""
        return [s for s in self.statements if s.__class__ is Instruction]

    @cached_property
    def rest(self) -> list[Statement]:
        """The other statements, but for labels and .loc."""
        return [s for s in self.statements if s.__class__ not in PLAIN]

    @cached_property
    def shapes(self) -> dict[Shape, Instruction]:
        """The different shapes, each with an instruction that has it."""
        return {s.shape: s for s in self.instructions}

    @cached_property
    def operands(self) -> list[tuple[Operand, ...]]:
        """The operands of each instruction."""
        return [s.operands for s in self.instructions]

    @cached_property
    def others(self) -> dict[int, Operand]:
        """The different operands that are not registers, by identity, in the order of the text."""
        return {id(o): o for o in chain.from_iterable(self.operands) if o.__class__ is not Register}

    @cached_property
    def naming(self) -> list[Operand]:
        """The different operands that may name variables or functions."""
        wanted = {shape for shape, s in self.shapes.items() if any(map(_may_name, s.operands))}
        found = {id(o): o for s in self.instructions if s.shape in wanted for o in s.operands} if wanted else {}
        return [o for o in found.values() if _may_name(o)]

    def shapes_of(self, opcodes: Collection[str]) -> set[Shape]:
        """The shapes with one of these opcodes."""
        return {s for s in self.shapes if s.opcode in opcodes}

    def on_parameters(self, opcodes: Collection[str]) -> list[Instruction]:
        """The accesses to .param with one of these opcodes."""
        wanted = {s for s in self.shapes_of(opcodes) if not {"param", "param::func"}.isdisjoint(s.modifiers)}
        return [s for s in self.instructions if s.shape in wanted] if wanted else []

    @cached_property
    def opcodes(self) -> frozenset[str]:
        """The opcodes of the instructions."""
        return frozenset([s.opcode for s in self.shapes])

    @cached_property
    def inside(self) -> dict[int, tuple[Register, ...]]:
        """The registers in the operands that are not registers themselves, by the operand's identity; only of those that have any."""
        return {i: found for i, o in self.others.items() if (found := registers_in(o))}

    @cached_property
    def results(self) -> list[Operand | None]:
        """What each instruction writes: its first operand where that is a result; None also for calls."""
        writing = {shape for shape, s in self.shapes.items() if _writes(s)}
        return [s.operands[0] if s.shape in writing else None for s in self.instructions]

    @cached_property
    def sources(self) -> list[tuple[Operand, ...]]:
        """What each instruction reads, its guard aside."""
        found = [o if r is None else o[1:] for o, r in zip(self.operands, self.results, strict=True)]
        if not self.opcodes.isdisjoint(READS_ITS_DESTINATION):
            found = [o if s.opcode in READS_ITS_DESTINATION else f for s, o, f in zip(self.instructions, self.operands, found, strict=True)]
        return found

    @cached_property
    def used(self) -> set[int]:
        """The identities of all registers that instructions name, among others."""
        found = set(map(id, chain.from_iterable(self.operands)))
        found.update([id(s.guard) for s in self.instructions if s.guard is not None])
        found.update(map(id, chain.from_iterable(self.inside.values())))
        return found

    def touching(self, registers: set[int]) -> list[Instruction]:
        """The instructions that name one of these registers, given by identity."""
        wanted = registers | {i for i, found in self.inside.items() if not registers.isdisjoint(map(id, found))}
        return [
            s
            for s, o in zip(self.instructions, self.operands, strict=True)
            if not wanted.isdisjoint(map(id, o)) or id(s.guard) in registers
        ]


def _may_name(o: Operand) -> bool:
    """Can an operand name a variable or function?"""
    return o.__class__ not in _NAMELESS and not (o.__class__ is Address and o.base.__class__ is Register and not o.parts)


def _writes(s: Instruction) -> bool:
    """Is the first operand a result?"""
    return (
        s.form is not None and s.opcode not in CALLS and has_results(s.form) and bool(s.operands) and s.operands[0].__class__ is not Address
    )


def listing(function: Function) -> Listing:
    """The listing of a function, made at the first call."""
    known = function.listing
    if not isinstance(known, Listing) or known.body is not function.body:
        body = function.body
        known = function.listing = Listing(body, flat(body.statements) if body is not None else [])
    return known


def flat(statements: Sequence[Statement]) -> list[Statement]:
    """Statements with inner blocks opened."""
    if Block not in set(map(type, statements)):
        return list(statements)
    out: list[Statement] = []
    stack = [iter(statements)]
    while stack:
        for s in stack[-1]:
            if s.__class__ is Block:
                stack.append(iter(s.statements))
                break
            out.append(s)
        else:
            stack.pop()
    return out


def has_results(form: Form) -> bool:
    """Does the form write its first operand?"""
    return bool(form.operands) and form.operands[0].is_destination


def leaves(operand: Operand) -> Iterator[Operand]:
    """What an operand is made of."""
    stack: list[Operand] = [operand]
    while stack:
        match stack.pop():
            case Vector(elements) | Arguments(elements):
                stack += reversed(elements)
            case Pair(first, second):
                stack += (second, first)
            case Address(base, _, parts):
                stack += reversed(parts)
                if base is not None:
                    yield base
            case leaf:
                yield leaf


def registers_of(leaf: Operand) -> Iterator[Register]:
    """The register that a leaf stands for, if any."""
    match leaf:
        case Register():
            yield leaf
        case Element(register, _) | Negated(register) | Plus(register, _):
            yield register
        case Minus(operand):
            yield from registers_of(operand)
        case Variable(register=Register() as register):
            yield register
        case _:
            pass


def registers_in(operand: Operand) -> tuple[Register, ...]:
    """All registers in an operand."""
    if operand.__class__ is Address and not operand.parts:
        base = operand.base
        return (base,) if base.__class__ is Register else () if base is None else tuple(registers_of(base))
    return tuple([r for leaf in leaves(operand) for r in registers_of(leaf)])
