"""Fast stand-ins for the nodes that a big module has by the hundred thousand.

A frozen dataclass sets each field through object.__setattr__, which costs three times as much as plain attributes do.  A stand-in has
the slots of its node, is filled with plain assignments, and then becomes the node by a change of class.
"""

# mypy cannot follow a change of class, nor slots taken from another class: this module and its users' one line are where that is done.
# mypy: disable-error-code="assignment, return-value, misc, override, union-attr, no-any-return"

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from typing import TYPE_CHECKING

from warplab.isa.notation import Form
from warplab.isa.types import ScalarType

from .ir import (
    Address,
    Declaration,
    Element,
    Function,
    Immediate,
    Initial,
    Instruction,
    Label,
    Linkage,
    Location,
    Operand,
    Register,
    Span,
    Symbol,
    Variable,
    Vector,
)

if TYPE_CHECKING:
    from .declarations import Specs
    from .text import Source

Stretch = tuple[int, int, "Source"]  # from somewhere in the blanks before a statement to its semicolon
_SPACE = re.compile(r"\s*", re.ASCII)


class FastSpan:
    """Becomes a TextSpan."""

    __slots__ = Span.__slots__
    start: int
    end: int
    line: Source


class FastInstruction:
    """Becomes a TextInstruction."""

    __slots__ = Instruction.__slots__
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    guard_negated: bool
    form: Form | None
    settled: dict[str, str | bool] | None
    span: Stretch


class FastRegister:
    """Becomes a Register."""

    __slots__ = Register.__slots__
    name: str
    type: ScalarType
    vector: int
    index: int
    span: Span


class FastVariable:
    """Becomes a Variable."""

    __slots__ = Variable.__slots__
    name: str
    space: str
    type: ScalarType
    vector: int
    dims: tuple[int, ...]
    align: int
    linkage: Linkage
    span: Span
    initial: tuple[Initial, ...] | int | float | Symbol | None
    attributes: tuple[str, ...]
    pointer: tuple[str, int] | None
    register: Register | None


class FastDeclaration:
    """Becomes a Declaration."""

    __slots__ = Declaration.__slots__
    registers: tuple[Register, ...]
    variables: tuple[Variable, ...]
    stems: tuple[tuple[str, int], ...]
    span: Span
    type: ScalarType | None
    vector: int


class FastAddress:
    """Becomes an Address."""

    __slots__ = Address.__slots__
    base: Register | Element | Variable | Function | None
    offset: int
    parts: tuple[Operand, ...]


class FastVector:
    """Becomes a Vector."""

    __slots__ = Vector.__slots__
    elements: tuple[Operand, ...]


class FastLabel:
    """Becomes a Label."""

    __slots__ = Label.__slots__
    name: str
    span: Span


class FastImmediate:
    """Becomes an Immediate."""

    __slots__ = Immediate.__slots__
    value: int | float
    kind: str
    text: str


class FastLocation:
    """Becomes a Location."""

    __slots__ = Location.__slots__
    file: int
    line: int
    column: int
    span: Span
    function: str
    function_offset: int
    inlined_at: tuple[int, int, int] | None


class TextSpan(Span):
    """A Span that counts its line and column when someone asks; the slot of the line holds the text that it belongs to."""

    __slots__ = ()

    @property
    def line(self) -> int:
        """The line of the first character."""
        return bisect_right(_SOURCE(self).starts, self.start)

    @property
    def column(self) -> int:
        """Its column."""
        starts = _SOURCE(self).starts
        return self.start - starts[bisect_right(starts, self.start) - 1] + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self.start, self.end, self.line) == (other.start, other.end, other.line)

    def __hash__(self) -> int:
        return hash((self.start, self.end, self.line, self.column))

    def __reduce__(self) -> tuple[object, ...]:
        return Span, (self.start, self.end, self.line, self.column)


_SOURCE: Callable[[Span], Source] = Span.__dict__["line"].__get__
_SPAN = Instruction.__dict__["span"]


class TextInstruction(Instruction):
    """An Instruction that makes its span when someone asks: the slot holds a Stretch until then."""

    __slots__ = ()

    @property
    def span(self) -> Span:
        """The whole statement, guard and semicolon included."""
        held = _SPAN.__get__(self)
        if held.__class__ is tuple:
            pos, end, source = held
            held = make_span(_SPACE.match(source.code, pos).end(), end + 1, source)
            _SPAN.__set__(self, held)
        return held

    @span.setter
    def span(self, span: Span) -> None:
        _SPAN.__set__(self, span)


def make_span(start: int, end: int, source: Source) -> Span:
    """The Span from one offset to another of a text."""
    made = FastSpan()
    made.start = start
    made.end = end
    made.line = source
    made.__class__ = TextSpan
    return made


def make_register(name: str, type: ScalarType, vector: int, index: int, span: Span) -> Register:
    """Register(...), faster."""
    made = FastRegister()
    made.name = name
    made.type = type
    made.vector = vector
    made.index = index
    made.span = span
    made.__class__ = Register
    return made


def make_variable(
    name: str, words: Specs, dims: tuple[int, ...], span: Span, initial: tuple[Initial, ...] | int | float | Symbol | None = None
) -> Variable:
    """The variable that a declaration with these words before the name declares."""
    type = words.type
    assert type is not None
    made = FastVariable()
    made.name = name
    made.space = words.space
    made.type = type
    made.vector = words.vector
    made.dims = dims
    made.align = words.align or max(1, type.bytes * words.vector)  # the natural one
    made.linkage = words.linkage
    made.span = span
    made.initial = initial
    made.attributes = words.attributes
    made.pointer = words.pointer
    made.register = None
    made.__class__ = Variable
    return made


def make_declaration(
    registers: tuple[Register, ...], variables: tuple[Variable, ...], stems: tuple[tuple[str, int], ...], span: Span,
    type: ScalarType | None = None, vector: int = 1,
) -> Declaration:  # fmt: skip
    """Declaration(...), faster."""
    made = FastDeclaration()
    made.registers = registers
    made.variables = variables
    made.stems = stems
    made.span = span
    made.type = type
    made.vector = vector
    made.__class__ = Declaration
    return made


def make_address(base: Register | Element | Variable | None, offset: int, parts: tuple[Operand, ...] = ()) -> Address:
    """Address(...), faster."""
    made = FastAddress()
    made.base = base
    made.offset = offset
    made.parts = parts
    made.__class__ = Address
    return made


def make_vector(elements: tuple[Operand, ...]) -> Vector:
    """Vector(...), faster."""
    made = FastVector()
    made.elements = elements
    made.__class__ = Vector
    return made


def make_immediate(value: int | float, kind: str, text: str) -> Immediate:
    """Immediate(...), faster."""
    made = FastImmediate()
    made.value = value
    made.kind = kind
    made.text = text
    made.__class__ = Immediate
    return made


def make_label(name: str, span: Span) -> Label:
    """Label(...), faster."""
    made = FastLabel()
    made.name = name
    made.span = span
    made.__class__ = Label
    return made


def make_location(
    file: int, line: int, column: int, span: Span, function: str, offset: int, inlined_at: tuple[int, int, int] | None
) -> Location:
    """Location(...), faster."""
    made = FastLocation()
    made.file = file
    made.line = line
    made.column = column
    made.span = span
    made.function = function
    made.function_offset = offset
    made.inlined_at = inlined_at
    made.__class__ = Location
    return made
