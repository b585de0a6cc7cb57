"""The header of a function as everybody writes it, without lark: linkage, name, and parameters in parentheses."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import cast

from .declarations import Specs, word_of
from .flaw import Flaw
from .ir import Directive, Linkage, Span, Variable
from .making import make_variable
from .text import Source

_NAME = r"([A-Za-z][\w$]*|[_$%][\w$]+)"
_PLAIN = re.compile(
    rf"(?:\.(visible|weak|extern)\s+)?\.(entry|func)\s+(?:\(([^(){{}};]*)\)\s*)?{_NAME}\s*\(([^(){{}};]*)\)\s*([;{{])", re.A
)
_PARAMETER = re.compile(rf"((?:\s*\.(?:align\s+\d+|(?!align)[a-z]\w*)(?=[\s.]))+)\s*{_NAME}\s*(?:\[\s*([1-9]\d{{0,8}})\s*\])?\s*", re.A)


@dataclass(slots=True)
class Header:
    """What stands before a function's body."""

    name: str
    is_entry: bool
    linkage: Linkage
    returns: tuple[Variable, ...]
    params: tuple[Variable, ...]
    directives: tuple[Directive, ...]
    span: Span
    noticed: int  # where ptxas notices that it does not go with an earlier one: behind an .entry's parameters, else behind the header


def plain_header(source: Source, pos: int) -> tuple[Header, bool, int] | None:
    """The header that stands at pos, whether a body follows, and where it ends; None leaves it to the grammar, errors included."""
    m = _PLAIN.match(source.code, pos)
    if m is None:
        return None
    linkage, kind, returned, name, listed, last = m.groups()
    is_entry = kind == "entry"
    if is_entry and returned is not None:
        return None
    returns = parameters(source, returned, m.start(3)) if returned is not None else ()
    params = parameters(source, listed, m.start(5))
    if returns is None or params is None:
        return None
    end = m.end()
    noticed = m.end(5) if is_entry else end - 1
    span = source.span(*m.span(4))
    return Header(name, is_entry, cast(Linkage, linkage or ""), returns, params, (), span, noticed), last == "{", end


def parameters(source: Source, text: str, start: int) -> tuple[Variable, ...] | None:
    """The parameters of a list that stands at an offset."""
    if not text or text.isspace():
        return ()
    made = []
    for part in text.split(","):
        m = _PARAMETER.fullmatch(part)
        words = usual(m[1]) if m is not None else None
        if m is None or words is None:
            return None
        at, to = m.span(2)
        made.append(make_variable(m[2], words, (int(m[3]),) if m[3] else (), source.span(start + at, start + to)))
        start += len(part) + 1
    return tuple(made)


@functools.lru_cache(maxsize=256)
def usual(text: str) -> Specs | None:
    """`.param .align 8 .b8` and the like; nobody changes what comes out."""
    out = Specs()
    try:
        for word in re.findall(r"\.align\s+\d+|\.\w+", text):
            word_of(out, word)
    except Flaw:
        return None
    if out.space != "param" or out.type is None or out.type.kind == "p" or out.vector > 1:
        return None
    return out
