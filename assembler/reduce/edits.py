"""Edits of a text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Edit(NamedTuple):
    """The text from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str = ""


Change = tuple[Edit, ...]  # edits that only make sense together


def applied(text: str, changes: Iterable[Change]) -> str:
    """The text after all changes; an edit inside one that begins before it is covered by that."""
    pieces: list[str] = []
    at = 0
    for edit in sorted({edit for change in changes for edit in change}, key=lambda e: (e.start, -e.end)):
        if edit.start >= at:
            pieces += text[at : edit.start], edit.text
            at = edit.end
    return "".join([*pieces, text[at:]])
