"""Stretches of plain statements of which only the shapes are known, until someone asks for the statements themselves.

A shape is the words of a statement's tokens, with a blank between them: `add.s32 b32 , b32 , #int`.  The verdict on a statement depends on
its shape alone, so that the verifier of a big module never asks for most of the statements.
"""

# mypy cannot follow a change of class, nor slots taken from another class.
# mypy: disable-error-code="assignment, return-value, misc, override, union-attr, no-any-return, arg-type"

from __future__ import annotations

from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING, cast

from .ir import Block, Declaration, Function, Instruction, Operand, Register, Span, Statement
from .making import FastInstruction, TextInstruction, make_vector
from .nest import Nest
from .recipes import Recipe, callee, items
from .scopes import Scope

if TYPE_CHECKING:
    from .text import Source


class Chunk:
    """A stretch of statements of one scope, of which so far only the shapes are known."""

    __slots__ = ("_made", "end", "first", "instructions", "kinds", "pos", "recipes", "scope", "source", "turns")

    def __init__(self, source: Source, scope: Scope, pos: int, end: int, first: int, recipes: list[Recipe]) -> None:
        self.source = source
        self.scope = scope
        self.pos = pos  # where it begins,
        self.end = end  # and ends, behind a semicolon or the brace that closes a block
        self.first = first  # the number of its first stretch between semicolons
        self.recipes = recipes  # of each statement
        self.kinds = frozenset(recipes)
        turning = {recipe for recipe in self.kinds if recipe.turns}
        self.turns = [i for i, recipe in enumerate(recipes) if recipe in turning] if turning else []  # where blocks begin and end
        self.instructions: list[Instruction | None] = []  # one for each recipe, when they are made
        self._made: list[Statement] | None = None

    @property
    def statements(self) -> list[Statement]:
        """All statements, in the order of the text."""
        self.settle()
        assert self._made is not None
        return self._made

    def span(self, i: int) -> tuple[int, int]:
        """Where the text of a statement begins, and where it ends."""
        ends, k = self.source.ends, self.first + i
        return ends[k - 1] + 1 if i else self.pos, ends[k]

    def text(self, i: int) -> str:
        """The text of a statement behind its lead."""
        start, end = self.span(i)
        for m in items(self.source.code, start) if self.recipes[i].lead else ():
            start = m.end()
        return self.source.code[start:end]

    def instruction(self, i: int) -> Instruction:
        """One instruction; another object each time, unless all are made."""
        if self.instructions:
            made = self.instructions[i]
        else:
            with self.scope.opened() as operands:
                nest = Nest(self.source, self.scope, operands, [])
                for k in self.opening(i):
                    self._make(k, nest)
                made = self._make(i, nest)
                nest.close(0)
        assert made is not None
        return made

    def declaration(self, i: int) -> Declaration:
        """One declaration in a block."""
        with self.scope.opened() as operands:
            nest = Nest(self.source, self.scope, operands, [])
            self._make(i, nest)
            made = nest.out[-1]
            nest.close(0)
        assert isinstance(made, Declaration)
        return made

    def opening(self, i: int) -> list[int]:
        """The statements from the beginning of a block up to one in it that open it or declare something."""
        found = []
        for n in range(bisect_right(self.turns, i) - 1, -1, -1):
            recipe = self.recipes[self.turns[n]]
            if self.turns[n] != i:
                if recipe.lead.rfind("{") < recipe.lead.rfind("}"):
                    break
                found.append(self.turns[n])
            if "{" in recipe.lead or "}" in recipe.lead:
                break
        return found[::-1]

    def naming(self) -> list[Operand]:
        """The different operands that name variables or functions of outside of blocks."""
        wanted = {recipe for recipe in self.kinds if recipe.naming or recipe.opcode == "call"}
        found: dict[str, None] = {}
        for i in [i for i, recipe in enumerate(self.recipes) if recipe in wanted] if wanted else ():
            text, own = self.text(i), self.declared(i)
            if self.recipes[i].opcode == "call":
                found[callee(text)] = None
                continue
            tokens = text.replace(",", " , ").split()
            named = [tokens[n].strip("{}") for n in self.recipes[i].naming]
            found.update((token, None) for token in named if token.strip("[]").partition("+")[0] not in own)
        with self.scope.opened() as operands:
            return [operands[text] for text in found]

    def declared(self, i: int) -> set[str]:
        """What the block declares in which a statement stands."""
        return {name for k in self.opening(i) for name in self.recipes[k].declares} if self.turns else set()

    def called(self, i: int) -> Function:
        """The function that a call calls."""
        name = callee(self.text(i))
        found = self.scope.names.get(name) or (self.scope.parent.names.get(name) if self.scope.parent is not None else None)
        assert isinstance(found, Function)
        return found

    def context(self, i: int) -> str:
        """The text of a statement, behind what its block declares."""
        return ";".join([self.text(k) for k in self.opening(i) if self.recipes[k].declares] + [self.text(i)])

    def settle(self) -> None:
        """Makes everything."""
        if self._made is None:
            with self.scope.opened() as operands:
                nest = Nest(self.source, self.scope, operands, self.scope.registers)
                self._make_all(nest)
                nest.close(self.end)
            self._made = nest.out

    def _make_all(self, nest: Nest) -> None:
        source, get, instructions, out = self.source, nest.operands.__getitem__, self.instructions, nest.out
        code, pos = source.code, self.pos
        for i, (recipe, end) in enumerate(zip(self.recipes, source.ends[self.first : self.first + len(self.recipes)], strict=True)):
            if recipe.plain:
                made = FastInstruction()  # in line: nearly all statements of a big module come by here
                made.opcode = recipe.opcode
                made.modifiers = recipe.modifiers
                made.operands = tuple(map(get, code[pos:end].replace(",", " ").split()[1:]))
                made.guard = None
                made.guard_negated = False
                made.form = recipe.form
                made.settled = recipe.settled
                made.span = pos, end, source
                made.__class__ = TextInstruction
                out.append(made)
            else:
                made = self._make(i, nest)
                get, out = nest.operands.__getitem__, nest.out
            instructions.append(made)
            pos = end + 1

    def _make(self, i: int, nest: Nest) -> Instruction | None:
        """Makes what one statement stands for, and puts it where the others are; None for a declaration."""
        recipe = self.recipes[i]
        pos, end = self.span(i)
        code = self.source.code
        if recipe.lead:
            pos = nest.lead(pos)
        if recipe.declares:
            nest.declare(self.source.skip(pos), end + 1)
            return None
        operands = nest.operands
        tokens = code[pos:end].replace(",", " , ").split()
        made = FastInstruction()
        made.opcode = recipe.opcode
        made.modifiers = recipe.modifiers
        made.form = recipe.form
        made.settled = recipe.settled
        made.guard_negated = recipe.negated
        made.guard = cast(Register, operands[tokens[recipe.guard].lstrip("@!")]) if recipe.guard >= 0 else None
        if recipe.opcode == "call":
            made.operands = nest.call(code[pos:end].split(None, 1)[1].strip())
        elif not recipe.vectors:
            made.operands = tuple(map(operands.__getitem__, tokens[recipe.start :: 2]))
        else:
            found: list[Operand] = []
            for place in recipe.vectors:
                nodes = tuple([operands[token.strip("{}")] for token in tokens[place]])
                found.append(make_vector(nodes) if tokens[place.start][0] == "{" else nodes[0])
            made.operands = tuple(found)
        made.span = pos, end, self.source
        made.__class__ = TextInstruction
        nest.out.append(made)
        return made


class TextBlock(Block):
    """A function's body that makes its statements when someone asks: `parts` holds them, and stretches of them that are text so far."""

    __slots__ = ("parts",)
    parts: tuple[Statement | Chunk, ...]

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that stands in the body."""
        held = _STATEMENTS.__get__(self)
        if held is None:
            scope = next(p.scope for p in self.parts if isinstance(p, Chunk))
            with scope.opened():
                held = tuple(chain.from_iterable([p.statements if p.__class__ is Chunk else (p,) for p in self.parts]))
            _STATEMENTS.__set__(self, held)
        return held


class TextFunction(Function):
    """A function whose registers are known when its statements are: the slot holds the list that they go to until then."""

    __slots__ = ()

    @property
    def registers(self) -> tuple[Register, ...]:
        """By index."""
        held = _REGISTERS.__get__(self)
        if held.__class__ is list:
            assert self.body is not None
            self.body.statements  # noqa: B018  (makes them)
            held = tuple(held)
            _REGISTERS.__set__(self, held)
        return held

    @registers.setter
    def registers(self, registers: tuple[Register, ...]) -> None:
        _REGISTERS.__set__(self, registers)


_STATEMENTS = Block.__dict__["statements"]
_REGISTERS = Function.__dict__["registers"]


def make_body(function: Function, parts: tuple[Statement | Chunk, ...], span: Span, registers: list[Register]) -> Block:
    """The body of a function, whose registers it may still have to find."""
    if Chunk not in set(map(type, parts)):
        function.registers = tuple(registers)
        return Block(parts, span)
    made = object.__new__(TextBlock)
    object.__setattr__(made, "span", span)
    object.__setattr__(made, "parts", parts)
    _STATEMENTS.__set__(made, None)
    function.registers = registers
    function.__class__ = TextFunction
    return made
