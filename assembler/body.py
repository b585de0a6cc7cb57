"""The statements of a function's body.

The fast path splits a statement into texts that lark has understood before; all else goes to the grammar.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

from lark.exceptions import UnexpectedInput

from . import shapes
from .bulk import Reader
from .diagnostics import LIMIT, Note
from .flaw import Flaw
from .heads import CALLS, HEADS, Slow, head_of
from .ir import Function, Register
from .making import FastInstruction, TextInstruction
from .scopes import Scope
from .statements import Statements, make_instruction

if TYPE_CHECKING:
    from .modules import Parser

_LABEL = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)\s*:(?!:)", re.ASCII)
_PARTS = re.compile(
    r"(?:@\s*(!?)\s*([A-Za-z][\w$]*|[_$%][\w$]+)\s*(?![\w$.]))?([A-Za-z_][\w$]*(?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*)(?:\s+(.*\S))?\s*",
    re.ASCII | re.S,
)
_OTHER = frozenset("{}.")
LONG = 4000  # characters of a statement that the fast path looks at
AT_ONCE = 16  # statements


def read_body(parser: Parser, function: Function, scope: Scope, pos: int) -> int:
    """The statements of a function's body, to its closing brace.  This loop is where a big module's time goes."""
    source = parser.source
    code, size, ends = parser.code, len(parser.code), parser.source.ends
    forward, heads, with_vectors = scope.forward, HEADS, shapes.with_vectors
    body = Body(parser, function, scope, pos - 1)
    reader = Reader(body)
    while True:
        pos = source.skip(pos)
        if not body.stack and body.may_be_plain(pos):
            pos = reader.read(pos)
        k = source.piece(pos)
        end = ends[k] if k < len(ends) else size
        statements, operands = body.statements, body.scope.operands.__getitem__
        # Of the last, incomplete piece and of a very long one (many labels or braces in a row, or nonsense) no copies are made.
        rest = (code[pos:end] if end - pos <= LONG and end < size else "", end)
        for piece, end in itertools.chain((rest,), source.pieces(k, AT_ONCE - 1)):
            guard, negated = None, False
            try:
                word, text = piece.split(None, 1)
                if word[0] == "@":
                    negated = word[1:2] == "!"
                    guard = operands(word[2:] if negated else word[1:])
                    if guard.__class__ is not Register:
                        break
                    word, text = text.split(None, 1)
                opcode, modifiers, form, settled = heads[word]
                found = tuple(map(operands, text.split(", "))) if "{" not in text else with_vectors(text, operands)
            except (Flaw, UnexpectedInput, ValueError, KeyError, shapes.Compound):
                break  # the grammar tells what is wrong, the same whatever has been read before
            made = FastInstruction()
            made.opcode = opcode
            made.modifiers = modifiers
            made.operands = found
            made.guard = guard  # type: ignore[assignment]
            made.guard_negated = negated
            made.form = form
            made.settled = settled
            made.span = pos, end, source
            made.__class__ = TextInstruction  # type: ignore[assignment]
            pos = end + 1
            statements.append(made)  # type: ignore[arg-type]
            if forward:
                body.wait(made)  # type: ignore[arg-type]
        else:
            if k + AT_ONCE <= len(ends):
                continue
            end = size
        forward.clear()
        pos = body.other(source.skip(pos), end)
        if body.done:
            return pos


class Body(Statements):
    """A body with all kinds of statements."""

    def may_be_plain(self, pos: int) -> bool:
        """Can the statement here be one that is read by its pattern?"""
        c = self.code[pos : pos + 1]
        return c != "}" and (c != "." or self.code.startswith(".loc", pos))

    def other(self, start: int, end: int) -> int:
        """What the loop above does not know: all up to the next instruction, or one unusual statement."""
        code, skip = self.code, self.source.skip
        while True:
            c = code[start : start + 1]
            if c == "{":
                pos = self.open(start)
            elif c == "}":
                self.close(start)
                pos = start + 1
                if self.done:
                    return pos
            elif c == ".":
                pos = self.directive(start)
            elif m := _LABEL.match(code, start):
                after = skip(m.end())
                listed = code[after : after + 1] == "." and self.parser.word(after) in (".branchtargets", ".calltargets", ".callprototype")
                pos = self.statement(start) if listed else self.label(m)
            else:
                if end - start > LONG or end == len(code):
                    return self.slow(start)
                parts = _PARTS.fullmatch(code, start, end) if start < end else None
                return self.slow(start) if parts is None else self.plain(parts, start, end)
            after = skip(pos)
            if code[after : after + 1] not in _OTHER or (not self.stack and self.may_be_plain(after)):
                return after
            start = after
            if end < start:
                end = code.find(";", start)
                end = len(code) if end < 0 else end

    def plain(self, m: re.Match[str], start: int, end: int) -> int:
        """An instruction whose opcode or layout is new."""
        forward, scope = self.scope.forward, self.scope
        sign, guard_name, word, text = m.groups()
        guard = None
        try:
            if guard_name is not None:
                found_guard = scope.lookup(guard_name)
                if not isinstance(found_guard, Register):
                    raise Flaw("bad-predicate", f"{guard_name} is no predicate register", guard_name)
                guard = found_guard
            head = HEADS.get(word) or CALLS.get(word) or head_of(word)
            if head[0] == "call" and not text:
                raise Slow
            found = shapes.build("call_operands" if head[0] == "call" else "operands", text, scope) if text else ()
        except (Slow, UnexpectedInput):
            forward.clear()
            return self.slow(start)
        except Flaw as flaw:
            forward.clear()
            self.parser.reports.flaw(flaw, start, end)
            return end + 1
        made = make_instruction(head, found, guard, bool(sign), self.source.span(start, end + 1))
        self.statements.append(made)
        if forward:
            self.wait(made)
        return end + 1

    def slow(self, start: int) -> int:
        """Reads one thing at start, whatever it is."""
        code, parser = self.code, self.parser
        if start >= len(code) or len(parser.reports.diagnostics) > 4 * LIMIT:
            where = self.stack[-1].start if self.stack else self.start
            note = Note("opened here", self.source.span(where, where + 1))
            parser.reports.report("unclosed-brace", "the text ends before the } comes", len(code), len(code), notes=(note,))
            while not self.done:
                self.close(len(code))
            return len(code)
        c = code[start]
        if c == "\\":
            return self.backslash(start)
        if c == "@" and code.startswith("@@DWARF", start):
            return parser.item(start)
        return self.statement(start)

    def backslash(self, start: int) -> int:
        """ptxas overlooks a backslash before a statement."""
        at, end = self.source.token(start + 1)
        return self.parser.reports.unexpected(at, start) if self.code[at:end] in ("", "}", "\\") else at
