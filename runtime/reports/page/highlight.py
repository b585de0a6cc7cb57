"""PTX as HTML with classes for comments, directives, opcodes, registers, labels and numbers."""

from __future__ import annotations

import re
from html import escape

STYLE = """
.wl .c { color: var(--soft); font-style: italic; }
.wl .d { color: var(--warm); }
.wl .o { color: var(--good); font-weight: 500; }
.wl .n { color: var(--bad); }
"""
_TOKEN = re.compile(
    r"(?P<c>//.*|/\*.*?\*/)|(?P<s>\"[^\"]*\")|(?P<r>%[\w$.]+)|(?P<d>(?<![\w$])\.[a-z][\w:]*)|(?P<n>(?<![\w$%.])(?:0[fFdDxX])?\d[\dA-Fa-f.]*\b)"
    r"|(?P<w>[A-Za-z_$][\w$]*(?:(?:\.|::)[\w]+)*)"
)


def ptx_line(line: str) -> str:
    """One line of PTX; a block comment that covers several lines stays plain."""
    out, at, opcode = [], 0, True  # the first word of a statement is its opcode
    for m in _TOKEN.finditer(line):
        between = line[at : m.start()]
        opcode = opcode or ";" in between or "{" in between
        kind, text = m.lastgroup, m[0]
        is_guard = kind == "r" and line[: m.start()].rstrip().endswith(("@", "@!"))
        is_label = kind == "w" and line[m.end() :].lstrip().startswith(":")
        name = "o" if kind == "w" and opcode and not is_label else kind if kind in ("c", "d", "n") else ""
        out += [escape(between), f'<span class="{name}">{escape(text)}</span>' if name else escape(text)]
        opcode = opcode and (is_guard or is_label or kind == "c")
        at = m.end()
    return "".join(out) + escape(line[at:])
