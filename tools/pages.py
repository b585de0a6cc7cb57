"""Writes the generated pages: `python -m tools.pages [NAME...]`; without names all of them.  tests/docs/test_pages.py compares.

Run `python -m tools.model` before it when rows or tests against models were added.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from . import (
    api_table,
    conformance,
    diagnostics,
    guide,
    imports,
    instructions,
    lanes,
    man,
    memory,
    mistakes,
    object_format,
    python_api,
    timing,
)

DOCS = Path(__file__).parents[1] / "docs"
GENERATORS: dict[str, Callable[[], dict[str, str]]] = {
    "calls": api_table.pages,
    "conformance": conformance.pages,
    "diagnostics": diagnostics.pages,
    "guide": guide.pages,
    "imports": imports.pages,
    "instructions": instructions.pages,
    "lanes": lanes.figures,
    "man": man.pages,
    "mistakes": mistakes.pages,
    "objects": object_format.pages,
    "python": python_api.pages,
    "timing": timing.pages,
    "memory": lambda: memory.pages() | memory.figures(),
}


def main(names: list[str]) -> None:
    """Writes the pages of some generators."""
    for name in names or GENERATORS:
        for place, text in GENERATORS[name]().items():
            path = DOCS / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
