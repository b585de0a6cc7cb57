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

from .chunks import Chunk, TextBlock
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
from .making import TextInstruction

# An accumulator that the instruction also reads.
READS_ITS_DESTINATION = opcodes("reads_destination")
_NAMELESS = frozenset({Register, Immediate, SpecialRegister, Label, Sink, Element, Negated})
INSTRUCTIONS = frozenset({Instruction, TextInstruction})
PLAIN = INSTRUCTIONS | {Label, Location}


@dataclass(eq=False, repr=False)
class Listing:
    """The statements of a function's body, inner blocks opened, and what they name."""

    body: Block | None
    chunks: tuple[Chunk, ...]  # what is known by its shapes alone so far
    apart: list[Statement]  # the statements outside of chunks

    @cached_property
    def statements(self) -> list[Statement]:
        """All statements."""
        return flat(self.body.statements) if self.chunks and self.body is not None else self.apart

    @cached_property
    def instructions(self) -> list[Instruction]:
        """The instructions."""
        kinds = set(map(type, self.statements))
        if kinds <= INSTRUCTIONS:
            return self.statements  # type: ignore[return-value]
        return [s for s in self.statements if s.__class__ in INSTRUCTIONS]

    @cached_property
    def loose(self) -> list[Statement]:
        """The other statements outside of chunks, but for labels and .loc: all but the registers and parameters that are declared in blocks."""
        return [s for s in self.apart if s.__class__ not in PLAIN]

    @cached_property
    def rest(self) -> list[Statement]:
        """The other statements, but for labels and .loc."""
        if not any(chunk.turns for chunk in self.chunks):
            return self.loose
        return [s for s in self.statements if s.__class__ not in PLAIN]

    @cached_property
    def operands(self) -> list[tuple[Operand, ...]]:
        """The operands of each instruction."""
        return [s.operands for s in self.instructions]

    @cached_property
    def others(self) -> dict[int, Operand]:
        """The different operands that are no registers, by identity, in the order of the text."""
        return {id(o): o for o in chain.from_iterable(self.operands) if o.__class__ is not Register}

    @cached_property
    def naming(self) -> list[Operand]:
        """The different operands that may name variables or functions."""
        found = {id(o): o for s in self.apart if s.__class__ in INSTRUCTIONS for o in s.operands}
        out = [
            o
            for o in found.values()
            if o.__class__ not in _NAMELESS and not (o.__class__ is Address and o.base.__class__ is Register and not o.parts)
        ]
        for chunk in self.chunks:
            out += chunk.naming()
        return out

    def on_parameters(self, opcodes: Collection[str], words: Collection[str], guarded: bool) -> Iterator[Instruction]:
        """The accesses to .param with one of these opcodes, those outside of chunks first; of chunks only those with a guard, or with one of
        some words in their text."""
        yield from [s for s in self.apart if isinstance(s, Instruction) and s.opcode in opcodes and _on_parameters(s.modifiers)]
        for chunk in self.chunks:
            kinds = [r for r in chunk.kinds if r.opcode in opcodes and (r.guard >= 0 or not guarded) and _on_parameters(r.modifiers)]
            if kinds:
                wanted = set(kinds)
                rows = [i for i, recipe in enumerate(chunk.recipes) if recipe in wanted]
                yield from [chunk.instruction(i) for i in rows if guarded or any(word in chunk.text(i) for word in words)]

    @cached_property
    def forms(self) -> dict[int, Form]:
        """The different forms, by identity."""
        return {id(s.form): s.form for s in self.instructions if s.form is not None}

    @cached_property
    def opcodes(self) -> frozenset[str]:
        """The opcodes of the instructions."""
        return frozenset([s.opcode for s in self.apart if s.__class__ in INSTRUCTIONS]).union(
            *[[r.opcode for r in c.kinds] for c in self.chunks]
        )

    @cached_property
    def inside(self) -> dict[int, tuple[Register, ...]]:
        """The registers in the operands that are no registers themselves, by the operand's identity; only of those that have any."""
        return {i: found for i, o in self.others.items() if (found := registers_in(o))}

    @cached_property
    def results(self) -> list[Operand | None]:
        """What each instruction writes: its first operand where that is a result; None also for calls."""
        writing = {i for i, f in self.forms.items() if has_results(f) and f.opcode not in CALLS}
        return [
            s.operands[0] if id(s.form) in writing and s.operands and s.operands[0].__class__ is not Address else None
            for s in self.instructions
        ]

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


def _on_parameters(modifiers: Collection[str]) -> bool:
    return "param" in modifiers or "param::func" in modifiers


def listing(function: Function) -> Listing:
    """The listing of a function, made at the first call."""
    known = function.listing
    if not isinstance(known, Listing) or known.body is not function.body:
        body = function.body
        parts = body.parts if isinstance(body, TextBlock) else body.statements if body is not None else ()
        chunks = tuple([p for p in parts if isinstance(p, Chunk)])
        apart = [p for p in parts if not isinstance(p, Chunk)]
        known = function.listing = Listing(body, chunks, flat(apart))
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
