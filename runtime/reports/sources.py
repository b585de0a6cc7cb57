"""The text of source files that .loc names, where they are there to be read."""

from __future__ import annotations

from pathlib import Path

MOST = 1 << 20  # bytes of a file that is shown


def source_text(file: str) -> list[str]:
    """The lines of a file; none where it is missing or too large."""
    path = Path(file)
    if not path.is_file() or path.stat().st_size > MOST:
        return []
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def line_of(text: list[str], number: int) -> str:
    """A line by its number, from 1."""
    return text[number - 1] if 0 < number <= len(text) else ""
