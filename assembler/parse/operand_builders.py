"""What the trees of operands, constant expressions and `.loc` mean; names are looked up in a mapping, which is a Scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from warplab.isa.foreign import component

from ..ir import (
    Address,
    Arguments,
    Element,
    Immediate,
    Minus,
    Negated,
    Operand,
    Pair,
    Plus,
    Register,
    Sink,
    SpecialRegister,
    Symbol,
    Variable,
    Vector,
)
from . import constants
from .constants import Constant, literal
from .syntax_error import Flaw

SINK = Sink()


class NamesInScope(Protocol):
    """A Scope: the names that can be used here."""

    def __getitem__(self, name: str, /) -> Operand:
        """What a name stands for."""

    def hint(self, name: str) -> str:
        """What may have been meant by a name that nothing declares."""


def operands_of(tree: Any, names: NamesInScope) -> tuple[Operand, ...]:
    """The operands of an instruction, or those of a call."""
    if tree.data == "call_operands":
        return tuple([_operand(c, names) if hasattr(c, "children") else names[str(c)] for c in tree.children if c is not None])
    return tuple(_several(tree.children, names))


def _several(trees: Sequence[Any], names: NamesInScope) -> list[Operand]:
    return [_operand(t, names) for t in trees if t is not None]


def _operand(tree: Any, names: NamesInScope) -> Operand:
    return _MAKERS[tree.data](tree, names)


def _name(tree: Any, names: NamesInScope) -> Operand:
    return names[str(tree.children[0])]


def _component(tree: Any, names: NamesInScope) -> Operand:
    name, part = str(tree.children[0]), str(tree.children[1])[1:]
    part = {"r": "x", "g": "y", "b": "z", "a": "w"}.get(part, part)
    base = names[name]
    if isinstance(base, SpecialRegister):
        return SpecialRegister(base.name, part)
    if isinstance(base, Register):
        return Element(base, part)
    raise Flaw("bad-operand", f"{name} has no part .{part}: it is not a register", name, hint=component(name, part) or names.hint(name))


def _sink(tree: Any, names: NamesInScope) -> Operand:
    return SINK


def _number(tree: Any, names: NamesInScope) -> Operand:
    return literal(str(tree.children[0]))


def _folded(tree: Any, names: NamesInScope) -> Operand:
    value = constant_of(tree)
    if isinstance(value, float):
        return Immediate(value, "f64")
    # -2**63 is spelled with a literal that is unsigned, so the two are one.
    return Immediate(-constants.SIGN if value == constants.SIGN else int(value), "int")


def constant_of(tree: Any) -> Constant:
    """The value of a constant expression, however many terms it has: operands come before what is done with them."""
    todo: list[tuple[Any, bool]] = [(tree, False)]
    values: list[Constant] = []
    while todo:
        t, are_there = todo.pop()
        if t.data == "number":
            values.append(constants.constant(literal(str(t.children[0]))))
            continue
        words = [str(c) for c in t.children if isinstance(c, str)]
        operands = [c for c in t.children if not isinstance(c, str)]
        if not are_there:
            todo += [(t, True), *((o, False) for o in reversed(operands))]
            continue
        given = values[-len(operands) :]
        del values[-len(operands) :]
        values.append(_FOLDS[t.data](*words, *given))
    return values[0]


_FOLDS: dict[str, Callable[..., Constant]] = {
    "binary": constants.binary, "prefix": constants.prefix, "cast": constants.cast, "choose": constants.choose,
}  # fmt: skip


def integer_of(tree: Any) -> int:
    """The value of a constant expression that must be an integer."""
    value = constant_of(tree)
    if isinstance(value, float):
        raise Flaw("not-a-constant", "an integer constant is needed here")
    return int(value)


def _offset(tree: Any, names: NamesInScope) -> Operand:
    name, sign = str(tree.children[0]), str(tree.children[1])
    base = names[name]
    offset = constants.signed(integer_of(tree.children[2]))
    if sign == "-":
        raise Flaw("syntax", "a negative offset is written +-n", "-", hint=f"write {name}+-{offset}")
    if isinstance(base, Variable):
        return Symbol(base, offset)
    if isinstance(base, Register):
        return Plus(base, offset)
    raise Flaw("bad-operand", f"{name}+{offset}: only a register or variable can have an offset", name)


def _indexed(tree: Any, names: NamesInScope) -> Operand:
    name = str(tree.children[0])
    base = names[name]
    if not isinstance(base, Variable) or not base.dims:
        raise Flaw("bad-operand", f"{name} is not an array, so it has no [ ]", name)
    inner = base.vector * base.type.bytes
    for n in base.dims[1:]:
        inner *= n
    return Symbol(base, integer_of(tree.children[1]) * inner)


def _vector(tree: Any, names: NamesInScope) -> Operand:
    return Vector(tuple(_several(tree.children, names)))


def _arguments(tree: Any, names: NamesInScope) -> Operand:
    return Arguments(tuple(_several(tree.children, names)))


def _address(tree: Any, names: NamesInScope) -> Operand:
    first, *rest = tree.children
    base: Any = _operand(first, names)
    parts = tuple([_operand(t, names) if hasattr(t, "children") else names[str(t)] for t in rest if t is not None])
    if parts and not isinstance(base, Register | Variable | Element):
        what = "a number" if isinstance(base, Immediate) else "an offset"
        raise Flaw("bad-operand", f"{what} cannot stand before coordinates", hint="keep the whole address in a register")
    match base:
        case Register() | Variable() | Element():
            return Address(base, 0, parts)
        case Plus(register=register):
            return Address(register, base.offset, parts)
        case Symbol(target=Variable() as target):
            return Address(target, base.offset, parts)
        case Immediate(kind="int", value=int(value)):
            return Address(None, value, parts)
    if base.__class__.__name__ in ("Label", "Unresolved"):
        raise Flaw("undeclared-name", f"{base.name} is not declared", base.name, hint=names.hint(base.name))
    raise Flaw("bad-operand", f"{described(base)} is not an address")


def described(operand: object) -> str:
    """What kind of operand it is, in words."""
    name = getattr(operand, "name", "")
    return f"{type(operand).__name__.lower()} {name}".strip()


def _pair(tree: Any, names: NamesInScope) -> Operand:
    first = _operand(tree.children[0], names)
    return Pair(first, _operand(tree.children[2], names))


def _negated(tree: Any, names: NamesInScope) -> Operand:
    name = str(tree.children[1])
    register = names[name]
    if not isinstance(register, Register):
        raise Flaw("bad-operand", f"{name} is not a register", name)
    return Negated(register)


def _minus(tree: Any, names: NamesInScope) -> Operand:
    operand = _operand(tree.children[1], names)
    if str(tree.children[0]) == "+" or not isinstance(operand, (Register, Element)):
        raise Flaw("not-a-constant", f"{described(operand)} has no sign: only constants and the registers of video instructions do")
    return Minus(operand)


_MAKERS: dict[str, Callable[[Any, NamesInScope], Operand]] = {
    "name": _name, "component": _component, "sink": _sink, "number": _number, "binary": _folded, "prefix": _folded, "cast": _folded,
    "choose": _folded, "offset": _offset, "indexed": _indexed, "vector": _vector, "arguments": _arguments, "address": _address,
    "pair": _pair, "negated": _negated, "minus": _minus,
}  # fmt: skip
