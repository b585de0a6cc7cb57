"""The statements of a body but for plain instructions: directives by their text, everything else by the grammar."""

from __future__ import annotations

import re
from typing import Any

from lark.exceptions import UnexpectedInput

from . import declarations as decl
from . import shapes
from .blocks import Blocks
from .flaw import Flaw
from .heads import Head, head_of
from .ir import Function, Instruction, Operand, Pragma, Prototype, Register, Span, Statement, Targets
from .making import make_declaration, make_location, make_variable
from .reports import TOO_DEEP
from .scopes import Stem

_END = re.compile(r'(?:[^;"]|"[^"]*")*?;')


def make_instruction(head: Head, operands: tuple[Operand, ...], guard: Register | None, negated: bool, span: Span) -> Instruction:
    return Instruction(head[0], head[1], operands, guard, negated, head[2], head[3], span)


class Statements(Blocks):
    """A body whose statements can be read one by one."""

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
        elif word in (".visible", ".extern", ".weak") and parser.word(self.source.skip(start + len(word))) != ".func":
            return parser.reports.unexpected(self.source.skip(start + len(word)), start)
        elif word in (".file", ".section", ".version", ".address_size", ".entry", ".func", ".visible", ".extern", ".common", ".alias"):
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
        scope.settle()
        scope.forget()
        own, span_of = scope.names, self.source.span
        registers, stems = [], []
        for name, count, at in names:
            where = span_of(start + at, start + at + len(name))
            try:
                if count >= 0:
                    scope.declare_stem(name, Stem(count, type, vector, where))
                else:
                    if name in own or scope.stems:
                        scope.free(name)
                    registers.append(scope.enter(name, type, vector, where))
            except Flaw as flaw:
                self.parser.reports.flaw(flaw, start + at, end)
            stems.append((name, count))
        span = span_of(start, end)
        self.statements.append(make_declaration(tuple(registers), (), tuple(stems), span, type, vector))
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
            variable = make_variable(name, words, dims, span_of(start + at, start + at + len(name)))
            try:
                scope.declare(name, variable)
            except Flaw as flaw:
                self.parser.reports.flaw(flaw, start + at, end)
            variables.append(variable)
        self.statements.append(make_declaration((), tuple(variables), (), span_of(start, end)))
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
        head = head_of(str(children[0]) + "".join(map(str, children[1:])))
        found_operands = shapes.from_tree(operands, scope) if operands is not None else ()
        return make_instruction(head, found_operands, guard, negated, span)
