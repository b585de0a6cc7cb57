"""The data of debuggers: `.section .debug_x { ... }`, whose lines stay as they are written."""

from __future__ import annotations

import re

from ..ir import Section
from .reader import TextReader

_NAME = re.compile(r"\.section(?:\s+|(?=\.))(\.?[\w$.]+)")
_SECTION = re.compile(_NAME.pattern + r"\s*\{([^{}]*)\}")
_COUNT = r"(?:0[xX][0-9A-Fa-f]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?(?![\w$.])"
_COUNTS = rf"-?\s*{_COUNT}(?:\s*,\s*-?\s*{_COUNT})*"
_LABEL = r"\.?[A-Za-z_$%][\w$]*"  # of a section, or the section's own name
_ENTRIES = re.compile(
    rf"(?>\s*(?:[\w$%]+\s*:|\.b(?:8|16|32|64)\s+{_COUNTS}|\.b(?:32|64)\s+{_LABEL}(?:\s*\+\s*{_COUNT}|\s*-\s*{_LABEL})?)(?=[\s}}:]|$))*+",
    re.A,
)
# What the entries mean: a type, a label, or a value that may be too large for .b8
_MEANING = re.compile(
    r"\.b(?P<bits>8|16|32|64)\s|(?P<label>[\w$%]+)\s*:|(?<![\w$.%])(?P<value>-?\s*(?:0[xX][0-9A-Fa-f]{3,}|0[bB][01]{9,}|\d{3,}))"
)
_LARGEST = {8: 2**8 - 1, 16: 2**16 - 1}  # ptxas has no limit for the wider types


def read_section(reader: TextReader, pos: int, labels: set[str]) -> tuple[Section | None, int]:
    """The section at pos, and where reading goes on; its labels join those of the module."""
    m = _SECTION.match(reader.code, pos)
    if not m:
        name = _NAME.match(reader.code, pos)
        return None, reader.reports.unexpected(reader.source.skip(name.end() if name else pos + len(".section")), pos)
    entries = _ENTRIES.match(reader.code, *m.span(2))
    assert entries is not None
    at = reader.source.skip(entries.end())
    if at < m.end(2):
        reader.reports.unexpected(at, pos)
        return None, m.end()
    _judge(reader, *m.span(2), labels)
    lines = tuple(filter(None, map(str.strip, m[2].split("\n"))))
    return Section(m[1], lines, reader.source.span(pos, m.end())), m.end()


def _judge(reader: TextReader, start: int, end: int, labels: set[str]) -> None:
    """Reports labels that are declared twice, and values that have more bits than their type."""
    report = reader.reports.report
    bits = 64
    for m in _MEANING.finditer(reader.code, start, end):
        if m["bits"]:
            bits = int(m["bits"])
        elif label := m["label"]:
            if label in labels:
                report("duplicate-name", f"{label} is declared twice in this module", *m.span("label"))
            labels.add(label)
        else:
            text = m["value"].replace("-", "").strip()
            value = int(text, 8 if text.isdigit() and text[0] == "0" else 0) * (-1 if m["value"][0] == "-" else 1)
            low, high = -(2 ** (bits - 1)), _LARGEST.get(bits, value)
            if not low <= value <= high:
                report("out-of-range", f"{value} is not in the range {low} to {high} of .b{bits}", *m.span("value"))
