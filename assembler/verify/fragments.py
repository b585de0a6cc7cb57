"""Which registers make the vectors of an instruction: for matrices that depends on what their elements are, not on the registers' type."""

from __future__ import annotations

from collections.abc import Mapping

from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import ScalarType

from .kinds import constants, fitting, takes_only_its_bits

BITS = frozenset({"b32"})
PAIRS = frozenset({"b32", "f16x2"})
INTEGERS = frozenset({"b32", "u32", "s32"})
NUMBERS = INTEGERS | {"f32", "f16x2"}
WORDS = NUMBERS | {"pred"}  # whatever has 32 bits, and ptxas gives a predicate as many
DOUBLES = frozenset({"b64", "u64", "s64", "f64"})
ANY = frozenset({"#int", "#f32", "#f64", "#decimal"})
MOVING = frozenset({"ldmatrix", "stmatrix", "tcgen05"})
OF_PLACES = {"a": "atype", "b": "btype", "c": "ctype", "d": "dtype"}


def legal_elements(form: Form, settled: Mapping[str, str | bool], place: Place, t: ScalarType) -> frozenset[str]:
    """The types of the elements that a vector in this place may have in common."""
    if form.opcode in MOVING:
        return WORDS
    if form.opcode in ("mma", "wmma", "wgmma"):
        if t.name == "b32":
            return _fragment(form.opcode, settled, place)
        return DOUBLES if t.name == "f64" else fitting(t.name, False, True)
    legal = fitting(t.name, place.wider, takes_only_its_bits(form, place))
    if t.kind == "f" and t.elements == 1 and form.opcode not in ("tex", "cvt"):
        legal |= {f"u{t.bits}", f"s{t.bits}"}
    return legal


def constant_elements(form: Form, settled: Mapping[str, str | bool], place: Place, t: ScalarType) -> frozenset[str]:
    """The kinds of constants of which a whole vector may be made."""
    if form.opcode not in ("mma", "wmma", "wgmma", *MOVING):
        return constants(t.name, takes_only_its_bits(form, place))
    if t.name == "f64":
        return ANY
    legal = legal_elements(form, settled, place, t)
    return frozenset({"#int"}) if legal == INTEGERS else frozenset({"#f32"}) if "f32" in legal else frozenset()


def _fragment(opcode: str, settled: Mapping[str, str | bool], place: Place) -> frozenset[str]:
    kind = settled.get(OF_PLACES.get(place.name, ""), settled.get("type", "f16"))
    multiplies = "dtype" in settled or "ctype" in settled
    match kind:
        case "f16":
            return PAIRS
        case "bf16" | "tf32":
            return PAIRS if opcode == "wmma" and multiplies else BITS
        case "e4m3" | "e5m2" if opcode == "wgmma":
            return PAIRS
        case "s8" | "u8" | "s4" | "u4" | "b1":
            if opcode == "wmma" and (multiplies or kind in ("s8", "u8")):
                return INTEGERS
            return WORDS
    return NUMBERS
