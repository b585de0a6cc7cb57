"""The rows of the instruction tables by opcode and place, and who performs them."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import warplab.isa.ops  # noqa: F401  fills FORMS
from warplab.interpreter.plan.plan import Op
from warplab.interpreter.vector import function
from warplab.interpreter.vector.steps.ops import Step
from warplab.isa.notation import FORMS, Form

MODEL = Path(__file__).parents[1] / "tests" / "data" / "model.json"

Row = tuple[str, int]  # an opcode and the place among its rows


@functools.cache
def rows() -> dict[Row, Form]:
    """All rows in the order of the tables."""
    return {(opcode, n): f for opcode in FORMS for n, f in enumerate(FORMS[opcode])}


@functools.cache
def places() -> dict[int, Row]:
    return {id(f): row for row, f in rows().items()}


def row_of(f: Form) -> Row:
    """Where a form stands."""
    return places()[id(f)]


def executes(f: Form) -> bool:
    """Does the interpreter run it, or is it assembled only?"""
    return f.meaning is not None or bool(f.effect)


@contextmanager
def performed() -> Iterator[list[Form]]:
    """The forms whose meanings are asked for while this is open, and those of the operations that lanes reach."""
    seen: list[Form] = []
    bind, unguarded = Form.bind, function.unguarded

    def bound(self: Form, modifiers: Any) -> Any:
        seen.append(self)
        return bind(self, modifiers)

    def reached(op: Op) -> Step:
        seen.append(op.meaning.form)
        return unguarded(op)

    Form.bind = bound  # type: ignore[method-assign]
    function.unguarded = reached
    try:
        yield seen
    finally:
        Form.bind, function.unguarded = bind, unguarded  # type: ignore[method-assign]
