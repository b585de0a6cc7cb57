"""A text in an editor: what is read of it, once, when the first question asks for it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

from ..collector import collector_off
from ..diagnostics import Diagnostic
from ..ir import Instruction, Module, Span
from ..listing import listing
from ..parse import parse_all
from ..parse.text import Source
from ..verify import check_parsed
from .names import NameIndex

WORD_AT = re.compile(r"[\w$%]+", re.A)


@dataclass(eq=False)
class EditedText:
    """One state of a text."""

    text: str
    name: str = "<text>"

    @cached_property
    def source(self) -> Source:
        """The text without its comments, and its places."""
        return Source(self.text, self.name)

    @cached_property
    def _parsed(self) -> tuple[Module, list[Diagnostic]]:
        return parse_all(self.text, self.name)

    @property
    def module(self) -> Module:
        """What can be read of it."""
        return self._parsed[0]

    @cached_property
    def diagnostics(self) -> list[Diagnostic]:
        """What `check` says of it."""
        with collector_off():
            return check_parsed(*self._parsed)

    @cached_property
    def names(self) -> NameIndex:
        """Its names."""
        with collector_off():
            return NameIndex(self.source.code, self.module)

    def span(self, start: int, end: int) -> Span:
        """A stretch of it."""
        return self.source.span(start, end)

    def line(self, number: int) -> tuple[int, int]:
        """Where a line begins and ends, counted from 0."""
        starts = self.source.starts
        if number >= len(starts):
            return len(self.text), len(self.text)
        end = starts[number + 1] - 1 if number + 1 < len(starts) else len(self.text)
        return starts[number], end

    def line_of(self, offset: int) -> int:
        """The line of an offset, counted from 0."""
        return bisect_right(self.source.starts, offset) - 1

    def instruction_at(self, offset: int) -> Instruction | None:
        """The instruction that an offset is in."""
        function = self.names.function_at(offset)
        if function is None:
            return None
        for s in listing(function).instructions:
            start, end = (s.place.start, s.place.end) if isinstance(s.place, Span) else s.place[:2]
            if start <= offset <= end:
                return s
        return None
