"""The statements of a function's body.

The fast path splits a statement into texts that lark has understood before; all else goes to the grammar.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Any

from lark.exceptions import UnexpectedInput

from warplab.isa.notation import Form, resolve

from . import declarations as decl
from . import shapes
from .diagnostics import LIMIT, Note, nearest
from .flaw import Flaw
from .ir import (
    Block,
    Declaration,
    Function,
    Instruction,
    Label,
    Operand,
    Pragma,
    Prototype,
    Register,
    Span,
    Statement,
    Targets,
)  # fmt: skip
from .labels import labels_of, patch, statements_of, without
from .making import FastInstruction, TextInstruction, make_location, make_register
from .reports import TOO_DEEP
from .scopes import Scope, Stem, Unresolved

if TYPE_CHECKING:
    from .modules import Parser

_LABEL = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)\s*:(?!:)", re.ASCII)
_HEAD = re.compile(r"([A-Za-z][\w$]*|[_$%][\w$]+)((?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*)", re.ASCII)
_PARTS = re.compile(
    r"(?:@\s*(!?)\s*([A-Za-z][\w$]*|[_$%][\w$]+)\s*(?![\w$.]))?([A-Za-z_][\w$]*(?:\.[A-Za-z0-9_]+(?:::[A-Za-z0-9_]+)*)*)(?:\s+(.*\S))?\s*",
    re.ASCII | re.S,
)
_END = re.compile(r'(?:[^;"]|"[^"]*")*?;')
_OTHER = frozenset("{}.")
DEPTH = 500  # blocks within blocks
LONG = 4000  # characters of a statement that the fast path looks at

Head = tuple[str, tuple[str, ...], Form | None, dict[str, str | bool] | None]


def read_body(parser: Parser, function: Function, scope: Scope, pos: int) -> int:
    """The statements of a function's body, to its closing brace.  This loop is where a big module's time goes."""
    source = parser.source
    code, size, pieces = parser.code, len(parser.code), source.pieces
    forward, heads, with_vectors = scope.forward, _HEADS, shapes.with_vectors
    body = Body(parser, function, scope, pos - 1)
    end = source.piece(pos)
    while True:
        statements, operands = body.statements, body.scope.operands.__getitem__
        # Of the last, incomplete piece and of a very long one (many labels or braces in a row, or nonsense) no copies are made.
        rest = (code[pos:end] if end - pos <= LONG and end < size else "", end)
        for piece, end in itertools.chain((rest,), pieces):
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
            except Flaw as flaw:
                forward.clear()
                parser.reports.flaw(flaw, source.skip(pos), end)
                pos = end + 1
                continue
            except (UnexpectedInput, ValueError, KeyError, shapes.Compound):
                break
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
            end = size
        source.end = end
        forward.clear()
        pos = body.other(source.skip(pos), end)
        if body.done:
            return pos
        end = source.piece(pos)


def _make_instruction(head: Head, operands: tuple[Operand, ...], guard: Register | None, negated: bool, span: Span) -> Instruction:
    return Instruction(head[0], head[1], operands, guard, negated, head[2], head[3], span)


class _Slow(Exception):
    """What the fast path does not know: labels, braces, directives, odd layouts, errors."""


_HEADS: dict[str, Head] = {}
_CALLS: dict[str, Head] = {}  # read by the grammar alone


def _head(text: str) -> Head:
    """An opcode with its modifiers, resolved."""
    if not _HEAD.fullmatch(text):
        raise _Slow
    words = text.split(".")
    found = resolve(words[0], tuple(words[1:]))
    head = (words[0], tuple(words[1:]), found[0] if found else None, found[1] if found else None)
    if found is not None:
        (_CALLS if words[0] == "call" else _HEADS)[text] = head
    return head


class _Open:
    """A block whose end has not come yet."""

    __slots__ = ("mark", "scope", "start", "statements")

    def __init__(self, statements: list[Statement], scope: Scope, mark: int, start: int) -> None:
        self.statements = statements  # of the block around it
        self.scope = scope  # around it; the block gets one of its own with its first declaration
        self.mark = mark  # how many labels that scope was waiting for
        self.start = start


class Body:
    """A function's body while it is read."""

    def __init__(self, parser: Parser, function: Function, scope: Scope, start: int) -> None:
        self.parser = parser
        self.source = parser.source
        self.code = parser.code
        self.function = function
        self.scope = scope
        self.statements: list[Statement] = []
        self.stack: list[_Open] = []
        self.start = start
        self.done = False
        self.inner: dict[str, Label] = {}  # labels of blocks that are closed

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
                pos = self.label(m)
            else:
                if end - start > LONG or end == len(code):
                    return self.slow(start)
                parts = _PARTS.fullmatch(code, start, end) if start < end else None
                return self.slow(start) if parts is None else self.plain(parts, start, end)
            after = skip(pos)
            if code[after : after + 1] not in _OTHER:
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
            head = _HEADS.get(word) or _CALLS.get(word) or _head(word)
            if head[0] == "call" and not text:
                raise _Slow
            found = shapes.build("call_operands" if head[0] == "call" else "operands", text, scope) if text else ()
        except (_Slow, UnexpectedInput):
            forward.clear()
            return self.slow(start)
        except Flaw as flaw:
            forward.clear()
            self.parser.reports.flaw(flaw, start, end)
            return end + 1
        made = _make_instruction(head, found, guard, bool(sign), self.source.span(start, end + 1))
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

    # ------------------------------------------------------------ blocks and labels

    def open(self, start: int) -> int:
        """`{`"""
        if len(self.stack) >= DEPTH:
            self.parser.reports.report("too-deep", f"blocks are nested more than {DEPTH} deep", start, start + 1)
            return len(self.code)
        self.stack.append(_Open(self.statements, self.scope, len(self.scope.pending), start))
        self.scope.blocks += 1
        self.statements = []
        return start + 1

    def own_scope(self) -> Scope:
        """The scope of this very block, which most blocks never need."""
        top = self.stack[-1] if self.stack else None
        if top is not None and self.scope is top.scope:
            self.scope = Scope(top.scope, top.scope.registers, inner=True)
            self.scope.pending = top.scope.pending[top.mark :]
            del top.scope.pending[top.mark :]
        return self.scope

    def close(self, at: int) -> None:
        """`}`"""
        scope = self.scope
        if not self.stack:
            self.finish(at)
            return
        top = self.stack.pop()
        block = Block(tuple(self.statements), self.source.span(top.start, at + 1))
        self.statements, self.scope = top.statements, top.scope
        self.scope.blocks -= 1
        self.statements.append(block)
        if scope is not top.scope:
            if scope.pending:
                self.settle(scope)
                top.scope.pending += scope.pending
            self.inner.update([(n, e) for n, e in scope.names.items() if isinstance(e, Label)])
            scope.close()

    def settle(self, scope: Scope) -> None:
        """Gives their labels to the statements that waited for them."""
        left = []
        for statement, name in scope.pending:
            label = scope.names.get(name)
            if not isinstance(label, Label):
                left.append((statement, name))
            else:
                patch(statement, name, label)
        scope.pending = left

    def finish(self, at: int) -> None:
        """The closing brace of the body."""
        self.done = True
        scope, function = self.scope, self.function
        self.settle(scope)
        block = Block(tuple(self.statements), self.source.span(self.start, at + 1))
        if scope.future:
            missing = set(map(id, scope.future.values()))
            scope.pending += [(s, o.name) for s in statements_of(list(block.statements)) for o in labels_of(s) if id(o) in missing]
        if scope.pending:
            broken = {id(statement) for statement, _ in scope.pending}
            for statement, name in scope.pending:
                self.unresolved(statement, name)
            block = without(block, broken)
        function.body = block
        function.registers = tuple(scope.registers)
        scope.close()

    def unresolved(self, statement: Instruction | Targets, name: str) -> None:
        """A name that nothing declares."""
        parser, span = self.parser, statement.span
        start = span.start
        if isinstance(statement, Instruction):  # the opcode may have the same name
            start = self.code.index(statement.opcode, start) + len(statement.opcode)
        at, to = parser.reports.find(name, start, span.end)
        if isinstance(statement, Targets) or statement.opcode in ("bra", "brx"):
            inner = self.inner.get(name)
            notes = (Note("it is inside this block", inner.span),) if inner else ()
            near = nearest(name, [n for n, e in self.scope.names.items() if isinstance(e, Label)])
            hint = f"is {near} meant?" if near else ""
            parser.reports.report("unknown-label", f"no label {name} can be reached from here", at, to, notes=notes, hint=hint)
        elif not parser.reports.tainted:
            parser.reports.undeclared(name, self.scope, at, to)

    def wait(self, made: Instruction | Targets) -> None:
        """A statement names something unknown: a label that comes later, it may be."""
        scope = self.scope
        names = [u.name for u in scope.forward]
        scope.forward.clear()
        places = made.operands if isinstance(made, Instruction) else made.targets
        waiting = [o.name for o in places if isinstance(o, Unresolved)]
        if waiting == names:
            scope.pending += [(made, n) for n in names]
            return
        self.statements.pop()
        name = next(n for n in names if n not in waiting)
        at, to = self.parser.reports.find(name, made.span.start, made.span.end)
        self.parser.reports.undeclared(name, scope, at, to)

    def label(self, m: re.Match[str]) -> int:
        """`name:`, or what a name with a colon may introduce."""
        code, name, start, pos = self.code, m[1], m.start(), m.end()
        after = self.source.skip(pos)
        if code[after : after + 1] == "." and self.parser.word(after) in (".branchtargets", ".calltargets", ".callprototype"):
            return self.statement(start)
        scope = self.own_scope()
        span = self.source.span(start, start + len(name))
        label = scope.future.pop(name, None)
        if label is not None:
            object.__setattr__(label, "span", span)
        else:
            label = Label(name, span)
        outer = None
        if self.stack:
            found = scope.lookup(name)
            outer = found if isinstance(found, Label) else self.future(name)
        try:
            scope.declare_label(name, label)
        except Flaw as flaw:
            self.parser.reports.flaw(flaw, start, start + len(name))
            return pos
        if outer is not None:
            # What this block said so far meant its own label, not the one around it.
            for statement in statements_of(self.statements):
                patch(statement, outer, label)
        self.statements.append(label)
        return pos

    def future(self, name: str) -> Label | None:
        """The label of the body that is still to come, if one of this name is."""
        scope = self.stack[0].scope
        return scope.future.get(name)

    def backslash(self, start: int) -> int:
        """ptxas overlooks a backslash before a statement."""
        at, end = self.source.token(start + 1)
        return self.parser.reports.unexpected(at, start) if self.code[at:end] in ("", "}", "\\") else at

    # ------------------------------------------------------------ statements

    def directive(self, start: int) -> int:
        """A statement that begins with a dot."""
        code, parser = self.code, self.parser
        word = parser.word(start)
        if word == ".loc":
            return self.location(start)
        if word in (".reg", ".param", ".local", ".shared"):
            end = code.find(";", start) + 1
            if end and (self.registers if word == ".reg" else self.variables)(start, end):
                return end
        elif word == ".target":
            return parser.directive(start)
        elif word in (".file", ".section", ".version", ".address_size", ".entry", ".func", ".visible", ".extern", ".alias"):
            return parser.reports.unexpected(start, start)
        return self.statement(start)

    def registers(self, start: int, end: int) -> bool:
        """`.reg ...;` by its shape; False leaves it to the grammar, errors included."""
        made = shapes.registers(self.code[start:end])
        if made is None:
            return False
        words, names = made
        scope, type, vector = self.own_scope(), words.type, words.vector
        assert type is not None
        own, operands, numbered, span_of = scope.names, scope.operands, scope.registers, self.source.span
        registers, stems = [], []
        if operands:
            operands.clear()
        for name, count, at in names:
            where = span_of(start + at, start + at + len(name))
            try:
                if count >= 0:
                    scope.declare_stem(name, Stem(count, type, vector, where))
                else:
                    register = make_register(name, type, vector, len(numbered), where)
                    if name in own or scope.stems:
                        scope.declare(name, register)
                    own[name] = operands[name] = register
                    numbered.append(register)
                    registers.append(register)
            except Flaw as flaw:
                self.parser.reports.flaw(flaw, start + at, end)
            stems.append((name, count))
        span = span_of(start, end)
        self.statements.append(Declaration(tuple(registers), (), tuple(stems), span, type, vector))
        return True

    def variables(self, start: int, end: int) -> bool:
        """`.param .b64 p;` and the like, by text; False leaves it to the grammar, errors included."""
        made = shapes.variables(self.code[start:end])
        if made is None:
            return False
        words, names = made
        scope, span_of = self.own_scope(), self.source.span
        variables = []
        for name, dims, at in names:
            variable = decl.declared(name, span_of(start + at, start + at + len(name)), words, dims, None)
            try:
                scope.declare(name, variable)
            except Flaw as flaw:
                self.parser.reports.flaw(flaw, start + at, end)
            variables.append(variable)
        self.statements.append(Declaration((), tuple(variables), (), span_of(start, end)))
        return True

    def location(self, start: int) -> int:
        """`.loc ...`, usually alone on its line."""
        code, parser = self.code, self.parser
        end = code.find("\n", start)
        end = len(code) if end < 0 else end
        try:
            values = shapes.build("directive", code[start:end], self.scope)
        except (UnexpectedInput, Flaw):
            try:
                end = parser.prefix(start)[1]
                values = shapes.build("directive", code[start:end], self.scope)
            except UnexpectedInput as error:
                return parser.reports.syntax(error, start)
            except Flaw as flaw:
                parser.reports.flaw(flaw, start, end)
                return end
        if values is None:
            return parser.reports.unexpected(start, start)
        file, row, column, function, offset, inlined = values
        end = start + len(code[start:end].rstrip())
        span = self.source.span(start, end)
        self.statements.append(make_location(file, row, column, span, function, offset, inlined))
        return end

    def statement(self, start: int) -> int:
        """Any statement, by the grammar."""
        code, parser = self.code, self.parser
        m = _END.match(code, start)
        end = m.end() if m else len(code)
        try:
            children = parser.tree(start, end)
        except UnexpectedInput as error:
            if code[start] == ".":
                parser.reports.tainted = True
            return parser.reports.syntax(error, start)
        tree = children[0]
        span = self.source.span(start, end)
        try:
            made = self.made(tree, span)
        except (Flaw, RecursionError) as error:
            self.scope.forward.clear()
            parser.reports.flaw(error if isinstance(error, Flaw) else TOO_DEEP, start, end)
            if tree.data == "declaration":
                parser.reports.tainted = True
            return end
        if made is None:
            return parser.reports.unexpected(start, start)
        self.statements.append(made)
        if self.scope.forward and isinstance(made, (Instruction, Targets)):
            self.wait(made)
        return end

    def made(self, tree: Any, span: Span) -> Statement | None:
        """The node of a statement's tree; None for what belongs outside of functions."""
        scope, parser = self.scope, self.parser
        match tree.data:
            case "instruction":
                return self.instruction(tree, span)
            case "declaration":
                return parser.variable_statement(tree, self.own_scope(), span)
            case "pragma":
                return Pragma(tuple(str(t)[1:-1] for t in tree.children), span)
            case "targets":
                token, kind, *names = tree.children
                targets = tuple([scope.operands[str(n)] for n in names])
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
            lists.append(tuple([decl.parameter(t, self.parser.span_of) for t in trees]))
        directives = [decl.performance(t, self.parser.span_of) for t in rest]
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
                raise Flaw("bad-predicate", f"{name} is no predicate register", name)
            guard = found
        operands = children.pop() if not isinstance(children[-1], str) else None
        head = _head(str(children[0]) + "".join(map(str, children[1:])))
        found_operands = shapes.from_tree(operands, scope) if operands is not None else ()
        return _make_instruction(head, found_operands, guard, negated, span)
