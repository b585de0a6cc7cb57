"""The compiler beside numpy: a process that compiles a kernel while numpy runs it, and leaves the code on disk.

It is not a thread: LLVM crashes where a process ends while one of its threads compiles.  A process can be ended at any time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from ..jit import NativeSource, compiled
from ..store import ObjectStore, folder
from . import at_end

_COMMAND = "import sys; sys.path[:] = {path!r}; from {module} import compile_given; compile_given()"
_running: list[CompilerProcess] = []


class CompilerProcess:
    """Compiles sources, one after the other."""

    def __init__(self, sources: Iterable[NativeSource]) -> None:
        command = _COMMAND.format(path=sys.path, module=__name__)
        with tempfile.TemporaryFile() as given:  # a pipe would hold this process up until the other one reads
            given.write(json.dumps([(source.key, source.text) for source in sources]).encode())
            given.seek(0)
            self._process = subprocess.Popen(
                [sys.executable, "-c", command],
                stdin=given,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt at the keyboard is not for it
            )
        self._owner = os.getpid()  # this may be forked
        _running.append(self)

    @property
    def ended(self) -> bool:
        """Is it done, or has it failed?"""
        if self._process.poll() is None:
            return False
        if self in _running:
            _running.remove(self)
        return True

    def end(self) -> None:
        """Ends it."""
        _running.remove(self)
        if self._owner == os.getpid():
            self._process.kill()
            with contextlib.suppress(OSError):
                self._process.wait()


def is_busy() -> bool:
    """Does a compiler run?"""
    return any(not process.ended for process in list(_running))


def begun(sources: Iterable[NativeSource]) -> CompilerProcess | None:
    """A process that compiles; None where none can be started."""
    try:
        return CompilerProcess(sources)
    except (OSError, ValueError, TypeError):  # of the system, or of a Python that doesn't know its own executable
        return None


@at_end
def end_all() -> None:
    """Ends those that run."""
    for process in list(_running):
        process.end()


def compile_given() -> None:
    """What the process does."""
    store = ObjectStore(folder())
    for key, text in json.load(sys.stdin):
        store.put(key, compiled(text))
