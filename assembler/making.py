"""Fast stand-ins for the nodes that a big module has by the hundred thousand.

A frozen dataclass sets each field through object.__setattr__, which costs three times as much as plain attributes do.  A stand-in has
the slots of its node, is filled with plain assignments, and then becomes the node by a change of class.
"""

# mypy cannot follow a change of class, nor slots taken from another class: this module and its users' one line are where that is done.
# mypy: disable-error-code="assignment, return-value, misc"

from __future__ import annotations

from warplab.isa.notation import Form
from warplab.isa.types import ScalarType

from .ir import Address, Element, Function, Immediate, Instruction, Location, Operand, Register, Span, Variable, Vector


class FastSpan:
    """Becomes a Span."""

    __slots__ = Span.__slots__
    start: int
    end: int
    line: int
    column: int


class FastInstruction:
    """Becomes an Instruction."""

    __slots__ = Instruction.__slots__
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | None
    guard_negated: bool
    form: Form | None
    settled: dict[str, str | bool] | None
    span: Span


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


def make_span(start: int, end: int, line: int, column: int) -> Span:
    """Span(...), faster."""
    made = FastSpan()
    made.start = start
    made.end = end
    made.line = line
    made.column = column
    made.__class__ = Span
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
