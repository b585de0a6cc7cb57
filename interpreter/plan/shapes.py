"""What instructions of the same words and kinds of operands share: what they read and write, what dtypes they want, where lanes may stop.

A program has thousands of instructions and a few dozen shapes: each is looked at once in a process, with roles.py, and Known says it of one
instruction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

from warplab.assembler.ir import (
    Address,
    Immediate,
    Instruction,
    Operand,
    Register,
    SpecialRegister,
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
    operand_roles,
    operand_type,
    places,
    registers_of,
    stands_alone,
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
class ShapeFacts:
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
    facts: ShapeFacts
    registers: list[Register]
    read: list[int]  # by Register.index
    written: list[int]


_unguarded: dict[Shape, ShapeFacts] = {}  # as many as there are kinds of instructions
_guarded: dict[Shape, ShapeFacts] = {}


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


def _facts(i: Instruction) -> ShapeFacts:
    numbers: list[range] = []  # of the registers in each operand
    end = 0
    for op in i.operands:
        numbers.append(range(end, end := end + len(list(registers_of(op)))))
    read, written, kills = operand_roles(i)
    carries = i.guard is None and carries_pointer(i)
    return ShapeFacts(
        (*([end] if i.guard is not None else []), *chain.from_iterable([numbers[n] for n in read])),
        tuple(chain.from_iterable([numbers[n] for n in written])),
        kills,
        tuple(_votes(i, numbers)),
        tuple([numbers[n][0] for n, op in enumerate(i.operands) if _is_based_on_register(op)]),
        (numbers[0][0], tuple(_sources_of_address(i, numbers))) if carries else None,
        is_stop(i),
        needs_lanes(i),
        stands_alone(i),
        ends_block(i),
    )


def _votes(i: Instruction, numbers: Sequence[range]) -> Iterator[tuple[int, str]]:
    """Registers of the size that their place wants, where the dtype matters."""
    if i.form is None or i.opcode in CALLS:
        return
    free = is_sign_free(i)
    for op, place, own in zip(i.operands, places(i.form, i.operands), numbers, strict=False):
        t = operand_type(i, place) if not place.address else None
        if t is not None and t.elements == 1 and not (free and t.is_integer):
            wanted = [n for n, r in zip(own, registers_of(op), strict=True) if r.type.bytes == t.bytes == t.dtype.itemsize]
            yield from [(n, t.dtype.str) for n in wanted]


def _is_based_on_register(op: Operand) -> bool:
    return isinstance(op, Address) and isinstance(op.base, Register) and op.base.type.bytes >= 4


def _sources_of_address(i: Instruction, numbers: Sequence[range]) -> Iterator[int]:
    """The registers that an address which is handed on may come from."""
    d = i.operands[0]
    assert isinstance(d, Register)
    for op, own in zip(i.operands[1:], numbers[1:], strict=True):
        if isinstance(op, Register) and op.type.bytes == d.type.bytes:
            yield own[0]
