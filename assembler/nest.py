"""Where the statements of a chunk go while they are made: blocks, what they declare, labels and .loc."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import shapes
from .ir import Block, Declaration, Label, Operand, Register, Span, Statement
from .making import make_declaration, make_location, make_variable
from .recipes import items
from .scopes import NOWHERE, Operands, Scope

if TYPE_CHECKING:
    from .text import Source


class Nest:
    """Where the statements of a chunk go while they are made: the list of the innermost block, and what texts mean there."""

    def __init__(self, source: Source, scope: Scope, operands: Operands, registers: list[Register]) -> None:
        self.source = source
        self.scope = scope
        self.registers = registers  # what blocks declare goes here as well
        self.outer = self.operands = operands
        self.out: list[Statement] = []
        self.around: list[Statement] = []  # while a block is open: what stands before it
        self.begin = -1  # where it begins
        self.inner: Scope | None = None

    def lead(self, pos: int) -> int:
        """What stands before an instruction; tells where that ends."""
        source = self.source
        for m in items(source.code, pos):
            pos = m.end()
            if m[1] == "{":
                self.around, self.out, self.begin = self.out, [], m.start(1)
            elif m[1]:
                self.close(pos)
            elif m[2]:
                label = self.scope.names.get(m[2])
                self.out.append(label if isinstance(label, Label) else Label(m[2], source.span(*m.span(2))))
            else:
                file, line, column = int(m[4]), int(m[5]), int(m[6])
                inlined = (int(m[8]), int(m[9]), int(m[10])) if m[7] else None
                self.out.append(make_location(file, line, column, source.span(m.start(3), pos), m[7] or "", 0, inlined))
        return pos

    def close(self, end: int) -> None:
        """The end of a block, if one is open."""
        if self.begin >= 0:
            block = Block(tuple(self.out), self.source.span(self.begin, end))
            self.out, self.around, self.begin = self.around, [], -1
            self.out.append(block)
        if self.inner is not None:
            self.inner.close()
            self.inner = None
            self.operands = self.outer

    def declare(self, start: int, end: int) -> None:
        """`.reg .b32 a, b;` or `.param .b64 p;` in a block."""
        if self.inner is None:
            self.inner = Scope(self.scope, self.registers, inner=True)
            self.operands = self.inner.operands
        self.out.append(enter(self.inner, self.source.code[start:end], start, self.source))

    def call(self, text: str) -> tuple[Operand, ...]:
        """The operands of a call."""
        made: tuple[Operand, ...] = shapes.build("call_operands", text, self.inner or self.scope)
        return made


def enter(scope: Scope, text: str, start: int, source: Source | None) -> Declaration:
    """Enters what a declaration in a block declares, whose text begins at an offset of the source, if it is of one."""

    def span(at: int, size: int) -> Span:
        return source.span(start + at, start + at + size) if source is not None else NOWHERE

    whole = span(0, len(text))
    if text.startswith(".reg"):
        registers = shapes.registers(text)
        assert registers is not None and registers[0].type is not None
        type, vector, names = registers[0].type, registers[0].vector, registers[1]
        made = tuple([scope.enter(name, type, vector, span(at, len(name))) for name, _, at in names])
        return make_declaration(made, (), tuple([(name, -1) for name, _, _ in names]), whole, type, vector)
    variables = shapes.variables(text)
    assert variables is not None
    entered = tuple([make_variable(name, variables[0], dims, span(at, len(name))) for name, dims, at in variables[1]])
    scope.names.update([(v.name, v) for v in entered])
    return make_declaration((), entered, (), whole)
