"""What an instruction does with its operands and with its lanes: the places its row gives them, what it reads and writes, whether it stops."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from warplab.assembler.ir import (
    Address,
    Arguments,
    Element,
    Function,
    Immediate,
    Instruction,
    Minus,
    Negated,
    Operand,
    Pair,
    Plus,
    Register,
    Variable,
    Vector,
)
from warplab.assembler.listing import READS_ITS_DESTINATION
from warplab.isa.control import CALLS
from warplab.isa.notation import FORMS, Form, filled
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES, ScalarType

STOPS = frozenset({"barrier", "warp_barrier", "cluster_wait"})


@functools.cache
def parameters_of(meaning: Callable[..., Any]) -> tuple[str, ...]:
    """The names of a meaning's parameters; the first may be lanes or warps."""
    return tuple(inspect.signature(meaning).parameters)


def works_on(form: Form) -> str:
    """lanes, warps, or something else where a row's meaning is pure."""
    names = () if form.meaning is None else parameters_of(form.meaning)
    return names[0] if names else ""


def only_computes(form: Form | None) -> bool:
    """Does an instruction of this form nothing but give results from its operands?"""
    return form is not None and form.meaning is not None and not form.effect and works_on(form) not in ("lanes", "warps")


def meets_others(i: Instruction) -> bool:
    """Does the order matter in which this instruction and those of other lanes are executed?"""
    if i.form is None or i.form.effect or works_on(i.form) != "lanes":
        return False
    return not {"param", "param::entry", "param::func", "const", "local"} & frozenset(i.modifiers)


def places(form: Form, operands: tuple[Operand, ...]) -> Sequence[Place]:
    """The form's operand places that this instruction fills, in order; optional ones that are missing are left out."""
    return filled(form.operands, len(operands))


def fitting(i: Instruction) -> Instruction:
    """The instruction with the row that its operands fit, where several rows share its words."""
    assert i.form is not None
    if fits(i, i.form):
        return i
    for other in FORMS[i.opcode]:
        settled = other.match(i.modifiers) if other is not i.form else None
        if settled is not None and fits(i, other):
            return i.under(other)
    return i


def fits(i: Instruction, form: Form) -> bool:
    """Do an instruction's operands have the number and kinds that a row asks for?"""
    wanted, settled = places(form, i.operands), (i.settled if form is i.form else form.match(i.modifiers)) or {}
    if len(wanted) != len(i.operands):
        return not form.operands  # labels and calls: their rows name no kinds
    for op, place in zip(i.operands, wanted, strict=True):
        if place.address != isinstance(op, Address) or (place.constant and not isinstance(op, Immediate)):
            return False
        if isinstance(place.count, int) and place.count > 1 and not (isinstance(op, Vector) and len(op.elements) == place.count):
            return False
        if place.count == 1 and isinstance(op, Vector) and not form.facts.widest_pack:
            return False
        if isinstance(op, Register) and op.type.kind == "p" and (kind := form.type_of(place, settled)) is not None and kind.kind != "p":
            return False
    return True


def registers_of(op: Operand) -> Iterator[Register]:
    """Every register inside an operand."""
    match op:
        case Register():
            yield op
        case Element() | Negated() | Plus():
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


def operand_roles(i: Instruction) -> tuple[list[int], list[int], bool]:
    """(operands read, operands written, whether the writes kill what was there), by their number."""
    ops = i.operands
    every = list(range(len(ops)))
    if i.opcode in CALLS:
        results = int(isinstance(ops[0], Arguments) and len(ops) > 1)
        return every[results:], every[:results], i.guard is None
    if not ops or i.form is None or not i.form.operands or not places(i.form, ops)[0].is_destination:
        return every, [], i.guard is None
    d = ops[0]
    in_part = isinstance(d, Element) or (isinstance(d, Vector) and any(isinstance(e, Element) for e in d.elements))
    return every if i.opcode in READS_ITS_DESTINATION else every[1:], every[:1], i.guard is None and not in_part


def uses(i: Instruction) -> tuple[list[Register], list[Register], bool]:
    """(registers read, registers written, whether the writes kill what was there)."""
    read, written, kills = operand_roles(i)
    inside = [[r for n in some for r in registers_of(i.operands[n])] for some in (read, written)]
    return [*([i.guard] if i.guard else []), *inside[0]], inside[1], kills


def operand_type(i: Instruction, place: Place) -> ScalarType | None:
    """The type that an operand place has in this instruction."""
    assert i.form is not None and i.settled is not None
    return i.form.type_of(place, i.settled)


def is_sign_free(i: Instruction) -> bool:
    """Do the operand's sign and the instruction's bits have nothing to do with each other?"""
    rule = i.form.facts.sign_free if i.form is not None else None
    t = TYPES.get(str((i.settled or {}).get("type", "")))
    return rule is not None and t is not None and t.is_integer and rule.holds(i.modifiers)


def carries_pointer(i: Instruction) -> bool:
    """Does it hand an address on, as add, mov and cvta.global do?"""
    if not i.operands or not isinstance(i.operands[0], Register) or i.settled is None or i.operands[0].type.bytes < 4:
        return False
    rule = i.form.facts.passes_address if i.form is not None else None
    t = TYPES.get(str(i.settled.get("type", "")))
    if rule is None or t is None or not t.is_integer or t.bits < 32 or not rule.holds(i.modifiers):
        return False
    return t.elements == 1 if len(i.operands) > 2 else isinstance(i.operands[1], Register)


def observes_changes(i: Instruction) -> bool:
    """Does it ask memory for what other threads have changed: an atomic operation, or a load that no register or cache may answer?"""
    rule = i.form.facts.observes_changes if i.form is not None else None
    return rule is not None and rule.holds(i.modifiers)


def is_generic(i: Instruction) -> bool:
    """An access whose words name no state space."""
    assert i.form is not None and i.settled is not None
    return i.form.meaning is not None and "ss" in parameters_of(i.form.meaning) and not i.settled.keys() & {"ss", "global"}


# ---------------------------------------------------------------- where lanes may stop


def is_stop(i: Instruction) -> bool:
    """May lanes have to wait here?"""
    return (i.form is not None and i.form.effect in STOPS) or needs_lanes(i)


def needs_lanes(i: Instruction) -> bool:
    """Instructions that execute once the lanes of their mask, or of their whole warp, are there."""
    if i.form is None or i.form.effect:
        return False
    return "sync" in i.modifiers and works_on(i.form) == "warps"


def stands_alone(i: Instruction) -> bool:
    """Instructions that a part of a group may have to begin again: nothing else may be in their segment."""
    if i.form is None or not i.form.effect:
        return False
    if i.form.effect == "call":
        return i.guard is not None or not isinstance(i.operands[0], Function)
    number = next((o for o in i.operands if isinstance(o, Register | Immediate)), None)
    return i.form.effect in STOPS and (i.guard is not None or (i.form.effect == "barrier" and isinstance(number, Register)))


def ends_block(i: Instruction) -> bool:
    """Control leaves the block here."""
    return i.form is not None and i.form.effect in ("branch", "branch_table", "call", "return", "exit", "trap")
