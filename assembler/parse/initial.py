"""Initial values of variables, as ptxas converts them to the variable's type."""

from __future__ import annotations

import dataclasses
import re
import struct
from typing import Any

from warplab.isa.types import ScalarType

from ..ir import Function, Immediate, Initial, Symbol, Variable
from . import constants
from .constants import integer, literal, signed
from .operand_builders import constant_of, integer_of
from .scopes import Scope
from .syntax_error import Flaw

_ODD = re.compile(r"(?<!\d)0\d|\d{19}")  # numbers that int() would take for others, or that may be too large


def initial(tree: Any, type: ScalarType, scope: Scope) -> Initial:
    """The value of `= ...`, numbers converted to the variable's type: float for .f16 to .f64, int otherwise."""
    levels: list[tuple[Any, list[Initial]]] = [(iter((tree,)), [])]
    while True:
        children, values = levels[-1]
        for c in children:
            if getattr(c, "data", "") == "braced":
                levels.append((iter(c.children), []))
                break
            if c is not None:
                values.append(_value(c, type, scope))
        else:
            if len(levels) == 1:
                return values[0]
            levels.pop()
            levels[-1][1].append(tuple(values))


def _value(tree: Any, type: ScalarType, scope: Scope) -> Initial:
    """A value that is not nested, or a list of plain numbers."""
    if isinstance(tree, str):  # INTEGERS
        numbers = tree[1:-1].split(",")
        if type.kind == "f" or _ODD.search(tree):
            return tuple(_number(literal(n.strip()), None, type) for n in numbers)
        return tuple(map(int, numbers))
    if tree.data == "symbol":
        if type.kind == "f":
            raise Flaw("bad-initialiser", f"an address is not a .{type}")
        return _symbol(tree, scope)
    if tree.data == "setting":
        raise Flaw("bad-initialiser", f"{tree.children[0]} = ... belongs to textures and samplers", str(tree.children[0]))
    plain = literal(str(tree.children[0])) if tree.data == "number" else None
    return _number(plain, tree, type)


def _number(plain: Immediate | None, tree: Any, type: ScalarType) -> int | float:
    """A number as the variable's type holds it, which ptxas makes stranger than one would think."""
    value = constants.constant(plain) if plain is not None else constant_of(tree)
    if type.kind == "f" and type.name not in ("f32", "f64"):
        raise Flaw("bad-initialiser", f".{type} variables have no initial value")
    if isinstance(value, float) != (type.kind == "f") and type.kind != "b":
        raise Flaw("bad-initialiser", f"the initial value is {'a floating-point' if isinstance(value, float) else 'an integer'} "
                   f"number, the variable a .{type}")  # fmt: skip
    if isinstance(value, int):
        return int(value)
    single = plain.value if plain is not None and plain.kind == "f32" else None
    if type.bits == 32:
        bits = int(single) if single is not None else _single(value)
        return float(struct.unpack("<f", struct.pack("<I", bits))[0]) if type.kind == "f" else bits
    if type.kind == "f":
        return value
    return int.from_bytes(struct.pack("<d", value), "little") & ((1 << type.bits) - 1)


def _single(value: float) -> int:
    """The pattern of the nearest .f32."""
    try:
        return int.from_bytes(struct.pack("<f", value), "little")
    except OverflowError:
        return 0x7F800000 if value > 0 else 0xFF800000


def _symbol(tree: Any, scope: Scope) -> Symbol:
    reference, sign, extra = (*tree.children, None, None)[:3]
    if sign == "-":
        raise Flaw("syntax", "a negative offset is written +-n", "-")
    offset = signed(integer_of(extra)) if extra is not None else 0
    if reference.data == "applied":
        if str(reference.children[0]) != "generic":
            raise Flaw("bad-initialiser", f"{reference.children[0]}( ) is not an operator", str(reference.children[0]))
        inner = _symbol(reference.children[1], scope)
        if inner.offset:
            raise Flaw("syntax", "the offset stands behind generic( )", "+")
        return dataclasses.replace(inner, generic=True, offset=inner.offset + offset)
    if reference.data == "masked":
        inner = _symbol(reference.children[1], scope)
        return dataclasses.replace(inner, mask=integer(str(reference.children[0]), 64), offset=inner.offset + offset)
    name = str(reference.children[0])
    target = scope.lookup(name)
    if not isinstance(target, (Variable, Function)):
        raise Flaw("undeclared-name", f"{name} is not declared", name, hint=scope.hint(name))
    return Symbol(target, offset)


def settings(tree: Any) -> tuple[str, ...]:
    """The `field = value` pairs of a texture or sampler, as attributes."""
    out = []
    for item in tree.children:
        if getattr(item, "data", "") != "setting":
            raise Flaw("bad-initialiser", "a texture is initialised by field = value")
        value = item.children[1]
        out.append(f"{item.children[0]}={value if isinstance(value, str) else integer_of(value)}")
    return tuple(out)


def closed(dims: tuple[int, ...], value: Any) -> tuple[int, ...]:
    """The dimensions, an open first one closed by the initial value."""
    return (len(value), *dims[1:]) if dims and dims[0] == 0 and isinstance(value, tuple) else dims


def check_initial(value: Any, dims: tuple[int, ...], name: str) -> None:
    """An initial value is nested as its array is, and no level is longer."""
    level, depth = [value], 0
    while level:
        for v in level:
            if isinstance(v, tuple) != (depth < len(dims)):
                raise Flaw(
                    "bad-initialiser", f"the initial value of {name} needs {'braces' if depth < len(dims) else 'no braces'} here", name
                )
            if isinstance(v, tuple) and len(v) > dims[depth]:
                raise Flaw("bad-initialiser", f"{len(v)} initial values for {dims[depth]} elements of {name}", name)
        depth += 1
        nested = [v for v in level if isinstance(v, tuple)]
        level = [
            x for v in nested if depth < len(dims) or tuple in set(map(type, v)) for x in v if depth < len(dims) or isinstance(x, tuple)
        ]
