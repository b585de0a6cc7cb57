"""Statement shapes: lark parses each shape of text once, with names and numbers factored out.

Later texts of that shape are built by plain calls; the fast paths put texts together that were understood before.
"""

from __future__ import annotations

import functools
import importlib.resources
import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lark.exceptions import UnexpectedInput

from . import constants
from .flaw import Flaw
from .ir import Immediate, Operand
from .makers import Build, maker_of
from .making import make_vector
from .trees import Template

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
_MOST_SHAPES = 1 << 16  # more than any text has, save one made to fill the memory

Open = str | Immediate  # a name or number that a shape leaves open


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


_TEMPLATES: dict[str, Template] = {}


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
        _TEMPLATES[key] = Template(tree, tokens)
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
        maker = maker_of(tree, index)
        if plain == [str(t) for t in tokens]:
            if len(shapes) < _MOST_SHAPES:
                shapes[key] = maker
        else:
            leaves = [_leaf(t) for t in tokens]
    return maker(scope, leaves)


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
