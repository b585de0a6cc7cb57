"""From lark's trees to declarations: variables, parameters, function headers, directives; everything that is not an instruction."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, cast

from warplab.isa.types import TYPES, ScalarType

from ..ir import Declaration, Directive, Function, Initial, Linkage, Location, Register, Span, Symbol, Variable
from .constants import integer, literal
from .initial import check_initial, closed, initial, settings
from .operand_builders import integer_of
from .reader import TextReader
from .scopes import Scope, Stem
from .syntax_error import Flaw

SPACES = frozenset(["reg", "sreg", "const", "global", "local", "param", "shared", "tex"])
DECLARABLE = frozenset("pred u8 u16 u32 u64 s8 s16 s32 s64 b8 b16 b32 b64 b128 f16 f16x2 f32 f64 texref samplerref surfref".split())
VECTORS = {"v2": 2, "v4": 4}

MOST_REGISTERS = 1 << 30  # of one name; ptxas has no memory for many more


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
    closed: bool = False  # an .align behind the type was the last word

    def variable(
        self, name: str, dims: tuple[int, ...], span: Span, initial: tuple[Initial, ...] | int | float | Symbol | None = None
    ) -> Variable:
        """The variable that these words declare under a name."""
        type = self.type
        assert type is not None
        align = self.align or max(1, type.bytes * self.vector)  # the natural one
        return Variable(name, self.space, type, self.vector, dims, align, self.linkage, span, initial, self.attributes, self.pointer)


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
            if out.type is not None and (not parameter or out.closed):
                raise Flaw("syntax", ".align stands before the type", ".align")
            if out.type is not None:  # of what a kernel's parameter points to, with .ptr or without
                out.pointer, out.closed = out.pointer or ("", 4), True
            _align(out, child.children[0])
        elif child.data == "bank":
            _space(out, "const", child)
            out.bank = integer(str(child.children[1])) if len(child.children) > 1 else None
        elif out.type is not None:
            raise Flaw("syntax", ".attribute stands before the type", ".attribute")
        else:
            out.attributes += attributes(child)
    return out


def _align(out: Specs, token: Any) -> None:
    n = integer(str(token))
    if n <= 0 or n & (n - 1):
        raise Flaw("bad-alignment", f"the alignment {n} is not a power of two", str(token))
    if out.pointer is not None:
        out.pointer = (out.pointer[0], n)
    else:
        out.align = n


def _space(out: Specs, word: str, token: Any) -> None:
    if out.pointer is not None:
        if out.closed or out.pointer[0] or word not in ("global", "shared", "const", "local"):
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
        word, values = str(item.children[0])[1:], [integer_of(v) for v in item.children[1:] if v is not None]
        if word not in ("managed", "unified"):
            raise Flaw("bad-declaration", f"no attribute is called .{word}", "." + word)
        out.append(word + (f"({', '.join(map(str, values))})" if values else ""))
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
        value = 0 if token is None else literal(str(token)).value
        out.append(int(value))
    return tuple(out)


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
    return words.variable(str(token), dims, where)


def with_register(variable: Variable, scope: Scope) -> Variable:
    """A .reg parameter of a .func, with its register."""
    register = Register(variable.name, variable.type, variable.vector, len(scope.registers), variable.span)
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
    numbers = tuple(integer_of(v) for v in tree.children[1:] if v is not None)
    return Directive(str(first), numbers, span_of(first.start_pos, first.end_pos))


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


def registers_of(
    reader: TextReader, words: Specs, declarators: Sequence[Any], scope: Scope
) -> tuple[list[Register], list[tuple[str, int]]]:
    """Declares the registers of one .reg statement."""
    assert words.type is not None
    registers: list[Register] = []
    stems: list[tuple[str, int]] = []
    for tree in declarators:
        token, count, *rest = tree.children
        dims, _ = split(rest[:-1], "dimension")
        name, where = str(token), reader.span_of(token.start_pos, token.end_pos)
        if dims or rest[-1] is not None:
            raise Flaw("bad-declaration", f"register {name} can be no array and has no initial value", name)
        n = -1 if count is None else integer(str(count))
        if n > MOST_REGISTERS:
            raise Flaw("bad-declaration", f"{n} registers are too many: {MOST_REGISTERS} of one name are allowed", str(count))
        try:
            if count is not None:
                scope.declare_stem(name, Stem(n, words.type, words.vector, where))
            else:
                registers.append(scope.enter(name, words.type, words.vector, where))
        except Flaw as flaw:
            if scope.parent is None:
                raise
            reader.reports.flaw(flaw, where.start, where.end)
        stems.append((name, n))
    return registers, stems


def declaration(reader: TextReader, tree: Any, scope: Scope, span: Span) -> Declaration:
    """Any declaration: registers, or variables of one state space."""
    link = tree.children[0]
    spec_trees, rest = split(tree.children[1:], "spec")
    words = specs(spec_trees)
    words.linkage = linkage(link)
    if not words.space:
        raise Flaw("bad-declaration", "the declaration names no state space")
    if words.type is None:
        raise Flaw("syntax", "the declaration names no type", str(rest[0].children[0]) if rest else "")
    if words.vector * words.type.bits > 128:
        raise Flaw("bad-declaration", f"a vector of {words.vector} times .{words.type} is wider than 128 bits", f".{words.type}")
    if words.space in ("reg", "sreg"):
        registers, stems = registers_of(reader, words, rest, scope)
        return Declaration(tuple(registers), (), tuple(stems), span, words.type, words.vector)
    if scope.parent is None and words.space == "param":
        raise Flaw("bad-declaration", f".{words.space} variables are declared inside functions", f".{words.space}")
    variables = [v for t in rest for v in _declared(reader, t, words, scope)]
    return Declaration((), tuple(variables), (), span)


def _declared(reader: TextReader, tree: Any, words: Specs, scope: Scope) -> list[Variable]:
    """One declarator."""
    token, count, *rest, init = tree.children
    name, where = str(token), reader.span_of(token.start_pos, token.end_pos)
    dims, value = dimensions(rest), None
    assert words.type is not None
    if words.type.kind == "p":
        raise Flaw("bad-declaration", f"a predicate such as {name} lives in a register", name)
    one = dataclasses.replace(words)
    if init is not None:
        if words.space not in ("global", "const"):
            raise Flaw("bad-initialiser", f".{words.space} variables such as {name} have no initial value", name)
        if words.type.kind == "o":
            one.attributes = words.attributes + settings(init)
        else:
            value = initial(init, words.type, scope)
            dims = closed(dims, value)
            check_initial(value, (*dims, words.vector) if words.vector > 1 else dims, name)
    if 0 in dims and words.linkage != "extern":
        raise Flaw("bad-array", f"the array {name} has no size", name)
    if count is not None:
        n = integer(str(count))
        if n > 1 << 16:
            raise Flaw("bad-declaration", f"{n} variables are too many", str(count))
        made = [one.variable(f"{name}{i}", dims, where, value) for i in range(n)]
    else:
        made = [one.variable(name, dims, where, value)]
    return [_enter(reader, v, scope) for v in made]


def _enter(reader: TextReader, v: Variable, scope: Scope) -> Variable:
    """Declares a variable; one of the module may be declared again if it stays the same."""
    if scope.parent is not None:
        try:
            scope.declare(v.name, v)
        except Flaw as flaw:
            reader.reports.flaw(flaw, v.span.start, v.span.end)
        return v
    old = scope.own(v.name)
    if not isinstance(old, Variable):
        scope.declare(v.name, v)
        return v
    if "extern" not in (old.linkage, v.linkage):
        raise Flaw("duplicate-name", f"{v.name} is declared twice in this module", v.name, other=old.span)
    if (old.space, old.type, old.vector, len(old.dims)) != (v.space, v.type, v.vector, len(v.dims)):
        raise Flaw("redeclared-differently", f"{v.name} was declared otherwise before", v.name, other=old.span)
    if old.linkage == "extern":
        scope.names[v.name] = v
        scope.clear()
        return v
    return old


def location(tree: Any, span: Span) -> Location:
    """`.loc file line column`, perhaps with the place of a call that was inlined."""
    *first, inlined = tree.children
    file, line, column = [_value(t) for t in first]
    if inlined is None:
        return Location(file, line, column, span)
    word, name, offset, at, *place = inlined.children
    for token, keyword in ((word, "function_name"), (at, "inlined_at")):
        if token != keyword:
            raise Flaw("syntax", f"{keyword} is expected here", str(token))
    call_file, call_line, call_column = [_value(t) for t in place]
    return Location(file, line, column, span, str(name), 0 if offset is None else _value(offset), (call_file, call_line, call_column))


def _value(token: Any) -> int:
    """A number of a .loc, which has 32 bits."""
    value = int(literal(str(token)).value)
    if value >> 32:
        raise Flaw("out-of-range", f"{value} is not in the range 0 to {2**32 - 1}", str(token))
    return value
