"""A PTX text and its places: comments blanked out without moving anything, and offsets turned into lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

import numpy as np

from ..diagnostics import Diagnostic
from ..ir import Span

_COMMENT = re.compile(r'"[^"]*"|//[^\n]*|/\*(?s:.*?)\*/|/\*')
# What Python's split() takes for blanks in part, and ptxas for none.
_CONTROL = bytes([*range(1, 9), 0x0B, *range(0x0E, 0x20), 0x7F])
_CONTROL_OR_STRING = re.compile(r'"[^"]*"|[\x01-\x08\x0b\x0e-\x1f\x7f]')
_BLANKS = " " * 200
SPACE = re.compile(r"[ \t\r\n\f\v]*")


class Source:
    """The text as given, and `code`: the same text with blanks for its comments, character for character."""

    def __init__(self, text: str, name: str) -> None:
        self.text = text
        self.name = name
        self.problem: Diagnostic | None = None
        self._starts: list[int] | None = None
        if not text.isascii():
            mark = text.startswith(("\ufeff", "\xef\xbb\xbf"))
            what = (
                "a byte order mark, which ptxas refuses" if mark else "a character that is not ASCII, which ptxas refuses even in comments"
            )
            self._refuse("non-ascii", re.search(r"[^\x00-\x7f]+", text), what)
        if "\0" in text:
            self._refuse("syntax", re.search("\0", text), "a NUL character in the text")
        if self.problem is not None:  # said once; nothing else shall stumble over it
            text = re.sub(r"[^\x01-\x7f]", " ", text)
        self.code = self._without_comments(text) if "//" in text or "/*" in text else text
        data = self.code.encode()
        if len(data.translate(None, _CONTROL)) < len(data):  # a search by pattern takes five times as long
            self.code = _CONTROL_OR_STRING.sub(self._control, self.code)
        self.ends: list[int] = np.flatnonzero(np.frombuffer(data, np.uint8) == ord(";")).tolist()  # where the semicolons stand

    def pieces(self, after: int, count: int) -> Iterator[tuple[str, int]]:
        """The stretches behind the semicolon of a number, so many, each with the offset at which it ends."""
        stops = self.ends[after : after + count + 1]
        starts = map((1).__add__, stops)
        return zip(map(self.code.__getitem__, map(slice, starts, stops[1:])), stops[1:], strict=False)

    def piece(self, pos: int) -> int:
        """The number of the first stretch that does not end before an offset."""
        return bisect_left(self.ends, pos)

    def _control(self, m: re.Match[str]) -> str:
        if m.group()[0] == '"':
            return m.group()
        self._refuse("syntax", m, f"the control character {m.group()!r} outside of a comment")
        return " "

    def _refuse(self, code: str, where: re.Match[str] | None, message: str) -> None:
        if where is not None and (self.problem is None or where.start() < self.problem.span.start):
            self.problem = Diagnostic("error", code, message, self.span(where.start(), where.end()), file=self.name)

    def _without_comments(self, text: str) -> str:
        pieces: list[str] = []
        last = 0
        for m in _COMMENT.finditer(text):
            start, end = m.span()
            if text[start] == '"':
                continue
            pieces.append(text[last:start])
            if text[start + 1] == "/":
                pieces.append(_BLANKS[: end - start] if end - start < 200 else " " * (end - start))
            elif end - start == 2:
                self._refuse("unterminated-comment", m, "this comment is never closed")
                return "".join(pieces) + " " * (len(text) - start)
            else:
                pieces.append("\n".join([" " * len(line) for line in m.group().split("\n")]))
            last = end
        return "".join(pieces) + text[last:]

    @property
    def starts(self) -> list[int]:
        """Offsets at which lines begin."""
        if self._starts is None:
            codes = np.frombuffer(self.text.encode(), np.uint8) if self.text.isascii() else np.array([*map(ord, self.text)])
            self._starts = [0, *(np.flatnonzero(codes == ord("\n")) + 1).tolist()]
        return self._starts

    def span(self, start: int, end: int) -> Span:
        """The Span from one offset to another."""
        starts = self.starts
        line = bisect_right(starts, start)
        return Span(start, end, line, start - starts[line - 1] + 1)

    def statement(self, start: int, end: int) -> Span:
        """The Span of a statement from the blanks before it to its semicolon."""
        return self.span(self.skip(start), end + 1)

    def skip(self, pos: int) -> int:
        """The first offset from pos on that is not blank."""
        m = SPACE.match(self.code, pos)
        assert m is not None
        return m.end()

    def token(self, pos: int) -> tuple[int, int]:
        """The stretch of the word or sign at pos, after blanks; empty at the end of the text."""
        start = self.skip(pos)
        m = _TOKEN.match(self.code, start)
        return (start, m.end()) if m else (start, start)


_TOKEN = re.compile(r'\.?[\w$%]+|"[^"]*"|<<|>>|<=|>=|==|!=|&&|\|\||::|.', re.S)
