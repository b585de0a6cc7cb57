"""What an operand is and whether it fits its place: register types against instruction types, constants, vectors, addresses.

`kind` gives each operand a short word that holds all that matters for the verdict (`u32`, `#int`, `{b32,b32}`, `[u64]`), so that an
instruction whose words have been judged before costs one look-up; `misfit` judges, and says why.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from warplab.isa import special
from warplab.isa.notation import Form, words
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES, ScalarType

from ..ir import (
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


def kind(operand: Operand) -> str:
    """All that the verdict on an instruction depends on, in one word."""
    match operand:
        case Register(type=t, vector=n):
            return t.name if n == 1 else f"{t.name}*{n}"
        case Immediate(kind="int"):
            return "#int"
        case Immediate(kind=k, value=v):
            return "#f32" if k == "f32" else "#f64" if isinstance(v, int) else "#decimal"
        case Element(register=r, part=part):
            return f"{kind(r)}.{part}"
        case SpecialRegister(name=name, component=part):
            return f"{name}.{part}"
        case Sink():
            return "_"
        case Negated(register=r):
            return "!" + kind(r)
        case Minus(operand=inner):
            return "-" + kind(inner)
        case Plus(register=r):
            return kind(r) + "+n"
        case Pair(first=a, second=b):
            return f"{kind(a)}|{kind(b)}"
        case Vector(elements=elements):
            return "{" + ",".join(map(kind, elements)) + "}"
        case Arguments(elements=elements):
            return "(" + ",".join(map(kind, elements)) + ")"
        case Address(base=base, parts=parts):
            return "[" + ",".join(("#" if base is None else kind(base), *map(kind, parts))) + "]"
        case Variable(space=space, type=t):
            return f"{space}:{t.name}"
        case Symbol(target=target):
            return kind(target) + "+"
        case Function(is_entry=is_entry):
            return "entry" if is_entry else "func"
        case Label():
            return "label"
        case Targets(kind=k):
            return k + "targets"
        case Prototype():
            return "prototype"
    return type(operand).__name__


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
            if kind(operand) in constants(t.name, plain):
                return None
            return Misfit("operand-type", f"{described(operand)} does not fit type .{t}", _constant_help(operand, t))
        case _:
            help = "only ld, st, atom and their like reach memory: ld it into a register first" if isinstance(operand, Address) else ""
            return Misfit("operand-kind", f"a register or constant of type .{t} is expected here, not {described(operand)}", help)
    if register.type.name in fitting(t.name, wider, plain):
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
        return f"write {operand.text or operand.value}.0"
    if operand.kind != "int" and t.is_integer:
        return "write an integer"
    return "put it into a register first"


# ---------------------------------------------------------------- one operand in its place


def place_type(form: Form, place: Place, settled: Mapping[str, str | bool]) -> ScalarType | None:
    """The type of a place under the settled modifiers."""
    return form.type_of(place, settled)


def misfit(form: Form, settled: Mapping[str, str | bool], i: int, place: Place, operand: Operand) -> Misfit | None:
    """Why the operand does not fit the place, or None."""
    if place.address:
        return address_misfit(form, settled, place, operand)
    if place.constant:
        if isinstance(operand, Immediate) and operand.kind == "int":
            return None
        return Misfit("operand-kind", f"an integer constant is expected here, not {described(operand)}")
    first = i == 0 and place.is_destination
    if place.second:
        return _pair_misfit(form, settled, place, operand)
    if isinstance(operand, Pair):
        return Misfit("operand-kind", "no pair a|b is expected here")
    t = place_type(form, place, settled)
    if t is None:
        return _untyped_misfit(form, place, operand)
    if first:
        return _destination_misfit(form, settled, place, operand, t)
    return _source_misfit(form, settled, place, operand, t)


OPAQUE = frozenset({"mbarrier", "createpolicy"})  # their .b64 is a state or policy, no bits of a float


def _plain(form: Form, place: Place) -> bool:
    return place.type in TYPES or form.opcode in OPAQUE


def count_of(place: Place, settled: Mapping[str, str | bool]) -> int:
    """How many elements the braced vector of a place has; 0 for a plain register."""
    if isinstance(place.count, int):
        return place.count if place.count > 1 or "*" in place.text else 0
    word = settled.get(place.count)
    digits = str(word).lstrip("vx") if word is not None else ""
    return int(digits) if digits.isdigit() else 0


def _pair_misfit(form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand) -> Misfit | None:
    t = place_type(form, place, settled)
    assert t is not None, form.row
    if isinstance(operand, Pair):
        first, second = operand.first, operand.second
        if isinstance(second, Sink) and form.opcode in ("lop3", "elect"):
            return Misfit("operand-kind", "a predicate register is expected after the |")
        if not isinstance(second, Sink):
            wrong = type_misfit(second, TYPES["pred"], place, wider=False, plain=False)
            if wrong is not None or isinstance(second, Immediate):
                return wrong or Misfit("operand-kind", "a predicate register is expected after the |")
    elif place.second_optional:
        first = operand
    else:
        return Misfit("operand-kind", f"a pair {place.text} is expected here, not {described(operand)}")
    if isinstance(first, Sink):
        if isinstance(operand, Pair) or form.opcode in ("setp", "match"):
            return None
        return Misfit("operand-kind", f"{form.opcode} must put its result somewhere: '_' is not allowed here")
    if isinstance(first, Immediate):
        return Misfit("operand-kind", "a result needs a register")
    if count_of(place, settled):
        return _vector_misfit(form, settled, place, first, t, sink=True)
    return type_misfit(first, t, place, wider=place.wider, plain=_plain(form, place))


def _untyped_misfit(form: Form, place: Place, operand: Operand) -> Misfit | None:
    match place.name:
        case "target":
            return None if isinstance(operand, Label) else Misfit("operand-kind", f"a label is expected here, not {described(operand)}")
        case "targets":
            if isinstance(operand, Targets) and operand.kind == "branch":
                return None
            return Misfit("operand-kind", f"the name of a .branchtargets list is expected here, not {described(operand)}")
    if isinstance(operand, Register | Immediate | Element):
        return None
    return Misfit("operand-kind", f"a register is expected here, not {described(operand)}")


def _destination_misfit(form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand, t: ScalarType) -> Misfit | None:
    if isinstance(operand, Sink):
        if form.opcode in ("atom", "mbarrier") or (t.kind == "p" and form.opcode == "setp"):
            return None
        return Misfit("operand-kind", f"{form.opcode} must put its result somewhere: '_' is not allowed here")
    if isinstance(operand, Immediate | SpecialRegister | Variable | Function | Label | Symbol | Negated | Plus):
        return Misfit("operand-kind", f"a result needs a register, not {described(operand)}")
    if form.opcode == "mov" and not count_of(place, settled):
        return _mov_vector(operand, t, source=False) if _is_vector(operand) else _plain_type(form, operand, t, place)
    if count_of(place, settled):
        return _vector_misfit(form, settled, place, operand, t, sink=True)
    if isinstance(operand, Vector) and len(operand.elements) == 1 and place.count == "vec":
        operand = operand.elements[0]
    return _plain_type(form, operand, t, place)


def _plain_type(form: Form, operand: Operand, t: ScalarType, place: Place) -> Misfit | None:
    return type_misfit(operand, t, place, wider=place.wider, plain=_plain(form, place))


def _is_vector(operand: Operand) -> bool:
    return isinstance(operand, Vector) or (isinstance(operand, Register) and operand.vector > 1)


def _source_misfit(form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand, t: ScalarType) -> Misfit | None:
    if isinstance(operand, Sink):
        return Misfit("operand-kind", "'_' takes a result; it cannot be read")
    if isinstance(operand, Negated):
        if not place.negatable:
            return Misfit("operand-kind", "only a predicate that selects or combines can be negated here")
        operand = operand.register
    if form.opcode in ("tex", "tld4") and place.name == "g" and isinstance(operand, Vector):  # an offset for each coordinate
        return next((wrong for e in operand.elements if (wrong := _plain_type(form, e, t, place)) is not None), None)
    if place.negatable and isinstance(operand, Immediate) and form.opcode == "setp" and settled.get("type") in ("bf16", "bf16x2"):
        return Misfit("operand-kind", "a predicate register is expected here, not a constant")
    if isinstance(operand, Plus):
        if not t.is_integer:
            return Misfit("operand-kind", f"{described(operand)} is an address: it stands in brackets")
        operand = operand.register
    if form.opcode == "mov" and not count_of(place, settled):
        return _mov_source(form, operand, t, place)
    if isinstance(operand, SpecialRegister):
        if form.opcode == "cvt" and place.wider and t.is_integer and not any(k.startswith("rnd") for k in settled):
            return _special_misfit(operand, t, wider=True)
        return Misfit("special-register", f"{operand.name} can be read by mov and cvt only", "mov it into a register first")
    if isinstance(operand, Variable | Symbol) and form.opcode in ("cvta", "mapa", "getctarank"):
        return _space_misfit(form, settled, operand)
    if count_of(place, settled):
        return _vector_misfit(form, settled, place, operand, t, sink=False)
    if isinstance(operand, Vector) and len(operand.elements) == 1 and place.count == "vec":
        operand = operand.elements[0]
    return _plain_type(form, operand, t, place)


def _vector_misfit(
    form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand, t: ScalarType, *, sink: bool
) -> Misfit | None:
    n = count_of(place, settled)
    if isinstance(operand, Register) and operand.vector > 1:
        if operand.vector != n:
            return Misfit("vector-size", f"{operand.name} has {operand.vector} elements where {n} are expected", "", operand)
        legal = fitting(t.name, place.wider, _plain(form, place))
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
                wrong = _plain_type(form, element, t, place)
                if wrong is not None:
                    return replace(wrong, part=i)
                continue
        if len(known) > 1 and not _together(known[-2], known[-1]):
            message = f"{described(element)} does not go into one vector with what stands before it"
            return Misfit("operand-type", message, part=i)
    if not known and all(isinstance(e, Sink) for e in operand.elements):
        return Misfit("vector-size", "the vector holds nothing but '_'")
    types = {own.name for own in known if own is not None}
    if not types:
        wrongs = (_plain_type(form, element, t, place) for element in operand.elements if isinstance(element, Immediate))
        return next((wrong for wrong in wrongs if wrong is not None), None)
    common = next(iter(types)) if len(types) == 1 else f"b{next(own.bits for own in known if own is not None)}"
    legal = fitting(t.name, place.wider, _plain(form, place))
    if t.kind == "f" and not form.opcode.startswith(CALCULATING):
        legal |= {f"u{t.bits}", f"s{t.bits}"}
    if common in legal or known[0] is None:
        return None
    wrongs = (
        replace(wrong, part=i)
        for i, element in enumerate(operand.elements)
        if not isinstance(element, Sink) and (wrong := _plain_type(form, element, t, place)) is not None
    )
    return next(wrongs, None)


CALCULATING = ("mma", "wmma", "wgmma", "tcgen05", "cvt", "ldmatrix", "stmatrix")  # their vectors are stricter than those of memory


def _plain_part(element: Operand) -> bool:
    """A register, or a part that a vector register has."""
    if isinstance(element, Element):
        return element.part in "xyzw" and "xyzw".index(element.part) < element.register.vector > 1
    return True


def _together(a: ScalarType | None, b: ScalarType | None) -> bool:
    """Can two neighbours in a vector have these types?"""
    if a is None or b is None:
        other = b if a is None else a
        return other is None or other.kind in "bus"
    if a.bits != b.bits or (a.kind == "p") != (b.kind == "p"):
        return False
    return a is b or "b" in (a.kind, b.kind) or (a.kind in "us" and b.kind in "us")


def _mov_vector(operand: Operand, t: ScalarType, *, source: bool) -> Misfit | None:
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


def _mov_source(form: Form, operand: Operand, t: ScalarType, place: Place) -> Misfit | None:
    match operand:
        case SpecialRegister():
            return _special_misfit(operand, t, wider=False)
        case Variable() | Symbol():
            if t.is_integer and t.bits >= 16:
                return None
            return Misfit("operand-type", f"{described(operand)} is an address: it does not fit .{t}")
        case Function() if t.is_integer:
            return None
        case _ if _is_vector(operand):
            return _mov_vector(operand, t, source=True)
    return _plain_type(form, operand, t, place)


def _special_misfit(operand: SpecialRegister, t: ScalarType, *, wider: bool) -> Misfit | None:
    full = f"{operand.name}.{operand.component}" if operand.component else operand.name
    row = special.register(full)
    if row is None:
        whole = operand.name in special.SPECIAL and special.SPECIAL[operand.name].vector
        return Misfit("special-register", f"{full} is no special register", f"write {operand.name}.x" if whole else "")
    if t.name in row.mov_types if not wider else row.type != "pred" and t.bits <= row.bits:
        return None
    return Misfit("operand-type", f"{full} has type .{row.type}, which does not fit .{t}")


# ---------------------------------------------------------------- addresses

SPACES = {
    "shared::cta": "shared", "shared::cluster": "shared", "param::entry": "param", "param::func": "param",
}  # fmt: skip
GENERIC = frozenset({"global", "shared", "local"})


def space_of(settled: Mapping[str, str | bool], form: Form) -> str:
    """The state space that an instruction names, or generic."""
    for name in ("ss", "space"):
        word = settled.get(name)
        if isinstance(word, str):
            return SPACES.get(word, word)
    for name in ("global", "shared", "local", "const", "param", "shared::cta", "shared::cluster"):
        if settled.get(name) is True:
            return SPACES.get(name, name)
    return "generic"


def _space_misfit(form: Form, settled: Mapping[str, str | bool], operand: Variable | Symbol) -> Misfit | None:
    target = operand if isinstance(operand, Variable) else operand.target
    wanted = space_of(settled, form) if form.opcode == "cvta" else "shared"
    if isinstance(target, Variable) and target.space == wanted:
        return None
    return Misfit("state-space", f"{described(target)}, does not lie in .{wanted}", "", target if isinstance(target, Variable) else None)


def address_misfit(form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand) -> Misfit | None:
    """Is it an address that the instruction can use?"""
    if (
        isinstance(operand, Symbol | Variable)
        and form.opcode in ("ld", "st", "atom", "red", "ldu", "prefetch")
        and isinstance(operand, Symbol)
    ):
        operand = Address(operand.target, operand.offset)  # g[1] without brackets around it
    if not isinstance(operand, Address):
        help = f"write [{operand.name}]" if isinstance(operand, Register | Variable) else ""
        return Misfit("operand-kind", f"an address in [ ] is expected here, not {described(operand)}", help)
    if operand.parts and "," not in place.text:
        return Misfit("operand-kind", f"{form.opcode} takes one address in [ ], not a list")
    if form.opcode in ("txq", "suq") and isinstance(operand.base, Register) and (operand.base.type.bits != 64 or operand.offset):
        return Misfit("operand-kind", "a handle or a register of 64 bits is expected here", "", operand.base)
    wrong = coordinates_misfit(form, settled, operand)
    if wrong is not None:
        return wrong
    wanted = _address_space(form, settled, place)
    match operand.base:
        case None:
            if wanted != "local":
                return Misfit("operand-kind", "a constant is an address in .local only", "put it into a register first")
        case Register(type=t, vector=n):
            if n > 1 or t.name not in ADDRESS_TYPES:
                return Misfit(
                    "operand-type",
                    f"{described(operand.base)}, cannot be an address",
                    "an address is an integer of up to 64 bits",
                    operand.base,
                )
        case Variable(space=space) as variable:
            if variable.type.kind == "o":
                if "," not in place.text:
                    return Misfit("operand-kind", f"{variable.name} is a handle, not memory", "", variable)
            elif "," in place.text and form.opcode in ("tex", "tld4", "suld", "sust", "sured"):
                return Misfit("operand-type", f"{variable.name} is no texture or surface", "", variable)
            elif space != wanted and not (wanted == "generic" and space in GENERIC):
                where = "the generic space" if wanted == "generic" else f".{wanted}"
                return Misfit(
                    "state-space", f"{variable.name} lies in .{space}, not in {where}", _space_help(form, space, wanted), variable
                )
        case Element():
            pass
        case other:
            return Misfit("operand-kind", f"{described(other)} is no address")
    return None


def _space_help(form: Form, space: str, wanted: str) -> str:
    return f"write {form.opcode}.{space}" if form.opcode in ("ld", "st", "atom", "red") else ""


def _address_space(form: Form, settled: Mapping[str, str | bool], place: Place) -> str:
    if form.opcode == "mbarrier":
        return "shared"
    if form.opcode == "cp":
        # The words stand in the order of the addresses: destination first.
        words = [
            SPACES.get(w, w)
            for w in (s if isinstance(s, str) else k for k, s in settled.items())
            if SPACES.get(w, w) in ("shared", "global")
        ]
        first = place is form.operands[0]
        if len(words) >= 2:
            return words[0] if first else words[1] if place.name == "b" else "shared"
        return words[0] if words else "generic"
    return space_of(settled, form)


GEOMETRY = {"1d": 1, "2d": 2, "3d": 4, "a1d": 2, "a2d": 4, "cube": 4, "acube": 4, "2dms": 4, "a2dms": 4}


def coordinates_misfit(form: Form, settled: Mapping[str, str | bool], address: Address) -> Misfit | None:
    """Are there as many coordinates, of one type, as the geometry or the tensor has dimensions?"""
    given = next((p for p in address.parts if isinstance(p, Vector)), None)
    geometry = settled.get("geom") or settled.get("dim")
    if given is None or not isinstance(geometry, str):
        return None
    n = len(given.elements)
    if form.opcode == "cp":
        if geometry[:1].isdigit() and n != int(geometry[0]) and "tile::scatter4" not in settled and "tile::gather4" not in settled:
            return Misfit("vector-size", f"a tensor of {geometry} has {geometry[0]} coordinates, not {n}")
        return None
    if form.opcode not in ("tex", "tld4", "suld", "sust", "sured") or geometry not in GEOMETRY:
        return None
    if n not in (1, 2, 4) or n < GEOMETRY[geometry]:
        return Misfit("vector-size", f"the geometry .{geometry} needs {GEOMETRY[geometry]} coordinates, not {n}")
    first = 1 if geometry.startswith("a") and form.opcode in ("tex", "tld4") else 0
    types = [e.type if isinstance(e, Register) else None for e in given.elements]
    types = types[first:] if types[0] is None or types[0].kind != "b" else types
    if not all(_together(a, b) for a, b in itertools.pairwise(types)):
        return Misfit("operand-type", "coordinates of several types do not go into one vector")
    known = {t for t in types if t is not None}
    if len(known) == 1:
        own, wanted = next(iter(known)), str(settled.get("ctype", "s32"))
        legal = fitting(wanted) | ({"u32", "s32"} if wanted == "f32" else set())
        if own.name not in legal:
            return Misfit("operand-type", f"coordinates of type .{own} do not fit .{wanted}")
    return None


FAR = frozenset(
    {"ld", "st", "atom", "red", "prefetch", "prefetchu", "ldu", "mbarrier", "multimem", "discard", "applypriority"}
)  # in .global and generic space


def is_narrow(form: Form, settled: Mapping[str, str | bool], operands: tuple[Operand, ...]) -> int | None:
    """Which operand makes an address of the global or generic space of 32 bits, which no supported target has."""
    if form.opcode in FAR and "async" not in settled and "tensormap" not in settled:
        for i, operand in enumerate(operands):
            match operand:
                case Address(base=Register(type=t)) if t.bits == 32 and space_of(settled, form) in ("generic", "global"):
                    return i
    if form.opcode == "cvta" and "u32" in settled.values():
        return 0
    if form.opcode == "mov" and len(operands) == 2 and settled.get("type") in ("u32", "b32", "s32"):
        match operands[1]:
            case Variable(space="global") | Symbol(target=Variable(space="global")):
                return 1
    return None
