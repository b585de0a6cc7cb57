"""What the steps of all instructions of a shape have in common: the row, the meaning with its modifiers settled, what each operand is.

It is worked out once a shape; an instruction adds its slots and constants.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warplab.assembler.ir import Element, Instruction, Minus, Operand, Pair, Register, Vector
from warplab.assembler.listing import READS_ITS_DESTINATION
from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.ops.data import ld, st
from warplab.isa.types import TYPES, ScalarType

from ..vector.steps import by_name
from .roles import carries_pointer, fitting, is_sign_free, operand_type, parameters_of, places, works_on


@dataclass(slots=True, eq=False)
class At:
    """An operand place and what stands there."""

    place: Place
    type: ScalarType | None  # None for addresses and constants
    plain: bool  # a register of one slot, read and written as it is where it is kept in the dtype that is wanted
    single: bool  # such a register where the meaning takes or gives a tuple
    common: bool  # works in the one dtype of a sign-free instruction


@dataclass(slots=True, eq=False)
class Built:
    """A shape as its steps are built."""

    # The row that the operands fit, where it is not the instruction's own, and where more is asked of it than stands here.
    refitted: tuple[Form, dict[str, str | bool]] | None
    route: str  # "pack" "move" "effect" or "meaning"
    hands_on: bool  # an address
    meaning: Callable[..., Any] | None
    works_on: str  # "lanes" "warps" or something else
    carry: str
    free: ScalarType | None  # the type of an instruction that is free of its sign
    takes_pair: bool  # the meaning knows whether both halves are wanted
    writes: bool  # the first operand
    reads_destination: bool
    accesses: tuple[str, ScalarType, int] | None  # the space, type and number of elements of ld and st
    loads: bool
    scalar: int | None  # of ld and st: which operand is the register, where it is a single one
    places: tuple[At, ...]
    varies: bool  # the meaning depends on more than the shape: a sign, a part of a register


def built(given: Instruction, *, first_generation: bool, flushes: bool) -> Built:
    """Looks at an instruction; the first generation of devices calculates otherwise, and what was written for it has no subnormal singles."""
    i = with_elements(fitting(given))
    form, settled = i.form, i.settled
    assert form is not None and settled is not None
    refitted = (form, settled) if form is not given.form else None
    whole = i.opcode == "mov" and "vec" not in settled
    route = (
        "pack" if whole and any(isinstance(o, Vector) for o in i.operands) else "move" if whole else "effect" if form.effect else "meaning"
    )
    works = works_on(form)
    hands_on = i.guard is None and carries_pointer(i)
    if form.effect or form.meaning is None or route == "pack":
        return Built(refitted, route, hands_on, None, works, "", None, False, False, False, None, False, None, (), False)
    named = parameters_of(form.meaning)
    filled = places(form, i.operands)
    free = TYPES[str(settled["type"])] if is_sign_free(i) and works not in ("lanes", "warps") else None
    extra = dict(_parts(i, filled, named))
    varies = bool(extra) or any(isinstance(o, Minus | Element) for o in i.operands)
    if flushes and "ftz" in named and "f32" in i.modifiers and settled.get("ctype") != "s32":  # which slct looks at instead
        extra["ftz"] = True
    if first_generation and "capability_1" in named:  # which cuts the product of mad.f32
        extra["capability_1"] = True
    takes_pair = "pair" in named
    if takes_pair and not isinstance(i.operands[0], Pair):
        extra["pair"] = False
    meaning = form.bind(settled)
    if extra:
        meaning = functools.partial(meaning, **extra)
    writes = bool(filled) and filled[0].is_destination
    optional = [p.name for p in filled if p.optional]
    if optional and len(filled) < len(form.operands):
        meaning = by_name(meaning, [p.name for p in filled[writes:]], optional)
    size = 0 if free is None else free.dtype.itemsize
    ats = tuple([_at(i, op, place, writes and n == 0, size) for n, (op, place) in enumerate(zip(i.operands, filled, strict=True))])
    if route == "meaning" and i.guard is None and not any(p.address for p in filled):
        refitted = None
    reads_destination = i.opcode in READS_ITS_DESTINATION
    loads = form.meaning is ld
    accesses = _accesses(settled) if form.meaning in (ld, st) else None
    scalar = (0 if loads else 1) if accesses is not None and accesses[2] == 1 and len(ats) == 2 else None
    if scalar is not None and not ats[scalar].single:
        scalar = None
    return Built(
        refitted, route, hands_on, meaning, works, form.carry, free, takes_pair, writes, reads_destination, accesses, loads, scalar, ats, varies
    )  # fmt: skip


def _parts(i: Instruction, filled: Sequence[Place], named: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    """Signs and selected parts of operands, as their meaning takes them."""
    for op, place in zip(i.operands, filled, strict=True):
        if isinstance(op, Minus):
            yield f"{place.name}neg", True
            op = op.operand
        if isinstance(op, Element) and op.part not in "xyzw" and f"{place.name}sel" in named:
            yield f"{place.name}sel", op.part


def _at(i: Instruction, op: Operand, place: Place, target: bool, size: int) -> At:
    if place.address or place.constant:
        return At(place, None, False, False, False)
    t = operand_type(i, place)
    assert t is not None, f"{i.opcode}: no type for {place.name}"
    one = isinstance(op, Register) and op.vector == 1 and t.elements == 1 and t.bits != 128 and not place.second
    plain, single = one and place.count == 1, one and place.count != 1
    fits = t.bits == size * 8 and (t.elements == 1 if target else t.is_integer)
    return At(place, t, plain, single, bool(size) and (fits or (not target and i.opcode == "selp" and t.name != "pred")))


def _accesses(settled: dict[str, str | bool]) -> tuple[str, ScalarType, int]:
    space = "global" if settled.get("global") else str(settled.get("ss", "generic"))
    return space, TYPES[str(settled["type"])], int(str(settled.get("vec", "v1"))[1:])


def with_elements(i: Instruction) -> Instruction:
    """mov.b64 d, v: the vector register v as its elements."""
    if i.opcode != "mov" or i.settled is None or "vec" in i.settled:
        return i
    vectors = [isinstance(o, Register) and o.vector > 1 for o in i.operands]
    return replace(i, operands=tuple(_elements(o) if v else o for o, v in zip(i.operands, vectors, strict=True))) if any(vectors) else i


def _elements(op: Operand) -> Operand:
    assert isinstance(op, Register)
    return Vector(tuple(Element(op, x) for x in "xyzw"[: op.vector]))
