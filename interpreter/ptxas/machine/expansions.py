"""What ptxas makes of instructions that stand for several machine instructions, by compute capability: counted, and kept in expansions.json.

`python -m tools.expansions` counts.  Of an instruction with a rare path, such as a division, the table has what the common path executes.  ptxas and
nvdisasm of today know no device before 5.0: there instructions stand as on 5.0, and those made of integer products, which had 32 bits, as on 7.0.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from warplab.isa.types import TYPES

Capability = tuple[int, int]

FILE = Path(__file__).with_name("expansions.json")
FIRST = (5, 0)  # that was counted
PRODUCTS_OF_32_BITS = (7, 0)
OF_PRODUCTS = frozenset({"mul", "mad", "div", "rem"})
OF_24_BITS = frozenset({"mul24", "mad24"})  # instructions of their own before 2.0
REPEATED = re.compile(
    r"(div|rem)\.[su]32$"
)  # by a constant, or by a divisor whose reciprocal is there: "div.u32 constant", "div.u32 again"
TIMES = re.compile(r"(\S+?)(?:\*(\d+))?(?:\s|$)")


def named(opcodes: Iterable[str]) -> str:
    """Opcodes in a line, equal neighbours together.

    >>> named(["MUFU.RCP", "FFMA", "FFMA"])
    'MUFU.RCP FFMA*2'
    """
    groups = [(name, len(list(same))) for name, same in itertools.groupby(opcodes)]
    return " ".join(name if n == 1 else f"{name}*{n}" for name, n in groups)


def opcodes_of(line: str) -> tuple[str, ...]:
    """The opcodes of such a line.

    >>> opcodes_of("MUFU.RCP FFMA*2")
    ('MUFU.RCP', 'FFMA', 'FFMA')
    """
    return tuple(name for name, n in TIMES.findall(line) for _ in range(int(n or 1)))


@dataclass
class ExpansionTable:
    """The table: which programs counted for each capability, and each row's machine instructions."""

    sources: dict[Capability, str]
    rows: dict[str, dict[Capability, str]]

    @classmethod
    def read(cls) -> ExpansionTable:
        """The table as it is kept."""
        data = json.loads(FILE.read_text(encoding="utf-8"))
        capabilities = {text: _capability(text) for text in data["sources"]}
        rows: dict[str, dict[Capability, str]] = {}
        for names, cells in data["rows"].items():
            row: dict[Capability, str] = {}
            for span, line in cells.items():
                first, last = (_capability(x) for x in (span.split("-")[0], span.split("-")[-1]))
                row |= {c: line for c in capabilities.values() if first <= c <= last}
            rows |= dict.fromkeys(names.split(", "), row)
        return cls({capabilities[text]: said for text, said in data["sources"].items()}, rows)

    def write(self) -> None:
        """Keeps rows that are more than one machine instruction anywhere; equal rows, and equal neighbours in a row, once."""
        together: dict[str, list[str]] = {}
        for name, row in sorted(self.rows.items()):
            if any(len(opcodes_of(line)) > 1 for line in row.values()):
                together.setdefault(json.dumps(_spans(row)), []).append(name)
        data = {
            "sources": {_text(c): self.sources[c] for c in sorted(self.sources)},
            "rows": {", ".join(names): json.loads(row) for row, names in together.items()},
        }
        FILE.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")


def _spans(row: dict[Capability, str]) -> dict[str, str]:
    """The cells of a row by their first and last capability."""
    spans = []
    for line, same in itertools.groupby(sorted(row), key=row.__getitem__):
        capabilities = list(same)
        spans.append(("-".join(dict.fromkeys([_text(capabilities[0]), _text(capabilities[-1])])), line))
    return dict(spans)


def _text(c: Capability) -> str:
    return f"{c[0]}.{c[1]}"


def _capability(text: str) -> Capability:
    major, minor = text.split(".")
    return int(major), int(minor)


@cache
def table() -> ExpansionTable:
    """The table, read once."""
    return ExpansionTable.read()


def stand_in(spelling: str, capability: Capability) -> Capability | None:
    """The capability whose count an instruction has on a device; None: it is one instruction there."""
    if capability >= FIRST:
        return max(c for c in table().sources if c <= capability)
    opcode, *words = spelling.split()[0].split(".")
    if opcode in OF_24_BITS and capability < (2, 0):
        return None
    return PRODUCTS_OF_32_BITS if opcode in OF_24_BITS or (opcode in OF_PRODUCTS and TYPES[words[-1]].is_integer) else FIRST


@cache
def expansion(spelling: str, capability: Capability) -> tuple[str, ...] | None:
    """The machine instructions of a spelling of the table, with all its operands in registers; None: it stands for no more than one, or rules say.

    >>> expansion("div.rn.f32", (9, 0))
    ('BSSY', 'MUFU.RCP', 'FCHK', 'FFMA', 'FFMA', 'FFMA', 'FFMA', 'FFMA', 'BRA', 'BSYNC')
    """
    row, counted_on = table().rows.get(spelling), stand_in(spelling, capability)
    line = None if row is None or counted_on is None else row.get(counted_on)
    return None if line is None else opcodes_of(line)
