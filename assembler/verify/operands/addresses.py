"""Addresses in their places: what may stand in brackets, state spaces, coordinates of textures and tensors."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping

from warplab.isa.facts import When, opcodes
from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import ScalarType

from ...ir import (
    Address,
    Element,
    Operand,
    Register,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from .kinds import ADDRESS_TYPES, Misfit, described, fitting
from .vectors import together, type_of_element

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


def space_misfit(form: Form, settled: Mapping[str, str | bool], operand: Variable | Symbol) -> Misfit | None:
    """Whether a variable lies in the state space that the instruction accesses."""
    target = operand if isinstance(operand, Variable) else operand.target
    wanted = space_of(settled, form) if form.facts.variables == "named" else "shared"
    if isinstance(target, Variable) and target.space == wanted:
        return None
    return Misfit("state-space", f"{described(target)}, does not lie in .{wanted}", "", target if isinstance(target, Variable) else None)


def address_misfit(form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand) -> Misfit | None:
    """Is it an address that the instruction can use?"""
    facts = form.facts
    if isinstance(operand, Symbol) and facts.is_indexed:
        operand = Address(operand.target, operand.offset)  # g[1] without brackets around it
    if not isinstance(operand, Address):
        help = f"write [{operand.name}]" if isinstance(operand, Register | Variable) else ""
        return Misfit("operand-kind", f"an address in [ ] is expected here, not {described(operand)}", help)
    if operand.parts and "," not in place.text:
        return Misfit("operand-kind", f"{form.opcode} needs one address in [ ], not a list")
    wrong = coordinates_misfit(form, settled, operand) if "," in place.text else None
    if facts.handles:
        return _handle_misfit(form, operand) or wrong
    if wrong is not None:
        return wrong
    if isinstance(operand.base, Register) and ("," in place.text or place.name == facts.tensor_map):
        return None  # ptxas does not look at the register with the address of a tensor map
    wanted = _address_space(form, settled, place)
    in_tensor_memory = not settled.keys().isdisjoint(facts.tensor_memory)
    match operand.base:
        case None:
            if wanted != "local":
                return Misfit("operand-kind", "a constant is an address in .local only", "put it into a register first")
        case Register(type=t, vector=n):
            legal = TENSOR if in_tensor_memory else FULL if _applies(facts.word_addresses, form, settled, place) else ADDRESS_TYPES
            if n > 1 or t.name not in legal:
                return Misfit(
                    "operand-type",
                    f"{described(operand.base)}, cannot be an address",
                    "an address is an integer of up to 64 bits",
                    operand.base,
                )
        case Variable(space=space) as variable:
            if variable.type.kind == "o" and space == "global":
                if _applies(facts.memory_only, form, settled, place):
                    return Misfit("operand-kind", f"{variable.name} is a handle, not memory", "", variable)
            elif in_tensor_memory:
                return Misfit("operand-kind", "an address in tensor memory is a register", "", variable)
            elif facts.generic_only and space != "global":
                return Misfit("state-space", f"{variable.name} lies in .{space}, {form.opcode} needs generic addresses", "", variable)
            elif space != wanted and not (wanted == "generic" and space in GENERIC):
                where = "the generic space" if wanted == "generic" else f".{wanted}"
                return Misfit(
                    "state-space", f"{variable.name} lies in .{space}, not in {where}", _space_help(form, space, wanted), variable
                )
        case Element():
            pass
        case other:
            return Misfit("operand-kind", f"{described(other)} is not an address")
    return None


COORDINATES = frozenset({"b32", "u32", "s32"})
FIVE = frozenset({"tile::scatter4", "tile::gather4"})
HANDLES = opcodes("handles")
FULL = frozenset({"b32", "u32", "s32", "b64", "u64", "s64"})
TENSOR = frozenset({"b32", "u32", "s32"})


def _handle_misfit(form: Form, operand: Address) -> Misfit | None:
    """A texture, a sampler for txq, a surface, or a register that holds the handle of one."""
    base, kinds = operand.base, form.facts.handles
    match base:
        case Variable() if base.handle in kinds and not operand.offset:
            return None
        case Register(type=t, vector=1) if t.is_integer and t.bits == 64 and not operand.offset:
            return None
        case Element():
            return None
    declared = base if isinstance(base, Register | Variable) else None
    return Misfit("operand-kind", f"a .{kinds[0]} or a register of 64 bits is expected here", "", declared)


def _applies(rule: When | None, form: Form, settled: Mapping[str, str | bool], place: Place) -> bool:
    """Does a rule of addresses hold for the one in this place?"""
    if rule is None or place.name == form.facts.mbarrier:
        return False
    return rule.holds([slot if word is True else str(word) for slot, word in settled.items()])


def _space_help(form: Form, space: str, wanted: str) -> str:
    return f"write {form.opcode}.{space}" if form.facts.takes_any_space else ""


def _address_space(form: Form, settled: Mapping[str, str | bool], place: Place) -> str:
    if form.facts.address_space:
        return form.facts.address_space
    if form.facts.spaces_in_order:
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
    geometry = settled.get("geom") or settled.get("dim")
    if not isinstance(geometry, str):
        return None
    if not address.parts:
        return Misfit("operand-kind", "coordinates are missing", f"write [{_name(address)}, {{...}}], with the coordinates in the braces")
    *sampler, given = address.parts
    if isinstance(given, Register) and not sampler and "dim" not in settled and not geometry.startswith("a"):
        of_types: list[ScalarType | str] = [given.type] * given.vector
    elif not isinstance(given, Vector):
        return Misfit("operand-kind", f"coordinates stand in braces: {described(given)} is none")
    else:
        of_types = []
        for element in given.elements:
            own = type_of_element(element)
            if own is None or (isinstance(own, ScalarType) and own.bits == 64 and isinstance(element, SpecialRegister)):
                return Misfit("operand-kind", f"{described(element)} is not a coordinate")
            of_types.append(own)
    n = len(of_types)
    if "dim" in settled:
        if not all(together(a, b) for a, b in itertools.pairwise(of_types)):
            return Misfit("operand-type", "coordinates of several types do not go into one vector")
        plain = {own.name for own in of_types if isinstance(own, ScalarType)}
        if (len(plain) == 1 and not plain <= COORDINATES) or set(of_types) == {"float"}:
            return Misfit("operand-type", "coordinates in a tensor are integers of 32 bits")
        if geometry[:1].isdigit() and n != int(geometry[0]) and settled.keys().isdisjoint(FIVE):
            return Misfit("vector-size", f"a tensor of {geometry} has {geometry[0]} coordinates, not {n}")
        if n != 5 and not settled.keys().isdisjoint(FIVE):
            return Misfit("vector-size", f"a column and four rows are expected here, not {n} coordinates")
        return None
    if geometry not in GEOMETRY:
        return None
    if n not in (1, 2, 4) or n < GEOMETRY[geometry]:
        return Misfit("vector-size", f"the geometry .{geometry} needs {GEOMETRY[geometry]} coordinates, not {n}")
    surface = "surfref" in form.facts.handles
    first = 1 if geometry.startswith("a") and not surface else 0
    if first and not _is_index(of_types[0]):
        return Misfit("operand-type", "the index of an array of textures is an integer of 32 bits")
    types = of_types[first:]
    if not all(together(a, b) for a, b in itertools.pairwise(types)):
        return Misfit("operand-type", "coordinates of several types do not go into one vector")
    if all(isinstance(own, str) for own in types):
        if (not surface and settled.get("ctype") == "f32") != ("float" in types):
            return Misfit("operand-type", "a constant of the other kind is expected here")
        return None
    known = {own for own in types if isinstance(own, ScalarType)}
    if len(known) == 1:
        own, wanted = next(iter(known)), str(settled.get("ctype", "s32"))
        legal = fitting(wanted, False, surface) | ({"u32", "s32"} if wanted == "f32" else set())
        if own.name not in legal:
            return Misfit("operand-type", f"coordinates of type .{own} do not fit .{wanted}")
    return None


def _name(address: Address) -> str:
    return getattr(address.base, "name", "a")


def _is_index(own: ScalarType | str | None) -> bool:
    return own == "int" or (isinstance(own, ScalarType) and own.bits == 32 and own.kind in "bus")


def is_narrow(form: Form, settled: Mapping[str, str | bool], operands: tuple[Operand, ...], words: Collection[str], sm: int) -> int | None:
    """Which operand makes an address of the global or generic space of 32 bits, which no supported target has.

    Of bulk copies ptxas notices it only where it calls a function for them: from sm_120 on, to the shared memory of a cluster.
    """
    if sm >= 120 and {"bulk", "shared::cluster", "global"}.issubset(words):
        match operands[1]:
            case Address(base=Register(type=t)) if t.bits < 64:
                return 1
    if form.facts.has_wide_addresses and "async" not in settled and "tensormap" not in settled:
        for i, operand in enumerate(operands):
            match operand:
                case Address(base=Register(type=t)) if t.bits == 32 and space_of(settled, form) in ("generic", "global"):
                    return i
    if form.facts.variables == "named" and "u32" in settled.values():
        return 0
    if form.facts.variables == "any" and len(operands) == 2 and settled.get("type") in ("u32", "b32", "s32"):
        match operands[1]:
            case Variable(space="global") | Symbol(target=Variable(space="global")):
                return 1
    return None
