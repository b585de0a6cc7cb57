"""Standard output and error, caught for a while, and a command of warplab called in this process."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Iterator


class Captured(io.TextIOWrapper):
    """Standard output or error for a while, bytes included."""

    def __init__(self) -> None:
        self.raw_bytes = io.BytesIO()
        super().__init__(self.raw_bytes, "utf-8", "surrogateescape", "", write_through=True)

    def text(self) -> str:
        """All that was written."""
        return self.raw_bytes.getvalue().decode(errors="replace")


@contextlib.contextmanager
def captured(data: bytes | None = None) -> Iterator[tuple[Captured, Captured]]:
    """What is written to standard output and error inside; `data` stands on standard input."""
    out, err = Captured(), Captured()
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdout, sys.stderr = out, err
    if data is not None:
        sys.stdin = io.TextIOWrapper(io.BytesIO(data), "utf-8", "surrogateescape")
    try:
        yield out, err
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def call(words: list[str], data: bytes = b"") -> tuple[int, str, str]:
    """A command of warplab in this process, with data on standard input: exit code, standard output, standard error."""
    from ..cli import main

    code = 0
    with captured(data) as (out, err):
        try:
            main([w for w in words if w != "2>&1"], prog_name="warplab")
        except SystemExit as e:
            code = e.code if isinstance(e.code, int) else 1 if e.code else 0
    return code, out.text(), err.text()
