"""The exceptions by which the parser's parts report one flaw to the statement loop, which knows where the statement stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput


class Unexpected(Exception):
    """The grammar does not know what stands in a text; lark's error tells more."""

    def __init__(self, error: UnexpectedInput) -> None:
        super().__init__(str(error))
        self.error = error

    @property
    def at(self) -> int:
        """Where in the text that the grammar read."""
        token = getattr(self.error, "token", None)
        if token is None:
            return self.error.pos_in_stream or 0
        # the end of the piece borrows its place from the last token in it
        return (token.end_pos if token.type == "$END" else token.start_pos) or 0

    @property
    def expected(self) -> set[str]:
        """The terminals that would have fitted."""
        found = getattr(self.error, "accepts", None) or getattr(self.error, "expected", None) or getattr(self.error, "allowed", None)
        return set(found or ())


class Flaw(Exception):
    """A flaw with its code; `word` says which token of the statement it is about."""

    def __init__(self, code: str, message: str, word: str = "", *, hint: str = "", other: object = None, at: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.word = word
        self.hint = hint
        self.other = other  # a Span: "first declared here"
        self.at = at  # where the word stands in the text that the grammar read, if the word alone does not say it
