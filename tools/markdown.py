"""Pieces of Markdown that the generated pages are made of."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence

WIDTH = 140


def code(text: str) -> str:
    """Text as code, also inside a table."""
    return f"`{text}`"


def table(head: Sequence[str], rows: Iterable[Sequence[object]], right: Iterable[int] = ()) -> str:
    """A table; the columns in `right` hold numbers.

    >>> print(table(("a", "n"), [("x|y", 1)], right=[1]))
    | a | n |
    |---|--:|
    | x\\|y | 1 |
    """
    numbers = set(right)
    lines = [head, *([str(cell).replace("|", "\\|") for cell in row] for row in rows)]
    rule = "|" + "|".join("--:" if n in numbers else "---" for n in range(len(head))) + "|"
    out = [f"| {' | '.join(line)} |" for line in lines]
    return "\n".join([out[0], rule, *out[1:]])


def paragraph(text: str) -> str:
    """Text in lines of comfortable length."""
    return textwrap.fill(" ".join(text.split()), WIDTH, break_long_words=False, break_on_hyphens=False)


def page(*parts: str, source: str = "") -> str:
    """Parts with an empty line between them; a whole page ends with what it is generated from."""
    note = source and paragraph(f"*This page is generated from {source} by `python -m tools.pages`; a test compares it.*")
    return "\n\n".join(part.strip("\n") for part in (*parts, note) if part) + "\n"


def size(n: int) -> str:
    """Bytes as people say them.

    >>> size(49152), size(1000), size(0), size(4 << 20)
    ('48 KiB', '1000 B', '-', '4 MiB')
    """
    if not n:
        return "-"
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= factor and n % factor == 0:
            return f"{n // factor} {unit}"
    return f"{n} B"
