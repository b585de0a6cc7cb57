"""Walks through the IR: all statements of a body, all that an operand is made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .ir import (
    Block,
    Declaration,
    Function,
    Module,
    Operand,
    Statement,
    Symbol,
    Targets,
    Variable,
    leaves_of,
)
from .listing import leaves, listing


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


def named(operands: Iterable[Operand]) -> Iterator[Operand]:
    """The registers, constants, variables and functions that operands are made of, the targets of symbols and lists among them."""
    for o in operands:
        for leaf in leaves(o):
            match leaf:
                case Symbol(target):
                    yield target
                case Targets(_, "call", targets):
                    yield from (t for t in targets if isinstance(t, Function))
                case _:
                    yield leaf


def functions(operands: Iterable[Operand]) -> Iterator[Function]:
    """The functions that operands name."""
    return (o for o in named(operands) if isinstance(o, Function))


def outer_locals(function: Function) -> list[Variable]:
    """Variables of .local that a function uses and the module declares: PTX before 3.0."""
    columns = listing(function)
    own = {id(v) for place in columns.rest for v in declared(place)}
    used = {id(v): v for v in named(columns.naming) if isinstance(v, Variable) and v.space == "local"}
    return [v for key, v in used.items() if key not in own]


def used_functions(module: Module) -> set[Function]:
    """All functions that instructions and initial values name."""
    found: set[Function] = set()
    for item in module.items:
        for v in declared(item):
            found.update(x.target for x in leaves_of(v.initial) if isinstance(x, Symbol) and isinstance(x.target, Function))
        if isinstance(item, Function) and item.unread is not None:
            unread = item.unread
            found.update(f for f in module.functions.values() if unread.mentions(f.name))
        elif isinstance(item, Function):
            found.update(functions(listing(item).naming))
    return found
