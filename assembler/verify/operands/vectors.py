"""Vectors in their places: how many elements, of what types, and which may stand together.

What registers the vectors of a matrix instruction are made of depends on the elements of its matrices, not on the registers' type.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from warplab.isa import special
from warplab.isa.fragments import INTEGERS
from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES, ScalarType

from ...ir import (
    Element,
    Immediate,
    Operand,
    Register,
    Sink,
    SpecialRegister,
    Vector,
)
from .kinds import Misfit, constants, count_of, described, fitting, plain_type, takes_only_its_bits


def vector_misfit(
    form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand, t: ScalarType, *, sink: bool
) -> Misfit | None:
    """Whether a vector in braces, or a vector register, fits."""
    n = count_of(place, settled)
    if isinstance(operand, Register) and operand.vector > 1:
        if operand.vector != n:
            return Misfit("vector-size", f"{operand.name} has {operand.vector} elements where {n} are expected", "", operand)
        legal = fitting(t.name, place.wider, takes_only_its_bits(form, place))
        if operand.type.name in legal or (t.kind == "f" and operand.type.kind in "us" and operand.type.bits == t.bits):
            return None
        return Misfit("operand-type", f"{operand.name} has elements of type .{operand.type}, which do not fit .{t}", "", operand)
    if not isinstance(operand, Vector):
        return Misfit("vector-size", f"a vector of {n} elements is expected here, not {described(operand)}")
    if len(operand.elements) != n:
        return Misfit("vector-size", f"the vector has {len(operand.elements)} elements where {n} are expected")
    known: list[ScalarType | str] = []
    for i, element in enumerate(operand.elements):
        match element:
            case Sink() if not sink or form.facts.reads_destination:
                return Misfit("operand-kind", "'_' discards a result; it cannot be read", part=i)
            case Immediate() if sink:
                return Misfit("operand-kind", "a result needs a register, not a constant", part=i)
            case Sink():
                continue
        own = type_of_element(element)
        if own is None:
            wrong = plain_type(form, element, t, place)
            return replace(wrong, part=i) if wrong is not None else None
        known.append(own)
        if len(known) > 1 and not together(known[-2], known[-1]):
            message = f"{described(element)} does not go into one vector with what stands before it"
            return Misfit("operand-type", message, part=i)
    if not known and all(isinstance(e, Sink) for e in operand.elements):
        return Misfit("vector-size", "the vector holds nothing but '_'")
    types = {own.name for own in known if not isinstance(own, str)}
    if not types:
        takes = constant_elements(form, settled, place, t)
        for i, element in enumerate(operand.elements):
            if isinstance(element, Immediate) and element.category not in takes:
                return Misfit("operand-type", f"{described(element)} does not fit .{t}", part=i)
        return None
    common = next(iter(types)) if len(types) == 1 else f"b{max(_size(own) for own in known if not isinstance(own, str))}"
    legal = legal_elements(form, settled, place, t)
    if common in legal or isinstance(known[0], str):
        return None
    wrongs = (
        replace(wrong, part=i)
        for i, element in enumerate(operand.elements)
        if not isinstance(element, Sink) and (wrong := plain_type(form, element, t, place)) is not None
    )
    return next(wrongs, Misfit("operand-type", f"elements of type .{common} make no vector that fits here"))


def type_of_element(element: Operand) -> ScalarType | str | None:
    """The type of a register or special register, the kind of a constant, which goes with any size; None for anything else."""
    match element:
        case Register(vector=1, type=own) | Element(register=Register(type=own)) if _plain_part(element):
            return own
        case SpecialRegister(name=name, component=part):
            row = special.register(f"{name}.{part}" if part else name)
            return TYPES[f"b{row.bits}"] if row is not None and row.type != "pred" else None
        case Immediate(kind=kind):
            return "int" if kind == "int" else "float"
    return None


def _plain_part(element: Operand) -> bool:
    """A register, or a part that a vector register has."""
    if isinstance(element, Element):
        return element.part in "xyzw" and "xyzw".index(element.part) < element.register.vector > 1
    return True


def _size(t: ScalarType) -> int:
    return 32 if t.kind == "p" else t.bits


def together(a: ScalarType | str, b: ScalarType | str) -> bool:
    """Can two neighbours in a vector have these types, or be constants?"""
    if isinstance(a, str) or isinstance(b, str):
        one, other = (a, b) if isinstance(a, str) else (b, a)
        return one == other if isinstance(other, str) else other.kind in ("bus" if one == "int" else "bf")
    if _size(a) != _size(b):
        return False
    return a is b or "b" in (a.kind, b.kind) or (a.kind in "us" and b.kind in "us")


def _whole(operand: Vector, bits: int) -> bool:
    """Are all elements constants of that size, single or double?"""
    return all(
        isinstance(e, Immediate) and e.category in ({32: ("#f32",), 64: ("#f64", "#decimal")}.get(bits, ())) for e in operand.elements
    )


def _unequal(element: Operand, n: int, t: ScalarType, i: int) -> Misfit:
    return Misfit("vector-size", f"{described(element)} does not make one of {n} equal parts of .{t}", part=i)


def mov_vector(operand: Operand, t: ScalarType, *, source: bool) -> Misfit | None:
    """mov packs and unpacks vectors whose elements fill the type."""
    if t.kind != "b":
        return Misfit("operand-type", f"only the .b types pack vectors, not .{t}", f"write mov.b{t.bits}")
    if isinstance(operand, Register):
        return (
            None
            if operand.vector * operand.type.bits == t.bits
            else Misfit("vector-size", f"{operand.name} has not {t.bits} bits", "", operand)
        )
    assert isinstance(operand, Vector)
    n = len(operand.elements)
    each = t.bits // n
    known: list[ScalarType | str] = []
    for i, element in enumerate(operand.elements):
        match element:
            case Sink() if not source:
                continue
            case Immediate() if source:
                known.append("int" if element.kind == "int" else "float")
            case Register() | Element() | SpecialRegister() if (own := type_of_element(element)) is not None and not isinstance(own, str):
                if _size(own) != each:
                    return _unequal(element, n, t, i)
                known.append(own)
            case Sink():
                return Misfit("operand-kind", "'_' discards a result; it cannot be read", part=i)
            case _:
                return _unequal(element, n, t, i)
        if len(known) > 1 and not together(known[-2], known[-1]):
            return Misfit("operand-type", f"{described(element)} does not go into one vector with what stands before it", part=i)
    if known and (
        all(isinstance(k, ScalarType) and k.kind == "p" for k in known) or (set(known) == {"float"} and not _whole(operand, each))
    ):
        return _unequal(operand.elements[0], n, t, 0)
    return None if each * n == t.bits and each >= 8 else Misfit("vector-size", f".{t} cannot be cut into {n} parts")


# ---------------------------------------------------------------- elements by instruction

DOUBLES = frozenset({"b64", "u64", "s64", "f64"})
ANY = frozenset({"#int", "#f32", "#f64", "#decimal"})
OF_PLACES = {"a": "atype", "b": "btype", "c": "ctype", "d": "dtype"}


def legal_elements(form: Form, settled: Mapping[str, str | bool], place: Place, t: ScalarType) -> frozenset[str]:
    """The types of the elements that a vector in this place may have in common."""
    registers = form.facts.fragments
    if registers is not None:
        if t.name == "b32":
            kind = settled.get(OF_PLACES.get(place.name, ""), settled.get("type", "f16"))
            return registers.get(str(kind), registers[""])
        return DOUBLES if t.name == "f64" else fitting(t.name, False, True)
    legal = fitting(t.name, place.wider, takes_only_its_bits(form, place))
    if t.kind == "f" and t.elements == 1 and not form.facts.float_vectors:
        legal |= {f"u{t.bits}", f"s{t.bits}"}
    return legal


def constant_elements(form: Form, settled: Mapping[str, str | bool], place: Place, t: ScalarType) -> frozenset[str]:
    """The kinds of constants of which a whole vector may be made."""
    if form.facts.fragments is None or t.bits < 32:  # registers of fragments have 32 bits or more: these are selectors
        return constants(t.name, takes_only_its_bits(form, place))
    if t.name == "f64":
        return ANY
    legal = legal_elements(form, settled, place, t)
    return frozenset({"#int"}) if legal == INTEGERS else frozenset({"#f32"}) if "f32" in legal else frozenset()
