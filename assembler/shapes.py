"""What instructions of one kind share: the Shape, one object for all instructions with the same words and the same categories of operands.

A program has thousands of instructions and a few dozen shapes, so that whatever depends on the shape alone is worked out once for each:
the verifier keeps its verdicts by Shape.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace

from warplab.isa.notation import Form, resolve

MOST = 1 << 10  # shapes kept for one opcode with its modifiers: more than any text has, save one made to fill the memory


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Shape:
    """A kind of instruction.  Shapes are compared and hashed by identity; what else is known of one can be kept in a dict by Shape."""

    opcode: str
    modifiers: tuple[str, ...]  # in the order written
    form: Form | None  # None where no row fits
    settled: dict[str, str | bool] | None  # the modifiers by the form's slot names
    categories: tuple[str, ...]  # of the operands


class Spelling(dict[tuple[str, ...], Shape]):
    """An opcode with its modifiers, resolved, and its Shapes by the categories of their operands."""

    __slots__ = ("form", "modifiers", "opcode", "settled")

    def __init__(self, opcode: str, modifiers: tuple[str, ...]) -> None:
        self.opcode = opcode
        self.modifiers = modifiers
        found = resolve(opcode, modifiers)
        self.form: Form | None = found[0] if found is not None else None
        self.settled: dict[str, str | bool] | None = found[1] if found is not None else None

    def __missing__(self, categories: tuple[str, ...]) -> Shape:
        if len(self) >= MOST:
            self.clear()
        made = self[categories] = Shape(self.opcode, self.modifiers, self.form, self.settled, categories)
        return made


@functools.lru_cache(maxsize=1 << 14)
def spelling(opcode: str, modifiers: tuple[str, ...]) -> Spelling:
    """The one Spelling of an opcode with these modifiers."""
    return Spelling(opcode, modifiers)


_others: dict[tuple[Shape, int], Shape] = {}  # by shape and identity of a row, which the Shape found keeps alive


def under(shape: Shape, form: Form) -> Shape:
    """The one Shape of the same words and operands under another row that has these words."""
    made = _others.get((shape, id(form)))
    if made is None:
        if len(_others) >= MOST:
            _others.clear()
        made = _others[shape, id(form)] = replace(shape, form=form, settled=form.match(shape.modifiers))
    return made
