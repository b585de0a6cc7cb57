"""The compiler beside numpy: a process that compiles a kernel while numpy runs it, and leaves the code on disk.

It is not a thread: LLVM crashes where a process ends while one of its threads compiles.  It ends what it has begun, though the program may have ended
meanwhile: a program that is always over before its code is there would never run natively.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable

from ..jit import NativeSource, compiled
from ..store import ObjectStore, folder

MOST_SECONDS = 60  # of the processor, after which such a process is ended
_COMMAND = "import sys; sys.path[:] = {path!r}; from {module} import compile_given; compile_given()"
_running: list[CompilerProcess] = []


class CompilerProcess:
    """Compiles sources, one after the other."""

    def __init__(self, sources: Iterable[NativeSource]) -> None:
        command = _COMMAND.format(path=sys.path, module=__name__)
        folder().mkdir(mode=0o700, parents=True, exist_ok=True)
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
        _running.append(self)

    @property
    def ended(self) -> bool:
        """Is it done, or has it failed?"""
        if self._process.poll() is None:
            return False
        if self in _running:
            _running.remove(self)
        return True


def is_busy() -> bool:
    """Does a compiler run?"""
    return any(not process.ended for process in list(_running))


def begun(sources: Iterable[NativeSource]) -> CompilerProcess | None:
    """A process that compiles; None where none can be started."""
    try:
        return CompilerProcess(sources)
    except (OSError, ValueError, TypeError):  # of the system, or of a Python that doesn't know its own executable
        return None


def compile_given() -> None:
    """What the process does."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # of systems without such limits
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    store = ObjectStore(folder())
    for key, text in json.load(sys.stdin):
        code = compiled(text)
        if not store.place.is_dir():  # removed by whoever is done with it
            return
        store.put(key, code)
