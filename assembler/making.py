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

from .ir import Address, Element, Function, Immediate, Instruction, Location, Operand, Register, Span, Variable, Vector

if TYPE_CHECKING:
    from .text import Source

Stretch = tuple[int, int, "Source"]  # from somewhere in the blanks before a statement to its semicolon
_SPACE = re.compile(r"\s*", re.ASCII)


class FastSpan:
    """Becomes a TextSpan."""

    __slots__ = Span.__slots__
    start: int
    end: int
    line: list[int]


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
    """A Span that counts its line and column when someone asks; the slot of the line holds the offsets at which lines begin."""

    __slots__ = ()

    @property
    def line(self) -> int:
        """The line of the first character."""
        return bisect_right(_STARTS(self), self.start)

    @property
    def column(self) -> int:
        """Its column."""
        starts = _STARTS(self)
        return self.start - starts[bisect_right(starts, self.start) - 1] + 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Span) and (self.start, self.end, self.line) == (other.start, other.end, other.line)

    def __hash__(self) -> int:
        return hash((self.start, self.end, self.line, self.column))

    def __reduce__(self) -> tuple[object, ...]:
        return Span, (self.start, self.end, self.line, self.column)


_STARTS: Callable[[Span], list[int]] = Span.__dict__["line"].__get__
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
            held = make_span(_SPACE.match(source.code, pos).end(), end + 1, source.starts)
            _SPAN.__set__(self, held)
        return held

    @span.setter
    def span(self, span: Span) -> None:
        _SPAN.__set__(self, span)


def make_span(start: int, end: int, starts: list[int]) -> Span:
    """The Span from one offset to another of a text whose lines begin at the given offsets."""
    made = FastSpan()
    made.start = start
    made.end = end
    made.line = starts
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
