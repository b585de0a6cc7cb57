"""The exception by which the parser's parts report one flaw to the statement loop, which knows where the statement stands."""


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
