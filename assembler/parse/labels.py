"""Statements that name labels: finding the names, and putting the right label in their place when it is known."""

from __future__ import annotations

from ..ir import Address, Arguments, Block, Declaration, Instruction, Label, Pair, Statement, Targets, Vector, shape_of
from .scopes import Unresolved


def statements_of(statements: list[Statement]) -> list[Instruction | Targets]:
    """The statements that may name labels, those of inner blocks too."""
    out: list[Instruction | Targets] = []
    todo: list[Statement] = list(statements)
    while todo:
        s = todo.pop()
        if isinstance(s, Block):
            todo += s.statements
        elif isinstance(s, (Instruction, Targets)):
            out.append(s)
    return out


def declarations_of(block: Block, space: str) -> list[Declaration]:
    """The declarations of variables in a state space, those of inner blocks too, in the order of the text."""
    out: list[Declaration] = []
    for s in block.statements:
        if isinstance(s, Block):
            out += declarations_of(s, space)
        elif isinstance(s, Declaration) and s.variables and s.variables[0].space == space:
            out.append(s)
    return out


def labels_of(statement: Instruction | Targets) -> list[Label]:
    """The labels that a statement names, in vectors and pairs too."""
    out: list[Label] = []
    todo: list[object] = list(statement.operands if isinstance(statement, Instruction) else statement.targets)
    while todo:
        match todo.pop():
            case Label() as label:
                out.append(label)
            case Vector(elements=inner) | Arguments(elements=inner):
                todo += inner
            case Pair(first=first, second=second):
                todo += (first, second)
            case Address(parts=parts):
                todo += parts
    return out


def patch(statement: Instruction | Targets, old: str | Label, new: Label) -> None:
    """Puts a label in the place of one that is not known yet (a name) or was wrong."""
    places = statement.operands if isinstance(statement, Instruction) else statement.targets
    fits = [isinstance(o, Unresolved) and o.name == old if isinstance(old, str) else o is old for o in places]
    if not any(fits):
        return
    found = tuple([new if fit else o for fit, o in zip(fits, places, strict=True)])
    if isinstance(statement, Instruction):
        object.__setattr__(statement, "operands", found)
        object.__setattr__(statement, "shape", shape_of(statement.opcode, statement.modifiers, found))
    else:
        object.__setattr__(statement, "targets", found)


def without(block: Block, broken: set[int]) -> Block:
    """The block less the statements whose names stand for nothing."""
    kept = [without(s, broken) if isinstance(s, Block) else s for s in block.statements if id(s) not in broken]
    return Block(tuple(kept), block.span)
