"""The parts of a text: its functions and variables with what they declare, and what can be folded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..ir import Declaration, Function, Label, Variable
from ..listing import listing
from .edited import EditedText
from .hover import declaration

_BRACE = re.compile(r'"[^"]*"|[{}]')
_COMMENT_LINE = re.compile(r"[ \t]*//")


@dataclass(frozen=True, slots=True)
class OutlinePart:
    """A symbol: the stretch that it takes, and that of its name."""

    name: str
    kind: Literal["kernel", "function", "variable", "parameter", "label"]
    detail: str
    start: int
    end: int
    name_start: int
    name_end: int
    parts: tuple[OutlinePart, ...] = ()


def outline(edited: EditedText) -> list[OutlinePart]:
    """The functions and variables of the module."""
    out: list[OutlinePart] = []
    for item in edited.module.items:
        if isinstance(item, Function):
            out.append(_function(edited, item))
        elif isinstance(item, Declaration):
            out += [_variable(v, "variable") for v in item.variables]
    return out


def _variable(v: Variable, kind: Literal["variable", "parameter"]) -> OutlinePart:
    return OutlinePart(v.name, kind, declaration(v), v.span.start, v.span.end, v.span.start, v.span.end)


def _function(edited: EditedText, f: Function) -> OutlinePart:
    inner = [_variable(v, "parameter") for v in (*f.returns, *f.params)]
    end = f.span.end
    if f.body is not None:
        end = f.body.span.end
        for s in listing(f).statements:
            if isinstance(s, Label):
                inner.append(OutlinePart(s.name, "label", "", s.span.start, s.span.end, s.span.start, s.span.end))
            elif isinstance(s, Declaration):
                inner += [_variable(v, "variable") for v in s.variables if v.space != "param"]
    start = min([edited.line(edited.line_of(f.span.start))[0], *(p.start for p in inner)])
    end = max([end, *(p.end for p in inner)])
    return OutlinePart(
        f.name,
        "kernel" if f.is_entry else "function",
        "" if f.is_defined else "declared",
        start,
        end,
        f.span.start,
        f.span.end,
        tuple(inner),
    )


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that can be folded, counted from 0."""

    first: int
    last: int
    is_comment: bool = False


def folds(edited: EditedText) -> Iterator[Fold]:
    """Blocks in braces and comments of several lines, from the text alone."""
    open_at: list[int] = []
    for m in _BRACE.finditer(edited.source.code):
        if m.group() == "{":
            open_at.append(edited.line_of(m.start()))
        elif m.group() == "}" and open_at:
            first, last = open_at.pop(), edited.line_of(m.start())
            if last > first + 1:
                yield Fold(first, last - 1)
    lines = edited.text.split("\n")
    begun: int | None = None
    for n, line in enumerate([*lines, ""]):
        if _COMMENT_LINE.match(line):
            begun = n if begun is None else begun
        elif begun is not None:
            if n - 1 > begun:
                yield Fold(begun, n - 1, is_comment=True)
            begun = None
