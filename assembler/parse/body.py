"""The statements of a function's body.

A plain statement is an opcode and operand texts, each looked up in its scope; all else goes to the grammar.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from operator import attrgetter
from typing import Any

from warplab.isa.control import CALLS

from ..diagnostics import LIMIT, Note
from ..ir import Function, Instruction, Operand, Pragma, Prototype, Register, Span, Statement, Targets, Vector, shape_of
from ..shapes import Spelling, spelling
from . import declarations as decl
from .blocks import Blocks
from .operand_builders import operands_of
from .reader import TextReader
from .reports import TOO_DEEP
from .scopes import Compound, Scope
from .syntax_error import Flaw, Unexpected
from .trees import tree_of

_END = re.compile(r'[^;"]*(?:"[^"]*"[^;"]*)*;')
_LABEL = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)\s*:(?!:)", re.ASCII)
_OPCODE = re.compile(r"[a-z][a-z0-9]*(?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*", re.ASCII)
_OTHER = frozenset("{}.")
LONG = 4000  # characters of a plain statement
AT_ONCE = 32  # statements
_category = attrgetter("category")


class Spellings(dict[str, Spelling]):
    """Opcodes with their modifiers as they are written; those of calls are left to the grammar, as their operands are of another kind."""

    def __missing__(self, text: str) -> Spelling:
        if not _OPCODE.fullmatch(text):
            raise KeyError(text)
        opcode, *modifiers = text.split(".")
        found = spelling(opcode, tuple(modifiers))
        if found.form is None or opcode in CALLS:
            raise KeyError(text)
        self[text] = found
        return found


SPELLINGS = Spellings()


def read_body(reader: TextReader, function: Function, scope: Scope, pos: int) -> int:
    """The statements of a function's body, to its closing brace.  This loop is where a big module's time goes."""
    source = reader.source
    code, size, ends = reader.code, len(reader.code), source.ends
    forward, spellings, spanning = scope.forward, SPELLINGS, source.statement
    body = Body(reader, function, scope, pos - 1)
    while True:
        pos = source.skip(pos)
        k = source.piece(pos)
        end = ends[k] if k < len(ends) else size
        statements, operand = body.statements, body.scope.__getitem__
        # Of the last, incomplete piece and of a very long one (many labels or braces in a row, or nonsense) no copies are made.
        rest = (code[pos:end] if end - pos <= LONG and end < size else "", end)
        for piece, end in itertools.chain((rest,), source.pieces(k, AT_ONCE - 1)):
            guard, negated = None, False
            try:
                word, text = piece.split(None, 1)
                if word[0] == "@":
                    negated = word[1:2] == "!"
                    named = operand(word[2:] if negated else word[1:])
                    if not isinstance(named, Register):
                        break
                    guard = named
                    word, text = text.split(None, 1)
                shapes = spellings[word]
                found = tuple(map(operand, text.split(", "))) if "{" not in text else with_vectors(text, operand)
            except (Flaw, Unexpected, ValueError, KeyError, Compound, RecursionError):
                break  # the grammar tells what is wrong, the same whatever has been read before
            made = Instruction(shapes[tuple(map(_category, found))], found, guard, negated, (pos, end, spanning))
            pos = end + 1
            statements.append(made)
            if forward:
                body.wait(made)
        else:
            if k + AT_ONCE <= len(ends):
                continue
        forward.clear()
        pos = body.other(source.skip(pos))
        if body.done:
            return pos


def with_vectors(text: str, operand: Callable[[str], Operand]) -> tuple[Operand, ...]:
    """An operand list with vectors in braces."""
    out: list[Operand] = []
    group: list[Operand] | None = None
    for piece in text.replace(", ", ",").split(","):
        if group is not None:
            if piece[-1:] == "}":
                group.append(operand(piece[:-1]))
                out.append(Vector(tuple(group)))
                group = None
            else:
                group.append(operand(piece))
        elif piece[:1] == "{":
            if piece[-1:] == "}":
                out.append(Vector((operand(piece[1:-1]),)))
            else:
                group = [operand(piece[1:])]
        else:
            out.append(operand(piece))
    if group is not None:
        raise Compound
    return tuple(out)


class Body(Blocks):
    """A body with all kinds of statements."""

    def other(self, start: int) -> int:
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
                listed = code[after : after + 1] == "." and self.reader.word(after) in (".branchtargets", ".calltargets", ".callprototype")
                pos = self.statement(start) if listed else self.label(m)
            else:
                return self.slow(start)
            after = skip(pos)
            if code[after : after + 1] not in _OTHER:
                return after
            start = after

    def directive(self, start: int) -> int:
        """A statement that begins with a dot."""
        reader = self.reader
        word = reader.word(start)
        if word == ".loc":
            return self.location(start)
        if word == ".target":
            return reader.directive(start)
        if word in (".visible", ".extern", ".weak") and reader.word(self.source.skip(start + len(word))) != ".func":
            return reader.reports.unexpected(self.source.skip(start + len(word)), start)
        if word in (".file", ".section", ".version", ".address_size", ".entry", ".func", ".visible", ".extern", ".common", ".alias"):
            return reader.reports.unexpected(start, start)
        return self.statement(start)

    def location(self, start: int) -> int:
        """`.loc ...`, usually alone on its line."""
        code, reader = self.code, self.reader
        end = code.find("\n", start)
        end = len(code) if end < 0 else end
        try:
            tree = tree_of(code[start:end].rstrip(), "directive")
        except (Unexpected, Flaw):
            try:
                tree, end = reader.prefix(start)
            except Unexpected as error:
                return reader.reports.syntax(error, start)
        if tree.children[0].data != "loc":
            return reader.reports.unexpected(start, start)
        end = start + len(code[start:end].rstrip())
        try:
            self.statements.append(decl.location(tree.children[0], self.source.span(start, end)))
        except Flaw as flaw:
            reader.reports.flaw(flaw, start, end)
        return end

    def statement(self, start: int) -> int:
        """Any statement, by the grammar."""
        code, reader = self.code, self.reader
        m = _END.match(code, start)
        end = m.end() if m else len(code)
        try:
            children = reader.tree(start, end)
        except (Unexpected, Flaw) as error:
            reader.reports.tainted |= code[start] == "."
            return reader.reports.unreadable(error, start, end)
        tree = children[0]
        span = self.source.span(start, end)
        try:
            made = self.made(tree, span)
        except (Flaw, RecursionError) as error:
            self.scope.forward.clear()
            reader.reports.flaw(error if isinstance(error, Flaw) else TOO_DEEP, start, end - (tree.data == "instruction"))
            if tree.data == "declaration":
                reader.reports.tainted = True
            return end
        if made is None:
            return reader.reports.unexpected(start, start)
        self.statements.append(made)
        if self.scope.forward and isinstance(made, (Instruction, Targets)):
            self.wait(made)
        return end

    def made(self, tree: Any, span: Span) -> Statement | None:
        """The node of a statement's tree; None for what belongs outside of functions."""
        scope, reader = self.scope, self.reader
        match tree.data:
            case "instruction":
                return self.instruction(tree, span)
            case "declaration":
                return decl.declaration(reader, tree, self.own_scope(), span)
            case "pragma":
                return Pragma(tuple(str(t)[1:-1] for t in tree.children), span)
            case "targets":
                token, kind, *names = tree.children
                targets = tuple([scope[str(n)] for n in names])
                if kind.type == "CALLTARGETS":
                    for n, t in zip(names, targets, strict=True):
                        if not isinstance(t, Function):
                            scope.forward.clear()
                            raise Flaw("undeclared-name", f"no function is called {n}", str(n))
                made = Targets(str(token), "branch" if kind.type == "BRANCHTARGETS" else "call", targets, span)  # type: ignore[arg-type]
                self.own_scope().declare(made.name, made)
                return made
            case "prototype":
                return self.prototype(tree, span)
        return None

    def prototype(self, tree: Any, span: Span) -> Prototype:
        """`name: .callprototype (...) _ (...);`"""
        token, returns, _, params, *rest = tree.children
        lists = []
        for part in (returns, params):
            trees = [t for t in part.children if t is not None] if part is not None else []
            lists.append(tuple([decl.parameter(t, self.reader.span_of) for t in trees]))
        directives = [decl.performance(t, self.reader.span_of) for t in rest]
        made = Prototype(str(token), lists[0], lists[1], span, any(d.name == ".noreturn" for d in directives))
        self.own_scope().declare(made.name, made)
        return made

    def instruction(self, tree: Any, span: Span) -> Instruction:
        """An instruction in an unusual layout."""
        scope, guard, negated = self.scope, None, False
        children = list(tree.children)
        if getattr(children[0], "data", "") == "guard":
            sign, name = children.pop(0).children
            negated, name = sign is not None, str(name)
            found = scope.lookup(name)
            if not isinstance(found, Register):
                raise Flaw("bad-predicate", f"{name} is not a predicate register", name, hint="" if found is not None else scope.hint(name))
            guard = found
        listed = children.pop() if not isinstance(children[-1], str) else None
        opcode, *modifiers = "".join(map(str, children)).split(".")
        operands = operands_of(listed, scope) if listed is not None else ()
        return Instruction(shape_of(opcode, tuple(modifiers), operands), operands, guard, negated, span)

    def slow(self, start: int) -> int:
        """Reads one thing at start, whatever it is."""
        code, reader = self.code, self.reader
        if start >= len(code) or len(reader.reports.diagnostics) > 4 * LIMIT:
            where = self.stack[-1].start if self.stack else self.start
            note = Note("opened here", self.source.span(where, where + 1))
            reader.reports.report("unclosed-brace", "missing '}': the file ends inside this block", len(code), len(code), notes=(note,))
            while not self.done:
                self.close(len(code))
            return len(code)
        c = code[start]
        if c == "\\":
            return self.backslash(start)
        if c == "@" and code.startswith("@@DWARF", start):
            return reader.dwarf(start)
        return self.statement(start)

    def backslash(self, start: int) -> int:
        """ptxas overlooks a backslash before a statement."""
        at, end = self.source.token(start + 1)
        return self.reader.reports.unexpected(at, start) if self.code[at:end] in ("", "}", "\\") else at
