"""What the operations of all instructions of a shape have in common: the row, its modifiers settled, what each operand is.

It is worked out once a shape; an instruction adds its slots and constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from warplab.assembler.ir import Element, Instruction, Minus, Operand, Pair, Register, Vector
from warplab.assembler.listing import READS_ITS_DESTINATION
from warplab.isa.notation import Operand as Place
from warplab.isa.ops.data import ld, st
from warplab.isa.types import TYPES

from .plan import LoadStore, Meaning
from .roles import carries_pointer, fitting, is_sign_free, operand_type, parameters_of, places, works_on
from .shapes import At, Known, OpFacts


def op_facts(
    known: Known, first_generation: bool, flushes: bool, minus_product: bool = False, minus_addend: bool = False, demotes: bool = False
) -> OpFacts:
    """Of an instruction's shape; the first generation of devices calculates otherwise, and what was written for it has no subnormal singles."""
    key = (first_generation, flushes, minus_product, minus_addend, demotes)
    ops = known.facts.ops
    found = ops.get(key)
    if found is None:
        found = _op_facts(known.instruction, first_generation, flushes)
        if minus_product or minus_addend:
            found.meaning = replace(found.meaning, minus_product=minus_product, minus_addend=minus_addend)
        if demotes and found.how == "pure" and "f64" in known.instruction.modifiers:
            found.meaning = replace(found.meaning, demoted=True)
        ops[key] = found
    return found


def _op_facts(given: Instruction, first_generation: bool, flushes: bool) -> OpFacts:
    i = with_elements(fitting(given))
    form, settled = i.form, i.settled
    assert form is not None and settled is not None, f"{given.opcode} was not verified"
    refitted = form if form is not given.form else None
    hands_on = i.guard is None and carries_pointer(i)
    if form.facts.widest_pack and "vec" not in settled:
        route = "pack" if any(isinstance(o, Vector) for o in i.operands) else "move"
    else:
        route = "effect" if form.effect else "unsupported" if form.meaning is None else "meaning"
    if form.meaning is None or route == "pack":
        return OpFacts(refitted, route, hands_on, Meaning(form, settled))
    named = parameters_of(form.meaning)
    filled = places(form, i.operands)
    works = works_on(form)
    words = dict(_parts(i, filled, named))
    if flushes and "ftz" in named and "f32" in i.modifiers and settled.get("ctype") != "s32":  # which slct looks at instead
        words["ftz"] = True
    if first_generation and "capability_1" in named:  # which cuts the product of mad.f32
        words["capability_1"] = True
    takes_pair = "pair" in named
    if takes_pair and not isinstance(i.operands[0], Pair):
        words["pair"] = False
    if "addressed" in named:  # rows that differ in what is an address share their meaning
        words["addressed"] = tuple([p.name for p in filled if p.address])
    writes = bool(filled) and filled[0].is_destination
    optional = tuple([p.name for p in filled if p.optional])
    by_name = tuple([p.name for p in filled[writes:]]) if optional and len(filled) < len(form.operands) else ()
    access = _access(settled) if form.meaning in (ld, st) else None
    free = TYPES[str(settled["type"])] if is_sign_free(i) and works not in ("lanes", "warps") else None
    size = 0 if free is None else free.dtype.itemsize
    ats = tuple([_at(i, op, place, writes and n == 0, size) for n, (op, place) in enumerate(zip(i.operands, filled, strict=True))])
    if route == "meaning" and i.guard is None and not any(p.address for p in filled):
        refitted = None
    reads_destination = i.opcode in READS_ITS_DESTINATION
    scalar = (0 if form.meaning is ld else 1) if access is not None and access.elements == 1 and len(ats) == 2 else None
    if scalar is not None and not ats[scalar].single:
        scalar = None
    operands = len(ats) - (writes and not reads_destination)
    if form.carry:
        how = "carry"
    elif access is not None and operands == (1 if form.meaning is ld else 2):
        how = "load" if form.meaning is ld else "store"
    else:
        how = works if works in ("lanes", "warps") else "pure"
    meaning = Meaning(form, settled, tuple(words.items()), by_name, optional if by_name else (), access)
    return OpFacts(refitted, route, hands_on, meaning, how, free, takes_pair, writes, reads_destination, scalar, ats)


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
    assert t is not None and i.form is not None, f"{i.opcode}: no type for {place.name}"
    one = isinstance(op, Register) and op.vector == 1 and t.elements == 1 and t.bits != 128 and not place.second
    plain, single = one and place.count == 1, one and place.count != 1
    fits = t.bits == size * 8 and (t.elements == 1 if target else t.is_integer)
    return At(place, t, plain, single, bool(size) and (fits or (not target and i.form.facts.moves_bits and t.name != "pred")))


def _access(settled: dict[str, str | bool]) -> LoadStore:
    space = "global" if settled.get("global") else str(settled.get("ss", "generic"))
    return LoadStore(space, TYPES[str(settled["type"])], int(str(settled.get("vec", "v1"))[1:]))


def with_elements(i: Instruction) -> Instruction:
    """mov.b64 d, v: the vector register v as its elements."""
    if i.form is None or not i.form.facts.widest_pack or i.settled is None or "vec" in i.settled:
        return i
    vectors = [isinstance(o, Register) and o.vector > 1 for o in i.operands]
    return replace(i, operands=tuple(_elements(o) if v else o for o, v in zip(i.operands, vectors, strict=True))) if any(vectors) else i


def _elements(op: Operand) -> Operand:
    assert isinstance(op, Register)
    return Vector(tuple(Element(op, x) for x in "xyzw"[: op.vector]))
