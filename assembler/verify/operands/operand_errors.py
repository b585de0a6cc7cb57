"""Whether an operand fits its place: destinations, sources, pairs; `misfit` judges, and says why."""

from __future__ import annotations

from collections.abc import Mapping

from warplab.isa.notation import Form
from warplab.isa.notation import Operand as Place
from warplab.isa.types import TYPES, ScalarType

from ...ir import (
    Element,
    Function,
    Immediate,
    Label,
    Negated,
    Operand,
    Pair,
    Plus,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Targets,
    Variable,
    Vector,
)
from .addresses import address_misfit, space_misfit
from .kinds import (
    STRICT,
    Misfit,
    count_of,
    described,
    fitting,
    plain_type,
    special_misfit,
    sums,
    takes_only_its_bits,
    type_misfit,
)
from .vectors import mov_vector, vector_misfit

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


def _pair_misfit(form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand) -> Misfit | None:
    t = place_type(form, place, settled)
    assert t is not None, form.row
    if isinstance(operand, Pair):
        first, second = operand.first, operand.second
        if isinstance(first, Sink) and isinstance(second, Sink):
            return Misfit("operand-kind", "'_' cannot stand for both results of a pair")
        if isinstance(second, Sink) and form.facts.keeps_predicate:
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
        if (isinstance(operand, Pair) and not form.facts.keeps_result) or form.facts.discards:
            return None
        return Misfit("operand-kind", f"{form.opcode} must put its result somewhere: '_' is not allowed here")
    if isinstance(first, Immediate):
        return Misfit("operand-kind", "a result needs a register")
    if count_of(place, settled):
        return vector_misfit(form, settled, place, first, t, sink=True)
    return type_misfit(first, t, place, wider=place.wider, plain=takes_only_its_bits(form, place))


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
        if form.facts.discards:
            return None
        return Misfit("operand-kind", f"{form.opcode} must put its result somewhere: '_' is not allowed here")
    if isinstance(operand, Immediate | SpecialRegister | Variable | Function | Label | Symbol | Negated | Plus):
        return Misfit("operand-kind", f"a result needs a register, not {described(operand)}")
    if form.facts.widest_pack and not count_of(place, settled):
        return mov_vector(operand, t, source=False) if _is_vector(operand) else plain_type(form, operand, t, place)
    if count_of(place, settled):
        return vector_misfit(form, settled, place, operand, t, sink=True)
    if isinstance(operand, Vector) and len(operand.elements) == 1 and place.count == "vec":
        operand = operand.elements[0]
    return plain_type(form, operand, t, place)


def _is_vector(operand: Operand) -> bool:
    return isinstance(operand, Vector) or (isinstance(operand, Register) and operand.vector > 1)


def _source_misfit(form: Form, settled: Mapping[str, str | bool], place: Place, operand: Operand, t: ScalarType) -> Misfit | None:
    if isinstance(operand, Sink):
        return Misfit("operand-kind", "'_' discards a result; it cannot be read")
    if isinstance(operand, Negated):
        if not place.negatable:
            return Misfit("operand-kind", "only a predicate that selects or combines can be negated here")
        operand = operand.register
    if "texref" in form.facts.handles and place.name == "g" and isinstance(operand, Vector):  # an offset for each coordinate
        return next((wrong for e in operand.elements if (wrong := plain_type(form, e, t, place)) is not None), None)
    needs_register = form.facts.predicate_register
    if (
        place.negatable
        and isinstance(operand, Immediate)
        and needs_register is not None
        and needs_register.holds([*map(str, settled.values())])
    ):
        return Misfit("operand-kind", "a predicate register is expected here, not a constant")
    if isinstance(operand, Plus | Function) or (
        isinstance(operand, Symbol) and (isinstance(operand.target, Function) or not form.facts.variables or place.name != "a")
    ):
        return None if sum_fits(form, operand, t, place, settled) else sum_misfit(operand, t)
    if form.facts.widest_pack and not count_of(place, settled):
        return _mov_source(form, operand, t, place)
    if isinstance(operand, Variable) and not form.facts.variables:
        help = f"ld.{operand.space} its value into a register first"
        return Misfit("operand-kind", f"a register or constant of type .{t} is expected here, not {described(operand)}", help, operand)
    if isinstance(operand, SpecialRegister):
        if form.facts.reads_special and place.wider and t.is_integer and not any(k.startswith("rnd") for k in settled):
            return special_misfit(operand, t, wider=True)
        return Misfit("special-register", f"{operand.name} can be read by mov and cvt only", "mov it into a register first")
    if isinstance(operand, Variable | Symbol) and form.facts.variables and place.name == "a":
        if "to" in settled:
            return None if isinstance(operand, Symbol) else sum_misfit(operand, t)
        return space_misfit(form, settled, operand)
    if count_of(place, settled):
        return vector_misfit(form, settled, place, operand, t, sink=False)
    if isinstance(operand, Vector) and len(operand.elements) == 1 and place.count == "vec":
        operand = operand.elements[0]
    return plain_type(form, operand, t, place)


def sum_fits(form: Form, operand: Plus | Function | Symbol, t: ScalarType, place: Place, settled: Mapping[str, str | bool]) -> bool:
    """Whether `r+7`, `g+4` or a function's name may stand for a value; ptxas looks at the kind of number then, and not at its size."""
    own = takes_only_its_bits(form, place) or (t.kind == "p" and "pred" not in settled.values() and "pred" not in settled)
    if isinstance(operand, Plus):
        if own or t.name in STRICT:
            return operand.register.type.name in fitting(t.name, place.wider, own)
        return operand.register.type.name in sums(t)
    if isinstance(operand, Function) or isinstance(operand.target, Function):
        return not own and t.name not in STRICT and (form.facts.variables != "named" or "to" in settled)
    return t.is_integer and t.elements == 1 and not form.facts.refuses_addresses and form.facts.parts <= 1


def sum_misfit(operand: Operand, t: ScalarType) -> Misfit:
    """What is wrong with it where it may not."""
    return Misfit("operand-kind", f"{described(operand)} is an address: it does not fit .{t}", "an address stands in brackets, or in mov")


def _mov_source(form: Form, operand: Operand, t: ScalarType, place: Place) -> Misfit | None:
    match operand:
        case SpecialRegister():
            return special_misfit(operand, t, wider=False)
        case Variable() | Symbol():
            target = operand if isinstance(operand, Variable) else operand.target
            handle = isinstance(target, Variable) and target.type.kind == "o" and target is operand
            if t.is_integer and t.bits >= 16 and not (handle and t.name not in ("u64", "s64")):
                return None
            return Misfit("operand-type", f"{described(operand)} is an address: it does not fit .{t}")
        case _ if _is_vector(operand):
            return mov_vector(operand, t, source=True)
    return plain_type(form, operand, t, place)
