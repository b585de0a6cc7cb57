"""What the trees of operands and of a few statements mean: for each a function that builds it, given a scope and what the shape leaves open."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, cast

from . import constants
from .constants import Constant
from .flaw import Flaw
from .ir import (
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
)
from .making import make_address, make_vector
from .trees import Tree

if TYPE_CHECKING:
    from lark import Token

    from .scopes import Scope

SINK = Sink()
Build = Callable[[Any, Sequence[Any]], Any]  # (scope, leaves)
Index = dict[int | None, int]


def maker_of(tree: Any, index: Index) -> Build:
    """The function that builds what a tree stands for, given the leaves."""
    return _MAKERS[tree.data](tree, index)


def _name(tree: Any, index: Index) -> Build:
    i = index[_token(tree, 0).start_pos]
    return lambda scope, leaves: scope.operands[leaves[i]]


def _token(tree: Any, i: int) -> Token:
    return cast("Token", tree.children[i])


def _component(tree: Any, index: Index) -> Build:
    i, part = index[_token(tree, 0).start_pos], str(tree.children[1])[1:]
    part = {"r": "x", "g": "y", "b": "z", "a": "w"}.get(part, part)

    def make(scope: Scope, leaves: Sequence[Any]) -> Operand:
        base = scope.operands[leaves[i]]
        if isinstance(base, SpecialRegister):
            return SpecialRegister(base.name, part)
        if isinstance(base, Register):
            return Element(base, part)
        raise Flaw("bad-operand", f"{leaves[i]} has no part .{part}: it is no register", leaves[i])

    return make


def _sink(tree: Any, index: Index) -> Build:
    return lambda scope, leaves: SINK


def _number(tree: Any, index: Index) -> Build:
    i = index[_token(tree, 0).start_pos]
    return lambda scope, leaves: leaves[i]


def _folded(tree: Any, index: Index) -> Build:
    value = constant_of(tree, index)

    def make(scope: Scope, leaves: Sequence[Any]) -> Immediate:
        return immediate(value(leaves))

    return make


def immediate(value: Constant) -> Immediate:
    """The operand that a folded value stands for."""
    if isinstance(value, float):
        return Immediate(value, "f64")
    # -2**63 is spelled with a literal that is unsigned, so the two are one.
    return Immediate(-constants.SIGN if value == constants.SIGN else int(value), "int")


def constant_of(tree: Any, index: Index) -> Callable[[Sequence[Any]], Constant]:
    """The function that folds an expression, given the leaves."""
    kind, children = tree.data, tree.children
    if kind == "number":
        i = index[children[0].start_pos]
        return lambda leaves: constants.constant(leaves[i])
    if kind == "binary":
        left, op, right = constant_of(children[0], index), str(children[1]), constant_of(children[2], index)
        return lambda leaves: constants.binary(op, left(leaves), right(leaves))
    if kind == "prefix":
        op, inner = str(children[0]), constant_of(children[1], index)
        return lambda leaves: constants.prefix(op, inner(leaves))
    if kind == "cast":
        word, inner = str(children[0]), constant_of(children[1], index)
        return lambda leaves: constants.cast(word, inner(leaves))
    assert kind == "choose", kind
    test, yes, no = (constant_of(c, index) for c in children)
    return lambda leaves: constants.choose(test(leaves), yes(leaves), no(leaves))


def _integer(value: Constant, word: str = "") -> int:
    if isinstance(value, float):
        raise Flaw("not-a-constant", "an integer constant is needed here", word)
    return int(value)


def _offset(tree: Any, index: Index) -> Build:
    i, sign, value = index[_token(tree, 0).start_pos], str(tree.children[1]), constant_of(tree.children[2], index)

    def make(scope: Scope, leaves: Sequence[Any]) -> Operand:
        base = scope.operands[leaves[i]]
        offset = constants.signed(_integer(value(leaves)))
        if sign == "-":
            raise Flaw("syntax", "a negative offset is written +-n", "-", hint=f"write {leaves[i]}+-{offset}")
        if isinstance(base, Variable):
            return Symbol(base, offset)
        if isinstance(base, Register):
            return cast(Operand, Displaced(base, offset))  # only for as long as its operand list is not complete
        raise Flaw("bad-operand", f"{leaves[i]}+{offset}: only a register or variable takes an offset", leaves[i])

    return make


class Displaced:
    """`%r+4` before it is known whether it stands inside an address."""

    __slots__ = ("base", "offset")

    def __init__(self, base: Register, offset: int) -> None:
        self.base = base
        self.offset = offset


def _indexed(tree: Any, index: Index) -> Build:
    i, value = index[_token(tree, 0).start_pos], constant_of(tree.children[1], index)

    def make(scope: Scope, leaves: Sequence[Any]) -> Operand:
        base = scope.operands[leaves[i]]
        if not isinstance(base, Variable) or not base.dims:
            raise Flaw("bad-operand", f"{leaves[i]} is no array, so it has no [ ]", leaves[i])
        inner = base.vector * base.type.bytes
        for n in base.dims[1:]:
            inner *= n
        return Symbol(base, _integer(value(leaves)) * inner)

    return make


def _many(trees: Sequence[Any], index: Index) -> Callable[[Scope, Sequence[Any]], tuple[Operand, ...]]:
    trees = [t for t in trees if t is not None]
    if all(t.data == "name" for t in trees):
        places = [index[t.children[0].start_pos] for t in trees]
        if len(places) > 1:
            several = operator.itemgetter(*places)
            return lambda scope, leaves: tuple(map(scope.operands.__getitem__, several(leaves)))
        return lambda scope, leaves: tuple([scope.operands[leaves[i]] for i in places])
    makers = [maker_of(t, index) for t in trees]
    return lambda scope, leaves: tuple([m(scope, leaves) for m in makers])


def _vector(tree: Any, index: Index) -> Build:
    many = _many(tree.children, index)
    return lambda scope, leaves: make_vector(many(scope, leaves))


def _arguments(tree: Any, index: Index) -> Build:
    many = _many(tree.children, index)
    return lambda scope, leaves: Arguments(many(scope, leaves))


def _operands(tree: Any, index: Index) -> Build:
    many = _many(tree.children, index)
    if any(t.data == "offset" for t in tree.children):
        return lambda scope, leaves: displaced(many(scope, leaves))
    return many


def _call_operands(tree: Any, index: Index) -> Build:
    return _many([_as_name(c) for c in tree.children], index)


def _as_name(child: Any) -> Any:
    return child if child is None or hasattr(child, "children") else Tree("name", [child])


def _address(tree: Any, index: Index) -> Build:
    first, rest = maker_of(tree.children[0], index), _many(tree.children[1:], index)
    return lambda scope, leaves: address(first(scope, leaves), rest(scope, leaves))


def address(first: Any, rest: tuple[Operand, ...]) -> Address:
    """`[first, rest...]`."""
    match first:
        case Register() | Variable() | Element():
            return make_address(first, 0, rest)
        case Displaced():
            return make_address(first.base, first.offset, rest)
        case Symbol(target=Variable() as target):
            return make_address(target, first.offset, rest)
        case Immediate(kind="int", value=int(value)):
            return make_address(None, value, rest)
    if first.__class__.__name__ in ("Label", "Unresolved"):
        raise Flaw("undeclared-name", f"{first.name} is not declared", first.name)
    raise Flaw("bad-operand", f"{described(first)} is no address")


def described(operand: object) -> str:
    """What kind of operand it is, in words."""
    name = getattr(operand, "name", "")
    return f"{type(operand).__name__.lower()} {name}".strip()


def _pair(tree: Any, index: Index) -> Build:
    first, second = maker_of(tree.children[0], index), maker_of(tree.children[2], index)
    return lambda scope, leaves: Pair(first(scope, leaves), second(scope, leaves))


def _register(operand: object, word: str) -> Register:
    if not isinstance(operand, Register):
        raise Flaw("bad-operand", f"{word} is no register", word)
    return operand


def _negated(tree: Any, index: Index) -> Build:
    i = index[_token(tree, 1).start_pos]
    return lambda scope, leaves: Negated(_register(scope.operands[leaves[i]], leaves[i]))


def _minus(tree: Any, index: Index) -> Build:
    sign, inner = str(tree.children[0]), maker_of(tree.children[1], index)

    def make(scope: Scope, leaves: Sequence[Any]) -> Operand:
        operand = inner(scope, leaves)
        if sign == "+" or not isinstance(operand, (Register, Element)):
            raise Flaw("not-a-constant", f"{described(operand)} has no sign: only constants and the registers of video instructions do")
        return Minus(operand)

    return make


def _location(tree: Any, index: Index) -> Build:
    """`.loc`: file, line, column, function, offset, place of the call; None for another directive."""
    tree = tree.children[0]
    if tree.data != "loc":
        return lambda scope, leaves: None
    inlined = tree.children[3]
    first = [index[t.start_pos] for t in tree.children[:3]]
    if inlined is None:
        return lambda scope, leaves: (*[leaves[i].value for i in first], "", 0, None)
    word, name, offset, at, *place = inlined.children
    for token, keyword in ((word, "function_name"), (at, "inlined_at")):
        if token != keyword:
            raise Flaw("syntax", f"{keyword} is expected here", str(token))
    words = (index[word.start_pos], index[at.start_pos])
    call, f = [index[t.start_pos] for t in place], index[name.start_pos]
    plus = index[offset.start_pos] if offset is not None else None

    def make(scope: Scope, leaves: Sequence[Any]) -> tuple[Any, ...]:
        if leaves[words[0]] != "function_name" or leaves[words[1]] != "inlined_at":
            raise Flaw("syntax", "function_name and inlined_at belong here", leaves[words[0]])
        i, j, k = call
        at = (leaves[i].value, leaves[j].value, leaves[k].value)
        i, j, k = first
        return leaves[i].value, leaves[j].value, leaves[k].value, leaves[f], 0 if plus is None else leaves[plus].value, at

    return make


def _register_statement(tree: Any, index: Index) -> Build:
    """`.reg .b32 %r<10>, a;`: the words before the names, and which leaves are names and counts; None for any other statement."""
    from .declarations import specs, split

    statement = tree.children[0]
    if statement.data != "declaration" or statement.children[0] is not None:
        return lambda scope, leaves: None
    spec_trees, declarators = split(statement.children[1:], "spec")
    simple = all(len(d.children) == 3 and d.children[2] is None for d in declarators)
    if not simple or any(not isinstance(t.children[0], str) for t in spec_trees):
        return lambda scope, leaves: None
    words = specs(spec_trees)
    if words.space != "reg" or words.type is None or words.vector * words.type.bits > 128:
        return lambda scope, leaves: None
    places = [(index[d.children[0].start_pos], index[d.children[1].start_pos] if d.children[1] is not None else -1) for d in declarators]
    return lambda scope, leaves: (words, [(leaves[n], leaves[c].value if c >= 0 else -1, n) for n, c in places])


def displaced(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands; `%r+4` outside of brackets is a value."""
    return tuple(Plus(o.base, o.offset) if isinstance(o, Displaced) else o for o in operands)


_MAKERS: dict[str, Callable[[Any, Index], Build]] = {
    "name": _name, "component": _component, "sink": _sink, "number": _number, "binary": _folded, "prefix": _folded, "cast": _folded,
    "choose": _folded, "offset": _offset, "indexed": _indexed, "vector": _vector, "arguments": _arguments, "operands": _operands,
    "call_operands": _call_operands, "address": _address, "pair": _pair, "negated": _negated, "minus": _minus,
    "directive": _location, "statement": _register_statement,
}  # fmt: skip
