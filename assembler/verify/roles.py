"""What the registers in a statement do, told by its recipe: the verdicts on a function's data flow begin here."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from ..flow import ENDS, PASSING
from ..listing import READS_ITS_DESTINATION, has_results
from ..recipes import Recipe
from ..words import REGISTERS
from .suspects import DIVERGENT, LOADS

# What a token does.
READ, PASSED_ON, WRITTEN, SOMETIMES, LANE, GIVEN = 1, 2, 4, 8, 16, 32  # GIVEN: passed on to a function
# What a statement is.  LANED: its result differs between lanes, WHOLE: only the instruction itself can tell what it does, NAMED: some of its
# registers are not of ranges.
LABELLED, ENDING, LOADING, BARRIER, WHOLE, LANED, NAMED = 1, 2, 4, 8, 16, 32, 64


@dataclass(slots=True)
class Role:
    """What the tokens of a statement do, its registers alone, and what the statement is."""

    tokens: bytes
    registers: bytes
    flags: int


def role_of(recipe: Recipe) -> Role:
    """The role of the statements of a recipe, found at the first call."""
    held = recipe.role
    if isinstance(held, Role):
        return held
    words = recipe.shape.split(" ")
    call = recipe.opcode == "call"
    roles = [] if recipe.declares or call else _roles(words, recipe)
    flags = LABELLED * ("L" in recipe.lead) | ENDING * (call or recipe.opcode in ENDS) | LOADING * (call or recipe.opcode in LOADS)
    flags |= BARRIER * waits(recipe.opcode, recipe.modifiers, len(words[recipe.start :: 2])) | WHOLE * (roles is None)
    flags |= LANED * (roles is not None and LANE in roles)
    tokens = bytes([role if role != LANE else 0 for role in roles or ()])
    registers = b"".join([bytes([role]) * (1 + ("|" in word)) for role, word in zip(tokens, words, strict=False) if role])
    made = recipe.role = Role(tokens, registers, flags)
    return made


def waits(opcode: str, modifiers: Collection[str], operands: int) -> bool:
    """Does it wait for the whole block?"""
    return opcode in ("bar", "barrier") and "sync" in modifiers and not {"warp", "cluster"} & set(modifiers) and operands == 1


def _roles(words: list[str], recipe: Recipe) -> list[int] | None:
    """What each token does; None where only the instruction itself can tell."""
    if recipe.form is None or recipe.opcode in READS_ITS_DESTINATION:
        return None
    roles = [0] * len(words)
    if recipe.guard >= 0:
        roles[recipe.guard] = READ
    writes = has_results(recipe.form) and recipe.start < len(words) and words[recipe.start][0] != "["
    written = slice(0, 0)
    if writes:
        written = recipe.vectors[0] if recipe.vectors else slice(recipe.start, recipe.start + 1, 2)
    results = range(*written.indices(len(words)))
    whole = writes and recipe.guard < 0 and words[recipe.start][0] != "{"
    for i in range(recipe.start, len(words), 2):
        word = words[i].strip("{}")
        if i in results:
            if word in REGISTERS:
                roles[i] = WRITTEN if whole else SOMETIMES
            elif "|" in word and all(part in REGISTERS for part in word.split("|")):
                roles[i] = SOMETIMES
            elif word != "_":
                return None
        elif word.lstrip("!") in REGISTERS or (word[0] == "[" and word[1:-1] in REGISTERS):
            roles[i] = PASSED_ON if recipe.opcode in PASSING and word[0] != "[" else READ
        elif word[0] == "%":
            roles[i] = LANE if word.partition(".")[0] in DIVERGENT else 0
        elif (word[0] not in "[#" and word not in PLAIN and ":" not in word) or (word[0] == "[" and ":" not in word and word != "[#]"):
            return None
    return roles


PLAIN = frozenset({"label", "func", "entry", "_"})
