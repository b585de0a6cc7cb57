"""Fast constructors for the nodes that a big module has by the hundred thousand.

A frozen dataclass sets each field through object.__setattr__, which costs three times as much as plain attributes do.  Each class here
has the slots of its node, is filled with plain assignments, and then becomes the node by a change of class.
"""

# mypy cannot follow a change of class, nor slots taken from another class: this module is where that is allowed.
# mypy: disable-error-code="assignment, return-value, misc"

from __future__ import annotations

from warplab.isa.types import ScalarType

from .ir import Address, Immediate, Instruction, Location, Register, Span, Variable, Vector


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


class FastRegister:
    """Becomes a Register."""

    __slots__ = Register.__slots__


class FastAddress:
    """Becomes an Address."""

    __slots__ = Address.__slots__


class FastImmediate:
    """Becomes an Immediate."""

    __slots__ = Immediate.__slots__


class FastVector:
    """Becomes a Vector."""

    __slots__ = Vector.__slots__


class FastLocation:
    """Becomes a Location."""

    __slots__ = Location.__slots__


def make_span(start: int, end: int, line: int, column: int) -> Span:
    """Span(...), faster."""
    made = FastSpan()
    made.start = start
    made.end = end
    made.line = line
    made.column = column
    made.__class__ = Span
    return made
