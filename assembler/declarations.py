"""From lark's trees to declarations: variables, parameters, function headers, directives; everything that is not an instruction."""

from __future__ import annotations

import dataclasses
import re
import struct
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from warplab.isa.types import TYPES, ScalarType

from . import constants, makers, shapes
from .constants import Constant, signed
from .flaw import Flaw
from .ir import Directive, Function, Immediate, Initial, Linkage, Register, Symbol, Variable
from .making import make_register, make_variable
from .scopes import Scope, Stem

if TYPE_CHECKING:
    pass

SPACES = frozenset(["reg", "sreg", "const", "global", "local", "param", "shared", "tex"])
DECLARABLE = frozenset("pred u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 b128 f16 f16x2 f32 f64 texref samplerref surfref".split())
VECTORS = {"v2": 2, "v4": 4}


@dataclasses.dataclass(slots=True)
class Specs:
    """The words before a declared name."""

    space: str = ""
    type: ScalarType | None = None
    vector: int = 1
    align: int = 0
    linkage: Linkage = ""
    attributes: tuple[str, ...] = ()
    pointer: tuple[str, int] | None = None
    bank: int | None = None


def integer(token: Any, bits: int = 32) -> int:
    """The value of an INTEGER token that counts something."""
    value = shapes.literal(str(token)).value
    assert isinstance(value, int)
    if value >> bits:
        raise Flaw("constant-overflow", f"{token} needs more than {bits} bits", str(token))
    return value


def fold(tree: Any) -> Constant:
    """The value of a constant expression's tree."""
    tokens = list(tree.scan_values(shapes.is_leaf))
    index = {t.start_pos: i for i, t in enumerate(tokens)}
    return makers.constant_of(tree, index)([shapes.literal(str(t)) for t in tokens])


def specs(trees: Iterable[Any], *, parameter: bool = False) -> Specs:
    """Reads `.space .align n .v4 .type ...`."""
    out = Specs()
    for tree in trees:
        child: Any = tree.children[0]
        if isinstance(child, str):
            try:
                _word(out, child, parameter)
            except Flaw as flaw:
                flaw.at = child.start_pos  # type: ignore[attr-defined]
                raise
        elif child.data == "align":
            _align(out, child.children[0])
        elif child.data == "bank":
            _space(out, "const", child)
            out.bank = integer(child.children[1]) if len(child.children) > 1 else None
        elif out.type is not None:
            raise Flaw("syntax", ".attribute stands before the type", ".attribute")
        else:
            out.attributes += attributes(child)
    return out


def _align(out: Specs, token: Any) -> None:
    n = integer(token)
    if n <= 0 or n & (n - 1):
        raise Flaw("bad-alignment", f"the alignment {n} is no power of two", str(token))
    if out.pointer is not None:
        out.pointer = (out.pointer[0], n)
    else:
        out.align = n


def _space(out: Specs, word: str, token: Any) -> None:
    if out.pointer is not None:
        if out.pointer[0] or word not in ("global", "shared", "const", "local"):
            raise Flaw("bad-declaration", f"a pointer cannot point to .{word}", "." + word)
        out.pointer = (word, out.pointer[1])
    elif out.space or out.type is not None:
        raise Flaw("bad-declaration", f"a second state space .{word}", "." + word)
    else:
        out.space = word


def _word(out: Specs, token: str, parameter: bool) -> None:
    word = token[1:]
    if word in SPACES:
        _space(out, word, token)
    elif word in VECTORS and out.vector == 1 and out.type is None:
        out.vector = VECTORS[word]
    elif word in DECLARABLE:
        if out.type is not None:
            raise Flaw("bad-declaration", f"a second type .{word}", token)
        out.type = TYPES[word]
    elif word == "ptr" and parameter and out.type is not None and out.pointer is None:
        out.pointer = ("", 4)
    else:
        raise Flaw("bad-declaration", f"{token} does not belong in a declaration", token)


def attributes(tree: Any) -> tuple[str, ...]:
    """`.attribute(.managed, .unified(1, 2))` as ("managed", "unified(1, 2)")."""
    out = []
    for item in tree.children:
        word, values = str(item.children[0])[1:], [fold(v) for v in item.children[1:] if v is not None]
        if word not in ("managed", "unified"):
            raise Flaw("bad-declaration", f"no attribute is called .{word}", "." + word)
        out.append(word + (f"({', '.join(str(int(v)) for v in values)})" if values else ""))
    return tuple(out)


def linkage(tree: Any) -> Linkage:
    """The linkage word, or ""."""
    return "" if tree is None else cast(Linkage, str(tree.children[0])[1:])


def split(children: Sequence[Any], kind: str) -> tuple[list[Any], list[Any]]:
    """The children that are trees of a rule, and the others."""
    mine = [c for c in children if getattr(c, "data", "") == kind]
    return mine, [c for c in children if getattr(c, "data", "") != kind and c is not None]


def dimensions(trees: Sequence[Any]) -> tuple[int, ...]:
    """`[2][3]`; an open first dimension is 0."""
    out = []
    for i, tree in enumerate(trees):
        token = tree.children[0]
        if token is None and i:
            raise Flaw("syntax", "only the first dimension of an array may be left open", "]")
        value = 0 if token is None else shapes.literal(str(token)).value
        out.append(int(value))
    return tuple(out)


def word_of(out: Specs, text: str) -> None:
    """Adds a word of a parameter, `.align 4` among them."""
    if text.startswith(".align"):
        _align(out, text.removeprefix(".align").strip())
    else:
        _word(out, text, parameter=True)


def parameter(tree: Any, span_of: Any) -> Variable:
    """One parameter of a function or prototype."""
    spec_trees, rest = split(tree.children, "spec")
    dims_trees, rest = split(rest, "dimension")
    words = specs(spec_trees, parameter=True)
    token = rest[0]
    where = span_of(token.start_pos, token.end_pos)
    if not words.space:
        raise Flaw("bad-declaration", f"parameter {token} must say .param", str(token))
    if words.type is None:
        raise Flaw("bad-declaration", f"parameter {token} has no type", str(token))
    if words.vector * words.type.bits > 128:
        raise Flaw("bad-declaration", f"parameter {token} is wider than 128 bits", str(token))
    dims = dimensions(dims_trees)
    return make_variable(str(token), words, dims, where)


def with_register(variable: Variable, scope: Scope) -> Variable:
    """A .reg parameter of a .func, with its register."""
    register = make_register(variable.name, variable.type, variable.vector, len(scope.registers), variable.span)
    scope.registers.append(register)
    return dataclasses.replace(variable, register=register)


POSITIVE = frozenset({".maxntid", ".reqntid", ".minnctapersm", ".maxnctapersm", ".maxnreg", ".local_maxnreg"})


def texts(tree: Any) -> tuple[str, ...]:
    """The strings of a .pragma."""
    return tuple(str(t)[1:-1] for t in tree.children)


def performance(tree: Any, span_of: Any) -> Directive:
    """`.maxntid 256, 1, 1`, `.noreturn`, `.pragma "...";`"""
    first = tree.children[0]
    if getattr(first, "data", "") == "strings":
        token = first.children[0]
        return Directive(".pragma", texts(first), span_of(token.start_pos, token.end_pos))
    numbers = [fold(v) for v in tree.children[1:] if v is not None]
    return Directive(str(first), tuple(int(n) for n in numbers), span_of(first.start_pos, first.end_pos))


# ---------------------------------------------------------------- initial values


_ODD = re.compile(r"(?<!\d)0\d|\d{19}")  # numbers that int() would take for others, or that may be too large


def initial(tree: Any, words: Specs, scope: Scope) -> Initial:
    """The value of `= ...`, numbers converted to the variable's type: float for .f16 to .f64, int otherwise."""
    assert words.type is not None
    if isinstance(tree, str):  # INTEGERS
        numbers = tree[1:-1].split(",")
        if words.type.kind == "f" or _ODD.search(tree):
            return tuple(_number(shapes.literal(n.strip()), None, words.type) for n in numbers)
        return tuple(map(int, numbers))
    if tree.data == "braced":
        return tuple(initial(c, words, scope) for c in tree.children if c is not None)
    if tree.data == "symbol":
        if words.type.kind == "f":
            raise Flaw("bad-initialiser", f"an address is no .{words.type}")
        return _symbol(tree, scope)
    if tree.data == "setting":
        raise Flaw("bad-initialiser", f"{tree.children[0]} = ... belongs to textures and samplers", str(tree.children[0]))
    literal = shapes.literal(str(tree.children[0])) if tree.data == "number" else None
    return _number(literal, tree, words.type)


def _number(literal: Immediate | None, tree: Any, type: ScalarType) -> int | float:
    """A number as the variable's type holds it, which ptxas makes stranger than one would think."""
    value = constants.constant(literal) if literal is not None else fold(tree)
    if type.kind == "f" and type.name not in ("f32", "f64"):
        raise Flaw("bad-initialiser", f".{type} variables have no initial value")
    if isinstance(value, float) != (type.kind == "f") and type.kind != "b":
        raise Flaw("bad-initialiser", f"the initial value is {'a floating-point' if isinstance(value, float) else 'an integer'} "
                   f"number, the variable a .{type}")  # fmt: skip
    if isinstance(value, int):
        return int(value)
    single = literal.value if literal is not None and literal.kind == "f32" else None
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
    offset = signed(int(fold(extra))) if extra is not None else 0
    if reference.data == "applied":
        if str(reference.children[0]) != "generic":
            raise Flaw("bad-initialiser", f"{reference.children[0]}( ) is no operator", str(reference.children[0]))
        inner = _symbol(reference.children[1], scope)
        if inner.offset:
            raise Flaw("syntax", "the offset stands behind generic( )", "+")
        return dataclasses.replace(inner, generic=True, offset=inner.offset + offset)
    if reference.data == "masked":
        inner = _symbol(reference.children[1], scope)
        return dataclasses.replace(inner, mask=integer(reference.children[0], 64), offset=inner.offset + offset)
    name = str(reference.children[0])
    target = scope.lookup(name)
    if not isinstance(target, (Variable, Function)):
        raise Flaw("undeclared-name", f"{name} is not declared", name)
    return Symbol(target, offset)


def settings(tree: Any) -> tuple[str, ...]:
    """The `field = value` pairs of a texture or sampler, as attributes."""
    out = []
    for item in tree.children:
        if getattr(item, "data", "") != "setting":
            raise Flaw("bad-initialiser", "a texture is initialised by field = value")
        value = item.children[1]
        out.append(f"{item.children[0]}={value if isinstance(value, str) else int(fold(value))}")
    return tuple(out)


def shape_of(dims: tuple[int, ...], value: Any) -> tuple[int, ...]:
    """The dimensions, an open first one closed by the initial value."""
    return (len(value), *dims[1:]) if dims and dims[0] == 0 and isinstance(value, tuple) else dims


def check_initial(value: Any, dims: tuple[int, ...], name: str) -> None:
    """An initial value is nested as its array is, and no level is longer."""
    if isinstance(value, tuple) != bool(dims):
        raise Flaw("bad-initialiser", f"the initial value of {name} needs {'braces' if dims else 'no braces'} here", name)
    if isinstance(value, tuple):
        if len(value) > dims[0]:
            raise Flaw("bad-initialiser", f"{len(value)} initial values for {dims[0]} elements of {name}", name)
        inner = value if len(dims) > 1 else [v for v in value if isinstance(v, tuple)] if tuple in set(map(type, value)) else ()
        for v in inner:
            check_initial(v, dims[1:], name)


def same_signature(a: Function, b: Function) -> str:
    """What differs between two declarations of a function, or ""."""
    if a.is_entry != b.is_entry:
        return "one is an .entry, the other a .func"
    for what, mine, other in (("return values", a.returns, b.returns), ("parameters", a.params, b.params)):
        if len(mine) != len(other):
            return f"the number of {what} differs"
        for x, y in zip(mine, other, strict=True):
            if (x.type, x.vector, x.dims, x.space) != (y.type, y.vector, y.dims, y.space):
                return f"the types of {what} {x.name} and {y.name} differ"
    return ""


def registers_of(words: Specs, declarators: Sequence[Any], scope: Scope, span_of: Any) -> tuple[list[Register], list[tuple[str, int]]]:
    """Declares the registers of one .reg statement."""
    assert words.type is not None
    registers: list[Register] = []
    stems: list[tuple[str, int]] = []
    for tree in declarators:
        token, count, *rest = tree.children
        dims, _ = split(rest[:-1], "dimension")
        name, where = str(token), span_of(token.start_pos, token.end_pos)
        if dims or rest[-1] is not None:
            raise Flaw("bad-declaration", f"register {name} can be no array and has no initial value", name)
        if count is not None:
            n = integer(count)
            scope.declare_stem(name, Stem(n, words.type, words.vector, where))
            stems.append((name, n))
        else:
            register = make_register(name, words.type, words.vector, len(scope.registers), where)
            scope.declare(name, register)
            scope.registers.append(register)
            registers.append(register)
            stems.append((name, -1))
    return registers, stems
