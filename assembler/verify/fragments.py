"""Which registers make the vectors of an instruction: for matrices that depends on what their elements are, not on the registers' type."""

from __future__ import annotations

from collections.abc import Mapping

from warplab.isa.fragments import INTEGERS
from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import ScalarType

from .kinds import constants, fitting, takes_only_its_bits

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
    if form.facts.fragments is None:
        return constants(t.name, takes_only_its_bits(form, place))
    if t.name == "f64":
        return ANY
    legal = legal_elements(form, settled, place, t)
    return frozenset({"#int"}) if legal == INTEGERS else frozenset({"#f32"}) if "f32" in legal else frozenset()
