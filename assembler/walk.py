"""Walks through the IR: all statements of a body, all that an operand is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .ir import (
    Address,
    Arguments,
    Block,
    Declaration,
    Function,
    Operand,
    Pair,
    Statement,
    Symbol,
    Targets,
    Variable,
    Vector,
)


def statements(body: Block | None) -> Iterator[Statement]:
    """All statements of a body in the order of the text, scopes before what they hold."""
    stack = [iter(body.statements if body is not None else ())]
    while stack:
        for s in stack[-1]:
            yield s
            if isinstance(s, Block):
                stack.append(iter(s.statements))
                break
        else:
            stack.pop()


def declared(item: object) -> tuple[Variable, ...]:
    """The variables that a statement or an item of the module declares."""
    return (item,) if isinstance(item, Variable) else item.variables if isinstance(item, Declaration) else ()


def leaves(operands: Iterable[Operand]) -> Iterator[Operand]:
    """The registers, constants, variables and functions that operands are made of."""
    for o in operands:
        match o:
            case Pair(first, second):
                yield from leaves((first, second))
            case Vector(elements) | Arguments(elements):
                yield from leaves(elements)
            case Address(base, _, parts):
                yield from leaves(parts if base is None else (base, *parts))
            case Symbol(target):
                yield target
            case Targets(_, "call", targets):
                yield from (t for t in targets if isinstance(t, Function))
            case _:
                yield o


def functions(operands: Iterable[Operand]) -> Iterator[Function]:
    """The functions that operands name."""
    return (o for o in leaves(operands) if isinstance(o, Function))
