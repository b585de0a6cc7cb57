"""What an operand is, in words, and whether its type fits an instruction's."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from warplab.isa import special
from warplab.isa.notation import Form, words
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES, ScalarType

from ...ir import (
    Address,
    Arguments,
    Element,
    Function,
    Immediate,
    Label,
    Minus,
    Negated,
    Operand,
    Pair,
    Plus,
    Prototype,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Targets,
    Variable,
    Vector,
)

REGISTER_TYPES = words("pred b8 u8 s8 b16 u16 s16 f16 b32 u32 s32 f32 f16x2 b64 u64 s64 f64 b128")
ADDRESS_TYPES = frozenset(t for t in REGISTER_TYPES if TYPES[t].is_integer and TYPES[t].bits <= 64)


@dataclass(frozen=True, slots=True)
class Misfit:
    """Why an operand does not fit."""

    code: str
    message: str
    help: str = ""
    declared: Register | Variable | None = None  # what the "declared here" should point to
    part: int | None = None  # which element of a vector it is about


def described(operand: Operand) -> str:
    """An operand's kind, in words for a message."""
    match operand:
        case Register(name=name, type=t, vector=n):
            return f"{name}, a register of type .{t}" if n == 1 else f"{name}, a vector register .v{n} .{t}"
        case Element(register=r, part=part):
            return f"{r.name}.{part}"
        case Immediate(kind="int"):
            return "an integer constant"
        case Immediate():
            return "a floating-point constant"
        case SpecialRegister(name=name, component=part):
            return f"the special register {name}" + (f".{part}" if part else "")
        case Sink():
            return "'_'"
        case Negated():
            return "a negated predicate"
        case Minus():
            return "a negated register"
        case Plus(register=r, offset=n):
            return f"{r.name}+{n}"
        case Pair():
            return "a pair a|b"
        case Vector(elements=elements):
            return f"a vector of {len(elements)}"
        case Arguments():
            return "a list of arguments"
        case Address():
            return "an address"
        case Variable(name=name, space=space):
            return f"{name}, a variable in .{space}"
        case Symbol(target=target):
            return f"an address in {target.name}"
        case Function(name=name):
            return f"the function {name}"
        case Label(name=name):
            return f"the label {name}"
        case Targets(name=name) | Prototype(name=name):
            return name
    return "something else"


# ---------------------------------------------------------------- registers against types


@functools.cache
def fitting(t: str, wider: bool = False, plain: bool = False) -> frozenset[str]:
    """The register types that an instruction type takes.

    `wider` is the rule of ld, st and cvt; `plain` is that of operands whose type the manual fixes (a shift's amount): integers only.
    """
    own = TYPES[t]
    registers = [TYPES[r] for r in REGISTER_TYPES]
    bits = max(8, own.bits) if own.bits != 96 else 128
    scalar = own.elements == 1 or t == "b128"

    def size(r: ScalarType) -> bool:
        return r.kind != "p" and (r.bits == bits or (wider and r.bits > bits))

    if own.kind == "p":
        return frozenset({"pred"})
    if own.kind == "b" and not plain:
        return frozenset(r.name for r in registers if size(r))
    if own.is_integer and scalar:
        pairs = () if plain else ("f16x2",)
        return frozenset(r.name for r in registers if size(r) and (r.is_integer or r.name in pairs))
    if t in ("f16", "f32", "f64"):
        return frozenset(r.name for r in registers if size(r) and (r.kind == "b" or r.name == t))
    if own.bits == 32 and own.elements == 2 and own.kind in "fus" and t != "bf16x2":
        return frozenset({"b32", "f16x2"})
    return frozenset({f"b{bits}"})


WORD = frozenset({"#f32"})  # the constants that have 32 bits, whatever they stand for
STRICT = frozenset({"bf16", "bf16x2"})


@functools.cache
def sums(t: ScalarType) -> frozenset[str]:
    """The types of the registers that may stand in a sum where a value of this type is expected."""
    if t.kind == "p":
        return frozenset({"pred", "f16x2"})
    if t.elements == 2:
        return frozenset(r for r in REGISTER_TYPES if TYPES[r].kind == "b" or r == "f16x2")
    kinds = "bus" if t.kind in "us" else "bf" if t.kind == "f" else "busf"
    pair = {"f16x2"} if t.kind in "bus" else set()
    return frozenset(r for r in REGISTER_TYPES if TYPES[r].kind in kinds and r != "f16x2") | pair


def constants(t: str, plain: bool = False) -> frozenset[str]:
    """The kinds of constant that an instruction type takes."""
    own = TYPES[t]
    if own.kind == "p":
        return frozenset({"#int"})
    if t in ("f32", "f64"):
        return frozenset({"#f32", "#f64", "#decimal"})
    if own.is_integer and (own.elements == 1 or t == "b128"):
        bits = own.bits if own.kind == "b" and not plain else 0
        return frozenset({"#int", *(("#f32",) if bits == 32 else ("#f64", "#decimal") if bits == 64 else ())})
    return frozenset()


def type_misfit(operand: Operand, t: ScalarType, place: Place, *, wider: bool, plain: bool) -> Misfit | None:
    """Does a register, part of a register or constant fit a type?"""
    match operand:
        case Register(vector=1):
            register = operand
        case Element(register=register, part=part) if register.vector > 1 and part in "xyzw" and "xyzw".index(part) < register.vector:
            pass
        case Immediate():
            if operand.category in (WORD if place.loose and t.name == "b32" else constants(t.name, plain)):
                return None
            return Misfit("operand-type", f"{described(operand)} does not fit type .{t}", _constant_help(operand, t))
        case _:
            help = "only ld, st, atom and their like reach memory: ld it into a register first" if isinstance(operand, Address) else ""
            return Misfit("operand-kind", f"a register or constant of type .{t} is expected here, not {described(operand)}", help)
    if register.type.name in fitting(t.name, wider, plain) or (place.loose and t.name == "b32" and register.type.kind == "p"):
        return None
    size = "at least " if wider else ""
    legal = ", ".join("." + r for r in REGISTER_TYPES if r in fitting(t.name, wider, plain))
    return Misfit(
        "operand-type",
        f"{register.name} has type .{register.type}, which does not fit .{t}",
        f"a register of {size}{t.bits} bits that fits .{t}: {legal}",
        register,
    )


def _constant_help(operand: Immediate, t: ScalarType) -> str:
    if operand.kind == "int" and t.name in ("f32", "f64"):
        if operand.text[:2] in ("0x", "0X"):
            return f"write {'0f' if t.name == 'f32' else '0d'}{operand.value:0{t.bits // 4}X}: the number that has these bits"
        computed = "" if operand.text else ", or the expression in floating point, as 1.0/4.0: this one is computed in integers"
        return f"write {operand.value}.0{computed}"
    if operand.kind != "int" and t.is_integer:
        return "write an integer"
    return "put it into a register first"


def takes_only_its_bits(form: Form, place: Place) -> bool:
    """Has the place a type of its own, so that registers of other kinds of number do not fit?"""
    return (place.type in TYPES and not place.loose) or form.facts.opaque


def count_of(place: Place, settled: Mapping[str, str | bool]) -> int:
    """How many elements the braced vector of a place has; 0 for a plain register."""
    if isinstance(place.count, int):
        return place.count if place.count > 1 or "*" in place.text else 0
    word = settled.get(place.count)
    digits = str(word).lstrip("vx") if word is not None else ""
    return int(digits) if digits.isdigit() else 0


def plain_type(form: Form, operand: Operand, t: ScalarType, place: Place) -> Misfit | None:
    """Whether a register, constant or special register has a fitting type."""
    return type_misfit(operand, t, place, wider=place.wider, plain=takes_only_its_bits(form, place))


def special_misfit(operand: SpecialRegister, t: ScalarType, *, wider: bool) -> Misfit | None:
    """Whether a special register may stand for a value of this type."""
    full = f"{operand.name}.{operand.component}" if operand.component else operand.name
    row = special.register(full)
    if row is None:
        whole = operand.name in special.SPECIAL and special.SPECIAL[operand.name].vector
        return Misfit("special-register", f"{full} is not a special register", f"write {operand.name}.x" if whole else "")
    if t.name in row.mov_types if not wider else row.type != "pred" and t.bits <= row.bits:
        return None
    return Misfit("operand-type", f"{full} has type .{row.type}, which does not fit .{t}")
