"""What instructions of the same words and kinds of operands share: what they read and write, what dtypes they want, where lanes may stop.

A program has thousands of instructions and a few dozen shapes: each is looked at once in a process, with roles.py, and Known says it of one
instruction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from warplab.assembler.ir import (
    Address,
    Arguments,
    Element,
    Immediate,
    Instruction,
    Minus,
    Negated,
    Operand,
    Pair,
    Plus,
    Register,
    SpecialRegister,
    Variable,
    Vector,
)
from warplab.assembler.shapes import Shape
from warplab.isa.control import CALLS
from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import ScalarType

from .plan import Meaning
from .roles import (
    carries_pointer,
    ends_block,
    is_sign_free,
    is_stop,
    needs_lanes,
    operand_type,
    places,
    registers_of,
    stands_alone,
    uses,
)


@dataclass(slots=True, eq=False)
class At:
    """An operand place and what stands there."""

    place: Place
    type: ScalarType | None  # None for addresses and constants
    plain: bool  # a register of one slot, read and written as it is where it is kept in the dtype that is wanted
    single: bool  # such a register where the meaning takes or gives a tuple
    common: bool  # works in the one dtype of a sign-free instruction


@dataclass(slots=True, eq=False)
class OpFacts:
    """A shape as its operations are planned."""

    # The row that the operands fit, where it is not the instruction's own, and where more is asked of it than stands here.
    refitted: Form | None
    route: str  # "pack" "move" "effect" "unsupported" or "meaning"
    hands_on: bool  # an address
    meaning: Meaning
    how: str = ""  # see Op
    free: ScalarType | None = None  # the type of an instruction that is free of its sign
    takes_pair: bool = False  # the meaning knows whether both halves are wanted
    writes: bool = False  # the first operand
    reads_destination: bool = False
    scalar: int | None = None  # of ld and st: which operand is the register, where it is a single one
    places: tuple[At, ...] = ()


@dataclass(slots=True, eq=False)
class Facts:
    """What is true of all instructions of a shape; numbers count the registers in the operands from the left, the guard comes last."""

    read: tuple[int, ...]
    written: tuple[int, ...]
    kills: bool  # what the written registers held before is gone
    votes: tuple[tuple[int, str], ...]  # registers, and the dtype that this use wants
    addresses: tuple[int, ...]  # registers that are the base of an address
    hands_on: tuple[int, tuple[int, ...]] | None  # the register that is given an address, and those it may come from
    is_stop: bool
    needs_lanes: bool
    stands_alone: bool
    ends_block: bool
    ops: dict[tuple[bool, ...], OpFacts] = field(default_factory=dict)  # see meanings.op_facts, which fills it


@dataclass(slots=True, eq=False)
class Known:
    """An instruction, the facts of its shape and the registers in its operands."""

    instruction: Instruction
    facts: Facts
    registers: list[Register]
    read: list[int]  # by Register.index
    written: list[int]


_unguarded: dict[Shape, Facts] = {}  # as many as there are kinds of instructions
_guarded: dict[Shape, Facts] = {}


def known(i: Instruction) -> Known:
    """What its shape says of an instruction."""
    registers: list[Register] = []
    for op in i.operands:
        kind = op.__class__
        if kind is Register:
            registers.append(op)  # type: ignore[arg-type]
        elif kind is not Immediate and kind is not SpecialRegister:
            registers.extend(registers_of(op))
    kept = _unguarded
    if i.guard is not None:
        registers.append(i.guard)
        kept = _guarded
    facts = kept.get(i.shape)
    if facts is None:
        facts = kept[i.shape] = _facts(i)
    return Known(i, facts, registers, [registers[n].index for n in facts.read], [registers[n].index for n in facts.written])


def _numbered(op: Operand, made: list[Register]) -> Operand:
    """The operand with registers in place of its own that are numbered from the left, so that equal ones can be told apart."""

    def fresh(r: Register) -> Register:
        made.append(replace(r, index=len(made)))
        return made[-1]

    match op:
        case Register():
            return fresh(op)
        case Address():
            base = op.base
            if isinstance(base, Register):
                base = fresh(base)
            elif isinstance(base, Element):
                base = replace(base, register=fresh(base.register))
            return replace(op, base=base, parts=tuple([_numbered(part, made) for part in op.parts]))
        case Vector() | Arguments():
            return replace(op, elements=tuple([_numbered(e, made) for e in op.elements]))
        case Pair():
            first = _numbered(op.first, made)
            return replace(op, first=first, second=_numbered(op.second, made))
        case Minus(operand=Element() as element):
            return Minus(replace(element, register=fresh(element.register)))
        case Minus(operand=Register() as register):
            return Minus(fresh(register))
        case Element() | Negated() | Plus():
            return replace(op, register=fresh(op.register))
        case Variable(register=Register() as register):
            return replace(op, register=fresh(register))
        case _:
            return op


def _facts(given: Instruction) -> Facts:
    made: list[Register] = []
    operands = tuple([_numbered(op, made) for op in given.operands])
    guard = None if given.guard is None else replace(given.guard, index=len(made))
    i = replace(given, operands=operands, guard=guard)
    read, written, kills = uses(i)
    carries = guard is None and carries_pointer(i)
    return Facts(
        tuple([r.index for r in read]),
        tuple([r.index for r in written]),
        kills,
        tuple(_votes(i)),
        tuple([o.base.index for o in operands if isinstance(o, Address) and isinstance(o.base, Register) and o.base.type.bytes >= 4]),
        _handed_on(i) if carries else None,
        is_stop(i),
        needs_lanes(i),
        stands_alone(i),
        ends_block(i),
    )


def _votes(i: Instruction) -> Iterator[tuple[int, str]]:
    """Registers of the size that their place wants, where the dtype matters."""
    if i.form is None or i.opcode in CALLS:
        return
    free = is_sign_free(i)
    for op, place in zip(i.operands, places(i.form, i.operands), strict=False):
        t = operand_type(i, place) if not place.address else None
        if t is not None and t.elements == 1 and not (free and t.is_integer):
            yield from [(r.index, t.dtype.str) for r in registers_of(op) if r.type.bytes == t.bytes == t.dtype.itemsize]


def _handed_on(i: Instruction) -> tuple[int, tuple[int, ...]]:
    d = i.operands[0]
    assert isinstance(d, Register)
    return d.index, tuple([op.index for op in i.operands[1:] if isinstance(op, Register) and op.type.bytes == d.type.bytes])
