"""lark's trees of texts.  A text of the same shape as one that lark has read, but for its names and numbers, gets a tree built like that one."""

from __future__ import annotations

import bisect
import functools
import os
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .constants import literal
from .syntax_error import Flaw, Unexpected

if TYPE_CHECKING:
    from lark import Lark

# What a shape leaves open, as the grammar's terminals NAME, BITS64, BITS32, DECIMAL and INTEGER have it.
# A word after a dot belongs to the shape.
_LEAF = re.compile(
    r"(?<![.\w$%:])(?!call(?![\w$]))([A-Za-z][\w$]*|[_$%][\w$]+|0[dD][0-9A-Fa-f]{16}|0[fF][0-9A-Fa-f]{8}"
    r"|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
    r"|0[xX][0-9A-Fa-f]+U?|0[bB][01]+U?|0[0-7]*U?|[1-9][0-9]*U?)",
    re.ASCII,
)
_LEAVES = frozenset({"NAME", "WARP_SZ", "INTEGER", "DECIMAL", "BITS32", "BITS64"})
_LETTERS = {"int": "I", "f32": "F", "f64": "D"}
MOST = 1 << 16  # shapes: more than any text has, save one made to fill the memory
LONG = 4000  # characters of a text that a shape is made of


@functools.cache
def grammar() -> Lark:
    """The LALR parser, built at first use."""
    from lark import Lark, __version__

    text = Path(__file__).with_name("ptx.lark").read_text(encoding="utf-8")
    return Lark(
        text,
        parser="lalr",
        start=["statement", "directive", "operands"],
        maybe_placeholders=True,
        cache=_cache_file(f"{__version__} {sys.version} {text}") or False,
        g_regex_flags=re.ASCII,
    )


def _cache_file(made_of: str) -> str | None:
    """Where lark may keep the tables of the grammar, which take a quarter of a second to make: a file for each version of what they are made of."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    folder = os.path.join(home, "warplab")
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        mine = os.stat(folder).st_uid == os.getuid() if hasattr(os, "getuid") else True
    except OSError:
        return None
    name = f"grammar-{zlib.crc32(made_of.encode()):08x}.lark"
    return os.path.join(folder, name) if mine and os.access(folder, os.W_OK) else None


def _parsed(text: str, start: str) -> Any:
    """lark's tree of a text."""
    from lark.exceptions import UnexpectedInput

    try:
        return grammar().parse(text, start=start)
    except UnexpectedInput as error:
        raise Unexpected(error) from None


class Leaf(str):
    """A token of a tree that was built from a template."""

    __slots__ = ("end_pos", "start_pos", "type")
    type: str
    start_pos: int
    end_pos: int


class Tree:
    """What the readers of trees look at, and no more."""

    __slots__ = ("children", "data")

    def __init__(self, data: str, children: list[Any]) -> None:
        self.data = data
        self.children = children

    def scan_values(self, pred: Callable[[Any], bool]) -> Iterator[Any]:
        """The tokens that fulfil a condition."""
        for c in self.children:
            if isinstance(c, Tree):
                yield from c.scan_values(pred)
            elif pred(c):
                yield c


class Template:
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
        return _made(self.root, matches, [0, *(m.end() for m in matches)])


def _made(node: Any, matches: Sequence[re.Match[str]], ends: Sequence[int]) -> Any:
    if node is None:
        return None
    if len(node) == 2:
        return Tree(node[0], [_made(c, matches, ends) for c in node[1]])
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


_templates: dict[tuple[str, str], Template] = {}


@functools.lru_cache(maxsize=1 << 11)
def tree_of(text: str, start: str = "statement") -> Any:
    """lark's tree of a text under a start rule, or one built like it from a text of the same shape; raises Unexpected and Flaw."""
    if len(text) > LONG or "=" in text:
        return _parsed(text, start)
    matches = list(_LEAF.finditer(text))
    try:
        key = start, _shape(text, matches)
    except Flaw as flaw:  # a number that is too large: noticed where it stands, unless an error comes before it
        try:
            return _parsed(text, start)
        except Unexpected as error:
            if (error.error.pos_in_stream or 0) > text.index(flaw.word):
                raise flaw from error
            raise
    template = _templates.get(key)
    if template is not None:
        return template.build(matches)
    tree = _parsed(text, start)
    tokens = sorted((t for t in tree.scan_values(is_leaf)), key=lambda t: t.start_pos or 0)
    if [m.group() for m in matches] == [str(t) for t in tokens] and len(_templates) < MOST:
        _templates[key] = Template(tree, tokens)
    return tree


def _shape(text: str, matches: Sequence[re.Match[str]]) -> str:
    """The text with a letter in the place of each name and number; \\0 cannot stand in a text, so no shape is mistaken for another."""
    parts: list[str] = []
    last = 0
    for m in matches:
        leaf = m.group()
        parts.append(text[last : m.start()])
        letter = _LETTERS[literal(leaf).kind] if leaf[0] in ".0123456789" else "W" if leaf == "WARP_SZ" else "N"
        parts.append("\0" + letter)
        last = m.end()
    return "".join(parts) + text[last:]


def is_leaf(token: Any) -> bool:
    """Whether a token is left open in shapes."""
    return getattr(token, "type", "") in _LEAVES
