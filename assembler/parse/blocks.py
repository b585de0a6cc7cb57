"""A function's body while it is read: its blocks, their scopes, and the labels that statements wait for."""

from __future__ import annotations

import re

from warplab.isa.control import BRANCHES
from warplab.isa.notation import FORMS

from ..diagnostics import Note, nearest
from ..ir import LISTED, Block, Function, Instruction, Label, Statement, Targets
from ..meant import opcode_meant
from .labels import declarations_of, labels_of, patch, statements_of, without
from .reader import TextReader
from .scopes import Inner, Scope, Unresolved
from .syntax_error import Flaw

DEPTH = 500  # blocks within blocks


class _Open:
    """A block whose end has not come yet."""

    __slots__ = ("mark", "scope", "start", "statements")

    def __init__(self, statements: list[Statement], scope: Scope, mark: int, start: int) -> None:
        self.statements = statements  # of the block around it
        self.scope = scope  # around it; the block gets one of its own with its first declaration
        self.mark = mark  # how many labels that scope was waiting for
        self.start = start


class Blocks:
    """The blocks of a body, open and closed."""

    def __init__(self, reader: TextReader, function: Function, scope: Scope, start: int) -> None:
        self.reader = reader
        self.source = reader.source
        self.code = reader.code
        self.function = function
        self.scope = scope
        self.statements: list[Statement] = []
        self.stack: list[_Open] = []
        self.start = start
        self.done = False
        self.inner: dict[str, Label] = {}  # labels of blocks that are closed

    def open(self, start: int) -> int:
        """`{`"""
        if len(self.stack) >= DEPTH:
            self.reader.reports.report("too-deep", f"blocks are nested more than {DEPTH} deep", start, start + 1)
            return len(self.code)
        self.stack.append(_Open(self.statements, self.scope, len(self.scope.pending), start))
        self.scope.blocks += 1
        self.statements = []
        return start + 1

    def own_scope(self) -> Scope:
        """The scope of this very block, which most blocks never need."""
        top = self.stack[-1] if self.stack else None
        if top is not None and self.scope is top.scope:
            self.scope = Inner(top.scope)
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
        span = self.source.span(self.start, at + 1)
        block = Block(tuple(self.statements), span)
        function.registers = tuple(scope.registers)
        if scope.future:
            missing = set(map(id, scope.future.values()))
            scope.pending += [(s, o.name) for s in statements_of(list(block.statements)) for o in labels_of(s) if id(o) in missing]
        if scope.pending:
            broken = {id(statement) for statement, _ in scope.pending}
            for statement, name in scope.pending:
                self.unresolved(statement, name)
            block = without(block, broken)
        if function.is_entry and self.reader.version < LISTED:
            declared = declarations_of(block, "param")
            function.params += tuple([v for d in declared for v in d.variables])
            block = without(block, {id(d) for d in declared})
        function.body = block

    def unresolved(self, statement: Instruction | Targets, name: str) -> None:
        """A name that nothing declares."""
        reports, span = self.reader.reports, statement.span
        start = span.start
        if isinstance(statement, Instruction):
            if statement.opcode not in FORMS:
                at, to = reports.find(statement.opcode, start, span.end)
                hint = opcode_meant(statement.opcode, statement.modifiers)
                reports.report("unknown-instruction", f"no instruction is called {statement.opcode}", at, to, hint=hint)
                return
            # The opcode may have the same name.
            start = self.code.index(statement.opcode, start) + len(statement.opcode)
        at, to = reports.find(name, start, span.end)
        if isinstance(statement, Targets) or statement.opcode in BRANCHES:
            inner = self.inner.get(name)
            notes = (Note("it is inside this block", inner.span),) if inner else ()
            near = nearest(name, [n for n, e in self.scope.names.items() if isinstance(e, Label)])
            hint = f"is {near} meant?" if near else ""
            reports.report("unknown-label", f"no label {name} can be reached from here", at, to, notes=notes, hint=hint)
        elif not reports.tainted:
            reports.undeclared(name, self.scope, at, to)

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
        at, to = self.reader.reports.find(name, made.span.start, made.span.end)
        self.reader.reports.undeclared(name, scope, at, to)

    def label(self, m: re.Match[str]) -> int:
        """`name:`."""
        made = self.declare_label(m[1], m.start(1))
        if made is not None:
            self.statements.append(made)
        return m.end()

    def declare_label(self, name: str, start: int) -> Label | None:
        """The label of a `name:`, entered in its scope."""
        scope = self.own_scope()
        span = self.source.span(start, start + len(name))
        label = scope.future.pop(name, None)
        if label is not None:
            object.__setattr__(label, "span", span)
        else:
            label = Label(name, span)
        if not self.stack and name not in scope.names and name.rstrip("0123456789") not in scope.stems:
            scope.names[name] = label  # nearly all labels go this way
            return label
        outer = None
        if self.stack:
            found = scope.lookup(name)
            outer = found if isinstance(found, Label) else self.future(name)
        try:
            scope.declare_label(name, label)
        except Flaw as flaw:
            self.reader.reports.flaw(flaw, start, start + len(name))
            return None
        if outer is not None:
            # What this block said so far meant its own label, not the one around it.
            for statement in statements_of(self.statements):
                patch(statement, outer, label)
        return label

    def future(self, name: str) -> Label | None:
        """The label of the body that is still to come, if one of this name is."""
        scope = self.stack[0].scope
        return scope.future.get(name)
