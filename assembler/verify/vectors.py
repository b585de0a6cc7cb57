"""Vectors in their places: how many elements, of what types, and which may stand together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import ScalarType

from ..ir import (
    Element,
    Immediate,
    Operand,
    Register,
    Sink,
    Vector,
)
from .kinds import Misfit, count_of, described, fitting, plain_type, takes_only_its_bits


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
    known: list[ScalarType | None] = []  # None for an integer constant, which goes with integers of any size
    for i, element in enumerate(operand.elements):
        match element:
            case Sink() if not sink:
                return Misfit("operand-kind", "'_' takes a result; it cannot be read", part=i)
            case Immediate() if sink:
                return Misfit("operand-kind", "a result needs a register, not a constant", part=i)
            case Sink():
                continue
            case Register(vector=1, type=own) | Element(register=Register(type=own)) if _plain_part(element):
                known.append(own)
            case Immediate(kind="int") if not form.opcode.startswith(CALCULATING):
                known.append(None)
            case _:
                wrong = plain_type(form, element, t, place)
                if wrong is not None:
                    return replace(wrong, part=i)
                continue
        if len(known) > 1 and not together(known[-2], known[-1]):
            message = f"{described(element)} does not go into one vector with what stands before it"
            return Misfit("operand-type", message, part=i)
    if not known and all(isinstance(e, Sink) for e in operand.elements):
        return Misfit("vector-size", "the vector holds nothing but '_'")
    types = {own.name for own in known if own is not None}
    if not types:
        wrongs = (plain_type(form, element, t, place) for element in operand.elements if isinstance(element, Immediate))
        return next((wrong for wrong in wrongs if wrong is not None), None)
    common = next(iter(types)) if len(types) == 1 else f"b{next(own.bits for own in known if own is not None)}"
    legal = fitting(t.name, place.wider, takes_only_its_bits(form, place))
    if t.kind == "f" and not form.opcode.startswith(CALCULATING):
        legal |= {f"u{t.bits}", f"s{t.bits}"}
    if common in legal or known[0] is None:
        return None
    wrongs = (
        replace(wrong, part=i)
        for i, element in enumerate(operand.elements)
        if not isinstance(element, Sink) and (wrong := plain_type(form, element, t, place)) is not None
    )
    return next(wrongs, None)


CALCULATING = ("mma", "wmma", "wgmma", "tcgen05", "cvt", "ldmatrix", "stmatrix")  # their vectors are stricter than those of memory


def _plain_part(element: Operand) -> bool:
    """A register, or a part that a vector register has."""
    if isinstance(element, Element):
        return element.part in "xyzw" and "xyzw".index(element.part) < element.register.vector > 1
    return True


def together(a: ScalarType | None, b: ScalarType | None) -> bool:
    """Can two neighbours in a vector have these types?"""
    if a is None or b is None:
        other = b if a is None else a
        return other is None or other.kind in "bus"
    if a.bits != b.bits or (a.kind == "p") != (b.kind == "p"):
        return False
    return a is b or "b" in (a.kind, b.kind) or (a.kind in "us" and b.kind in "us")


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
    for i, element in enumerate(operand.elements):
        match element:
            case Sink() if not source:
                continue
            case Immediate(kind="int") if source:
                continue
            case Register(vector=1, type=own) | Element(register=Register(type=own)) if own.kind != "p" and own.bits == each:
                continue
            case Sink():
                return Misfit("operand-kind", "'_' takes a result; it cannot be read", part=i)
        return Misfit("vector-size", f"{described(element)} does not make one of {n} equal parts of .{t}", part=i)
    return None if each * n == t.bits and each >= 8 else Misfit("vector-size", f".{t} cannot be cut into {n} parts")
