"""Statement shapes: lark parses each shape of text once, with names and numbers factored out.

Later texts of that shape are built by plain calls; the fast paths put texts together that were understood before.
"""

from __future__ import annotations

import bisect
import functools
import importlib.resources
import operator
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from lark.exceptions import UnexpectedInput

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

if TYPE_CHECKING:
    from lark import Lark, Token

    from .declarations import Specs
    from .scopes import Scope

# What a shape leaves open, as the grammar's terminals NAME, BITS64, BITS32, DECIMAL and INTEGER have it.
# A word after a dot belongs to the shape.
_LEAF = re.compile(
    r"(?<![.\w$%:])([A-Za-z][\w$]*|[_$%][\w$]+|0[dD][0-9A-Fa-f]{16}|0[fF][0-9A-Fa-f]{8}"
    r"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
    r"|0[xX][0-9A-Fa-f]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?)",
    re.ASCII,
)
_LEAVES = frozenset({"NAME", "CALL", "WARP_SZ", "INTEGER", "DECIMAL", "BITS32", "BITS64"})
_CLASSES = {"int": "I", "f32": "F", "f64": "D"}
SINK = Sink()
_MOST_SHAPES = 1 << 16  # more than any text has, save one made to fill the memory

Open = str | Immediate  # a name or number that a shape leaves open
Build = Callable[[Any, Sequence[Any]], Any]  # (scope, leaves)


@functools.cache
def grammar() -> Lark:
    """The LALR parser, built at first use."""
    from lark import Lark

    text = importlib.resources.files(__package__).joinpath("ptx.lark").read_text()
    start = ["statement", "directive", "operands", "call_operands"]
    cache = _cache_file()
    return Lark(text, parser="lalr", start=start, maybe_placeholders=True, cache=cache or False, g_regex_flags=re.ASCII)


def _cache_file() -> str | None:
    """Where lark may keep the tables of the grammar, which take a quarter of a second to make; lark itself sees whether they still fit."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(home, "warplab")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        mine = os.stat(folder).st_uid == os.getuid() if hasattr(os, "getuid") else True
    except OSError:
        return None
    return os.path.join(folder, "grammar.lark") if mine and os.access(folder, os.W_OK) else None


@functools.lru_cache(maxsize=1 << 16)
def literal(text: str) -> Immediate:
    """A literal's value, shared by all its uses."""
    return constants.literal(text)


def factor(text: str) -> tuple[str, list[Open]]:
    """The shape of a text and what it leaves open: names as they are, numbers by value."""
    parts = _LEAF.split(text)
    leaves: list[Open] = []
    for i in range(1, len(parts), 2):
        leaf = parts[i]
        if leaf[0] in ".0123456789":
            value = literal(leaf)
            leaves.append(value)
            # \0 cannot stand in a text: no shape is mistaken for another.
            parts[i] = "\0" + _CLASSES[value.kind]
        elif leaf == "WARP_SZ":
            leaves.append(literal(leaf))
            parts[i] = "\0W"
        else:
            leaves.append(leaf)
            parts[i] = "\0N"
    return "".join(parts), leaves


class Leaf(str):
    """A token of a tree that was built from a shape."""

    __slots__ = ("end_pos", "start_pos", "type")
    type: str
    start_pos: int
    end_pos: int


class _Template:
    """A tree of a shape: its tokens know which name or number they are, or how far behind the last one they stand."""

    def __init__(self, tree: Any, tokens: Sequence[Any]) -> None:
        self.index = {t.start_pos: i for i, t in enumerate(tokens)}
        self.ends = [0, *(t.end_pos for t in tokens)]
        self.starts = [t.start_pos for t in tokens]
        self.root = self._node(tree)

    def _node(self, node: Any) -> Any:
        if node is None:
            return None
        if hasattr(node, "children"):
            return node.data, [self._node(c) for c in node.children]
        i = self.index.get(node.start_pos)
        if i is not None:
            return node.type, i, 0, ""
        before = bisect.bisect_right(self.starts, node.start_pos)
        return node.type, -1 - before, node.start_pos - self.ends[before], str(node)

    def build(self, matches: Sequence[re.Match[str]]) -> Any:
        """The tree of another text of this shape."""
        ends = [0, *(m.end() for m in matches)]

        def make(node: Any) -> Any:
            if node is None:
                return None
            if len(node) == 2:
                return _Tree(node[0], [make(c) for c in node[1]])
            kind, i, delta, text = node
            if i >= 0:
                m = matches[i]
                leaf = Leaf(m.group())
                leaf.start_pos, leaf.end_pos = m.span()
            else:
                leaf = Leaf(text)
                leaf.start_pos = ends[-1 - i] + delta
                leaf.end_pos = leaf.start_pos + len(text)
            leaf.type = kind
            return leaf

        return make(self.root)


class _Tree:
    """What the readers of trees look at, and no more."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Any]) -> None:
        self.data = data
        self.children = children

    def scan_values(self, pred: Callable[[Any], bool]) -> Iterator[Any]:
        """The tokens that fulfil a condition."""
        for c in self.children:
            if isinstance(c, _Tree):
                yield from c.scan_values(pred)
            elif pred(c):
                yield c


_TEMPLATES: dict[str, _Template] = {}


def statement_tree(text: str) -> Any:
    """lark's tree of a statement, or one built like it from a statement of the same shape."""
    if len(text) > 4000 or "=" in text:
        return grammar().parse(text, start="statement")
    try:
        key, leaves = factor(text)
    except Flaw:
        return grammar().parse(text, start="statement")
    template = _TEMPLATES.get(key)
    if template is not None:
        return template.build(list(_LEAF.finditer(text)))
    tree = grammar().parse(text, start="statement")
    tokens = sorted((t for t in tree.scan_values(is_leaf)), key=lambda t: t.start_pos or 0)
    if [x if isinstance(x, str) else x.text for x in leaves] == [str(t) for t in tokens] and len(_TEMPLATES) < _MOST_SHAPES:
        _TEMPLATES[key] = _Template(tree, tokens)
    return tree


@functools.cache
def _shapes(start: str) -> dict[str, Build]:
    return {}


def build(start: str, text: str, scope: Scope | None) -> Any:
    """What the text means under a start rule, its names resolved in the scope; lark's errors pass through."""
    try:
        return _build(start, text, scope)
    except RecursionError as error:
        raise Flaw("too-deep", "this is nested too deeply") from error


def _build(start: str, text: str, scope: Scope | None) -> Any:
    shapes = _shapes(start)
    key, leaves = factor(text)
    maker = shapes.get(key)
    if maker is None:
        tree = grammar().parse(text, start=start)
        tokens = sorted((t for t in tree.scan_values(is_leaf)), key=lambda t: t.start_pos or 0)
        plain = [x if isinstance(x, str) else x.text for x in leaves]
        index = {t.start_pos: i for i, t in enumerate(tokens)}
        maker = _MAKERS[tree.data](tree, index)
        if plain == [str(t) for t in tokens]:
            if len(shapes) < _MOST_SHAPES:
                shapes[key] = maker
        else:
            leaves = [_leaf(t) for t in tokens]
    return maker(scope, leaves)


def displaced(operands: tuple[Operand, ...]) -> tuple[Operand, ...]:
    """The operands; `%r+4` outside of brackets is a value."""
    return tuple(Plus(o.base, o.offset) if isinstance(o, Displaced) else o for o in operands)


def from_tree(tree: Any, scope: Scope) -> Any:
    """What a tree means in a scope, built once."""
    tokens = sorted((t for t in tree.scan_values(is_leaf)), key=lambda t: t.start_pos or 0)
    index = {t.start_pos: i for i, t in enumerate(tokens)}
    return maker_of(tree, index)(scope, [_leaf(t) for t in tokens])


def _leaf(token: Token) -> Open:
    return literal(str(token)) if token[0] in ".0123456789" or token.type == "WARP_SZ" else str(token)


def with_vectors(text: str, operands: Callable[[str], Operand]) -> tuple[Operand, ...]:
    """An operand list with vectors in braces, put together from texts that the grammar has read."""
    out: list[Operand] = []
    group: list[Operand] | None = None
    for piece in text.replace(", ", ",").split(","):
        if group is not None:
            if piece[-1:] == "}":
                group.append(operands(piece[:-1]))
                out.append(make_vector(tuple(group)))
                group = None
            else:
                group.append(operands(piece))
        elif piece[:1] == "{":
            if piece[-1:] == "}":
                out.append(make_vector((operands(piece[1:-1]),)))
            else:
                group = [operands(piece[1:])]
        else:
            out.append(operands(piece))
    if group is not None:
        raise Compound
    return tuple(out)


class Compound(Exception):
    """A text between commas that is no operand by itself."""


def is_leaf(token: Any) -> bool:
    """Whether a token is left open in shapes."""
    return getattr(token, "type", "") in _LEAVES


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
    return child if child is None or hasattr(child, "children") else _Tree("name", [child])


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


@functools.lru_cache(maxsize=4096)
def variables(text: str) -> tuple[Specs, list[tuple[str, tuple[int, ...], int]]] | None:
    """`.param .b64 p, q[4];` on one line: the words before the names, each name with its dimensions and offset; None if it is anything else."""
    from .declarations import dimensions, specs, split

    if "\n" in text or "=" in text:
        return None
    try:
        tree: Any = grammar().parse(text, start="statement").children[0]
        if tree.data != "declaration" or tree.children[0] is not None:
            return None
        spec_trees, declarators = split(tree.children[1:], "spec")
        words = specs(spec_trees)
        names = [(str(d.children[0]), dimensions(d.children[2:-1]), d.children[0].start_pos) for d in declarators]
    except (UnexpectedInput, Flaw):
        return None
    if words.type is None or words.space not in ("param", "local", "shared") or words.type.kind == "p" or words.bank is not None:
        return None
    if (
        words.vector * words.type.bits > 128
        or any(d.children[1] is not None for d in declarators)
        or any(0 in dims for _, dims, _ in names)
    ):
        return None
    return words, names


@functools.lru_cache(maxsize=4096)
def registers(text: str) -> tuple[Specs, list[tuple[str, int, int]]] | None:
    """`.reg ...;` on one line: the words before the names, and each name with its count (or -1) and offset; None if it is anything else."""
    if "\n" in text:
        return None
    try:
        made = build("statement", text, None)
    except (UnexpectedInput, Flaw):
        return None
    if made is None:
        return None
    offsets = [m.start() for m in _LEAF.finditer(text)]
    if any(count >> 32 > 0 for _, count, _ in made[1]) or any(
        n >= len(offsets) or not text.startswith(name, offsets[n]) for name, _, n in made[1]
    ):
        return None  # the shape was not what the grammar saw
    return made[0], [(name, count, offsets[n]) for name, count, n in made[1]]


_MAKERS: dict[str, Callable[[Any, Index], Build]] = {
    "name": _name, "component": _component, "sink": _sink, "number": _number, "binary": _folded, "prefix": _folded, "cast": _folded,
    "choose": _folded, "offset": _offset, "indexed": _indexed, "vector": _vector, "arguments": _arguments, "operands": _operands,
    "call_operands": _call_operands, "address": _address, "pair": _pair, "negated": _negated, "minus": _minus,
    "directive": _location, "statement": _register_statement,
}  # fmt: skip
