"""Stretches of plain statements of which only the shapes are known, until someone asks for the statements themselves.

A shape is the words of a statement's tokens, with a blank between them: `add.s32 b32 , b32 , #int`.  The verdict on a statement depends on
its shape alone, so that the verifier of a big module never asks for most of the statements.
"""

# mypy cannot follow a change of class, nor slots taken from another class.
# mypy: disable-error-code="assignment, return-value, misc, override, union-attr, no-any-return, arg-type"

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, cast

from .ir import Block, Function, Immediate, Instruction, Label, Operand, Register, Span, Statement
from .making import FastInstruction, TextInstruction, make_location, make_vector
from .scopes import Operands

if TYPE_CHECKING:
    from .scopes import Scope
    from .statements import Head
    from .text import Source


class Recipe:
    """How to make the statements of one shape from its tokens."""

    __slots__ = (
        "form",
        "guard",
        "labels",
        "locations",
        "modifiers",
        "naming",
        "negated",
        "opcode",
        "plain",
        "role",
        "settled",
        "shape",
        "start",
        "vectors",
    )

    def __init__(
        self, shape: str, head: Head, start: int, labels: tuple[int, ...], locations: tuple[int, ...], guard: int, negated: bool
    ) -> None:
        self.shape = shape
        self.opcode, self.modifiers, self.form, self.settled = head
        self.start = start  # where the operands begin
        self.labels = labels  # which tokens are labels
        self.locations = locations  # and which .loc
        self.guard = guard  # the guard's place, -1 for none
        self.negated = negated
        self.plain = not (labels or locations or guard >= 0)  # just an opcode, and operands without a vector
        self.role: object = None  # what verify/outline.py keeps
        self.naming: tuple[int, ...] = ()  # which tokens name variables or functions
        self.vectors: tuple[slice, ...] = ()  # the tokens of each operand where one of them is a vector


class Chunk:
    """A stretch of statements of one scope, of which so far only the shapes are known."""

    __slots__ = ("_made", "first", "instructions", "kinds", "pos", "recipes", "scope", "source")

    def __init__(self, source: Source, scope: Scope, pos: int, first: int, recipes: list[Recipe]) -> None:
        self.source = source
        self.scope = scope
        self.pos = pos  # where it begins
        self.first = first  # the number of its first stretch between semicolons
        self.recipes = recipes  # of each statement
        self.kinds = frozenset(recipes)
        self.instructions: list[Instruction] = []  # one for each recipe, when they are made
        self._made: list[Statement] | None = None

    @property
    def statements(self) -> list[Statement]:
        """All statements, in the order of the text."""
        self.settle()
        assert self._made is not None
        return self._made

    def text(self, i: int) -> tuple[str, int, int]:
        """The text of a statement, and where it begins and ends."""
        source, k = self.source, self.first + i
        start, end = source.ends[k - 1] + 1 if i else self.pos, source.ends[k]
        return source.code[start:end], start, end

    def instruction(self, i: int) -> Instruction:
        """One instruction; another object each time, unless all are made."""
        if self.instructions:
            return self.instructions[i]
        with self.scope.opened() as operands:
            return self._make(i, operands, [])

    def naming(self) -> list[Operand]:
        """The different operands that name variables or functions."""
        wanted = {recipe for recipe in self.kinds if recipe.naming}
        found: dict[str, None] = {}
        for i in [i for i, recipe in enumerate(self.recipes) if recipe in wanted] if wanted else ():
            tokens = self.text(i)[0].replace(",", " , ").split()
            found.update((tokens[n].strip("{}"), None) for n in self.recipes[i].naming)
        with self.scope.opened() as operands:
            return [operands[text] for text in found]

    def settle(self) -> None:
        """Makes everything."""
        if self._made is None:
            out: list[Statement] = []
            with self.scope.opened() as operands:
                self._make_all(operands, out)
            self._made = out

    def _make_all(self, operands: Operands, out: list[Statement]) -> None:
        source, get, instructions = self.source, operands.__getitem__, self.instructions
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
                made = self._make(i, operands, out)
            instructions.append(made)
            pos = end + 1

    def _make(self, i: int, operands: Operands, out: list[Statement]) -> Instruction:
        """Makes what one shape stands for, and puts it where the others are."""
        recipe = self.recipes[i]
        text, pos, end = self.text(i)
        tokens = text.replace(",", " , ").split()
        if recipe.labels or recipe.locations:
            pos = self._before(recipe, tokens, pos, operands, out)
        made = FastInstruction()
        made.opcode = recipe.opcode
        made.modifiers = recipe.modifiers
        made.form = recipe.form
        made.settled = recipe.settled
        made.guard_negated = recipe.negated
        made.guard = cast(Register, operands[tokens[recipe.guard].lstrip("@!")]) if recipe.guard >= 0 else None
        if not recipe.vectors:
            made.operands = tuple(map(operands.__getitem__, tokens[recipe.start :: 2]))
        else:
            found: list[Operand] = []
            for place in recipe.vectors:
                nodes = tuple([operands[token.strip("{}")] for token in tokens[place]])
                found.append(make_vector(nodes) if tokens[place.start][0] == "{" else nodes[0])
            made.operands = tuple(found)
        made.span = pos, end, self.source
        made.__class__ = TextInstruction
        out.append(made)
        return made

    def _before(self, recipe: Recipe, tokens: list[str], pos: int, operands: Operands, out: list[Statement]) -> int:
        """Makes the labels and .loc in front of an instruction; tells where they end."""
        source, code = self.source, self.source.code
        for i in sorted((*recipe.labels, *recipe.locations)):
            pos = start = code.index(tokens[i], pos)
            if i in recipe.labels:
                name = tokens[i][:-1]
                pos += len(tokens[i])
                label = self.scope.names.get(name)
                out.append(label if isinstance(label, Label) else Label(name, source.span(start, pos - 1)))
                continue
            for token in tokens[i : i + 4]:
                pos = code.index(token, pos) + len(token)
            file, line, column = (int(cast(Immediate, operands[t]).value) for t in tokens[i + 1 : i + 4])
            out.append(make_location(file, line, column, source.span(start, pos), "", 0, None))
        return pos


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
