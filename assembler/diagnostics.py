"""What is wrong with a PTX text, and how to say it: frozen Diagnostics with spans, rendered with carets, in ptxas's style, or as JSON.

EXPLANATIONS holds a paragraph for each code word; the verifier adds its own with `explain_codes`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from .ir import Span

Severity = Literal["error", "warning", "note"]
LIMIT = 100  # errors shown for one text: after so many no reader goes on
LONGEST = 200  # characters of a line that a message quotes


@dataclass(frozen=True, slots=True)
class Note:
    """A second place that belongs to a message: "declared here"."""

    message: str
    span: Span


@dataclass(frozen=True, slots=True, repr=False)
class Diagnostic:
    """An error or a warning about PTX."""

    severity: Severity
    code: str
    message: str
    span: Span
    notes: tuple[Note, ...] = ()
    help: str = ""
    forms: tuple[str, ...] = ()
    file: str = field(default="", compare=False)

    def __repr__(self) -> str:
        return f"<{self.severity}[{self.code}] {self.file or '<text>'}:{self.span.line}:{self.span.column}: {self.message}>"

    def render(self, text: str, name: str = "") -> str:
        """The message with its line, and a caret under the smallest wrong span."""
        name = name or self.file or "<text>"
        lines = text.split("\n")
        width = len(str(max([self.span.line, *(n.span.line for n in self.notes)])))
        bar = " " * (width + 1) + "|"
        out = [f"{self.severity}[{self.code}]: {self.message}", f"{' ' * width}--> {name}:{self.span.line}:{self.span.column}", bar]
        out += _quote(lines, self.span, "^", "", width)
        for note in self.notes:
            if abs(note.span.line - self.span.line) > 1:
                out.append(" " * width + "...")
            out += _quote(lines, note.span, "-", note.message, width)
        equals = " " * (width + 1) + "= "
        if self.forms:
            out.append(f"{equals}forms: {' | '.join(self.forms)}")
        if self.help:
            out.append(f"{equals}help: {self.help}")
        return "\n".join(out)

    def ptxas_style(self, name: str = "") -> str:
        """One line as ptxas prints it."""
        kind = {"error": "error   ", "warning": "warning ", "note": "info    "}[self.severity]
        return f"ptxas {name or self.file or '<text>'}, line {self.span.line}; {kind}: {self.message}"

    def to_json(self) -> dict[str, object]:
        """Values for json.dumps."""
        where = _place(self.span)
        notes = [{"message": n.message, **_place(n.span)} for n in self.notes]
        return {
            "severity": self.severity, "code": self.code, "message": self.message, "file": self.file, **where,
            "notes": notes, "help": self.help, "forms": list(self.forms),
        }  # fmt: skip


def _place(span: Span) -> dict[str, int]:
    return {"line": span.line, "column": span.column, "start": span.start, "end": span.end}


def _quote(lines: list[str], span: Span, mark: str, message: str, width: int) -> list[str]:
    line = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
    line, column = _shortened(line.rstrip(), span.column)
    before = line[: column - 1]
    length = max(1, min(span.end - span.start, len(line) - len(before)))
    # Tabs stay tabs, so that the caret stands under its character however wide a tab is shown.
    pad = "".join("\t" if c == "\t" else " " for c in before)
    number = str(span.line).rjust(width)
    line = "".join(c if c.isprintable() or c == "\t" else "?" for c in line)  # nothing that steers a terminal
    return [f"{number} | {line}", f"{' ' * width} | {pad}{mark * length} {message}".rstrip()]


def _shortened(line: str, column: int) -> tuple[str, int]:
    """A line, cut at both ends to LONGEST characters around a column, and where that column is then."""
    begin = max(0, min(column - 1 - LONGEST // 2, len(line) - LONGEST))
    cut = line[begin : begin + LONGEST]
    left, right = "... " * (begin > 0), " ..." * (begin + LONGEST < len(line))
    return left + cut + right, column - begin + len(left)


class PtxError(Exception):
    """Invalid PTX: all diagnostics, and the text."""

    def __init__(self, diagnostics: Iterable[Diagnostic], text: str = "", name: str = "<text>") -> None:
        self.diagnostics: list[Diagnostic] = list(diagnostics)
        self.text = text
        self.name = name
        super().__init__(self.render())

    def render(self) -> str:
        """All messages, with carets."""
        shown = self.diagnostics[:LIMIT]
        out = [d.render(self.text, self.name) for d in shown]
        if len(self.diagnostics) > len(shown):
            out.append(f"... and {len(self.diagnostics) - len(shown)} more")
        return "\n\n".join(out)


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that a person most likely meant."""
    # Comparing with everything is quadratic in bad cases, so only words of about the same length compete.
    pool = [k for k in known if abs(len(k) - len(word)) <= 2][:2000]
    found = difflib.get_close_matches(word, pool, 4, 0.7)
    # Of equally close ones the one with the same beginning: ad is add rather than and or sad.
    return max(found, key=lambda k: (difflib.SequenceMatcher(None, k, word).ratio(), k[:2] == word[:2]), default=None)


EXPLANATIONS: dict[str, str] = {
    "syntax": "The text does not follow the grammar of PTX at the marked token. A statement ends with ';'. Statements belong into the body "
    "of a function, between braces. Operands are separated by commas.",
    "empty-statement": "A ';' without a statement. Unlike C, PTX has no empty statement.",
    "non-ascii": "PTX is ASCII text, including its comments. ptxas rejects any other character.",
    "unterminated-comment": "A /* is never closed by */. Block comments do not nest.",
    "unterminated-string": 'A string begins with " and never ends.',
    "unclosed-brace": "The text ends inside a function or block: a } is missing.",
    "undeclared-name": "The name is not declared in this scope or around it. Registers and variables must be declared before they are "
    "used; `.reg .b32 %r<10>;` declares %r0 to %r9 and no more; functions must be declared before they are called.",
    "unknown-label": "There is no label of this name in scope. A branch may jump to a label in its own { } block or an enclosing one, "
    "but not into another block or function.",
    "duplicate-name": "The name is declared twice in one scope. An inner { } block may declare it again.",
    "duplicate-label": "Two labels of one block, or a label and a variable, share a name.",
    "duplicate-function": "Two functions, or a function and a variable, of one module share a name.",
    "redeclared-differently": "A later declaration of the name differs from the first one.",
    "not-a-constant": "Expected a constant integer expression: literals, operators, casts and WARP_SZ.",
    "division-by-zero": "A constant expression divides by zero.",
    "constant-overflow": "An integer literal needs more than 64 bits.",
    "bad-declaration": "The words before the name do not make a declaration: one state space, one type, an optional .v2 or .v4, an "
    "optional .align.",
    "bad-alignment": "An alignment is a power of two.",
    "bad-array": "Only the first dimension of an array may be empty, and sizes are positive.",
    "bad-initialiser": "The initial value does not fit the variable: too many elements, too deeply nested, or of the wrong kind.",
    "bad-operand": "The operand is not one that PTX can write: an address is [register+constant], [variable+constant] or [constant].",
    "bad-predicate": "A guard is @%p or @!%p, with a predicate register.",
    "bad-directive": "The directive does not belong here, or has the wrong values.",
    "too-deep": "Blocks or expressions are nested deeper than this assembler goes.",
    "missing-version": "A module begins with .version.",
}


def explain_codes(more: Mapping[str, str]) -> None:
    """Adds explanations of further codes."""
    for code, text in more.items():
        assert EXPLANATIONS.setdefault(code, text) == text, f"two explanations of {code}"


def explain(code: str) -> str | None:
    """The paragraph behind a code word."""
    return EXPLANATIONS.get(code)
