"""The tokens of a text with their kinds, for an editor that colours by meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from warplab.isa.notation import FORMS
from warplab.isa.special import SPECIAL
from warplab.isa.types import TYPES

from ..ir import Function, Label, Prototype, Register, Targets, Variable
from .edited import EditedText
from .names import RegisterRange

KINDS = ("comment", "string", "number", "keyword", "type", "modifier", "function", "variable", "parameter", "macro", "operator", "label")
_TOKEN = re.compile(
    r'(?P<string>"[^"]*")|(?P<comment>//[^\n]*|/\*(?s:.*?)(?:\*/|\Z))|(?P<number>(?<![\w$%.])(?:0[fFdDxX][0-9A-Fa-f]+U?|\d[\w.]*))'
    r"|(?P<dotted>\.[A-Za-z_][\w]*(?:::[\w]+)*)|(?P<name>%[\w$]+(?:\.[xyzw](?!\w))?|[A-Za-z_$][\w$]*)",
    re.A,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A stretch of one line, and its kind."""

    start: int
    end: int
    kind: str
    declares: bool = False


def tokens(edited: EditedText, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens between two offsets, in the order of the text."""
    for m in _TOKEN.finditer(edited.text, start, len(edited.text) if end is None else end):
        kind, declares = m.lastgroup or "", False
        if kind == "dotted":
            kind = _dotted(edited, m)
        elif kind == "name":
            kind, declares = _name(edited, m)
        if kind:
            yield from _lines(m.start(), m.group(), kind, declares)


def _lines(start: int, text: str, kind: str, declares: bool) -> Iterator[Token]:
    for line in text.split("\n"):
        if line.strip():
            yield Token(start, start + len(line), kind, declares)
        start += len(line) + 1


def _dotted(edited: EditedText, m: re.Match[str]) -> str:
    word = m.group()[1:]
    if word in TYPES:
        return "type"
    before = edited.text[max(0, m.start() - 1) : m.start()]
    if before.isalnum() or before in ("_", ":", "."):
        return "modifier"
    return "keyword"


def _name(edited: EditedText, m: re.Match[str]) -> tuple[str, bool]:
    word = m.group()
    occurrence = edited.names.at(m.start())
    if occurrence is not None and occurrence.start == m.start():
        return _kind(occurrence.named), occurrence.role == "declared"
    if word.partition(".")[0] in SPECIAL or word == "WARP_SZ":
        return "macro", False
    return ("operator", False) if word in FORMS else ("", False)


def _kind(named: object) -> str:
    match named:
        case Register() | RegisterRange():
            return "variable"
        case Variable(space=space):
            return "parameter" if space == "param" else "variable"
        case Function():
            return "function"
        case Label() | Targets() | Prototype():
            return "label"
    return ""
