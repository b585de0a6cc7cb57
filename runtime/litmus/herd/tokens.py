"""The words of a litmus test, with their places, and what is said where another word was expected."""

from __future__ import annotations

import re
from dataclasses import dataclass

from warplab.assembler.diagnostics import Diagnostic, PtxError, nearest
from warplab.assembler.ir import Span

_COMMENT = re.compile(r"//[^\n]*|\(\*.*?\*\)", re.S)
_TOKEN = re.compile(r"\s*(?:([A-Za-z_]\w*(?:\.\w+)*|-?0[xX][0-9a-fA-F]+|-?\d+|/\\|\\/|[=!<>]=|\S)|\Z)")
NUMBER = re.compile(r"-?(0[xX][0-9a-fA-F]+|\d+)$")
LONGEST_NUMBER = 21  # characters
WORD = re.compile(r"[A-Za-z_]")


@dataclass(frozen=True, slots=True)
class HerdToken:
    """A word, a number or a sign; empty at the end of the text."""

    text: str
    start: int

    @property
    def is_number(self) -> bool:
        """Is it a number?"""
        return NUMBER.match(self.text) is not None

    @property
    def is_word(self) -> bool:
        """Is it a word, maybe with dots?"""
        return WORD.match(self.text) is not None


class Tokens:
    """A text, read from front to back."""

    def __init__(self, text: str, file: str) -> None:
        self.text, self.file = text, file
        # A comment becomes blanks, so that places stay what they are.
        self._bare = _COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
        self._at = 0

    def skip_to(self, sign: str) -> None:
        """Leaves out what stands before a sign."""
        found = self._bare.find(sign, self._at)
        if found < 0:
            self._at = len(self._bare)
            raise self.error(self.peek(), f"expected {sign}, and found the end of the text")
        self._at = found

    def line_of(self, token: HerdToken) -> int:
        """The line of the text, from 1."""
        return self.text.count("\n", 0, token.start) + 1

    def peek(self) -> HerdToken:
        """The next token, which stays the next."""
        m = _TOKEN.match(self._bare, self._at)
        return HerdToken("", len(self._bare)) if m is None or m[1] is None else HerdToken(m[1], m.start(1))

    def take(self) -> HerdToken:
        """The next token."""
        token = self.peek()
        self._at = token.start + len(token.text)
        return token

    def accept(self, *texts: str) -> HerdToken | None:
        """The next token if it is one of these."""
        return self.take() if self.peek().text in texts else None

    def expect(self, text: str, what: str = "") -> HerdToken:
        """The next token, which has to be this one."""
        if self.peek().text != text:
            raise self.unexpected(what or text)
        return self.take()

    def word(self, what: str) -> HerdToken:
        """The next token, which has to be a word."""
        if not self.peek().is_word:
            raise self.unexpected(what)
        return self.take()

    def number(self, what: str) -> int:
        """The next token, which has to be a number."""
        if not self.peek().is_number:
            raise self.unexpected(what)
        token = self.take()
        text = token.text
        if len(text) > LONGEST_NUMBER:
            raise self.error(token, "the number does not fit into 64 bits")
        return int(text, 16 if "x" in text.lower() else 10)

    def unexpected(self, what: str, help: str = "") -> PtxError:
        """What to raise where the next token is another one."""
        found = self.peek().text
        return self.error(self.peek(), f"expected {what}, and found {found or 'the end of the text'}", help)

    def error(self, token: HerdToken, message: str, help: str = "") -> PtxError:
        """What to raise about a token."""
        last = self.text.rfind("\n", 0, token.start)
        span = Span(token.start, token.start + max(1, len(token.text)), self.line_of(token), token.start - last)
        return PtxError([Diagnostic("error", "syntax", message, span, help=help)], self.text, self.file)

    def unknown(self, token: HerdToken, what: str, known: list[str]) -> PtxError:
        """What to raise about a word that is none of those known."""
        meant = nearest(token.text, known)
        return self.error(token, f"no {what} is called {token.text}", f"do you mean {meant}?" if meant else f"known are {', '.join(known)}")
