"""The text of source files that .loc names, where they are there to be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

MOST = 1 << 20  # bytes of a file that is shown
_GIVEN: ContextVar[Mapping[str, str] | None] = ContextVar("given", default=None)


@contextmanager
def only_given(texts: Mapping[str, str]) -> Iterator[None]:
    """These texts stand for the files that .loc names, and no file is read: a program of somebody else's may name any of this machine."""
    token = _GIVEN.set(texts)
    try:
        yield
    finally:
        _GIVEN.reset(token)


def source_text(file: str) -> list[str]:
    """The lines of a file; none where it is missing or too large."""
    given = _GIVEN.get()
    if given is not None:
        return given[file].split("\n") if file in given else []
    path = Path(file)
    if not path.is_file() or path.stat().st_size > MOST:
        return []
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def line_of(text: list[str], number: int) -> str:
    """A line by its number, from 1."""
    return text[number - 1] if 0 < number <= len(text) else ""
