"""Submissions in notebooks: the cell that begins with `%%grade LAB`, the last one of a lab."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..sources import suffix_of

NOTEBOOK = ".ipynb"
MAGIC = "%%grade"
LARGEST = 64 << 20  # bytes of a notebook, whose outputs may be pictures


def submitted(path: Path, lab: str) -> tuple[str, bytes]:
    """What a notebook hands in for the lab whose folder has this name: the name of a file, and its text; empty where there is no such cell."""
    with path.open("rb") as file:
        data = file.read(LARGEST)
    try:
        cells = json.loads(data)["cells"]
        texts = [_text(cell) for cell in cells if cell["cell_type"] == "code"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"the cell {MAGIC} {lab}", b""
    for text in reversed(texts):
        first, _, rest = text.partition("\n")
        magic, _, line = first.strip().partition(" ")
        if magic == MAGIC and Path(line.strip().strip("\"'")).name == lab:
            return f"cell{suffix_of(rest)}", rest.encode(errors="surrogatepass")
    return f"the cell {MAGIC} {lab}", b""


def _text(cell: Any) -> str:
    source = cell["source"]
    return source if isinstance(source, str) else "".join(source)
