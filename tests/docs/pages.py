"""Writes the generated pages: `python -m tests.docs.pages [NAME...]`; without names all of them.  test_generated.py compares.

Run `python -m tests.docs.model` before it when rows or tests against models were added.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from . import conformance, diagnostics, instructions, lanes, memory, mistakes, python_api

DOCS = Path(__file__).parents[2] / "docs"
GENERATORS: dict[str, Callable[[], dict[str, str]]] = {
    "conformance": conformance.pages,
    "diagnostics": diagnostics.pages,
    "instructions": instructions.pages,
    "lanes": lanes.figures,
    "mistakes": mistakes.pages,
    "python": python_api.pages,
    "memory": lambda: memory.pages() | memory.figures(),
}


def main(names: list[str]) -> None:
    """Writes the pages of some generators."""
    for name in names or GENERATORS:
        for place, text in GENERATORS[name]().items():
            path = DOCS / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)


if __name__ == "__main__":
    main(sys.argv[1:])
