"""Where in the text the parts of an instruction stand; found again only when a message needs a caret.

The IR keeps one span for a whole statement.  Here its text is cut into guard, opcode, words and operands, comments blanked out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..ir import Instruction, Module, Span

_COMMENT = re.compile(r'"[^"\n]*"|/\*.*?\*/|//[^\n]*', re.DOTALL)  # or a string, in which none begins
_HEAD = re.compile(r"\s*(?:(@)\s*(!?)\s*([\w$%]+)\s+)?([A-Za-z_][\w]*)((?:\s*\.\s*[\w:]+)*)")
_WORD = re.compile(r"\.\s*([\w:]+)")
_OPEN, _CLOSE = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Places:
    """The spans of one instruction's parts."""

    whole: Span
    guard: Span
    opcode: Span
    words: tuple[Span, ...]
    operands: tuple[Span, ...]
    parts: tuple[tuple[Span, ...], ...]  # of operands in brackets

    @property
    def head(self) -> Span:
        """Opcode and words together."""
        last = self.words[-1] if self.words else self.opcode
        return Span(self.opcode.start, last.end, self.opcode.line, self.opcode.column)

    def shown(self, part: Span) -> Span:
        """The span to point at: where an operand stands on another line than the last word, ptxas names the line of that word."""
        last = self.words[-1] if self.words else self.opcode
        return part if part.line == last.line or part.start < last.start else last

    def operand(self, i: int, part: int | None = None) -> Span:
        """The span of an operand or a part of it; of the whole instruction's head where there is none."""
        if part is not None and i < len(self.parts) and part < len(self.parts[i]):
            return self.parts[i][part]
        return self.operands[i] if i < len(self.operands) else self.head


def without_comments(text: str) -> str:
    """The same text with blanks in the place of comments."""
    return _COMMENT.sub(lambda m: m[0] if m[0][0] == '"' else re.sub(r"[^\n]", " ", m[0]), text)


def span_at(text: str, start: int, end: int, near: Span) -> Span:
    """The span of a stretch of text that begins after `near` does."""
    line = near.line + text.count("\n", near.start, start)
    newline = text.rfind("\n", near.start, start)
    column = start - newline if newline >= 0 else near.column + start - near.start
    return Span(start, end, line, column)


def places(module: Module, instruction: Instruction) -> Places:
    """Finds the parts of an instruction in the module's text."""
    whole, text = instruction.span, module.text
    source = without_comments(text[whole.start : whole.end])

    def at(start: int, end: int) -> Span:
        return span_at(text, whole.start + start, whole.start + end, whole)

    head = _HEAD.match(source)
    if head is None:  # an object file has no text
        return Places(whole, whole, whole, (), (), ())
    words = tuple(at(m.start(), m.end()) for m in _WORD.finditer(source, head.start(5), head.end(5)))
    guard = at(head.start(3), head.end(3)) if head[1] else at(head.start(4), head.end(4))
    end = len(source.rstrip("; \t\r\n"))
    operands = tuple(_pieces(source, head.end(), end, at))
    parts = tuple(
        tuple(_pieces(source, o.start - whole.start + 1, o.end - whole.start - 1, at)) if text[o.start] in _OPEN else () for o in operands
    )
    return Places(at(0, len(source.rstrip())), guard, at(head.start(4), head.end(4)), words, operands, parts)


def _pieces(source: str, start: int, end: int, at: Callable[[int, int], Span]) -> Iterator[Span]:
    """The spans between the commas of a stretch, those inside of brackets aside."""
    depth = 0
    for i in range(start, end + 1):
        ch = source[i] if i < end else ","
        if ch == "," and (depth == 0 or i == end):
            piece = source[start:i]
            if piece.strip():
                yield at(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
            start = i + 1
        depth += (ch in _OPEN) - (ch in _CLOSE)
