"""Where a device's output goes: what kernels print, failed asserts and warnings, to the standard streams of the process."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_silent: ContextVar[bool] = ContextVar("silent", default=False)  # of a thread, since others may print meanwhile


@contextmanager
def quiet() -> Iterator[None]:
    """What a repeated run prints was printed before."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


def to_stdout(out: bytes) -> None:
    """Where the output of printf goes."""
    if _silent.get():
        return
    sys.stdout.flush()
    buffer = getattr(sys.stdout, "buffer", None)
    if buffer is not None:
        buffer.write(out)
        buffer.flush()
    else:
        sys.stdout.write(out.decode(errors="replace"))


def to_stderr(line: str) -> None:
    """Where warnings go, and a failed assert's message by default."""
    if not _silent.get():
        print(line, file=sys.stderr, flush=True)
