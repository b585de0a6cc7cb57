"""What all that read one text share: the text, what is wrong with it so far, lark's trees of its statements, and the items found."""

from __future__ import annotations

import re
from typing import Any

from ..diagnostics import Note
from ..ir import File, Item, Section, Span
from .constants import integer
from .reports import Reports
from .syntax_error import Flaw, Unexpected
from .text import Source
from .trees import grammar, tree_of

_WORD = re.compile(r"\.[A-Za-z_][\w$]*", re.ASCII)
_DWARF_LINE = re.compile(r"@@DWARF[^\n]*")
# The usual layout; lark reads any other.
_PLAIN_DIRECTIVE = re.compile(r"\.(?:target\s+(\w+(?:\s*,\s*\w+)*)|address_size\s+(32|64))(?=\s*\.)", re.A)
_PIECE = 1 << 16  # no directive is longer


class TextReader:
    """Reads one module."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.code = source.code
        self.reports = Reports(source)
        self.items: list[Item] = []
        self.base = 0  # where the piece begins that the grammar read last
        self.version = (0, 0)
        self.targets: tuple[str, ...] = ()
        self.address_size = 0
        self.files: dict[int, str] = {}
        self.file_spans: dict[int, Span] = {}

    def word(self, pos: int) -> str:
        """The directive word at pos, or ""."""
        m = _WORD.match(self.code, pos)
        return m.group() if m else ""

    def prefix(self, pos: int) -> tuple[Any, int]:
        """lark's tree of the directive at pos, and where it ends: at the first token that cannot belong to it."""
        from lark.exceptions import UnexpectedInput  # here, as in trees.py: a program may read no text

        piece = self.code[pos : pos + _PIECE]
        parser = grammar().parse_interactive(piece, start="directive")
        end = 0
        try:
            try:
                for token in parser.lexer_thread.lex(parser.parser_state):  # type: ignore[no-untyped-call]
                    parser.feed_token(token)
                    end = token.end_pos or end
            except UnexpectedInput:
                if "$END" not in parser.accepts():  # type: ignore[no-untyped-call]
                    raise
            tree = parser.feed_eof()  # type: ignore[no-untyped-call]
        except UnexpectedInput as error:
            raise Unexpected(error) from None
        self.base = pos
        return tree, pos + end

    def span_of(self, start: int, end: int) -> Span:
        """The span of a token of the piece that the grammar read last, which counts from its own beginning."""
        return self.source.span(self.base + start, self.base + end)

    def tree(self, pos: int, end: int, missing: str = "") -> Any:
        """lark's tree of a statement, whose end mark may be missing; its tokens count from pos, see span_of."""
        self.base = pos
        return tree_of(self.code[pos:end] + missing).children

    def directive(self, pos: int) -> int:
        """One directive without an end mark."""
        if plain := _PLAIN_DIRECTIVE.match(self.code, pos):
            if plain[1]:
                self.targets = tuple(re.split(r"\s*,\s*", plain[1]))
            else:
                self.address_size = int(plain[2])
            return plain.end()
        try:
            tree, end = self.prefix(pos)
        except Unexpected as error:
            return self.reports.syntax(error, pos)
        tree = tree.children[0]
        values = tree.children
        try:
            match tree.data:
                case "target":
                    self.targets = tuple(str(t) for t in values)
                case "address_size":
                    self.set_address_size(values[0])
                case "file":
                    self.file(values, pos, end)
                case _:
                    raise Flaw("bad-directive", f".{tree.data} does not belong here")
        except Flaw as flaw:
            self.reports.flaw(flaw, pos, end)
        return end

    def set_address_size(self, token: Any) -> None:
        """`.address_size 64`."""
        self.address_size = integer(str(token))
        if self.address_size not in (32, 64):
            raise Flaw("bad-directive", "an address has 32 or 64 bits", str(token))

    def file(self, values: Any, start: int, end: int) -> None:
        """`.file 1 "name", time, size`."""
        index, name = integer(str(values[0])), str(values[1])[1:-1]
        numbers = tuple(integer(str(v)) for v in values[2:] if v is not None)
        span = self.source.span(start, end)
        if index in self.files:
            # ptxas complains when it has seen whether numbers follow.
            at, to = (start, end) if numbers else self.source.token(end)
            note = Note("first declared here", self.file_spans[index])
            self.reports.report("duplicate-name", f".file {index} is declared twice", at, to, notes=(note,))
            return
        self.files[index] = name
        self.file_spans[index] = span
        self.items.append(File(index, name, span, numbers))

    def dwarf(self, pos: int) -> int:
        """`@@DWARF ...`, a line of debug data."""
        m = _DWARF_LINE.match(self.code, pos)
        assert m is not None
        if self.version >= (2, 0):
            self.reports.report("bad-directive", "@@DWARF ended with PTX 2.0; .section took its place", pos, pos + 7)
        self.items.append(Section("@@DWARF", (m.group()[7:].strip(),), self.source.span(pos, m.end())))
        return m.end()
