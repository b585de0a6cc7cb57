"""What the text of a plain statement is made of: what stands before the instruction, and the words of its tokens.

A recipe tells how to make the statements of one shape.  `lead` is what stands before the instruction, a letter for each thing: braces, L for a
label, l for a .loc.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from . import shapes
from .heads import CALLS, HEADS, Head, Slow, head_of
from .patterns import NAME
from .words import KINDS, NAMING

_MOST = 1 << 16  # shapes remembered, more than any text has
_SYMBOL = rf"[A-Za-z][\w$]*|[_$%][\w${NAME}]+"
_COUNT = r"(0|[1-9]\d{0,8})"
_ITEM = re.compile(
    rf"\s*(?:([{{}}])|({_SYMBOL})\s*:(?!:)"
    rf"|(\.loc)\s+{_COUNT}\s+{_COUNT}\s+{_COUNT}"
    rf"(?:\s*,\s*function_name\s+({_SYMBOL})\s*,\s*inlined_at\s+{_COUNT}\s+{_COUNT}\s+{_COUNT})?(?=\s)(?!\s*,))",
    re.A,
)
_LEAD = re.compile(r"\}?[Ll]*\{?l*")  # those that are read by the stretch
_LATER_NAME = re.compile(r"%[a-z]+[0-9]+|\$.*|WARP_SZ")  # what a pattern would take for something else


def items(code: str, pos: int) -> Iterator[re.Match[str]]:
    """What stands before an instruction: group 1 a brace, 2 a label's name, 3 to 10 a .loc."""
    while m := _ITEM.match(code, pos):
        yield m
        pos = m.end()


def lead_of(text: str) -> tuple[str, int]:
    """A statement's lead, and where the rest begins."""
    lead, end = "", 0
    for m in items(text, 0):
        lead += m[1] or ("L" if m[2] else "l")
        end = m.end()
    return lead, end


class Recipe:
    """How to make the statements of one shape from their tokens."""

    __slots__ = (
        "declares",
        "form",
        "guard",
        "jumps",
        "lead",
        "modifiers",
        "naming",
        "negated",
        "opcode",
        "plain",
        "role",
        "settled",
        "shape",
        "start",
        "turns",
        "vectors",
    )

    def __init__(self, lead: str, shape: str, head: Head, start: int, guard: int, negated: bool) -> None:
        self.lead = lead
        self.shape = shape  # the words behind the lead
        self.opcode, self.modifiers, self.form, self.settled = head
        self.start = start  # where the operands begin
        self.guard = guard  # the guard's place, -1 for none
        self.negated = negated
        self.plain = not lead and guard < 0  # just an opcode, and operands without a vector
        self.role: object = None  # what verify/outline.py keeps
        self.naming: tuple[int, ...] = ()  # which tokens name variables or functions
        self.vectors: tuple[slice, ...] = ()  # the tokens of each operand where one of them is a vector
        self.declares: tuple[str, ...] = ()  # the names of a declaration, which is no instruction
        self.jumps = "label" in shape
        self.turns = "{" in lead or "}" in lead  # is a block opened or closed, or something declared in it?


_RECIPES: dict[tuple[str, str], Recipe | None] = {}


def recipe_of(lead: str, shape: str) -> Recipe | None:
    """What a shape means; None for what is better read by the grammar."""
    key = lead, shape
    try:
        return _RECIPES[key]
    except KeyError:
        made = _recipe(lead, shape) if _LEAD.fullmatch(lead) else None
        if len(_RECIPES) < _MOST:
            _RECIPES[key] = made
        return made


def _recipe(lead: str, shape: str) -> Recipe | None:
    words = shape.split(" ")
    i = 0
    guard = i if words[i][0:1] == "@" else -1
    i += guard >= 0
    head = HEADS.get(words[i]) if i < len(words) else None
    if head is None:
        return None
    made = Recipe(lead, shape, head, i + 1, guard, words[guard][1:2] == "!")
    operands = words[i + 1 :]
    if operands and (operands[1::2] != [","] * (len(operands) // 2) or len(operands) % 2 == 0):
        return None
    groups: list[slice] = []
    begun = -1
    for n in range(0, len(operands), 2):
        word = operands[n]
        if word.removeprefix("{").removesuffix("}") not in KINDS or (word[0] == "{" and begun >= 0):
            return None
        if word[0] == "{":
            begun = n
        if begun < 0 or word[-1] == "}":
            if word[-1] == "}" and begun < 0:
                return None
            groups.append(slice(i + 1 + (n if begun < 0 else begun), i + 2 + n, 2))
            begun = -1
    if begun >= 0:
        return None
    made.naming = tuple([i + 1 + n for n, word in enumerate(operands) if word.strip("{}") in NAMING])
    if any("{" in word for word in operands):
        made.vectors = tuple(groups)
        made.plain = False
    return made


def declaration_of(lead: str, text: str) -> Recipe | None:
    """What `.reg .b32 a, b` or `.param .b64 p` in a block means; None for what is better read by the grammar."""
    key = lead, text
    if key in _RECIPES:
        return _RECIPES[key]
    made = None
    names = _declared(text)
    if names and _LEAD.fullmatch(lead):
        made = Recipe(lead, text, (text.split(None, 1)[0], (), None, None), 0, -1, False)
        made.declares = names
        made.plain, made.jumps, made.turns = False, False, True
    if len(_RECIPES) < _MOST:
        _RECIPES[key] = made
    return made


def _declared(text: str) -> tuple[str, ...]:
    """The names that a declaration declares; none where they are unusual."""
    if text.startswith(".reg"):
        registers = shapes.registers(text + ";")
        names = tuple([name for name, count, _ in registers[1] if count < 0]) if registers is not None else ()
        complete = registers is not None and len(names) == len(registers[1])
    else:
        variables = shapes.variables(text + ";")
        names = tuple([name for name, _, _ in variables[1]]) if variables is not None else ()
        complete = variables is not None and variables[0].space == "param"
    good = complete and len(set(names)) == len(names) and not any(map(_LATER_NAME.fullmatch, names))
    return names if good else ()


_CALL = re.compile(
    rf"(call[\w.:]*)\s+(?:\(\s*({_SYMBOL})\s*\)\s*,\s*)?({_SYMBOL})\s*(?:,\s*\(\s*((?:(?:{_SYMBOL})\s*,\s*)*(?:{_SYMBOL}))?\s*\)\s*)?", re.A
)


def call_of(lead: str, text: str) -> tuple[Recipe, str, list[str]] | None:
    """What a direct call means, the name of what is called, and the results and arguments; None for what is better read by the grammar."""
    m = _CALL.fullmatch(text)
    if m is None or not _LEAD.fullmatch(lead):
        return None
    key = lead, m[1]
    if key not in _RECIPES:
        with suppress(Slow):
            head_of(m[1])
        made = Recipe(lead, m[1], CALLS[m[1]], 1, -1, False) if m[1] in CALLS else None
        if made is not None:
            made.plain = made.jumps = False
        _RECIPES[key] = made
    recipe = _RECIPES[key]
    return (recipe, m[3], [m[2]] * bool(m[2]) + re.findall(r"[^\s,]+", m[4] or "")) if recipe is not None else None


def callee(text: str) -> str:
    """The name of what a direct call calls."""
    m = _CALL.fullmatch(text.strip())
    assert m is not None
    return m[3]
