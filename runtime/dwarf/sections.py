"""DWARF as PTX carries it: sections of .b8 lines, in which labels of the code, variables and registers are named, as bytes.

What is named in the sections has an address of its own here: a place of the code its line and column, a variable a number that leads back to
its name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from warplab.interpreter.recorder.layout import RecordedInstruction

COLUMNS = 1 << 12  # addresses of a line of the text
SYMBOLS = 1 << 56  # where those of variables begin
SPAN = 1 << 32  # addresses of a variable

_SECTION = re.compile(r"^[ \t]*\.section[ \t]+(\.debug_\w+)\s*\{([^}]*)\}", re.M)
_COMMENT = re.compile(r"//[^\n]*")
_LABEL = re.compile(r"^[ \t]*([\w$]+):", re.M)
_WIDTHS = {".b8": 1, ".b16": 2, ".b32": 4, ".b64": 8}


@dataclass
class DebugSections:
    """The sections of a module."""

    bytes: dict[str, bytes] = field(default_factory=dict)
    symbols: list[str] = field(default_factory=list)  # variables, by their number

    def symbol(self, address: int) -> tuple[str, int] | None:
        """The variable of an address, and the offset in it."""
        n, offset = divmod(address - SYMBOLS, SPAN)
        return (self.symbols[n], offset) if 0 <= n < len(self.symbols) else None


def code_address(i: RecordedInstruction) -> int:
    """The address of an instruction."""
    return i.line * COLUMNS + min(i.column, COLUMNS - 1)


def sections_of(text: str) -> DebugSections:
    """The sections of a module's text; values that can't be read are zero."""
    out = DebugSections()
    bodies = [(m[1], _COMMENT.sub("", m[2])) for m in _SECTION.finditer(text)]
    places: dict[str, int] = {}
    lines = text.count("\n", 0, at) if (at := text.find(".section")) >= 0 else 0
    for n, line in enumerate(text.splitlines()[: lines + 1], 1):
        if (m := _LABEL.match(line)) is not None:
            places.setdefault(m[1], n * COLUMNS)
    for name, body in bodies:
        at = 0
        places[name] = 0
        for word, rest in _words(body):
            if word in _WIDTHS:
                at += _WIDTHS[word] * (rest.count(",") + 1)
            elif word.endswith(":"):
                places[word[:-1]] = at
    numbers: dict[str, int] = {}
    for name, body in bodies:
        raw = bytearray()
        for word, rest in _words(body):
            if word in _WIDTHS:
                for value in rest.split(","):
                    raw += _value(value, places, numbers).to_bytes(8, "little")[: _WIDTHS[word]]
        out.bytes[name] = bytes(raw)
    out.symbols = list(numbers)
    return out


def _words(body: str) -> list[tuple[str, str]]:
    """The first word of each line, and what follows it."""
    found = []
    for line in body.splitlines():
        word, _, rest = line.strip().partition(" ") if "\t" not in line.strip() else line.strip().replace("\t", " ").partition(" ")
        if word:
            found.append((word, rest.strip()))
    return found


def _value(text: str, places: dict[str, int], numbers: dict[str, int]) -> int:
    """`17`, `$L__tmp3`, `a+4`, `a-b`, or the name of a variable."""
    total, sign = 0, 1
    for part in re.findall(r"[+-]|[^\s+-]+", text):
        if part in "+-":
            sign = -1 if part == "-" else 1
            continue
        if re.fullmatch(r"0[xX][0-9a-fA-F]+|\d+", part):
            value = int(part, 0) if part[:2] in ("0x", "0X") else int(part)
        elif part in places:
            value = places[part]
        else:
            value = SYMBOLS + numbers.setdefault(part, len(numbers)) * SPAN
        total, sign = total + sign * value, 1
    return total & ((1 << 64) - 1)
