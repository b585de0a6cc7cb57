"""Trees of statements like lark's, built from a statement of the same shape that lark has read."""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any


class Leaf(str):
    """A token of a tree that was built from a shape."""

    __slots__ = ("end_pos", "start_pos", "type")
    type: str
    start_pos: int
    end_pos: int


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
