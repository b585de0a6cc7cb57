"""Errors of a text on their way to becoming Diagnostics, and where reading may go on behind them."""

from __future__ import annotations

import re

from warplab.isa.foreign import TYPES, in_ptx

from ..diagnostics import Diagnostic, Note
from ..ir import Span
from .scopes import Scope
from .syntax_error import Flaw, Unexpected
from .text import Source

_FIRST = re.compile(r"[A-Za-z_]\w*", re.A)
_RESYNC = re.compile(r"[;{}]")
_TYPE = r"\.(?:pred|[us](?:8|16|32|64)|b(?:8|16|32|64|128)|f(?:16|16x2|32|64)|(?:tex|sampler|surf)ref)(?![\w$])"
# A declaration's words up to a place: the first word that may not follow the type, which of a kernel's parameter .ptr may
_BEHIND_TYPE = re.compile(rf"\s*(?:\.\w+\s+(?:\d+\s+)?)*?{_TYPE}\s*(\.\w+)", re.A)
_BEHIND_POINTER = re.compile(
    rf"\s*\.param\s+(?:\.align\s+\d+\s+)?{_TYPE}(?:\s*\.ptr(?!\w)(?:\s*\.(?:global|shared|local|const)(?!\w))?+)?+(?:\s*\.align\s+\d+)?+\s*(\.\w+)",
    re.A,
)


TOO_DEEP = Flaw("too-deep", "this is nested too deeply")


class Reports:
    """What is wrong with one text, so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.code = source.code
        self.diagnostics: list[Diagnostic] = []
        self.undeclared_names: dict[tuple[str, int], Diagnostic] = {}
        self.tainted = False  # a declaration was lost: undeclared names are then no news

    def report(self, code: str, message: str, start: int, end: int, *, notes: tuple[Note, ...] = (), hint: str = "") -> None:
        """Adds an error."""
        span = self.source.span(start, end)
        self.diagnostics.append(Diagnostic("error", code, message, span, notes, hint, file=self.source.name))

    def flaw(self, flaw: Flaw, start: int, end: int) -> None:
        """Reports a flaw of the statement at start..end, on the word it is about."""
        at, to = self.find(flaw.word, start, end)
        notes = (Note("first declared here", flaw.other),) if isinstance(flaw.other, Span) else ()
        self.report(flaw.code, flaw.message, at, to, notes=notes, hint=flaw.hint)

    def find(self, word: str, start: int, end: int) -> tuple[int, int]:
        if word:
            m = re.compile(r"(?<![\w$%])" * (word[0] not in ".-[]") + re.escape(word) + r"(?![\w$])" * (word[-1].isalnum())).search(
                self.code, start, end
            )
            if m:
                return m.start(), m.end()
        start = self.source.skip(start)
        return start, max(start + 1, len(self.code[start:end].rstrip()) + start)

    def syntax(self, error: Unexpected, start: int) -> int:
        """Reports what the grammar did not expect in a piece of text that began at start; tells where reading may go on."""
        here = start + error.at
        earlier = self._misplaced(start, here)
        return self.unexpected(here if earlier is None else earlier, start, _expected(error) if earlier is None else "")

    def _misplaced(self, start: int, at: int) -> int | None:
        """The first word of an unfinished declaration that may not stand there: the grammar takes them in any order."""
        begin = max(start, *(self.code.rfind(c, start, at) + 1 for c in ",("))
        m = (_BEHIND_TYPE if begin == start else _BEHIND_POINTER).match(self.code, begin, at)
        return None if m is None else m.start(m.lastindex or 0)

    def unreadable(self, error: Unexpected | Flaw, start: int, end: int) -> int:
        """Reports why the statement at start..end has no tree; tells where reading may go on."""
        if isinstance(error, Unexpected):
            return self.syntax(error, start)
        self.flaw(error, start, end)
        return end

    def unexpected(self, at: int, start: int, expected: str = "") -> int:
        """Reports the token at an offset and tells where reading may go on."""
        at, end = self.source.token(at)
        if at == end:
            self.report("syntax", f"the text ends in the middle of a statement{expected}", len(self.code), len(self.code))
            return len(self.code)
        word = self.code[at:end]
        if word == ";" and at == self.source.skip(start):
            self.report("empty-statement", "a ';' without a statement", at, end)
            return end
        if word == '"':
            self.report("unterminated-string", "this string is never closed", at, end)
        else:
            self.report("syntax", f"unexpected {word[:40]}{expected}", at, end, hint=self._advice(word, at, start))
        return self.resync(at, start)

    def _advice(self, word: str, at: int, start: int) -> str:
        """The usual intention behind such a text."""
        start = self.source.skip(start)
        before = self.code[start:at].rstrip()
        if word == "#":
            return "a comment begins with //"
        if word in ("f", "F") and (number := re.search(r"\d*\.\d+$|\d+\.$", before)) and start + len(before) == at:
            return f"a constant has no suffix: write {number[0]}"
        foreign = [w for w in (*re.findall(r"\w+", before), word.lstrip(".")) if w in TYPES and before.startswith(".")]
        if foreign:
            return f"the type {foreign[-1]} is .{TYPES[foreign[-1]]} in PTX"
        if word == "}" and not before:
            return "no { is open here"
        first = _FIRST.match(self.code, start)
        if first is not None and (said := in_ptx(first[0])):
            return said
        if guard := re.match(r"!?(%[\w$]+)\s*", self.code[start : start + 80]):
            return f"PTX has no assignment: mov.u32 {guard[1]}, ..." if word == "=" else f"a guard begins with @: @{guard[1]}"
        line = self.source.span(start + len(before), start + len(before)).line
        if before and before[-1] not in ",({[|" and line < self.source.span(at, at).line:
            return f"a ';' is missing at the end of line {line}"
        return ""

    def resync(self, at: int, start: int) -> int:
        """The offset after an error at which the next statement may begin."""
        code = self.code
        newline = code.rfind("\n", 0, at) + 1
        if at > start and (code[at] == "}" or (newline > start and not code[newline:at].strip())):
            return at
        depth, pos = 0, at
        while m := _RESYNC.search(code, pos):
            c, pos = m.group(), m.end()
            if c == ";":
                return pos
            if c == "{":
                depth += 1
            elif depth == 0:
                return m.start() if m.start() > start else pos
            else:
                depth -= 1
        return len(code)

    def undeclared(self, name: str, scope: Scope, at: int, to: int) -> None:
        """Reports a name that nothing declares."""
        said = self.undeclared_names.get((name, id(scope)))
        if said is not None:  # once is enough, where it stands first
            if said.span.start < at:
                return
            self.diagnostics.remove(said)
        self.report("undeclared-name", f"{name} is not declared", at, to, hint=scope.hint(name))
        self.undeclared_names[name, id(scope)] = self.diagnostics[-1]


_SIGNS = {
    "SEMICOLON": "';'", "COMMA": "','", "RPAR": "')'", "LPAR": "'('", "RSQB": "']'", "LSQB": "'['", "RBRACE": "'}'", "LBRACE": "'{'",
    "COLON": "':'", "EQUAL": "'='", "NAME": "a name", "INTEGER": "a number", "STRING": "a string", "MORETHAN": "'>'",
}  # fmt: skip


def _expected(error: Unexpected) -> str:
    """What would have fitted, where that can be said in a few words."""
    words = sorted({_SIGNS[w] for w in error.expected if w in _SIGNS})
    return f"; expected {' or '.join(words)}" if 0 < len(words) <= 4 else ""
